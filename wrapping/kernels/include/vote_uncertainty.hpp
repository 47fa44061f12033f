// Computes the uncertainty of each voxel from its votes in one pass; counts at most as many labels
// as raters.
//
// Preconditions (checked in Python): raters and mask hold the whole extent; digits are at most the
// number of labels, which means missing; there is one weight >= 0 per rater.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runs.hpp"
#include "unsure.hpp"
#include "votes.hpp"

namespace consensus {

class VoteUncertainty {
 public:
  VoteUncertainty(const std::vector<const Votes*>& raters, const std::vector<double>& weights,
                  std::uint32_t labels, Unsure kind, double nobody)
      : raters_(raters), weights_(weights), labels_(labels), kind_(kind), nobody_(nobody),
        digits_(raters.size() * kShortRun), scores_(labels, kUnvoted), voted_(raters.size()) {}

  // Writes voxels begin .. end - 1: `nobody` where there are no votes, 0 outside the mask.
  void write(const std::uint8_t* mask, std::size_t begin, std::size_t end, float* out) {
    for (std::size_t at = begin; at < end; at += kShortRun) {
      const std::size_t n = std::min(kShortRun, end - at);
      for (std::size_t j = 0; j < raters_.size(); ++j) raters_[j]->read(at, n, row(j));
      for (std::size_t k = 0; k < n; ++k) {
        out[at + k] = !mask || mask[at + k] ? static_cast<float>(of_voxel(k)) : 0.0f;
      }
    }
  }

 private:
  static constexpr double kUnvoted = -1;

  std::uint16_t* row(std::size_t rater) { return digits_.data() + rater * kShortRun; }

  double of_voxel(std::size_t k) {
    std::size_t voted = 0;
    double total = 0;
    for (std::size_t j = 0; j < raters_.size(); ++j) {
      const std::uint16_t label = row(j)[k];
      if (label >= labels_) continue;
      if (scores_[label] == kUnvoted) {
        scores_[label] = 0;
        voted_[voted++] = label;
      }
      scores_[label] += weights_[j];
      total += weights_[j];
    }
    double known = 0;
    for (std::size_t i = 0; i < voted; ++i) {
      if (total > 0) known = more_unsure(kind_, known, scores_[voted_[i]] / total);
      scores_[voted_[i]] = kUnvoted;
    }
    return total > 0 ? unsure_at_last(kind_, known) : nobody_;
  }

  const std::vector<const Votes*>& raters_;
  const std::vector<double>& weights_;
  std::uint32_t labels_;
  Unsure kind_;
  double nobody_;
  std::vector<std::uint16_t> digits_;  // [rater][voxel]
  std::vector<double> scores_;
  std::vector<std::uint16_t> voted_;
};

}  // namespace consensus
