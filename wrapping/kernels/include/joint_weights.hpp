// Joint label fusion: computes the weights of the atlases at a voxel from the correlation of their errors.
//
// Wang et al., IEEE TPAMI 35(3):611-623, 2013: M_ij = (mean over the patch of |T - F_i| |T - F_j|)^b
// and w = (M + a I)^-1 1 / (1^T (M + a I)^-1 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "simd.hpp"

namespace consensus {

// The number of atlases is rounded up to a multiple of four, so that one register layout serves any number.
inline std::size_t in_fours(std::size_t atlases) { return (atlases + 3) / 4 * 4; }

// Inner products of two rows with four others: sums[a * width + b] is the product of two[a] and
// four[b].
CONSENSUS_INLINE void products_block(const float* two, const float* four, std::size_t length, std::size_t width,
                                     float* sums) {
  Eight found[2][4] = {};
  for (std::size_t p = 0; p < length; p += kEight) {
    Eight first, second, other;
    load_eight(two + p, first);
    load_eight(two + length + p, second);
    for (std::size_t b = 0; b < 4; ++b) {
      load_eight(four + b * length + p, other);
      found[0][b] += first * other;
      found[1][b] += second * other;
    }
  }
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 4; ++b) sums[a * width + b] = sum_of_eight(found[a][b]);
  }
}

// sums[i * rows + j] = the inner product of rows i and j, for j >= i. Preconditions: `rows` is a multiple
// of 4, `length` of 8, and rows are contiguous.
CONSENSUS_WIDE static inline void products(const float* values, std::size_t rows, std::size_t length, float* sums) {
  for (std::size_t i = 0; i < rows; i += 2) {
    for (std::size_t j = i / 4 * 4; j < rows; j += 4) {
      products_block(values + i * length, values + j * length, length, rows, sums + i * rows + j);
    }
  }
}

// Precondition: n is a multiple of 8.
CONSENSUS_WIDE static inline float sum_of_squares(const float* values, std::size_t n) {
  Eight sums = {};
  for (std::size_t k = 0; k < n; k += kEight) {
    Eight some;
    load_eight(values + k, some);
    sums += some * some;
  }
  return sum_of_eight(sums);
}

// matrix = (scale * sums)^beta, elementwise, for the upper triangle. Rows have `width` entries, a multiple of 4.
CONSENSUS_WIDE static inline void raise_means(const float* sums, double scale, double beta, std::size_t width,
                                              double* matrix) {
  for (std::size_t i = 0; i < width; ++i) {
    const float* from = sums + i * width;
    double* to = matrix + i * width;
    if (beta == 2.0) {
      for (std::size_t j = i / 4 * 4; j < width; ++j) {
        const double mean = static_cast<double>(from[j]) * scale;
        to[j] = mean * mean;
      }
    } else {
      for (std::size_t j = i; j < width; ++j) to[j] = std::pow(static_cast<double>(from[j]) * scale, beta);
    }
  }
}

// Replaces the upper triangle of a matrix with its Cholesky factor R (matrix = R^T R) with an
// inverted diagonal, and solves R^T solution = 1. Returns false if the matrix is not positive
// definite. Values below the diagonal are not read, but may be overwritten. Rows have `width`
// entries, a multiple of 4.
CONSENSUS_WIDE static inline bool factorise(double* matrix, std::size_t size, std::size_t width, double* solution) {
  std::fill_n(solution, size, 1.0);
  for (std::size_t j = 0; j < size; ++j) {
    double* row = matrix + j * width;
    if (!(row[j] > 0)) return false;
    const double inverse = 1.0 / std::sqrt(row[j]);
    for (std::size_t k = j + 1; k < size; ++k) row[k] *= inverse;
    row[j] = inverse;
    solution[j] *= inverse;
    for (std::size_t i = j + 1; i < size; ++i) {
      const double factor = row[i];
      double* below = matrix + i * width;
      solution[i] -= factor * solution[j];
      for (std::size_t first = i / 4 * 4; first < size; first += 4) {
        for (std::size_t k = first; k < first + 4; ++k) below[k] -= factor * row[k];
      }
    }
  }
  return true;
}

// Computes the weights of the atlases at a voxel from the sums of products of their errors.
class JointWeights {
 public:
  // Precondition: alpha > 0. If not `constrained`, negative weights are set to 0 after solving.
  JointWeights(std::size_t atlases, double beta, double alpha, bool constrained)
      : count_(atlases), width_(in_fours(atlases)), beta_(beta), alpha_(alpha), constrained_(constrained),
        matrix_(width_ * width_), factor_(width_ * width_), solution_(atlases), forward_(atlases) {}

  // Computes weights that sum to 1. `sums` is the output of products(); `scale` converts the sums
  // to means.
  void find(const float* sums, double scale, float* weights) {
    raise_means(sums, scale, beta_, width_, matrix_.data());
    for (std::size_t i = 0; i < count_; ++i) matrix_[i * width_ + i] += alpha_;
    is_in_.assign(count_, 1);
    const bool solved = constrained_ ? solve_constrained() : solve();
    double total = 0.0;
    for (double& value : solution_) total += value = std::max(value, 0.0);
    // Atlases whose errors are equal up to rounding are given equal weights.
    const bool usable = solved && total > 0 && std::isfinite(total);
    for (std::size_t i = 0; i < count_; ++i) {
      weights[i] = static_cast<float>(usable ? solution_[i] / total : 1.0 / static_cast<double>(count_));
    }
  }

 private:
  // Minimises w^T (M + a I) w over non-negative weights, up to a scale factor, by block principal
  // pivoting (Judice & Pires, Comput. Oper. Res. 21:587-596, 1994): atlases with a negative weight
  // leave the active set and those that would lower the objective enter it, all at once or, if
  // that cycles, only the last one.
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
    for (std::size_t j = 0; j < count_; ++j) {
      gain -= matrix_[std::min(atlas, j) * width_ + std::max(atlas, j)] * solution_[j];
    }
    return gain;
  }

  // Solves (M + a I) x = 1 for the active atlases by Cholesky decomposition; returns false if it fails.
  bool solve() {
    kept_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_in_[i]) kept_.push_back(i);
    }
    const std::size_t size = kept_.size();
    if (size == count_) {
      factor_ = matrix_;
    } else {
      for (std::size_t i = 0; i < size; ++i) {
        const double* given = matrix_.data() + kept_[i] * width_;
        for (std::size_t j = i; j < size; ++j) factor_[i * width_ + j] = given[kept_[j]];
      }
    }
    std::fill(solution_.begin(), solution_.end(), 0.0);
    double* x = forward_.data();
    if (!factorise(factor_.data(), size, width_, x)) return false;
    for (std::size_t j = size; j-- > 0;) {
      // The most recently computed value is used last, so the other products do not depend on it.
      for (std::size_t l = size; l-- > j + 1;) x[j] -= factor_[j * width_ + l] * x[l];
      x[j] *= factor_[j * width_ + j];
      solution_[kept_[j]] = x[j];
    }
    return true;
  }

  std::size_t count_, width_;
  double beta_, alpha_;
  bool constrained_;
  std::vector<double> matrix_, factor_, solution_, forward_;  // the first two hold upper triangles
  std::vector<char> is_in_;
  std::vector<std::size_t> kept_, wrong_;
};

}  // namespace consensus
