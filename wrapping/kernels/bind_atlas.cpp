// Bindings of patch-based fusion of atlases with images.
#include <algorithm>
#include <memory>

#include "bindings.hpp"
#include "parallel.hpp"
#include "patch_fusion.hpp"
#include "rater_votes.hpp"

namespace consensus {

namespace {

// An image, which owns the array that its intensities point into.
struct AtlasImage {
  Array data;
  std::unique_ptr<Intensities> values;

  AtlasImage(Array data_, double centre, double scale) : data(std::move(data_)) {
    require_extent(data, extent_of(data));
    const auto make = [&](auto tag) -> std::unique_ptr<Intensities> {
      using T = typename decltype(tag)::type;
      return std::make_unique<IntensitiesOf<T>>(static_cast<const T*>(data.data()), centre, scale);
    };
    const auto [kind, bytes] = data.type();
    if (kind == 'f' && bytes == 4) values = make(Tag<float>{});
    if (kind == 'f' && bytes == 8) values = make(Tag<double>{});
    if (kind == 'u' && bytes == 1) values = make(Tag<std::uint8_t>{});
    if (kind == 'i' && bytes == 1) values = make(Tag<std::int8_t>{});
    if (kind == 'u' && bytes == 2) values = make(Tag<std::uint16_t>{});
    if (kind == 'i' && bytes == 2) values = make(Tag<std::int16_t>{});
    if (kind == 'u' && bytes == 4) values = make(Tag<std::uint32_t>{});
    if (kind == 'i' && bytes == 4) values = make(Tag<std::int32_t>{});
    if (!values) throw std::invalid_argument("unsupported element type of an image");
  }
};

using Images = std::vector<const AtlasImage*>;

Extents four_sizes(const std::vector<std::size_t>& sizes) {
  if (sizes.size() != kAxes) throw std::invalid_argument("four sizes wanted");
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

std::vector<const Intensities*> intensities_of(const Images& images, std::size_t modalities, std::size_t extent) {
  if (images.size() != modalities || images.empty()) throw std::invalid_argument("as many modalities wanted");
  std::vector<const Intensities*> found;
  for (const AtlasImage* image : images) {
    if (!image) throw std::invalid_argument("every image must be an AtlasImage, got None");
    require_extent(image->data, extent);
    found.push_back(image->values.get());
  }
  return found;
}

// The settings, under the names used in Python.
struct AtlasSettings {
  std::vector<std::size_t> shape, patch, search, tile;
  std::vector<std::vector<std::ptrdiff_t>> shifts;
  bool normalised;
  float smallest_spread;
  bool joint;
  double beta, alpha;
  bool constrained;
};

PatchSettings patch_settings(const AtlasSettings& given) {
  PatchSettings settings{four_sizes(given.patch), four_sizes(given.search), {}, given.normalised,
                         given.smallest_spread};
  for (const auto& shift : given.shifts) {
    if (shift.size() != kAxes) throw std::invalid_argument("shifts of four axes wanted");
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (std::abs(shift[axis]) > static_cast<std::ptrdiff_t>(settings.search[axis])) {
        throw std::invalid_argument("a shift goes beyond the search");
      }
    }
    settings.shifts.push_back({shift[0], shift[1], shift[2], shift[3]});
  }
  if (settings.patch[0] != 0 || settings.search[0] != 0 || settings.shifts.empty() || !(given.alpha > 0) ||
      !(given.smallest_spread > 0)) {
    throw std::invalid_argument("no radius along the first axis, some shift, alpha and spread above 0 wanted");
  }
  return settings;
}

template <class T>
ArrayOf<T> joined(const std::vector<TileShares>& tiles, std::vector<T> TileShares::* member) {
  std::size_t number = 0;
  for (const TileShares& tile : tiles) number += (tile.*member).size();
  ArrayOf<T> all(number);
  T* to = all.mutable_data();
  for (const TileShares& tile : tiles) to = std::copy((tile.*member).begin(), (tile.*member).end(), to);
  return all;
}

// Fuses a range of tiles. Returns places, numbers of labels, labels and shares (see TileShares) of the voxels
// that were computed, and each tile's sums of weights.
nb::tuple run_patch_fusion(const std::vector<const RaterVotes*>& votes, const Images& target,
                           const std::vector<Images>& atlases, const std::vector<float>& own_weights,
                           const Mask& mask, const std::vector<std::pair<std::size_t, ArrayOf<std::uint8_t>>>& exclusions,
                           std::size_t labels, const AtlasSettings& given, std::pair<std::size_t, std::size_t> tiles,
                           std::size_t threads, Array winners, std::vector<ArrayOf<float>> fused) {
  AtlasField field;
  field.shape = four_sizes(given.shape);
  const std::size_t extent = whole_box(field.shape).voxels();
  field.labels = labels;
  field.settings = patch_settings(given);
  field.rule = {given.joint, given.beta, given.alpha, given.constrained};
  field.target = intensities_of(target, target.size(), extent);
  for (const Images& images : atlases) field.atlases.push_back(intensities_of(images, target.size(), extent));
  if (atlases.empty() || votes.size() != atlases.size() || own_weights.size() != atlases.size()) {
    throw std::invalid_argument("votes and a weight for each atlas wanted");
  }
  const Stack stack = make_stack(votes, static_cast<std::uint32_t>(labels + 1), extent);
  field.votes.assign(stack.raters.begin(), stack.raters.end());
  field.own_weights = own_weights;
  field.mask = pointer_or_null(mask, extent);
  for (const auto& [label, where] : exclusions) {
    require_extent(where, extent);
    field.exclusions.push_back({label, where.data()});
  }
  if (!fused.empty() && fused.size() != target.size()) throw std::invalid_argument("an image per modality wanted");
  for (const auto& image : fused) {
    require_extent(image, extent);
    field.fused_images.push_back(image.mutable_data());
  }
  const TileGrid grid{field.shape, four_sizes(given.tile)};
  if (grid.tile[0] != 1 || *std::min_element(grid.tile.begin(), grid.tile.end()) == 0 ||
      tiles.first > tiles.second || tiles.second > grid.count()) {
    throw std::invalid_argument("no such tiles");
  }
  require_extent(winners, extent);
  const auto [kind, bytes] = winners.type();
  if (kind != 'i' || (bytes != 2 && bytes != 4)) throw std::invalid_argument("winners must be int16 or int32");
  const bool is_short = bytes == 2;  // C++17 does not let a lambda capture a structured binding
  void* volume = winners.mutable_data();
  std::vector<TileShares> found(tiles.second - tiles.first);
  {
    nb::gil_scoped_release release;
    for_each_numbered_tile(grid, TileRange{tiles.first, tiles.second}, threads, PatchFusionTile(field),
                           [&](PatchFusionTile& worker, const Box& box, std::size_t number) {
                             TileShares& shares = found[number - tiles.first];
                             shares = is_short ? worker.fuse(box, static_cast<std::int16_t*>(volume))
                                               : worker.fuse(box, static_cast<std::int32_t*>(volume));
                           });
  }
  return nb::make_tuple(joined(found, &TileShares::places), joined(found, &TileShares::numbers),
                        joined(found, &TileShares::labels), joined(found, &TileShares::shares),
                        joined(found, &TileShares::weights));
}

void make_settings(AtlasSettings* place, std::vector<std::size_t> shape, std::vector<std::size_t> tile,
                   std::vector<std::size_t> patch, std::vector<std::size_t> search,
                   std::vector<std::vector<std::ptrdiff_t>> shifts, bool normalised, float smallest_spread, bool joint,
                   double beta, double alpha, bool constrained) {
  new (place) AtlasSettings{std::move(shape), std::move(patch), std::move(search), std::move(tile), std::move(shifts),
                            normalised, smallest_spread, joint, beta, alpha, constrained};
}

}  // namespace

void bind_atlas(nb::module_& m) {
  nb::class_<AtlasImage>(m, "AtlasImage")
      .def(nb::init<Array, double, double>(), nb::arg("data"), nb::arg("centre"), nb::arg("scale"));
  nb::class_<AtlasSettings>(m, "AtlasSettings")
      .def("__init__", &make_settings, nb::arg("shape"), nb::arg("tile"), nb::arg("patch"), nb::arg("search"),
           nb::arg("shifts"), nb::arg("normalised"), nb::arg("smallest_spread"), nb::arg("joint"), nb::arg("beta"),
           nb::arg("alpha"), nb::arg("constrained"));
  m.def("patch_fusion", &run_patch_fusion, nb::arg("votes"), nb::arg("target"), nb::arg("atlases"),
        nb::arg("own_weights"), nb::arg("mask").none(), nb::arg("exclusions"), nb::arg("labels"), nb::arg("settings"),
        nb::arg("tiles"), nb::arg("threads"), nb::arg("winners"), nb::arg("fused"));
}

}  // namespace consensus
