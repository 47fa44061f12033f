// Bindings for votes packed as bits, for two labels: one row per rater, or in planes for EM.
#include <limits>
#include <optional>

#include "bindings.hpp"
#include "masks.hpp"
#include "memory.hpp"
#include "packed_votes.hpp"
#include "parallel.hpp"
#include "rater_votes.hpp"

namespace consensus {

namespace {

using Bytes = ArrayOf<std::uint8_t>;
using Reals = ArrayOf<double>;

using Counts = std::optional<ArrayOf<std::int64_t>>;

Bytes run_pack_votes(const std::vector<const RaterVotes*>& raters, std::size_t extent,
                     std::size_t threads) {
  const Stack stack = make_stack(raters, 2, extent);
  const std::size_t groups = (raters.size() + 7) / 8;
  Bytes planes({groups, extent});
  auto* to = planes.mutable_data();
  nb::gil_scoped_release release;
  for_each_piece(extent, threads, [&](Slab slab) {
    pack_votes(stack.raters, extent, slab.begin, slab.end, to);
  });
  return planes;
}

PackedPlanes planes_of(const Bytes& planes, const Mask& mask, const Counts& counts = std::nullopt) {
  require_axes(planes, 2);
  const auto shape = shape_of(planes);
  return {planes.data(), shape[1], shape[0], pointer_or_null(mask, shape[1]),
          pointer_or_null(counts, shape[1])};
}

const Pair* tables_of(const Reals& tables, const PackedPlanes& packed) {
  require_extent(tables, packed.groups * 256 * 2);
  static_assert(sizeof(Pair) == 2 * sizeof(double));
  return reinterpret_cast<const Pair*>(tables.data());
}

template <class Expect>
nb::tuple packed_sums(const PackedPlanes& packed, std::size_t threads, Expect expect_slab) {
  const auto slabs = make_slabs(packed.extent, threads);
  std::vector<PackedSums> parts(slabs.size(), PackedSums(packed.groups));
  PackedSums& total = parts.front();
  {
    nb::gil_scoped_release release;
    // Pieces are larger than usual, since partial sums are flushed at the end of each piece.
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      in_pieces(slab, 16 * kPiece, [&](Slab piece) { expect_slab(piece.begin, piece.end, parts[k]); });
    });
    for (std::size_t k = 1; k < parts.size(); ++k) total.add(parts[k]);
  }
  Reals histograms({packed.groups, 256, 2});
  double* to = histograms.mutable_data();
  for (const PackedSums::Bin& bin : total.histograms) {
    *to++ = bin.foreground.subtracted_from(bin.voxels).value();
    *to++ = bin.foreground.value();
  }
  const double impossible = -std::numeric_limits<double>::infinity();
  return nb::make_tuple(histograms, total.possible ? total.log_likelihood.value() * kNats : impossible);
}

nb::tuple run_packed_counts(const Bytes& planes, const Mask& mask, const Counts& counts,
                            const Reals& tables, std::size_t threads) {
  const PackedPlanes packed = planes_of(planes, mask, counts);
  const Pair* logs = tables_of(tables, packed);
  return packed_sums(packed, threads, [&](std::size_t begin, std::size_t end, PackedSums& sums) {
    expect_packed(packed, logs, begin, end, sums);
  });
}

nb::tuple run_packed_vote_counts(const Bytes& planes, const Mask& mask, const Counts& counts,
                                 const Reals& foreground, std::size_t threads) {
  const PackedPlanes packed = planes_of(planes, mask, counts);
  require_extent(foreground, packed.groups * 8 + 1);
  return packed_sums(packed, threads, [&](std::size_t begin, std::size_t end, PackedSums& sums) {
    expect_packed_votes(packed, foreground.data(), begin, end, sums);
  });
}

void run_packed_probability(const Bytes& planes, const Mask& mask, const Reals& tables, Array out,
                            std::size_t threads) {
  const PackedPlanes packed = planes_of(planes, mask);
  const Pair* logs = tables_of(tables, packed);
  require_extent(out, packed.extent);
  with_real_type(out, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    auto* to = static_cast<Real*>(out.mutable_data());
    nb::gil_scoped_release release;
    for_each_piece(packed.extent, threads, [&](Slab slab) {
      packed_probability(packed, logs, slab.begin, slab.end, to);
    });
  });
}

// Returns the two values in the masks and their bits, one row per mask, where 1 is the higher
// value; None if there is a third value.
nb::object run_pack_masks(const std::vector<Bytes>& masks, std::size_t threads) {
  if (masks.empty()) throw std::invalid_argument("at least one mask wanted");
  const std::size_t extent = extent_of(masks[0]), stretches = stretches_of(extent);
  std::vector<const std::uint8_t*> rows;
  for (const Bytes& mask : masks) {
    require_extent(mask, extent);
    rows.push_back(mask.data());
  }
  if (extent == 0) throw std::invalid_argument("masks must have voxels");
  Bytes bits({rows.size(), stretches * kLane});
  std::uint8_t* to = bits.mutable_data();
  const auto slabs = stretch_slabs(extent, threads);
  std::vector<MaskPacker> packers(slabs.size(), MaskPacker{rows[0][0], rows[0][0]});
  MaskPacker& all = packers.front();
  {
    nb::gil_scoped_release release;
    prefer_huge_pages(to, rows.size() * stretches * kLane);
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        in_pieces(slab, kPieceOfStretches, [&](Slab piece) {
          if (packers[k].is_mask) packers[k].pack(rows[j], extent, piece.begin, piece.end, to + j * stretches * kLane);
        });
      }
    });
    for (const MaskPacker& packer : packers) all.add(packer);
    if (all.is_mask && all.second < all.first) {
      std::transform(to, to + bits.size(), to, [](std::uint8_t byte) { return static_cast<std::uint8_t>(~byte); });
    }
  }
  if (!all.is_mask) return nb::none();
  return nb::make_tuple(std::min(all.first, all.second), std::max(all.first, all.second), bits);
}

// Returns bits that are 1 where an array is not 0.
Bytes run_pack_bits(const Bytes& marks, std::size_t threads) {
  const std::size_t extent = extent_of(marks), stretches = stretches_of(extent);
  require_extent(marks, extent);
  Bytes bits(stretches * kLane);
  auto* to = bits.mutable_data();
  nb::gil_scoped_release release;
  for_each_slab(stretch_slabs(extent, threads), [&](std::size_t, Slab slab) {
    in_pieces(slab, kPieceOfStretches, [&](Slab piece) {
      pack_marked(marks.data(), extent, piece.begin, piece.end, to);
    });
  });
  return bits;
}

// Unpacks each bit to a byte of 0 or 1; only whole stretches (256 voxels) are accepted.
Bytes run_unpack_bits(const Bytes& bits) {
  const std::size_t stretches = extent_of(bits) / kLane;
  require_extent(bits, stretches * kLane);
  Bytes bytes(stretches * kStretch);
  auto* to = bytes.mutable_data();
  nb::gil_scoped_release release;
  unpack_stretches(bits.data(), stretches, to);
  return bytes;
}

}  // namespace

void bind_packed(nb::module_& m) {
  m.def("pack_masks", &run_pack_masks, nb::arg("masks"), nb::arg("threads"));
  m.def("pack_bits", &run_pack_bits, nb::arg("marks"), nb::arg("threads"));
  m.def("unpack_bits", &run_unpack_bits, nb::arg("bits"));
  m.def("pack_votes", &run_pack_votes, nb::arg("raters"), nb::arg("extent"), nb::arg("threads"));
  m.def("packed_counts", &run_packed_counts, nb::arg("planes"), nb::arg("mask"), nb::arg("counts"),
        nb::arg("tables"), nb::arg("threads"));
  m.def("packed_vote_counts", &run_packed_vote_counts, nb::arg("planes"), nb::arg("mask"),
        nb::arg("counts"), nb::arg("foreground"), nb::arg("threads"));
  m.def("packed_probability", &run_packed_probability, nb::arg("planes"), nb::arg("mask"),
        nb::arg("tables"), nb::arg("out"), nb::arg("threads"));
}

}  // namespace consensus
