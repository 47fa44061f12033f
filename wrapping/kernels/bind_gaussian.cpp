// Bindings of Gaussian smoothing of whole volumes.
#include <algorithm>

#include "bindings.hpp"
#include "gaussian_volume.hpp"

namespace consensus {

namespace {

using Weights = std::vector<std::vector<double>>;

void require_weights(const Weights& weights, std::size_t axes) {
  const auto missing = [](const auto& axis) { return axis.empty(); };
  if (weights.size() != axes || std::any_of(weights.begin(), weights.end(), missing)) {
    throw std::invalid_argument("weights for every axis wanted");
  }
}

void run_gaussian(Array volume, Array spare, const Weights& weights, bool nearest, std::size_t threads) {
  require_extent(volume, extent_of(volume));
  require_extent(spare, extent_of(volume));
  const auto shape = shape_of(volume);
  require_weights(weights, shape.size());
  if (spare.itemsize() != volume.itemsize()) throw std::invalid_argument("volume and spare differ in width");
  with_real_type(volume, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    auto* values = static_cast<Real*>(volume.mutable_data());
    auto* other = static_cast<Real*>(spare.mutable_data());
    nb::gil_scoped_release release;
    smooth_volume(shape, weights, nearest ? Edge::nearest : Edge::zero, threads, values, other);
  });
}

}  // namespace

void bind_gaussian(nb::module_& m) {
  m.def("gaussian", &run_gaussian, nb::arg("volume"), nb::arg("spare"), nb::arg("weights"), nb::arg("nearest"),
        nb::arg("threads"));
}

}  // namespace consensus
