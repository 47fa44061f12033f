// Counts, for every pair of raters and every label, the voxels to which both gave the label; the
// votes are read from a pattern table.
//
// Preconditions: each row has `raters` digits; digits >= `labels` mean missing; `shared` has the
// shape (labels, raters, raters), and only the entries with i <= j are written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace consensus {

template <class Digit>
void pair_counts(const Digit* rows, std::size_t raters, std::size_t labels, const std::int64_t* voxels,
                 std::size_t begin, std::size_t end, std::int64_t* shared) {
  for (std::size_t row = begin; row < end; ++row) {
    const Digit* said = rows + row * raters;
    for (std::size_t i = 0; i < raters; ++i) {
      const Digit label = said[i];
      if (label >= labels) continue;
      std::int64_t* with = shared + (label * raters + i) * raters;
      // Without a branch, which would be unpredictable.
      for (std::size_t j = i; j < raters; ++j) with[j] += said[j] == label ? voxels[row] : 0;
    }
  }
}

}  // namespace consensus
