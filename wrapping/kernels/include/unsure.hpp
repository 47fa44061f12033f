// Uncertainty of a voxel from the shares of its labels; the kinds are those of votes/uncertainty.py.
#pragma once

#include <algorithm>
#include <cmath>

namespace consensus {

enum class Unsure { entropy, disagreement, variance };

// Adds one share to the accumulator, which starts at 0.
inline double more_unsure(Unsure kind, double known, double share) {
  if (kind == Unsure::disagreement) return std::max(known, share);
  if (!(share > 0 && share < 1)) return known;
  return kind == Unsure::entropy ? known - share * std::log(share) : known + share * (1 - share) / 2;
}

// The uncertainty after all shares; 0 if no label has any.
inline double unsure_at_last(Unsure kind, double known) {
  if (kind != Unsure::disagreement) return known;
  return known > 0 ? std::max(1 - known, 0.0) : 0.0;
}

}  // namespace consensus
