// The vote in which raters have weights of their own at each voxel, smoothed, tile by tile.
//
// A label's share is the sum of the weights of who votes for it over that of all who vote, smoothed
// by a Gaussian, over the smoothed indicator of voxels with any vote. Only labels that occur around a
// tile are looked at, each as far as its votes reach, and only voxels that are asked about.
//
// Preconditions (checked in Python): digits and weights of every rater, and `asked`, hold the whole
// volume; digits below `labels` are labels, all others mean missing; weights are finite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gaussian_lines.hpp"
#include "tiles.hpp"

namespace consensus {

struct LocalVotes {
  std::vector<const std::uint16_t*> digits;
  std::vector<const float*> weights;
  const std::uint8_t* asked;  // 0: the voxel's answer is not wanted
  std::size_t labels;
  Extents shape;
  GaussianWeights gaussian;

  std::size_t at(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return ((t * shape[1] + z) * shape[2] + y) * shape[3] + x;
  }
};

class LocalVoteTile {
 public:
  explicit LocalVoteTile(const LocalVotes& votes)
      : votes_(&votes), gaussian_(votes.gaussian, votes.shape), slots_(votes.labels, kAbsent) {}

  // Writes the label of largest share, the lowest of equals, where it is asked for.
  void decide(const Box& tile, std::int32_t* winners) {
    if (!load(tile)) return;
    best_.assign(to_.voxels(), -std::numeric_limits<float>::infinity());
    for (const Label& label : labels_) {
      const Box box = smooth(label);
      visit(box, [&](std::size_t volume, std::size_t share, std::size_t here) {
        if (values_[share] > best_[here]) {
          best_[here] = values_[share];
          winners[volume] = static_cast<std::int32_t>(label.digit);
        }
      });
    }
  }

  // Writes a label's share where it is asked for.
  void share(const Box& tile, std::size_t digit, float* shares) {
    if (!load(tile)) return;
    for (const Label& label : labels_) {
      if (label.digit != digit) continue;
      const Box box = smooth(label);
      visit(box, [&](std::size_t volume, std::size_t share, std::size_t here) {
        const float voted = gaps_ ? voted_[here] : 1.0f;
        shares[volume] = voted > 0 ? values_[share] / voted : 0.0f;
      });
    }
  }

 private:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

  struct Label {
    std::size_t digit;
    Box box;            // of its votes
    std::size_t place;  // of its sums
  };

  // Sums up the votes around the voxels that are asked about; false if there are none.
  bool load(const Box& tile) {
    to_ = asked_box(tile);
    if (to_.empty()) return false;
    around_ = gaussian_.source(to_);
    for (const Label& label : labels_) slots_[label.digit] = kAbsent;
    labels_.clear();
    total_.assign(around_.voxels(), 0.0f);
    for (std::size_t rater = 0; rater < votes_->digits.size(); ++rater) add_rater(rater);
    std::sort(labels_.begin(), labels_.end(),
              [](const Label& a, const Label& b) { return a.digit < b.digit; });
    invert_total();
    return true;
  }

  Box asked_box(const Box& tile) const {
    Box found{tile.high, tile.low};
    for_each_row(tile, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::uint8_t* row = votes_->asked + votes_->at(t, z, y, 0);
      const std::uint8_t* first = std::find_if(row + tile.low[3], row + tile.high[3], [](auto a) { return a != 0; });
      if (first == row + tile.high[3]) return;
      std::size_t last = tile.high[3];
      while (!row[last - 1]) --last;
      widen(found, {{t, z, y, static_cast<std::size_t>(first - row)}, {t + 1, z + 1, y + 1, last}});
    });
    return found;
  }

  static void widen(Box& box, const Box& part) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      box.low[axis] = std::min(box.low[axis], part.low[axis]);
      box.high[axis] = std::max(box.high[axis], part.high[axis]);
    }
  }

  void add_rater(std::size_t rater) {
    const std::size_t length = around_.size(3);
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = votes_->at(t, z, y, around_.low[3]);
      const std::uint16_t* digits = votes_->digits[rater] + first;
      const float* weights = votes_->weights[rater] + first;
      for (std::size_t from = 0, to = 1; from < length; from = to, ++to) {
        while (to < length && digits[to] == digits[from]) ++to;
        if (digits[from] >= votes_->labels) continue;  // missing
        const Box run{{t, z, y, around_.low[3] + from}, {t + 1, z + 1, y + 1, around_.low[3] + to}};
        const std::size_t at = around_.at(t, z, y, around_.low[3]);
        float* sums = sums_of(digits[from], run) + at;
        float* total = total_.data() + at;
        for (std::size_t x = from; x < to; ++x) {
          sums[x] += weights[x];
          total[x] += weights[x];
        }
      }
    });
  }

  float* sums_of(std::size_t digit, const Box& run) {
    const std::size_t voxels = around_.voxels();
    if (slots_[digit] == kAbsent) {
      slots_[digit] = labels_.size();
      labels_.push_back({digit, run, labels_.size()});
      sums_.resize(std::max(sums_.size(), labels_.size() * voxels));
      std::fill_n(sums_.data() + slots_[digit] * voxels, voxels, 0.0f);
    }
    widen(labels_[slots_[digit]].box, run);
    return sums_.data() + slots_[digit] * voxels;
  }

  // Votes are multiplied by 1 / total; where some voxel has no vote, shares are divided by voted_.
  void invert_total() {
    gaps_ = false;
    for (float& total : total_) {
      gaps_ |= total == 0;
      total = total == 0 ? 0.0f : 1.0f / total;
    }
    if (!gaps_) return;
    voted_.resize(total_.size());
    for (std::size_t i = 0; i < total_.size(); ++i) voted_[i] = total_[i] == 0 ? 0.0f : 1.0f;
    gaussian_.smooth(voted_, to_);
  }

  // Fills values_ with the smoothed votes of the box that is returned.
  Box smooth(const Label& label) {
    const Box box = intersection(grown(label.box, gaussian_.reach(), votes_->shape), to_);
    const Box from = gaussian_.source(box);
    values_.resize(from.voxels());
    const float* sums = sums_.data() + label.place * around_.voxels();
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = around_.at(t, z, y, from.low[3]);
      float* row = values_.data() + from.at(t, z, y, from.low[3]);
      for (std::size_t x = 0; x < from.size(3); ++x) row[x] = sums[at + x] * total_[at + x];
    });
    gaussian_.smooth(values_, box);
    return box;
  }

  // Calls use(place in the volume, in `box`, in to_) for every voxel of the box that is asked about.
  template <class Use>
  void visit(const Box& box, Use use) const {
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t volume = votes_->at(t, z, y, box.low[3]);
      const std::size_t share = box.at(t, z, y, box.low[3]), here = to_.at(t, z, y, box.low[3]);
      for (std::size_t x = 0; x < box.size(3); ++x) {
        if (votes_->asked[volume + x]) use(volume + x, share + x, here + x);
      }
    });
  }

  const LocalVotes* votes_;
  Gaussian<float> gaussian_;
  Box to_, around_;
  std::vector<Label> labels_;
  std::vector<std::size_t> slots_;  // by digit: place of its sums
  bool gaps_ = false;               // somebody's vote is missing at a voxel where nobody else has one
  std::vector<float> sums_, total_, voted_, values_, best_;
};

}  // namespace consensus
