// Finds the shift near each voxel at which an atlas is most similar to the target, by box sums.
//
// The squared difference of normalised patches u = (t - mean(t)) / s(t) and v = (a - mean(a)) /
// s(a) is |u|^2 + |v|^2 - 2 u.v, where u.v = (sum(t a) - n mean(t) mean(a)) / (s(t) s(a)). Thus
// for one shift, the sums at all voxels are obtained from the product of two volumes by summing
// along the three axes. Terms are added in an order that does not depend on the box, so results do
// not depend on tiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "intensities.hpp"
#include "simd.hpp"

namespace consensus {

// out[k] = rows[0][k] + rows[1][k] + .., for an odd number of rows. Rows at the same distance from the
// middle are added first, so that rows in reverse order have a bitwise equal sum.
CONSENSUS_WIDE static inline void add_rows(const float* const* rows, std::size_t number, std::size_t n, float* out) {
  const std::size_t middle = number / 2;
  const float* a = rows[middle];
  if (number == 1) {
    for (std::size_t k = 0; k < n; ++k) out[k] = a[k];
    return;
  }
  const float *b = rows[middle - 1], *c = rows[middle + 1];
  if (number == 3) {
    for (std::size_t k = 0; k < n; ++k) out[k] = (b[k] + c[k]) + a[k];
    return;
  }
  const float *d = rows[middle - 2], *e = rows[middle + 2];
  for (std::size_t k = 0; k < n; ++k) out[k] = (b[k] + c[k]) + (d[k] + e[k]) + a[k];
  for (std::size_t step = 3; step <= middle; ++step) {
    const float *f = rows[middle - step], *g = rows[middle + step];
    for (std::size_t k = 0; k < n; ++k) out[k] = out[k] + (f[k] + g[k]);
  }
}

// Sums over a sliding window of values or planes; the array of pointers is reused.
class Windows {
 public:
  // out[k] = in[k] + in[k + stride] + .. + in[k + 2 * radius * stride].
  void add(const float* in, std::size_t radius, std::size_t stride, std::size_t n, float* out) {
    rows_.resize(2 * radius + 1);
    for (std::size_t step = 0; step < rows_.size(); ++step) rows_[step] = in + step * stride;
    add_rows(rows_.data(), rows_.size(), n, out);
  }

  // The same for planes in a ring buffer whose oldest plane has the index `first`.
  void add_ring(const float* ring, std::size_t first, std::size_t radius, std::size_t stride, std::size_t n,
                float* out) {
    rows_.resize(2 * radius + 1);
    for (std::size_t step = 0; step < rows_.size(); ++step) {
      rows_[step] = ring + (first + step) % rows_.size() * stride;
    }
    add_rows(rows_.data(), rows_.size(), n, out);
  }

 private:
  std::vector<const float*> rows_;
};

CONSENSUS_WIDE static inline void multiply(const float* a, const float* b, std::size_t n, float* out) {
  for (std::size_t k = 0; k < n; ++k) out[k] = a[k] * b[k];
}

// Weight of the squared difference of two patches' means, relative to that of their normalised
// values. It breaks ties between patches that are equal after normalisation, for example any three
// voxels with two equal values. Otherwise rounding errors would break them, with a different
// result in a mirrored image.
constexpr float kMeanShare = 1e-3f;

// Adds one shift's similarity to a row of voxels: u.v - |v|^2 / 2, minus the difference of means.
CONSENSUS_WIDE static inline void add_likeness(const float* sums, const float* target_sum, const float* target_inverse,
                                               const float* mean, const float* inverse, const float* half_square,
                                               float number, std::size_t n, float* likeness) {
  const float share = kMeanShare / number;
  for (std::size_t k = 0; k < n; ++k) {
    const float apart = target_sum[k] - number * mean[k];
    likeness[k] += (sums[k] - target_sum[k] * mean[k]) * (target_inverse[k] * inverse[k]) - half_square[k] -
                   share * (apart * apart);
  }
}

// Where a similarity exceeds the best one so far, stores it and the index of its shift.
CONSENSUS_WIDE static inline void keep_best(const float* likeness, std::int32_t shift, std::size_t n, float* best,
                                            std::int32_t* shifts) {
  for (std::size_t k = 0; k < n; ++k) {
    const bool is_better = likeness[k] > best[k];
    shifts[k] = is_better ? shift : shifts[k];
    best[k] = is_better ? likeness[k] : best[k];
  }
}

using Shift = std::array<std::ptrdiff_t, kAxes>;

struct PatchSettings {
  Extents patch;   // radii; 0 for the first axis
  Extents search;
  std::vector<Shift> shifts;  // the shifts to examine; among equally similar ones the first is chosen
  bool normalised;
  float smallest_spread;  // lower bound of a patch's standard deviation

  std::size_t patch_voxels() const {
    std::size_t number = 1;
    for (const std::size_t radius : patch) number *= 2 * radius + 1;
    return number;
  }
};

// Up to eight values of a row of a patch: their offset from the patch's corner, and the index of the first.
struct PatchPiece {
  std::size_t from, to;
};

// Returns the pieces of a patch, in order, for a volume of the given size.
inline std::vector<PatchPiece> pieces_of_patch(const Extents& patch, const Extents& size) {
  std::vector<PatchPiece> pieces;
  const std::size_t length = 2 * patch[3] + 1;
  std::size_t row = 0;
  for (std::size_t z = 0; z <= 2 * patch[1]; ++z) {
    for (std::size_t y = 0; y <= 2 * patch[2]; ++y, ++row) {
      for (std::size_t x = 0; x < length; x += kEight) {
        pieces.push_back({(z * size[2] + y) * size[3] + x, row * length + x});
      }
    }
  }
  return pieces;
}

// Writes the values of a patch, standardised by mean and standard deviation. Reads and writes multiples of
// eight: up to seven values that do not belong to the patch follow.
CONSENSUS_WIDE static inline void normalise_patch(const float* corner, const PatchPiece* pieces, std::size_t number,
                                                  float mean, float inverse, float* out) {
  for (std::size_t p = 0; p < number; ++p) {
    const float* values = corner + pieces[p].from;
    float found[kEight];
    for (std::size_t k = 0; k < kEight; ++k) found[k] = (values[k] - mean) * inverse;
    std::memcpy(out + pieces[p].to, found, sizeof found);
  }
}

// Writes the absolute differences between the standardised values of two patches.
CONSENSUS_WIDE static inline void patch_errors(const float* corner, const PatchPiece* pieces, std::size_t number,
                                               float mean, float inverse, const float* goal, float* out) {
  for (std::size_t p = 0; p < number; ++p) {
    const float* values = corner + pieces[p].from;
    const float* wanted = goal + pieces[p].to;
    float found[kEight];
    for (std::size_t k = 0; k < kEight; ++k) found[k] = std::abs((values[k] - mean) * inverse - wanted[k]);
    std::memcpy(out + pieces[p].to, found, sizeof found);
  }
}

// Computes the sum over the patch around each voxel.
class BoxSums {
 public:
  // Reads one volume of this size and writes the sums of the voxels whose patches are inside it.
  void add(const float* from, const Extents& size, const Extents& patch, std::vector<float>& to) {
    const std::size_t plane = size[2] * size[3], across = 2 * patch[3], down = 2 * patch[2] * size[3];
    const std::size_t columns = plane - across, rows = columns - down;
    const std::size_t depth = size[1] - 2 * patch[1], height = size[2] - 2 * patch[2], width = size[3] - across;
    to.resize(depth * height * width);
    planes_.resize(size[1] * rows);
    row_sums_.resize(columns);
    for (std::size_t z = 0; z < size[1]; ++z) {
      windows_.add(from + z * plane, patch[3], 1, columns, row_sums_.data());
      windows_.add(row_sums_.data(), patch[2], size[3], rows, planes_.data() + z * rows);
    }
    for (std::size_t z = 0; z < depth; ++z) {
      windows_.add(planes_.data() + z * rows, patch[1], rows, rows, row_sums_.data());
      for (std::size_t y = 0; y < height; ++y) {
        std::copy_n(row_sums_.data() + y * size[3], width, to.data() + (z * height + y) * width);
      }
    }
  }

 private:
  Windows windows_;
  std::vector<float> planes_, row_sums_;
};

// Intensities around the voxels of a box, and statistics of the patch at each of them.
struct Patches {
  Extents size{};  // size of `values`: the box, grown by the reach and by the patch's radii
  std::vector<float> values;
  Extents places{};  // size of the other arrays: the box, grown by the reach
  std::vector<float> mean, inverse, half_square;

  std::size_t value_at(std::size_t z, std::size_t y, std::size_t x) const {
    return (z * size[2] + y) * size[3] + x;
  }
  std::size_t place_at(std::size_t z, std::size_t y, std::size_t x) const {
    return (z * places[2] + y) * places[3] + x;
  }

  // Reads the image around a box. Precondition: the box has size 1 along the first axis.
  void load(const Intensities& image, const Box& box, const Extents& reach, const Extents& shape,
            const PatchSettings& settings) {
    Extents wide = reach;
    for (std::size_t axis = 0; axis < kAxes; ++axis) wide[axis] += settings.patch[axis];
    const Surroundings around = Surroundings::of(box, wide);
    size = around.size;
    places = Surroundings::of(box, reach).size;
    values.resize(around.voxels() + kEight);  // rows are read in multiples of eight
    read_surroundings(around, shape, values.data(),
                      [&](std::size_t begin, std::size_t n, float* row) { image.read(begin, n, row); });
    measure(settings);
  }

 private:
  void measure(const PatchSettings& settings) {
    const auto number = static_cast<float>(settings.patch_voxels());
    squares_.resize(values.size());
    multiply(values.data(), values.data(), values.size(), squares_.data());
    box_sums_.add(squares_.data(), size, settings.patch, half_square);
    if (!settings.normalised) {
      mean.assign(half_square.size(), 0.0f);
      inverse.assign(half_square.size(), 1.0f);
      for (float& square : half_square) square *= 0.5f;
      return;
    }
    box_sums_.add(values.data(), size, settings.patch, mean);
    inverse.resize(mean.size());
    const float degrees = std::max(number - 1.0f, 1.0f);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] /= number;
      const float squared = std::max(half_square[k] - number * mean[k] * mean[k], 0.0f);
      inverse[k] = 1.0f / std::max(std::sqrt(squared / degrees), settings.smallest_spread);
      half_square[k] = 0.5f * squared * inverse[k] * inverse[k];
    }
  }

  BoxSums box_sums_;
  std::vector<float> squares_;
};

// Finds, for each voxel, the shift at which the patch of an atlas is most similar to the target's.
class PatchSearch {
 public:
  explicit PatchSearch(const PatchSettings& settings) : settings_(&settings) {}

  // Writes the index in settings.shifts for each voxel. Preconditions: `target` and `atlas` have one member
  // per modality, loaded around the same box: the target with reach 0, the atlas with that of the search.
  void find(const std::vector<Patches>& target, const std::vector<Patches>& atlas, std::vector<std::int32_t>& shifts) {
    const Extents& voxels = target[0].places;
    const std::size_t number = voxels[1] * voxels[2] * voxels[3];
    shifts.assign(number, 0);
    if (settings_->shifts.size() == 1) return;
    prepare(target);
    best_.assign(number, -std::numeric_limits<float>::infinity());
    for (std::size_t s = 0; s < settings_->shifts.size(); ++s) {
      const auto& shift = settings_->shifts[s];
      for (std::size_t z = 0; z < target[0].size[1]; ++z) {
        for (std::size_t m = 0; m < target.size(); ++m) sum_plane(target[m], atlas[m], z, shift, rings_[m]);
        if (z >= 2 * settings_->patch[1]) {
          compare(target, atlas, z - 2 * settings_->patch[1], shift, static_cast<std::int32_t>(s), shifts);
        }
      }
    }
  }

 private:
  void prepare(const std::vector<Patches>& target) {
    const Extents& size = target[0].size;
    const std::size_t plane = size[2] * size[3];
    products_.resize(plane);
    row_sums_.resize(plane);
    sums_.resize(plane);
    likeness_.resize(target[0].places[3]);
    rings_.resize(target.size());
    target_sums_.resize(target.size());
    const auto number = static_cast<float>(settings_->patch_voxels());
    for (std::size_t m = 0; m < target.size(); ++m) {
      rings_[m].resize((2 * settings_->patch[1] + 1) * plane);
      target_sums_[m] = target[m].mean;
      for (float& mean : target_sums_[m]) mean *= number;
    }
  }

  // Replaces the oldest plane of the ring with the products of a plane, summed along rows and
  // columns.
  void sum_plane(const Patches& target, const Patches& atlas, std::size_t z, const Shift& shift,
                 std::vector<float>& ring) {
    const std::size_t height = target.size[2], width = target.size[3], plane = height * width;
    const std::size_t planes = 2 * settings_->patch[1] + 1;
    for (std::size_t y = 0; y < height; ++y) {
      multiply(target.values.data() + target.value_at(z, y, 0),
               atlas.values.data() + atlas.value_at(moved(z, shift, 1), moved(y, shift, 2), moved(0, shift, 3)), width,
               products_.data() + y * width);
    }
    const std::size_t columns = plane - 2 * settings_->patch[3], rows = columns - 2 * settings_->patch[2] * width;
    windows_.add(products_.data(), settings_->patch[3], 1, columns, row_sums_.data());
    windows_.add(row_sums_.data(), settings_->patch[2], width, rows, ring.data() + z % planes * plane);
  }

  std::size_t moved(std::size_t at, const Shift& shift, std::size_t axis) const {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at + settings_->search[axis]) + shift[axis]);
  }

  void compare(const std::vector<Patches>& target, const std::vector<Patches>& atlas, std::size_t z,
               const Shift& shift, std::int32_t number, std::vector<std::int32_t>& shifts) {
    const Extents& voxels = target[0].places;
    const std::size_t width = target[0].size[3], plane = target[0].size[2] * width;
    for (std::size_t y = 0; y < voxels[2]; ++y) {
      std::fill(likeness_.begin(), likeness_.end(), 0.0f);
      const std::size_t here = target[0].place_at(z, y, 0);
      const std::size_t there = atlas[0].place_at(moved(z, shift, 1), moved(y, shift, 2), moved(0, shift, 3));
      for (std::size_t m = 0; m < target.size(); ++m) {
        windows_.add_ring(rings_[m].data() + y * width, z, settings_->patch[1], plane, voxels[3], sums_.data());
        add_likeness(sums_.data(), target_sums_[m].data() + here, target[m].inverse.data() + here,
                     atlas[m].mean.data() + there, atlas[m].inverse.data() + there,
                     atlas[m].half_square.data() + there, static_cast<float>(settings_->patch_voxels()), voxels[3],
                     likeness_.data());
      }
      keep_best(likeness_.data(), number, voxels[3], best_.data() + here, shifts.data() + here);
    }
  }

  const PatchSettings* settings_;
  Windows windows_;
  std::vector<float> products_, row_sums_, sums_, likeness_, best_;
  std::vector<std::vector<float>> rings_, target_sums_;
};

}  // namespace consensus
