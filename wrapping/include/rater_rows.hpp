// Rows of what raters say, as floats: from bits, from probabilities, or their mean as one rater.
//
// Preconditions (checked in Python): bits are (planes, voxels), bit j % 8 of plane j / 8 being rater
// j's; probabilities are (raters, voxels); weights are positive, one per rater.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.hpp"

namespace consensus {

struct PackedRaters {
  const std::uint8_t* planes = nullptr;
  std::size_t voxels = 0;

  void read(std::size_t rater, std::size_t at, std::size_t n, float* out) const {
    bits_as_floats(planes + rater / 8 * voxels + at, static_cast<unsigned>(rater % 8), n, out);
  }
};

struct SoftRaters {
  const float* masks = nullptr;
  std::size_t voxels = 0;

  void read(std::size_t rater, std::size_t at, std::size_t n, float* out) const {
    std::copy_n(masks + rater * voxels + at, n, out);
  }
};

template <class Raters>
class MeanRater;

// A byte of votes has 256 values: their weights are summed up once.
template <>
class MeanRater<PackedRaters> {
 public:
  MeanRater(const PackedRaters& raters, const std::vector<double>& weights)
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

  void read(std::size_t, std::size_t at, std::size_t n, float* out) const {
    const std::uint8_t* row = raters_.planes + at;
    for (std::size_t i = 0; i < n; ++i) out[i] = sums_[0][row[i]];
    for (std::size_t plane = 1; plane < sums_.size(); ++plane) {
      row += raters_.voxels;
      for (std::size_t i = 0; i < n; ++i) out[i] += sums_[plane][row[i]];
    }
    for (std::size_t i = 0; i < n; ++i) out[i] *= share_;
  }

 private:
  PackedRaters raters_;
  std::vector<std::array<float, 256>> sums_;
  float share_;
};

template <>
class MeanRater<SoftRaters> {
 public:
  MeanRater(const SoftRaters& raters, const std::vector<double>& weights)
      : raters_(raters), weights_(weights.begin(), weights.end()) {
    float total = 0.0f;
    for (const float weight : weights_) total += weight;
    share_ = 1.0f / total;
  }

  void read(std::size_t, std::size_t at, std::size_t n, float* out) const {
    std::fill_n(out, n, 0.0f);
    for (std::size_t rater = 0; rater < weights_.size(); ++rater) {
      add_scaled(raters_.masks + rater * raters_.voxels + at, weights_[rater], n, out);
    }
    for (std::size_t i = 0; i < n; ++i) out[i] *= share_;
  }

 private:
  SoftRaters raters_;
  std::vector<float> weights_;
  float share_;
};

// The mean of those who annotated a voxel; 0 where nobody did.
template <class Raters>
class PresentMean {
 public:
  PresentMean(const Raters& raters, const PackedRaters& present, const std::vector<double>& weights)
      : raters_(raters), present_(present), weights_(weights.begin(), weights.end()) {}

  void read(std::size_t, std::size_t at, std::size_t n, float* out) {
    std::fill_n(out, n, 0.0f);
    here_.assign(n, 0.0f);
    said_.resize(n);
    there_.resize(n);
    for (std::size_t rater = 0; rater < weights_.size(); ++rater) {
      raters_.read(rater, at, n, said_.data());
      present_.read(rater, at, n, there_.data());
      for (std::size_t i = 0; i < n; ++i) {
        out[i] += weights_[rater] * there_[i] * said_[i];
        here_[i] += weights_[rater] * there_[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) out[i] *= here_[i] > 0 ? 1.0f / here_[i] : 0.0f;
  }

 private:
  Raters raters_;
  PackedRaters present_;
  std::vector<float> weights_, here_, said_, there_;
};

}  // namespace consensus
