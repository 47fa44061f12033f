// A grid with a point at every voxel, or at every second voxel, along each axis of a volume.
//
// Smooth values are stored at the grid points. Voxels are reduced to points with the weights 1/4,
// 1/2, 1/4, where values beyond the volume count as 0; a voxel between two points gets their mean.
//
// Precondition (checked in Python): steps are 1 or 2, and the step of the first axis is 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simd.hpp"
#include "tiles.hpp"

namespace consensus {

struct CoarseGrid {
  Extents shape;  // of the volume
  Extents step;

  Extents size() const {
    Extents points = shape;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (step[axis] == 2) points[axis] = shape[axis] / 2 + 1;
    }
    return points;
  }
  std::size_t points() const { return whole_box(size()).voxels(); }

  // Returns the box of voxels from which the given grid points are computed.
  Box sources(const Box& points) const {
    Box from = points;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (step[axis] != 2) continue;
      from.low[axis] = points.low[axis] == 0 ? 0 : 2 * points.low[axis] - 1;
      from.high[axis] = std::min(shape[axis], 2 * points.high[axis]);
    }
    return from;
  }

  // Returns the voxel at a grid point. The last point may lie one voxel beyond the volume; it gets the last voxel.
  std::size_t voxel(std::size_t axis, std::size_t point) const {
    return std::min(step[axis] * point, shape[axis] - 1);
  }

  // Returns the grid point at a voxel, or an index beyond all points if there is none.
  std::size_t point(std::size_t axis, std::size_t voxel) const {
    if (voxel % step[axis] == 0) return voxel / step[axis];
    return voxel + 1 == shape[axis] ? shape[axis] / 2 : shape[axis];
  }
};

CONSENSUS_WIDE static inline void mean_of_four(const float* a, const float* b, const float* c, const float* d,
                                               std::size_t n, float* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = 0.25f * ((a[i] + b[i]) + (c[i] + d[i]));
}

CONSENSUS_WIDE static inline void mean_around(const float* before, const float* at, const float* after, std::size_t n,
                                              float* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = 0.5f * at[i] + 0.25f * (before[i] + after[i]);
}

// Interpolates n values: grid points alternate with the means of two neighbouring points.
CONSENSUS_WIDE static inline void between(const float* points, std::size_t n, float* __restrict out) {
  for (std::size_t i = 0; i < n / 2; ++i) {
    out[2 * i] = points[i];
    out[2 * i + 1] = 0.5f * (points[i] + points[i + 1]);
  }
  if (n % 2) out[n - 1] = points[n / 2];
}

class CoarseValues {
 public:
  explicit CoarseValues(const CoarseGrid& grid) : grid_(grid) {}

  // Reduces `values`, an array over sources(points), to the points; returns the array over the points.
  const float* restricted(const float* values, const Box& points) {
    Box box = grid_.sources(points);
    for (std::size_t axis = 1; axis < kAxes; ++axis) {
      if (grid_.step[axis] != 2) continue;
      Box next = box;
      next.low[axis] = points.low[axis];
      next.high[axis] = points.high[axis];
      if (axis + 1 < kAxes) {
        halve(values, box, next, axis);
      } else {
        halve_rows(values, box, next);
      }
      here_.swap(next_);
      values = here_.data();
      box = next;
    }
    return values;
  }

  // Returns n interpolated values of a row of the volume, from voxel x on; `values` holds all grid points.
  const float* row(const float* values, std::size_t t, std::size_t z, std::size_t y, std::size_t x, std::size_t n) {
    const Box whole = whole_box(grid_.size());
    const Extents& step = grid_.step;
    const std::size_t first = x / step[3], last = step[3] == 2 ? (x + n) / 2 + 1 : x + n;
    const std::size_t low_z = z / step[1], low_y = y / step[2];
    const bool between_z = z % step[1] != 0, between_y = y % step[2] != 0;
    const float* line = values + whole.at(t, low_z, low_y, first);
    const std::size_t number = last - first;
    if (between_z || between_y) {
      const float* other = values + whole.at(t, low_z + between_z, low_y, first);
      const float* third = values + whole.at(t, low_z, low_y + between_y, first);
      const float* fourth = values + whole.at(t, low_z + between_z, low_y + between_y, first);
      line_.resize(number);
      mean_of_four(line, other, third, fourth, number, line_.data());
      line = line_.data();
    }
    if (step[3] != 2) return line;
    row_.resize(n);
    if (x % 2) {
      row_[0] = 0.5f * (line[0] + line[1]);
      between(line + 1, n - 1, row_.data() + 1);
    } else {
      between(line, n, row_.data());
    }
    return row_.data();
  }

 private:
  void halve(const float* values, const Box& box, const Box& next, std::size_t axis) {
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= box.size(k);
    for (std::size_t k = axis + 1; k < kAxes; ++k) inner *= box.size(k);
    next_.resize(next.voxels());
    nothing_.assign(inner, 0.0f);
    for (std::size_t o = 0; o < outer; ++o) {
      const float* line = values + o * box.size(axis) * inner;
      const auto block = [&](std::size_t place) {
        return box.holds(axis, place) ? line + (place - box.low[axis]) * inner : nothing_.data();
      };
      float* out = next_.data() + o * next.size(axis) * inner;
      for (std::size_t point = next.low[axis]; point < next.high[axis]; ++point, out += inner) {
        const float* before = point == 0 ? nothing_.data() : block(2 * point - 1);
        mean_around(before, block(2 * point), block(2 * point + 1), inner, out);
      }
    }
  }

  void halve_rows(const float* values, const Box& box, const Box& next) {
    const std::size_t points = next.size(3), length = box.size(3), before = next.low[3] == 0;
    next_.resize(next.voxels());
    line_.assign(2 * points + 1, 0.0f);
    for (std::size_t row = 0; row < box.rows(); ++row) {
      std::copy_n(values + row * length, length, line_.data() + before);
      float* out = next_.data() + row * points;
      for (std::size_t k = 0; k < points; ++k) {
        out[k] = 0.5f * line_[2 * k + 1] + 0.25f * (line_[2 * k] + line_[2 * k + 2]);
      }
    }
  }

  CoarseGrid grid_;
  std::vector<float> here_, next_, nothing_, line_, row_;
};

}  // namespace consensus
