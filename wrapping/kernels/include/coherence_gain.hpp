// Computes the gain of a band of scale at each point from its power and the part that raters
// share.
//
// The gain is C^p / (C^p + N^p) for shared power C and sharpness p, where N is the power of the
// errors: of the raters' mean for the gain, and of one rater for the detail.
//
// Preconditions (checked in Python): all arrays hold the same number of points; powers are finite
// and, except for rounding errors, not negative; sharpness is positive.
// and, except for rounding errors, not negative; sharpness is positive.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "parallel.hpp"
#include "simd.hpp"

namespace consensus {

struct BandPower {
  const float* power;
  float* shared;        // overwritten by the gain
  float* detail;        // null: not requested
  const float* raters;  // null: the same number at every point
  float number_of_raters;
  float least_power;  // a band with a lower power is rounding error and gets no gain
  float gain_sharpness;
  float detail_sharpness;
};

CONSENSUS_INLINE float raised(float base, float power) {
  if (power == 2.0f) return base * base;
  if (power == 3.0f) return base * base * base;
  return power == 1.0f ? base : std::pow(base, power);
}

CONSENSUS_INLINE float kept_share(float signal, float error) {
  return signal > 0 ? signal / (signal + error) : 0.0f;
}

CONSENSUS_WIDE static inline void keep_slab(const BandPower& band, std::size_t begin, std::size_t end) {
  // Powers are normalised first, since their cubes could exceed the range of floats.
  for (std::size_t i = begin; i < end; ++i) {
    const float power = band.power[i];
    const bool heard = power >= band.least_power;
    const float shared = heard ? std::min(std::max(band.shared[i] / power, 0.0f), 1.0f) : 0.0f;
    const float noise = 1.0f - shared;
    const float raters = std::max(band.raters ? band.raters[i] : band.number_of_raters, 1.0f);
    band.shared[i] = kept_share(raised(shared, band.gain_sharpness), raised(noise / raters, band.gain_sharpness));
    if (band.detail) {
      band.detail[i] =
          kept_share(raised(shared, band.detail_sharpness), raised(noise, band.detail_sharpness));
    }
  }
}

inline void keep_shares(const BandPower& band, std::size_t points, std::size_t threads) {
  for_each_piece(points, threads, [&](Slab slab) { keep_slab(band, slab.begin, slab.end); });
}

}  // namespace consensus
