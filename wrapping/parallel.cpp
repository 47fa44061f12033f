#include "parallel.hpp"

#include <exception>
#include <thread>

namespace consensus {

void run_slabs(const std::vector<Slab>& slabs, SlabWork work) {
  std::vector<std::exception_ptr> errors(slabs.size());
  auto guarded = [&](std::size_t k) noexcept {
    try {
      work.call(work.work, k, slabs[k]);
    } catch (...) {
      errors[k] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  std::size_t started = 1;
  try {
    for (; started < slabs.size(); ++started) threads.emplace_back(guarded, started);
  } catch (...) {
    // The system gave no more threads: the caller's thread does what is left.
  }
  guarded(0);
  for (std::size_t k = started; k < slabs.size(); ++k) guarded(k);
  for (auto& thread : threads) thread.join();
  for (auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace consensus
