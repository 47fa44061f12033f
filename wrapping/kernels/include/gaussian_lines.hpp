// Smooths the buffer of a tile by a separable Gaussian.
//
// The result at a voxel is its value plus weighted differences from its neighbours, outermost
// first, axis by axis. Thus constant regions stay exactly constant, and the result at a voxel is
// bitwise independent of the box.
//
// Preconditions: those of neighbour_lines.hpp; each axis has a weight for every distance from 0 to
// its reach, and the weights of both sides sum to 1.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "neighbour_lines.hpp"
#include "simd.hpp"

namespace consensus {

using GaussianWeights = std::array<std::vector<double>, kAxes>;

inline Extents reach_of(const GaussianWeights& weights) {
  Extents reach{};
  for (std::size_t axis = 0; axis < kAxes; ++axis) reach[axis] = weights[axis].size() - 1;
  return reach;
}

template <class Real>
class Gaussian {
 public:
  Gaussian(const GaussianWeights& weights, const Extents& shape) : lines_(reach_of(weights), shape) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      weights_[axis].assign(weights[axis].begin(), weights[axis].end());
    }
  }

  const Extents& reach() const { return lines_.reach(); }
  Box source(const Box& to) const { return lines_.source(to); }

  // Replaces `values`, an array over source(to), with the smoothed array over `to`.
  void smooth(std::vector<Real>& values, const Box& to) { smooth_within(values, source(to), Real{0}, to); }

  // The same if all values outside the box `within` equal `beyond`; `values` is an array over `within`.
  void smooth_within(std::vector<Real>& values, const Box& within, Real beyond, const Box& to) {
    const Box reached = lines_.run_within(
        values, within, beyond, to, [&](std::size_t axis, const Real* const* rows, std::size_t n, Real* out) {
          blend(rows, weights_[axis].data(), lines_.reach()[axis], n, out);
        });
    if (reached == to) return;
    whole_.assign(to.voxels(), beyond);
    for_each_row(reached, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(values.data() + reached.at(t, z, y, reached.low[3]), reached.size(3),
                  whole_.data() + to.at(t, z, y, reached.low[3]));
    });
    values.swap(whole_);
  }

 private:
  NeighbourLines<Real> lines_;
  std::array<std::vector<Real>, kAxes> weights_;
  std::vector<Real> whole_;
};

}  // namespace consensus
