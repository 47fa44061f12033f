// Counts, for each label, the voxels inside the mask to which a rater gave it.
//
// Preconditions (checked in Python): the rater and the mask hold the range; digits are at most `labels`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "votes.hpp"

namespace consensus {

// For one-byte labels without a mask: counts bytes, and converts them to digits at the end.
inline void count_bytes(const Votes& rater, std::size_t begin, std::size_t end, std::int64_t* counts) {
  constexpr std::size_t kRun = 256, kBytes = 256;
  const auto* data = static_cast<const std::uint8_t*>(rater.symbols());
  // two tables, so that increments for equal neighbours are independent
  std::array<std::array<std::int64_t, kBytes>, 2> of{};
  for (std::size_t at = begin; at < end; at += kRun) {
    const std::size_t n = std::min(kRun, end - at);
    if (is_constant(data + at, n)) {
      of[0][data[at]] += static_cast<std::int64_t>(n);
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) ++of[i % 2][data[at + i]];
  }
  const auto digits = rater.symbol_table();
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    const std::int64_t number = of[0][byte] + of[1][byte];
    if (number > 0) counts[digits[byte]] += number;
  }
}

// counts[d] += the number of voxels of begin .. end - 1 inside the mask with digit d, for d <= labels.
inline void count_votes(const Votes& rater, const Votes* mask, std::size_t begin, std::size_t end,
                        std::int64_t* counts) {
  if (!mask && rater.symbol_width() == 1) return count_bytes(rater, begin, end, counts);
  constexpr std::size_t kRun = 256;
  std::array<std::uint16_t, kRun> digits{};
  std::array<std::uint8_t, kRun> inside{};
  for (std::size_t at = begin; at < end; at += kRun) {
    const std::size_t n = std::min(kRun, end - at);
    const bool masked = mask && !(mask->constant(at, n) && mask->digit(at));
    if (!masked && rater.constant(at, n)) {
      counts[rater.digit(at)] += static_cast<std::int64_t>(n);
      continue;
    }
    rater.read(at, n, digits.data());
    if (masked) mask->append(at, n, 0, inside.data());
    for (std::size_t i = 0; i < n; ++i) counts[digits[i]] += !masked || inside[i];
  }
}

}  // namespace consensus
