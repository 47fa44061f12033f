// Where one rater has a label, as a bit of a box's bytes.
//
// Preconditions (checked in Python): data hold the whole volume, the plane holds the box, which lies
// in the volume.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tiles.hpp"

namespace consensus {

template <class Label>
void pack_marks(const Label* data, Label label, const Extents& shape, const Box& box, unsigned bit,
                std::uint8_t* plane) {
  const Box whole = whole_box(shape);
  const std::size_t n = box.size(3);
  for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
    if (y == box.low[2]) checkpoint();
    const Label* row = data + whole.at(t, z, y, box.low[3]);
    std::uint8_t* out = plane + box.at(t, z, y, box.low[3]);
    for (std::size_t x = 0; x < n; ++x) {
      out[x] = static_cast<std::uint8_t>(out[x] | static_cast<unsigned>(row[x] == label) << bit);
    }
  });
}

}  // namespace consensus
