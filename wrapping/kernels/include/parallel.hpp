// Runs one function over contiguous slabs of a volume, one thread per slab, until it is done or
// somebody wants it to end.
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

// Throws if the work is to end, because of Ctrl-C, an Abort or an error in another slab. Loops call it
// every few milliseconds: on the thread that called the kernel it asks Python some ten times a second,
// on the others it looks at what came of that.
void checkpoint();

// Raises in Python what ends the work, if anything does; see stopping.cpp.
void ask_python();

// Voxels of a piece: some microseconds of work, or some milliseconds where raters are thousands.
constexpr std::size_t kPiece = std::size_t{1} << 14;

// Calls work(piece) for the pieces of a slab in their order, with a checkpoint before each.
template <class Work>
void in_pieces(Slab slab, std::size_t size, Work work) {
  for (std::size_t begin = slab.begin; begin < slab.end; begin += size) {
    checkpoint();
    work(Slab{begin, std::min(slab.end, begin + size)});
  }
}

// Calls work(piece) for everything from 0 to the extent, several threads at a time.
template <class Work>
void for_each_piece(std::size_t extent, std::size_t threads, Work work) {
  for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) { in_pieces(slab, kPiece, work); });
}

}  // namespace consensus
