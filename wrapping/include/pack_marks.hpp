// Where one rater has a label, as a bit of a box's bytes.
//
// Preconditions (checked in Python): data hold the whole volume, the plane holds the box, which lies
// in the volume.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"
#include "tiles.hpp"

namespace consensus {

// bytes gain a bit where the row has the label. Compilers must be told that bytes are not the row.
template <class Label>
CONSENSUS_INLINE void mark_any(const Label* __restrict row, Label label, std::uint8_t bit, std::size_t n,
                               std::uint8_t* __restrict bytes) {
  for (std::size_t x = 0; x < n; ++x) {
    const auto found = static_cast<std::uint8_t>(row[x] == label ? bit : 0);
    bytes[x] = static_cast<std::uint8_t>(bytes[x] | found);
  }
}

template <class Label>
void mark(const Label* row, Label label, std::uint8_t bit, std::size_t n, std::uint8_t* bytes) {
  mark_any(row, label, bit, n, bytes);
}

// Most label maps are of these types.
CONSENSUS_WIDE static inline void mark(const std::uint8_t* row, std::uint8_t label, std::uint8_t bit, std::size_t n,
                                       std::uint8_t* bytes) {
  mark_any(row, label, bit, n, bytes);
}

CONSENSUS_WIDE static inline void mark(const std::int16_t* row, std::int16_t label, std::uint8_t bit, std::size_t n,
                                       std::uint8_t* bytes) {
  mark_any(row, label, bit, n, bytes);
}

template <class Label>
void pack_marks(const Label* data, Label label, const Extents& shape, const Box& box, unsigned bit,
                std::uint8_t* plane) {
  const Box whole = whole_box(shape);
  const std::size_t n = box.size(3);
  for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
    if (y == box.low[2]) checkpoint();
    mark(data + whole.at(t, z, y, box.low[3]), label, static_cast<std::uint8_t>(1u << bit), n,
         plane + box.at(t, z, y, box.low[3]));
  });
}

}  // namespace consensus
