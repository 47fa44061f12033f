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

namespace consensus {

struct KeptShares {
  CoarseGrid grid;
  std::vector<const float*> gains;
  const float* detail;  // share of the votes themselves that replaces what was kept
};

class BandAnswer {
 public:
  BandAnswer(const MaskField& field, const KeptShares& kept)
      : means_(field), kept_(&kept), coarse_(kept.grid) {}

  // The answer in a box.
  const float* compute(const Box& box) {
    if (means_.is_one()) return compute_one(box);
    means_.average(box);
    if (means_.flat()) return means_.base();
    answer_.assign(means_.base(), means_.base() + box.voxels());
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = box.at(t, z, y, box.low[3]), n = box.size(3);
      float* answer = answer_.data() + first;
      for (std::size_t band = kept_->gains.size(); band-- > 0;) {
        add_products(coarse_.row(kept_->gains[band], t, z, y, box.low[3], n), means_.values(band) + first, n, answer);
      }
      move_towards(means_.votes() + first, coarse_.row(kept_->detail, t, z, y, box.low[3], n), n, answer);
    });
    return answer_.data();
  }

  // The same of a single rater.
  const float* compute_one(const Box& box) {
    means_.smooth_one(box);
    const std::size_t bands = kept_->gains.size();
    if (means_.flat()) return means_.level(bands);
    answer_.assign(means_.level(bands), means_.level(bands) + box.voxels());
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t first = box.at(t, z, y, box.low[3]), n = box.size(3);
      float* answer = answer_.data() + first;
      for (std::size_t band = bands; band-- > 0;) {
        add_shares(coarse_.row(kept_->gains[band], t, z, y, box.low[3], n), means_.level(band) + first,
                   means_.level(band + 1) + first, n, answer);
      }
      move_towards(means_.votes() + first, coarse_.row(kept_->detail, t, z, y, box.low[3], n), n, answer);
    });
    return answer_.data();
  }

  void compute(const Box& box, float* volume) { means_.write(box, compute(box), volume); }

 private:
  BandMeans means_;
  const KeptShares* kept_;
  CoarseValues coarse_;
  std::vector<float> answer_;
};

}  // namespace consensus
