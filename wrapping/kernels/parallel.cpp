#include "parallel.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace consensus {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// A call of run_slabs, and the enclosing call, if any.
struct Run {
  const Run* around;
  std::atomic<bool> ended{false};

  bool wanted() const { return !ended.load(std::memory_order_relaxed) && (!around || around->wanted()); }
};

// Thrown in a slab that is abandoned because another slab failed.
struct GivenUp {};

// The run for which the current thread works, and whether the thread was created by run_slabs.
thread_local const Run* working_for = nullptr;
thread_local bool was_made = false;
thread_local Clock::time_point next_look{};

// Sets these variables for the lifetime of the object.
class AtWork {
 public:
  AtWork(const Run& run, bool made) : run_(working_for), made_(was_made) {
    working_for = &run;
    was_made = was_made || made;
  }
  ~AtWork() {
    working_for = run_;
    was_made = made_;
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  const Run* run_;
  bool made_;
};

// The number of threads that are still running.
class Countdown {
 public:
  explicit Countdown(std::size_t left) : left_(left) {}

  void done() {
    const std::lock_guard<std::mutex> alone(mutex_);
    if (--left_ == 0) none_left_.notify_one();
  }
  bool wait() {
    std::unique_lock<std::mutex> alone(mutex_);
    return none_left_.wait_for(alone, kBetweenLooks, [&] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t left_;
};

}  // namespace

void checkpoint() {
  if (working_for && !working_for->wanted()) throw GivenUp();
  if (was_made) return;
  const auto now = Clock::now();
  if (now < next_look) return;
  next_look = now + kBetweenLooks;
  ask_python();
}

void run_slabs(const std::vector<Slab>& slabs, SlabWork work) {
  Run run{working_for};
  std::mutex mutex;
  std::exception_ptr error;  // the first error that was not caused by another one
  auto guarded = [&](auto&& action) noexcept {
    try {
      action();
    } catch (const GivenUp&) {
      run.ended = true;
    } catch (...) {
      const std::lock_guard<std::mutex> alone(mutex);
      if (!error) error = std::current_exception();
      run.ended = true;
    }
  };
  auto do_slab = [&](std::size_t k, bool made) noexcept {
    const AtWork at_work(run, made);
    guarded([&] { work.call(work.work, k, slabs[k]); });
  };
  std::vector<std::thread> threads;
  Countdown countdown(slabs.size() - 1);
  std::size_t started = 1;
  try {
    for (; started < slabs.size(); ++started) {
      threads.emplace_back([&, k = started]() noexcept {
        do_slab(k, true);
        countdown.done();
      });
    }
  } catch (...) {
    // No more threads could be created, so the calling thread processes the remaining slabs.
  }
  do_slab(0, false);
  for (std::size_t k = started; k < slabs.size(); ++k) {
    do_slab(k, false);
    countdown.done();
  }
  if (!threads.empty()) {
    while (!countdown.wait()) {
      if (run.wanted()) guarded(checkpoint);
    }
  }
  for (auto& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  if (run.ended) throw GivenUp();  // the enclosing run has ended
}

}  // namespace consensus
