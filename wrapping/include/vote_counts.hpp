// How often each rater says each label inside the mask.
//
// Preconditions (checked in Python): raters and mask hold the range; digits are at most `labels`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "votes.hpp"

namespace consensus {

// counts[d] += voxels of begin .. end - 1 inside the mask with digit d, for d <= labels.
inline void count_votes(const Votes& rater, const Votes* mask, std::size_t begin, std::size_t end,
                        std::int64_t* counts) {
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
    rater.append(at, n, 0, digits.data());
    if (masked) mask->append(at, n, 0, inside.data());
    for (std::size_t i = 0; i < n; ++i) counts[digits[i]] += !masked || inside[i];
  }
}

}  // namespace consensus
