// Signed distances of chosen voxels to what each of several raters drew, within a box of a volume.
//
// What a rater said is a table: the label for each code of a voxel. Threads take raters; each has a
// box of distances of its own, so that few raters at a time keep memory small.
//
// Preconditions (checked in Python): codes are below the number of codes; the box lies in the
// volume, has as many axes as it, and `places` lie in the box; sizes as in distance.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "distance.hpp"
#include "parallel.hpp"

namespace consensus {

struct BoxOfVolume {
  std::vector<std::size_t> shape;  // the volume's
  std::vector<std::size_t> low;
  std::vector<std::size_t> size;  // the box's

  std::size_t voxels() const {
    std::size_t product = 1;
    for (std::size_t side : size) product *= side;
    return product;
  }
  // Calls work(first voxel of the volume, first voxel of the box) for each row of the box.
  template <class Work>
  void for_each_row(Work work) const {
    const std::size_t axes = shape.size(), length = size[axes - 1];
    const std::size_t rows = length == 0 ? 0 : voxels() / length;
    for (std::size_t row = 0; row < rows; ++row) {
      std::size_t rest = row, at = low[axes - 1], step = shape[axes - 1];
      for (std::size_t axis = axes - 1; axis-- > 0;) {
        at += (low[axis] + rest % size[axis]) * step;
        rest /= size[axis];
        step *= shape[axis];
      }
      work(at, row * length);
    }
  }
};

// A voxel is inside where the rater said the label, or `also`, which may be the label again.
struct Drawing {
  std::size_t label;
  std::size_t also;
};

// Threads: how many raters at a time, and how many each may use.
struct RaterThreads {
  std::size_t raters;
  std::size_t each;
};

// What raters said: (raters, number_of_codes) labels, by the codes of a box's voxels.
template <class Code, class Digit>
struct DrawnInBox {
  const Code* codes;  // of the volume
  BoxOfVolume box;
  const Digit* said;
  std::size_t number_of_codes;
  Drawing drawing;
  std::vector<double> sizes;   // of a voxel
  const std::int64_t* places;  // of the voxels wanted, in the box
  std::size_t number;          // of places

  // One rater's signed distances; `squared` is room for the box.
  void distances(std::size_t rater, std::size_t threads, std::vector<float>& squared, float* row) const {
    squared.resize(box.voxels());
    const Digit* own = said + rater * number_of_codes;
    const std::size_t length = box.size.back();
    box.for_each_row([&](std::size_t from, std::size_t to) {
      for (std::size_t x = 0; x < length; ++x) {
        const std::size_t digit = own[codes[from + x]];
        squared[to + x] = unknown_distance<float>(digit == drawing.label || digit == drawing.also);
      }
    });
    signed_squares(box.size, sizes, threads, squared.data());
    for (std::size_t k = 0; k < number; ++k) row[k] = squared[static_cast<std::size_t>(places[k])];
    sign_roots(0, number, row);
  }
};

// `out` is (raters, number of places).
template <class Code, class Digit>
void label_distances(const DrawnInBox<Code, Digit>& drawn, std::size_t raters, RaterThreads threads, float* out) {
  std::atomic<std::size_t> next{0};
  const std::size_t workers = std::max<std::size_t>(1, std::min(threads.raters, raters));
  for_each_slab(make_slabs(workers, workers, 1), [&](std::size_t, Slab) {
    std::vector<float> squared;
    for (std::size_t rater = next++; rater < raters; rater = next++) {
      checkpoint();
      drawn.distances(rater, threads.each, squared, out + rater * drawn.number);
    }
  });
}

// Adds the raters' distances times their weights to `sums`, of each place, in the order of raters.
template <class Code, class Digit>
void sum_label_distances(const DrawnInBox<Code, Digit>& drawn, std::size_t raters, const double* weights,
                         RaterThreads threads, double* sums) {
  std::vector<float> rows(raters * drawn.number);
  label_distances(drawn, raters, threads, rows.data());
  for_each_piece(drawn.number, threads.raters * threads.each, [&](Slab slab) {
    for (std::size_t rater = 0; rater < raters; ++rater) {
      const float* row = rows.data() + rater * drawn.number;
      for (std::size_t k = slab.begin; k < slab.end; ++k) sums[k] += weights[rater] * static_cast<double>(row[k]);
    }
  });
}

}  // namespace consensus
