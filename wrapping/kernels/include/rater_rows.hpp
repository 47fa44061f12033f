// Reads rows of raters' votes as floats: from bits, from probabilities, or as the mean of all raters.
//
// Preconditions (checked in Python): bits have the shape (planes, voxels), and rater j has bit j % 8 of
// plane j / 8; probabilities have the shape (raters, voxels); there is one positive weight per rater.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simd.hpp"

namespace consensus {

// Common interface of all sources of votes, so that the kernels that read them are compiled only once.
struct RaterRows {
  virtual ~RaterRows() = default;
  virtual void read(std::size_t rater, std::size_t at, std::size_t n, float* out) const = 0;
  // Returns whether the rater's vote at any of n voxels may differ from the vote at the voxel
  // `as`.
  virtual bool differs(std::size_t, std::size_t, std::size_t, std::size_t) const { return true; }
};

struct PackedRaters final : RaterRows {
  PackedRaters(const std::uint8_t* planes_, std::size_t voxels_) : planes(planes_), voxels(voxels_) {}

  void read(std::size_t rater, std::size_t at, std::size_t n, float* out) const override {
    bits_as_floats(planes + rater / 8 * voxels + at, static_cast<unsigned>(rater % 8), n, out);
  }
  bool differs(std::size_t rater, std::size_t at, std::size_t n, std::size_t as) const override {
    const std::uint8_t* plane = planes + rater / 8 * voxels;
    return any_other_bits(plane + at, n, plane[as], static_cast<std::uint8_t>(1u << rater % 8));
  }

  const std::uint8_t* planes;
  std::size_t voxels;
};

struct SoftRaters final : RaterRows {
  SoftRaters(const float* masks_, std::size_t voxels_) : masks(masks_), voxels(voxels_) {}

  void read(std::size_t rater, std::size_t at, std::size_t n, float* out) const override {
    std::copy_n(masks + rater * voxels + at, n, out);
  }
  bool differs(std::size_t rater, std::size_t at, std::size_t n, std::size_t as) const override {
    const float* mask = masks + rater * voxels;
    return any_other(mask + at, n, mask[as]);
  }

  const float* masks;
  std::size_t voxels;
};

// The weighted mean, presented as a single rater. The weights of each of the 256 values of a byte
// are summed once.
class PackedMean final : public RaterRows {
 public:
  PackedMean(const PackedRaters& raters, const std::vector<double>& weights)
      : raters_(raters), sums_((weights.size() + 7) / 8) {
    float total = 0.0f;
    for (std::size_t rater = 0; rater < weights.size(); ++rater) {
      const auto weight = static_cast<float>(weights[rater]);
      total += weight;
      for (unsigned byte = 0; byte < 256; ++byte) {
        if (byte >> rater % 8 & 1u) sums_[rater / 8][byte] += weight;
      }
    }
    share_ = 1.0f / total;
  }

  void read(std::size_t, std::size_t at, std::size_t n, float* out) const override {
    const std::uint8_t* row = raters_.planes + at;
    for (std::size_t i = 0; i < n; ++i) out[i] = sums_[0][row[i]];
    for (std::size_t plane = 1; plane < sums_.size(); ++plane) {
      row += raters_.voxels;
      for (std::size_t i = 0; i < n; ++i) out[i] += sums_[plane][row[i]];
    }
    for (std::size_t i = 0; i < n; ++i) out[i] *= share_;
  }
  bool differs(std::size_t, std::size_t at, std::size_t n, std::size_t as) const override {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const std::uint8_t* plane = raters_.planes + k * raters_.voxels;
      if (any_other_bits(plane + at, n, plane[as], 0xff)) return true;
    }
    return false;
  }

 private:
  PackedRaters raters_;
  std::vector<std::array<float, 256>> sums_;
  float share_;
};

class SoftMean final : public RaterRows {
 public:
  SoftMean(const SoftRaters& raters, const std::vector<double>& weights)
      : raters_(raters), weights_(weights.begin(), weights.end()) {
    float total = 0.0f;
    for (const float weight : weights_) total += weight;
    share_ = 1.0f / total;
  }

  void read(std::size_t, std::size_t at, std::size_t n, float* out) const override {
    std::fill_n(out, n, 0.0f);
    for (std::size_t rater = 0; rater < weights_.size(); ++rater) {
      add_scaled(raters_.masks + rater * raters_.voxels + at, weights_[rater], n, out);
    }
    for (std::size_t i = 0; i < n; ++i) out[i] *= share_;
  }
  bool differs(std::size_t, std::size_t at, std::size_t n, std::size_t as) const override {
    for (std::size_t rater = 0; rater < weights_.size(); ++rater) {
      if (raters_.differs(rater, at, n, as)) return true;
    }
    return false;
  }

 private:
  SoftRaters raters_;
  std::vector<float> weights_;
  float share_;
};

// The weighted mean of the raters who annotated a voxel, presented as a single rater; 0 where none
// did.
class PresentMean final : public RaterRows {
 public:
  PresentMean(std::shared_ptr<const RaterRows> raters, const PackedRaters& present,
              const std::vector<double>& weights)
      : raters_(std::move(raters)), present_(present), weights_(weights.begin(), weights.end()) {}

  void read(std::size_t, std::size_t at, std::size_t n, float* out) const override {
    std::fill_n(out, n, 0.0f);
    std::vector<float> here(n), said(n), there(n);
    for (std::size_t rater = 0; rater < weights_.size(); ++rater) {
      raters_->read(rater, at, n, said.data());
      present_.read(rater, at, n, there.data());
      for (std::size_t i = 0; i < n; ++i) {
        out[i] += weights_[rater] * there[i] * said[i];
        here[i] += weights_[rater] * there[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) out[i] *= here[i] > 0 ? 1.0f / here[i] : 0.0f;
  }

 private:
  std::shared_ptr<const RaterRows> raters_;
  PackedRaters present_;
  std::vector<float> weights_;
};

}  // namespace consensus
