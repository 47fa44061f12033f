// Gaussians of whole volumes, and the bands of scale that are made of them.
#include <algorithm>

#include "band_means.hpp"
#include "bindings.hpp"
#include "gaussian_volume.hpp"

namespace consensus {

namespace {

using Floats = py::array_t<float, py::array::c_style>;
using Weights = std::vector<std::vector<double>>;

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

template <class Mask>
MaskField<Mask> mask_field(const py::array& masks, const std::uint8_t* present, const std::vector<double>& weights,
                           const std::vector<Weights>& scales, const Extents& shape) {
  MaskField<Mask> field{static_cast<const Mask*>(masks.data()), present, weights, {}, shape};
  for (const Weights& scale : scales) {
    require_weights(scale, kAxes);
    if (scale[0].size() != 1) throw std::invalid_argument("the first axis is not smoothed");
    field.scales.push_back({scale[0], scale[1], scale[2], scale[3]});
  }
  return field;
}

// masks are uint8 or float32, (raters, voxels); outputs as in band_means.hpp.
void run_band_means(const py::array& masks,
                    const std::optional<py::array_t<std::uint8_t, py::array::c_style>>& present,
                    const std::vector<double>& weights, const std::vector<Weights>& scales,
                    const std::vector<std::size_t>& shape, const std::vector<std::size_t>& tile,
                    std::size_t threads, Floats values, Floats squares, Floats base, Floats votes, Floats raters) {
  const TileGrid grid{four_sizes(shape), four_sizes(tile)};
  const std::size_t voxels = whole_box(grid.shape).voxels();
  if (weights.empty() || scales.size() < 2 || grid.tile[0] != 1) {
    throw std::invalid_argument("raters, two scales and tiles of single volumes wanted");
  }
  require_extent(masks, weights.size() * voxels);
  const std::uint8_t* there = pointer_or_null(present, weights.size() * voxels);
  require_extent(values, (scales.size() - 1) * voxels);
  require_extent(squares, (scales.size() - 1) * voxels);
  for (const Floats* one : {&base, &votes, &raters}) require_extent(*one, voxels);
  const BandOutputs out{values.mutable_data(), squares.mutable_data(), base.mutable_data(),
                        votes.mutable_data(), raters.mutable_data()};
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

}  // namespace

void bind_gaussian(py::module_& m) {
  m.def("gaussian", &run_gaussian, py::arg("volume"), py::arg("spare"), py::arg("weights"), py::arg("nearest"),
        py::arg("threads"));
  m.def("band_means", &run_band_means, py::arg("masks"), py::arg("present"), py::arg("weights"),
        py::arg("scales"), py::arg("shape"), py::arg("tile"), py::arg("threads"), py::arg("values"),
        py::arg("squares"), py::arg("base"), py::arg("votes"), py::arg("raters"));
}

}  // namespace consensus
