// Inner loops that gain from wider registers, compiled once per instruction set where the compiler
// can choose at load time. No set with fused multiply-add is among them: results are the same bits
// on every machine.
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

// Eight sums side by side, where a compiler would not find by itself that they fit a register.
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

constexpr std::size_t kBlock = 1024;  // values that stay in the first cache while they are blended

template <class Real>
CONSENSUS_INLINE void blend_block(const Real* const* rows, const Real* weights, std::size_t reach,
                                  std::size_t begin, std::size_t end, Real* out) {
  const Real* centre = rows[reach];
  for (std::size_t i = begin; i < end; ++i) out[i] = centre[i];
  std::size_t k = reach;
  for (; k >= 4; k -= 4) {
    const Real *a = rows[reach - k], *b = rows[reach + k];
    const Real *c = rows[reach - k + 1], *d = rows[reach + k - 1];
    const Real *e = rows[reach - k + 2], *f = rows[reach + k - 2];
    const Real *g = rows[reach - k + 3], *h = rows[reach + k - 3];
    const Real first = weights[k], second = weights[k - 1], third = weights[k - 2], fourth = weights[k - 3];
    for (std::size_t i = begin; i < end; ++i) {
      const Real twice = centre[i] + centre[i];
      Real sum = out[i] + first * ((a[i] + b[i]) - twice);
      sum += second * ((c[i] + d[i]) - twice);
      sum += third * ((e[i] + f[i]) - twice);
      out[i] = sum + fourth * ((g[i] + h[i]) - twice);
    }
  }
  for (; k >= 1; --k) {
    const Real* a = rows[reach - k];
    const Real* b = rows[reach + k];
    const Real weight = weights[k];
    for (std::size_t i = begin; i < end; ++i) {
      out[i] += weight * ((a[i] + b[i]) - (centre[i] + centre[i]));
    }
  }
}

// out = rows[reach] + sum over k of weights[k] * (rows[reach - k] + rows[reach + k] - 2 rows[reach]).
CONSENSUS_WIDE static inline void blend(const float* const* rows, const float* weights, std::size_t reach,
                                        std::size_t n, float* out) {
  for (std::size_t at = 0; at < n; at += kBlock) {
    blend_block(rows, weights, reach, at, std::min(n, at + kBlock), out);
  }
}

CONSENSUS_WIDE static inline void blend(const double* const* rows, const double* weights,
                                        std::size_t reach, std::size_t n, double* out) {
  for (std::size_t at = 0; at < n; at += kBlock) {
    blend_block(rows, weights, reach, at, std::min(n, at + kBlock), out);
  }
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

// out = the lowest or the highest of `number` rows.
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

// Widens lowest .. highest of the voxels that have votes for a label.
template <class Vote, class Index>
inline void mark_extremes(const Vote* votes, Index label, std::size_t n, Index* lowest, Index* highest) {
  for (std::size_t i = 0; i < n; ++i) {
    lowest[i] = votes[i] > 0 && label < lowest[i] ? label : lowest[i];
    highest[i] = votes[i] > 0 && label > highest[i] ? label : highest[i];
  }
}

// Whether any value is above a limit.
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

// out = one bit of every byte, as 0 or 1.
CONSENSUS_WIDE static inline void bits_as_floats(const std::uint8_t* bytes, unsigned bit, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int>(bytes[i] >> bit & 1u));
}

// Whether any value is another than `wanted`.
CONSENSUS_WIDE static inline bool any_other(const float* values, std::size_t n, float wanted) {
  unsigned found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= values[i] != wanted;
  return found != 0;
}

// sums and squares gain factor times the difference of two arrays, and its square.
CONSENSUS_WIDE static inline void add_difference(const float* fine, const float* coarse, float factor, std::size_t n,
                                                 float* sums, float* squares) {
  for (std::size_t i = 0; i < n; ++i) {
    const float difference = fine[i] - coarse[i];
    sums[i] += factor * difference;
    squares[i] += factor * difference * difference;
  }
}

// sums and squares gain factor times the values, and their squares.
CONSENSUS_WIDE static inline void add_powers(const float* values, float factor, std::size_t n, float* sums,
                                             float* squares) {
  for (std::size_t i = 0; i < n; ++i) {
    sums[i] += factor * values[i];
    squares[i] += factor * values[i] * values[i];
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

// values move a share of the way to others.
CONSENSUS_WIDE static inline void move_towards(const float* others, const float* shares, std::size_t n,
                                               float* values) {
  for (std::size_t i = 0; i < n; ++i) values[i] += shares[i] * (others[i] - values[i]);
}

}  // namespace consensus
