// Computes the power of each scale band, and the part of it shared by the raters, on a coarse
// grid, tile by tile.
//
// Preconditions (checked in Python): those of band_means.hpp; `power` and `shared` have the shape
// (bands, grid points).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "band_means.hpp"
#include "coarse_grid.hpp"
#include "scale_rows.hpp"

namespace consensus {

// Real numbers are summed as integers in this unit, so sums do not depend on tiles or threads.
constexpr double kFixedPoint = 1 << 30;

inline std::int64_t fixed_point(float value) {
  return static_cast<std::int64_t>(static_cast<double>(value) * kFixedPoint + (value < 0 ? -0.5 : 0.5));
}

struct PowerOutputs {
  float* power;
  float* shared;
  float* raters;  // effective number of raters at each point; null: not requested
  Box points;     // the points that the arrays hold
  Box counted;    // the points whose power at the coarsest level is added to BasePower
};

// Estimates the power shared by the raters from the power of their mean and the mean of their
// powers. If C is the shared power and N the power of the errors, the mean of J raters has power C
// + N / J, and a single rater has power C + N on average. The estimate is unbiased if errors are
// independent. The power of a single rater counts entirely as shared.
CONSENSUS_INLINE float shared_power(float of_mean, float of_raters, float raters) {
  const bool several = raters > 1.000001f;
  return several ? (of_mean * raters - of_raters) / (several ? raters - 1.0f : 1.0f) : of_raters;
}

// Sums of the coarsest level's power and of the part shared by the raters, in units of 1 /
// kFixedPoint.
struct BasePower {
  std::int64_t power = 0;
  std::int64_t shared = 0;

  void add(float of_mean, float of_raters, float raters) {
    power += fixed_point(of_raters);
    shared += fixed_point(shared_power(of_mean, of_raters, raters));
  }
};

// Computes the powers if all raters annotated every voxel. The widest band and the coarsest level are
// smooth, so a grid point gets the power at its own voxel; in other bands it gets the weighted mean of
// its neighbourhood.
class BandPowers {
 public:
  BandPowers(const MaskField& field, const RaterRows& mean, const CoarseGrid& grid)
      : field_(&field), mean_(&mean), rows_(field.scales, field.shape), grid_(grid), coarse_(grid) {
    for (const double weight : field.weights) total_ += static_cast<float>(weight);
    float squares = 0.0f;
    for (const double weight : field.weights) squares += static_cast<float>(weight * weight);
    number_ = total_ * total_ / squares;
  }

  void compute(const Box& points, const PowerOutputs& out) {
    points_ = points;
    box_ = grid_.sources(points);
    rows_box_ = {{box_.low[0], points.low[1], points.low[2], box_.low[3]},
                 {box_.high[0], points.high[1], points.high[2], box_.high[3]}};
    const std::size_t last = field_->bands() - 1, voxels = box_.voxels();
    for (Powers* powers : {&of_mean_, &of_raters_}) {
      powers->fine.assign(last * voxels, 0.0f);
      for (auto* rows : {&powers->widest, &powers->base}) rows->assign(rows_box_.voxels(), 0.0f);
    }
    add(*mean_, 0, 1.0f, of_mean_);
    for (std::size_t rater = 0; rater < field_->weights.size(); ++rater) {
      add(*field_->raters, rater, static_cast<float>(field_->weights[rater]) / total_, of_raters_);
    }
    for (std::size_t band = 0; band < last; ++band) {
      const float* of_mean = coarse_.restricted(of_mean_.fine.data() + band * voxels, points);
      mean_power_.assign(of_mean, of_mean + points.voxels());
      write(band, coarse_.restricted(of_raters_.fine.data() + band * voxels, points), out);
    }
    sample(of_mean_.widest, mean_power_);
    sample(of_raters_.widest, power_);
    write(last, power_.data(), out);
    sample(of_mean_.base, mean_power_);
    sample(of_raters_.base, power_);
    const Box rows = intersection(points, out.counted);
    for_each_row(rows, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = points.at(t, z, y, rows.low[3]);
      for (std::size_t i = first; i < first + rows.size(3); ++i) base.add(mean_power_[i], power_[i], number_);
    });
  }

  BasePower base;

 private:
  struct Powers {
    std::vector<float> fine;          // (all bands except the widest, voxels)
    std::vector<float> widest, base;  // on the rows of voxels that contain grid points
  };

  // Adds the power of a rater's mask.
  void add(const RaterRows& raters, std::size_t rater, float weight, Powers& to) {
    const std::size_t last = field_->bands();
    rows_.read(raters, rater, box_);
    for_each_row(box_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const float* fine = rows_.level(0, z, y);
      for (std::size_t band = 0; band + 1 < last; ++band) {
        const float* coarse = rows_.level(band + 1, z, y);
        if (rows_.varies(band + 1, z, y)) {
          const std::size_t low = rows_.low(band + 1), at = box_.at(t, z, y, box_.low[3] + low);
          add_squares(fine + low, coarse + low, weight, rows_.high(band + 1) - low,
                      to.fine.data() + band * box_.voxels() + at);
        }
        fine = coarse;
      }
      const std::size_t point_z = grid_.point(1, z), point_y = grid_.point(2, y);
      if (!points_.holds(1, point_z) || !points_.holds(2, point_y)) return;
      const bool varies = rows_.varies(last, z, y);
      if (!varies && rows_.beyond() == 0) return;
      const float* coarse = rows_.level(last, z, y);
      const std::size_t at = rows_box_.at(t, point_z, point_y, box_.low[3]), n = box_.size(3);
      if (varies) add_squares(fine, coarse, weight, n, to.widest.data() + at);
      add_squares(coarse, weight, n, to.base.data() + at);
    });
  }

  // Copies the values at grid points to `out`.
  void sample(const std::vector<float>& rows, std::vector<float>& out) const {
    out.clear();
    for_each_row(points_, [&](std::size_t t, std::size_t z, std::size_t y) {
      for (std::size_t x = points_.low[3]; x < points_.high[3]; ++x) {
        out.push_back(rows[rows_box_.at(t, z, y, grid_.voxel(3, x))]);
      }
    });
  }

  void write(std::size_t band, const float* power, const PowerOutputs& out) const {
    for_each_row(points_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = points_.at(t, z, y, points_.low[3]);
      const std::size_t to = band * out.points.voxels() + out.points.at(t, z, y, points_.low[3]);
      for (std::size_t i = 0; i < points_.size(3); ++i) {
        out.power[to + i] = power[at + i];
        out.shared[to + i] = shared_power(mean_power_[at + i], power[at + i], number_);
      }
    });
  }

  const MaskField* field_;
  const RaterRows* mean_;
  ScaleRows rows_;
  CoarseGrid grid_;
  CoarseValues coarse_;
  float total_ = 0.0f, number_ = 0.0f;  // sum of weights; effective number of raters
  Box points_;                          // the points to compute
  Box box_;                             // the voxels from which they are computed
  Box rows_box_;                        // the rows of voxels that contain grid points
  Powers of_mean_, of_raters_;
  std::vector<float> mean_power_, power_;
};

// Computes the powers at every voxel if raters are missing at some voxels.
class MissingPowers {
 public:
  explicit MissingPowers(const MaskField& field) : bands_(field.bands()), means_(field) {}

  void compute(const Box& box, const PowerOutputs& out) {
    const std::size_t n = box.voxels();
    means_.average(box);
    shared_.resize(n);
    const float* raters = means_.raters();
    for (std::size_t band = 0; band < bands_; ++band) {
      const float *value = means_.values(band), *power = means_.squares(band);
      for (std::size_t i = 0; i < n; ++i) shared_[i] = shared_power(value[i] * value[i], power[i], raters[i]);
      write(box, power, out.points, out.power + band * out.points.voxels());
      write(box, shared_.data(), out.points, out.shared + band * out.points.voxels());
    }
    write(box, raters, out.points, out.raters);
    const float *value = means_.base(), *power = means_.base_squares();
    const Box rows = intersection(box, out.counted);
    for_each_row(rows, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = box.at(t, z, y, rows.low[3]);
      for (std::size_t i = first; i < first + rows.size(3); ++i) base.add(value[i] * value[i], power[i], raters[i]);
    });
  }

  BasePower base;

 private:
  static void write(const Box& box, const float* values, const Box& all, float* out) {
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(values + box.at(t, z, y, box.low[3]), box.size(3), out + all.at(t, z, y, box.low[3]));
    });
  }

  std::size_t bands_;
  BandMeans means_;
  std::vector<float> shared_;
};

}  // namespace consensus
