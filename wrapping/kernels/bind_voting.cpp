// Bindings of voting: labels, the share of a label, uncertainty, and each rater's counts of labels.
#include <algorithm>
#include <optional>

#include "bindings.hpp"
#include "count_vote.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "rater_votes.hpp"
#include "symbols.hpp"
#include "vote_uncertainty.hpp"
#include "voting.hpp"

namespace consensus {

namespace {

using Raters = std::vector<const RaterVotes*>;
using Reals = ArrayOf<double>;
using Bits = ArrayOf<std::uint8_t>;

std::vector<const Votes*> votes_of(const Raters& raters, std::size_t extent) {
  if (raters.empty()) throw std::invalid_argument("at least one rater wanted");
  return make_stack(raters, 2, extent).raters;
}

std::vector<double> reals_of(const Reals& values, std::size_t number) {
  require_extent(values, number);
  return {values.data(), values.data() + number};
}

template <class Value, class MakeRows>
void vote_slabs(const VoteRule& rule, MakeRows make_rows, const std::uint8_t* mask,
                       const Value* values, std::size_t extent, std::size_t threads, Value* out) {
  nb::gil_scoped_release release;
  prefer_huge_pages(out, extent * sizeof(Value));
  for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) {
    VotePass<decltype(make_rows()), Value> pass(rule, make_rows(), mask, values);
    in_pieces(slab, kPiece, [&](Slab piece) { pass.run(piece.begin, piece.end, out); });
  });
}

// Returns the symbol of the second of two labels if all other symbols denote the first label, else
// nothing.
std::optional<std::uint8_t> second_of_two(const Alphabet& alphabet, std::uint32_t labels) {
  if (alphabet.width != 1 || labels != 2) return std::nullopt;
  const auto& digits = alphabet.digits;
  const auto second = std::find(digits.begin(), digits.end(), 1);
  const auto others = std::count(digits.begin(), digits.end(), 0);
  if (second == digits.end() || others + 1 != static_cast<std::ptrdiff_t>(digits.size())) return std::nullopt;
  return static_cast<std::uint8_t>(second - digits.begin());
}

template <class Value>
void count_slabs(const std::vector<const Votes*>& votes, std::uint8_t label, const AnswersByCount& found,
                 const Value* values, std::size_t extent, std::size_t threads, Value* out) {
  nb::gil_scoped_release release;
  prefer_huge_pages(out, extent * sizeof(Value));
  std::vector<const std::uint8_t*> rows;
  for (const Votes* rater : votes) rows.push_back(static_cast<const std::uint8_t*>(rater->symbols()));
  for_each_piece(extent, threads, [&](Slab slab) {
    count_vote(rows, label, found, values, slab.begin, slab.end, out);
  });
}

// Returns pointers to the rows of packed masks, one per rater.
std::vector<const std::uint8_t*> rows_of(const Bits& bits, std::size_t raters, std::size_t extent) {
  require_extent(bits, raters * stretches_of(extent) * kLane);
  std::vector<const std::uint8_t*> rows;
  for (std::size_t j = 0; j < raters; ++j) rows.push_back(bits.data() + j * stretches_of(extent) * kLane);
  return rows;
}

void bit_slabs(const std::vector<const std::uint8_t*>& rows, const AnswersByCount& found, const std::uint8_t* values,
               std::size_t extent, std::size_t threads, std::uint8_t* out) {
  nb::gil_scoped_release release;
  prefer_huge_pages(out, extent);
  for_each_slab(stretch_slabs(extent, threads), [&](std::size_t, Slab slab) {
    in_pieces(slab, kPieceOfStretches, [&](Slab piece) {
      count_bits(rows, found, values, extent, piece.begin, piece.end, out);
    });
  });
}

// A negative threshold means that there is none. `bits`, if given, must hold the same votes as
// `raters`.
void run_vote(const Raters& raters, const std::optional<Bits>& bits, std::uint32_t labels, const Mask& mask,
              const Reals& weights, double threshold, double tolerance, int ties,
              const Reals& prior, const Array& values, Array out,
              std::size_t threads) {
  const std::size_t extent = extent_of(out);
  require_extent(out, extent);
  require_extent(values, labels + std::size_t{2});
  if (values.itemsize() != out.itemsize()) throw std::invalid_argument("values and out differ in width");
  if (ties < 0 || ties > static_cast<int>(Ties::kPrior)) throw std::invalid_argument("no such tie rule");
  const auto votes = votes_of(raters, extent);
  const VoteRule rule{labels, reals_of(weights, votes.size()), threshold, tolerance,
                      static_cast<Ties>(ties), reals_of(prior, labels)};
  const std::uint8_t* inside = pointer_or_null(mask, extent);
  const Alphabet alphabet = Alphabet::of(votes);
  const std::size_t width = alphabet.width;
  const auto second = second_of_two(alphabet, labels);
  const auto by_count = second && !inside ? AnswersByCount::of(rule) : std::nullopt;
  return with_value_width(values, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    const auto* table = static_cast<const Value*>(values.data());
    auto* to = static_cast<Value*>(out.mutable_data());
    const auto pass = [&](auto make_rows) {
      return vote_slabs(rule, make_rows, inside, table, extent, threads, to);
    };
    if constexpr (sizeof(Value) == 1) {
      if (by_count && bits && votes.size() <= kMostRows) {
        return bit_slabs(rows_of(*bits, votes.size(), extent), *by_count, table, extent, threads, to);
      }
    }
    if (by_count) return count_slabs(votes, *second, *by_count, table, extent, threads, to);
    if (width == 1) return pass([&] { return PlainRows<std::uint8_t>(votes); });
    if (width == 2) return pass([&] { return PlainRows<std::uint16_t>(votes); });
    return pass([&] { return DigitRows(votes, labels); });
  });
}

void run_vote_share(const Raters& raters, std::uint32_t labels, std::uint32_t label, const Mask& mask,
                    const Reals& weights, double nobody, Array out, std::size_t threads) {
  const std::size_t extent = extent_of(out);
  require_extent(out, extent);
  const auto votes = votes_of(raters, extent);
  const auto of_raters = reals_of(weights, votes.size());
  const std::uint8_t* inside = pointer_or_null(mask, extent);
  with_real_type(out, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    auto* to = static_cast<Real*>(out.mutable_data());
    nb::gil_scoped_release release;
    for_each_piece(extent, threads, [&](Slab slab) {
      vote_share(votes, of_raters, labels, label, inside, nobody, slab.begin, slab.end, to);
    });
  });
}

void run_vote_uncertainty(const Raters& raters, std::uint32_t labels, int kind, const Mask& mask,
                          const Reals& weights, double nobody, ArrayOf<float> out, std::size_t threads) {
  const std::size_t extent = extent_of(out);
  require_extent(out, extent);
  if (kind < 0 || kind > static_cast<int>(Unsure::variance)) throw std::invalid_argument("no such uncertainty");
  const auto votes = votes_of(raters, extent);
  const auto of_raters = reals_of(weights, votes.size());
  const std::uint8_t* inside = pointer_or_null(mask, extent);
  float* to = out.mutable_data();
  nb::gil_scoped_release release;
  for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) {
    VoteUncertainty unsure(votes, of_raters, labels, static_cast<Unsure>(kind), nobody);
    in_pieces(slab, kPiece, [&](Slab piece) { unsure.write(inside, piece.begin, piece.end, to); });
  });
}

ArrayOf<std::int64_t> run_vote_counts(const Raters& raters, std::uint32_t labels, const Mask& mask,
                                          std::size_t extent, std::size_t threads) {
  const auto votes = votes_of(raters, extent);
  const std::uint8_t* inside = pointer_or_null(mask, extent);
  ArrayOf<std::int64_t> counts({votes.size(), labels});
  const std::size_t size = votes.size() * labels;
  auto* total = counts.mutable_data();
  nb::gil_scoped_release release;
  const auto slabs = make_slabs(extent, threads);
  std::vector<std::vector<std::int64_t>> parts(slabs.size());
  for_each_slab(slabs, [&](std::size_t k, Slab slab) {
    parts[k].assign(size, 0);
    in_pieces(slab, kPiece, [&](Slab piece) {
      vote_counts(votes, labels, inside, piece.begin, piece.end, parts[k].data());
    });
  });
  std::fill_n(total, size, 0);
  for (const auto& part : parts) {
    for (std::size_t i = 0; i < size; ++i) total[i] += part[i];
  }
  return counts;
}

}  // namespace

void bind_voting(nb::module_& m) {
  m.def("vote", &run_vote, nb::arg("raters"), nb::arg("bits"), nb::arg("labels"), nb::arg("mask"),
        nb::arg("weights"), nb::arg("threshold"), nb::arg("tolerance"), nb::arg("ties"), nb::arg("prior"),
        nb::arg("values"), nb::arg("out"), nb::arg("threads"));
  m.def("vote_share", &run_vote_share, nb::arg("raters"), nb::arg("labels"), nb::arg("label"),
        nb::arg("mask"), nb::arg("weights"), nb::arg("nobody"), nb::arg("out"), nb::arg("threads"));
  m.def("vote_uncertainty", &run_vote_uncertainty, nb::arg("raters"), nb::arg("labels"), nb::arg("kind"),
        nb::arg("mask"), nb::arg("weights"), nb::arg("nobody"), nb::arg("out"), nb::arg("threads"));
  m.def("vote_counts", &run_vote_counts, nb::arg("raters"), nb::arg("labels"), nb::arg("mask"),
        nb::arg("extent"), nb::arg("threads"));
}

}  // namespace consensus
