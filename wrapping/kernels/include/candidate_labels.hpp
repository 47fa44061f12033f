// Finds the labels that are possible given the votes of a pattern, and the labels that are likely.
//
// Precondition (checked in Python): log theta is below infinity and not NaN.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "simd.hpp"

namespace consensus {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// A label is likely if the log probability of a vote, given that label, exceeds this value. It affects
// only how many labels are examined, not the result.
constexpr double kLikely = -13.5;

inline std::size_t lowest_bit(std::uint64_t word) {
#if defined(__GNUC__)
  return static_cast<std::size_t>(__builtin_ctzll(word));
#else
  std::size_t bit = 0;
  for (; (word & 1) == 0; word >>= 1) ++bit;
  return bit;
#endif
}

// A set of labels, as bits.
class LabelSet {
 public:
  explicit LabelSet(std::size_t labels) : words_((labels + 63) / 64, 0) {}

  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  void unite(const std::uint64_t* other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other[k];
  }

  // Writes the labels in ascending order; returns how many there are.
  std::size_t list(std::uint16_t* labels) const {
    std::size_t number = 0;
    for (std::size_t k = 0; k < words_.size(); ++k) {
      for (std::uint64_t rest = words_[k]; rest != 0; rest &= rest - 1) {
        labels[number++] = static_cast<std::uint16_t>(64 * k + lowest_bit(rest));
      }
    }
    return number;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// For each row of log theta, the possible and the likely labels.
class PossibleLabels {
 public:
  PossibleLabels(const double* log_theta, std::size_t rows, std::size_t labels)
      : words_((labels + 63) / 64), ends_{0}, likely_(rows * words_, 0), others_(rows, kImpossible) {
    for (std::size_t row = 0; row < rows; ++row) {
      std::uint64_t* likely = likely_.data() + row * words_;
      for (std::size_t t = 0; t < labels; ++t) {
        const double value = log_theta[row * labels + t];
        if (value == kImpossible) continue;
        items_.push_back(static_cast<std::uint16_t>(t));
        if (value > kLikely) {
          likely[t / 64] |= std::uint64_t{1} << t % 64;
        } else {
          others_[row] = std::max(others_[row], value);
        }
      }
      ends_.push_back(items_.size());
    }
  }

  // Adds the likely labels of a row to a set; returns the highest log theta of the row's other labels.
  double unite_likely(std::size_t row, LabelSet& labels) const {
    labels.unite(likely_.data() + row * words_);
    return others_[row];
  }
  const std::uint16_t* begin(std::size_t row) const { return items_.data() + ends_[row]; }
  std::size_t size(std::size_t row) const { return ends_[row + 1] - ends_[row]; }

 private:
  std::size_t words_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint16_t> items_;
  std::vector<std::uint64_t> likely_;
  std::vector<double> others_;
};

constexpr std::size_t kSeveral = 32;  // below this length, wide registers give no speed-up

// Returns the maximum; processes kSeveral values at a time.
CONSENSUS_WIDE static inline double highest_of_many(const double* values, std::size_t n) {
  double highest[kSeveral];
  std::fill_n(highest, kSeveral, kImpossible);
  std::size_t i = 0;
  for (; i + kSeveral <= n; i += kSeveral) {
    for (std::size_t k = 0; k < kSeveral; ++k) highest[k] = std::max(values[i + k], highest[k]);
  }
  for (; i < n; ++i) highest[0] = std::max(highest[0], values[i]);
  return *std::max_element(highest, highest + kSeveral);
}

inline double highest_of(const double* values, std::size_t n) {
  if (n >= kSeveral) return highest_of_many(values, n);
  double highest = kImpossible;
  for (std::size_t i = 0; i < n; ++i) highest = std::max(highest, values[i]);
  return highest;
}

}  // namespace consensus
