// What is kept of the bands of scale of raters' masks, over their coarsest level; by tiles.
//
// Preconditions (checked in Python): those of band_means.hpp; there is one array of gains per band,
// which, like the detail, holds the points of the grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "band_means.hpp"
#include "coarse_grid.hpp"
#include "scale_rows.hpp"

namespace consensus {

struct KeptShares {
  CoarseGrid grid;
  std::vector<const float*> gains;
  const float* detail;  // share of the votes themselves that replaces what was kept
};

class BandAnswer {
 public:
  // Of a single rater who annotated everything, or of several some of whom are missing.
  BandAnswer(const MaskField& field, const KeptShares& kept)
      : field_(&field), rows_(field.scales, field.shape), means_(field), kept_(&kept), coarse_(kept.grid) {}

  // The answer in a box.
  const float* compute(const Box& box) {
    answer_.resize(box.voxels());
    if (field_->present.planes) {
      keep_means(box);
    } else {
      keep_rows(box);
    }
    return answer_.data();
  }

  void compute(const Box& box, float* volume) { means_.write(box, compute(box), volume); }

 private:
  void keep_rows(const Box& box) {
    const std::size_t bands = kept_->gains.size();
    rows_.read(*field_->raters, 0, box);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      float* answer = answer_.data() + box.at(t, z, y, box.low[3]);
      const float* coarse = rows_.level(bands, z, y);
      std::copy_n(coarse, box.size(3), answer);
      if (!rows_.varies(bands, z, y)) return;
      const std::size_t low = rows_.low(bands), n = rows_.high(bands) - low, x = box.low[3] + low;
      for (std::size_t band = bands; band-- > 0;) {
        const float* fine = rows_.level(band, z, y);
        add_shares(coarse_.row(kept_->gains[band], t, z, y, x, n), fine + low, coarse + low, n, answer + low);
        coarse = fine;
      }
      move_towards(rows_.said(z, y) + low, coarse_.row(kept_->detail, t, z, y, x, n), n, answer + low);
    });
  }

  void keep_means(const Box& box) {
    means_.average(box);
    std::copy_n(means_.base(), box.voxels(), answer_.data());
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = box.at(t, z, y, box.low[3]), n = box.size(3);
      float* answer = answer_.data() + first;
      for (std::size_t band = kept_->gains.size(); band-- > 0;) {
        add_products(coarse_.row(kept_->gains[band], t, z, y, box.low[3], n), means_.values(band) + first, n, answer);
      }
      move_towards(means_.votes() + first, coarse_.row(kept_->detail, t, z, y, box.low[3], n), n, answer);
    });
  }

  const MaskField* field_;
  ScaleRows rows_;
  BandMeans means_;
  const KeptShares* kept_;
  CoarseValues coarse_;
  std::vector<float> answer_;
};

}  // namespace consensus
