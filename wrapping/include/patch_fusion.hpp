// Atlases that vote for whole patches of labels, each from where its image looks most like the
// target, with weights by how it looks there; tile by tile.
//
// Around a voxel x each atlas i is searched for the patch nearest to the target's, at x + s_i. Its
// weight w_i(x) counts for the label that it has at y + s_i, for every voxel y of the patch around x.
// Only voxels that atlases dispute are asked about, and only patches that reach one are weighed.
//
// Preconditions (checked in Python): images and votes hold the whole volume; digits below `labels` are
// labels, the digit `labels` means missing; radii of the first axis are 0.
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

// Voxels at which a label cannot be.
struct Exclusion {
  std::size_t label;
  const std::uint8_t* where;
};

struct WeightRule {
  bool joint;        // else each atlas by its own errors: (its mean square + alpha)^-beta
  double beta, alpha;
  bool constrained;  // of joint weights: the best that are not negative, not the best with those left out
};

struct AtlasField {
  Extents shape;
  std::size_t labels;
  std::vector<const Intensities*> target;                // by modality
  std::vector<std::vector<const Intensities*>> atlases;  // by atlas and modality
  std::vector<const Votes*> votes;                       // of each atlas
  std::vector<float> own_weights;                        // of each atlas, whatever its image
  const std::uint8_t* mask;                              // 0: not asked about; null: all are
  std::vector<Exclusion> exclusions;
  PatchSettings settings;
  WeightRule rule;
  std::vector<float*> fused_images;  // by modality, where the atlases' patches are averaged; or empty

  std::size_t at(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return ((t * shape[1] + z) * shape[2] + y) * shape[3] + x;
  }
};

constexpr std::int32_t kUndecided = -1, kOutside = -2;  // as votes/ties.py has them

// What a tile says of the voxels that were weighed: which labels may be there, with which share.
struct TileShares {
  std::vector<std::int64_t> places;  // in the volume
  std::vector<std::uint16_t> numbers;  // of labels at each of them
  std::vector<std::uint16_t> labels;
  std::vector<float> shares;
  std::vector<double> weights;  // of each atlas, summed over these voxels
};

class PatchFusionTile {
 public:
  explicit PatchFusionTile(const AtlasField& field)
      : field_(&field), search_(field.settings),
        joint_(field.atlases.size(), field.rule.beta, field.rule.alpha, field.rule.constrained),
        target_(field.target.size()), atlases_(field.atlases.size(), std::vector<Patches>(field.target.size())),
        shifts_(field.atlases.size()), digits_(field.atlases.size()) {}

  // Writes the label of largest share of every voxel, and returns the shares of those not agreed on.
  template <class Index>
  TileShares fuse(const Box& tile, Index* winners) {
    TileShares found;
    found.weights.assign(field_->atlases.size(), 0.0);
    tile_ = tile;
    read_votes();
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
    vote(open);
    decide(open, winners, found);
    return found;
  }

 private:
  // -- what atlases agree on ----------------------------------------------------------------

  // Digits of all atlases in the tile and as far around as the search goes.
  void read_votes() {
    const Surroundings around = Surroundings::of(tile_, field_->settings.search);
    digits_size_ = around.size;
    for (std::size_t atlas = 0; atlas < digits_.size(); ++atlas) {
      digits_[atlas].resize(around.voxels());
      const Votes& votes = *field_->votes[atlas];
      read_surroundings(around, field_->shape, digits_[atlas].data(),
                        [&](std::size_t begin, std::size_t n, std::uint16_t* row) { votes.read(begin, n, row); });
    }
  }

  // Where the digits of a voxel of the tile are, from some shift of the search.
  std::size_t digit_at(std::size_t z, std::size_t y, std::size_t x, const Shift& shift = {}) const {
    const auto along = [&](std::size_t at, std::size_t axis) {
      return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at - tile_.low[axis] + search(axis)) + shift[axis]);
    };
    return (along(z, 1) * digits_size_[2] + along(y, 2)) * digits_size_[3] + along(x, 3);
  }

  std::size_t search(std::size_t axis) const { return field_->settings.search[axis]; }

  // Writes what all atlases say, and marks the voxels about which more has to be known.
  template <class Index>
  void agree(Index* winners) {
    open_.assign(tile_.voxels(), 0);
    inside_.assign(tile_.voxels(), 1);
    for_each_row(tile_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t volume = field_->at(t, z, y, tile_.low[3]), here = tile_.at(t, z, y, tile_.low[3]);
      const std::size_t row = digit_at(z, y, tile_.low[3]);
      for (std::size_t x = 0; x < tile_.size(3); ++x) {
        if (field_->mask && !field_->mask[volume + x]) {
          winners[volume + x] = static_cast<Index>(kOutside);
          inside_[here + x] = 0;
          continue;
        }
        const std::size_t missing = field_->labels;
        std::size_t said = missing;
        bool agreed = true;
        for (const auto& digits : digits_) {
          const std::size_t digit = digits[row + x];
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

  // The smallest box of the tile that holds all marked voxels.
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

  // Finds shifts and weights at every voxel whose patch reaches a marked one of the box.
  void weigh(const Box& box, const std::vector<std::uint8_t>& marks) {
    centres_ = grown(box, field_->settings.patch, field_->shape);
    mark_centres(box, marks);
    for (std::size_t m = 0; m < target_.size(); ++m) {
      target_[m].load(*field_->target[m], centres_, Extents{}, field_->shape, field_->settings);
    }
    for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
      checkpoint();
      for (std::size_t m = 0; m < target_.size(); ++m) {
        atlases_[atlas][m].load(*field_->atlases[atlas][m], centres_, field_->settings.search, field_->shape,
                                field_->settings);
      }
      search_.find(target_, atlases_[atlas], shifts_[atlas]);
    }
    weights_.resize(centres_.voxels() * atlases_.size());
    for_each_centre([&](std::size_t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
      weigh_centre(z - centres_.low[1], y - centres_.low[2], x - centres_.low[3], centre);
    });
  }

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

  // The voxels of the patch around a voxel that are in the volume.
  Box around(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return grown({{t, z, y, x}, {t + 1, z + 1, y + 1, x + 1}}, field_->settings.patch, field_->shape);
  }

  // Calls use(t, z, y, x, place in centres_) for every voxel that is weighed, in C order.
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

  // Where an atlas has the patch that was chosen for a voxel.
  Extents chosen(std::size_t atlas, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) const {
    const Shift& shift = field_->settings.shifts[static_cast<std::size_t>(shifts_[atlas][centre])];
    const auto along = [&](std::size_t at, std::size_t axis) {
      return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at + search(axis)) + shift[axis]);
    };
    return {0, along(z, 1), along(y, 2), along(x, 3)};
  }

  // Coordinates count from the first voxel of centres_.
  void weigh_centre(std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
    const std::size_t width = in_lanes(atlases_.size()), number = field_->settings.patch_voxels();
    const Extents& patch = field_->settings.patch;
    errors_.assign(target_.size() * number * width, 0.0f);
    for (std::size_t m = 0; m < target_.size(); ++m) {
      const Patches& target = target_[m];
      const std::size_t place = target.place_at(z, y, x);
      for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
        const Patches& image = atlases_[atlas][m];
        const Extents at = chosen(atlas, z, y, x, centre);
        const std::size_t there = image.place_at(at[1], at[2], at[3]);
        const float mean = image.mean[there], inverse = image.inverse[there];
        float* errors = errors_.data() + m * number * width + atlas;
        for (std::size_t v = 0; v <= 2 * patch[1]; ++v) {
          for (std::size_t u = 0; u <= 2 * patch[2]; ++u) {
            const float* goal = target.values.data() + target.value_at(z + v, y + u, x);
            const float* row = image.values.data() + image.value_at(at[1] + v, at[2] + u, at[3]);
            for (std::size_t k = 0; k <= 2 * patch[3]; ++k, errors += width) {
              *errors = std::abs((row[k] - mean) * inverse - (goal[k] - target.mean[place]) * target.inverse[place]);
            }
          }
        }
      }
    }
    const double scale = 1.0 / static_cast<double>(target_.size() * std::max<std::size_t>(number - 1, 1));
    float* weights = weights_.data() + centre * atlases_.size();
    if (field_->rule.joint) {
      sums_of_products_.resize(width * width);
      products(errors_.data(), target_.size() * number, width, sums_of_products_.data());
      joint_.find(sums_of_products_.data(), scale, weights);
    } else {
      weigh_alone(width, scale, weights);
    }
  }

  void weigh_alone(std::size_t width, double scale, float* weights) {
    for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
      double sum = 0.0;
      for (std::size_t at = atlas; at < errors_.size(); at += width) {
        sum += static_cast<double>(errors_[at]) * static_cast<double>(errors_[at]);
      }
      // In units of alpha, below which nothing tells atlases apart: never infinite.
      weights[atlas] = static_cast<float>(std::pow(1.0 + sum * scale / field_->rule.alpha, -field_->rule.beta));
      weights[atlas] = std::max(weights[atlas], std::numeric_limits<float>::min());
    }
  }

  // -- votes --------------------------------------------------------------------------------

  // Adds the weights of all patches to the labels of the voxels of the box.
  void vote(const Box& box) {
    number_labels(box);
    const std::size_t voxels = box.voxels();
    sums_.assign((labels_.size() + 1) * voxels, 0.0f);
    for_each_centre([&](std::size_t t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
      const Box part = intersection(around(t, z, y, x), box);
      if (part.empty()) return;
      const std::size_t length = part.size(3);
      for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
        const float weight = weights_[centre * atlases_.size() + atlas] * field_->own_weights[atlas];
        if (weight == 0) continue;
        const Shift& shift = field_->settings.shifts[static_cast<std::size_t>(shifts_[atlas][centre])];
        for_each_row(part, [&](std::size_t, std::size_t v, std::size_t u) {
          const std::uint16_t* digits = digits_[atlas].data() + digit_at(v, u, part.low[3], shift);
          float* sums = sums_.data() + box.at(t, v, u, part.low[3]);
          for (std::size_t k = 0; k < length; ++k) sums[slots_[digits[k]] * voxels + k] += weight;
        });
      }
    });
  }

  // Gives every label that occurs within reach of the box a place for its sums; what is missing gets
  // the last one, which nobody reads.
  void number_labels(const Box& box) {
    slots_.assign(field_->labels + 1, 0);
    for (const auto& digits : digits_) {
      for (std::size_t z = box.low[1]; z < box.high[1] + 2 * search(1); ++z) {
        for (std::size_t y = box.low[2]; y < box.high[2] + 2 * search(2); ++y) {
          const std::size_t first = (((z - tile_.low[1]) * digits_size_[2]) + (y - tile_.low[2])) * digits_size_[3];
          const std::uint16_t* row = digits.data() + first + (box.low[3] - tile_.low[3]);
          for (std::size_t k = 0; k < box.size(3) + 2 * search(3); ++k) slots_[row[k]] = 1;
        }
      }
    }
    labels_.clear();
    for (std::size_t label = 0; label < field_->labels; ++label) {
      if (!slots_[label]) continue;
      slots_[label] = labels_.size();
      labels_.push_back(label);
    }
    slots_[field_->labels] = labels_.size();
  }

  // Rounding must not choose between labels that are tied on paper.
  static constexpr float kTied = 1e-5f;

  template <class Index>
  void decide(const Box& box, Index* winners, TileShares& found) {
    const std::size_t voxels = box.voxels();
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      for (std::size_t x = box.low[3]; x < box.high[3]; ++x) {
        if (!open_[tile_.at(t, z, y, x)]) continue;
        const std::size_t volume = field_->at(t, z, y, x), here = box.at(t, z, y, x);
        const std::size_t first = found.labels.size();
        float total = 0.0f, best = 0.0f;
        for (std::size_t slot = 0; slot < labels_.size(); ++slot) {
          const float sum = sums_[slot * voxels + here];
          if (sum == 0 || is_excluded(labels_[slot], volume)) continue;
          found.labels.push_back(static_cast<std::uint16_t>(labels_[slot]));
          found.shares.push_back(sum);
          total += sum;
          best = std::max(best, sum);
        }
        std::int32_t winner = kOutside;  // all that atlases say is excluded
        for (std::size_t at = found.labels.size(); at-- > first;) {
          if (found.shares[at] >= best - kTied * total) winner = found.labels[at];
          found.shares[at] /= total;
        }
        winners[volume] = static_cast<Index>(winner);
        found.places.push_back(static_cast<std::int64_t>(volume));
        found.numbers.push_back(static_cast<std::uint16_t>(found.labels.size() - first));
        const float* weights = weights_.data() + centres_.at(t, z, y, x) * atlases_.size();
        for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
          found.weights[atlas] += static_cast<double>(weights[atlas] * field_->own_weights[atlas]);
        }
      }
    });
  }

  // -- images -------------------------------------------------------------------------------

  // Averages the atlases' patches, in their own intensities, at the voxels of the box that are inside.
  void fuse_images(const Box& box) {
    for (std::size_t m = 0; m < target_.size(); ++m) {
      image_.assign(box.voxels(), 0.0f);
      weight_.assign(box.voxels(), 0.0f);
      for_each_centre([&](std::size_t t, std::size_t z, std::size_t y, std::size_t x, std::size_t centre) {
        const Box patch = around(t, z, y, x), part = intersection(patch, box);
        if (part.empty()) return;
        for (std::size_t atlas = 0; atlas < atlases_.size(); ++atlas) {
          const float weight = weights_[centre * atlases_.size() + atlas] * field_->own_weights[atlas];
          const Patches& image = atlases_[atlas][m];
          const Intensities& given = *field_->atlases[atlas][m];
          // Values reach farther than places by the patch's radius on both sides.
          const Extents at = chosen(atlas, z - centres_.low[1], y - centres_.low[2], x - centres_.low[3], centre);
          const auto along = [&](std::size_t voxel, std::size_t centre_at, std::size_t axis) {
            return at[axis] + field_->settings.patch[axis] + voxel - centre_at;
          };
          for_each_row(part, [&](std::size_t, std::size_t v, std::size_t u) {
            const float* row = image.values.data() + image.value_at(along(v, z, 1), along(u, y, 2), along(part.low[3], x, 3));
            const std::size_t here = box.at(t, v, u, part.low[3]);
            for (std::size_t k = 0; k < part.size(3); ++k) {
              image_[here + k] += weight * given.restored(row[k]);
              weight_[here + k] += weight;
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
  Box tile_, centres_;
  std::vector<Patches> target_;
  std::vector<std::vector<Patches>> atlases_;
  std::vector<std::vector<std::int32_t>> shifts_;       // by atlas, of centres_
  std::vector<std::vector<std::uint16_t>> digits_;      // by atlas, of the tile and the search around it
  Extents digits_size_{};
  std::vector<std::uint8_t> open_, inside_, is_centre_;  // the first two of the tile
  std::vector<float> errors_, sums_of_products_, weights_, sums_, image_, weight_;
  std::vector<std::size_t> slots_, labels_;
};

}  // namespace consensus
