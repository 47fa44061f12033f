// Sets a rater's bit in each byte of a box where the rater gave a label, for up to eight raters.
//
// Preconditions (checked in Python): each rater's data hold the whole volume; the box lies in the volume;
// `plane` has one byte per voxel of the box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.hpp"
#include "tiles.hpp"

namespace consensus {

// A rater's data, the label to find and the bit to set. All raters of a call have the same label type.
template <class Label>
struct Marking {
  const Label* data;
  Label label;
  std::uint8_t bit;
};

template <class Label>
CONSENSUS_INLINE std::uint8_t bit_of(const Marking<Label>& rater, std::size_t at) {
  return static_cast<std::uint8_t>(rater.data[at] == rater.label ? rater.bit : 0);
}

// Sets the raters' bits in `bytes` where their voxels at .. at + n - 1 have the label. Four raters are
// processed at a time, as local copies, so that the compiler knows that `bytes` does not alias them.
template <class Label>
CONSENSUS_INLINE void mark_any(const std::vector<Marking<Label>>& raters, std::size_t at, std::size_t n,
                               std::uint8_t* __restrict bytes) {
  std::size_t k = 0;
  for (; k + 4 <= raters.size(); k += 4) {
    const Marking<Label> a = raters[k], b = raters[k + 1], c = raters[k + 2], d = raters[k + 3];
    for (std::size_t x = 0; x < n; ++x) {
      bytes[x] = static_cast<std::uint8_t>(bytes[x] | (bit_of(a, at + x) | bit_of(b, at + x)) |
                                           (bit_of(c, at + x) | bit_of(d, at + x)));
    }
  }
  for (; k < raters.size(); ++k) {
    const Marking<Label> a = raters[k];
    for (std::size_t x = 0; x < n; ++x) bytes[x] = static_cast<std::uint8_t>(bytes[x] | bit_of(a, at + x));
  }
}

template <class Label>
void mark(const std::vector<Marking<Label>>& raters, std::size_t at, std::size_t n, std::uint8_t* bytes) {
  mark_any(raters, at, n, bytes);
}

// Compiled for wider registers for the most common types of label maps.
CONSENSUS_WIDE static inline void mark(const std::vector<Marking<std::uint8_t>>& raters, std::size_t at, std::size_t n,
                                       std::uint8_t* bytes) {
  mark_any(raters, at, n, bytes);
}

CONSENSUS_WIDE static inline void mark(const std::vector<Marking<std::int16_t>>& raters, std::size_t at, std::size_t n,
                                       std::uint8_t* bytes) {
  mark_any(raters, at, n, bytes);
}

template <class Label>
void pack_marks(const std::vector<Marking<Label>>& raters, const Extents& shape, const Box& box, std::uint8_t* plane) {
  const Box whole = whole_box(shape);
  const std::size_t n = box.size(3);
  for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
    if (y == box.low[2]) checkpoint();
    mark(raters, whole.at(t, z, y, box.low[3]), n, plane + box.at(t, z, y, box.low[3]));
  });
}

}  // namespace consensus
