// Power in bands of scale, and the part of it that raters share, brought to a coarse grid by tiles.
//
// Preconditions (checked in Python): those of band_means.hpp; power and shared are (bands, points of
// the grid).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "band_means.hpp"
#include "coarse_grid.hpp"

namespace consensus {

// Sums of shares are of integers, so that neither tiles nor threads show in them.
constexpr double kFixedPoint = 1 << 30;

inline std::int64_t fixed_point(float value) {
  return static_cast<std::int64_t>(static_cast<double>(value) * kFixedPoint + (value < 0 ? -0.5 : 0.5));
}

struct PowerOutputs {
  float* power;
  float* shared;
  float* raters;  // of every voxel; null: not wanted
};

// Power that raters share: unbiased if their errors are independent. The square of the mean holds
// shared power C and a share of the errors', C + N / J; the mean of squares holds C + N. Alone, a
// rater shares everything with himself.
CONSENSUS_INLINE float shared_power(float value, float square, float raters) {
  const bool several = raters > 1.000001f;
  return several ? (value * value * raters - square) / (several ? raters - 1.0f : 1.0f) : square;
}

CONSENSUS_WIDE static inline void shared_powers(const float* values, const float* squares, const float* raters,
                                                std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = shared_power(values[i], squares[i], raters[i]);
}

class BandPowers {
 public:
  BandPowers(const MaskField& field, const CoarseGrid& grid)
      : bands_(field.bands()), means_(field), grid_(grid), coarse_(grid) {}

  void compute(const Box& points, const PowerOutputs& out) {
    const Box box = grid_.sources(points);
    means_.average(box);
    shared_.resize(box.voxels());
    for (std::size_t band = 0; band < bands_; ++band) {
      write(points, means_.squares(band), out.power + band * grid_.points());
      shared_powers(means_.values(band), means_.squares(band), means_.raters(), box.voxels(), shared_.data());
      write(points, shared_.data(), out.shared + band * grid_.points());
    }
    means_.write(box, means_.raters(), out.raters);
    add_base(box, grid_.owned(points));
  }

  // Of the coarsest level: the sum of its power, and of the part that raters share.
  std::int64_t base_power() const { return base_power_; }
  std::int64_t base_shared() const { return base_shared_; }

 private:
  void write(const Box& points, const float* values, float* volume) {
    if (means_.flat()) {
      fill(points, volume);
      return;
    }
    const std::vector<float>& here = coarse_.restricted(values, points);
    const Box whole = whole_box(grid_.size());
    for_each_row(points, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(here.data() + points.at(t, z, y, points.low[3]), points.size(3),
                  volume + whole.at(t, z, y, points.low[3]));
    });
  }

  void fill(const Box& points, float* volume) const {
    const Box whole = whole_box(grid_.size());
    for_each_row(points, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::fill_n(volume + whole.at(t, z, y, points.low[3]), points.size(3), 0.0f);
    });
  }

  void add_base(const Box& box, const Box& owned) {
    if (owned.empty()) return;
    for_each_row(owned, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = box.at(t, z, y, owned.low[3]);
      for (std::size_t i = first; i < first + owned.size(3); ++i) {
        const float square = means_.base_squares()[i];
        base_power_ += fixed_point(square);
        base_shared_ += fixed_point(shared_power(means_.base()[i], square, means_.raters()[i]));
      }
    });
  }

  std::size_t bands_;
  BandMeans means_;
  CoarseGrid grid_;
  CoarseValues coarse_;
  std::vector<float> shared_;
  std::int64_t base_power_ = 0, base_shared_ = 0;
};

}  // namespace consensus
