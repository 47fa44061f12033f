// Computes the uncertainty of a voxel from the shares of its labels; the measures are defined in
// votes/uncertainty.py.
#pragma once

#include <algorithm>
#include <cmath>

namespace consensus {

enum class Unsure { entropy, disagreement, variance };

// Returns the accumulator, initially 0, updated by one share.
inline double more_unsure(Unsure kind, double known, double share) {
  if (kind == Unsure::disagreement) return std::max(known, share);
  if (!(share > 0 && share < 1)) return known;
  return kind == Unsure::entropy ? known - share * std::log(share) : known + share * (1 - share) / 2;
}

// Returns the uncertainty after the last share; 0 if there was none.
inline double unsure_at_last(Unsure kind, double known) {
  if (kind != Unsure::disagreement) return known;
  return known > 0 ? std::max(1 - known, 0.0) : 0.0;
}

}  // namespace consensus
