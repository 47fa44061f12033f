// The E-step of EM over a table of patterns, and the sums for the M-step, for any number of
// labels.
//
// The log joint of a pattern is the log prior plus one row of log theta per rater. Most
// probabilities of theta are zero and remain zero under EM, so only the labels that are possible
// under the most restrictive vote are examined. If these are many, only the labels that some vote
// makes likely are, unless a bound shows that another label may matter. Posteriors are computed
// for one pattern at a time; only the sums are stored. Labels more than `negligible` nats below
// the best one are skipped: 745 nats below, a share underflows; 40 nats below, it is less than
// 5e-18 and changes no other share.
//
// There may be more true classes than labels, for example one per label and level of difficulty.
//
// The division of patterns into slabs depends only on their number, and the sums of slabs are
// added in order, so results do not depend on the number of threads.
//
// Preconditions (checked in Python): digits are at most `labels`, which means missing; log values
// are below +inf and not NaN; every prior row exists; every array has the length that its comment
// states.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "candidate_labels.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace consensus {

template <class Digit>
struct PatternRows {
  const Digit* digits;  // [pattern][rater]
  std::size_t patterns;
  std::size_t raters;
  std::size_t labels;  // number of labels that raters can give
  std::size_t truths;
  std::size_t starts;
};

struct Parameters {
  const double* log_theta;         // [rater][observed][start][true]
  const double* log_prior;         // [row][start or one][true]
  const std::uint32_t* prior_row;  // of each pattern; nullptr: row 0
  std::size_t prior_starts;        // 1: all starts share a prior
  double negligible;               // nats below the best label, > 0
  double highest_log_prior;
};

constexpr double kUnderflow = 745.2;  // exp of less than -kUnderflow is zero

// exp(below), without calling std::exp for the best label, where `below` is 0.
inline double exp_below(double below) { return below == 0 ? 1.0 : std::exp(below); }

// The labels with a non-negligible posterior given one pattern and one start, their log joints and shares.
struct Posterior {
  const std::uint16_t* labels;
  std::size_t size;  // 0 if no label is possible
  std::vector<double> log_joint, share;
  double log_evidence;
};

template <class Digit>
class PosteriorOf {
 public:
  PosteriorOf(const PatternRows<Digit>& rows, const Parameters& parameters, const PossibleLabels& possible)
      : rows_(rows), parameters_(parameters), possible_(possible), all_(rows.truths), chosen_(rows.truths),
        union_(rows.truths) {
    for (std::size_t t = 0; t < rows.truths; ++t) all_[t] = static_cast<std::uint16_t>(t);
    posterior_.log_joint.resize(rows.truths);
    posterior_.share.resize(rows.truths);
  }

  const Posterior& at(std::size_t pattern, std::size_t start) {
    const Digit* digits = rows_.digits + pattern * rows_.raters;
    choose_fewest(digits, start);
    // Processing all labels contiguously is as fast as gathering a quarter of them.
    const bool many = 4 * posterior_.size >= rows_.truths;
    if (!many || !likely_are_enough(digits, pattern, start)) {
      if (many) choose_all();
      add_rows(digits, pattern, start);
      peak_ = highest_of(posterior_.log_joint.data(), posterior_.size);
    }
    normalise();
    return posterior_;
  }

 private:
  std::size_t row(std::size_t rater, std::size_t digit, std::size_t start) const {
    return (rater * rows_.labels + digit) * rows_.starts + start;
  }

  void choose_all() {
    posterior_.labels = all_.data();
    posterior_.size = rows_.truths;
  }

  void choose_fewest(const Digit* digits, std::size_t start) {
    choose_all();
    for (std::size_t j = 0; j < rows_.raters; ++j) {
      if (digits[j] >= rows_.labels) continue;
      const std::size_t of = row(j, digits[j], start);
      if (possible_.size(of) < posterior_.size) {
        posterior_.labels = possible_.begin(of);
        posterior_.size = possible_.size(of);
      }
    }
  }

  // Examines the labels that any vote makes likely; returns whether all others are negligible.
  bool likely_are_enough(const Digit* digits, std::size_t pattern, std::size_t start) {
    if (!(parameters_.negligible < kUnderflow)) return false;
    union_.clear();
    double others = parameters_.highest_log_prior;
    for (std::size_t j = 0; j < rows_.raters; ++j) {
      if (digits[j] < rows_.labels) others += possible_.unite_likely(row(j, digits[j], start), union_);
    }
    posterior_.labels = chosen_.data();
    posterior_.size = union_.list(chosen_.data());
    if (4 * posterior_.size >= rows_.truths) return false;
    add_rows(digits, pattern, start);
    peak_ = highest_of(posterior_.log_joint.data(), posterior_.size);
    return others < peak_ - parameters_.negligible;
  }

  void add_rows(const Digit* digits, std::size_t pattern, std::size_t start) {
    const std::uint16_t* labels = posterior_.labels;
    const std::size_t n = posterior_.size;
    double* sum = posterior_.log_joint.data();
    std::fill_n(sum, n, 0.0);
    for (std::size_t j = 0; j < rows_.raters; ++j) {
      if (digits[j] < rows_.labels) {
        add(parameters_.log_theta + row(j, digits[j], start) * rows_.truths, labels, n, sum);
      }
    }
    const std::size_t prior = parameters_.prior_row ? parameters_.prior_row[pattern] : 0;
    const std::size_t of_start = parameters_.prior_starts == 1 ? 0 : start;
    add(parameters_.log_prior + (prior * parameters_.prior_starts + of_start) * rows_.truths, labels, n,
        sum);
  }

  void add(const double* from, const std::uint16_t* labels, std::size_t n, double* sum) const {
    if (n == rows_.truths && n < kSeveral) {
      for (std::size_t i = 0; i < n; ++i) sum[i] += from[i];
    } else if (n == rows_.truths) {
      add_scaled(from, 1.0, n, sum);
    } else {
      for (std::size_t i = 0; i < n; ++i) sum[i] += from[labels[i]];
    }
  }

  // Normalises the posterior and drops labels with a negligible share.
  void normalise() {
    double *log_joint = posterior_.log_joint.data(), *share = posterior_.share.data();
    const double peak = peak_;
    posterior_.log_evidence = kImpossible;
    double total = 0.0;
    std::size_t kept = 0;
    for (std::size_t i = 0; peak > kImpossible && i < posterior_.size; ++i) {
      const double below = log_joint[i] - peak;
      if (!(below > -parameters_.negligible)) continue;
      chosen_[kept] = posterior_.labels[i];
      log_joint[kept] = log_joint[i];
      total += share[kept++] = exp_below(below);
    }
    posterior_.labels = chosen_.data();
    posterior_.size = kept;
    if (kept == 0) return;
    for (std::size_t i = 0; i < kept; ++i) share[i] /= total;
    posterior_.log_evidence = std::log(total) + peak;
  }

  const PatternRows<Digit>& rows_;
  const Parameters& parameters_;
  const PossibleLabels& possible_;
  std::vector<std::uint16_t> all_, chosen_;
  LabelSet union_;
  double peak_ = kImpossible;
  Posterior posterior_;
};

// Sums for the M-step over the patterns of a slab.
struct ExpectedCounts {
  std::vector<double> counts;          // [rater][observed][start][true]
  std::vector<double> mass;            // [prior row or one][start][true]
  std::vector<double> log_likelihood;  // [start]

  void add(const ExpectedCounts& other) {
    add_to(counts, other.counts);
    add_to(mass, other.mass);
    add_to(log_likelihood, other.log_likelihood);
  }

 private:
  static void add_to(std::vector<double>& sums, const std::vector<double>& more) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  }
};

template <class Digit>
ExpectedCounts no_counts(const PatternRows<Digit>& rows, std::size_t mass_rows) {
  return {std::vector<double>(rows.raters * rows.labels * rows.starts * rows.truths, 0.0),
          std::vector<double>(mass_rows * rows.starts * rows.truths, 0.0),
          std::vector<double>(rows.starts, 0.0)};
}

// Adds weight * share of each label to the counts of every rater who voted.
template <class Digit>
void add_shares(const PatternRows<Digit>& rows, const Digit* digits, std::size_t start, double weight,
                const std::uint16_t* labels, const double* share, std::size_t n, std::size_t mass_row,
                ExpectedCounts& sums) {
  double* mass = sums.mass.data() + (mass_row * rows.starts + start) * rows.truths;
  for (std::size_t i = 0; i < n; ++i) {
    if (share[i] == 0) continue;
    const double amount = weight * share[i];
    mass[labels[i]] += amount;
    double* count = sums.counts.data() + start * rows.truths + labels[i];
    const std::size_t step = rows.starts * rows.truths;
    for (std::size_t j = 0; j < rows.raters; ++j) {
      if (digits[j] < rows.labels) count[(j * rows.labels + digits[j]) * step] += amount;
    }
  }
}

// Patterns between two checkpoints: few, since one with many raters and starts takes long.
constexpr std::size_t kPatternsOfPiece = 64;

template <class Digit>
void expect(const PatternRows<Digit>& rows, const double* weights, const Parameters& parameters,
            const PossibleLabels& possible, bool mass_by_row, Slab slab, ExpectedCounts& sums) {
  PosteriorOf<Digit> posterior(rows, parameters, possible);
  for (std::size_t p = slab.begin; p < slab.end; ++p) {
    if (p % kPatternsOfPiece == 0) checkpoint();
    if (weights[p] == 0) continue;
    const std::size_t mass_row = mass_by_row && parameters.prior_row ? parameters.prior_row[p] : 0;
    for (std::size_t s = 0; s < rows.starts; ++s) {
      const Posterior& now = posterior.at(p, s);
      sums.log_likelihood[s] += weights[p] * now.log_evidence;
      add_shares(rows, rows.digits + p * rows.raters, s, weights[p], now.labels, now.share.data(),
                 now.size, mass_row, sums);
    }
  }
}

// Rule by which the votes at a voxel divide it among labels.
enum class VoteShares { kMean, kMajority, kPlurality };

// Adds counts for shares that depend on the votes only. kMean: shares are proportional to the
// votes. kMajority: labels tied for the most votes share the voxel equally. kPlurality: as
// kMajority, but tied patterns are left out.
template <class Digit>
void expect_votes(const PatternRows<Digit>& rows, const double* weights, VoteShares kind, Slab slab,
                  ExpectedCounts& sums) {
  std::vector<std::uint32_t> votes(rows.labels, 0);
  std::vector<std::uint16_t> voted;
  std::vector<double> share;
  for (std::size_t p = slab.begin; p < slab.end; ++p) {
    if (p % kPatternsOfPiece == 0) checkpoint();
    const Digit* digits = rows.digits + p * rows.raters;
    voted.clear();
    std::uint32_t most = 0;
    std::size_t total = 0;
    for (std::size_t j = 0; j < rows.raters; ++j) {
      if (digits[j] >= rows.labels) continue;
      if (votes[digits[j]] == 0) voted.push_back(static_cast<std::uint16_t>(digits[j]));
      most = std::max(most, ++votes[digits[j]]);
      ++total;
    }
    const auto tied = std::count_if(voted.begin(), voted.end(), [&](auto t) { return votes[t] == most; });
    share.clear();
    for (const std::uint16_t t : voted) {
      const double best = votes[t] == most ? 1.0 / static_cast<double>(tied) : 0.0;
      share.push_back(kind == VoteShares::kMean ? votes[t] / static_cast<double>(total) : best);
      votes[t] = 0;
    }
    if (weights[p] == 0 || (kind == VoteShares::kPlurality && tied > 1)) continue;
    add_shares(rows, digits, 0, weights[p], voted.data(), share.data(), voted.size(), 0, sums);
  }
}

}  // namespace consensus
