// Walks the lines of a tile's buffer along each axis in turn, repeating edge voxels beyond the volume.
// The caller supplies the operation on a voxel and its neighbours on a line.
//
// If values are constant outside a box, only that box is stored, and only voxels within reach of it are
// computed.
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

  // Replaces `values`, an array over source(to), with an array over `to`. For each axis with a
  // reach above 0, blend(axis, rows, n, out) computes out[i] from rows[0][i] .. rows[2 *
  // reach][i]; the middle row holds the voxel itself.
  template <class Blend>
  void run(std::vector<Value>& values, const Box& to, Blend blend) {
    run_within(values, source(to), Value{}, to, blend);
  }

  // The same if all values of source(to) outside `box` equal `beyond`; `values` is an array over
  // `box`. It is replaced with an array over the part of `to` within reach of `box`; this part is
  // returned. Precondition: blend maps equal values to the same value.
  template <class Blend>
  Box run_within(std::vector<Value>& values, Box box, Value beyond, const Box& to, Blend blend) {
    const Box reached = box.empty() ? Box{} : intersection(grown(box, reach_, shape_), to);
    if (reached.empty()) return reached;
    for (std::size_t axis = 1; axis < kAxes; ++axis) {
      if (reach_[axis] == 0 && box.low[axis] == reached.low[axis] && box.high[axis] == reached.high[axis]) continue;
      Box next = box;
      next.low[axis] = reached.low[axis];
      next.high[axis] = reached.high[axis];
      spare_.resize(next.voxels());
      if (axis + 1 < kAxes) {
        along_blocks(values.data(), box, next, axis, beyond, blend);
      } else {
        along_rows(values.data(), box, next, beyond, blend);
      }
      values.swap(spare_);
      box = next;
    }
    return reached;
  }

 private:
  std::size_t clamped(std::size_t place, std::ptrdiff_t step, std::size_t axis) const {
    const auto moved = static_cast<std::ptrdiff_t>(place) + step;
    if (moved < 0) return 0;
    return std::min(static_cast<std::size_t>(moved), shape_[axis] - 1);
  }

  // Along z (axis 1) or y (axis 2), neighbours are contiguous blocks: planes or rows.
  template <class Blend>
  void along_blocks(const Value* in, const Box& box, const Box& next, std::size_t axis, Value beyond, Blend blend) {
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= box.size(k);
    for (std::size_t k = axis + 1; k < kAxes; ++k) inner *= box.size(k);
    neighbours_.resize(2 * reach_[axis] + 1);
    line_.assign(inner, beyond);
    for (std::size_t o = 0; o < outer; ++o) {
      const Value* first = in + o * box.size(axis) * inner;
      for (std::size_t place = next.low[axis]; place < next.high[axis]; ++place) {
        for (std::size_t k = 0; k < neighbours_.size(); ++k) {
          const auto step = static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(reach_[axis]);
          const std::size_t at = clamped(place, step, axis);
          const bool there = at >= box.low[axis] && at < box.high[axis];
          neighbours_[k] = there ? first + (at - box.low[axis]) * inner : line_.data();
        }
        Value* to = spare_.data() + (o * next.size(axis) + place - next.low[axis]) * inner;
        blend(axis, neighbours_.data(), inner, to);
      }
    }
  }

  template <class Blend>
  void along_rows(const Value* in, const Box& box, const Box& next, Value beyond, Blend blend) {
    const std::size_t reach = reach_[3], length = next.size(3);
    line_.assign(length + 2 * reach, beyond);
    neighbours_.resize(2 * reach + 1);
    for (std::size_t k = 0; k < neighbours_.size(); ++k) neighbours_[k] = line_.data() + k;
    // The line begins at next.low - reach, which may be before the volume.
    const std::size_t cut = next.low[3] > reach + box.low[3] ? next.low[3] - reach - box.low[3] : 0;
    const std::size_t first = box.low[3] + cut + reach - next.low[3];
    const std::size_t number = std::min(box.size(3) - cut, line_.size() - first);
    for (std::size_t row = 0; row < box.rows(); ++row) {
      const Value* from = in + row * box.size(3) + cut;
      std::copy_n(from, number, line_.data() + first);
      if (box.low[3] == 0 && cut == 0) std::fill_n(line_.data(), first, from[0]);
      if (box.high[3] == shape_[3] && cut + number == box.size(3)) {
        std::fill(line_.data() + first + number, line_.data() + line_.size(), from[number - 1]);
      }
      blend(std::size_t{3}, neighbours_.data(), length, spare_.data() + row * length);
    }
  }

  Extents shape_;
  Extents reach_;
  std::vector<Value> spare_, line_;
  std::vector<const Value*> neighbours_;
};

}  // namespace consensus
