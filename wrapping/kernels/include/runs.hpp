// Walks through a stack of raters in runs. Most of a clinical volume consists of long runs over
// which every rater's label is constant; such a run needs one look-up instead of one per voxel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "votes.hpp"

namespace consensus {

struct Stack {
  std::vector<const Votes*> raters;
  std::uint32_t radix;
  const std::uint8_t* mask;      // nullptr: every voxel is inside
  const std::uint32_t* strata;   // nullptr: one stratum

  bool inside(std::size_t at) const { return !mask || mask[at]; }

  bool constant(std::size_t begin, std::size_t n) const {
    if (mask && !is_constant(mask + begin, n)) return false;
    if (strata && !is_constant(strata + begin, n)) return false;
    return std::all_of(raters.begin(), raters.end(),
                       [&](const Votes* rater) { return rater->constant(begin, n); });
  }
};

constexpr std::size_t kLongRun = 1024;
constexpr std::size_t kShortRun = 64;

// Calls run(at, n) for constant stretches and voxels(at, n), n <= kShortRun, for the others.
template <class Source, class Run, class Voxels>
void for_each_run(const Source& source, std::size_t begin, std::size_t end, Run run, Voxels voxels) {
  for (std::size_t at = begin; at < end; at += kLongRun) {
    const std::size_t n = std::min(kLongRun, end - at);
    if (source.constant(at, n)) {
      run(at, n);
      continue;
    }
    for (std::size_t k = at; k < at + n; k += kShortRun) {
      const std::size_t m = std::min(kShortRun, at + n - k);
      if (source.constant(k, m)) {
        run(k, m);
      } else {
        voxels(k, m);
      }
    }
  }
}

}  // namespace consensus
