// Finds the symbol that more than half of the raters gave, for kShortRun voxels at once (Boyer &
// Moore, MJRTY, 1981): the candidate that remains when unequal votes cancel in pairs, and its
// number of votes.
//
// Preconditions: every row holds kShortRun symbols; the symbol type can represent the number of
// raters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runs.hpp"
#include "simd.hpp"

namespace consensus {

template <class Symbol>
struct Majority {
  std::array<Symbol, kShortRun> candidate;
  std::array<Symbol, kShortRun> votes;
};

#if defined(__GNUC__)
// Written with vector types: compilers do not vectorise loops over arrays here (30 times slower).
constexpr std::size_t kRegister = 32;

template <class Symbol>
using Lanes [[gnu::vector_size(kRegister)]] = Symbol;

template <class Symbol>
CONSENSUS_INLINE void find_majority_of(const Symbol* const* rows, std::size_t raters, Majority<Symbol>& found) {
  using Register = Lanes<Symbol>;
  for (std::size_t at = 0; at < kShortRun; at += kRegister / sizeof(Symbol)) {
    Register row, candidate{}, lead{}, votes{};
    for (std::size_t j = 0; j < raters; ++j) {
      std::memcpy(&row, rows[j] + at, kRegister);
      // A vector comparison yields -1 where it is true.
      const auto fresh = reinterpret_cast<Register>(lead == 0);
      candidate = (row & fresh) | (candidate & ~fresh);
      const auto same = reinterpret_cast<Register>(candidate == row);
      lead = lead - 1 - same - same;
    }
    for (std::size_t j = 0; j < raters; ++j) {
      std::memcpy(&row, rows[j] + at, kRegister);
      votes -= reinterpret_cast<Register>(candidate == row);
    }
    std::memcpy(found.candidate.data() + at, &candidate, kRegister);
    std::memcpy(found.votes.data() + at, &votes, kRegister);
  }
}
#else
template <class Symbol>
void find_majority_of(const Symbol* const* rows, std::size_t raters, Majority<Symbol>& found) {
  for (std::size_t k = 0; k < kShortRun; ++k) {
    std::size_t lead = 0, votes = 0;
    Symbol candidate = 0;
    for (std::size_t j = 0; j < raters; ++j) {
      if (lead == 0) candidate = rows[j][k];
      lead = candidate == rows[j][k] ? lead + 1 : lead - 1;
    }
    for (std::size_t j = 0; j < raters; ++j) votes += candidate == rows[j][k];
    found.candidate[k] = candidate;
    found.votes[k] = static_cast<Symbol>(votes);
  }
}
#endif

CONSENSUS_WIDE static inline void find_majority(const std::uint8_t* const* rows, std::size_t raters,
                                                Majority<std::uint8_t>& found) {
  find_majority_of(rows, raters, found);
}

CONSENSUS_WIDE static inline void find_majority(const std::uint16_t* const* rows, std::size_t raters,
                                                Majority<std::uint16_t>& found) {
  find_majority_of(rows, raters, found);
}

}  // namespace consensus
