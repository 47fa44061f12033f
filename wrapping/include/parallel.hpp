// Runs one function over contiguous slabs of a volume, one thread per slab.
//
// Threads are made and joined inside the call: there is no pool to be lost by fork(), and nothing
// outlives the call. Kernels combine per-slab integers exactly, so the number of slabs never shows
// in a result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace consensus {

struct Slab {
  std::size_t begin;
  std::size_t end;
};

// Below this many voxels a thread costs more than it saves.
constexpr std::size_t kSmallestSlab = std::size_t{1} << 16;

inline std::vector<Slab> make_slabs(std::size_t extent, std::size_t threads,
                                    std::size_t smallest = kSmallestSlab) {
  const std::size_t useful = std::max<std::size_t>(1, extent / smallest);
  const std::size_t count = std::max<std::size_t>(1, std::min(threads, useful));
  std::vector<Slab> slabs;
  for (std::size_t k = 0; k < count; ++k) {
    // Multiplying first would overflow only beyond 2^64 / threads voxels.
    slabs.push_back({extent * k / count, extent * (k + 1) / count});
  }
  return slabs;
}

// Any callable, seen through a pointer: threads are compiled once, in parallel.cpp.
struct SlabWork {
  void* work;
  void (*call)(void* work, std::size_t index, Slab slab);
};

void run_slabs(const std::vector<Slab>& slabs, SlabWork work);

// Calls work(slab_index, slab) for every slab; the first exception is rethrown after all joined.
template <class Work>
void for_each_slab(const std::vector<Slab>& slabs, Work work) {
  run_slabs(slabs, {&work, [](void* to, std::size_t k, Slab slab) { (*static_cast<Work*>(to))(k, slab); }});
}

}  // namespace consensus
