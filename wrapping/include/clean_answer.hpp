// The coherence vote's answer to raters who all draw one mask, were its bands kept alike; by tiles.
//
// Preconditions (checked in Python): mask, detail and answer hold the volume's voxels; there is one
// array of gains per band, and one Gaussian more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gaussian_lines.hpp"
#include "tiles.hpp"

namespace consensus {

struct CleanField {
  const std::uint8_t* mask;
  std::vector<const float*> gains;
  const float* detail;
  std::vector<GaussianWeights> scales;
  Extents shape;
};

class CleanAnswer {
 public:
  explicit CleanAnswer(const CleanField& field) : field_(&field) {
    for (const auto& scale : field.scales) gaussians_.emplace_back(scale, field.shape);
  }

  void compute(const Box& box, float* answer) {
    const Box whole = whole_box(field_->shape);
    if (!level(gaussians_.size() - 1, box, fine_)) {
      // The mask is constant as far as any scale sees: no band has anything.
      for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
        std::fill_n(answer + whole.at(t, z, y, box.low[3]), box.size(3), fine_[0]);
      });
      return;
    }
    kept_ = fine_;
    for (std::size_t band = field_->gains.size(); band-- > 0;) {
      coarse_.swap(fine_);
      level(band, box, fine_);
      add_band(band, box);
    }
    // The finest level is the mask itself where the first scale is 0; it is read as it is.
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = whole.at(t, z, y, box.low[3]);
      const float* kept = kept_.data() + box.at(t, z, y, box.low[3]);
      for (std::size_t x = 0; x < box.size(3); ++x) {
        const float vote = field_->mask[at + x] ? 1.0f : 0.0f;
        answer[at + x] = kept[x] + field_->detail[at + x] * (vote - kept[x]);
      }
    });
  }

 private:
  // The mask smoothed at a scale, in the box; false if it is constant there.
  bool level(std::size_t scale, const Box& box, std::vector<float>& out) {
    const Box from = gaussians_[scale].source(box), whole = whole_box(field_->shape);
    out.resize(from.voxels());
    bool any = false, all = true;
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::uint8_t* row = field_->mask + whole.at(t, z, y, from.low[3]);
      float* to = out.data() + from.at(t, z, y, from.low[3]);
      std::uint8_t one = 0, zero = 0;
      for (std::size_t x = 0; x < from.size(3); ++x) {
        const std::uint8_t set = row[x] != 0;
        one |= set;
        zero |= set ^ 1;
        to[x] = set;
      }
      any |= one != 0;
      all &= zero == 0;
    });
    if (any && !all) gaussians_[scale].smooth(out, box);
    return any && !all;
  }

  void add_band(std::size_t band, const Box& box) {
    const Box whole = whole_box(field_->shape);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = box.at(t, z, y, box.low[3]);
      const float* gain = field_->gains[band] + whole.at(t, z, y, box.low[3]);
      for (std::size_t x = 0; x < box.size(3); ++x) {
        kept_[first + x] += gain[x] * (fine_[first + x] - coarse_[first + x]);
      }
    });
  }

  const CleanField* field_;
  std::vector<Gaussian<float>> gaussians_;
  std::vector<float> fine_, coarse_, kept_;
};

}  // namespace consensus
