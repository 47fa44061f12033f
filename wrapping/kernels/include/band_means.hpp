// Computes the bands of scale of every rater's mask and averages them over raters, tile by tile.
//
// A band is the difference between a mask smoothed at one scale and the mask smoothed at the next.
// If raters are missing at some voxels, each mask is smoothed by normalised convolution over the
// voxels that its rater annotated, and the mean at a voxel is taken over the raters who annotated
// it.
//
// Preconditions (checked in Python): those of rater_rows.hpp; outputs have the shape (bands,
// voxels) or (voxels) and are null if not requested; there are at least two scales with one
// Gaussian each, and the last Gaussian is the widest.
// Gaussian each, and the last Gaussian is the widest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gaussian_lines.hpp"
#include "rater_rows.hpp"
#include "tiles.hpp"

namespace consensus {

struct MaskField {
  std::shared_ptr<const RaterRows> raters;
  PackedRaters present;  // no planes: all raters annotated every voxel
  std::vector<double> weights;
  std::vector<GaussianWeights> scales;
  Extents shape;

  std::size_t voxels() const { return whole_box(shape).voxels(); }
  std::size_t bands() const { return scales.size() - 1; }
};

// Weighted means over raters of the bands, the squared bands, the coarsest level, its square and the
// masks; and the effective number of raters, (sum of weights)^2 / (sum of squared weights).
struct BandOutputs {
  float* values;
  float* squares;
  float* base;
  float* base_squares;
  float* votes;
  float* raters;
};

class BandMeans {
 public:
  explicit BandMeans(const MaskField& field) : field_(&field) {
    for (const auto& scale : field.scales) gaussians_.emplace_back(scale, field.shape);
  }

  void compute(const Box& box, const BandOutputs& out) {
    average(box);
    for (std::size_t band = 0; band < field_->bands(); ++band) {
      write(box, values(band), out.values + band * field_->voxels());
      write(box, squares(band), out.squares + band * field_->voxels());
    }
    write(box, base(), out.base);
    write(box, base_squares(), out.base_squares);
    write(box, votes(), out.votes);
    write(box, raters(), out.raters);
  }

  // Computes the arrays returned by the accessors below, for one box.
  void average(const Box& box) {
    const std::size_t voxels = box.voxels(), bands = field_->bands();
    voxels_ = voxels;
    for (auto* sums : {&values_, &squares_}) sums->assign(bands * voxels, 0.0f);
    for (auto* sums : {&base_, &base_squares_, &votes_, &here_, &squared_}) sums->assign(voxels, 0.0f);
    for (std::size_t rater = 0; rater < field_->weights.size(); ++rater) add_rater(rater, box);
    divide();
  }

  const float* values(std::size_t band) const { return values_.data() + band * voxels_; }
  const float* squares(std::size_t band) const { return squares_.data() + band * voxels_; }
  const float* base() const { return base_.data(); }
  const float* base_squares() const { return base_squares_.data(); }
  const float* votes() const { return votes_.data(); }
  const float* raters() const { return here_.data(); }

  void write(const Box& box, const float* values, float* volume) const {
    if (!volume) return;
    const Box whole = whole_box(field_->shape);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(values + box.at(t, z, y, box.low[3]), box.size(3), volume + whole.at(t, z, y, box.low[3]));
    });
  }

 private:
  void add_rater(std::size_t rater, const Box& box) {
    const auto weight = static_cast<float>(field_->weights[rater]);
    const std::size_t voxels = box.voxels();
    read(rater, box, present_, true);
    read(rater, box, fine_, false);
    for (std::size_t i = 0; i < voxels; ++i) {
      votes_[i] += weight * present_[i] * fine_[i];
      here_[i] += weight * present_[i];
      squared_[i] += weight * weight * present_[i];
    }
    smooth_present(0, rater, box, fine_);
    for (std::size_t band = 0; band < field_->bands(); ++band) {
      smooth_present(band + 1, rater, box, coarse_);
      float* values = values_.data() + band * voxels;
      float* squares = squares_.data() + band * voxels;
      for (std::size_t i = 0; i < voxels; ++i) {
        const float difference = fine_[i] - coarse_[i];
        const float counted = weight * present_[i];
        values[i] += counted * difference;
        squares[i] += counted * difference * difference;
      }
      fine_.swap(coarse_);
    }
    for (std::size_t i = 0; i < voxels; ++i) {
      const float counted = weight * present_[i];
      base_[i] += counted * fine_[i];
      base_squares_[i] += counted * fine_[i] * fine_[i];
    }
  }

  // Reads a rater's mask in a box or, if `presence` is set, the indicator of where the rater
  // annotated. The mask itself is not multiplied by this indicator.
  void read(std::size_t rater, const Box& box, std::vector<float>& out, bool presence) {
    out.resize(box.voxels());
    const Box whole = whole_box(field_->shape);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = whole.at(t, z, y, box.low[3]);
      float* row = out.data() + box.at(t, z, y, box.low[3]);
      if (presence && !field_->present.planes) {
        std::fill_n(row, box.size(3), 1.0f);
      } else if (presence) {
        field_->present.read(rater, at, box.size(3), row);
      } else {
        field_->raters->read(rater, at, box.size(3), row);
      }
    });
  }

  // Smooths the mask at a scale, normalised over the voxels that the rater annotated.
  void smooth_present(std::size_t scale, std::size_t rater, const Box& box, std::vector<float>& out) {
    Gaussian<float>& gaussian = gaussians_[scale];
    const Box from = gaussian.source(box);
    read(rater, from, out, false);
    if (unsmoothed(gaussian)) return;
    read(rater, from, mass_, true);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= mass_[i];
    gaussian.smooth(out, box);
    gaussian.smooth(mass_, box);
    for (std::size_t i = 0; i < box.voxels(); ++i) out[i] = mass_[i] > 0 ? out[i] / mass_[i] : 0.0f;
  }

  static bool unsmoothed(const Gaussian<float>& gaussian) {
    return gaussian.reach() == Extents{};
  }

  void divide() {
    for (std::size_t i = 0; i < voxels_; ++i) {
      const float total = here_[i];
      const float share = total > 0 ? 1.0f / total : 0.0f;
      for (std::size_t band = 0; band < field_->bands(); ++band) {
        values_[band * voxels_ + i] *= share;
        squares_[band * voxels_ + i] *= share;
      }
      base_[i] *= share;
      base_squares_[i] *= share;
      votes_[i] *= share;
      here_[i] = total > 0 ? total * total / squared_[i] : 0.0f;
    }
  }

  const MaskField* field_;
  std::vector<Gaussian<float>> gaussians_;
  std::size_t voxels_ = 0;
  std::vector<float> fine_, coarse_, mass_, present_;
  std::vector<float> values_, squares_, base_, base_squares_, votes_, here_, squared_;
};

}  // namespace consensus
