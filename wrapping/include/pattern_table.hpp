// Gives each distinct 64-bit key the next free index; exact, open addressing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace consensus {

class PatternTable {
 public:
  std::uint32_t index_of(std::uint64_t key) {
    std::size_t slot = home(key);
    while (slots_[slot] != kFree) {
      if (keys_[slots_[slot]] == key) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return insert(key, slot);
  }

  std::uint64_t key(std::size_t index) const { return keys_[index]; }
  std::size_t size() const { return keys_.size(); }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFFu;

  std::size_t home(std::uint64_t key) const {
    // Fibonacci hashing after a fold, so that both halves of the key reach the high bits.
    key ^= key >> 32;
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> shift_);
  }

  std::uint32_t insert(std::uint64_t key, std::size_t slot) {
    const auto index = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    slots_[slot] = index;
    if (keys_.size() * 2 > slots_.size()) grow();
    return index;
  }

  void grow() {
    --shift_;
    slots_.assign(slots_.size() * 2, kFree);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t slot = home(keys_[i]);
      while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(i);
    }
  }

  int shift_ = 64 - 10;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024, kFree);
  std::vector<std::uint64_t> keys_;
};

}  // namespace consensus
