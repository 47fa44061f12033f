// Reads the votes of one rater, label values of any arithmetic type, as digits 0 .. radix - 1.
//
// Preconditions (checked in Python): `data` and `mask` are contiguous and aligned and hold the whole
// extent; `values` and `digits` have the same length; every digit is below the radix passed later.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "votes.hpp"

namespace consensus {

// digit(x) = digits[i] if x == values[i] for some i, else `other`; `missing` where the mask is 0.
template <class T>
class VotesOf final : public Votes {
 public:
  VotesOf(const T* data, const std::uint8_t* mask, std::vector<T> values,
          std::vector<std::uint16_t> digits, std::uint16_t other, std::uint16_t missing)
      : data_(data), mask_(mask), values_(std::move(values)), digits_(std::move(digits)),
        other_(other), missing_(missing) {
    sort_by_value();
    if (values_.size() > kFew && kNarrow) build_table();
  }

  bool constant(std::size_t begin, std::size_t n) const override {
    return is_constant(data_ + begin, n) && (!mask_ || is_constant(mask_ + begin, n));
  }

  std::uint32_t digit(std::size_t at) const override {
    return mask_ && !mask_[at] ? missing_ : look_up(data_[at]);
  }

  void read(std::size_t begin, std::size_t n, std::uint16_t* digits) const override {
    const T* data = data_ + begin;
    if (values_.size() <= kFew) {
      read_few(data, n, digits);
    } else {
      for (std::size_t k = 0; k < n; ++k) {
        digits[k] = k > 0 && data[k] == data[k - 1] ? digits[k - 1] : look_up(data[k]);
      }
    }
    if (mask_) {
      for (std::size_t k = 0; k < n; ++k) digits[k] = mask_[begin + k] ? digits[k] : missing_;
    }
  }

  std::size_t symbol_width() const override { return kNarrow && !mask_ ? sizeof(T) : 0; }
  const void* symbols() const override { return data_; }

  std::vector<std::uint16_t> symbol_table() const override {
    std::vector<std::uint16_t> table;
    if constexpr (kNarrow) {
      table.resize(std::size_t{1} << (8 * sizeof(T)));
      for (std::size_t i = 0; i < table.size(); ++i) {
        table[i] = look_up(static_cast<T>(static_cast<std::make_unsigned_t<T>>(i)));
      }
    }
    return table;
  }

  void append(std::size_t b, std::size_t n, std::uint32_t r, std::uint8_t* k) const override { append_to(b, n, r, k); }
  void append(std::size_t b, std::size_t n, std::uint32_t r, std::uint16_t* k) const override { append_to(b, n, r, k); }
  void append(std::size_t b, std::size_t n, std::uint32_t r, std::uint32_t* k) const override { append_to(b, n, r, k); }

 private:
  static constexpr std::size_t kFew = 4;  // for at most this many values, a chain of vectorised comparisons is fastest
  static constexpr std::size_t kChunk = 64;
  static constexpr bool kNarrow = std::is_integral_v<T> && sizeof(T) <= 2;

  void sort_by_value() {
    std::vector<std::size_t> order(values_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values_[a] < values_[b]; });
    std::vector<T> values;
    std::vector<std::uint16_t> digits;
    for (std::size_t i : order) {
      values.push_back(values_[i]);
      digits.push_back(digits_[i]);
    }
    values_.swap(values);
    digits_.swap(digits);
  }

  void build_table() {
    if constexpr (kNarrow) {
      table_.assign(std::size_t{1} << (8 * sizeof(T)), other_);
      for (std::size_t i = 0; i < values_.size(); ++i) {
        table_[static_cast<std::make_unsigned_t<T>>(values_[i])] = digits_[i];
      }
    }
  }

  std::uint16_t look_up(T x) const {
    if constexpr (kNarrow) {
      if (!table_.empty()) return table_[static_cast<std::make_unsigned_t<T>>(x)];
    }
    const auto found = std::lower_bound(values_.begin(), values_.end(), x);
    if (found == values_.end() || *found != x) return other_;
    return digits_[static_cast<std::size_t>(found - values_.begin())];
  }

  void read_few(const T* data, std::size_t n, std::uint16_t* digits) const {
    // Comparisons at the width of T keep all vector lanes in use; an index below 255 fits a lane.
    std::fill_n(digits, n, other_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const T value = values_[i];
      const std::uint16_t digit = digits_[i];
      for (std::size_t k = 0; k < n; ++k) digits[k] = data[k] == value ? digit : digits[k];
    }
  }

  template <class Key>
  void append_to(std::size_t begin, std::size_t n, std::uint32_t radix, Key* keys) const {
    if (values_.size() == 1 && !mask_ && radix == 2 && other_ == 0 && digits_[0] == 1) {
      // The most common case, foreground or background, is computed at the width of the keys.
      const T value = values_[0];
      const T* data = data_ + begin;
      for (std::size_t k = 0; k < n; ++k) {
        keys[k] = static_cast<Key>(keys[k] + keys[k] + (data[k] == value));
      }
      return;
    }
    std::array<std::uint16_t, kChunk> digits;
    for (std::size_t at = 0; at < n; at += kChunk) {
      const std::size_t m = std::min(kChunk, n - at);
      read(begin + at, m, digits.data());
      for (std::size_t k = 0; k < m; ++k) {
        keys[at + k] = static_cast<Key>(keys[at + k] * radix + digits[k]);
      }
    }
  }

  const T* data_;
  const std::uint8_t* mask_;
  std::vector<T> values_;
  std::vector<std::uint16_t> digits_;
  std::uint16_t other_;
  std::uint16_t missing_;
  std::vector<std::uint16_t> table_;
};

}  // namespace consensus
