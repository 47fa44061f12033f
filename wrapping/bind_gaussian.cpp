// Gaussians of whole volumes, and the bands of scale that are made of them.
#include <algorithm>

#include "band_means.hpp"
#include "bindings.hpp"
#include "clean_answer.hpp"
#include "coherence_gain.hpp"
#include "gaussian_volume.hpp"

namespace consensus {

namespace {

using Floats = py::array_t<float, py::array::c_style>;
using MaybeFloats = std::optional<Floats>;
using Weights = std::vector<std::vector<double>>;

float* output_or_null(MaybeFloats& wanted, std::size_t voxels) {
  if (!wanted) return nullptr;
  require_extent(*wanted, voxels);
  return wanted->mutable_data();
}

void require_weights(const Weights& weights, std::size_t axes) {
  const auto missing = [](const auto& axis) { return axis.empty(); };
  if (weights.size() != axes || std::any_of(weights.begin(), weights.end(), missing)) {
    throw std::invalid_argument("weights for every axis wanted");
  }
}

void run_gaussian(py::array volume, py::array spare, const Weights& weights, bool nearest, std::size_t threads) {
  require_extent(volume, extent_of(volume));
  require_extent(spare, extent_of(volume));
  const auto shape = shape_of(volume);
  require_weights(weights, shape.size());
  if (spare.itemsize() != volume.itemsize()) throw std::invalid_argument("volume and spare differ in width");
  with_real_type(volume, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    auto* values = static_cast<Real*>(volume.mutable_data());
    auto* other = static_cast<Real*>(spare.mutable_data());
    py::gil_scoped_release release;
    smooth_volume(shape, weights, nearest ? Edge::nearest : Edge::zero, threads, values, other);
  });
}

Extents four_sizes(const std::vector<std::size_t>& sizes) {
  if (sizes.size() != kAxes || *std::min_element(sizes.begin(), sizes.end()) == 0) {
    throw std::invalid_argument("four positive sizes wanted");
  }
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

std::vector<GaussianWeights> gaussians_of(const std::vector<Weights>& scales) {
  std::vector<GaussianWeights> found;
  for (const Weights& scale : scales) {
    require_weights(scale, kAxes);
    if (scale[0].size() != 1) throw std::invalid_argument("the first axis is not smoothed");
    found.push_back({scale[0], scale[1], scale[2], scale[3]});
  }
  return found;
}

template <class Mask>
MaskField<Mask> mask_field(const py::array& masks, const std::uint8_t* present, const std::vector<double>& weights,
                           const std::vector<Weights>& scales, const Extents& shape) {
  MaskField<Mask> field{static_cast<const Mask*>(masks.data()), present, weights, {}, shape};
  field.scales = gaussians_of(scales);
  return field;
}

// masks are uint8 or float32, (raters, voxels); outputs as in band_means.hpp.
void run_band_means(const py::array& masks,
                    const std::optional<py::array_t<std::uint8_t, py::array::c_style>>& present,
                    const std::vector<double>& weights, const std::vector<Weights>& scales,
                    const std::vector<std::size_t>& shape, const std::vector<std::size_t>& tile,
                    std::size_t threads, Floats values, Floats squares, MaybeFloats base, MaybeFloats base_squares,
                    MaybeFloats votes, MaybeFloats raters) {
  const TileGrid grid{four_sizes(shape), four_sizes(tile)};
  const std::size_t voxels = whole_box(grid.shape).voxels();
  if (weights.empty() || scales.size() < 2 || grid.tile[0] != 1) {
    throw std::invalid_argument("raters, two scales and tiles of single volumes wanted");
  }
  require_extent(masks, weights.size() * voxels);
  const std::uint8_t* there = pointer_or_null(present, weights.size() * voxels);
  require_extent(values, (scales.size() - 1) * voxels);
  require_extent(squares, (scales.size() - 1) * voxels);
  const BandOutputs out{values.mutable_data(),         squares.mutable_data(),
                        output_or_null(base, voxels),  output_or_null(base_squares, voxels),
                        output_or_null(votes, voxels), output_or_null(raters, voxels)};
  const auto run = [&](auto tag) {
    using Mask = typename decltype(tag)::type;
    const auto field = mask_field<Mask>(masks, there, weights, scales, grid.shape);
    py::gil_scoped_release release;
    for_each_tile(grid, {0, grid.count()}, threads, BandMeans<Mask>(field),
                  [&](BandMeans<Mask>& worker, const Box& box) { worker.compute(box, out); });
  };
  if (masks.dtype().kind() == 'u' && masks.itemsize() == 1) return run(Tag<std::uint8_t>{});
  if (masks.dtype().kind() == 'f' && masks.itemsize() == 4) return run(Tag<float>{});
  throw std::invalid_argument("masks must be uint8 or float32");
}

void run_clean_answer(const py::array_t<std::uint8_t, py::array::c_style>& mask, const std::vector<Floats>& gains,
                      const Floats& detail, const std::vector<Weights>& scales,
                      const std::vector<std::size_t>& shape, const std::vector<std::size_t>& tile,
                      std::size_t threads, Floats answer) {
  const TileGrid grid{four_sizes(shape), four_sizes(tile)};
  const std::size_t voxels = whole_box(grid.shape).voxels();
  if (gains.empty() || scales.size() != gains.size() + 1 || grid.tile[0] != 1) {
    throw std::invalid_argument("a scale more than gains, and tiles of single volumes wanted");
  }
  require_extent(mask, voxels);
  require_extent(detail, voxels);
  require_extent(answer, voxels);
  CleanField field{mask.data(), {}, detail.data(), gaussians_of(scales), grid.shape};
  for (const Floats& gain : gains) {
    require_extent(gain, voxels);
    field.gains.push_back(gain.data());
  }
  float* out = answer.mutable_data();
  py::gil_scoped_release release;
  for_each_tile(grid, {0, grid.count()}, threads, CleanAnswer(field),
                [&](CleanAnswer& worker, const Box& box) { worker.compute(box, out); });
}

void run_keep_shares(const Floats& power, const Floats& shared, const std::optional<Floats>& raters,
                     float number_of_raters, float least_power, const Floats& values, float gain_sharpness,
                     float detail_sharpness, std::size_t threads, Floats gain, Floats answer, MaybeFloats detail) {
  const std::size_t voxels = extent_of(power);
  for (const Floats* one : {&power, &shared, &values, static_cast<const Floats*>(&gain), static_cast<const Floats*>(&answer)}) {
    require_extent(*one, voxels);
  }
  const BandPower band{power.data(), shared.data(), pointer_or_null(raters, voxels), number_of_raters, least_power};
  const KeptShares kept{values.data(), gain.mutable_data(), answer.mutable_data(), output_or_null(detail, voxels),
                        gain_sharpness, detail_sharpness};
  py::gil_scoped_release release;
  keep_shares(band, kept, voxels, threads);
}

}  // namespace

void bind_gaussian(py::module_& m) {
  m.def("gaussian", &run_gaussian, py::arg("volume"), py::arg("spare"), py::arg("weights"), py::arg("nearest"),
        py::arg("threads"));
  m.def("band_means", &run_band_means, py::arg("masks"), py::arg("present"), py::arg("weights"),
        py::arg("scales"), py::arg("shape"), py::arg("tile"), py::arg("threads"), py::arg("values"),
        py::arg("squares"), py::arg("base"), py::arg("base_squares"), py::arg("votes"), py::arg("raters"));
  m.def("clean_answer", &run_clean_answer, py::arg("mask"), py::arg("gains"), py::arg("detail"),
        py::arg("scales"), py::arg("shape"), py::arg("tile"), py::arg("threads"), py::arg("answer"));
  m.def("keep_shares", &run_keep_shares, py::arg("power"), py::arg("shared"), py::arg("raters"),
        py::arg("number_of_raters"), py::arg("least_power"), py::arg("values"), py::arg("gain_sharpness"),
        py::arg("detail_sharpness"), py::arg("threads"), py::arg("gain"), py::arg("answer"), py::arg("detail"));
}

}  // namespace consensus
