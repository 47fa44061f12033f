// Power in bands of scale, and the part of it that raters share, at the points of a coarse grid.
//
// Windows of several voxels smooth power afterwards, so every second voxel tells enough of it; and a
// separable Gaussian that is wanted there only takes a third of the work. A rater's mask is looked at
// in the box outside which it is what it is in the volume's first voxel: there is no band beyond.
//
// Preconditions (checked in Python): those of band_means.hpp; everybody annotated everything; power
// and shared are (bands, points of the grid).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "band_means.hpp"
#include "band_powers.hpp"
#include "coarse_grid.hpp"

namespace consensus {

class SampledPowers {
 public:
  SampledPowers(const MaskField& field, const CoarseGrid& grid) : field_(&field), grid_(grid) {
    for (const GaussianWeights& scale : field.scales) {
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        weights_.emplace_back(scale[axis].begin(), scale[axis].end());
      }
    }
    for (const double weight : field.weights) {
      total_ += static_cast<float>(weight);
      squared_ += static_cast<float>(weight * weight);
    }
  }

  void compute(const Box& points, const PowerOutputs& out) {
    const std::size_t n = points.voxels(), bands = field_->bands();
    points_ = points;
    for (auto* sums : {&values_, &squares_}) sums->assign(bands * n, 0.0f);
    for (auto* sums : {&base_, &base_squares_}) sums->assign(n, 0.0f);
    for (std::size_t rater = 0; rater < field_->weights.size(); ++rater) add_rater(rater);
    const float raters = total_ * total_ / squared_;
    shared_.resize(n);
    for (std::size_t band = 0; band < bands; ++band) {
      const float* value = divided(values_.data() + band * n, n);
      const float* square = divided(squares_.data() + band * n, n);
      for (std::size_t i = 0; i < n; ++i) shared_[i] = shared_power(value[i], square[i], raters);
      write(square, out.power + band * grid_.points());
      write(shared_.data(), out.shared + band * grid_.points());
    }
    const float* value = divided(base_.data(), n);
    const float* square = divided(base_squares_.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      base_power_ += fixed_point(square[i]);
      base_shared_ += fixed_point(shared_power(value[i], square[i], raters));
    }
  }

  // Of the coarsest level at the points: the sum of its power, and of the part that raters share.
  std::int64_t base_power() const { return base_power_; }
  std::int64_t base_shared() const { return base_shared_; }

 private:
  const std::vector<float>& weights(std::size_t scale, std::size_t axis) const {
    return weights_[scale * kAxes + axis];
  }

  const float* divided(float* sums, std::size_t n) const {
    const float share = 1.0f / total_;
    for (std::size_t i = 0; i < n; ++i) sums[i] *= share;
    return sums;
  }

  void write(const float* values, float* volume) const {
    const Box whole = whole_box(grid_.size());
    for_each_row(points_, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(values + points_.at(t, z, y, points_.low[3]), points_.size(3),
                  volume + whole.at(t, z, y, points_.low[3]));
    });
  }

  // The voxel of a point, moved: beyond the edge the last voxel goes on.
  std::size_t voxel(std::size_t axis, std::size_t point, std::ptrdiff_t step) const {
    const auto at = static_cast<std::ptrdiff_t>(point * grid_.step[axis]) + step;
    return static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(field_->shape[axis]) - 1));
  }

  void add_rater(std::size_t rater) {
    const auto weight = static_cast<float>(field_->weights[rater]);
    const std::size_t n = points_.voxels(), bands = field_->bands();
    read(rater);
    if (!varying_.empty()) {
      level(0, fine_);
      for (std::size_t band = 0; band < bands; ++band) {
        level(band + 1, coarse_);
        add_difference(fine_.data(), coarse_.data(), weight, n, values_.data() + band * n,
                       squares_.data() + band * n);
        fine_.swap(coarse_);
      }
    } else {
      fine_.assign(n, 0.0f);
    }
    for (std::size_t i = 0; i < n; ++i) fine_[i] += beyond_;
    add_powers(fine_.data(), weight, n, base_.data(), base_squares_.data());
  }

  // A rater's mask less what it is in the first voxel, in the box outside which that is nothing.
  void read(std::size_t rater) {
    const Box whole = whole_box(field_->shape);
    const std::size_t t = points_.low[0], last = field_->bands();
    field_->raters->read(rater, whole.at(t, 0, 0, 0), 1, &beyond_);
    Box from = {{t, 0, 0, 0}, {t + 1, 0, 0, 0}};
    for (std::size_t axis = 1; axis < kAxes; ++axis) {
      const auto reach = static_cast<std::ptrdiff_t>(weights(last, axis).size()) - 1;
      from.low[axis] = voxel(axis, points_.low[axis], -reach);
      from.high[axis] = voxel(axis, points_.high[axis] - 1, reach) + 1;
    }
    const std::size_t length = from.size(3);
    source_.resize(from.voxels());
    varying_ = {from.high, from.low};
    for_each_row(from, [&](std::size_t, std::size_t z, std::size_t y) {
      float* row = source_.data() + from.at(t, z, y, from.low[3]);
      field_->raters->read(rater, whole.at(t, z, y, from.low[3]), length, row);
      if (!any_other(row, length, beyond_)) return;
      std::size_t low = 0, high = length;
      while (row[low] == beyond_) ++low;
      while (row[high - 1] == beyond_) --high;
      const Extents first{t, z, y, from.low[3] + low}, end{t + 1, z + 1, y + 1, from.low[3] + high};
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        varying_.low[axis] = std::min(varying_.low[axis], first[axis]);
        varying_.high[axis] = std::max(varying_.high[axis], end[axis]);
      }
    });
    if (varying_.empty()) return;
    mask_.resize(varying_.voxels());
    for_each_row(varying_, [&](std::size_t, std::size_t z, std::size_t y) {
      const float* row = source_.data() + from.at(t, z, y, varying_.low[3]);
      float* out = mask_.data() + varying_.at(t, z, y, varying_.low[3]);
      for (std::size_t i = 0; i < varying_.size(3); ++i) out[i] = row[i] - beyond_;
    });
    nothing_.assign(varying_.size(2) * varying_.size(3), 0.0f);
  }

  // The mask smoothed at a scale, at the points; z, y and x in turn, each at the points only.
  void level(std::size_t scale, std::vector<float>& out) {
    out.assign(points_.voxels(), 0.0f);
    const std::size_t plane = varying_.size(2) * varying_.size(3), row = varying_.size(3);
    planes_.resize(plane);
    row_.resize(row);
    for (std::size_t z = points_.low[1]; z < points_.high[1]; ++z) {
      if (!blend_lines(scale, 1, z, mask_.data(), plane, planes_.data())) continue;
      for (std::size_t y = points_.low[2]; y < points_.high[2]; ++y) {
        if (!blend_lines(scale, 2, y, planes_.data(), row, row_.data())) continue;
        if (!any_other(row_.data(), row, 0.0f)) continue;
        blend_row(weights(scale, 3), out.data() + points_.at(points_.low[0], z, y, points_.low[3]));
      }
    }
  }

  // Blends what lies around a point along an axis; false if there is nothing.
  bool blend_lines(std::size_t scale, std::size_t axis, std::size_t point, const float* lines, std::size_t length,
                   float* out) {
    const std::vector<float>& kernel = weights(scale, axis);
    const auto reach = static_cast<std::ptrdiff_t>(kernel.size()) - 1;
    rows_.resize(static_cast<std::size_t>(2 * reach + 1));
    bool any = false;
    for (std::ptrdiff_t step = -reach; step <= reach; ++step) {
      const std::size_t at = voxel(axis, point, step);
      const bool inside = at >= varying_.low[axis] && at < varying_.high[axis];
      rows_[static_cast<std::size_t>(step + reach)] =
          inside ? lines + (at - varying_.low[axis]) * length : nothing_.data();
      any |= inside;
    }
    if (any) blend(rows_.data(), kernel.data(), static_cast<std::size_t>(reach), length, out);
    return any;
  }

  // The last axis: with every second point wanted, even and odd voxels are lines of their own.
  void blend_row(const std::vector<float>& kernel, float* out) {
    const std::size_t reach = kernel.size() - 1, n = points_.size(3), step = grid_.step[3];
    const std::size_t length = step * (n - 1) + 1 + 2 * reach;
    const std::size_t half = step == 2 ? length / 2 + 1 : 0;
    line_.assign(length + 1 + half, 0.0f);
    const auto first = static_cast<std::ptrdiff_t>(points_.low[3] * step) - static_cast<std::ptrdiff_t>(reach);
    const auto edge = static_cast<std::ptrdiff_t>(field_->shape[3]) - 1;
    const auto low = static_cast<std::ptrdiff_t>(varying_.low[3]), high = static_cast<std::ptrdiff_t>(varying_.high[3]);
    // Where the box touches an edge of the volume its last voxel goes on, else zeros do.
    const std::ptrdiff_t begin = low == 0 ? first : std::max(first, low);
    const std::ptrdiff_t end =
        high == edge + 1 ? first + static_cast<std::ptrdiff_t>(length) : std::min(first + static_cast<std::ptrdiff_t>(length), high);
    float* odd = line_.data() + half;
    for (std::ptrdiff_t at = begin; at < end; ++at) {
      const auto place = static_cast<std::size_t>(at - first);
      const float value = row_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, edge) - low)];
      if (step == 2) {
        (place % 2 ? odd : line_.data())[place / 2] = value;
      } else {
        line_[place] = value;
      }
    }
    rows_.resize(2 * reach + 1);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      rows_[k] = step == 2 ? (k % 2 ? odd : line_.data()) + k / 2 : line_.data() + k;
    }
    blend(rows_.data(), kernel.data(), reach, n, out);
  }

  const MaskField* field_;
  CoarseGrid grid_;
  std::vector<std::vector<float>> weights_;  // of each scale and axis
  float total_ = 0.0f, squared_ = 0.0f;      // of the raters' weights
  Box points_;                               // of the grid, that are made
  Box varying_;                              // of one rater, around what the points see
  float beyond_ = 0.0f;                      // what the rater says outside it
  std::vector<float> source_, mask_, planes_, row_, line_, nothing_, fine_, coarse_, shared_;
  std::vector<const float*> rows_;
  std::vector<float> values_, squares_, base_, base_squares_;
  std::int64_t base_power_ = 0, base_shared_ = 0;
};

}  // namespace consensus
