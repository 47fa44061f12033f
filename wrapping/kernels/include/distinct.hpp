// Finds the distinct values of an array in one pass that skips constant runs.
//
// Blocks that equal those of a reference array are skipped after one wide comparison; most voxels in a
// stack of raters are equal. The reference must be scanned too.
//
// Precondition (checked in Python): data and, if there is one, the reference are contiguous and aligned
// and hold the whole extent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "runs.hpp"
#include "simd.hpp"

namespace consensus {

template <class Index>
CONSENSUS_INLINE bool only_two_of(const Index* data, std::size_t n, Index one, Index other) {
  Index odd = 0;
  for (std::size_t k = 0; k < n; ++k) odd = static_cast<Index>(odd | ((data[k] != one) & (data[k] != other)));
  return odd == 0;
}

CONSENSUS_WIDE static inline bool only_two(const std::uint8_t* data, std::size_t n, std::uint8_t one,
                                           std::uint8_t other) {
  return only_two_of(data, n, one, other);
}

CONSENSUS_WIDE static inline bool only_two(const std::uint16_t* data, std::size_t n, std::uint16_t one,
                                           std::uint16_t other) {
  return only_two_of(data, n, one, other);
}

template <class T>
class DistinctValues {
 public:
  // Returns false as soon as more than `limit` values are found: the array is then not a label
  // image.
  bool scan(const T* data, const T* reference, std::size_t begin, std::size_t end,
            std::size_t limit) {
    struct Source {
      const T* data;
      const T* reference;
      bool known(std::size_t at, std::size_t n) const {
        return reference && std::memcmp(data + at, reference + at, n * sizeof(T)) == 0;
      }
      bool constant(std::size_t at, std::size_t n) const {
        return known(at, n) || is_constant(data + at, n);
      }
    } source{data, reference};
    bool fits = true;
    for (std::size_t long_run = begin; long_run < end; long_run += kLongRun) {
      const std::size_t stop = std::min(long_run + kLongRun, end);
      if (holds_nothing_new(data + long_run, stop - long_run)) continue;
      for_each_run(
          source, long_run, stop, [&](std::size_t at, std::size_t) { add(data[at]); },
          [&](std::size_t at, std::size_t n) {
            if (!fits) return;
            if (kNarrow && !could_be_a_mask()) {
              add_unknown(data, reference, at, at + n, [&](T value) { mark(value); });
            } else {
              add_unknown(data, reference, at, at + n, [&](T value) { add(value); });
            }
            fits = kNarrow || wide_.size() <= limit;
          });
    }
    return fits;
  }

  std::vector<T> values() const {
    std::vector<T> found(wide_.begin(), wide_.end());
    for (std::size_t i = 0; i < narrow_.size(); ++i) {
      if (narrow_[i]) found.push_back(static_cast<T>(static_cast<Index>(i)));
    }
    return found;
  }

 private:
  static constexpr bool kNarrow = std::is_integral_v<T> && sizeof(T) <= 2;
  using Index = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;

  bool could_be_a_mask() const { return number_ <= pair_.size(); }

  // Returns whether a run contains only the one or two values found so far. A fast path for masks, whose
  // cost does not depend on noise.
  bool holds_nothing_new(const T* data, std::size_t n) const {
    if constexpr (kNarrow) {
      return number_ > 0 && could_be_a_mask() &&
             only_two(reinterpret_cast<const Index*>(data), n, pair_[0], pair_[number_ - 1]);
    }
    return false;
  }

  // Calls `add` for the values of begin .. end - 1, skipping words that equal those of the
  // reference.
  template <class Add>
  void add_unknown(const T* data, const T* reference, std::size_t begin, std::size_t end,
                   const Add& add) {
    constexpr std::size_t kWord = sizeof(std::uint64_t) / sizeof(T);
    std::size_t at = begin;
    for (; reference && at + kWord <= end; at += kWord) {
      std::uint64_t own, other;
      std::memcpy(&own, data + at, sizeof(own));
      std::memcpy(&other, reference + at, sizeof(other));
      if (own == other) continue;
      for (std::size_t k = at; k < at + kWord; ++k) add(data[k]);
    }
    for (; at < end; ++at) add(data[at]);
  }

  // Marks a value of one or two bytes, without a branch; marks are counted later.
  void mark(T value) {
    if constexpr (kNarrow) narrow_[static_cast<Index>(value)] = 1;
  }

  void add(T value) {
    if constexpr (kNarrow) {
      auto& known = narrow_[static_cast<Index>(value)];
      if (known) return;
      known = 1;
      if (number_ < pair_.size()) pair_[number_] = static_cast<Index>(value);
      ++number_;
    } else {
      // Bytes are compared, since NaN differs from itself and would be added once per voxel.
      if (started_ && std::memcmp(&value, &last_, sizeof(T)) == 0) return;
      if (value != value) {
        if (has_nan_) return;
        has_nan_ = true;
      }
      wide_.insert(value);
      last_ = value;
      started_ = true;
    }
  }

  std::vector<std::uint8_t> narrow_ =
      std::vector<std::uint8_t>(kNarrow ? std::size_t{1} << (8 * sizeof(Index)) : 0, 0);
  std::array<Index, 2> pair_{};  // the first two values of one or two bytes
  std::size_t number_ = 0;  // number of such values found, at most 3
  std::unordered_set<T> wide_;
  T last_{};
  bool started_ = false;
  bool has_nan_ = false;
};

}  // namespace consensus
