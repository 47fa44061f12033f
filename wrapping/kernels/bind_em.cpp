// Bindings of EM over patterns (expected counts, initial counts from votes, posterior as a decision or as
// probabilities) and of the moves of direct inference.
#include <algorithm>

#include "bindings.hpp"
#include "block_moves.hpp"
#include "confusion_em.hpp"
#include "few_labels_em.hpp"
#include "parallel.hpp"
#include "slab_sums.hpp"

namespace consensus {

namespace {

using Reals = ArrayOf<double>;
using Rows = std::optional<ArrayOf<std::uint32_t>>;

Reals reals(std::vector<std::size_t> shape, const std::vector<double>& values) {
  Reals array({shape.begin(), shape.end()});
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

// Calls f with a PatternRows of the type of the digits: one or two bytes.
template <class F>
auto with_rows(const Array& digits, std::size_t labels, std::size_t truths, std::size_t starts,
               F f) {
  require_extent(digits, extent_of(digits));
  require_axes(digits, 2);
  const auto shape = shape_of(digits);
  if (digits.type().kind != 'u' || digits.itemsize() > 2) {
    throw std::invalid_argument("digits must be uint8 or uint16");
  }
  if (digits.itemsize() == 1) {
    return f(PatternRows<std::uint8_t>{static_cast<const std::uint8_t*>(digits.data()), shape[0],
                                       shape[1], labels, truths, starts});
  }
  return f(PatternRows<std::uint16_t>{static_cast<const std::uint16_t*>(digits.data()), shape[0],
                                      shape[1], labels, truths, starts});
}

struct GivenParameters {
  const Reals& log_theta;
  const Reals& log_prior;
  const Rows& prior_rows;
  double negligible = kUnderflow;

  std::size_t labels() const { return log_theta.shape(1); }
  std::size_t truths() const { return log_theta.shape(3); }
  std::size_t starts() const { return log_theta.shape(2); }
  std::size_t number_of_rows() const { return log_prior.shape(0); }

  Parameters checked(const Array& digits) const {
    require_axes(log_theta, 4);
    require_axes(log_prior, 3);
    const auto raters = digits.shape(1);
    require_extent(log_theta, raters * labels() * starts() * truths());
    if (truths() > std::size_t{1} << 16) throw std::invalid_argument("at most 65536 truths wanted");
    const auto prior_starts = log_prior.shape(1);
    if (prior_starts != 1 && prior_starts != starts()) throw std::invalid_argument("a prior per start wanted");
    require_extent(log_prior, number_of_rows() * prior_starts * truths());
    const auto patterns = digits.shape(0);
    const std::uint32_t* rows = pointer_or_null(prior_rows, patterns);
    if (number_of_rows() == 0 ||
        (rows && std::any_of(rows, rows + patterns, [&](auto row) { return row >= number_of_rows(); }))) {
      throw std::invalid_argument("a pattern's prior row does not exist");
    }
    const double highest = highest_of(log_prior.data(), extent_of(log_prior));
    return {log_theta.data(), log_prior.data(), rows, prior_starts, negligible, highest};
  }
};

template <class Digit, class Expect>
nb::tuple summed(const PatternRows<Digit>& rows, std::size_t mass_rows, std::size_t threads,
                 Expect expect_slab) {
  ExpectedCounts total = no_counts(rows, mass_rows);
  {
    nb::gil_scoped_release release;
    const std::size_t bytes = (total.counts.size() + total.mass.size()) * sizeof(double);
    const auto slabs = fixed_slabs(rows.patterns, bytes);
    SumsInOrder<ExpectedCounts> sums(total, slabs.size());
    share_slabs(slabs, threads, [&](std::size_t k, Slab slab) {
      ExpectedCounts part = no_counts(rows, mass_rows);
      expect_slab(slab, part);
      sums.add(k, std::move(part));
    });
  }
  return nb::make_tuple(reals({rows.raters, rows.labels, rows.starts, rows.truths}, total.counts),
                        reals({mass_rows, rows.starts, rows.truths}, total.mass),
                        reals({rows.starts}, total.log_likelihood));
}

nb::tuple run_expected_counts(const Array& digits, const Reals& weights, const Reals& log_theta,
                              const Reals& log_prior, const Rows& prior_rows, bool mass_by_row,
                              double negligible, std::size_t threads) {
  const GivenParameters given{log_theta, log_prior, prior_rows, negligible};
  if (!(negligible > 0)) throw std::invalid_argument("negligible must be above 0");
  require_axes(digits, 2);
  require_axes(log_theta, 4);
  const Parameters parameters = given.checked(digits);
  require_extent(weights, digits.shape(0));
  return with_rows(digits, given.labels(), given.truths(), given.starts(), [&](auto rows) {
    const std::size_t mass_rows = mass_by_row ? given.number_of_rows() : 1;
    if (rows.truths <= kFewLabels) {
      return summed(rows, mass_rows, threads, [&](Slab slab, ExpectedCounts& sums) {
        expect_few_labels(rows, weights.data(), parameters, mass_by_row, slab, sums);
      });
    }
    const std::size_t table = rows.raters * rows.labels * rows.starts;
    const PossibleLabels possible(parameters.log_theta, table, rows.truths);
    return summed(rows, mass_rows, threads, [&](Slab slab, ExpectedCounts& sums) {
      expect(rows, weights.data(), parameters, possible, mass_by_row, slab, sums);
    });
  });
}

nb::tuple run_vote_expectation(const Array& digits, const Reals& weights, std::size_t labels,
                               int kind, std::size_t threads) {
  require_axes(digits, 2);
  require_extent(weights, digits.shape(0));
  if (kind < 0 || kind > static_cast<int>(VoteShares::kPlurality)) throw std::invalid_argument("no such kind");
  return with_rows(digits, labels, labels, 1, [&](auto rows) {
    return summed(rows, 1, threads, [&](Slab slab, ExpectedCounts& sums) {
      expect_votes(rows, weights.data(), static_cast<VoteShares>(kind), slab, sums);
    });
  });
}

// Calls write(pattern, start, posterior) for every pattern and start, on several threads.
template <class Write>
void for_each_posterior(const Array& digits, const GivenParameters& given, std::size_t threads,
                        Write write) {
  const Parameters parameters = given.checked(digits);
  with_rows(digits, given.labels(), given.truths(), given.starts(), [&](auto rows) {
    nb::gil_scoped_release release;
    const std::size_t table = rows.raters * rows.labels * rows.starts;
    const PossibleLabels possible(parameters.log_theta, table, rows.truths);
    for_each_slab(make_slabs(rows.patterns, threads, 2048), [&](std::size_t, Slab slab) {
      PosteriorOf posterior(rows, parameters, possible);
      in_pieces(slab, kPatternsOfPiece, [&](Slab piece) {
        for (std::size_t p = piece.begin; p < piece.end; ++p) {
          for (std::size_t s = 0; s < rows.starts; ++s) write(p, s, posterior.at(p, s));
        }
      });
    });
  });
}

// Returns the index of the label with the highest log joint; -1 if several are within the
// tolerance of it, or if no label is possible.
ArrayOf<std::int32_t> run_posterior_decision(const Array& digits, const Reals& log_theta,
                                                 const Reals& log_prior, const Rows& prior_rows,
                                                 double tolerance, std::size_t threads) {
  require_axes(digits, 2);
  require_axes(log_theta, 4);
  ArrayOf<std::int32_t> decision({digits.shape(0), log_theta.shape(2)});
  const auto starts = log_theta.shape(2);
  auto* out = decision.mutable_data();
  for_each_posterior(digits, {log_theta, log_prior, prior_rows}, threads,
                     [=](std::size_t p, std::size_t s, const Posterior& now) {
                       double best = kImpossible;
                       for (std::size_t i = 0; i < now.size; ++i) best = std::max(best, now.log_joint[i]);
                       std::int32_t chosen = -1;
                       std::size_t tied = 0;
                       for (std::size_t i = 0; best > kImpossible && i < now.size; ++i) {
                         if (now.log_joint[i] >= best - tolerance) {
                           chosen = now.labels[i];
                           ++tied;
                         }
                       }
                       out[p * starts + s] = tied == 1 ? chosen : -1;
                     });
  return decision;
}

// Returns probabilities [pattern][start][requested label].
Reals run_posterior_shares(const Array& digits, const Reals& log_theta, const Reals& log_prior,
                           const Rows& prior_rows, const std::vector<std::uint16_t>& wanted,
                           std::size_t threads) {
  require_axes(digits, 2);
  require_axes(log_theta, 4);
  Reals shares({digits.shape(0), log_theta.shape(2), wanted.size()});
  const auto starts = log_theta.shape(2);
  const auto truths = log_theta.shape(3);
  auto* out = shares.mutable_data();
  std::fill_n(out, extent_of(shares), 0.0);
  std::vector<std::size_t> column(truths, wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) column.at(wanted[i]) = i;
  for_each_posterior(digits, {log_theta, log_prior, prior_rows}, threads,
                     [&, out](std::size_t p, std::size_t s, const Posterior& now) {
                       double* row = out + (p * starts + s) * wanted.size();
                       for (std::size_t i = 0; i < now.size; ++i) {
                         if (column[now.labels[i]] < wanted.size()) row[column[now.labels[i]]] = now.share[i];
                       }
                     });
  return shares;
}

// Returns the gain of each block's best move and the new label, both [block][map].
nb::tuple run_best_moves(const Array& digits, const ArrayOf<std::int64_t>& own, const Reals& joining,
                         const Reals& prior_joining, const Reals& leaving, const Reals& prior_leaving,
                         std::size_t threads) {
  require_axes(digits, 2);
  require_axes(own, 2);
  require_axes(joining, 4);
  const std::size_t blocks = digits.shape(0), raters = digits.shape(1);
  const std::size_t maps = joining.shape(2), labels = joining.shape(3);
  require_extent(own, blocks * maps);
  for (const Reals* table : {&joining, &leaving}) require_extent(*table, raters * (labels + 1) * maps * labels);
  for (const Reals* table : {&prior_joining, &prior_leaving}) require_extent(*table, maps * labels);
  const std::int64_t* owned = own.data();
  if (std::any_of(owned, owned + extent_of(own),
                  [&](auto label) { return label < 0 || static_cast<std::size_t>(label) >= labels; })) {
    throw std::invalid_argument("a block's own label does not exist");
  }
  Reals gains({blocks, maps});
  ArrayOf<std::int64_t> targets({blocks, maps});
  with_rows(digits, labels, labels, maps, [&](auto rows) {
    if (std::any_of(rows.digits, rows.digits + blocks * raters, [&](auto digit) { return digit > labels; })) {
      throw std::invalid_argument("a label that a rater said does not exist");
    }
    const Blocks<std::decay_t<decltype(*rows.digits)>> given{rows.digits, owned, raters, labels, maps};
    const GainsOfVotes joined{joining.data(), prior_joining.data()}, left{leaving.data(), prior_leaving.data()};
    double* const gain = gains.mutable_data();
    std::int64_t* const target = targets.mutable_data();
    nb::gil_scoped_release release;
    for_each_slab(make_slabs(blocks, threads, 2048), [&](std::size_t, Slab slab) {
      in_pieces(slab, kPatternsOfPiece,
                [&](Slab piece) { best_moves(given, joined, left, piece, gain, target); });
    });
  });
  return nb::make_tuple(gains, targets);
}

}  // namespace

void bind_em(nb::module_& m) {
  m.def("expected_counts", &run_expected_counts, nb::arg("digits"), nb::arg("weights"),
        nb::arg("log_theta"), nb::arg("log_prior"), nb::arg("prior_rows"), nb::arg("mass_by_row"),
        nb::arg("negligible"), nb::arg("threads"));
  m.def("vote_expectation", &run_vote_expectation, nb::arg("digits"), nb::arg("weights"),
        nb::arg("labels"), nb::arg("kind"), nb::arg("threads"));
  m.def("posterior_decision", &run_posterior_decision, nb::arg("digits"), nb::arg("log_theta"),
        nb::arg("log_prior"), nb::arg("prior_rows"), nb::arg("tolerance"), nb::arg("threads"));
  m.def("posterior_shares", &run_posterior_shares, nb::arg("digits"), nb::arg("log_theta"),
        nb::arg("log_prior"), nb::arg("prior_rows"), nb::arg("wanted"), nb::arg("threads"));
  m.def("best_moves", &run_best_moves, nb::arg("digits"), nb::arg("own"), nb::arg("joining"),
        nb::arg("prior_joining"), nb::arg("leaving"), nb::arg("prior_leaving"), nb::arg("threads"));
}

}  // namespace consensus
