// Reads an image of any numeric type as floats, shifted and scaled for comparison with other
// images.
//
// Preconditions (checked in Python): `data` is contiguous and aligned, holds the whole volume, and
// is finite.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "tiles.hpp"

namespace consensus {

class Intensities {
 public:
  virtual ~Intensities() = default;
  // values[k] = scale * (intensity(begin + k) - centre).
  virtual void read(std::size_t begin, std::size_t n, float* values) const = 0;
  // Returns the original intensity for a value from `read`.
  virtual float restored(float value) const = 0;
};

template <class T>
class IntensitiesOf final : public Intensities {
 public:
  IntensitiesOf(const T* data, double centre, double scale) : data_(data), centre_(centre), scale_(scale) {}

  void read(std::size_t begin, std::size_t n, float* values) const override {
    const T* data = data_ + begin;
    for (std::size_t k = 0; k < n; ++k) {
      values[k] = static_cast<float>((static_cast<double>(data[k]) - centre_) * scale_);
    }
  }

  float restored(float value) const override {
    return static_cast<float>(static_cast<double>(value) / scale_ + centre_);
  }

 private:
  const T* data_;
  double centre_, scale_;
};

// A box that may extend beyond the volume; edge voxels are repeated there.
struct Surroundings {
  std::array<std::ptrdiff_t, kAxes> low;
  Extents size;

  static Surroundings of(const Box& box, const Extents& reach) {
    Surroundings around;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      around.low[axis] = static_cast<std::ptrdiff_t>(box.low[axis]) - static_cast<std::ptrdiff_t>(reach[axis]);
      around.size[axis] = box.size(axis) + 2 * reach[axis];
    }
    return around;
  }
  std::size_t voxels() const { return size[0] * size[1] * size[2] * size[3]; }
};

// Fills `values` in C order: calls read(first voxel of the volume, number of voxels, values) for every row.
template <class Value, class Read>
void read_surroundings(const Surroundings& around, const Extents& shape, Value* values, Read read) {
  const auto nearest = [&](std::size_t axis, std::size_t step) {
    const std::ptrdiff_t at = around.low[axis] + static_cast<std::ptrdiff_t>(step);
    const auto last = static_cast<std::ptrdiff_t>(shape[axis]) - 1;
    return static_cast<std::size_t>(std::min(std::max<std::ptrdiff_t>(at, 0), last));
  };
  const std::size_t width = around.size[3], first = nearest(3, 0), last = nearest(3, width - 1);
  const std::size_t before = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, -around.low[3]));
  const std::size_t inside = std::min(before, width - 1);  // index in the row of its first voxel in the volume
  for (std::size_t t = 0; t < around.size[0]; ++t) {
    for (std::size_t z = 0; z < around.size[1]; ++z) {
      for (std::size_t y = 0; y < around.size[2]; ++y, values += width) {
        const std::size_t row = ((nearest(0, t) * shape[1] + nearest(1, z)) * shape[2] + nearest(2, y)) * shape[3];
        const std::size_t number = last - first + 1;
        read(row + first, number, values + inside);
        std::fill(values, values + inside, values[inside]);
        std::fill(values + inside + number, values + width, values[inside + number - 1]);
      }
    }
  }
}

}  // namespace consensus
