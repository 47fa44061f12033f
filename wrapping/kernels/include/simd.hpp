// Inner loops that benefit from wider registers. They are compiled for several instruction sets if the
// compiler can select one at load time. Sets with fused multiply-add are excluded, so that results are
// bitwise equal on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONSENSUS_WIDE __attribute__((target_clones("avx2", "default")))
#define CONSENSUS_INLINE inline __attribute__((always_inline))
#else
#define CONSENSUS_WIDE
#define CONSENSUS_INLINE inline
#endif

namespace consensus {

constexpr std::size_t kEight = 8;

inline std::size_t in_eights(std::size_t values) { return (values + kEight - 1) / kEight * kEight; }

// A vector of eight sums; compilers would not keep an array of them in a register.
#if defined(__GNUC__)
using Eight = float __attribute__((vector_size(kEight * sizeof(float))));
#else
struct Eight {
  float values[kEight];
  float operator[](std::size_t k) const { return values[k]; }
  Eight operator*(const Eight& other) const {
    Eight product;
    for (std::size_t k = 0; k < kEight; ++k) product.values[k] = values[k] * other.values[k];
    return product;
  }
  void operator+=(const Eight& other) {
    for (std::size_t k = 0; k < kEight; ++k) values[k] += other.values[k];
  }
};
#endif

CONSENSUS_INLINE void load_eight(const float* from, Eight& to) { std::memcpy(&to, from, sizeof to); }

template <class Values>
CONSENSUS_INLINE float sum_of_eight(const Values& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

constexpr std::size_t kBlock = 1024;  // values processed at a time, which stay in the L1 cache

// The reach is a template parameter, so that sums stay in registers.
template <std::size_t Reach, class Real>
CONSENSUS_INLINE void blend_near(const Real* const* rows, const Real* weights, std::size_t n, Real* __restrict out) {
  const Real* centre = rows[Reach];
  for (std::size_t i = 0; i < n; ++i) {
    const Real twice = centre[i] + centre[i];
    Real sum = centre[i];
    for (std::size_t k = Reach; k >= 1; --k) sum += weights[k] * ((rows[Reach - k][i] + rows[Reach + k][i]) - twice);
    out[i] = sum;
  }
}

template <class Real>
CONSENSUS_INLINE void blend_far(const Real* const* rows, const Real* weights, std::size_t reach, std::size_t n,
                                Real* out) {
  const Real* centre = rows[reach];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t end = std::min(n, begin + kBlock);
    for (std::size_t i = begin; i < end; ++i) out[i] = centre[i];
    for (std::size_t k = reach; k >= 1; --k) {
      const Real* a = rows[reach - k];
      const Real* b = rows[reach + k];
      const Real weight = weights[k];
      for (std::size_t i = begin; i < end; ++i) out[i] += weight * ((a[i] + b[i]) - (centre[i] + centre[i]));
    }
  }
}

template <class Real>
CONSENSUS_INLINE void blend_any(const Real* const* rows, const Real* weights, std::size_t reach, std::size_t n,
                                Real* out) {
  switch (reach) {
    case 1: return blend_near<1>(rows, weights, n, out);
    case 2: return blend_near<2>(rows, weights, n, out);
    case 3: return blend_near<3>(rows, weights, n, out);
    case 4: return blend_near<4>(rows, weights, n, out);
    case 5: return blend_near<5>(rows, weights, n, out);
    case 6: return blend_near<6>(rows, weights, n, out);
    case 7: return blend_near<7>(rows, weights, n, out);
    case 8: return blend_near<8>(rows, weights, n, out);
    default: return blend_far(rows, weights, reach, n, out);
  }
}

// out = rows[reach] + sum over k of weights[k] * (rows[reach - k] + rows[reach + k] - 2 * rows[reach]).
// Precondition: `out` does not overlap any row.
CONSENSUS_WIDE static inline void blend(const float* const* rows, const float* weights, std::size_t reach,
                                        std::size_t n, float* out) {
  blend_any(rows, weights, reach, n, out);
}

CONSENSUS_WIDE static inline void blend(const double* const* rows, const double* weights,
                                        std::size_t reach, std::size_t n, double* out) {
  blend_any(rows, weights, reach, n, out);
}

template <class Index>
CONSENSUS_INLINE void extremes_block(const Index* const* rows, std::size_t number, bool highest, std::size_t n,
                                     Index* out) {
  std::copy_n(rows[0], n, out);
  for (std::size_t k = 1; k < number; ++k) {
    const Index* row = rows[k];
    if (highest) {
      for (std::size_t i = 0; i < n; ++i) out[i] = row[i] > out[i] ? row[i] : out[i];
    } else {
      for (std::size_t i = 0; i < n; ++i) out[i] = row[i] < out[i] ? row[i] : out[i];
    }
  }
}

// out = the elementwise minimum or maximum of `number` rows.
CONSENSUS_WIDE static inline void extremes(const std::uint8_t* const* rows, std::size_t number, bool highest,
                                           std::size_t n, std::uint8_t* out) {
  extremes_block(rows, number, highest, n, out);
}

CONSENSUS_WIDE static inline void extremes(const std::int16_t* const* rows, std::size_t number, bool highest,
                                           std::size_t n, std::int16_t* out) {
  extremes_block(rows, number, highest, n, out);
}

CONSENSUS_WIDE static inline void extremes(const std::int32_t* const* rows, std::size_t number, bool highest,
                                           std::size_t n, std::int32_t* out) {
  extremes_block(rows, number, highest, n, out);
}

// Updates the lowest and highest label at the voxels with votes for a label.
template <class Vote, class Index>
inline void mark_extremes(const Vote* votes, Index label, std::size_t n, Index* lowest, Index* highest) {
  for (std::size_t i = 0; i < n; ++i) {
    lowest[i] = votes[i] > 0 && label < lowest[i] ? label : lowest[i];
    highest[i] = votes[i] > 0 && label > highest[i] ? label : highest[i];
  }
}

// Returns whether any value is above a limit.
CONSENSUS_WIDE static inline bool any_above(const float* values, std::size_t n, float limit) {
  unsigned found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= values[i] > limit;
  return found != 0;
}

// sums[i] += factor * values[i].
CONSENSUS_WIDE static inline void add_scaled(const float* values, float factor, std::size_t n, float* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += factor * values[i];
}

CONSENSUS_WIDE static inline void add_scaled(const double* values, double factor, std::size_t n, double* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += factor * values[i];
}

// out = the given bit of every byte, as 0 or 1.
CONSENSUS_WIDE static inline void bits_as_floats(const std::uint8_t* bytes, unsigned bit, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int>(bytes[i] >> bit & 1u));
}

// Returns whether any byte differs from `wanted` in the given bits.
CONSENSUS_WIDE static inline bool any_other_bits(const std::uint8_t* bytes, std::size_t n, std::uint8_t wanted,
                                                 std::uint8_t bits) {
  std::uint8_t found = 0;
  for (std::size_t i = 0; i < n; ++i) found = static_cast<std::uint8_t>(found | (bytes[i] ^ wanted));
  return (found & bits) != 0;
}

// Returns whether any value differs from `wanted`.
CONSENSUS_WIDE static inline bool any_other(const float* values, std::size_t n, float wanted) {
  unsigned found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= values[i] != wanted;
  return found != 0;
}

// Adds factor * values^2 to `sums`; below, the same for the differences of two arrays.
CONSENSUS_WIDE static inline void add_squares(const float* values, float factor, std::size_t n, float* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += factor * values[i] * values[i];
}

CONSENSUS_WIDE static inline void add_squares(const float* fine, const float* coarse, float factor, std::size_t n,
                                              float* sums) {
  for (std::size_t i = 0; i < n; ++i) {
    const float difference = fine[i] - coarse[i];
    sums[i] += factor * difference * difference;
  }
}

// sums[i] += factors[i] * values[i].
CONSENSUS_WIDE static inline void add_products(const float* factors, const float* values, std::size_t n, float* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += factors[i] * values[i];
}

// sums[i] += shares[i] * (fine[i] - coarse[i]).
CONSENSUS_WIDE static inline void add_shares(const float* shares, const float* fine, const float* coarse,
                                             std::size_t n, float* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += shares[i] * (fine[i] - coarse[i]);
}

// values[i] += shares[i] * (others[i] - values[i]).
CONSENSUS_WIDE static inline void move_towards(const float* others, const float* shares, std::size_t n,
                                               float* values) {
  for (std::size_t i = 0; i < n; ++i) values[i] += shares[i] * (others[i] - values[i]);
}

}  // namespace consensus
