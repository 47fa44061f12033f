// Patch-based label fusion, tile by tile: each atlas votes with the patch of labels at which its
// image is most similar to the target, weighted by that similarity.
//
// For each voxel x, the patch of atlas i that is most similar to the target's is sought near x and
// found at x + s_i. Its weight w_i(x) is a vote, at every voxel y of the patch around x, for the
// label of the atlas at y + s_i. Only voxels at which atlases disagree are computed, from the
// patches that cover them.
//
// Preconditions (checked in Python): images and votes hold the whole volume; digits below `labels`
// are labels, the digit `labels` means missing; the radii of the first axis are 0.
// are labels, the digit `labels` means missing; the radii of the first axis are 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "joint_weights.hpp"
#include "patch_search.hpp"
#include "votes.hpp"

namespace consensus {

// A label, and the voxels where it must not be the result.
struct Exclusion {
  std::size_t label;
  const std::uint8_t* where;
};

struct WeightRule {
  bool joint;  // if false, each atlas is weighted by its own errors: (mean square + alpha)^-beta
  double beta, alpha;
  bool constrained;  // joint weights: optimal among non-negative weights; if false, negative ones are set to 0
};

struct AtlasField {
  Extents shape;
  std::size_t labels;
  std::vector<const Intensities*> target;                // by modality
  std::vector<std::vector<const Intensities*>> atlases;  // by atlas and modality
  std::vector<const Votes*> votes;                       // of each atlas
  std::vector<float> own_weights;                        // of each atlas, multiplied by the weight from its image
  const std::uint8_t* mask;                              // 0: voxel is not fused; null: all are fused
  std::vector<Exclusion> exclusions;
  PatchSettings settings;
  WeightRule rule;
  std::vector<float*> fused_images;  // by modality: outputs for the averaged patches of the atlases; or empty

  std::size_t at(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return ((t * shape[1] + z) * shape[2] + y) * shape[3] + x;
  }
};

constexpr std::int32_t kUndecided = -1, kOutside = -2;  // the codes of votes/ties.py

// Result for a tile: the possible labels at each voxel that was computed, and their shares.
struct TileShares {
  std::vector<std::int64_t> places;  // flat indices in the volume of these voxels
  std::vector<std::uint16_t> numbers;  // number of labels at each of them
  std::vector<std::uint16_t> labels;
  std::vector<float> shares;
  std::vector<double> weights;  // of each atlas, summed over these voxels
};

class PatchFusionTile {
 public:
  explicit PatchFusionTile(const AtlasField& field)
      : field_(&field), search_(field.settings),
        joint_(field.atlases.size(), field.rule.beta, field.rule.alpha, field.rule.constrained),
        target_(field.target.size()), searched_(field.target.size()), atlases_(field.atlases.size()) {
    for (Atlas& atlas : atlases_) atlas.images.resize(field.target.size());
  }

  // Writes the label with the largest share at each voxel; returns the shares at disputed ones.
  template <class Index>
  TileShares fuse(const Box& tile, Index* winners) {
    TileShares found;
    found.weights.assign(field_->atlases.size(), 0.0);
    tile_ = tile;
    agree(winners);
    const Box open = marked_box(open_);
    if (!field_->fused_images.empty()) {
      const Box inside = marked_box(inside_);
      if (inside.empty()) return found;
      weigh(inside, inside_);
      fuse_images(inside);
    } else if (!open.empty()) {
      weigh(open, open_);
    }
    if (open.empty()) return found;
    read_votes();
    if (!searches()) sum_weights();
    decide(open, winners, found);
    return found;
  }

 private:
  // Data of an atlas while a tile is fused. `values` and `slots` have the same layout: centres_, extended by
  // the radii of the search and of the patch.
  struct FoundImage {
    std::vector<float> values;
    // mean and reciprocal standard deviation of the chosen patch, for each voxel of centres_
    std::vector<float> mean, inverse;
  };
  struct Atlas {
    std::vector<FoundImage> images;   // by modality
    std::vector<std::uint16_t> slots;  // index in labels_ of the label at each voxel
    std::vector<std::int32_t> moves;   // for each voxel of centres_: offset of the chosen patch
    std::vector<float> weights;        // for each voxel of centres_
    std::vector<float> sums;           // without a search: sum of the weights of the patches that cover a voxel
  };

  // -- unanimous voxels ---------------------------------------------------------------------

  // Writes the labels on which all atlases agree, and marks the voxels that must be computed.
  template <class Index>
  void agree(Index* winners) {
    open_.assign(tile_.voxels(), 0);
    inside_.assign(tile_.voxels(), 1);
    const std::size_t length = tile_.size(3);
    digits_.resize(atlases_.size() * length);
    for_each_row(tile_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t volume = field_->at(t, z, y, tile_.low[3]), here = tile_.at(t, z, y, tile_.low[3]);
      for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
        field_->votes[atlas]->read(volume, length, digits_.data() + atlas * length);
      }
      for (std::size_t x = 0; x < length; ++x) {
        if (field_->mask && !field_->mask[volume + x]) {
          winners[volume + x] = static_cast<Index>(kOutside);
          inside_[here + x] = 0;
          continue;
        }
        const std::size_t missing = field_->labels;
        std::size_t said = missing;
        bool agreed = true;
        for (std::size_t at = x; at < digits_.size(); at += length) {
          const std::size_t digit = digits_[at];
          if (digit == missing) continue;
          agreed = agreed && (said == missing || said == digit);
          said = digit;
        }
        if (said != missing && agreed) agreed = !is_excluded(said, volume + x);
        winners[volume + x] = static_cast<Index>(said == missing ? kUndecided : static_cast<std::int32_t>(said));
        open_[here + x] = !agreed;
      }
    });
  }

  bool is_excluded(std::size_t label, std::size_t volume) const {
    for (const Exclusion& exclusion : field_->exclusions) {
      if (exclusion.label == label && exclusion.where[volume]) return true;
    }
    return false;
  }

  // Returns the bounding box of the marked voxels of the tile.
  Box marked_box(const std::vector<std::uint8_t>& marks) const {
    Box box{tile_.high, tile_.low};
    for_each_row(tile_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::uint8_t* row = marks.data() + tile_.at(t, z, y, tile_.low[3]);
      for (std::size_t x = 0; x < tile_.size(3); ++x) {
        if (!row[x]) continue;
        const Extents at{t, z, y, tile_.low[3] + x};
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
          box.low[axis] = std::min(box.low[axis], at[axis]);
          box.high[axis] = std::max(box.high[axis], at[axis] + 1);
        }
      }
    });
    return box;
  }

  // -- weights ------------------------------------------------------------------------------

  // Finds the shifts and weights of each voxel whose patch covers a marked voxel of the box.
  void weigh(const Box& box, const std::vector<std::uint8_t>& marks) {
    centres_ = grown(box, field_->settings.patch, field_->shape);
    mark_centres(box, marks);
    for (std::size_t m = 0; m < target_.size(); ++m) {
      target_[m].load(*field_->target[m], centres_, Extents{}, field_->shape, field_->settings);
    }
    for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
      checkpoint();
      for (std::size_t m = 0; m < target_.size(); ++m) {
        searched_[m].load(*field_->atlases[atlas][m], centres_, field_->settings.search, field_->shape,
                          field_->settings);
      }
      search_.find(target_, searched_, shifts_);
      keep_found(atlases_[atlas]);
      atlases_[atlas].weights.resize(centres_.voxels());
    }
    target_pieces_ = pieces_of_patch(field_->settings.patch, target_[0].size);
    pieces_ = pieces_of_patch(field_->settings.patch, layout_);
    for_each_centre([&](std::size_t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
      weigh_centre(z - centres_.low[1], y - centres_.low[2], x - centres_.low[3], centre);
    });
  }

  // Stores the result of the last atlas that was searched.
  void keep_found(Atlas& atlas) {
    atlas.moves.resize(centres_.voxels());
    for (std::size_t m = 0; m < searched_.size(); ++m) {
      FoundImage& found = atlas.images[m];
      found.mean.resize(centres_.voxels());
      found.inverse.resize(centres_.voxels());
      for_each_centre([&](std::size_t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
        const Shift& shift = field_->settings.shifts[static_cast<std::size_t>(shifts_[centre])];
        const auto along = [&](std::size_t at, std::size_t axis) {
          return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at - centres_.low[axis] + search(axis)) +
                                          shift[axis]);
        };
        const std::size_t there = searched_[m].place_at(along(z, 1), along(y, 2), along(x, 3));
        found.mean[centre] = searched_[m].mean[there];
        found.inverse[centre] = searched_[m].inverse[there];
        const auto height = static_cast<std::ptrdiff_t>(searched_[m].size[2]);
        const auto width = static_cast<std::ptrdiff_t>(searched_[m].size[3]);
        atlas.moves[centre] = static_cast<std::int32_t>((shift[1] * height + shift[2]) * width + shift[3]);
      });
      found.values.swap(searched_[m].values);
    }
    layout_ = searched_[0].size;
  }

  // Returns the offset of a voxel in the atlases' values; coordinates are relative to the first voxel of centres_.
  std::size_t in_layout(std::size_t z, std::size_t y, std::size_t x, const Extents& reach) const {
    return ((z + reach[1]) * layout_[2] + y + reach[2]) * layout_[3] + x + reach[3];
  }

  std::size_t search(std::size_t axis) const { return field_->settings.search[axis]; }

  void mark_centres(const Box& box, const std::vector<std::uint8_t>& marks) {
    is_centre_.assign(centres_.voxels(), 0);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      for (std::size_t x = box.low[3]; x < box.high[3]; ++x) {
        if (!marks[tile_.at(t, z, y, x)]) continue;
        for_each_row(around(t, z, y, x), [&](std::size_t, std::size_t v, std::size_t u) {
          const std::size_t low = x - std::min(x, field_->settings.patch[3]);
          const std::size_t high = std::min(x + field_->settings.patch[3] + 1, field_->shape[3]);
          std::fill_n(is_centre_.data() + centres_.at(t, v, u, low), high - low, std::uint8_t{1});
        });
      }
    });
  }

  // Returns the part of the patch around a voxel that is inside the volume.
  Box around(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return grown({{t, z, y, x}, {t + 1, z + 1, y + 1, x + 1}}, field_->settings.patch, field_->shape);
  }

  // Calls use(t, z, y, x, index in centres_) for every voxel whose weights are computed, in C
  // order.
  template <class Use>
  void for_each_centre(Use use) const {
    std::size_t centre = 0;
    for_each_row(centres_, [&](std::size_t t, std::size_t z, std::size_t y) {
      checkpoint();
      for (std::size_t x = centres_.low[3]; x < centres_.high[3]; ++x, ++centre) {
        if (is_centre_[centre]) use(t, z, y, x, centre);
      }
    });
  }

  // Coordinates are relative to the first voxel of centres_.
  void weigh_centre(std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
    const std::size_t number = field_->settings.patch_voxels(), all = target_.size() * number;
    const std::size_t length = in_eights(all), rows = in_fours(atlases_.size());
    goal_.resize(length + kEight);
    errors_.resize(rows * length + kEight);
    for (std::size_t m = 0; m < target_.size(); ++m) {
      const Patches& target = target_[m];
      const std::size_t place = target.place_at(z, y, x);
      normalise_patch(target.values.data() + target.value_at(z, y, x), target_pieces_.data(), target_pieces_.size(),
                      target.mean[place], target.inverse[place], goal_.data() + m * number);
    }
    const std::size_t corner = in_layout(z, y, x, field_->settings.search);
    for (std::size_t k = 0; k < atlases_.size(); ++k) {
      float* errors = errors_.data() + k * length;
      for (std::size_t m = 0; m < target_.size(); ++m) {
        const FoundImage& image = atlases_[k].images[m];
        patch_errors(image.values.data() + corner + atlases_[k].moves[centre], pieces_.data(), pieces_.size(),
                     image.mean[centre], image.inverse[centre], goal_.data() + m * number, errors + m * number);
      }
      std::fill(errors + all, errors + length, 0.0f);
    }
    const double scale = 1.0 / static_cast<double>(target_.size() * std::max<std::size_t>(number - 1, 1));
    weights_.resize(atlases_.size());
    if (field_->rule.joint) {
      sums_of_products_.resize(rows * rows);
      products(errors_.data(), rows, length, sums_of_products_.data());
      joint_.find(sums_of_products_.data(), scale, weights_.data());
    } else {
      weigh_alone(length, scale);
    }
    for (std::size_t k = 0; k < atlases_.size(); ++k) {
      atlases_[k].weights[centre] = weights_[k] * field_->own_weights[k];
    }
  }

  void weigh_alone(std::size_t length, double scale) {
    for (std::size_t k = 0; k < atlases_.size(); ++k) {
      const double sum = static_cast<double>(sum_of_squares(errors_.data() + k * length, length));
      // Errors are measured in units of alpha, which keeps the result finite.
      weights_[k] = static_cast<float>(std::pow(1.0 + sum * scale / field_->rule.alpha, -field_->rule.beta));
      weights_[k] = std::max(weights_[k], std::numeric_limits<float>::min());
    }
  }

  // -- votes --------------------------------------------------------------------------------

  // Reads the labels of all atlases as indices into labels_. Missing voxels get the index after the
  // last, whose sums are ignored.
  void read_votes() {
    const Surroundings around = Surroundings::of(centres_, grown_search());
    std::vector<std::uint8_t> occurs(field_->labels + 1, 0);
    for (std::size_t k = 0; k < atlases_.size(); ++k) {
      atlases_[k].slots.resize(around.voxels());
      const Votes& votes = *field_->votes[k];
      read_surroundings(around, field_->shape, atlases_[k].slots.data(),
                        [&](std::size_t begin, std::size_t n, std::uint16_t* row) { votes.read(begin, n, row); });
      for (const std::uint16_t digit : atlases_[k].slots) occurs[digit] = 1;
    }
    labels_.clear();
    std::vector<std::uint16_t> slots(field_->labels + 1, 0);
    for (std::size_t label = 0; label < field_->labels; ++label) {
      if (!occurs[label]) continue;
      slots[label] = static_cast<std::uint16_t>(labels_.size());
      labels_.push_back(label);
    }
    slots[field_->labels] = static_cast<std::uint16_t>(labels_.size());
    for (Atlas& atlas : atlases_) {
      for (std::uint16_t& digit : atlas.slots) digit = slots[digit];
    }
  }

  // Returns the radii around a centre within which values and votes are read.
  Extents grown_search() const {
    Extents reach = field_->settings.search;
    for (std::size_t axis = 0; axis < kAxes; ++axis) reach[axis] += field_->settings.patch[axis];
    return reach;
  }

  bool searches() const { return field_->settings.shifts.size() > 1; }

  // Without a search, all patches of an atlas that cover a voxel have the same label there, so their
  // total weight is a box sum.
  void sum_weights() {
    const Extents& patch = field_->settings.patch;
    const Surroundings around = Surroundings::of(centres_, patch);
    for (Atlas& atlas : atlases_) {
      padded_.assign(around.voxels(), 0.0f);
      for_each_centre([&](std::size_t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
        const std::size_t v = z - centres_.low[1] + patch[1], u = y - centres_.low[2] + patch[2];
        padded_[(v * around.size[2] + u) * around.size[3] + x - centres_.low[3] + patch[3]] = atlas.weights[centre];
      });
      box_sums_.add(padded_.data(), around.size, patch, atlas.sums);
    }
  }

  // Sums, for each label, the weights of all patches that cover a voxel. Each label has several partial
  // sums, so that consecutive additions are independent.
  void gather(std::size_t t, std::size_t z, std::size_t y, std::size_t x) {
    tally_.assign((labels_.size() + 1) * kEight, 0.0f);
    const std::size_t here = in_layout(z - centres_.low[1], y - centres_.low[2], x - centres_.low[3], grown_search());
    if (!searches()) {
      const std::size_t centre = centres_.at(t, z, y, x);
      for (std::size_t k = 0; k < atlases_.size(); ++k) {
        tally_[atlases_[k].slots[here] * kEight + k % kEight] += atlases_[k].sums[centre];
      }
      return;
    }
    const Box patch = around(t, z, y, x);
    const std::size_t length = patch.size(3);
    for (const Atlas& atlas : atlases_) {
      const std::uint16_t* slots = atlas.slots.data() + here;
      std::size_t step = 0;
      for_each_row(patch, [&](std::size_t, std::size_t v, std::size_t u) {
        const std::size_t centre = centres_.at(t, v, u, patch.low[3]);
        const std::int32_t* moves = atlas.moves.data() + centre;
        const float* weights = atlas.weights.data() + centre;
        for (std::size_t k = 0; k < length; ++k, ++step) {
          tally_[slots[moves[k]] * kEight + step % kEight] += weights[k];
        }
      });
    }
  }

  // Returns whether every patch that covers a voxel has an unannotated voxel there.
  bool is_silent() const {
    for (std::size_t slot = 0; slot < labels_.size(); ++slot) {
      if (sum_of_eight(tally_.data() + slot * kEight) != 0) return false;
    }
    return true;
  }

  // Counts the votes of the atlases at the voxel itself, with equal weights.
  void count_own_votes(std::size_t z, std::size_t y, std::size_t x) {
    const std::size_t here = in_layout(z - centres_.low[1], y - centres_.low[2], x - centres_.low[3], grown_search());
    for (const Atlas& atlas : atlases_) tally_[atlas.slots[here] * kEight] += 1.0f;
  }

  // Labels that are mathematically tied must not be separated by rounding errors.
  static constexpr float kTied = 1e-5f;

  template <class Index>
  void decide(const Box& box, Index* winners, TileShares& found) {
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      checkpoint();
      for (std::size_t x = box.low[3]; x < box.high[3]; ++x) {
        if (!open_[tile_.at(t, z, y, x)]) continue;
        gather(t, z, y, x);
        if (is_silent()) count_own_votes(z, y, x);
        const std::size_t volume = field_->at(t, z, y, x);
        const std::size_t first = found.labels.size();
        float total = 0.0f, best = 0.0f;
        for (std::size_t slot = 0; slot < labels_.size(); ++slot) {
          const float sum = sum_of_eight(tally_.data() + slot * kEight);
          if (sum == 0 || is_excluded(labels_[slot], volume)) continue;
          found.labels.push_back(static_cast<std::uint16_t>(labels_[slot]));
          found.shares.push_back(sum);
          total += sum;
          best = std::max(best, sum);
        }
        std::int32_t winner = kOutside;  // kept if all labels of the atlases are excluded
        for (std::size_t at = found.labels.size(); at-- > first;) {
          if (found.shares[at] >= best - kTied * total) winner = found.labels[at];
          found.shares[at] /= total;
        }
        winners[volume] = static_cast<Index>(winner);
        found.places.push_back(static_cast<std::int64_t>(volume));
        found.numbers.push_back(static_cast<std::uint16_t>(found.labels.size() - first));
        const std::size_t centre = centres_.at(t, z, y, x);
        for (std::size_t k = 0; k < atlases_.size(); ++k) {
          found.weights[k] += static_cast<double>(atlases_[k].weights[centre]);
        }
      }
    });
  }

  // -- images -------------------------------------------------------------------------------

  // Averages the atlases' patches of original intensities at the voxels of the box inside the
  // mask.
  void fuse_images(const Box& box) {
    for (std::size_t m = 0; m < target_.size(); ++m) {
      image_.assign(box.voxels(), 0.0f);
      weight_.assign(box.voxels(), 0.0f);
      for_each_centre([&](std::size_t t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
        const Box part = intersection(around(t, z, y, x), box);
        if (part.empty()) return;
        for (std::size_t k = 0; k < atlases_.size(); ++k) {
          const float weight = atlases_[k].weights[centre];
          const float* values = atlases_[k].images[m].values.data() + atlases_[k].moves[centre];
          const Intensities& given = *field_->atlases[k][m];
          for_each_row(part, [&](std::size_t, std::size_t v, std::size_t u) {
            const float* row = values + in_layout(v - centres_.low[1], u - centres_.low[2],
                                                  part.low[3] - centres_.low[3], grown_search());
            const std::size_t here = box.at(t, v, u, part.low[3]);
            for (std::size_t along = 0; along < part.size(3); ++along) {
              image_[here + along] += weight * given.restored(row[along]);
              weight_[here + along] += weight;
            }
          });
        }
      });
      for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
        for (std::size_t x = box.low[3]; x < box.high[3]; ++x) {
          const std::size_t here = box.at(t, z, y, x);
          if (!inside_[tile_.at(t, z, y, x)] || weight_[here] == 0) continue;
          field_->fused_images[m][field_->at(t, z, y, x)] = image_[here] / weight_[here];
        }
      });
    }
  }

  const AtlasField* field_;
  PatchSearch search_;
  JointWeights joint_;
  BoxSums box_sums_;
  Box tile_, centres_;
  std::vector<Patches> target_, searched_;  // by modality
  std::vector<std::int32_t> shifts_;        // for each voxel of centres_, in the current atlas
  std::vector<Atlas> atlases_;
  Extents layout_{};                                 // size of the volumes that are stored per atlas
  // pieces of a patch, in the target's layout and in the atlases' layout
  std::vector<PatchPiece> target_pieces_, pieces_;
  std::vector<std::uint16_t> digits_;    // for a row of the tile, by atlas
  // open_, inside_: flags of the tile's voxels; is_centre_: flags of the voxels of centres_
  std::vector<std::uint8_t> open_, inside_, is_centre_;
  std::vector<float> goal_, errors_, sums_of_products_, weights_, tally_, padded_, image_, weight_;
  std::vector<std::size_t> labels_;
};

}  // namespace consensus
