// Sums the coarsest scale of the raters' mean and its bands of scale, each multiplied by its gain; tile
// by tile.
//
// Preconditions (checked in Python): those of band_means.hpp; there is one array of gains per band;
// each of these arrays, and `detail`, has one value per grid point.
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
  // weight of the unsmoothed votes in the result; the filtered mean has the remaining weight
  const float* detail;
};

// Computes the filtered mask of a single rater who annotated every voxel, row by row.
class AnswerRows {
 public:
  AnswerRows(const MaskField& field, const KeptShares& kept)
      : field_(&field), rows_(field.scales, field.shape), kept_(&kept), coarse_(kept.grid) {}

  void begin(const Box& box) {
    box_ = box;
    rows_.read(*field_->raters, 0, box);
  }

  // Returns a row of the box; the pointer is valid until the next call.
  const float* row(std::size_t t, std::size_t z, std::size_t y) {
    const std::size_t bands = kept_->gains.size();
    const float* coarse = rows_.level(bands, z, y);
    if (!rows_.varies(bands, z, y)) return coarse;
    answer_.assign(coarse, coarse + box_.size(3));
    const std::size_t low = rows_.low(bands), n = rows_.high(bands) - low, x = box_.low[3] + low;
    float* answer = answer_.data() + low;
    for (std::size_t band = bands; band-- > 0;) {
      const float* fine = rows_.level(band, z, y);
      add_shares(coarse_.row(kept_->gains[band], t, z, y, x, n), fine + low, coarse + low, n, answer);
      coarse = fine;
    }
    move_towards(rows_.said(z, y) + low, coarse_.row(kept_->detail, t, z, y, x, n), n, answer);
    return answer_.data();
  }

 private:
  const MaskField* field_;
  ScaleRows rows_;
  const KeptShares* kept_;
  CoarseValues coarse_;
  Box box_;
  std::vector<float> answer_;
};

// Computes the filtered mask of a single rater, or the filtered mean of raters with missing voxels.
class BandAnswer {
 public:
  BandAnswer(const MaskField& field, const KeptShares& kept)
      : field_(&field), rows_(field, kept), means_(field), kept_(&kept), coarse_(kept.grid) {}

  void compute(const Box& box, float* volume) {
    if (field_->present.planes) {
      keep_means(box);
      means_.write(box, answer_.data(), volume);
      return;
    }
    rows_.begin(box);
    const Box whole = whole_box(field_->shape);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::copy_n(rows_.row(t, z, y), box.size(3), volume + whole.at(t, z, y, box.low[3]));
    });
  }

 private:
  void keep_means(const Box& box) {
    means_.average(box);
    answer_.assign(means_.base(), means_.base() + box.voxels());
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
  AnswerRows rows_;
  BandMeans means_;
  const KeptShares* kept_;
  CoarseValues coarse_;
  std::vector<float> answer_;
};

}  // namespace consensus
