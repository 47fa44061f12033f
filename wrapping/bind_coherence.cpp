// The coherence vote: bands of scale of raters' masks, what is kept of them, and the cut.
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

using Floats = py::array_t<float, py::array::c_style>;
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

using Bits = py::array_t<std::uint8_t, py::array::c_style>;
using MaybeBits = std::optional<Bits>;

// What raters say: bits (uint8) or probabilities (float32).
struct Said {
  const py::array& masks;
  const MaybeBits& present;
  const std::vector<double>& weights;
  const std::vector<Weights>& scales;
  Extents shape;

  std::size_t voxels() const { return whole_box(shape).voxels(); }
  std::size_t planes() const { return (weights.size() + 7) / 8; }
  bool packed() const { return masks.dtype().kind() == 'u' && masks.itemsize() == 1; }

  void require() const {
    if (weights.empty() || scales.size() < 2) throw std::invalid_argument("raters and two scales wanted");
    if (!packed() && !(masks.dtype().kind() == 'f' && masks.itemsize() == 4)) {
      throw std::invalid_argument("masks must be uint8 or float32");
    }
    require_extent(masks, (packed() ? planes() : weights.size()) * voxels());
    if (present) require_extent(*present, planes() * voxels());
  }

  PackedRaters there() const { return {present ? present->data() : nullptr, voxels()}; }

  template <class Raters>
  MaskField<Raters> field() const {
    using Value = std::conditional_t<std::is_same_v<Raters, PackedRaters>, std::uint8_t, float>;
    return {{static_cast<const Value*>(masks.data()), voxels()}, there(), weights, gaussians_of(scales), shape};
  }

  // Their mean as one rater: smoothing is linear, where everybody is present.
  template <class Raters>
  MaskField<MeanRater<Raters>> mean() const {
    const auto all = field<Raters>();
    return {MeanRater<Raters>(all.raters, weights), {}, {1.0}, all.scales, shape};
  }

  template <class F>
  auto with_raters(F f) const {
    return packed() ? f(Tag<PackedRaters>{}) : f(Tag<SoftRaters>{});
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

// Outputs as in band_means.hpp.
void run_band_means(const py::array& masks, const MaybeBits& present, const std::vector<double>& weights,
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
  said.with_raters([&](auto tag) {
    using Raters = typename decltype(tag)::type;
    const auto field = said.field<Raters>();
    py::gil_scoped_release release;
    for_each_tile(grid, {0, grid.count()}, threads, BandMeans<Raters>(field),
                  [&](BandMeans<Raters>& worker, const Box& box) { worker.compute(box, out); });
  });
}

// Returns the coarsest level's power, and the part of it that raters share.
std::pair<double, double> run_band_powers(const py::array& masks, const MaybeBits& present,
                                          const std::vector<double>& weights, const std::vector<Weights>& scales,
                                          const std::vector<std::size_t>& shape,
                                          const std::vector<std::size_t>& steps, const std::vector<std::size_t>& tile,
                                          std::size_t threads, Floats power, Floats shared, MaybeFloats raters) {
  const Said said{masks, present, weights, scales, four_sizes(shape)};
  said.require();
  const CoarseGrid coarse = coarse_grid(said.shape, steps);
  const TileGrid grid = tiles_of(coarse.size(), tile);
  require_extent(power, (scales.size() - 1) * coarse.points());
  require_extent(shared, (scales.size() - 1) * coarse.points());
  const PowerOutputs out{power.mutable_data(), shared.mutable_data(), output_or_null(raters, said.voxels())};
  return said.with_raters([&](auto tag) -> std::pair<double, double> {
    using Worker = BandPowers<typename decltype(tag)::type>;
    const auto field = said.field<typename decltype(tag)::type>();
    py::gil_scoped_release release;
    std::int64_t total = 0, common = 0;
    for (const Worker& worker :
         for_each_tile(grid, {0, grid.count()}, threads, Worker(field, coarse),
                       [&](Worker& worker, const Box& points) { worker.compute(points, out); })) {
      total += worker.base_power();
      common += worker.base_shared();
    }
    return {static_cast<double>(total) / kFixedPoint, static_cast<double>(common) / kFixedPoint};
  });
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

void run_keep_bands(const py::array& masks, const MaybeBits& present, const std::vector<double>& weights,
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
  const auto run = [&](const auto& field, auto worker) {
    using Worker = decltype(worker);
    py::gil_scoped_release release;
    for_each_tile(grid, {0, grid.count()}, threads, Worker(field, kept),
                  [&](Worker& one, const Box& box) { one.compute(box, out); });
  };
  said.with_raters([&](auto tag) {
    using Raters = typename decltype(tag)::type;
    if (present) {
      const auto field = said.field<Raters>();
      run(field, BandAnswer<Raters>(field, kept));
    } else {
      const auto field = said.mean<Raters>();
      run(field, BandAnswer<MeanRater<Raters>>(field, kept));
    }
  });
}

// Returns voxels and votes of both sides, then of what is far from the contour; and, of the clean
// answer's values, sorted, the one where the chosen begin and the one before.
template <class Mean>
py::tuple counted_by(const CutField& cut, const MaskField<PackedRaters>& one, const KeptShares& kept,
                     const TileGrid& grid, std::size_t threads, const Mean& votes) {
  using Worker = CutCounts<Mean>;
  std::vector<Worker> workers;
  double before = 0, at = 0;
  {
    py::gil_scoped_release release;
    workers = for_each_tile(grid, {0, grid.count()}, threads, Worker(cut, one, kept, votes),
                            [&](Worker& worker, const Box& box) { worker.compute(box); });
    for (std::size_t k = 1; k < workers.size(); ++k) workers[0].add(workers[k]);
    const auto outside = static_cast<std::uint64_t>(workers[0].sides[0].voxels);
    if (outside > 0) before = workers[0].values.at(outside - 1);
    at = workers[0].values.at(outside);
  }
  const auto told = [](const Counted& side) {
    return py::make_tuple(side.voxels, static_cast<double>(side.votes) / kFixedPoint);
  };
  const Worker& all = workers[0];
  return py::make_tuple(told(all.sides[0]), told(all.sides[1]), told(all.far[0]), told(all.far[1]), before, at);
}

py::tuple run_cut_counts(const py::array& masks, const MaybeBits& present, const std::vector<double>& weights,
                         const std::vector<Weights>& scales, const std::vector<std::size_t>& shape,
                         const Bits& chosen, const Bits& counted, const std::vector<std::size_t>& reach,
                         const std::vector<Floats>& gains, const Floats& detail,
                         const std::vector<std::size_t>& steps, const std::vector<std::size_t>& tile,
                         std::size_t threads) {
  const Said said{masks, present, weights, scales, four_sizes(shape)};
  said.require();
  require_extent(chosen, said.voxels());
  require_extent(counted, said.voxels());
  if (scales.size() != gains.size() + 1 || reach.size() != kAxes) {
    throw std::invalid_argument("a scale more than gains, and a reach per axis wanted");
  }
  const KeptShares kept = kept_shares(coarse_grid(said.shape, steps), gains, detail);
  const TileGrid grid = tiles_of(said.shape, tile);
  const CutField cut{chosen.data(), counted.data(), {reach[0], reach[1], reach[2], reach[3]}, said.shape};
  const MaskField<PackedRaters> one{{chosen.data(), said.voxels()}, {}, {1.0}, gaussians_of(scales), said.shape};
  return said.with_raters([&](auto tag) {
    using Raters = typename decltype(tag)::type;
    const auto raters = said.field<Raters>().raters;
    if (!present) return counted_by(cut, one, kept, grid, threads, MeanRater<Raters>(raters, weights));
    return counted_by(cut, one, kept, grid, threads, PresentMean<Raters>(raters, said.there(), weights));
  });
}

// Writes either what is chosen, or over the answer its probability.
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
  py::gil_scoped_release release;
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

// The gains are written into `shared`.
void run_keep_shares(const Floats& power, Floats shared, MaybeFloats detail, const std::optional<Floats>& raters,
                     float number_of_raters, float least_power, float gain_sharpness, float detail_sharpness,
                     std::size_t threads) {
  const std::size_t points = extent_of(power);
  require_extent(shared, points);
  const BandPower band{power.data(),     shared.mutable_data(), output_or_null(detail, points),
                       pointer_or_null(raters, points), number_of_raters, least_power, gain_sharpness,
                       detail_sharpness};
  py::gil_scoped_release release;
  keep_shares(band, points, threads);
}

}  // namespace

void bind_coherence(py::module_& m) {
  m.def("band_means", &run_band_means, py::arg("masks"), py::arg("present"), py::arg("weights"),
        py::arg("scales"), py::arg("shape"), py::arg("tile"), py::arg("threads"), py::arg("values"),
        py::arg("squares"), py::arg("base"), py::arg("base_squares"), py::arg("votes"), py::arg("raters"));
  m.def("band_powers", &run_band_powers, py::arg("masks"), py::arg("present"), py::arg("weights"),
        py::arg("scales"), py::arg("shape"), py::arg("steps"), py::arg("tile"), py::arg("threads"),
        py::arg("power"), py::arg("shared"), py::arg("raters"));
  m.def("keep_bands", &run_keep_bands, py::arg("masks"), py::arg("present"), py::arg("weights"), py::arg("scales"),
        py::arg("shape"), py::arg("gains"), py::arg("detail"), py::arg("steps"), py::arg("tile"),
        py::arg("threads"), py::arg("answer"));
  m.def("cut_counts", &run_cut_counts, py::arg("masks"), py::arg("present"), py::arg("weights"), py::arg("scales"),
        py::arg("shape"), py::arg("chosen"), py::arg("counted"), py::arg("reach"), py::arg("gains"), py::arg("detail"),
        py::arg("steps"), py::arg("tile"), py::arg("threads"));
  m.def("cut", &run_cut, py::arg("detail"), py::arg("shape"), py::arg("steps"), py::arg("outside"),
        py::arg("inside"), py::arg("between"), py::arg("tolerance"), py::arg("threads"), py::arg("answer"),
        py::arg("chosen"));
  m.def("keep_shares", &run_keep_shares, py::arg("power"), py::arg("shared"), py::arg("detail"), py::arg("raters"),
        py::arg("number_of_raters"), py::arg("least_power"), py::arg("gain_sharpness"),
        py::arg("detail_sharpness"), py::arg("threads"));
}

}  // namespace consensus
