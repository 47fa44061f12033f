// Exact signed Euclidean distance between voxel centres, axis by axis.
//
// Felzenszwalb & Huttenlocher (2012): along a line, squared distances are the lower envelope of
// parabolas, one per voxel. Here both sides of the contour are done at once: a voxel's squared
// distance is to the nearest voxel of the *other* side, which itself is a parabola of height 0. No
// parabola reaches past it with a lower value, so each run of one side between two voxels of the
// other is an envelope of its own, and the two transforms cost as much as one.
//
// Preconditions (checked in Python): `inside` and `squared` hold outer * length * inner values;
// `inside` is 0 or 1; `squared` starts infinite; every size of a voxel is positive and finite.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lines.hpp"

namespace consensus {

// The lower envelope of parabolas h^2 (x - place)^2 + height, given from left to right.
class Envelope {
 public:
  Envelope(std::size_t length, double size) : squared_size_(size * size) {
    parabolas_.reserve(length + 2);
  }

  void clear() { parabolas_.clear(); }

  void add(std::ptrdiff_t place, double height) {
    const auto at = static_cast<double>(place);
    double from = -std::numeric_limits<double>::infinity();
    while (!parabolas_.empty()) {
      const Parabola& last = parabolas_.back();
      const auto before = static_cast<double>(last.place);
      from = ((height - last.height) / squared_size_ / (at - before) + at + before) / 2;
      if (from > last.from) break;
      parabolas_.pop_back();
      from = -std::numeric_limits<double>::infinity();
    }
    parabolas_.push_back({place, height, from});
  }

  // Writes the envelope's values at begin .. end - 1; does nothing without a parabola.
  template <class Real>
  void evaluate(std::size_t begin, std::size_t end, Real* values) const {
    if (parabolas_.empty()) return;
    std::size_t lowest = 0;
    for (std::size_t k = begin; k < end; ++k) {
      while (lowest + 1 < parabolas_.size() && parabolas_[lowest + 1].from < static_cast<double>(k)) {
        ++lowest;
      }
      const auto step = static_cast<double>(static_cast<std::ptrdiff_t>(k) - parabolas_[lowest].place);
      values[k] = static_cast<Real>(squared_size_ * step * step + parabolas_[lowest].height);
    }
  }

 private:
  struct Parabola {
    std::ptrdiff_t place;
    double height;
    double from;  // where it begins to be the lowest
  };

  double squared_size_;
  std::vector<Parabola> parabolas_;
};

template <class Real>
void distance_line(const std::uint8_t* inside, std::size_t length, Envelope& envelope, Real* squared) {
  for (std::size_t begin = 0, end = 0; begin < length; begin = end) {
    while (end < length && inside[end] == inside[begin]) ++end;
    envelope.clear();
    if (begin > 0) envelope.add(static_cast<std::ptrdiff_t>(begin) - 1, 0.0);
    for (std::size_t k = begin; k < end; ++k) {
      if (std::isfinite(squared[k])) envelope.add(static_cast<std::ptrdiff_t>(k), squared[k]);
    }
    if (end < length) envelope.add(static_cast<std::ptrdiff_t>(end), 0.0);
    envelope.evaluate(begin, end, squared);
  }
}

template <class Real>
void distance_axis(const std::uint8_t* inside, const Lines& lines, double size, std::size_t threads,
                   Real* squared) {
  for_each_block_slab(lines, threads, [&](Slab slab) {
    Envelope envelope(lines.length, size);
    std::vector<std::uint8_t> sides(lines.length * kLanes);
    std::vector<Real> values(lines.length * kLanes);
    for (std::size_t block = slab.begin; block < slab.end; ++block) {
      const std::size_t first = lines.first(block);
      const std::size_t lanes = lines.lanes(block);
      for (std::size_t k = 0; k < lines.length; ++k) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          sides[lane * lines.length + k] = inside[first + k * lines.inner + lane];
          values[lane * lines.length + k] = squared[first + k * lines.inner + lane];
        }
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        distance_line(sides.data() + lane * lines.length, lines.length, envelope,
                      values.data() + lane * lines.length);
      }
      for (std::size_t k = 0; k < lines.length; ++k) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          squared[first + k * lines.inner + lane] = values[lane * lines.length + k];
        }
      }
    }
  });
}

// Negative inside, positive outside.
template <class Real>
void sign_roots(const std::uint8_t* inside, std::size_t begin, std::size_t end, Real* squared) {
  for (std::size_t k = begin; k < end; ++k) {
    const Real root = std::sqrt(squared[k]);
    squared[k] = inside[k] ? -root : root;
  }
}

}  // namespace consensus
