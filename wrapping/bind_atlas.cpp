// Atlases with images: the weights of joint label fusion.
#include "bindings.hpp"
#include "joint_weights.hpp"
#include "parallel.hpp"

namespace consensus {

namespace {

using Volume = py::array_t<float, py::array::c_style>;
using Steps = std::vector<std::ptrdiff_t>;

// Few voxels are already much work.
constexpr std::size_t kSmallestShare = 256;

void run_joint_weights(const Volume& target, const std::vector<Volume>& atlases,
                       const py::array_t<std::int64_t, py::array::c_style>& places,
                       const Steps& patch, const Steps& search, double beta, double alpha,
                       py::array_t<double, py::array::c_style> weights,
                       py::array_t<std::uint16_t, py::array::c_style> shifts,
                       std::size_t threads) {
  const std::size_t count = atlases.size();
  const std::size_t voxels = extent_of(places);
  require_extent(weights, voxels * count);
  require_extent(shifts, voxels * count);
  std::vector<const float*> images;
  for (const auto& atlas : atlases) {
    require_extent(atlas, extent_of(target));
    images.push_back(atlas.data());
  }
  const float* goal = target.data();
  const std::int64_t* at = places.data();
  double* out = weights.mutable_data();
  std::uint16_t* chosen = shifts.mutable_data();
  const JointSettings settings{beta, alpha};
  py::gil_scoped_release release;
  for_each_slab(make_slabs(voxels, threads, kSmallestShare), [&](std::size_t, Slab slab) {
    JointWorkspace room(count, patch.size());
    for (std::size_t n = slab.begin; n < slab.end; ++n) {
      joint_weights(goal, images, static_cast<std::ptrdiff_t>(at[n]), patch, search, settings, room,
                    out + n * count, chosen + n * count);
    }
  });
}

}  // namespace

void bind_atlas(py::module_& m) {
  m.def("joint_weights", &run_joint_weights, py::arg("target"), py::arg("atlases"),
        py::arg("places"), py::arg("patch"), py::arg("search"), py::arg("beta"), py::arg("alpha"),
        py::arg("weights"), py::arg("shifts"), py::arg("threads"));
}

}  // namespace consensus
