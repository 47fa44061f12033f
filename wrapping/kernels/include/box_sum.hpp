// Replaces every voxel by the sum over a box around it, clipped at the border; in place, axis by axis.
//
// A sum is the difference of two prefix sums, so the cost does not depend on the size of the box. Prefix
// sums are double, so a float result is accurate to a few units in the last place. If all values are
// >= 0, no sum is negative, and the sum of zeros is exactly 0.
//
// Precondition (checked in Python): the volume holds outer * length * inner values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lines.hpp"

namespace consensus {

template <class Value>
void box_sum_block(Value* volume, const Lines& lines, std::size_t block, std::size_t radius,
                   std::vector<double>& prefix) {
  const std::size_t lanes = lines.lanes(block);
  Value* first = volume + lines.first(block);
  std::fill_n(prefix.begin(), lanes, 0.0);
  for (std::size_t k = 0; k < lines.length; ++k) {
    const Value* row = first + k * lines.inner;
    const double* before = prefix.data() + k * lanes;
    double* after = prefix.data() + (k + 1) * lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) after[lane] = before[lane] + row[lane];
  }
  for (std::size_t k = 0; k < lines.length; ++k) {
    Value* row = first + k * lines.inner;
    const double* low = prefix.data() + (k - std::min(k, radius)) * lanes;
    const double* high = prefix.data() + (k + 1 + std::min(lines.length - 1 - k, radius)) * lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      row[lane] = static_cast<Value>(high[lane] - low[lane]);
    }
  }
}

template <class Value>
void box_sum_axis(Value* volume, const Lines& lines, std::size_t radius, std::size_t threads) {
  for_each_block_slab(lines, threads, [&](Slab slab) {
    std::vector<double> prefix((lines.length + 1) * kLanes);
    for (std::size_t block = slab.begin; block < slab.end; ++block) {
      box_sum_block(volume, lines, block, radius, prefix);
    }
  });
}

}  // namespace consensus
