// Walks the lines of a C-ordered volume along one axis. Neighbouring lines are processed in
// blocks, so that a cache line, once loaded, is used by all of them.
//
// Precondition (checked in Python): the volume holds outer * length * inner values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace consensus {

constexpr std::size_t kLanes = 32;

struct Lines {
  std::size_t outer;   // product of the sizes before the axis
  std::size_t length;  // size of the axis
  std::size_t inner;   // product of the sizes after the axis: the step between neighbours on a line

  std::size_t blocks() const { return outer * blocks_per_outer(); }
  std::size_t first(std::size_t block) const {
    return block / blocks_per_outer() * length * inner + block % blocks_per_outer() * kLanes;
  }
  std::size_t lanes(std::size_t block) const {
    return std::min(kLanes, inner - block % blocks_per_outer() * kLanes);
  }

 private:
  std::size_t blocks_per_outer() const { return (inner + kLanes - 1) / kLanes; }
};

inline Lines lines_along(const std::vector<std::size_t>& shape, std::size_t axis) {
  Lines lines{1, shape[axis], 1};
  for (std::size_t k = 0; k < axis; ++k) lines.outer *= shape[k];
  for (std::size_t k = axis + 1; k < shape.size(); ++k) lines.inner *= shape[k];
  return lines;
}

// Calls work(slab of blocks) for pieces of all blocks, on several threads; each call allocates its own scratch memory.
template <class Work>
void for_each_block_slab(const Lines& lines, std::size_t threads, Work work) {
  const std::size_t voxels = std::max<std::size_t>(1, lines.length * std::min(kLanes, lines.inner));
  const std::size_t smallest = std::max<std::size_t>(1, kSmallestSlab / voxels);
  // Pieces are large enough that allocating scratch memory is cheap compared with processing the
  // piece.
  const std::size_t size = std::max<std::size_t>(1, 16 * kPiece / voxels);
  for_each_slab(make_slabs(lines.blocks(), threads, smallest),
                [&](std::size_t, Slab slab) { in_pieces(slab, size, work); });
}

}  // namespace consensus
