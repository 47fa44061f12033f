// Bindings for bounding boxes, bits of labels, connected components and dilation by a box.
#include <algorithm>

#include "bindings.hpp"
#include "label_boxes.hpp"
#include "pack_marks.hpp"
#include "pieces.hpp"
#include "parallel.hpp"
#include "rater_votes.hpp"
#include "spread.hpp"

namespace consensus {

namespace {

using Flags = ArrayOf<std::uint8_t>;

Extents four_extents(const std::vector<std::size_t>& values, std::size_t least) {
  if (values.size() != kAxes || *std::min_element(values.begin(), values.end()) < least) {
    throw std::invalid_argument("four sizes wanted");
  }
  return {values[0], values[1], values[2], values[3]};
}

// Returns (labels, 4, 2): first voxel and end along each axis; the end is 0 for labels that do not occur.
ArrayOf<std::int64_t> run_label_boxes(const std::vector<const RaterVotes*>& raters, std::size_t labels,
                                          const std::vector<std::size_t>& shape, std::size_t threads) {
  const Extents extents = four_extents(shape, 1);
  const Stack stack = make_stack(raters, 2, whole_box(extents).voxels());
  ArrayOf<std::int64_t> found({labels, kAxes, 2});
  LabelBoxes all(labels, extents);
  {
    nb::gil_scoped_release release;
    const std::size_t rows = whole_box(extents).rows();
    const std::size_t smallest = std::max<std::size_t>(1, kSmallestSlab / extents[3]);
    const auto slabs = make_slabs(rows, threads, smallest);
    std::vector<LabelBoxes> parts(slabs.size(), all);
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      in_pieces(slab, smallest, [&](Slab piece) {
        for (const Votes* rater : stack.raters) parts[k].add(*rater, piece.begin, piece.end);
      });
    });
    for (const LabelBoxes& part : parts) all.add(part);
  }
  auto* to = found.mutable_data();
  for (const Box& box : all.boxes()) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      *to++ = static_cast<std::int64_t>(box.low[axis]);
      *to++ = static_cast<std::int64_t>(box.high[axis]);
    }
  }
  return found;
}

void run_spread(const Flags& flags, const std::vector<std::size_t>& reach, const std::vector<std::size_t>& shape,
                const std::vector<std::size_t>& tile, std::size_t threads, Flags out) {
  const TileGrid grid{four_extents(shape, 1), four_extents(tile, 1)};
  const Extents around = four_extents(reach, 0);
  const std::size_t voxels = whole_box(grid.shape).voxels();
  if (around[0] != 0) throw std::invalid_argument("nothing spreads along the first axis");
  require_extent(flags, voxels);
  require_extent(out, voxels);
  const std::uint8_t* from = flags.data();
  std::uint8_t* to = out.mutable_data();
  nb::gil_scoped_release release;
  for_each_tile(grid, {0, grid.count()}, threads, Spread(around, grid.shape),
                [&](Spread& worker, const Box& box) { worker.compute(from, box, to); });
}

// Sets bits in `planes`. An empty array as a rater's value means that the rater never gave the label.
void run_pack_marks(const std::vector<Array>& raters, const std::vector<Array>& values,
                    const std::vector<std::size_t>& shape, const std::vector<std::size_t>& low,
                    const std::vector<std::size_t>& high, Flags planes) {
  const Extents extents = four_extents(shape, 1);
  const Box box{four_extents(low, 0), four_extents(high, 1)};
  if (!(intersection(box, whole_box(extents)) == box) || values.size() != raters.size()) {
    throw std::invalid_argument("a box in the volume, and a value per rater wanted");
  }
  require_extent(planes, (raters.size() + 7) / 8 * box.voxels());
  for (std::size_t rater = 0; rater < raters.size(); ++rater) {
    if (values[rater].size() == 0) continue;
    require_extent(raters[rater], whole_box(extents).voxels());
    if (values[rater].type() != raters[rater].type()) throw std::invalid_argument("a value of the rater's type wanted");
  }
  // Consecutive raters with the same label type and the same byte are processed together.
  for (std::size_t first = 0, end = 0; first < raters.size(); first = end) {
    const std::size_t next_byte = std::min(raters.size(), (first / 8 + 1) * 8);
    for (end = first + 1; end < next_byte && raters[end].type() == raters[first].type();) ++end;
    std::uint8_t* plane = planes.mutable_data() + first / 8 * box.voxels();
    with_label_type(raters[first], [&](auto tag) {
      using Label = typename decltype(tag)::type;
      std::vector<Marking<Label>> some;
      for (std::size_t rater = first; rater < end; ++rater) {
        if (values[rater].size() == 0) continue;
        some.push_back({static_cast<const Label*>(raters[rater].data()),
                        *static_cast<const Label*>(values[rater].data()), static_cast<std::uint8_t>(1u << rater % 8)});
      }
      nb::gil_scoped_release release;
      pack_marks(some, extents, box, plane);
    });
  }
}

// Returns (pieces, 10): number of voxels; begin and end along each of four axes; index of the first voxel.
ArrayOf<std::int64_t> run_label_pieces(const Array& labels, const std::vector<std::size_t>& shape, bool corners,
                                       ArrayOf<std::int32_t> places) {
  const Extents extents = four_extents(shape, 1);
  require_extent(labels, whole_box(extents).voxels());
  require_extent(places, whole_box(extents).voxels());
  std::int32_t* to = places.mutable_data();
  std::vector<Piece> pieces;
  with_code_type(labels, [&](auto tag) {
    using Label = typename decltype(tag)::type;
    const auto* from = static_cast<const Label*>(labels.data());
    nb::gil_scoped_release release;
    pieces = PieceFinder<Label>(from, extents, corners).find(to);
  });
  ArrayOf<std::int64_t> found({pieces.size(), 2 + 2 * kAxes});
  std::int64_t* row = found.mutable_data();
  for (const Piece& piece : pieces) {
    *row++ = static_cast<std::int64_t>(piece.voxels);
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      *row++ = static_cast<std::int64_t>(piece.box.low[axis]);
      *row++ = static_cast<std::int64_t>(piece.box.high[axis]);
    }
    *row++ = static_cast<std::int64_t>(piece.first);
  }
  return found;
}

// Writes the outputs described in pieces.hpp. Preconditions: they are initially 0, and every place
// is an index into them.
void run_find_finders(const ArrayOf<std::int32_t>& places, const Flags& bits, Flags finders,
                      ArrayOf<std::int64_t> shared) {
  const std::size_t voxels = extent_of(places), planes = bits.size() / std::max<std::size_t>(1, voxels);
  require_extent(bits, planes * voxels);
  require_extent(finders, planes * extent_of(shared));
  const std::int32_t* from = places.data();
  const std::uint8_t* said = bits.data();
  std::uint8_t* found = finders.mutable_data();
  std::int64_t* counts = shared.mutable_data();
  nb::gil_scoped_release release;
  find_finders(from, said, voxels, planes, found, counts);
}

}  // namespace

void bind_boxes(nb::module_& m) {
  m.def("pack_marks", &run_pack_marks, nb::arg("raters"), nb::arg("values"), nb::arg("shape"), nb::arg("low"),
        nb::arg("high"), nb::arg("planes"));
  m.def("label_pieces", &run_label_pieces, nb::arg("labels"), nb::arg("shape"), nb::arg("corners"), nb::arg("places"));
  m.def("find_finders", &run_find_finders, nb::arg("places"), nb::arg("bits"), nb::arg("finders"), nb::arg("shared"));
  m.def("label_boxes", &run_label_boxes, nb::arg("raters"), nb::arg("labels"), nb::arg("shape"), nb::arg("threads"));
  m.def("spread", &run_spread, nb::arg("flags"), nb::arg("reach"), nb::arg("shape"), nb::arg("tile"),
        nb::arg("threads"), nb::arg("out"));
}

}  // namespace consensus
