// Bindings for real-valued volumes: box sums and signed distances.
#include <algorithm>

#include "bindings.hpp"
#include "box_sum.hpp"
#include "distance.hpp"
#include "label_distances.hpp"
#include "lines.hpp"
#include "parallel.hpp"

namespace consensus {

namespace {

// An axis with radius 0 is not summed.
void run_box_sum(Array volume, const std::vector<std::size_t>& radii, std::size_t threads) {
  require_extent(volume, extent_of(volume));
  require_axes(volume, radii.size());
  const auto shape = shape_of(volume);
  with_real_type(volume, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    auto* values = static_cast<Value*>(volume.mutable_data());
    nb::gil_scoped_release release;
    for (std::size_t axis = 0; axis < radii.size(); ++axis) {
      if (radii[axis] > 0) box_sum_axis(values, lines_along(shape, axis), radii[axis], threads);
    }
  });
}

// An axis with a voxel size of 0 indexes independent volumes.
void run_signed_distance(const ArrayOf<std::uint8_t>& inside,
                          const std::vector<double>& sizes, Array out, std::size_t threads) {
  const std::size_t extent = extent_of(inside);
  require_extent(out, extent);
  require_axes(inside, sizes.size());
  const auto shape = shape_of(inside);
  with_real_type(out, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const auto* sides = inside.data();
    auto* values = static_cast<Real*>(out.mutable_data());
    nb::gil_scoped_release release;
    for_each_piece(extent, threads, [&](Slab slab) {
      for (std::size_t k = slab.begin; k < slab.end; ++k) values[k] = unknown_distance<Real>(sides[k] != 0);
    });
    signed_squares(shape, sizes, threads, nullptr, values);
    for_each_piece(extent, threads, [&](Slab slab) { sign_roots(slab.begin, slab.end, values); });
  });
}

// With weights, adds the weighted sum over raters to `out`; without weights, writes each rater's
// distances. The box is given by its lower corner and its size; places are flat indices in the
// box.
void run_label_distances(const Array& codes, const std::vector<std::size_t>& low,
                         const std::vector<std::size_t>& size,
                         const Array& said, std::size_t label, std::size_t also,
                         const std::vector<double>& sizes,
                         const ArrayOf<std::int64_t>& places,
                         const std::optional<ArrayOf<double>>& weights, Array out,
                         std::size_t threads_for_raters, std::size_t threads_each) {
  require_extent(codes, extent_of(codes));
  require_axes(codes, low.size());
  require_axes(codes, size.size());
  require_axes(codes, sizes.size());
  require_axes(said, 2);
  require_extent(said, extent_of(said));
  const auto raters = said.shape(0);
  const std::size_t number = extent_of(places);
  const double* shares = pointer_or_null(weights, raters);
  require_extent(out, shares ? number : raters * number);
  if (out.itemsize() != (shares ? sizeof(double) : sizeof(float))) {
    throw std::invalid_argument("sums are doubles, distances floats");
  }
  const BoxOfVolume box{shape_of(codes), low, size};
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    if (low[axis] > box.shape[axis] || size[axis] > box.shape[axis] - low[axis]) {
      throw std::invalid_argument("the box must lie in the volume");
    }
  }
  const RaterThreads threads{threads_for_raters, threads_each};
  const auto* at = places.data();
  void* found = out.mutable_data();
  with_code_type(codes, [&](auto code_tag) {
    with_code_type(said, [&](auto digit_tag) {
      using Code = typename decltype(code_tag)::type;
      using Digit = typename decltype(digit_tag)::type;
      const DrawnInBox<Code, Digit> drawn{
          static_cast<const Code*>(codes.data()), box, static_cast<const Digit*>(said.data()),
          said.shape(1), {label, also}, sizes, at, number};
      nb::gil_scoped_release release;
      if (shares) return sum_label_distances(drawn, raters, shares, threads, static_cast<double*>(found));
      label_distances(drawn, raters, threads, static_cast<float*>(found));
    });
  });
}

}  // namespace

void bind_volumes(nb::module_& m) {
  m.def("box_sum", &run_box_sum, nb::arg("volume"), nb::arg("radii"), nb::arg("threads"));
  m.def("signed_distance", &run_signed_distance, nb::arg("inside"), nb::arg("sizes"), nb::arg("out"),
        nb::arg("threads"));
  m.def("label_distances", &run_label_distances, nb::arg("codes"), nb::arg("low"), nb::arg("size"),
        nb::arg("said"), nb::arg("label"), nb::arg("also"), nb::arg("sizes"), nb::arg("places"), nb::arg("weights"),
        nb::arg("out"), nb::arg("threads_for_raters"), nb::arg("threads_each"));
}

}  // namespace consensus
