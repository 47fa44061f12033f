// Real volumes: sums over boxes and signed distances.
#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "box_sum.hpp"
#include "distance.hpp"
#include "lines.hpp"
#include "parallel.hpp"

namespace consensus {

namespace {

// A radius of 0 leaves its axis alone.
void run_box_sum(py::array volume, const std::vector<std::size_t>& radii, std::size_t threads) {
  require_extent(volume, extent_of(volume));
  require_axes(volume, radii.size());
  const auto shape = shape_of(volume);
  with_real_type(volume, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    auto* values = static_cast<Value*>(volume.mutable_data());
    py::gil_scoped_release release;
    for (std::size_t axis = 0; axis < radii.size(); ++axis) {
      if (radii[axis] > 0) box_sum_axis(values, lines_along(shape, axis), radii[axis], threads);
    }
  });
}

// A size of 0 makes an axis hold independent volumes.
void run_signed_distance(const py::array_t<std::uint8_t, py::array::c_style>& inside,
                          const std::vector<double>& sizes, py::array out, std::size_t threads) {
  const std::size_t extent = extent_of(inside);
  require_extent(out, extent);
  require_axes(inside, sizes.size());
  const auto shape = shape_of(inside);
  with_real_type(out, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const auto* sides = inside.data();
    auto* values = static_cast<Real*>(out.mutable_data());
    py::gil_scoped_release release;
    std::fill_n(values, extent, std::numeric_limits<Real>::infinity());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (sizes[axis] > 0) {
        distance_axis(sides, lines_along(shape, axis), sizes[axis], threads, values);
      }
    }
    for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) {
      sign_roots(sides, slab.begin, slab.end, values);
    });
  });
}

}  // namespace

void bind_volumes(py::module_& m) {
  m.def("box_sum", &run_box_sum, py::arg("volume"), py::arg("radii"), py::arg("threads"));
  m.def("signed_distance", &run_signed_distance, py::arg("inside"), py::arg("sizes"), py::arg("out"),
        py::arg("threads"));
}

}  // namespace consensus
