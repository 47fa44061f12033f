// Smooths a rater's votes at several scales, row by row of a tile.
//
// Smoothing along z produces a plane at a time, along y a row of that plane, and along x the final
// row, so that intermediate values are still in the cache. A row is computed only if the votes
// vary within the reach of the scale. The arithmetic is the same as in gaussian_lines.hpp: results
// are bitwise independent of tiles.
//
// Preconditions (checked in Python): those of rater_rows.hpp; there is one Gaussian per scale, and
// the last has the largest reach; a tile has size 1 along the first axis.
// the last has the largest reach; a tile has size 1 along the first axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "gaussian_lines.hpp"
#include "rater_rows.hpp"
#include "simd.hpp"
#include "tiles.hpp"

namespace consensus {

class ScaleRows {
 public:
  ScaleRows(const std::vector<GaussianWeights>& scales, const Extents& shape) : shape_(shape) {
    for (const GaussianWeights& weights : scales) scales_.emplace_back(weights);
    widest_ = scales_.back().reach;
    scales_.emplace_back(GaussianWeights{{{1.0}, {1.0}, {1.0}, {1.0}}});
  }

  // Reads a rater's votes around a tile.
  void read(const RaterRows& raters, std::size_t rater, const Box& tile) {
    tile_ = tile;
    find_varying(raters, rater, grown(tile, widest_, shape_));
    constant_.assign(tile.size(3), beyond_);
    if (varying_.empty()) return;
    nothing_.assign(varying_.size(2) * varying_.size(3), beyond_);
    for (Scale& scale : scales_) begin(scale);
  }

  // Returns whether votes vary within the reach of a scale around a row.
  bool varies(std::size_t scale, std::size_t z, std::size_t y) const {
    const Scale& own = scales_[scale];
    return own.low < own.high && near(own, 1, z) && near(own, 2, y);
  }

  // The range low .. high - 1 of a tile's row where the smoothed votes may vary.
  std::size_t low(std::size_t scale) const { return scales_[scale].low; }
  std::size_t high(std::size_t scale) const { return scales_[scale].high; }

  float beyond() const { return beyond_; }

  // Returns a row of the tile at a scale; the pointer is valid until the next call.
  const float* level(std::size_t scale, std::size_t z, std::size_t y) {
    Scale& own = scales_[scale];
    if (!varies(scale, z, y)) return constant_.data();
    if (own.reach == Extents{}) {
      const float* mask = mask_.data() + varying_.at(tile_.low[0], z, y, varying_.low[3]) + own.skipped;
      std::copy_n(mask, own.number, own.row.data() + own.low);
      return own.row.data();
    }
    if (own.plane_of != z) {
      const std::size_t length = varying_.size(3), first = own.first_row * length;
      neighbours(own, 1, z, mask_.data() + first, nothing_.size());
      blend(rows_.data(), own.weights[1].data(), own.reach[1], own.number_of_rows * length, own.plane.data() + first);
      own.plane_of = z;
    }
    neighbours(own, 2, y, own.plane.data() + own.skipped, varying_.size(3));
    float* line = own.line.data();
    blend(rows_.data(), own.weights[2].data(), own.reach[2], own.number, line + own.place);
    // Edge voxels are repeated beyond the volume.
    if (varying_.low[3] == 0) std::fill_n(line, own.place, line[own.place]);
    const std::size_t end = own.place + own.number;
    if (varying_.high[3] == shape_[3]) std::fill(line + end, line + own.line.size(), line[end - 1]);
    const std::size_t reach = own.reach[3];
    rows_.resize(2 * reach + 1);
    for (std::size_t k = 0; k < rows_.size(); ++k) rows_[k] = line + own.low + k;
    blend(rows_.data(), own.weights[3].data(), reach, own.high - own.low, own.row.data() + own.low);
    return own.row.data();
  }

  // Returns a row of the tile without smoothing.
  const float* said(std::size_t z, std::size_t y) { return level(scales_.size() - 1, z, y); }

 private:
  struct Scale {
    explicit Scale(const GaussianWeights& given) : reach(reach_of(given)) {
      for (std::size_t axis = 0; axis < kAxes; ++axis) weights[axis].assign(given[axis].begin(), given[axis].end());
    }

    Extents reach;
    std::array<std::vector<float>, kAxes> weights;
    std::size_t low = 0, high = 0;  // the range of a tile's row where values may vary
    std::size_t skipped = 0;        // leading voxels of a row of varying_ that are not on the line
    std::size_t number = 0;         // voxels of the row that are on the line
    std::size_t place = 0;          // index on the line of the first of them
    std::size_t first_row = 0, number_of_rows = 0;  // the rows of a plane within reach of the tile
    std::size_t plane_of = 0;
    std::vector<float> plane, line, row;
  };

  // Finds the bounding box of the votes that differ from the vote at the first voxel, and reads
  // it.
  void find_varying(const RaterRows& raters, std::size_t rater, const Box& from) {
    const Box whole = whole_box(shape_);
    const std::size_t as = whole.at(from.low[0], from.low[1], from.low[2], from.low[3]);
    const auto differs = [&](std::size_t at, std::size_t n) { return raters.differs(rater, at, n, as); };
    raters.read(rater, as, 1, &beyond_);
    varying_ = {from.high, from.low};
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t row = whole.at(t, z, y, 0);
      const bool known = varying_.holds(1, z) && varying_.holds(2, y);
      if (!known && !differs(row + from.low[3], from.size(3))) return;
      const Extents here{t, z, y, 0};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        varying_.low[axis] = std::min(varying_.low[axis], here[axis]);
        varying_.high[axis] = std::max(varying_.high[axis], here[axis] + 1);
      }
      std::size_t low = varying_.low[3], high = varying_.high[3];
      if (differs(row + from.low[3], low - from.low[3])) {
        for (low = from.low[3]; !differs(row + low, 1);) ++low;
        varying_.low[3] = low;
      }
      if (differs(row + high, from.high[3] - high)) {
        for (high = from.high[3]; !differs(row + high - 1, 1);) --high;
        varying_.high[3] = high;
      }
    });
    for (Scale& scale : scales_) scale.low = scale.high = 0;
    if (varying_.empty()) return;
    mask_.resize(varying_.voxels());
    for_each_row(varying_, [&](std::size_t t, std::size_t z, std::size_t y) {
      raters.read(rater, whole.at(t, z, y, varying_.low[3]), varying_.size(3),
                  mask_.data() + varying_.at(t, z, y, varying_.low[3]));
    });
  }

  // Prepares the buffers of a scale. A line covers a row of the tile, extended by the scale's reach on both sides.
  void begin(Scale& scale) const {
    const std::size_t reach = scale.reach[3], before = tile_.low[3], after = tile_.high[3];
    const std::size_t low = varying_.low[3], high = varying_.high[3];
    const std::size_t first = std::max(low + reach, before) - reach, last = std::min(high, after + reach);
    if (first >= last) return;
    scale.skipped = first - low;
    scale.number = last - first;
    scale.place = first + reach - before;
    scale.low = std::max(low, before + reach) - (before + reach);
    scale.high = std::min(high + reach, after) - before;
    const std::size_t top = std::max(varying_.low[2] + scale.reach[2], tile_.low[2]) - scale.reach[2];
    const std::size_t bottom = std::min(varying_.high[2], tile_.high[2] + scale.reach[2]);
    scale.first_row = top - varying_.low[2];
    scale.number_of_rows = std::max(top, bottom) - top;
    scale.plane_of = std::numeric_limits<std::size_t>::max();
    scale.plane.resize(nothing_.size());
    scale.line.assign(tile_.size(3) + 2 * reach, beyond_);
    scale.row.assign(tile_.size(3), beyond_);
  }

  bool near(const Scale& scale, std::size_t axis, std::size_t at) const {
    return at + scale.reach[axis] >= varying_.low[axis] && at < varying_.high[axis] + scale.reach[axis];
  }

  // Collects pointers to the lines around an index along an axis; edge lines are repeated beyond the edge.
  void neighbours(const Scale& scale, std::size_t axis, std::size_t at, const float* lines, std::size_t length) {
    const std::size_t reach = scale.reach[axis];
    rows_.resize(2 * reach + 1);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const std::size_t place = std::min(std::max(at + k, reach) - reach, shape_[axis] - 1);
      const bool inside = place >= varying_.low[axis] && place < varying_.high[axis];
      rows_[k] = inside ? lines + (place - varying_.low[axis]) * length : nothing_.data();
    }
  }

  Extents shape_;
  std::vector<Scale> scales_;  // the last entry does not smooth
  Extents widest_;  // the largest reach of all scales that smooth
  Box tile_;
  Box varying_;          // the varying votes of the rater within the largest reach
  float beyond_ = 0.0f;  // the rater's vote outside that box
  std::vector<float> mask_, nothing_, constant_;
  std::vector<const float*> rows_;
};

}  // namespace consensus
