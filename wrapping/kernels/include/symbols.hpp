// Compares votes as the integers in which they are stored ("symbols"), without conversion to digits.
//
// Precondition: arrays contain the requested indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "votes.hpp"

namespace consensus {

// The set of symbols used by all raters, with the digit of each symbol.
struct Alphabet {
  std::size_t width = 0;  // bytes of a symbol; 0: raters do not have a common alphabet
  std::vector<std::uint16_t> digits;

  static Alphabet of(const std::vector<const Votes*>& raters) {
    Alphabet shared{raters[0]->symbol_width(), {}};
    if (shared.width == 0) return shared;
    shared.digits = raters[0]->symbol_table();
    for (const Votes* rater : raters) {
      if (rater->symbol_width() != shared.width || rater->symbol_table() != shared.digits) return {};
    }
    return shared;
  }
};

// Returns the first index >= `from` at which two arrays differ, or n if there is none.
template <class T>
std::size_t first_difference(const T* a, const T* b, std::size_t from, std::size_t n) {
  constexpr std::size_t kStep = sizeof(std::uint64_t) / sizeof(T);
  for (; from + kStep <= n; from += kStep) {
    std::uint64_t x, y;
    std::memcpy(&x, a + from, sizeof x);
    std::memcpy(&y, b + from, sizeof y);
    if (x != y) break;
  }
  while (from < n && a[from] == b[from]) ++from;
  return from;
}

// Returns the end of the run of equal values that begins at `from`. Precondition: from < n.
template <class T>
std::size_t run_end(const T* data, std::size_t from, std::size_t n) {
  return first_difference(data, data + 1, from, n - 1) + 1;
}

}  // namespace consensus
