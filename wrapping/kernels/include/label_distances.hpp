// Computes signed distances of selected voxels to the contours of several raters, in a box of a volume.
//
// A voxel has a code, and a rater has a table with a label for each code. A thread processes one rater at
// a time with a distance buffer of its own, so the number of threads bounds the memory.
//
// Preconditions (checked in Python): codes are below the number of codes; the box lies in the volume and
// has the same number of axes; `places` lie in the box; voxel sizes are as in distance.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "distance.hpp"
#include "parallel.hpp"

namespace consensus {

struct BoxOfVolume {
  std::vector<std::size_t> shape;  // of the volume
  std::vector<std::size_t> low;
  std::vector<std::size_t> size;  // of the box

  std::size_t voxels() const {
    std::size_t product = 1;
    for (std::size_t side : size) product *= side;
    return product;
  }
  std::size_t rows() const { return size.back() == 0 ? 0 : voxels() / size.back(); }
  // For each row of the box, calls work(volume index, box index) with the flat indices of its
  // first voxel.
  template <class Work>
  void for_each_row(Slab slab, Work work) const {
    const std::size_t axes = shape.size(), length = size[axes - 1];
    for (std::size_t row = slab.begin; row < slab.end; ++row) {
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

// The labels whose voxels are inside a rater's contour; the two may be equal.
struct Drawing {
  std::size_t label;
  std::size_t also;
};

// The number of raters that are processed at a time, and the number of threads for each.
struct RaterThreads {
  std::size_t raters;
  std::size_t each;
};

// The raters' votes in a box: `said` holds labels, (raters, number_of_codes), and `codes` a code per voxel.
template <class Code, class Digit>
struct DrawnInBox {
  const Code* codes;  // one per voxel of the volume
  BoxOfVolume box;
  const Digit* said;
  std::size_t number_of_codes;
  Drawing drawing;
  std::vector<double> sizes;   // of a voxel
  const std::int64_t* places;  // flat indices in the box of the requested voxels
  std::size_t number;          // number of places

  WantedVoxels wanted() const {
    std::vector<std::uint8_t> marks(box.voxels(), 0);
    for (std::size_t k = 0; k < number; ++k) marks[static_cast<std::size_t>(places[k])] = 1;
    return WantedVoxels(std::move(marks), box.size, sizes);
  }

  // Sets one bit per rater, for up to eight raters, at the voxels inside the rater's contour. All of them
  // share one table look-up per voxel, since each is likely a cache miss.
  void draw(std::size_t first, std::size_t last, std::size_t threads, std::vector<std::uint8_t>& bits) const {
    std::vector<std::uint8_t> drawn(number_of_codes, 0);
    const auto label = static_cast<Digit>(drawing.label), also = static_cast<Digit>(drawing.also);
    for (std::size_t rater = first; rater < last; ++rater) {
      const Digit* own = said + rater * number_of_codes;
      const auto bit = static_cast<std::uint8_t>(1u << (rater - first));
      for (std::size_t code = 0; code < number_of_codes; ++code) {
        const bool is_inside = (own[code] == label) | (own[code] == also);
        drawn[code] = static_cast<std::uint8_t>(drawn[code] | (is_inside ? bit : 0));
      }
    }
    bits.resize(box.voxels());
    for_each_piece(box.rows(), threads, [&](Slab slab) {
      box.for_each_row(slab, [&](std::size_t from, std::size_t to) {
        for (std::size_t x = 0; x < box.size.back(); ++x) bits[to + x] = drawn[codes[from + x]];
      });
    });
  }

  // Computes signed distances to the contour of the voxels whose bit is set; `squared` is a buffer
  // for the box.
  void distances(const std::vector<std::uint8_t>& bits, std::size_t bit, std::size_t threads,
                 const WantedVoxels& wanted, std::vector<float>& squared, float* row) const {
    squared.resize(bits.size());
    for (std::size_t k = 0; k < bits.size(); ++k) squared[k] = unknown_distance<float>(bits[k] >> bit & 1u);
    signed_squares(box.size, sizes, threads, &wanted, squared.data());
    for (std::size_t k = 0; k < number; ++k) row[k] = squared[static_cast<std::size_t>(places[k])];
    sign_roots(0, number, row);
  }
};

constexpr std::size_t kRatersDrawn = 8;  // raters processed at a time, one bit each

// Writes the distances to `out`, of shape (raters, number of places).
template <class Code, class Digit>
void label_distances(const DrawnInBox<Code, Digit>& drawn, std::size_t raters, RaterThreads threads, float* out) {
  const WantedVoxels wanted = drawn.wanted();
  std::vector<std::uint8_t> bits;
  for (std::size_t first = 0; first < raters; first += kRatersDrawn) {
    const std::size_t last = std::min(raters, first + kRatersDrawn);
    drawn.draw(first, last, threads.raters * threads.each, bits);
    std::atomic<std::size_t> next{first};
    const std::size_t workers = std::max<std::size_t>(1, std::min(threads.raters, last - first));
    for_each_slab(make_slabs(workers, workers, 1), [&](std::size_t, Slab) {
      std::vector<float> squared;
      for (std::size_t rater = next++; rater < last; rater = next++) {
        checkpoint();
        drawn.distances(bits, rater - first, threads.each, wanted, squared, out + rater * drawn.number);
      }
    });
  }
}

// Adds the raters' weighted distances at each place to `sums`, in the order of raters.
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
