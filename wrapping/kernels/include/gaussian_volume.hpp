// Smooths a whole volume by a separable Gaussian, axis by axis, alternating between two buffers.
//
// Beyond the edge, either edge voxels are repeated or values are 0. The arithmetic is the same as
// in gaussian_lines.hpp, so results for tiles and volumes are bitwise equal.
//
// Preconditions (checked in Python): `values` and `spare` hold the volume; each axis has a weight
// for every distance from 0 to its reach, and the weights of both sides sum to 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "gaussian_lines.hpp"
#include "lines.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "tiles.hpp"

namespace consensus {

enum class Edge { nearest, zero };

// Smooths `in` into `out` along an axis before the last; neighbours are contiguous blocks.
template <class Real>
void smooth_blocks(const Real* in, const Lines& lines, const std::vector<Real>& weights, Edge edge,
                   std::size_t threads, Real* out) {
  const auto reach = static_cast<std::ptrdiff_t>(weights.size()) - 1;
  const auto length = static_cast<std::ptrdiff_t>(lines.length);
  const std::vector<Real> nothing(edge == Edge::zero ? lines.inner : 0, Real{0});
  const std::size_t smallest = std::max<std::size_t>(1, kSmallestSlab / std::max<std::size_t>(1, lines.inner));
  for_each_slab(make_slabs(lines.outer * lines.length, threads, smallest), [&](std::size_t, Slab slab) {
    std::vector<const Real*> rows(2 * weights.size() - 1);
    for (std::size_t block = slab.begin; block < slab.end; ++block) {
      if ((block - slab.begin) % smallest == 0) checkpoint();
      const Real* first = in + block / lines.length * lines.length * lines.inner;
      const auto place = static_cast<std::ptrdiff_t>(block % lines.length);
      for (std::ptrdiff_t step = -reach; step <= reach; ++step) {
        const bool beyond = place + step < 0 || place + step >= length;
        const auto at = std::clamp<std::ptrdiff_t>(place + step, 0, length - 1);
        rows[static_cast<std::size_t>(step + reach)] =
            beyond && edge == Edge::zero ? nothing.data() : first + static_cast<std::size_t>(at) * lines.inner;
      }
      blend(rows.data(), weights.data(), weights.size() - 1, lines.inner, out + block * lines.inner);
    }
  });
}

// Smooths `in` into `out` along the last axis.
template <class Real>
void smooth_rows(const Real* in, const Lines& lines, const std::vector<Real>& weights, Edge edge,
                 std::size_t threads, Real* out) {
  const std::size_t reach = weights.size() - 1, length = lines.length;
  const std::size_t smallest = std::max<std::size_t>(1, kSmallestSlab / std::max<std::size_t>(1, length));
  for_each_slab(make_slabs(lines.outer, threads, smallest), [&](std::size_t, Slab slab) {
    std::vector<Real> line(length + 2 * reach, Real{0});
    std::vector<const Real*> rows(2 * reach + 1);
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = line.data() + k;
    for (std::size_t row = slab.begin; row < slab.end; ++row) {
      if ((row - slab.begin) % smallest == 0) checkpoint();
      std::copy_n(in + row * length, length, line.data() + reach);
      if (edge == Edge::nearest) {
        std::fill_n(line.data(), reach, line[reach]);
        std::fill_n(line.data() + reach + length, reach, line[reach + length - 1]);
      }
      blend(rows.data(), weights.data(), reach, length, out + row * length);
    }
  });
}

// Smooths `values` in place; `spare` is a buffer of the same size.
template <class Real>
void smooth_volume(std::vector<std::size_t> shape, const std::vector<std::vector<double>>& weights, Edge edge,
                   std::size_t threads, Real* values, Real* spare) {
  Real* from = values;
  Real* to = spare;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::vector<Real> own(weights[axis].begin(), weights[axis].end());
    if (own.size() == 1) continue;
    const Lines lines = lines_along(shape, axis);
    if (axis + 1 < shape.size()) {
      smooth_blocks(from, lines, own, edge, threads, to);
    } else {
      smooth_rows(from, lines, own, edge, threads, to);
    }
    std::swap(from, to);
  }
  if (from != values) std::copy_n(from, std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()), values);
}

}  // namespace consensus
