// Finds the bounding box of each label over all raters, in one pass.
//
// Preconditions (checked in Python): raters hold the whole volume; digits >= `labels` mean missing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tiles.hpp"
#include "votes.hpp"

namespace consensus {

class LabelBoxes {
 public:
  // Labels that have not occurred yet have empty boxes.
  LabelBoxes(std::size_t labels, const Extents& shape) : shape_(shape), boxes_(labels, Box{shape, {}}) {}

  const std::vector<Box>& boxes() const { return boxes_; }

  // Widens the boxes by a rater's votes in rows begin .. end - 1 of the volume, in C order.
  void add(const Votes& rater, std::size_t begin, std::size_t end) {
    const std::size_t length = shape_[3];
    digits_.resize(length);
    for (std::size_t row = begin; row < end; ++row) {
      if (rater.constant(row * length, length)) {
        widen(rater.digit(row * length), row, 0, length);
        continue;
      }
      rater.read(row * length, length, digits_.data());
      for (std::size_t from = 0, to = 1; from < length; from = to, ++to) {
        while (to < length && digits_[to] == digits_[from]) ++to;
        widen(digits_[from], row, from, to);
      }
    }
  }

  void add(const LabelBoxes& others) {
    for (std::size_t label = 0; label < boxes_.size(); ++label) unite(boxes_[label], others.boxes_[label]);
  }

 private:
  void widen(std::size_t digit, std::size_t row, std::size_t from, std::size_t to) {
    if (digit >= boxes_.size()) return;
    const std::size_t y = row % shape_[2], z = row / shape_[2] % shape_[1], t = row / shape_[2] / shape_[1];
    unite(boxes_[digit], Box{{t, z, y, from}, {t + 1, z + 1, y + 1, to}});
  }

  static void unite(Box& box, const Box& other) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      box.low[axis] = std::min(box.low[axis], other.low[axis]);
      box.high[axis] = std::max(box.high[axis], other.high[axis]);
    }
  }

  Extents shape_;
  std::vector<Box> boxes_;
  std::vector<std::uint16_t> digits_;
};

}  // namespace consensus
