// Voting without patterns, in one pass that counts labels only where raters disagree.
//
// Blocks of voxels are compared rater by rater in whole registers. Where all raters agree or, with
// equal weights, more than half of them do, the result is read from a table; the majority is found
// by the algorithm of Boyer & Moore, also in whole registers. Elsewhere at most as many labels as
// raters are counted. One- and two-byte labels are compared as they are stored; others are
// converted to digits first.
//
// Preconditions (checked in Python): raters and mask hold the whole extent; digits are at most
// `labels`, which means missing; there is one weight >= 0 per rater; `prior` has one entry per
// label.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "majority.hpp"
#include "runs.hpp"
#include "votes.hpp"

namespace consensus {

enum class Ties { kUndecided, kLowest, kHighest, kBackground, kPrior };

struct VoteRule {
  std::uint32_t labels;
  std::vector<double> weights;  // of each rater
  double threshold;             // a label needs more than this share; below 0: no threshold
  double tolerance;             // scores that differ by at most this are tied
  Ties ties;
  std::vector<double> prior;    // one per label, for Ties::kPrior

  // The codes of results that are not labels.
  std::uint32_t background() const { return labels; }
  std::uint32_t undecided() const { return labels + 1; }
  // Returns whether a label with more than half of all votes wins, whatever the other votes are.
  bool half_is_enough() const {
    return threshold < 0 && std::all_of(weights.begin(), weights.end(), [](double w) { return w == 1; });
  }
  std::uint32_t nobody() const { return ties == Ties::kBackground ? background() : undecided(); }
};

// Counts the votes at one voxel at a time, in a buffer of one number per label.
class VoteCounter {
 public:
  explicit VoteCounter(const VoteRule& rule)
      : rule_(rule), scores_(rule.labels, kUnvoted), voted_(rule.weights.size()) {}

  // Returns the result for the votes digit_of(rater). Sums in the order of raters, so that
  // rounding is the same everywhere.
  template <class DigitOf>
  std::uint32_t answer(DigitOf digit_of) {
    std::size_t voted = 0;
    double total = 0;
    for (std::size_t j = 0; j < rule_.weights.size(); ++j) {
      const std::uint32_t label = digit_of(j);
      if (label >= rule_.labels) continue;
      if (scores_[label] == kUnvoted) {
        scores_[label] = 0;
        voted_[voted++] = label;
      }
      scores_[label] += rule_.weights[j];
      total += rule_.weights[j];
    }
    const std::uint32_t answer = total > 0 ? winner(voted, total) : rule_.nobody();
    for (std::size_t i = 0; i < voted; ++i) scores_[voted_[i]] = kUnvoted;
    return answer;
  }

 private:
  static constexpr double kUnvoted = -1;

  std::uint32_t winner(std::size_t voted, double total) const {
    const double needed = rule_.threshold < 0 ? kUnvoted : rule_.threshold * total + rule_.tolerance;
    double best = kUnvoted;
    for (std::size_t i = 0; i < voted; ++i) best = std::max(best, scores_[voted_[i]]);
    if (!(best > needed)) return rule_.nobody();
    std::size_t tied = 0;
    std::uint32_t chosen = rule_.labels;
    for (std::size_t i = 0; i < voted; ++i) {
      const std::uint32_t label = voted_[i];
      if (scores_[label] < best - rule_.tolerance || !(scores_[label] > needed)) continue;
      if (tied++ == 0 || preferred(label, chosen)) chosen = label;
    }
    if (tied == 1) return chosen;
    if (rule_.ties == Ties::kUndecided) return rule_.undecided();
    return rule_.ties == Ties::kBackground ? rule_.background() : chosen;
  }

  bool preferred(std::uint32_t label, std::uint32_t other) const {
    if (rule_.ties == Ties::kHighest) return label > other;
    if (rule_.ties == Ties::kPrior && rule_.prior[label] != rule_.prior[other]) {
      return rule_.prior[label] > rule_.prior[other];
    }
    return label < other;
  }

  const VoteRule& rule_;
  std::vector<double> scores_;
  std::vector<std::uint32_t> voted_;
};

// Rows of raters who share an alphabet of one- or two-byte labels, which are compared without conversion.
template <class SymbolType>
class PlainRows {
 public:
  using Symbol = SymbolType;
  explicit PlainRows(const std::vector<const Votes*>& raters) : table_(raters[0]->symbol_table()) {
    for (const Votes* rater : raters) data_.push_back(static_cast<const Symbol*>(rater->symbols()));
  }
  const Symbol* row(std::size_t rater, std::size_t at, std::size_t) { return data_[rater] + at; }
  const std::vector<std::uint16_t>& digits() const { return table_; }

 private:
  std::vector<const Symbol*> data_;
  std::vector<std::uint16_t> table_;
};

// Rows of any raters, read as digits, kShortRun voxels at a time.
class DigitRows {
 public:
  using Symbol = std::uint16_t;
  DigitRows(const std::vector<const Votes*>& raters, std::uint32_t labels)
      : raters_(raters), buffer_(raters.size() * kShortRun) {
    for (std::uint32_t digit = 0; digit <= labels; ++digit) {
      table_.push_back(static_cast<std::uint16_t>(digit));
    }
  }
  const Symbol* row(std::size_t rater, std::size_t at, std::size_t n) {
    Symbol* to = buffer_.data() + rater * kShortRun;
    raters_[rater]->read(at, n, to);
    return to;
  }
  const std::vector<std::uint16_t>& digits() const { return table_; }

 private:
  const std::vector<const Votes*>& raters_;
  std::vector<Symbol> buffer_;
  std::vector<std::uint16_t> table_;
};

// Writes values[result] for ranges of voxels. `values` has one entry per label, then those for
// background and for undecided.
template <class Rows, class Value>
class VotePass {
 public:
  using Symbol = typename Rows::Symbol;

  VotePass(const VoteRule& rule, Rows rows, const std::uint8_t* mask, const Value* values)
      : rule_(rule), rows_(std::move(rows)), mask_(mask), values_(values), counter_(rule) {
    std::vector<std::uint32_t> unanimous(rule.labels + 1);
    for (std::uint32_t digit = 0; digit <= rule.labels; ++digit) {
      unanimous[digit] = counter_.answer([digit](std::size_t) { return digit; });
    }
    for (const std::uint16_t digit : rows_.digits()) agreed_.push_back(unanimous[digit]);
    for (const std::uint32_t answer : agreed_) agreed_values_.push_back(values[answer]);
    plain_ = !mask && std::all_of(agreed_.begin(), agreed_.end(),
                                  [&](std::uint32_t answer) { return answer < rule.labels; });
    half_is_enough_ = rule.half_is_enough() && rule.weights.size() <= std::numeric_limits<Symbol>::max();
  }

  void run(std::size_t begin, std::size_t end, Value* out) {
    std::vector<const Symbol*> rows(rule_.weights.size());
    for (std::size_t at = begin; at < end; at += kShortRun) {
      const std::size_t n = std::min(kShortRun, end - at);
      for (std::size_t j = 0; j < rows.size(); ++j) rows[j] = rows_.row(j, at, n);
      if (plain_ && unanimous(rows, n)) {
        for (std::size_t k = 0; k < n; ++k) out[at + k] = agreed_values_[rows[0][k]];
      } else {
        decide(rows, at, n, out + at);
      }
    }
  }

 private:
  static bool unanimous(const std::vector<const Symbol*>& rows, std::size_t n) {
    return std::all_of(rows.begin() + 1, rows.end(), [&](const Symbol* row) {
      return std::memcmp(row, rows[0], n * sizeof(Symbol)) == 0;
    });
  }

  void decide(const std::vector<const Symbol*>& rows, std::size_t at, std::size_t n, Value* out) {
    const std::size_t raters = rows.size();
    const bool halves = half_is_enough_ && n == kShortRun;
    if (halves) find_majority(rows.data(), raters, majority_);
    for (std::size_t k = 0; k < n; ++k) {
      std::uint32_t answer = rule_.labels;
      if (halves && 2 * std::size_t{majority_.votes[k]} > raters) answer = agreed_[majority_.candidate[k]];
      if (answer >= rule_.labels) {
        answer = counter_.answer([&](std::size_t j) { return rows_.digits()[rows[j][k]]; });
      }
      const bool inside = !mask_ || mask_[at + k];
      out[k] = values_[inside ? answer : rule_.background()];
    }
  }

  const VoteRule& rule_;
  Rows rows_;
  const std::uint8_t* mask_;
  const Value* values_;
  VoteCounter counter_;
  std::vector<std::uint32_t> agreed_;  // by symbol: the result if all raters gave it
  std::vector<Value> agreed_values_;
  bool plain_;  // there is no mask, and no unanimous vote is undecided
  bool half_is_enough_;
  Majority<Symbol> majority_;
};

// Writes the weighted share of votes for a label; `nobody` where there are no votes, 0 outside the mask.
template <class Real>
void vote_share(const std::vector<const Votes*>& raters, const std::vector<double>& weights,
                std::uint32_t labels, std::uint32_t label, const std::uint8_t* mask, double nobody,
                std::size_t begin, std::size_t end, Real* out) {
  for (std::size_t at = begin; at < end; at += kShortRun) {
    const std::size_t n = std::min(kShortRun, end - at);
    std::array<std::uint16_t, kShortRun> digits;
    std::array<double, kShortRun> votes{};
    std::array<double, kShortRun> total{};
    for (std::size_t j = 0; j < raters.size(); ++j) {
      raters[j]->read(at, n, digits.data());
      for (std::size_t k = 0; k < n; ++k) {
        votes[k] += digits[k] == label ? weights[j] : 0.0;
        total[k] += digits[k] < labels ? weights[j] : 0.0;
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double share = total[k] > 0 ? votes[k] / total[k] : nobody;
      out[at + k] = static_cast<Real>(!mask || mask[at + k] ? share : 0.0);
    }
  }
}

// counts[rater * labels + label] += the number of voxels inside the mask to which the rater gave the label.
inline void vote_counts(const std::vector<const Votes*>& raters, std::uint32_t labels,
                        const std::uint8_t* mask, std::size_t begin, std::size_t end,
                        std::int64_t* counts) {
  std::array<std::uint16_t, kShortRun> digits;
  for (std::size_t at = begin; at < end; at += kShortRun) {
    const std::size_t n = std::min(kShortRun, end - at);
    for (std::size_t j = 0; j < raters.size(); ++j) {
      raters[j]->read(at, n, digits.data());
      for (std::size_t k = 0; k < n; ++k) {
        if (digits[k] < labels && (!mask || mask[at + k])) ++counts[j * labels + digits[k]];
      }
    }
  }
}

}  // namespace consensus
