// Encoding when the possible patterns are too many to give each its own code.
//
// Raters are taken in groups whose digits fill at most 32 bits. A chain of tables turns
// (index so far, digits of the next group) into the next index, so any number of raters and of
// patterns is exact. The stratum, where there is one, is the first link of the chain.
//
// Preconditions (checked in Python): every digit is below the radix; at most 2^32 - 2 voxels a slab.
#pragma once

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
  explicit HashedEncoder(const Stack& stack) : stack_(stack), groups_(make_groups(stack)) {
    tables_.resize(groups_.size() + (stack.strata ? 1 : 0));
  }

  // False as soon as the patterns outnumber the codes; the caller starts again with a wider Code.
  bool encode(std::size_t begin, std::size_t end, Code* codes) {
    for_each_run(
        stack_, begin, end,
        [&](std::size_t at, std::size_t n) {
          if (overflow_) return;
          const bool inside = stack_.inside(at);
          const Code code = inside ? code_at(at) : Code{0};
          if (overflow_) return;  // the last pattern found no code: there is nothing to count it under
          std::fill_n(codes + at, n, code);
          if (inside) counts_[code - first_code()] += static_cast<std::int64_t>(n);
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

  // Walks the chain of tables back to the pattern's digits and stratum.
  template <class Digit>
  std::uint32_t decode(std::size_t pattern, Digit* digits) const {
    std::uint64_t index = pattern;
    std::size_t rater = stack_.raters.size();
    for (std::size_t g = groups_.size(); g-- > 0;) {
      const std::uint64_t key = tables_[g + (stack_.strata ? 1 : 0)].key(index);
      auto rest = static_cast<std::uint32_t>(key);
      for (std::size_t k = 0; k < groups_[g].size(); ++k) {
        digits[--rater] = static_cast<Digit>(rest % stack_.radix);
        rest /= stack_.radix;
      }
      index = key >> 32;
    }
    return stack_.strata ? static_cast<std::uint32_t>(tables_[0].key(index)) : 0;
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
    std::size_t link = 0;
    std::uint64_t index = 0;
    if (stack_.strata) index = tables_[link++].index_of(stack_.strata[at]);
    for (const Group& group : groups_) {
      std::uint32_t digits = 0;
      for (const Votes* rater : group) digits = digits * stack_.radix + rater->digit(at);
      index = tables_[link++].index_of(index << 32 | digits);
    }
    return code_of(static_cast<std::uint32_t>(index));
  }

  void encode_voxels(std::size_t at, std::size_t n, Code* codes) {
    std::array<std::uint32_t, kShortRun> indices{};
    std::size_t link = 0;
    if (stack_.strata) {
      for (std::size_t k = 0; k < n; ++k) indices[k] = tables_[0].index_of(stack_.strata[at + k]);
      ++link;
    }
    for (const Group& group : groups_) {
      std::array<std::uint32_t, kShortRun> digits{};
      for (const Votes* rater : group) rater->append(at, n, stack_.radix, digits.data());
      chain(tables_[link++], at, n, digits.data(), indices.data());
    }
    for (std::size_t k = 0; k < n && !overflow_; ++k) {
      if (!stack_.inside(at + k)) {
        codes[at + k] = 0;
        continue;
      }
      codes[at + k] = code_of(indices[k]);
      if (!overflow_) ++counts_[indices[k]];
    }
  }

  // Outside voxels are left out of the tables, so that a pattern seen only there does not exist.
  void chain(PatternTable& table, std::size_t at, std::size_t n, const std::uint32_t* digits,
             std::uint32_t* indices) {
    std::uint64_t previous = 0;
    std::uint32_t answer = 0;
    bool known = false;
    for (std::size_t k = 0; k < n; ++k) {
      if (!stack_.inside(at + k)) continue;
      const std::uint64_t key = std::uint64_t{indices[k]} << 32 | digits[k];
      if (!known || key != previous) {
        answer = table.index_of(key);
        previous = key;
        known = true;
      }
      indices[k] = answer;
    }
  }

  const Stack& stack_;
  std::vector<Group> groups_;
  std::vector<PatternTable> tables_;
  std::vector<std::int64_t> counts_;
  bool overflow_ = false;
};

}  // namespace consensus
