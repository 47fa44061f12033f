// Encodes voxels with a hash table if there are too many possible patterns to give each its own
// code.
//
// Raters are grouped so that the digits of a group fit 32 bits. A pattern is a row of such words,
// one per group, preceded by its stratum if there are strata; the table numbers the rows in the
// order in which they are found. This is exact for any number of raters and patterns.
//
// Preconditions (checked in Python): every digit is below the radix; a slab has at most 2^32 - 2
// voxels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "pattern_table.hpp"
#include "runs.hpp"

namespace consensus {

template <class Code>
class HashedEncoder {
 public:
  explicit HashedEncoder(const Stack& stack)
      : stack_(stack), groups_(make_groups(stack)), table_(groups_.size() + (stack.strata ? 1 : 0)),
        rows_(kShortRun * table_.words()) {}

  // Returns false as soon as the number of patterns exceeds the number of codes; the caller then
  // starts again with a wider Code.
  bool encode(std::size_t begin, std::size_t end, Code* codes) {
    for_each_run(
        stack_, begin, end,
        [&](std::size_t at, std::size_t n) {
          if (overflow_) return;
          const bool inside = stack_.inside(at);
          const Code code = inside ? code_at(at) : Code{0};
          if (overflow_) return;  // the last pattern got no code, so it is not counted
          std::fill_n(codes + at, n, code);
          if (inside) counts_[code - first_code()] += static_cast<std::uint32_t>(n);
        },
        [&](std::size_t at, std::size_t n) {
          if (!overflow_) encode_voxels(at, n, codes);
        });
    return !overflow_;
  }

  // With a mask, code 0 means "outside" and patterns start at 1.
  std::size_t first_code() const { return stack_.mask ? 1 : 0; }
  std::size_t size() const { return counts_.size(); }
  std::int64_t count(std::size_t pattern) const { return counts_[pattern]; }

  // Writes the pattern's digits; returns its stratum.
  template <class Digit>
  std::uint32_t decode(std::size_t pattern, Digit* digits) const {
    const std::uint32_t* word = table_.row(pattern);
    const std::uint32_t stratum = stack_.strata ? *word++ : 0;
    for (const Group& group : groups_) {
      std::uint32_t rest = *word++;
      for (std::size_t k = group.size(); k-- > 0; rest /= stack_.radix) {
        digits[k] = static_cast<Digit>(rest % stack_.radix);
      }
      digits += group.size();
    }
    return stratum;
  }

 private:
  using Group = std::vector<const Votes*>;

  static std::vector<Group> make_groups(const Stack& stack) {
    std::vector<Group> groups;
    std::uint64_t patterns = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    for (const Votes* rater : stack.raters) {
      if (groups.empty() || patterns > kMost / stack.radix) {
        groups.emplace_back();
        patterns = 1;
      }
      groups.back().push_back(rater);
      patterns *= stack.radix;
    }
    return groups;
  }

  Code code_of(std::uint32_t index) {
    const std::size_t code = index + first_code();
    if (code > std::numeric_limits<Code>::max()) {
      overflow_ = true;
      return 0;
    }
    if (index == counts_.size()) counts_.push_back(0);
    return static_cast<Code>(code);
  }

  Code code_at(std::size_t at) {
    std::uint32_t* word = rows_.data();
    if (stack_.strata) *word++ = stack_.strata[at];
    for (const Group& group : groups_) {
      std::uint32_t digits = 0;
      for (const Votes* rater : group) digits = digits * stack_.radix + rater->digit(at);
      *word++ = digits;
    }
    return code_of(table_.index_of(rows_.data()));
  }

  // Voxels outside the mask are skipped, so patterns that occur only there get no code.
  void encode_voxels(std::size_t at, std::size_t n, Code* codes) {
    read_rows(at, n);
    const std::size_t words = table_.words();
    const std::uint32_t* previous = nullptr;
    Code code = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (!stack_.inside(at + k)) {
        codes[at + k] = 0;
        continue;
      }
      const std::uint32_t* row = rows_.data() + k * words;
      if (!previous || !std::equal(row, row + words, previous)) code = code_of(table_.index_of(row));
      if (overflow_) return;
      previous = row;
      codes[at + k] = code;
      ++counts_[code - first_code()];
    }
  }

  void read_rows(std::size_t at, std::size_t n) {
    const std::size_t words = table_.words();
    std::size_t word = 0;
    if (stack_.strata) {
      for (std::size_t k = 0; k < n; ++k) rows_[k * words] = stack_.strata[at + k];
      ++word;
    }
    for (const Group& group : groups_) {
      std::array<std::uint32_t, kShortRun> digits{};
      for (const Votes* rater : group) rater->append(at, n, stack_.radix, digits.data());
      for (std::size_t k = 0; k < n; ++k) rows_[k * words + word] = digits[k];
      ++word;
    }
  }

  const Stack& stack_;
  std::vector<Group> groups_;
  PatternTable table_;
  std::vector<std::uint32_t> rows_;    // [voxel of a short run][word]
  std::vector<std::uint32_t> counts_;  // [pattern]; cannot overflow, since a slab has fewer than 2^32 voxels
  bool overflow_ = false;
};

}  // namespace consensus
