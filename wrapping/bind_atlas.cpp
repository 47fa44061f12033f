// Atlases with images: the weights of joint label fusion, and votes that weigh locally.
#include <algorithm>

#include "bindings.hpp"
#include "joint_weights.hpp"
#include "local_vote.hpp"
#include "parallel.hpp"

namespace consensus {

namespace {

using Volume = ArrayOf<float>;
using Steps = std::vector<std::ptrdiff_t>;

// Few voxels are already much work.
constexpr std::size_t kSmallestShare = 256;

void run_joint_weights(const Volume& target, const std::vector<Volume>& atlases,
                       const ArrayOf<std::int64_t>& places,
                       const Steps& patch, const Steps& search, double beta, double alpha,
                       ArrayOf<double> weights,
                       ArrayOf<std::uint16_t> shifts,
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
  nb::gil_scoped_release release;
  for_each_slab(make_slabs(voxels, threads, kSmallestShare), [&](std::size_t, Slab slab) {
    JointWorkspace room(count, patch.size());
    for (std::size_t n = slab.begin; n < slab.end; ++n) {
      if (n % 16 == 0) checkpoint();
      joint_weights(goal, images, static_cast<std::ptrdiff_t>(at[n]), patch, search, settings, room,
                    out + n * count, chosen + n * count);
    }
  });
}

using Digits = ArrayOf<std::uint16_t>;

Extents four_sizes(const std::vector<std::size_t>& sizes) {
  if (sizes.size() != kAxes || *std::min_element(sizes.begin(), sizes.end()) == 0) {
    throw std::invalid_argument("four positive sizes wanted");
  }
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

// `winners` gets the label of largest share or, if `label` is not negative, `shares` that label's.
void run_local_vote(const std::vector<Digits>& digits, const std::vector<Volume>& weights,
                    const ArrayOf<std::uint8_t>& asked, std::size_t labels,
                    const std::vector<std::vector<double>>& gaussian, const std::vector<std::size_t>& shape,
                    const std::vector<std::size_t>& tile, std::size_t threads, std::ptrdiff_t label,
                    std::optional<ArrayOf<std::int32_t>> winners,
                    std::optional<Volume> shares) {
  const TileGrid grid{four_sizes(shape), four_sizes(tile)};
  const std::size_t voxels = whole_box(grid.shape).voxels();
  const auto empty = [](const auto& axis) { return axis.empty(); };
  if (digits.size() != weights.size() || gaussian.size() != kAxes || grid.tile[0] != 1 ||
      std::any_of(gaussian.begin(), gaussian.end(), empty) || gaussian[0].size() != 1) {
    throw std::invalid_argument("as many weights as raters, and four axes wanted");
  }
  require_extent(asked, voxels);
  LocalVotes votes{{}, {}, asked.data(), labels, grid.shape, {gaussian[0], gaussian[1], gaussian[2], gaussian[3]}};
  for (std::size_t rater = 0; rater < digits.size(); ++rater) {
    require_extent(digits[rater], voxels);
    require_extent(weights[rater], voxels);
    votes.digits.push_back(digits[rater].data());
    votes.weights.push_back(weights[rater].data());
  }
  if (winners) require_extent(*winners, voxels);
  if (shares) require_extent(*shares, voxels);
  std::int32_t* best = winners ? winners->mutable_data() : nullptr;
  float* share = shares ? shares->mutable_data() : nullptr;
  nb::gil_scoped_release release;
  const TileRange all{0, grid.count()};
  for_each_tile(grid, all, threads, LocalVoteTile(votes), [&](LocalVoteTile& worker, const Box& box) {
    if (best) worker.decide(box, best);
    if (share) worker.share(box, static_cast<std::size_t>(label), share);
  });
}

}  // namespace

void bind_atlas(nb::module_& m) {
  m.def("local_vote", &run_local_vote, nb::arg("digits"), nb::arg("weights"), nb::arg("asked"), nb::arg("labels"),
        nb::arg("gaussian"), nb::arg("shape"), nb::arg("tile"), nb::arg("threads"), nb::arg("label"),
        nb::arg("winners"), nb::arg("shares"));
  m.def("joint_weights", &run_joint_weights, nb::arg("target"), nb::arg("atlases"),
        nb::arg("places"), nb::arg("patch"), nb::arg("search"), nb::arg("beta"), nb::arg("alpha"),
        nb::arg("weights"), nb::arg("shifts"), nb::arg("threads"));
}

}  // namespace consensus
