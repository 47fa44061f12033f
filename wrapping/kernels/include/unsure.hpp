// How unsure the shares of labels leave a voxel, share by share; the kinds of votes/uncertainty.py.
#pragma once

#include <algorithm>
#include <cmath>

namespace consensus {

enum class Unsure { entropy, disagreement, variance };

// What is known after one more share, from 0 on.
inline double more_unsure(Unsure kind, double known, double share) {
  if (kind == Unsure::disagreement) return std::max(known, share);
  if (!(share > 0 && share < 1)) return known;
  return kind == Unsure::entropy ? known - share * std::log(share) : known + share * (1 - share) / 2;
}

// The answer after all shares. Where no label has any there is nothing to disagree about.
inline double unsure_at_last(Unsure kind, double known) {
  if (kind != Unsure::disagreement) return known;
  return known > 0 ? std::max(1 - known, 0.0) : 0.0;
}

}  // namespace consensus
