// Bindings of tiled kernels: smoothed and unmixed votes of a stack of raters, and sums for estimating the
// mixing.
#include <algorithm>
#include <map>
#include <utility>

#include "bindings.hpp"
#include "parallel.hpp"
#include "rater_votes.hpp"
#include "smoothed_vote.hpp"
#include "vote_counts.hpp"
#include "vote_mixing.hpp"

namespace consensus {

namespace {

using Doubles = ArrayOf<double>;

const Votes* votes_of(const RaterVotes* rater, std::size_t extent) {
  if (!rater) throw std::invalid_argument("every rater must be a RaterVotes, got None");
  require_extent(rater->data, extent);
  return rater->votes.get();
}

Extents extents_of(const std::vector<std::size_t>& sizes) {
  if (sizes.size() != kAxes || *std::min_element(sizes.begin(), sizes.end()) == 0) {
    throw std::invalid_argument("four positive sizes wanted");
  }
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

// Constructs a field in `place`. The field holds pointers to the raters; the binding keeps them alive
// (nb::keep_alive).
void make_field(VoteField* place, const std::vector<const RaterVotes*>& raters, const std::vector<double>& weights,
                const RaterVotes* mask, std::size_t labels, bool may_miss, const std::vector<double>& frequencies,
                const std::vector<std::size_t>& shape, const std::vector<std::vector<double>>& gaussian) {
  VoteField field;
  field.shape = extents_of(shape);
  const std::size_t extent = whole_box(field.shape).voxels();
  for (const RaterVotes* rater : raters) field.raters.push_back(votes_of(rater, extent));
  if (raters.empty() || weights.size() != raters.size() || frequencies.size() != labels ||
      gaussian.size() != kAxes) {
    throw std::invalid_argument("a weight per rater, a frequency per label, a Gaussian per axis wanted");
  }
  field.mask = mask ? votes_of(mask, extent) : nullptr;
  field.weights = weights;
  field.whole_weight = 0;
  field.plain = raters.size() < 256;
  for (double weight : weights) {
    field.whole_weight += weight;
    field.plain = field.plain && weight == 1.0;
  }
  if (field.plain) field.alphabet = Alphabet::of(field.raters);
  field.labels = labels;
  field.may_miss = may_miss;
  field.frequencies = frequencies;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    if (gaussian[axis].empty()) throw std::invalid_argument("a Gaussian has at least one weight");
    field.gaussian[axis] = gaussian[axis];
  }
  if (field.gaussian[0].size() != 1) throw std::invalid_argument("the first axis is not smoothed");
  new (place) VoteField(std::move(field));
}

template <class F>
auto with_vote_type(const VoteField& field, F f) {
  if (field.plain) return f(Tag<std::uint8_t>{});
  return f(Tag<double>{});
}

template <class F>
auto with_index_type(const Array& array, F f) {
  if (array.type().kind != 'i') throw std::invalid_argument("decisions must be signed integers");
  if (array.itemsize() == 2) return f(Tag<std::int16_t>{});
  if (array.itemsize() == 4) return f(Tag<std::int32_t>{});
  throw std::invalid_argument("decisions must have 2 or 4 bytes");
}

// Arguments common to all tiled kernels.
struct Run {
  TileGrid grid;
  TileRange range;
  std::size_t threads;

  Run(const VoteField& field, const std::vector<std::size_t>& tile, std::pair<std::size_t, std::size_t> tiles,
      std::size_t threads_)
      : grid{field.shape, extents_of(tile)}, range{tiles.first, tiles.second}, threads(threads_) {
    if (grid.tile[0] != 1) throw std::invalid_argument("the first axis is cut into ones");
    if (range.first > range.last || range.last > grid.count()) throw std::invalid_argument("no such tiles");
  }
};

Unmixing unmixing_of(const std::optional<Doubles>& inverse, const VoteField& field) {
  if (!inverse) return {nullptr, field.labels};
  require_extent(*inverse, field.labels * field.labels);
  return {inverse->data(), field.labels};
}

std::size_t count_tiles(const VoteField& field, const std::vector<std::size_t>& tile) {
  return TileGrid{field.shape, extents_of(tile)}.count();
}

void run_decide(const VoteField& field, const std::optional<Doubles>& inverse, int tie, double threshold,
                double tolerance, const std::vector<std::size_t>& tile,
                std::pair<std::size_t, std::size_t> tiles, std::size_t threads, Array out) {
  require_extent(out, whole_box(field.shape).voxels());
  const Run run(field, tile, tiles, threads);
  const Unmixing unmixing = unmixing_of(inverse, field);
  if (tie < 0 || tie > static_cast<int>(Tie::prior)) throw std::invalid_argument("no such tie rule");
  const Choice choice{static_cast<Tie>(tie), threshold, tolerance, field.frequencies.data()};
  with_index_type(out, [](auto) {});
  const bool narrow = out.itemsize() == sizeof(std::int16_t);
  void* volume = out.mutable_data();
  with_vote_type(field, [&](auto tag) {
    using Worker = SmoothedVote<typename decltype(tag)::type>;
    nb::gil_scoped_release release;
    for_each_tile(run.grid, run.range, run.threads, Worker(field, unmixing, choice),
                  [&](Worker& worker, const Box& box) {
                    worker.decide(box);
                    if (narrow) return worker.write_decision(box, static_cast<std::int16_t*>(volume));
                    worker.write_decision(box, static_cast<std::int32_t*>(volume));
                  });
  });
}

void run_probability(const VoteField& field, const std::optional<Doubles>& inverse, std::size_t label,
                     const std::vector<std::size_t>& tile, std::pair<std::size_t, std::size_t> tiles,
                     std::size_t threads, Doubles out) {
  require_extent(out, whole_box(field.shape).voxels());
  const Run run(field, tile, tiles, threads);
  const Unmixing unmixing = unmixing_of(inverse, field);
  const Choice choice{Tie::lowest, -1, 0, nullptr};
  with_vote_type(field, [&](auto tag) {
    using Worker = SmoothedVote<typename decltype(tag)::type>;
    double* volume = out.mutable_data();
    nb::gil_scoped_release release;
    for_each_tile(run.grid, run.range, run.threads, Worker(field, unmixing, choice),
                  [&](Worker& worker, const Box& box) {
                    worker.probability(box, static_cast<std::int32_t>(label), volume);
                  });
  });
}

void run_uncertainty(const VoteField& field, const std::optional<Doubles>& inverse, int kind,
                     const std::vector<std::size_t>& tile, std::pair<std::size_t, std::size_t> tiles,
                     std::size_t threads, ArrayOf<float> out) {
  require_extent(out, whole_box(field.shape).voxels());
  const Run run(field, tile, tiles, threads);
  const Unmixing unmixing = unmixing_of(inverse, field);
  const Choice choice{Tie::lowest, -1, 0, nullptr};
  if (kind < 0 || kind > static_cast<int>(Unsure::variance)) throw std::invalid_argument("no such uncertainty");
  with_vote_type(field, [&](auto tag) {
    using Worker = SmoothedVote<typename decltype(tag)::type>;
    float* volume = out.mutable_data();
    nb::gil_scoped_release release;
    for_each_tile(run.grid, run.range, run.threads, Worker(field, unmixing, choice),
                  [&](Worker& worker, const Box& box) { worker.uncertainty(box, static_cast<Unsure>(kind), volume); });
  });
}

nb::tuple gathered(const std::vector<MixingSums>& parts, std::size_t labels) {
  std::map<std::uint64_t, MixingSums::Pair> pairs;
  ArrayOf<std::int64_t> voxels({labels, 6});
  std::fill_n(voxels.mutable_data(), labels * 6, std::int64_t{0});
  for (const MixingSums& part : parts) {
    for (const auto& [key, pair] : part.pairs) {
      pairs[key].near += pair.near;
      pairs[key].far += pair.far;
    }
    for (std::size_t t = 0; t < labels; ++t) {
      const auto& from = part.voxels[t];
      std::int64_t* row = voxels.mutable_data() + t * 6;
      row[0] += from.near;
      row[1] += from.far;
      row[2] += from.nobody_near;
      row[3] += from.nobody_far;
      row[4] += from.agreed;
      row[5] += from.agreed_far;
    }
  }
  const auto n = pairs.size();
  ArrayOf<std::int64_t> keys(n), sums({n, 2});
  std::size_t at = 0;
  for (const auto& [key, pair] : pairs) {
    keys.mutable_data()[at] = static_cast<std::int64_t>(key);
    sums.mutable_data()[2 * at] = pair.near;
    sums.mutable_data()[2 * at + 1] = pair.far;
    ++at;
  }
  return nb::make_tuple(keys, sums, voxels);
}

nb::tuple run_mixing(const VoteField& field, const Array& decision, double units,
                     const std::vector<std::size_t>& tile, std::pair<std::size_t, std::size_t> tiles,
                     std::size_t threads, const std::optional<std::pair<Extents, Extents>>& region) {
  require_extent(decision, whole_box(field.shape).voxels());
  const Run run(field, tile, tiles, threads);
  const Box counted = region ? Box{region->first, region->second} : whole_box(field.shape);
  std::vector<MixingSums> sums;
  with_vote_type(field, [&](auto vote_tag) {
    with_index_type(decision, [&](auto index_tag) {
      using Index = typename decltype(index_tag)::type;
      using Worker = MixingCounter<typename decltype(vote_tag)::type, Index>;
      const auto* said = static_cast<const Index*>(decision.data());
      nb::gil_scoped_release release;
      const auto workers = for_each_tile(run.grid, run.range, run.threads, Worker(field, units),
                                         [&](Worker& worker, const Box& box) {
                                           const Box part = intersection(box, counted);
                                           if (!part.empty()) worker.count(part, said);
                                         });
      for (const Worker& worker : workers) sums.push_back(worker.sums());
    });
  });
  return gathered(sums, field.labels);
}

ArrayOf<std::int64_t> run_count_votes(const std::vector<const RaterVotes*>& raters, const RaterVotes* mask,
                                          std::size_t extent, std::size_t digits, std::size_t threads) {
  std::vector<const Votes*> votes;
  for (const RaterVotes* rater : raters) votes.push_back(votes_of(rater, extent));
  const Votes* inside = mask ? votes_of(mask, extent) : nullptr;
  ArrayOf<std::int64_t> total({raters.size(), digits});
  const std::size_t cells = raters.size() * digits;
  std::fill_n(total.mutable_data(), cells, std::int64_t{0});
  const auto slabs = make_slabs(extent, threads);
  std::vector<std::vector<std::int64_t>> parts(slabs.size(), std::vector<std::int64_t>(cells, 0));
  {
    nb::gil_scoped_release release;
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      // Pieces are larger than usual, since byte counts are converted at the end of each piece.
      in_pieces(slab, 4 * kPiece, [&](Slab piece) {
        for (std::size_t rater = 0; rater < votes.size(); ++rater) {
          count_votes(*votes[rater], inside, piece.begin, piece.end, parts[k].data() + rater * digits);
        }
      });
    });
  }
  for (const auto& part : parts) {
    for (std::size_t i = 0; i < cells; ++i) total.mutable_data()[i] += part[i];
  }
  return total;
}

}  // namespace

void bind_tiles(nb::module_& m) {
  nb::class_<VoteField>(m, "VoteField")
      .def("__init__", &make_field, nb::arg("raters"), nb::arg("weights"), nb::arg("mask").none(), nb::arg("labels"),
           nb::arg("may_miss"), nb::arg("frequencies"), nb::arg("shape"), nb::arg("gaussian"),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 4>())
      .def_prop_ro("number_of_raters", [](const VoteField& field) { return field.raters.size(); });
  m.def("count_votes", &run_count_votes, nb::arg("raters"), nb::arg("mask").none(), nb::arg("extent"),
        nb::arg("digits"), nb::arg("threads"));
  m.def("count_tiles", &count_tiles, nb::arg("field"), nb::arg("tile"));
  m.def("decide_votes", &run_decide, nb::arg("field"), nb::arg("inverse"), nb::arg("tie"),
        nb::arg("threshold"), nb::arg("tolerance"), nb::arg("tile"), nb::arg("tiles"), nb::arg("threads"),
        nb::arg("out"));
  m.def("smoothed_share", &run_probability, nb::arg("field"), nb::arg("inverse"), nb::arg("label"),
        nb::arg("tile"), nb::arg("tiles"), nb::arg("threads"), nb::arg("out"));
  m.def("smoothed_uncertainty", &run_uncertainty, nb::arg("field"), nb::arg("inverse"), nb::arg("kind"),
        nb::arg("tile"), nb::arg("tiles"), nb::arg("threads"), nb::arg("out"));
  m.def("mix_votes", &run_mixing, nb::arg("field"), nb::arg("decision"), nb::arg("units"), nb::arg("tile"),
        nb::arg("tiles"), nb::arg("threads"), nb::arg("region") = nb::none());
}

}  // namespace consensus
