// Joint label fusion: how much each atlas counts at a voxel, given that atlases err alike.
//
// Wang et al., IEEE TPAMI 35(3):611-623, 2013: M_ij = (mean over the patch of |T - F_i| |T - F_j|)^b
// and w = (M + a I)^-1 1 / 1^T (M + a I)^-1 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "simd.hpp"

namespace consensus {

// Atlases are padded to whole lanes, so that one set of registers serves any number of them.
constexpr std::size_t kLanes = 8;

inline std::size_t in_lanes(std::size_t atlases) { return (atlases + kLanes - 1) / kLanes * kLanes; }

CONSENSUS_INLINE void products_block(const float* rows, std::size_t number, std::size_t width, float* sums) {
  for (std::size_t i = 0; i < width; i += kLanes) {
    for (std::size_t j = 0; j <= i; j += kLanes) {
      float block[kLanes][kLanes] = {};
      for (std::size_t p = 0; p < number; ++p) {
        const float *left = rows + p * width + i, *right = rows + p * width + j;
        for (std::size_t a = 0; a < kLanes; ++a) {
          for (std::size_t b = 0; b < kLanes; ++b) block[a][b] += left[a] * right[b];
        }
      }
      for (std::size_t a = 0; a < kLanes; ++a) {
        for (std::size_t b = 0; b < kLanes; ++b) sums[(i + a) * width + j + b] = block[a][b];
      }
    }
  }
}

// sums[i][j] = sum over rows of row[i] * row[j], for j <= i; `width` is a multiple of kLanes.
CONSENSUS_WIDE static inline void products(const float* rows, std::size_t number, std::size_t width, float* sums) {
  products_block(rows, number, width, sums);
}

// Weights of the atlases of one voxel, from the sums of products of their errors.
class JointWeights {
 public:
  // alpha must be above 0. Without `constrained`, weights below 0 are taken for 0 after they are found.
  JointWeights(std::size_t atlases, double beta, double alpha, bool constrained)
      : count_(atlases), width_(in_lanes(atlases)), beta_(beta), alpha_(alpha), constrained_(constrained),
        matrix_(atlases * atlases), factor_(atlases * atlases), solution_(atlases),
        forward_(atlases) {}

  // `sums` as products() leaves them, `scale` makes means of them; weights sum to 1.
  void find(const float* sums, double scale, float* weights) {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const double mean = static_cast<double>(sums[i * width_ + j]) * scale;
        const double power = beta_ == 1.0 ? mean : beta_ == 2.0 ? mean * mean : std::pow(mean, beta_);
        matrix_[i * count_ + j] = matrix_[j * count_ + i] = power + (i == j ? alpha_ : 0.0);
      }
    }
    is_in_.assign(count_, 1);
    const bool solved = constrained_ ? solve_constrained() : solve();
    double total = 0.0;
    for (double& value : solution_) total += value = std::max(value, 0.0);
    // Atlases whose errors rounding cannot tell apart count alike.
    const bool usable = solved && total > 0 && std::isfinite(total);
    for (std::size_t i = 0; i < count_; ++i) {
      weights[i] = static_cast<float>(usable ? solution_[i] / total : 1.0 / static_cast<double>(count_));
    }
  }

 private:
  // The least w^T (M + a I) w of weights that are not negative, up to their sum, by block principal
  // pivoting (Judice & Pires, Comput. Oper. Res. 21:587-596, 1994): atlases whose weight is negative
  // leave and those that would lower it enter, all at once or, should that go in circles, the last only.
  bool solve_constrained() {
    std::size_t fewest = count_ + 1;
    for (int patience = 3;;) {
      if (!solve()) return false;
      wrong_.clear();
      for (std::size_t i = 0; i < count_; ++i) {
        if (is_in_[i] ? solution_[i] < 0 : gain(i) > kRounding) wrong_.push_back(i);
      }
      if (wrong_.empty()) return true;
      if (wrong_.size() < fewest) {
        fewest = wrong_.size();
        patience = 3;
      } else if (patience > 0) {
        --patience;
      } else {
        wrong_ = {wrong_.back()};
      }
      for (const std::size_t i : wrong_) is_in_[i] = !is_in_[i];
    }
  }

  static constexpr double kRounding = 1e-9;

  double gain(std::size_t atlas) const {
    double gain = 1.0;
    for (std::size_t j = 0; j < count_; ++j) gain -= matrix_[atlas * count_ + j] * solution_[j];
    return gain;
  }

  // (M + a I) x = 1 for the atlases that are in, by Cholesky's method; false if it has no solution.
  bool solve() {
    kept_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_in_[i]) kept_.push_back(i);
    }
    const std::size_t size = kept_.size();
    std::fill(solution_.begin(), solution_.end(), 0.0);
    double* x = forward_.data();
    for (std::size_t j = 0; j < size; ++j) {
      double* row = factor_.data() + j * count_;
      const double* given = matrix_.data() + kept_[j] * count_;
      double pivot = given[kept_[j]], value = 1.0;
      for (std::size_t k = 0; k < j; ++k) {
        const double* other = factor_.data() + k * count_;
        double sum = given[kept_[k]];
        for (std::size_t l = 0; l < k; ++l) sum -= row[l] * other[l];
        row[k] = sum * other[k];  // the diagonal is kept inverted
        pivot -= row[k] * row[k];
        value -= row[k] * x[k];
      }
      if (!(pivot > 0)) return false;
      row[j] = 1.0 / std::sqrt(pivot);
      x[j] = value * row[j];
    }
    for (std::size_t j = size; j-- > 0;) {
      double value = x[j];
      for (std::size_t l = j + 1; l < size; ++l) value -= factor_[l * count_ + j] * x[l];
      x[j] = value * factor_[j * count_ + j];
      solution_[kept_[j]] = x[j];
    }
    return true;
  }

  std::size_t count_, width_;
  double beta_, alpha_;
  bool constrained_;
  std::vector<double> matrix_, factor_, solution_, forward_;
  std::vector<char> is_in_;
  std::vector<std::size_t> kept_, wrong_;
};

}  // namespace consensus
