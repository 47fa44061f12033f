// Packs masks of bytes into one bit per voxel, and checks in the same pass that they are masks.
//
// Voxels are packed in stretches of 256: byte k of a stretch holds voxels k, k + 32, k + 64 and so
// on. Neighbouring voxels stay in neighbouring bytes of a register, so packing, counting and
// unpacking are operations on whole registers. An incomplete last stretch is padded with the first
// value of the array.
//
// Preconditions (checked in Python): rows hold the extent, which is not 0; `bits` holds kLane
// bytes for every stretch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"

namespace consensus {

constexpr std::size_t kLane = 32;            // bytes of a packed stretch
constexpr std::size_t kStretch = 8 * kLane;  // voxels in a stretch
constexpr std::size_t kWords = kLane / 8;

constexpr std::size_t kPieceOfStretches = 1024;  // stretches between two checkpoints

inline std::size_t stretches_of(std::size_t voxels) { return (voxels + kStretch - 1) / kStretch; }

inline std::vector<Slab> stretch_slabs(std::size_t voxels, std::size_t threads) {
  return make_slabs(stretches_of(voxels), threads, kSmallestSlab / kStretch);
}

// Writes bits of 1 where voxels differ from `first`; returns whether all voxels are `first` or `second`.
CONSENSUS_WIDE static inline bool pack_stretches(const std::uint8_t* row, std::size_t stretches, std::uint8_t first,
                                                 std::uint8_t second, std::uint8_t* __restrict bits) {
  std::array<std::uint8_t, kLane> odd{};
  for (std::size_t s = 0; s < stretches; ++s, row += kStretch, bits += kLane) {
    std::array<std::uint8_t, kLane> made{};
    for (std::size_t b = 8; b-- > 0;) {
      for (std::size_t k = 0; k < kLane; ++k) {
        const std::uint8_t value = row[b * kLane + k];
        made[k] = static_cast<std::uint8_t>(made[k] + made[k] + (value != first));
        odd[k] = static_cast<std::uint8_t>(odd[k] | ((value != first) & (value != second)));
      }
    }
    for (std::size_t k = 0; k < kLane; ++k) bits[k] = made[k];
  }
  std::uint8_t any = 0;
  for (const std::uint8_t one : odd) any = static_cast<std::uint8_t>(any | one);
  return any == 0;
}

// Calls pack(voxels, number of stretches, bits) for stretches begin .. end - 1 of a row; pads an incomplete
// last one with `filling`.
template <class Pack>
void for_stretches(const std::uint8_t* row, std::size_t voxels, std::size_t begin, std::size_t end,
                   std::uint8_t filling, std::uint8_t* bits, Pack pack) {
  const std::size_t whole = std::clamp(voxels / kStretch, begin, end);
  pack(row + begin * kStretch, whole - begin, bits + begin * kLane);
  if (whole == end) return;
  std::array<std::uint8_t, kStretch> last;
  last.fill(filling);
  std::copy(row + whole * kStretch, row + voxels, last.begin());
  pack(last.data(), std::size_t{1}, bits + whole * kLane);
}

inline void pack_marked(const std::uint8_t* marks, std::size_t voxels, std::size_t begin, std::size_t end,
                        std::uint8_t* bits) {
  for_stretches(marks, voxels, begin, end, 0, bits, [](const std::uint8_t* row, std::size_t n, std::uint8_t* to) {
    pack_stretches(row, n, 0, 0, to);
  });
}

// Packs rows of voxels, a range of stretches at a time, and determines their second value while doing so.
struct MaskPacker {
  std::uint8_t first;
  std::uint8_t second = first;  // the other value, once it is found
  bool is_mask = true;          // false once a third value is found

  void pack(const std::uint8_t* row, std::size_t voxels, std::size_t begin, std::size_t end, std::uint8_t* bits) {
    for_stretches(row, voxels, begin, end, first, bits, [&](const std::uint8_t* from, std::size_t n, std::uint8_t* to) {
      if (is_mask) pack_whole(from, n, to);
    });
  }

  // Merges the result of another packer: the combination is a mask if both together have at most
  // two values.
  void add(const MaskPacker& other) {
    is_mask = is_mask && other.is_mask && (second == first || other.second == first || other.second == second);
    if (second == first) second = other.second;
  }

 private:
  void pack_whole(const std::uint8_t* row, std::size_t stretches, std::uint8_t* bits) {
    if (pack_stretches(row, stretches, first, second, bits)) return;
    const std::uint8_t* end = row + stretches * kStretch;
    const std::uint8_t found = *std::find_if(row, end, [&](auto v) { return v != first && v != second; });
    is_mask = second == first;
    if (!is_mask) return;
    second = found;
    is_mask = pack_stretches(row, stretches, first, second, bits);
  }
};

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::size_t kMostRows = 14;  // so that the number of raters plus one fits in four bits
constexpr std::size_t kAtOnce = 16;  // stretches counted at a time, which fit in the L1 cache

// Counts, for each bit, the raters who have it set. The four binary digits of the counts are stored in
// separate words.
struct BitCounts {
  using Words = std::array<std::uint64_t, kAtOnce * kWords>;
  Words ones, twos, fours, eights;

  CONSENSUS_INLINE void clear(std::size_t words) {
    for (Words* digit : {&ones, &twos, &fours, &eights}) std::fill_n(digit->data(), words, std::uint64_t{0});
  }

  CONSENSUS_INLINE void add(const std::uint8_t* bits, std::size_t words) {
    for (std::size_t k = 0; k < words; ++k) {
      std::uint64_t carry;
      std::memcpy(&carry, bits + k * sizeof carry, sizeof carry);
      const std::uint64_t two = ones[k] & carry, four = twos[k] & two, eight = fours[k] & four;
      ones[k] ^= carry;
      twos[k] ^= two;
      fours[k] ^= four;
      eights[k] ^= eight;
    }
  }

  // Sets the bits whose count is at least `number`. Digits are compared from the lowest to the highest; a
  // higher digit overrides lower ones unless it equals that of `number`.
  CONSENSUS_INLINE void find_at_least(unsigned number, std::size_t words, Words& __restrict reached) const {
    const auto digit = [&](unsigned p) { return number >> p & 1u ? ~std::uint64_t{0} : std::uint64_t{0}; };
    const std::uint64_t a = digit(0), b = digit(1), c = digit(2), d = digit(3);
    for (std::size_t k = 0; k < words; ++k) {
      std::uint64_t so_far = ones[k] | ~a;
      so_far = (twos[k] & ~b) | (so_far & (twos[k] | ~b));
      so_far = (fours[k] & ~c) | (so_far & (fours[k] | ~c));
      reached[k] = (eights[k] & ~d) | (so_far & (eights[k] | ~d));
    }
  }
};

// Writes one byte for each bit: values[0] if fewer than `middle` raters have it set, values[2] if at least
// `high` do, else values[1].
CONSENSUS_WIDE static inline void choose_by_bits(const std::uint8_t* const* rows, std::size_t raters,
                                                 std::size_t stretches, unsigned middle, unsigned high,
                                                 const std::array<std::uint8_t, 3>& values, std::uint8_t* out) {
  const std::uint64_t low = kOnes * values[0];
  const std::uint64_t rise = kOnes * static_cast<std::uint8_t>(values[0] ^ values[1]);
  const std::uint64_t last = kOnes * static_cast<std::uint8_t>(values[1] ^ values[2]);
  BitCounts counts;
  BitCounts::Words some, most;
  for (std::size_t at = 0; at < stretches; at += kAtOnce) {
    const std::size_t now = std::min(kAtOnce, stretches - at), words = now * kWords;
    counts.clear(words);
    for (std::size_t j = 0; j < raters; ++j) counts.add(rows[j] + at * kLane, words);
    counts.find_at_least(middle, words, some);
    counts.find_at_least(high, words, most);
    for (std::size_t s = 0; s < now; ++s) {
      std::uint8_t* to = out + (at + s) * kStretch;
      for (std::size_t b = 0; b < 8; ++b) {
        for (std::size_t k = 0; k < kWords; ++k) {
          const std::uint64_t a = some[s * kWords + k] >> b & kOnes, z = most[s * kWords + k] >> b & kOnes;
          const std::uint64_t chosen = low ^ (((a << 8) - a) & rise) ^ (((z << 8) - z) & last);
          std::memcpy(to + b * kLane + k * sizeof chosen, &chosen, sizeof chosen);
        }
      }
    }
  }
}

// Writes a byte of 0 or 1 for each bit.
CONSENSUS_WIDE static inline void unpack_stretches(const std::uint8_t* bits, std::size_t stretches, std::uint8_t* out) {
  for (std::size_t s = 0; s < stretches; ++s) {
    for (std::size_t b = 0; b < 8; ++b) {
      for (std::size_t k = 0; k < kWords; ++k) {
        std::uint64_t word;
        std::memcpy(&word, bits + s * kLane + k * sizeof word, sizeof word);
        word = word >> b & kOnes;
        std::memcpy(out + s * kStretch + b * kLane + k * sizeof word, &word, sizeof word);
      }
    }
  }
}

}  // namespace consensus
