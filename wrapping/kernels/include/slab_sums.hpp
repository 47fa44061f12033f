// Sums over slabs, with results that do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace consensus {

// Divides a table into slabs, depending only on its size: few slabs, so that their sums take
// little memory, but enough to occupy the threads.
inline std::vector<Slab> fixed_slabs(std::size_t patterns, std::size_t bytes_of_sums) {
  constexpr std::size_t kSmallest = 2048;
  constexpr std::size_t kMostSlabs = 8;
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  const std::size_t affordable = std::max<std::size_t>(2, kMostBytes / std::max<std::size_t>(1, bytes_of_sums));
  return make_slabs(patterns, std::min(kMostSlabs, affordable), kSmallest);
}

// Calls work(k, slab) for every slab, on at most `threads` threads. Slabs are started in order.
template <class Work>
void share_slabs(const std::vector<Slab>& slabs, std::size_t threads, Work work) {
  std::atomic<std::size_t> next{0};
  for_each_slab(make_slabs(slabs.size(), threads, 1), [&](std::size_t, Slab) {
    for (std::size_t k; (k = next.fetch_add(1)) < slabs.size();) {
      checkpoint();
      work(k, slabs[k]);
    }
  });
}

// Adds the sums of slabs in the order of slabs, regardless of which is finished first. A sum is
// stored until all earlier ones have been added, so about one per thread exists at a time.
template <class Sums>
class SumsInOrder {
 public:
  SumsInOrder(Sums& total, std::size_t slabs) : total_(total), waiting_(slabs) {}

  void add(std::size_t slab, Sums sums) {
    const std::lock_guard<std::mutex> alone(mutex_);
    waiting_[slab] = std::move(sums);
    for (; next_ < waiting_.size() && waiting_[next_]; ++next_) {
      total_.add(*waiting_[next_]);
      waiting_[next_].reset();
    }
  }

 private:
  Sums& total_;
  std::vector<std::optional<Sums>> waiting_;
  std::size_t next_ = 0;
  std::mutex mutex_;
};

}  // namespace consensus
