// A hash table that numbers distinct rows of words in the order of insertion; open addressing, and rows are
// compared in full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace consensus {

class PatternTable {
 public:
  explicit PatternTable(std::size_t words) : words_(words) {}

  std::uint32_t index_of(const std::uint32_t* wanted) {
    std::size_t slot = home(wanted);
    while (slots_[slot] != kFree) {
      if (std::equal(wanted, wanted + words_, row(slots_[slot]))) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return insert(wanted, slot);
  }

  const std::uint32_t* row(std::size_t index) const {
    return blocks_[index / kRowsOfBlock].data() + index % kRowsOfBlock * words_;
  }
  std::size_t words() const { return words_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFFu;
  static constexpr std::size_t kRowsOfBlock = 1 << 12;

  std::size_t home(const std::uint32_t* row) const {
    // Fibonacci hashing, word by word; folding makes every word affect the high bits.
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ull;
    std::uint64_t hash = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      hash = (hash ^ row[w]) * kGolden;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>((hash * kGolden) >> shift_);
  }

  std::uint32_t insert(const std::uint32_t* row, std::size_t slot) {
    const auto index = static_cast<std::uint32_t>(size_);
    // Rows are stored in blocks: growing a single array would copy it and need twice the memory.
    if (size_ % kRowsOfBlock == 0) {
      blocks_.emplace_back();
      blocks_.back().reserve(kRowsOfBlock * words_);
    }
    blocks_.back().insert(blocks_.back().end(), row, row + words_);
    ++size_;
    slots_[slot] = index;
    if (size_ * 2 > slots_.size()) grow();
    return index;
  }

  void grow() {
    --shift_;
    slots_.assign(slots_.size() * 2, kFree);
    for (std::size_t i = 0; i < size_; ++i) {
      std::size_t slot = home(row(i));
      while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(i);
    }
  }

  std::size_t words_;
  std::size_t size_ = 0;
  int shift_ = 64 - 10;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024, kFree);
  std::vector<std::vector<std::uint32_t>> blocks_;
};

}  // namespace consensus
