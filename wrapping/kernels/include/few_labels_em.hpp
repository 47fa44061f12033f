// The E-step of confusion_em.hpp for few labels, with all labels and starts processed together.
//
// Starts are contiguous in the rows of log theta and of the counts, so each vote adds one row for
// all starts. Terms are added in the order of confusion_em.hpp, so results are bitwise equal.
//
// Preconditions (checked in Python): those of confusion_em.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "confusion_em.hpp"

namespace consensus {

constexpr std::size_t kFewLabels = 4;

template <class Digit>
class ExpectationOfFewLabels {
 public:
  ExpectationOfFewLabels(const PatternRows<Digit>& rows, const Parameters& parameters)
      : rows_(rows), parameters_(parameters), width_(rows.starts * rows.truths), values_(width_) {}

  void add(std::size_t pattern, double weight, std::size_t mass_row, ExpectedCounts& sums) {
    const Digit* digits = rows_.digits + pattern * rows_.raters;
    std::fill(values_.begin(), values_.end(), 0.0);
    for_each_vote(digits, [&](std::size_t at) { add_row(parameters_.log_theta + at, values_.data()); });
    add_prior(pattern);
    for (std::size_t s = 0; s < rows_.starts; ++s) {
      sums.log_likelihood[s] += weight * share_out(values_.data() + s * rows_.truths, weight);
    }
    add_row(values_.data(), sums.mass.data() + mass_row * width_);
    for_each_vote(digits, [&](std::size_t at) { add_row(values_.data(), sums.counts.data() + at); });
  }

 private:
  // Calls use(offset) for every vote, with the offset of its row in log theta and in the counts.
  template <class Use>
  void for_each_vote(const Digit* digits, Use use) const {
    for (std::size_t j = 0; j < rows_.raters; ++j) {
      if (digits[j] < rows_.labels) use((j * rows_.labels + digits[j]) * width_);
    }
  }

  void add_row(const double* from, double* to) const {
    for (std::size_t i = 0; i < width_; ++i) to[i] += from[i];
  }

  void add_prior(std::size_t pattern) {
    const std::size_t row = parameters_.prior_row ? parameters_.prior_row[pattern] : 0;
    const double* prior = parameters_.log_prior + row * parameters_.prior_starts * rows_.truths;
    const std::size_t step = parameters_.prior_starts == 1 ? 0 : rows_.truths;
    for (std::size_t s = 0; s < rows_.starts; ++s, prior += step) {
      for (std::size_t t = 0; t < rows_.truths; ++t) values_[s * rows_.truths + t] += prior[t];
    }
  }

  // Replaces the log joints of one start with shares that sum to `weight`; returns the log
  // evidence.
  double share_out(double* values, double weight) const {
    const double peak = *std::max_element(values, values + rows_.truths);
    if (!(peak > kImpossible)) {
      std::fill_n(values, rows_.truths, 0.0);
      return kImpossible;
    }
    double total = 0.0;
    for (std::size_t t = 0; t < rows_.truths; ++t) {
      const double below = values[t] - peak;
      values[t] = below > -parameters_.negligible ? exp_below(below) : 0.0;
      total += values[t];
    }
    for (std::size_t t = 0; t < rows_.truths; ++t) values[t] = weight * (values[t] / total);
    return std::log(total) + peak;
  }

  const PatternRows<Digit>& rows_;
  const Parameters& parameters_;
  std::size_t width_;           // of a row: starts * truths
  std::vector<double> values_;  // [start][true] log joints, then shares of the weight
};

template <class Digit>
void expect_few_labels(const PatternRows<Digit>& rows, const double* weights, const Parameters& parameters,
                       bool mass_by_row, Slab slab, ExpectedCounts& sums) {
  ExpectationOfFewLabels<Digit> expectation(rows, parameters);
  for (std::size_t p = slab.begin; p < slab.end; ++p) {
    if (p % kPatternsOfPiece == 0) checkpoint();
    if (weights[p] == 0) continue;
    expectation.add(p, weights[p], mass_by_row && parameters.prior_row ? parameters.prior_row[p] : 0, sums);
  }
}

}  // namespace consensus
