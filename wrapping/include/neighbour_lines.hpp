// Walks the lines of a tile's buffer along each axis in turn; beyond the volume's edge its last voxel
// goes on. What is done with a voxel and its neighbours on a line is the caller's.
//
// Precondition: `from` is `to` grown by the reach and clipped to the volume.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tiles.hpp"

namespace consensus {

template <class Value>
class NeighbourLines {
 public:
  NeighbourLines(const Extents& reach, const Extents& shape) : shape_(shape), reach_(reach) {}

  const Extents& reach() const { return reach_; }
  Box source(const Box& to) const { return grown(to, reach_, shape_); }

  // Turns `values`, an array of source(to), into an array of `to`. For each axis with a reach,
  // blend(axis, rows, n, out) makes out[i] of rows[0][i] .. rows[2 reach][i], the middle one being
  // the voxel itself.
  template <class Blend>
  void run(std::vector<Value>& values, const Box& to, Blend blend) {
    Box box = source(to);
    for (std::size_t axis = 1; axis < kAxes; ++axis) {
      if (reach_[axis] == 0) continue;
      Box next = box;
      next.low[axis] = to.low[axis];
      next.high[axis] = to.high[axis];
      spare_.resize(next.voxels());
      if (axis + 1 < kAxes) {
        along_blocks(values.data(), box, next, axis, blend);
      } else {
        along_rows(values.data(), box, next, blend);
      }
      values.swap(spare_);
      box = next;
    }
  }

 private:
  std::size_t clamped(std::size_t place, std::ptrdiff_t step, std::size_t axis) const {
    const auto moved = static_cast<std::ptrdiff_t>(place) + step;
    if (moved < 0) return 0;
    return std::min(static_cast<std::size_t>(moved), shape_[axis] - 1);
  }

  // Planes (axis 1) or rows (axis 2) are contiguous: neighbours are whole blocks.
  template <class Blend>
  void along_blocks(const Value* in, const Box& box, const Box& next, std::size_t axis, Blend blend) {
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= box.size(k);
    for (std::size_t k = axis + 1; k < kAxes; ++k) inner *= box.size(k);
    neighbours_.resize(2 * reach_[axis] + 1);
    for (std::size_t o = 0; o < outer; ++o) {
      const Value* first = in + o * box.size(axis) * inner;
      for (std::size_t place = next.low[axis]; place < next.high[axis]; ++place) {
        for (std::size_t k = 0; k < neighbours_.size(); ++k) {
          const auto step = static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(reach_[axis]);
          neighbours_[k] = first + (clamped(place, step, axis) - box.low[axis]) * inner;
        }
        Value* to = spare_.data() + (o * next.size(axis) + place - next.low[axis]) * inner;
        blend(axis, neighbours_.data(), inner, to);
      }
    }
  }

  template <class Blend>
  void along_rows(const Value* in, const Box& box, const Box& next, Blend blend) {
    const std::size_t reach = reach_[3], length = next.size(3);
    line_.resize(length + 2 * reach);
    neighbours_.resize(2 * reach + 1);
    for (std::size_t k = 0; k < neighbours_.size(); ++k) neighbours_[k] = line_.data() + k;
    const std::size_t before = next.low[3] - box.low[3], after = box.high[3] - next.high[3];
    for (std::size_t row = 0; row < box.rows(); ++row) {
      const Value* from = in + row * box.size(3);
      std::fill_n(line_.data(), reach - before, from[0]);
      std::copy_n(from, box.size(3), line_.data() + reach - before);
      std::fill_n(line_.data() + reach + length + after, reach - after, from[box.size(3) - 1]);
      blend(std::size_t{3}, neighbours_.data(), length, spare_.data() + row * length);
    }
  }

  Extents shape_;
  Extents reach_;
  std::vector<Value> spare_, line_;
  std::vector<const Value*> neighbours_;
};

}  // namespace consensus
