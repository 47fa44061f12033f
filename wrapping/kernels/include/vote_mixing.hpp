// Sums the shares of votes for each label d over the voxels at which a decision has label t: over
// those within reach of any dissent ("near"), and over the subset of these beyond reach of the
// decision's contours ("far").
//
// Shares are integer multiples of 1 / `units`, so sums are exact in any order. Annotated voxels
// around which all votes are for one label are only counted: their share is 1.
//
// Preconditions (checked in Python): those of vote_tile.hpp; `decision` has one value per voxel of
// the volume, a label index below `labels` or a negative code; units * (number of voxels) < 2^63.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "vote_tile.hpp"

namespace consensus {

struct MixingSums {
  struct Pair {
    std::int64_t near = 0;  // units of votes at voxels within reach of dissent
    std::int64_t far = 0;  // the part of `near` beyond reach of contours
  };
  struct Voxels {
    std::int64_t near = 0, far = 0;                // as above, in voxels
    // the part of these without annotation by any rater
    std::int64_t nobody_near = 0, nobody_far = 0;
    std::int64_t agreed = 0, agreed_far = 0;       // voxels beyond reach of any dissent
  };
  std::unordered_map<std::uint64_t, Pair> pairs;  // keys are d * labels + t
  std::vector<Voxels> voxels;                     // indexed by t
};

template <class Vote, class Index>
class MixingCounter {
 public:
  MixingCounter(const VoteField& field, double units)
      : tile_(field), lines_(reach_of(field.gaussian), field.shape), units_(units) {
    sums_.voxels.resize(field.labels);
  }

  const MixingSums& sums() const { return sums_; }

  void count(const Box& box, const Index* decision) {
    tile_.load(box);
    const bool one = read_decision(decision);
    if (tile_.alike() && one && said_[0] == static_cast<Index>(tile_.labels()[0].digit)) {
      auto& voxels = sums_.voxels[tile_.labels()[0].digit];
      voxels.agreed += static_cast<std::int64_t>(box.voxels());
      voxels.agreed_far += static_cast<std::int64_t>(box.voxels());
      return;
    }
    read_votes();
    window(said_, box, low_, high_);
    window(lowest_, highest_, box, vote_low_, vote_high_);
    const std::size_t labels = tile_.labels().size();
    local_.assign(labels * labels, {});
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = box.at(t, z, y, box.low[3]);
      const std::size_t around = tile_.around().at(t, z, y, box.low[3]);
      for (std::size_t x = 0; x < box.size(3); ++x) count_voxel(at + x, around + x);
    });
    flush();
  }

 private:
  // Reads the decision within reach of the tile; returns whether it is constant.
  bool read_decision(const Index* decision) {
    const Box& around = tile_.around();
    said_.resize(around.voxels());
    bool one = true;
    for_each_row(around, [&](std::size_t t, std::size_t z, std::size_t y) {
      const Index* row = decision + tile_.field().first_of(t, z, y, around.low[3]);
      Index* to = said_.data() + around.at(t, z, y, around.low[3]);
      std::copy_n(row, around.size(3), to);
      one = one && row[0] == said_[0] && is_constant(row, around.size(3));
    });
    return one;
  }

  // Finds the lowest and the highest label that any rater gave at each voxel around the tile.
  void read_votes() {
    const std::size_t voxels = tile_.around().voxels();
    lowest_.assign(voxels, std::numeric_limits<Index>::max());
    highest_.assign(voxels, std::numeric_limits<Index>::min());
    if (tile_.alike()) {
      const auto label = static_cast<Index>(tile_.labels()[0].digit);
      lowest_.assign(voxels, label);
      highest_.assign(voxels, label);
      return;
    }
    // Labels are in ascending order: the first at a voxel is the lowest, the last the highest.
    for (const auto& label : tile_.labels()) {
      const auto digit = static_cast<Index>(label.digit);
      for_each_row(label.box, [&](std::size_t t, std::size_t z, std::size_t y) {
        const std::size_t at = tile_.around().at(t, z, y, label.box.low[3]);
        mark_extremes(tile_.votes(label) + at, digit, label.box.size(3), lowest_.data() + at,
                      highest_.data() + at);
      });
    }
    for (std::size_t i = 0; tile_.has_outside() && i < voxels; ++i) {
      if (!tile_.inside(i)) {
        lowest_[i] = std::numeric_limits<Index>::max();
        highest_[i] = std::numeric_limits<Index>::min();
      }
    }
  }

  void window(const std::vector<Index>& values, const Box& box, std::vector<Index>& low,
              std::vector<Index>& high) {
    window(values, values, box, low, high);
  }

  // Computes the minimum of `lows` and the maximum of `highs` within reach of each voxel of the tile.
  void window(const std::vector<Index>& lows, const std::vector<Index>& highs, const Box& box,
              std::vector<Index>& low, std::vector<Index>& high) {
    low = lows;
    high = highs;
    const Extents& reach = lines_.reach();
    lines_.run(low, box, [&](std::size_t axis, const Index* const* rows, std::size_t n, Index* out) {
      extremes(rows, 2 * reach[axis] + 1, false, n, out);
    });
    lines_.run(high, box, [&](std::size_t axis, const Index* const* rows, std::size_t n, Index* out) {
      extremes(rows, 2 * reach[axis] + 1, true, n, out);
    });
  }

  void count_voxel(std::size_t at, std::size_t around) {
    const Index said = said_[around];
    if (said < 0 || !tile_.inside(around)) return;
    auto& voxels = sums_.voxels[static_cast<std::size_t>(said)];
    const bool far = low_[at] == high_[at];
    const bool somebody = tile_.weight_at(around) > 0;
    if (somebody && vote_low_[at] == vote_high_[at] && vote_low_[at] == said) {
      ++voxels.agreed;
      voxels.agreed_far += far;
      return;
    }
    ++voxels.near;
    voxels.far += far;
    if (!somebody) {
      ++voxels.nobody_near;
      voxels.nobody_far += far;
      return;
    }
    count_votes(static_cast<std::size_t>(said), far, around);
  }

  void count_votes(std::size_t said, bool far, std::size_t around) {
    if (lowest_[around] == highest_[around]) {
      add(tile_.slot(static_cast<std::size_t>(lowest_[around])), said, far, std::llround(units_));
      return;
    }
    const double unit = units_ / tile_.weight_at(around);
    for (std::size_t k = 0; k < tile_.labels().size(); ++k) {
      const Vote votes = tile_.votes(tile_.labels()[k])[around];
      if (votes > 0) add(k, said, far, std::llround(votes * unit));
    }
  }

  void add(std::size_t row, std::size_t said, bool far, std::int64_t units) {
    const auto& labels = tile_.labels();
    const std::size_t column = tile_.slot(said);
    auto& pair = column == VoteTile<Vote>::kAbsent
                     ? sums_.pairs[labels[row].digit * tile_.field().labels + said]
                     : local_[row * labels.size() + column];
    pair.near += units;
    if (far) pair.far += units;
  }

  void flush() {
    const auto& labels = tile_.labels();
    for (std::size_t d = 0; d < labels.size(); ++d) {
      for (std::size_t t = 0; t < labels.size(); ++t) {
        const auto& pair = local_[d * labels.size() + t];
        if (pair.near == 0) continue;
        auto& total = sums_.pairs[labels[d].digit * tile_.field().labels + labels[t].digit];
        total.near += pair.near;
        total.far += pair.far;
      }
    }
  }

  VoteTile<Vote> tile_;
  NeighbourLines<Index> lines_;
  double units_;
  MixingSums sums_;
  std::vector<MixingSums::Pair> local_;
  std::vector<Index> said_, lowest_, highest_, low_, high_, vote_low_, vote_high_;
};

}  // namespace consensus
