// Runs a function over contiguous slabs of a volume, one thread per slab; an abort stops all
// threads.
//
// Threads are created and joined within the call: there is no pool that fork() could break, and no
// state outlives the call. Concurrent calls are safe if they write to different memory. Kernels
// combine the results of slabs as integers, which is exact, so results do not depend on the number
// of slabs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace consensus {

struct Slab {
  std::size_t begin;
  std::size_t end;
};

// For fewer voxels than this, starting a thread costs more time than it saves.
constexpr std::size_t kSmallestSlab = std::size_t{1} << 16;

inline std::vector<Slab> make_slabs(std::size_t extent, std::size_t threads,
                                    std::size_t smallest = kSmallestSlab) {
  const std::size_t useful = std::max<std::size_t>(1, extent / smallest);
  const std::size_t count = std::max<std::size_t>(1, std::min(threads, useful));
  std::vector<Slab> slabs;
  for (std::size_t k = 0; k < count; ++k) {
    // Does not overflow for extents below 2^64 / count voxels.
    slabs.push_back({extent * k / count, extent * (k + 1) / count});
  }
  return slabs;
}

// A type-erased reference to a callable, so that threading is compiled once, in parallel.cpp.
struct SlabWork {
  void* work;
  void (*call)(void* work, std::size_t index, Slab slab);
};

void run_slabs(const std::vector<Slab>& slabs, SlabWork work);

// Calls work(slab_index, slab) for every slab; rethrows the first exception after all threads have joined.
template <class Work>
void for_each_slab(const std::vector<Slab>& slabs, Work work) {
  run_slabs(slabs, {&work, [](void* to, std::size_t k, Slab slab) { (*static_cast<Work*>(to))(k, slab); }});
}

// Throws if the work must stop because of Ctrl-C, Abort or an error in another slab. Loops must call it
// every few milliseconds. The thread that called the kernel polls Python about ten times a second; the
// others read a flag that it sets.
void checkpoint();

// Raises the Python exception that should stop the work, if there is one; see stopping.cpp.
void ask_python();

// Voxels in a piece; processing them takes microseconds, or milliseconds with thousands of raters.
constexpr std::size_t kPiece = std::size_t{1} << 14;

// Calls work(piece) for the pieces of a slab in order, with a checkpoint before each.
template <class Work>
void in_pieces(Slab slab, std::size_t size, Work work) {
  for (std::size_t begin = slab.begin; begin < slab.end; begin += size) {
    checkpoint();
    work(Slab{begin, std::min(slab.end, begin + size)});
  }
}

// Calls work(piece) for pieces that cover 0 .. extent - 1, on several threads.
template <class Work>
void for_each_piece(std::size_t extent, std::size_t threads, Work work) {
  for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) { in_pieces(slab, kPiece, work); });
}

}  // namespace consensus
