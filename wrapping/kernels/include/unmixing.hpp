// Estimates the shares of true labels from the shares of votes: applies the inverse of the matrix
// that describes how errors mix labels, sets negative shares to 0 and scales the rest to sum to 1.
//
// A label that does not occur around a tile gets a share only if one of its coefficients, for a
// label that does occur, is positive. All other labels are skipped, which is exact.
//
// Precondition (checked in Python): `inverse` has the shape (labels, labels), in C order, and is
// finite.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.hpp"
#include "vote_shares.hpp"

namespace consensus {

struct Unmixing {
  const double* inverse;  // null: shares are not unmixed
  std::size_t labels;

  double at(std::size_t row, std::size_t column) const { return inverse[row * labels + column]; }

  // Returns the factor by which unmixing can amplify an error of the shares.
  double gain() const {
    double most = 1;
    for (std::size_t row = 0; inverse && row < labels; ++row) {
      double sum = 0;
      for (std::size_t column = 0; column < labels; ++column) sum += std::abs(at(row, column));
      most = std::max(most, sum);
    }
    return most;
  }
};

// The rows and columns of an unmixing matrix that are relevant for given labels.
class LocalUnmixing {
 public:
  struct Row {
    std::int32_t label;
    std::vector<std::pair<std::size_t, double>> terms;  // index among the labels, coefficient
  };

  static constexpr double kSmall = 1e-6;  // smaller coefficients are negligible in single precision

  // Drops coefficients up to `small`, and labels whose share cannot exceed `hopeless`.
  void restrict_to(const Unmixing& unmixing, const std::vector<std::int32_t>& labels, double small,
                   double hopeless) {
    rows_.clear();
    for (std::size_t row = 0; row < unmixing.labels; ++row) {
      Row found{static_cast<std::int32_t>(row), {}};
      bool positive = false;
      for (std::size_t k = 0; k < labels.size(); ++k) {
        const double factor = unmixing.at(row, static_cast<std::size_t>(labels[k]));
        positive |= factor > hopeless;
        if (std::abs(factor) > small) found.terms.emplace_back(k, factor);
      }
      if (positive) rows_.push_back(std::move(found));
    }
  }

  const std::vector<Row>& rows() const { return rows_; }

  // Returns whether a row applied to shares that sum to 1, and are 0 for inactive labels, can exceed a limit.
  static bool can_exceed(const Row& row, const std::vector<char>& active, double limit) {
    for (const auto& [k, factor] : row.terms) {
      if (active[k] && factor > limit) return true;
    }
    return false;
  }

  // found = the row applied to the shares at voxels at .. at + n - 1; negative results become 0.
  template <class Real>
  static void combine(const Row& row, const Shares<Real>& shares, std::size_t at, std::size_t n, Real* found,
                      const std::vector<char>* active = nullptr) {
    std::fill_n(found, n, Real{0});
    for (const auto& [k, factor] : row.terms) {
      if (active && !(*active)[k]) continue;
      add_scaled(shares.of(k) + at, static_cast<Real>(factor), n, found);
    }
    for (std::size_t i = 0; i < n; ++i) found[i] = std::max(found[i], Real{0});
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace consensus
