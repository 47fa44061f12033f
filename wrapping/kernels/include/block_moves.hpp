// Finds the best new label of a block of equal voxels, and its gain (direct inference).
//
// The score of a block for a label is the prior's gain plus, for each rater, the gain in the row
// of the rater's vote. The counts of the block's own label already include the block, so the gains
// of leaving it are in separate tables. Terms are added in the order of raters, so results do not
// depend on the number of threads.
//
// Preconditions (checked in Python): digits are at most `labels`, which means missing and has a
// row of zeros; current labels are below `labels`; every array has the length that its comment
// states.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "candidate_labels.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace consensus {

struct GainsOfVotes {
  const double* of_raters;  // [rater][vote, or missing][map][label]
  const double* of_prior;   // [map][label]
};

template <class Digit>
struct Blocks {
  const Digit* digits;      // [block][rater]
  const std::int64_t* own;  // [block][map]
  std::size_t raters;
  std::size_t labels;
  std::size_t maps;
};

template <class Digit>
void best_moves(const Blocks<Digit>& blocks, const GainsOfVotes& joining, const GainsOfVotes& leaving, Slab slab,
                double* gains, std::int64_t* targets) {
  const std::size_t labels = blocks.labels;
  std::vector<double> scores(labels);
  for (std::size_t at = slab.begin * blocks.maps; at < slab.end * blocks.maps; ++at) {
    const std::size_t map = at % blocks.maps;
    const Digit* digits = blocks.digits + at / blocks.maps * blocks.raters;
    const auto own = static_cast<std::size_t>(blocks.own[at]);
    std::copy_n(joining.of_prior + map * labels, labels, scores.begin());
    double left = leaving.of_prior[map * labels + own];
    for (std::size_t j = 0; j < blocks.raters; ++j) {
      const std::size_t row = ((j * (labels + 1) + digits[j]) * blocks.maps + map) * labels;
      add_scaled(joining.of_raters + row, 1.0, labels, scores.data());
      left += leaving.of_raters[row + own];
    }
    scores[own] = kImpossible;
    const double best = highest_of(scores.data(), labels);
    gains[at] = best + left;
    targets[at] = std::find(scores.begin(), scores.end(), best) - scores.begin();
  }
}

}  // namespace consensus
