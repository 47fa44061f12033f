// Masks of bytes as bits, one a voxel, made in the pass that finds out that they are masks.
//
// Of every 256 voxels, byte k holds voxels k, k + 32, k + 64 ...: neighbours stay neighbours in a
// register, so bits are made, counted and unmade by operations on whole registers. A last stretch
// that is not full is filled up with what its array begins with.
//
// Preconditions (checked in Python): rows hold the extent, which is not 0; bits hold its stretches.
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

constexpr std::size_t kLane = 32;            // bytes of bits in a stretch
constexpr std::size_t kStretch = 8 * kLane;  // voxels of a stretch
constexpr std::size_t kWords = kLane / 8;

constexpr std::size_t kPieceOfStretches = 1024;  // between two checkpoints

inline std::size_t stretches_of(std::size_t voxels) { return (voxels + kStretch - 1) / kStretch; }

inline std::vector<Slab> stretch_slabs(std::size_t voxels, std::size_t threads) {
  return make_slabs(stretches_of(voxels), threads, kSmallestSlab / kStretch);
}

// Writes 1 where voxels differ from `first`. Returns whether all of them are `first` or `second`.
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

// Stretches begin .. end - 1 of a row, a last one filled up with a value: calls pack(voxels, stretches,
// bits) for them.
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

// Packs rows of voxels, some stretches at a time, and finds the second of their values on the way.
struct MaskPacker {
  std::uint8_t first;
  std::uint8_t second = first;  // another one as soon as one is found
  bool is_mask = true;          // until a third value is found

  void pack(const std::uint8_t* row, std::size_t voxels, std::size_t begin, std::size_t end, std::uint8_t* bits) {
    for_stretches(row, voxels, begin, end, first, bits, [&](const std::uint8_t* from, std::size_t n, std::uint8_t* to) {
      if (is_mask) pack_whole(from, n, to);
    });
  }

  // Whether there are but two values in what another one packed, too.
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
constexpr std::size_t kMostRows = 14;  // so that one more than all raters has four digits, too
constexpr std::size_t kAtOnce = 16;  // stretches that are counted in the first cache

// How many of the raters have each bit: the numbers' binary digits, side by side.
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

  // Where at least so many raters have the bit: from the lowest digit on, a higher one decides
  // unless it is as wanted.
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

// Writes one byte for each bit of stretches: values[0] below `middle` raters, values[2] from `high` on,
// and values[1] between them.
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

// A byte of 0 or 1 for each bit of a row.
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
