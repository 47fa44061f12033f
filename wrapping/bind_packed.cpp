// Votes packed as bits, for two labels: packing, expected counts, probabilities.
#include <algorithm>

#include "bindings.hpp"
#include "confusion_em.hpp"
#include "packed_votes.hpp"
#include "parallel.hpp"
#include "rater_votes.hpp"

namespace consensus {

namespace {

using Bytes = py::array_t<std::uint8_t, py::array::c_style>;
using Reals = py::array_t<double, py::array::c_style>;

// Voxels whose sums are made together, whatever the number of threads.
constexpr std::size_t kPackedSlab = std::size_t{1} << 17;

Bytes run_pack_votes(const std::vector<const RaterVotes*>& raters, std::size_t extent,
                     std::size_t threads) {
  const Stack stack = make_stack(raters, 2, extent);
  const std::size_t groups = (raters.size() + 7) / 8;
  Bytes planes({static_cast<py::ssize_t>(groups), static_cast<py::ssize_t>(extent)});
  auto* to = planes.mutable_data();
  py::gil_scoped_release release;
  for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) {
    pack_votes(stack.raters, extent, slab.begin, slab.end, to);
  });
  return planes;
}

PackedPlanes planes_of(const Bytes& planes, const Mask& mask) {
  require_axes(planes, 2);
  const auto shape = shape_of(planes);
  return {planes.data(), shape[1], shape[0], pointer_or_null(mask, shape[1])};
}

const Pair* tables_of(const Reals& tables, const PackedPlanes& packed) {
  require_extent(tables, packed.groups * 256 * 2);
  static_assert(sizeof(Pair) == 2 * sizeof(double));
  return reinterpret_cast<const Pair*>(tables.data());
}

template <class Expect>
py::tuple packed_sums(const PackedPlanes& packed, std::size_t threads, Expect expect_slab) {
  PackedSums total(packed.groups);
  {
    py::gil_scoped_release release;
    const std::size_t count = std::max<std::size_t>(1, packed.extent / kPackedSlab);
    const auto slabs = make_slabs(packed.extent, count, 1);
    std::vector<PackedSums> parts(slabs.size(), PackedSums(packed.groups));
    share_slabs(slabs, threads,
                [&](std::size_t k, Slab slab) { expect_slab(slab.begin, slab.end, parts[k]); });
    for (const auto& part : parts) total.add(part);
  }
  Reals histograms({static_cast<py::ssize_t>(packed.groups), py::ssize_t{256}, py::ssize_t{2}});
  double* to = histograms.mutable_data();
  for (const Pair& bin : total.histograms) to = std::copy_n(bin.of, 2, to);
  return py::make_tuple(histograms, py::make_tuple(total.mass.of[0], total.mass.of[1]),
                        total.log_likelihood);
}

py::tuple run_packed_counts(const Bytes& planes, const Mask& mask, const Reals& tables,
                            std::size_t threads) {
  const PackedPlanes packed = planes_of(planes, mask);
  const Pair* logs = tables_of(tables, packed);
  return packed_sums(packed, threads, [&](std::size_t begin, std::size_t end, PackedSums& sums) {
    expect_packed(packed, logs, begin, end, sums);
  });
}

py::tuple run_packed_vote_counts(const Bytes& planes, const Mask& mask, const Reals& foreground,
                                 std::size_t threads) {
  const PackedPlanes packed = planes_of(planes, mask);
  require_extent(foreground, packed.groups * 8 + 1);
  return packed_sums(packed, threads, [&](std::size_t begin, std::size_t end, PackedSums& sums) {
    expect_packed_votes(packed, foreground.data(), begin, end, sums);
  });
}

void run_packed_probability(const Bytes& planes, const Mask& mask, const Reals& tables, py::array out,
                            std::size_t threads) {
  const PackedPlanes packed = planes_of(planes, mask);
  const Pair* logs = tables_of(tables, packed);
  require_extent(out, packed.extent);
  with_real_type(out, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    auto* to = static_cast<Real*>(out.mutable_data());
    py::gil_scoped_release release;
    for_each_slab(make_slabs(packed.extent, threads), [&](std::size_t, Slab slab) {
      packed_probability(packed, logs, slab.begin, slab.end, to);
    });
  });
}

}  // namespace

void bind_packed(py::module_& m) {
  m.def("pack_votes", &run_pack_votes, py::arg("raters"), py::arg("extent"), py::arg("threads"));
  m.def("packed_counts", &run_packed_counts, py::arg("planes"), py::arg("mask"), py::arg("tables"),
        py::arg("threads"));
  m.def("packed_vote_counts", &run_packed_vote_counts, py::arg("planes"), py::arg("mask"),
        py::arg("foreground"), py::arg("threads"));
  m.def("packed_probability", &run_packed_probability, py::arg("planes"), py::arg("mask"),
        py::arg("tables"), py::arg("out"), py::arg("threads"));
}

}  // namespace consensus
