// Encodes voxels if every possible pattern can have its own code: its digits, read as a number in
// base `radix`.
//
// Preconditions (checked in Python): radix^raters (+ 1 with a mask) codes fit `Code`; `counts` has
// one entry per code, initially 0; there are no strata. The code after the last pattern means
// "outside the mask".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runs.hpp"

namespace consensus {

template <class Code>
Code direct_key(const Stack& stack, std::size_t at) {
  std::uint32_t key = 0;
  for (const Votes* rater : stack.raters) key = key * stack.radix + rater->digit(at);
  return static_cast<Code>(key);
}

template <class Code>
void encode_direct(const Stack& stack, std::size_t begin, std::size_t end, Code outside, Code* codes,
                   std::int64_t* counts) {
  for_each_run(
      stack, begin, end,
      [&](std::size_t at, std::size_t n) {
        const Code code = stack.inside(at) ? direct_key<Code>(stack, at) : outside;
        std::fill_n(codes + at, n, code);
        counts[code] += static_cast<std::int64_t>(n);
      },
      [&](std::size_t at, std::size_t n) {
        std::array<Code, kShortRun> keys{};
        for (const Votes* rater : stack.raters) rater->append(at, n, stack.radix, keys.data());
        for (std::size_t k = 0; k < n; ++k) {
          const Code code = stack.inside(at + k) ? keys[k] : outside;
          codes[at + k] = code;
          ++counts[code];
        }
      });
}

}  // namespace consensus
