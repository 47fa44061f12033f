// Divides a volume into tiles and runs a function over them on several threads.
//
// A tile is a box of the volume; neighbourhood operations read the tile grown by their reach. A
// thread that finishes a tile takes the next one, which balances the load. Tiles write to disjoint
// voxels, and values summed over tiles must be integers, so that results depend neither on the
// size of tiles nor on the number of threads.
//
// Preconditions (checked in Python): there are four axes; the first indexes independent volumes,
// and a tile has size 1 along it; every other size of a tile is at least 1.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace consensus {

constexpr std::size_t kAxes = 4;
using Extents = std::array<std::size_t, kAxes>;

struct Box {
  Extents low{};
  Extents high{};

  std::size_t size(std::size_t axis) const { return high[axis] - low[axis]; }
  std::size_t rows() const { return size(0) * size(1) * size(2); }
  std::size_t voxels() const { return rows() * size(3); }
  bool empty() const {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (high[axis] <= low[axis]) return true;
    }
    return false;
  }
  bool holds(std::size_t axis, std::size_t place) const { return place >= low[axis] && place < high[axis]; }
  bool operator==(const Box& other) const { return low == other.low && high == other.high; }

  // Returns the index of a voxel of the volume in a C-ordered array over this box.
  std::size_t at(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return (((t - low[0]) * size(1) + (z - low[1])) * size(2) + (y - low[2])) * size(3) + (x - low[3]);
  }
};

inline Box whole_box(const Extents& shape) { return {{}, shape}; }

inline Box intersection(const Box& a, const Box& b) {
  Box shared;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    shared.low[axis] = std::max(a.low[axis], b.low[axis]);
    shared.high[axis] = std::max(shared.low[axis], std::min(a.high[axis], b.high[axis]));
  }
  return shared;
}

// Returns the box, extended by `reach` on all sides and clipped to the volume.
inline Box grown(const Box& box, const Extents& reach, const Extents& shape) {
  Box wide;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    wide.low[axis] = box.low[axis] - std::min(box.low[axis], reach[axis]);
    wide.high[axis] = std::min(shape[axis], box.high[axis] + reach[axis]);
  }
  return wide;
}

// Calls work(t, z, y) for every row of the box, in C order.
template <class Work>
void for_each_row(const Box& box, Work work) {
  for (std::size_t t = box.low[0]; t < box.high[0]; ++t) {
    for (std::size_t z = box.low[1]; z < box.high[1]; ++z) {
      for (std::size_t y = box.low[2]; y < box.high[2]; ++y) work(t, z, y);
    }
  }
}

struct TileGrid {
  Extents shape;
  Extents tile;

  std::size_t along(std::size_t axis) const { return (shape[axis] + tile[axis] - 1) / tile[axis]; }
  std::size_t count() const { return along(0) * along(1) * along(2) * along(3); }
  Box box(std::size_t number) const {
    Box box;
    for (std::size_t axis = kAxes; axis-- > 0;) {
      box.low[axis] = number % along(axis) * tile[axis];
      box.high[axis] = std::min(shape[axis], box.low[axis] + tile[axis]);
      number /= along(axis);
    }
    return box;
  }
};

// A range of the tiles of a grid. Processing one range at a time allows progress to be reported in between.
struct TileRange {
  std::size_t first;
  std::size_t last;
};

// Calls work(worker, box, number) for every tile of the range. Each thread copies `worker` and reuses the
// memory of its copy for all of its tiles. Returns the copies, for the sums that they hold.
template <class Worker, class Work>
std::vector<Worker> for_each_numbered_tile(const TileGrid& grid, TileRange range, std::size_t threads,
                                           const Worker& fresh, Work work) {
  const std::size_t tiles = range.last - range.first;
  std::vector<Worker> workers(std::max<std::size_t>(1, std::min(threads, tiles)), fresh);
  std::atomic<std::size_t> next{range.first};
  for_each_slab(make_slabs(workers.size(), workers.size(), 1), [&](std::size_t k, Slab) {
    for (std::size_t tile = next++; tile < range.last; tile = next++) {
      checkpoint();
      work(workers[k], grid.box(tile), tile);
    }
  });
  return workers;
}

// The same for work(worker, box).
template <class Worker, class Work>
std::vector<Worker> for_each_tile(const TileGrid& grid, TileRange range, std::size_t threads,
                                  const Worker& fresh, Work work) {
  return for_each_numbered_tile(grid, range, threads, fresh,
                                [&](Worker& worker, const Box& box, std::size_t) { work(worker, box); });
}

}  // namespace consensus
