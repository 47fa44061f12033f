// A grid at every voxel, or at every second one, of each axis of a volume.
//
// What is smooth is kept on the coarse grid: a voxel between two points of it gets their mean, and
// what is brought there is shared out the same way (weights 1/4, 1/2, 1/4). Beyond the volume is 0.
//
// Preconditions (checked in Python): steps are 1 or 2, the first of them 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

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

  // The voxels that points of the grid are made of.
  Box sources(const Box& points) const {
    Box from = points;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (step[axis] != 2) continue;
      from.low[axis] = points.low[axis] == 0 ? 0 : 2 * points.low[axis] - 1;
      from.high[axis] = std::min(shape[axis], 2 * points.high[axis]);
    }
    return from;
  }

  // The same, every voxel with one point only.
  Box owned(const Box& points) const {
    Box own = sources(points);
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      own.low[axis] = std::min(step[axis] * points.low[axis], own.high[axis]);
    }
    return own;
  }
};

class CoarseValues {
 public:
  explicit CoarseValues(const CoarseGrid& grid) : grid_(grid) {}

  // Brings `values`, an array of sources(points), to the points; returns their array.
  const std::vector<float>& restricted(const float* values, const Box& points) {
    Box box = grid_.sources(points);
    here_.assign(values, values + box.voxels());
    for (std::size_t axis = kAxes; axis-- > 0;) {
      if (grid_.step[axis] != 2) continue;
      Box next = box;
      next.low[axis] = points.low[axis];
      next.high[axis] = points.high[axis];
      halve(box, next, axis);
      here_.swap(next_);
      box = next;
    }
    return here_;
  }

  // A row of n voxels of the volume, between the points of `values`.
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
      for (std::size_t i = 0; i < number; ++i) line_[i] = 0.25f * ((line[i] + other[i]) + (third[i] + fourth[i]));
      line = line_.data();
    }
    if (step[3] != 2) return line;
    row_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = (x + i) / 2 - first;
      row_[i] = (x + i) % 2 == 0 ? line[at] : 0.5f * (line[at] + line[at + 1]);
    }
    return row_.data();
  }

 private:
  void halve(const Box& box, const Box& next, std::size_t axis) {
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= box.size(k);
    for (std::size_t k = axis + 1; k < kAxes; ++k) inner *= box.size(k);
    next_.resize(next.voxels());
    nothing_.assign(inner, 0.0f);
    for (std::size_t o = 0; o < outer; ++o) {
      const float* line = here_.data() + o * box.size(axis) * inner;
      const auto block = [&](std::size_t place) {
        const bool there = place >= box.low[axis] && place < box.high[axis];
        return there ? line + (place - box.low[axis]) * inner : nothing_.data();
      };
      for (std::size_t point = next.low[axis]; point < next.high[axis]; ++point) {
        const float* before = point == 0 ? nothing_.data() : block(2 * point - 1);
        const float* at = block(2 * point);
        const float* after = block(2 * point + 1);
        float* out = next_.data() + (o * next.size(axis) + point - next.low[axis]) * inner;
        for (std::size_t i = 0; i < inner; ++i) out[i] = 0.5f * at[i] + 0.25f * (before[i] + after[i]);
      }
    }
  }

  CoarseGrid grid_;
  std::vector<float> here_, next_, nothing_, line_, row_;
};

}  // namespace consensus
