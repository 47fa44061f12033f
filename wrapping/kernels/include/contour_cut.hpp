// Thresholds the filtered mean of raters' masks. Counts the votes inside and outside a preliminary
// mask; computes a histogram of that mask after the same filtering, from which the Python code
// finds the level that preserves its volume; and applies the resulting threshold.
//
// Preconditions (checked in Python): `chosen` and `counted` are 0 or 1; they and `answer` have one
// value per voxel of the volume.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "band_answer.hpp"
#include "band_powers.hpp"
#include "neighbour_lines.hpp"
#include "simd.hpp"

namespace consensus {

// A number of voxels, and the sum of their votes.
struct Counted {
  std::int64_t voxels = 0;
  std::int64_t votes = 0;

  void add(std::int64_t vote, bool counts) {
    voxels += counts;
    votes += counts ? vote : 0;
  }
  void add(const Counted& other) {
    voxels += other.voxels;
    votes += other.votes;
  }
};

// Histogram of values from -1/2 to 3/2, at the resolution of single precision.
class ValueCounts {
 public:
  // Allocates the histogram. Call it before the first value; an unused histogram takes no memory.
  void make_room() {
    if (counts_.empty()) counts_.resize(kValues);
  }

  void add(float value) {
    const float place = std::min(std::max(value + 0.5f, 0.0f), 2.0f) * kPerUnit;
    ++counts_[static_cast<std::size_t>(place + 0.5f)];
  }
  // Adds the histogram to an array of kValues counts.
  void add_to(std::int64_t* counts) const {
    for (std::size_t k = 0; k < counts_.size(); ++k) counts[k] += counts_[k];
  }

  static constexpr std::size_t kPerUnit = std::size_t{1} << 17;
  static constexpr std::size_t kValues = 2 * kPerUnit + 1;

 private:
  std::vector<std::uint32_t> counts_;
};

struct CutField {
  const std::uint8_t* chosen;
  const std::uint8_t* counted;
  Extents reach;  // voxels within this distance of the contour are near it, all others are far
  Extents shape;
};

class CutCounts {
 public:
  CutCounts(const CutField& field, const MaskField& chosen, const KeptShares& kept, const RaterRows& votes)
      : field_(&field), clean_(chosen, kept), votes_(&votes), far_(field.reach, field.shape) {}

  void compute(const Box& box) {
    if (!any_counted(box)) return;
    values.make_room();
    clean_.begin(box);
    spread(box);
    const Box whole = whole_box(field_->shape);
    row_.resize(box.size(3));
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = whole.at(t, z, y, box.low[3]), first = box.at(t, z, y, box.low[3]);
      if (!any_counted(at, box.size(3))) return;
      const float* clean = clean_.row(t, z, y);
      votes_->read(0, at, box.size(3), row_.data());
      for (std::size_t x = 0; x < box.size(3); ++x) {
        if (!field_->counted[at + x]) continue;
        const std::int64_t vote = fixed_point(row_[x]);
        const bool side = field_->chosen[at + x] != 0;
        sides[side].add(vote, true);
        far[side].add(vote, side ? lowest_[first + x] != 0 : highest_[first + x] == 0);
        values.add(clean[x]);
      }
    });
  }

  void add(const CutCounts& other) {
    for (std::size_t side = 0; side < 2; ++side) {
      sides[side].add(other.sides[side]);
      far[side].add(other.far[side]);
    }
  }

  std::array<Counted, 2> sides, far;  // outside and inside
  ValueCounts values;  // of the filtered preliminary mask

 private:
  bool any_counted(const Box& box) const {
    const Box whole = whole_box(field_->shape);
    bool any = false;
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      any = any || any_counted(whole.at(t, z, y, box.low[3]), box.size(3));
    });
    return any;
  }
  bool any_counted(std::size_t at, std::size_t n) const { return std::memchr(field_->counted + at, 1, n) != nullptr; }

  // Computes the minimum and maximum of the mask within reach of every voxel.
  void spread(const Box& box) {
    const Box from = far_.source(box), whole = whole_box(field_->shape);
    lowest_.resize(from.voxels());
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(field_->chosen + whole.at(t, z, y, from.low[3]), from.size(3),
                  lowest_.data() + from.at(t, z, y, from.low[3]));
    });
    highest_ = lowest_;
    for (const bool highest : {false, true}) {
      far_.run(highest ? highest_ : lowest_, box,
               [&](std::size_t axis, const std::uint8_t* const* rows, std::size_t n, std::uint8_t* to) {
                 extremes(rows, 2 * far_.reach()[axis] + 1, highest, n, to);
               });
    }
  }

  const CutField* field_;
  AnswerRows clean_;
  const RaterRows* votes_;
  NeighbourLines<std::uint8_t> far_;
  std::vector<std::uint8_t> lowest_, highest_;
  std::vector<float> row_;
};

// The mean share of votes outside and inside the contour, the threshold at voxels without detail, and
// the tolerance: a value this close to the threshold is a tie.
struct ContourCut {
  float outside;
  float inside;
  float between;
  float tolerance;
};

CONSENSUS_WIDE static inline void choose(const float* answer, const float* detail, const ContourCut& cut,
                                         std::size_t n, std::uint8_t* chosen) {
  for (std::size_t i = 0; i < n; ++i) {
    const float limit = cut.between + detail[i] * (0.5f - cut.between);
    chosen[i] = answer[i] > limit + cut.tolerance;
  }
}

// Converts the filtered mean to a probability in place: the mean share outside becomes 0, the
// threshold 1/2, and the mean share inside 1.
CONSENSUS_WIDE static inline void turn_into_probability(const float* detail, const ContourCut& cut, std::size_t n,
                                                        float* answer) {
  for (std::size_t i = 0; i < n; ++i) {
    const float middle = cut.between + detail[i] * (0.5f - cut.between);
    const float low = (1.0f - detail[i]) * cut.outside;
    const float high = (1.0f - detail[i]) * cut.inside + detail[i];
    const float above = answer[i] - middle;
    const float width = above > 0 ? high - middle : middle - low;
    const float linear = 0.5f + 0.5f * above / std::max(width, 1e-12f);
    // A tie is not part of the mask, so its probability must be below one half.
    const float value = above > cut.tolerance ? linear : std::min(linear, 0.5f - cut.tolerance);
    answer[i] = std::min(std::max(value, 0.0f), 1.0f);
  }
}

// Calls work(detail, first voxel, number of voxels) for every row of a box.
template <class Work>
void for_each_detail_row(const KeptShares& kept, CoarseValues& coarse, const Box& box, Work work) {
  const Box whole = whole_box(kept.grid.shape);
  for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
    const std::size_t n = box.size(3);
    work(coarse.row(kept.detail, t, z, y, box.low[3], n), whole.at(t, z, y, box.low[3]), n);
  });
}

}  // namespace consensus
