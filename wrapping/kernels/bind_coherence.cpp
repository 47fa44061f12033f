// Bindings of the coherence vote: bands of scale of raters' masks, their gains, and the threshold.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "band_answer.hpp"
#include "band_means.hpp"
#include "band_powers.hpp"
#include "bindings.hpp"
#include "coherence_gain.hpp"
#include "contour_cut.hpp"

namespace consensus {

namespace {

using Floats = ArrayOf<float>;
using MaybeFloats = std::optional<Floats>;
using Weights = std::vector<std::vector<double>>;

float* output_or_null(MaybeFloats& wanted, std::size_t voxels) {
  if (!wanted) return nullptr;
  require_extent(*wanted, voxels);
  return wanted->mutable_data();
}

Extents four_sizes(const std::vector<std::size_t>& sizes) {
  if (sizes.size() != kAxes || *std::min_element(sizes.begin(), sizes.end()) == 0) {
    throw std::invalid_argument("four positive sizes wanted");
  }
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

std::vector<GaussianWeights> gaussians_of(const std::vector<Weights>& scales) {
  std::vector<GaussianWeights> found;
  for (const Weights& scale : scales) {
    const auto missing = [](const auto& axis) { return axis.empty(); };
    if (scale.size() != kAxes || std::any_of(scale.begin(), scale.end(), missing) || scale[0].size() != 1) {
      throw std::invalid_argument("weights for every axis wanted, and none but one for the first");
    }
    found.push_back({scale[0], scale[1], scale[2], scale[3]});
  }
  return found;
}

using Bits = ArrayOf<std::uint8_t>;
using MaybeBits = std::optional<Bits>;

// The arguments that describe the raters' votes, which are bits (uint8) or probabilities (float32).
struct Said {
  const Array& masks;
  const MaybeBits& present;
  const std::vector<double>& weights;
  const std::vector<Weights>& scales;
  Extents shape;

  std::size_t voxels() const { return whole_box(shape).voxels(); }
  std::size_t planes() const { return (weights.size() + 7) / 8; }
  bool packed() const { return masks.type().kind == 'u' && masks.itemsize() == 1; }

  void require() const {
    if (weights.empty() || scales.size() < 2) throw std::invalid_argument("raters and two scales wanted");
    if (!packed() && !(masks.type().kind == 'f' && masks.itemsize() == 4)) {
      throw std::invalid_argument("masks must be uint8 or float32");
    }
    require_extent(masks, (packed() ? planes() : weights.size()) * voxels());
    if (present) require_extent(*present, planes() * voxels());
  }

  PackedRaters there() const { return {present ? present->data() : nullptr, voxels()}; }
  PackedRaters bits() const { return {static_cast<const std::uint8_t*>(masks.data()), voxels()}; }
  SoftRaters probabilities() const { return {static_cast<const float*>(masks.data()), voxels()}; }

  std::shared_ptr<const RaterRows> raters() const {
    if (packed()) return std::make_shared<PackedRaters>(bits());
    return std::make_shared<SoftRaters>(probabilities());
  }

  std::shared_ptr<const RaterRows> mean() const {
    if (present) return std::make_shared<PresentMean>(raters(), there(), weights);
    if (packed()) return std::make_shared<PackedMean>(bits(), weights);
    return std::make_shared<SoftMean>(probabilities(), weights);
  }

  MaskField field() const { return {raters(), there(), weights, gaussians_of(scales), shape}; }

  // Returns the field of a single rater, who annotated every voxel.
  MaskField field_of(std::shared_ptr<const RaterRows> one) const {
    return {std::move(one), {nullptr, 0}, {1.0}, gaussians_of(scales), shape};
  }
};

TileGrid tiles_of(const Extents& shape, const std::vector<std::size_t>& tile) {
  const TileGrid grid{shape, four_sizes(tile)};
  if (grid.tile[0] != 1) throw std::invalid_argument("tiles of single volumes wanted");
  return grid;
}

CoarseGrid coarse_grid(const Extents& shape, const std::vector<std::size_t>& steps) {
  const CoarseGrid grid{shape, four_sizes(steps)};
  const auto fine = [](std::size_t step) { return step == 1 || step == 2; };
  if (grid.step[0] != 1 || !std::all_of(grid.step.begin(), grid.step.end(), fine)) {
    throw std::invalid_argument("steps of one or two voxels wanted");
  }
  return grid;
}

// Writes the outputs of band_means.hpp.
void run_band_means(const Array& masks, const MaybeBits& present, const std::vector<double>& weights,
                    const std::vector<Weights>& scales, const std::vector<std::size_t>& shape,
                    const std::vector<std::size_t>& tile, std::size_t threads, Floats values, Floats squares,
                    MaybeFloats base, MaybeFloats base_squares, MaybeFloats votes, MaybeFloats raters) {
  const Said said{masks, present, weights, scales, four_sizes(shape)};
  said.require();
  const TileGrid grid = tiles_of(said.shape, tile);
  const std::size_t voxels = said.voxels();
  require_extent(values, (scales.size() - 1) * voxels);
  require_extent(squares, (scales.size() - 1) * voxels);
  const BandOutputs out{values.mutable_data(),         squares.mutable_data(),
                        output_or_null(base, voxels),  output_or_null(base_squares, voxels),
                        output_or_null(votes, voxels), output_or_null(raters, voxels)};
  const MaskField field = said.field();
  nb::gil_scoped_release release;
  for_each_tile(grid, {0, grid.count()}, threads, BandMeans(field),
                [&](BandMeans& worker, const Box& box) { worker.compute(box, out); });
}

template <class Worker>
std::pair<std::int64_t, std::int64_t> powers_of_tiles(const TileGrid& grid, std::size_t threads, const Worker& fresh,
                                          const PowerOutputs& out) {
  std::int64_t power = 0, shared = 0;
  const auto compute = [&](Worker& worker, Box points) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      points.low[axis] += out.points.low[axis];
      points.high[axis] += out.points.low[axis];
    }
    worker.compute(points, out);
  };
  for (const Worker& worker : for_each_tile(grid, {0, grid.count()}, threads, fresh, compute)) {
    power += worker.base.power;
    shared += worker.base.shared;
  }
  return {power, shared};
}

// Returns the box with the given four begins and four ends; throws unless it lies in `all`.
Box box_in(const std::vector<std::size_t>& sides, const Box& all) {
  if (sides.size() != 2 * kAxes) throw std::invalid_argument("a box of four axes wanted");
  Box box;
  std::copy_n(sides.begin(), kAxes, box.low.begin());
  std::copy_n(sides.begin() + kAxes, kAxes, box.high.begin());
  if (box.empty() || !(intersection(box, all) == box)) throw std::invalid_argument("a box inside wanted");
  return box;
}

// Returns the power of the coarsest level and its part shared by the raters, in units of 2^-30.
std::pair<std::int64_t, std::int64_t> run_band_powers(const Array& masks, const MaybeBits& present,
                                          const std::vector<double>& weights, const std::vector<Weights>& scales,
                                          const std::vector<std::size_t>& shape,
                                          const std::vector<std::size_t>& steps, const std::vector<std::size_t>& tile,
                                          const std::vector<std::size_t>& made, const std::vector<std::size_t>& counted,
                                          std::size_t threads, Floats power, Floats shared, MaybeFloats raters) {
  const Said said{masks, present, weights, scales, four_sizes(shape)};
  said.require();
  const CoarseGrid coarse = coarse_grid(said.shape, steps);
  if (present && coarse.points() != said.voxels()) {
    throw std::invalid_argument("power is brought to a grid only where nobody is missing");
  }
  const Box points = box_in(made, whole_box(coarse.size()));
  const TileGrid grid = tiles_of({points.size(0), points.size(1), points.size(2), points.size(3)}, tile);
  require_extent(power, (scales.size() - 1) * points.voxels());
  require_extent(shared, (scales.size() - 1) * points.voxels());
  const PowerOutputs out{power.mutable_data(), shared.mutable_data(), output_or_null(raters, points.voxels()), points,
                         box_in(counted, points)};
  const MaskField field = said.field();
  const std::shared_ptr<const RaterRows> mean = said.mean();
  nb::gil_scoped_release release;
  return present ? powers_of_tiles(grid, threads, MissingPowers(field), out)
                 : powers_of_tiles(grid, threads, BandPowers(field, *mean, coarse), out);
}

KeptShares kept_shares(const CoarseGrid& grid, const std::vector<Floats>& gains, const Floats& detail) {
  KeptShares kept{grid, {}, detail.data()};
  require_extent(detail, grid.points());
  for (const Floats& gain : gains) {
    require_extent(gain, grid.points());
    kept.gains.push_back(gain.data());
  }
  return kept;
}

void run_keep_bands(const Array& masks, const MaybeBits& present, const std::vector<double>& weights,
                    const std::vector<Weights>& scales, const std::vector<std::size_t>& shape,
                    const std::vector<Floats>& gains, const Floats& detail, const std::vector<std::size_t>& steps,
                    const std::vector<std::size_t>& tile, std::size_t threads, Floats answer) {
  const Said said{masks, present, weights, scales, four_sizes(shape)};
  said.require();
  if (scales.size() != gains.size() + 1) throw std::invalid_argument("a scale more than gains wanted");
  const KeptShares kept = kept_shares(coarse_grid(said.shape, steps), gains, detail);
  const TileGrid grid = tiles_of(said.shape, tile);
  require_extent(answer, said.voxels());
  float* out = answer.mutable_data();
  // Smoothing is linear, so if no rater is missing, smoothing the mean suffices.
  const MaskField field = present ? said.field() : said.field_of(said.mean());
  nb::gil_scoped_release release;
  for_each_tile(grid, {0, grid.count()}, threads, BandAnswer(field, kept),
                [&](BandAnswer& worker, const Box& box) { worker.compute(box, out); });
}

// Returns the number of voxels and the sum of votes, in units of 2^-30: outside, inside, far outside, far
// inside. Adds the histogram of the filtered mask to `values`.
nb::tuple counted_by(const CutField& cut, const MaskField& one, const KeptShares& kept, const TileGrid& grid,
                     std::size_t threads, const RaterRows& votes, std::int64_t* values) {
  std::vector<CutCounts> workers;
  {
    nb::gil_scoped_release release;
    workers = for_each_tile(grid, {0, grid.count()}, threads, CutCounts(cut, one, kept, votes),
                            [&](CutCounts& worker, const Box& box) { worker.compute(box); });
    for (const CutCounts& worker : workers) worker.values.add_to(values);
    for (std::size_t k = 1; k < workers.size(); ++k) workers[0].add(workers[k]);
  }
  const auto told = [](const Counted& side) { return nb::make_tuple(side.voxels, side.votes); };
  const CutCounts& all = workers[0];
  return nb::make_tuple(told(all.sides[0]), told(all.sides[1]), told(all.far[0]), told(all.far[1]));
}

nb::tuple run_cut_counts(const Array& masks, const MaybeBits& present, const std::vector<double>& weights,
                         const std::vector<Weights>& scales, const std::vector<std::size_t>& shape,
                         const Bits& chosen, const Bits& counted, const std::vector<std::size_t>& reach,
                         const std::vector<Floats>& gains, const Floats& detail,
                         const std::vector<std::size_t>& steps, const std::vector<std::size_t>& tile,
                         std::size_t threads, ArrayOf<std::int64_t> values) {
  const Said said{masks, present, weights, scales, four_sizes(shape)};
  said.require();
  require_extent(values, ValueCounts::kValues);
  require_extent(chosen, said.voxels());
  require_extent(counted, said.voxels());
  if (scales.size() != gains.size() + 1 || reach.size() != kAxes) {
    throw std::invalid_argument("a scale more than gains, and a reach per axis wanted");
  }
  const KeptShares kept = kept_shares(coarse_grid(said.shape, steps), gains, detail);
  const TileGrid grid = tiles_of(said.shape, tile);
  const CutField cut{chosen.data(), counted.data(), {reach[0], reach[1], reach[2], reach[3]}, said.shape};
  const MaskField one = said.field_of(std::make_shared<PackedRaters>(chosen.data(), said.voxels()));
  return counted_by(cut, one, kept, grid, threads, *said.mean(), values.mutable_data());
}

// Writes the thresholded mask to `chosen` or, if that is None, replaces `answer` with the
// probability.
void run_cut(const Floats& detail, const std::vector<std::size_t>& shape, const std::vector<std::size_t>& steps,
             double outside, double inside, double between, double tolerance, std::size_t threads, Floats answer,
             std::optional<Bits> chosen) {
  const CoarseGrid coarse = coarse_grid(four_sizes(shape), steps);
  const KeptShares kept = kept_shares(coarse, {}, detail);
  require_extent(answer, whole_box(coarse.shape).voxels());
  if (chosen) require_extent(*chosen, whole_box(coarse.shape).voxels());
  const ContourCut cut{static_cast<float>(outside), static_cast<float>(inside), static_cast<float>(between),
                       static_cast<float>(tolerance)};
  const TileGrid planes{coarse.shape, {1, 1, coarse.shape[2], coarse.shape[3]}};
  float* values = answer.mutable_data();
  std::uint8_t* flags = chosen ? chosen->mutable_data() : nullptr;
  nb::gil_scoped_release release;
  for_each_tile(planes, {0, planes.count()}, threads, CoarseValues(coarse), [&](CoarseValues& worker, const Box& box) {
    for_each_detail_row(kept, worker, box, [&](const float* row, std::size_t at, std::size_t n) {
      if (flags) {
        choose(values + at, row, cut, n, flags + at);
      } else {
        turn_into_probability(row, cut, n, values + at);
      }
    });
  });
}

// Replaces `shared` with the gains.
void run_keep_shares(const Floats& power, Floats shared, MaybeFloats detail, const std::optional<Floats>& raters,
                     float number_of_raters, float least_power, float gain_sharpness, float detail_sharpness,
                     std::size_t threads) {
  const std::size_t points = extent_of(power);
  require_extent(shared, points);
  const BandPower band{power.data(),     shared.mutable_data(), output_or_null(detail, points),
                       pointer_or_null(raters, points), number_of_raters, least_power, gain_sharpness,
                       detail_sharpness};
  nb::gil_scoped_release release;
  keep_shares(band, points, threads);
}

}  // namespace

void bind_coherence(nb::module_& m) {
  m.def("band_means", &run_band_means, nb::arg("masks"), nb::arg("present"), nb::arg("weights"),
        nb::arg("scales"), nb::arg("shape"), nb::arg("tile"), nb::arg("threads"), nb::arg("values"),
        nb::arg("squares"), nb::arg("base"), nb::arg("base_squares"), nb::arg("votes"), nb::arg("raters"));
  m.def("band_powers", &run_band_powers, nb::arg("masks"), nb::arg("present"), nb::arg("weights"),
        nb::arg("scales"), nb::arg("shape"), nb::arg("steps"), nb::arg("tile"), nb::arg("made"), nb::arg("counted"),
        nb::arg("threads"), nb::arg("power"), nb::arg("shared"), nb::arg("raters"));
  m.def("keep_bands", &run_keep_bands, nb::arg("masks"), nb::arg("present"), nb::arg("weights"), nb::arg("scales"),
        nb::arg("shape"), nb::arg("gains"), nb::arg("detail"), nb::arg("steps"), nb::arg("tile"),
        nb::arg("threads"), nb::arg("answer"));
  m.def("cut_counts", &run_cut_counts, nb::arg("masks"), nb::arg("present"), nb::arg("weights"), nb::arg("scales"),
        nb::arg("shape"), nb::arg("chosen"), nb::arg("counted"), nb::arg("reach"), nb::arg("gains"), nb::arg("detail"),
        nb::arg("steps"), nb::arg("tile"), nb::arg("threads"), nb::arg("values"));
  m.def("cut", &run_cut, nb::arg("detail"), nb::arg("shape"), nb::arg("steps"), nb::arg("outside"),
        nb::arg("inside"), nb::arg("between"), nb::arg("tolerance"), nb::arg("threads"), nb::arg("answer"),
        nb::arg("chosen"));
  m.def("keep_shares", &run_keep_shares, nb::arg("power"), nb::arg("shared"), nb::arg("detail"), nb::arg("raters"),
        nb::arg("number_of_raters"), nb::arg("least_power"), nb::arg("gain_sharpness"),
        nb::arg("detail_sharpness"), nb::arg("threads"));
}

}  // namespace consensus
