// Joint label fusion: how much each atlas counts at a voxel, given that atlases err alike.
//
// Wang et al., IEEE TPAMI 35(3):611-623, 2013: M_ij = (sum over the patch of |T - F_i| |T - F_j|)^b
// and w = (M + a I)^-1 1 / 1^T (M + a I)^-1 1.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace consensus {

struct JointSettings {
  double beta;
  double alpha;  // > 0
};

// Room for one thread's voxel.
struct JointWorkspace {
  JointWorkspace(std::size_t atlases, std::size_t patch)
      : differences(atlases * patch), matrix(atlases * atlases), solution(atlases) {}
  std::vector<double> differences;
  std::vector<double> matrix;
  std::vector<double> solution;
};

// Solves (matrix) x = 1 by Cholesky's method in place; false if the matrix is not positive definite.
inline bool solve_for_ones(double* matrix, std::size_t size, double* x) {
  for (std::size_t j = 0; j < size; ++j) {
    double* row = matrix + j * size;
    for (std::size_t k = 0; k <= j; ++k) {
      double sum = row[k];
      for (std::size_t l = 0; l < k; ++l) sum -= row[l] * matrix[k * size + l];
      if (k < j) {
        row[k] = sum / matrix[k * size + k];
      } else {
        if (!(sum > 0)) return false;
        row[j] = std::sqrt(sum);
      }
    }
    double value = 1.0;
    for (std::size_t l = 0; l < j; ++l) value -= row[l] * x[l];
    x[j] = value / row[j];
  }
  for (std::size_t j = size; j-- > 0;) {
    double value = x[j];
    for (std::size_t l = j + 1; l < size; ++l) value -= matrix[l * size + j] * x[l];
    x[j] = value / matrix[j * size + j];
  }
  return true;
}

// The shift of the atlas, of those in `search`, whose patch is nearest to the target's; the first of
// equals. Writes the absolute differences of that patch.
inline std::uint16_t best_shift(const float* target, const float* atlas,
                                const std::vector<std::ptrdiff_t>& patch,
                                const std::vector<std::ptrdiff_t>& search, double* differences) {
  std::size_t best = 0;
  if (search.size() > 1) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < search.size(); ++s) {
      const float* shifted = atlas + search[s];
      double sum = 0.0;
      for (const std::ptrdiff_t step : patch) {
        const double difference = static_cast<double>(target[step]) - shifted[step];
        sum += difference * difference;
      }
      if (sum < least) {
        least = sum;
        best = s;
      }
    }
  }
  const float* shifted = atlas + search[best];
  for (std::size_t p = 0; p < patch.size(); ++p) {
    differences[p] = std::abs(static_cast<double>(target[patch[p]]) - shifted[patch[p]]);
  }
  return static_cast<std::uint16_t>(best);
}

// Weights, which sum to 1, and the chosen shift of each atlas at one voxel.
//
// Precondition: every step of `patch`, and every sum of one with a step of `search`, stays inside
// the padded volumes around the voxel at offset `place`; `search` has at most 65536 members.
inline void joint_weights(const float* target, const std::vector<const float*>& atlases,
                          std::ptrdiff_t place, const std::vector<std::ptrdiff_t>& patch,
                          const std::vector<std::ptrdiff_t>& search, const JointSettings& settings,
                          JointWorkspace& room, double* weights, std::uint16_t* shifts) {
  const std::size_t count = atlases.size();
  for (std::size_t i = 0; i < count; ++i) {
    shifts[i] = best_shift(target + place, atlases[i] + place, patch, search,
                           room.differences.data() + i * patch.size());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double* one = room.differences.data() + i * patch.size();
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = room.differences.data() + j * patch.size();
      double sum = 0.0;
      for (std::size_t p = 0; p < patch.size(); ++p) sum += one[p] * other[p];
      room.matrix[i * count + j] = std::pow(sum, settings.beta) + (i == j ? settings.alpha : 0.0);
    }
  }
  double total = 0.0;
  if (solve_for_ones(room.matrix.data(), count, room.solution.data())) {
    for (const double value : room.solution) total += value;
  }
  // Atlases whose errors rounding cannot tell apart count alike.
  const bool solved = total > 0 && std::isfinite(total);
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = solved ? room.solution[i] / total : 1.0 / static_cast<double>(count);
  }
}

}  // namespace consensus
