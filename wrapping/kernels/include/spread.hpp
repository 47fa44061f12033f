// Dilates a binary volume by a box, tile by tile.
//
// Preconditions (checked in Python): flags are 0 or 1; flags and result hold the volume's voxels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neighbour_lines.hpp"
#include "simd.hpp"

namespace consensus {

class Spread {
 public:
  Spread(const Extents& reach, const Extents& shape) : lines_(reach, shape), whole_(whole_box(shape)) {}

  void compute(const std::uint8_t* flags, const Box& box, std::uint8_t* out) {
    read(flags, lines_.source(box));
    lines_.run(values_, box, [&](std::size_t axis, const std::uint8_t* const* rows, std::size_t n, std::uint8_t* to) {
      extremes(rows, 2 * lines_.reach()[axis] + 1, true, n, to);
    });
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(values_.data() + box.at(t, z, y, box.low[3]), box.size(3), out + whole_.at(t, z, y, box.low[3]));
    });
  }

 private:
  void read(const std::uint8_t* flags, const Box& from) {
    values_.resize(from.voxels());
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(flags + whole_.at(t, z, y, from.low[3]), from.size(3), values_.data() + from.at(t, z, y, from.low[3]));
    });
  }

  NeighbourLines<std::uint8_t> lines_;
  Box whole_;
  std::vector<std::uint8_t> values_;
};

}  // namespace consensus
