// Votes between two labels with equal weights: counts the votes for the second label at each voxel
// and looks up the result. Bytes are added in whole registers, so the speed does not depend on
// noise.
//
// Preconditions (checked in Python): rows have one value per voxel; there are at most 254 raters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "masks.hpp"
#include "simd.hpp"
#include "voting.hpp"

namespace consensus {

constexpr std::size_t kMostCounted = 254;

// The result as a function of the number of votes for the second label: answers[0] below `middle`,
// answers[2] from `high` on, answers[1] between them.
struct AnswersByCount {
  std::uint8_t middle = 0, high = 0;
  std::array<std::uint32_t, 3> answers{};

  static std::optional<AnswersByCount> of(const VoteRule& rule) {
    const std::size_t raters = rule.weights.size();
    const bool alike = std::all_of(rule.weights.begin(), rule.weights.end(), [](double w) { return w == 1; });
    if (!alike || raters > kMostCounted) return std::nullopt;
    VoteCounter counter(rule);
    std::vector<std::uint32_t> all;
    for (std::size_t count = 0; count <= raters; ++count) {
      all.push_back(counter.answer([&](std::size_t j) { return j < count ? 1u : 0u; }));
    }
    const auto first = std::find_if(all.begin(), all.end(), [&](std::uint32_t a) { return a != all.front(); });
    const auto last = std::find_if(all.rbegin(), all.rend(), [&](std::uint32_t a) { return a != all.back(); }).base();
    AnswersByCount found;
    found.middle = static_cast<std::uint8_t>(first - all.begin());
    found.high = static_cast<std::uint8_t>(std::max(first, last) - all.begin());
    found.answers = {all.front(), first < last ? *first : all.front(), all.back()};
    // Two steps suffice, since the result can change only at half of the votes and at the
    // threshold.
    for (std::size_t count = 0; count <= raters; ++count) {
      if (found.answer(count) != all[count]) return std::nullopt;
    }
    return found;
  }

  std::uint32_t answer(std::size_t count) const { return answers[count < middle ? 0 : count < high ? 1 : 2]; }

  template <class Value>
  std::array<Value, 3> chosen_from(const Value* values) const {
    return {values[answers[0]], values[answers[1]], values[answers[2]]};
  }
};

CONSENSUS_WIDE static inline void add_equal(const std::uint8_t* row, std::uint8_t label, std::size_t n,
                                            std::uint8_t* __restrict counts) {
  for (std::size_t k = 0; k < n; ++k) counts[k] = static_cast<std::uint8_t>(counts[k] + (row[k] == label));
}

template <class Value>
CONSENSUS_INLINE void choose_any(const std::uint8_t* counts, std::size_t n, std::uint8_t middle, std::uint8_t high,
                                 const std::array<Value, 3>& values, Value* __restrict out) {
  const Value low = values[0], between = values[1], top = values[2];
  for (std::size_t k = 0; k < n; ++k) out[k] = counts[k] < middle ? low : counts[k] < high ? between : top;
}

template <class Value>
void choose(const std::uint8_t* counts, std::size_t n, std::uint8_t middle, std::uint8_t high,
            const std::array<Value, 3>& values, Value* out) {
  choose_any(counts, n, middle, high, values, out);
}

CONSENSUS_WIDE static inline void choose(const std::uint8_t* counts, std::size_t n, std::uint8_t middle,
                                         std::uint8_t high, const std::array<std::uint8_t, 3>& values,
                                         std::uint8_t* out) {
  choose_any(counts, n, middle, high, values, out);
}

// Writes values[answer] for voxels begin .. end - 1. Rows hold one byte per voxel: `label` is the second
// label, every other value the first.
template <class Value>
void count_vote(const std::vector<const std::uint8_t*>& rows, std::uint8_t label, const AnswersByCount& found,
                const Value* values, std::size_t begin, std::size_t end, Value* out) {
  const std::array<Value, 3> chosen = found.chosen_from(values);
  std::array<std::uint8_t, kBlock> counts;
  for (std::size_t at = begin; at < end; at += kBlock) {
    const std::size_t n = std::min(kBlock, end - at);
    counts.fill(0);
    for (const std::uint8_t* row : rows) add_equal(row + at, label, n, counts.data());
    choose(counts.data(), n, found.middle, found.high, chosen, out + at);
  }
}

// The same for stretches begin .. end - 1 of packed masks (masks.hpp), where 1 denotes the second
// label.
inline void count_bits(const std::vector<const std::uint8_t*>& rows, const AnswersByCount& found,
                       const std::uint8_t* values, std::size_t voxels, std::size_t begin, std::size_t end,
                       std::uint8_t* out) {
  const std::array<std::uint8_t, 3> chosen = found.chosen_from(values);
  const auto write = [&](std::size_t from, std::size_t stretches, std::uint8_t* to) {
    std::array<const std::uint8_t*, kMostRows> at{};
    for (std::size_t j = 0; j < rows.size(); ++j) at[j] = rows[j] + from * kLane;
    choose_by_bits(at.data(), rows.size(), stretches, found.middle, found.high, chosen, to);
  };
  const std::size_t whole = std::clamp(voxels / kStretch, begin, end);
  write(begin, whole - begin, out + begin * kStretch);
  if (whole == end) return;
  std::array<std::uint8_t, kStretch> last;
  write(whole, 1, last.data());
  std::copy_n(last.data(), voxels - whole * kStretch, out + whole * kStretch);
}

}  // namespace consensus
