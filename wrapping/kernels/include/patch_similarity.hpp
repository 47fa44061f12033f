// Computes the correlation, over all labels, between each rater's votes and the consensus in a patch
// around each disputed voxel.
//
// For each label, the correlation needs the number of the rater's votes in the patch and the sum of the
// consensus's shares; their squares and products are summed over labels. Since a rater gives a voxel
// only one label, the products at each voxel are summed once for all labels.
//
// Preconditions (checked in Python): as in window_sums.hpp; there is one share in [0, 1] per mention.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "window_counts.hpp"

namespace consensus {

// Sums over labels for n consecutive disputed voxels of some planes. A rater's count is its number
// of votes for a label in the patch; the consensus's mass is the sum of its shares there.
struct ProductSums {
  std::size_t first;
  std::vector<double> crossed;  // (n, J) count * mass
  std::vector<double> said;     // (n, J) count^2
  std::vector<double> had;      // (n, annotators) mass^2
};

template <class Vote>
class PatchSimilarity {
 public:
  PatchSimilarity(const WindowFrame<Vote>& frame, const double* shares, unsigned shift, ProductSums& products, double* out)
      : frame_(frame), shares_(shares), whole_(std::ldexp(1.0, static_cast<int>(shift))), products_(products), out_(out),
        sweep_(frame) {}

  // Writes (n, J) similarities between 0 and 1 for the voxels of a box; 0 without annotation.
  void run(const Box& box) {
    // Labels are processed in order, so that floating-point sums do not depend on threads.
    for (std::size_t label = 0; label < frame_.labels; ++label) multiply(label, box);
    sum_within(box);
  }

 private:
  std::uint64_t scaled(double share) const { return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole_ * share + 0.5)); }
  double unscaled(std::uint64_t sum) const { return static_cast<double>(static_cast<std::int64_t>(sum)) / whole_; }

  // Adds the terms of one label: each rater's count, and the consensus's mass where the rater annotated.
  void multiply(std::size_t label, const Box& box) {
    // Local copies: the compiler must assume that the output aliases these members.
    const std::size_t raters = frame_.raters, annotators = frame_.annotators(), labels = frame_.labels;
    const std::size_t first = products_.first;
    const std::size_t lanes = raters + annotators;
    const bool gaps = frame_.gaps;
    const double scale = 1.0 / whole_;
    double *crossed = products_.crossed.data(), *said = products_.said.data(), *had = products_.had.data();
    const auto add = [=](const Vote* votes, std::uint64_t share, std::uint64_t sign, std::uint64_t* cell) {
      for (std::size_t rater = 0; rater < raters; ++rater) cell[rater] += votes[rater] == label ? sign : 0;
      cell[raters] += sign * share;
      for (std::size_t rater = 0; rater + 1 < annotators; ++rater) cell[raters + 1 + rater] += votes[rater] < labels ? sign * share : 0;
    };
    const std::uint32_t* mentions = frame_.mentions;
    sweep_.run(lanes, frame_.boxes[label], box, AllVoxels<Vote>(frame_),
               [=](std::size_t voxel, const std::uint64_t* high, const std::uint64_t* low) {
                 const std::size_t at = voxel - first;
                 double shares = 0.0;
                 for (std::size_t who = 0; who < annotators; ++who) {
                   shares = static_cast<double>(static_cast<std::int64_t>(high[raters + who] - low[raters + who])) * scale;
                   had[at * annotators + who] += shares * shares;
                 }
                 for (std::size_t rater = 0; rater < raters; ++rater) {
                   const auto count = static_cast<double>(static_cast<std::int64_t>(high[rater] - low[rater]));
                   if (gaps) shares = static_cast<double>(static_cast<std::int64_t>(high[raters + 1 + rater] - low[raters + 1 + rater])) * scale;
                   said[at * raters + rater] += count * count;
                   crossed[at * raters + rater] += count * shares;
                 }
               },
               agreed_sources(frame_, frame_.run_begin[label], frame_.run_begin[label + 1],
                              [&](std::size_t k, std::uint64_t* cells, std::size_t length, std::uint64_t sign) {
                                one_.assign(stride_of<std::uint64_t>(lanes), 0);
                                add(frame_.votes_of_run(k), scaled(1.0), sign, one_.data());
                                for (std::size_t at = 0; at < length; ++at) add_row(one_.data(), one_.size(), cells + at * one_.size());
                              }),
               disputed_sources(frame_.places, frame_.mention_begin[label], frame_.mention_begin[label + 1],
                                [=](std::size_t k) { return mentions[k]; },
                                [&](std::size_t k, std::uint64_t* cell, std::size_t, std::uint64_t sign) {
                                  add(frame_.votes_at(mentions[k]), scaled(shares_[k]), sign, cell);
                                }));
  }

  // Sums the products at each voxel over all labels at once, and computes the correlation.
  void sum_within(const Box& box) {
    const std::size_t raters = frame_.raters, annotators = frame_.annotators();
    const std::size_t lanes = raters + 2 * annotators;
    sweep_.run(lanes, whole_box(frame_.shape), box, AllVoxels<Vote>(frame_),
               [&](std::size_t voxel, const std::uint64_t* high, const std::uint64_t* low) {
                 const Vote* votes = frame_.votes_at(voxel);
                 const std::size_t at = voxel - products_.first;
                 for (std::size_t rater = 0; rater < raters; ++rater) {
                   const std::size_t who = frame_.annotator(rater), square = raters + who, count = square + annotators;
                   double& similarity = out_[at * raters + rater];
                   similarity = 0.0;
                   if (votes[rater] == frame_.labels) continue;
                   const auto n = static_cast<double>(high[count] - low[count]);
                   const double both = unscaled(high[rater] - low[rater]) * n - products_.crossed[at * raters + rater];
                   const double own = n * n - products_.said[at * raters + rater];
                   const double other = unscaled(high[square] - low[square]) * n - products_.had[at * annotators + who];
                   const double norm = std::sqrt(std::max(own, 0.0) * std::max(other, 0.0));
                   const double found = norm > kConstant * n * n ? both / norm : 0.0;
                   similarity = (std::min(std::max(found, -1.0), 1.0) + 1) / 2;
                 }
               },
               source_list(0, frame_.agreed.size(), [&](std::size_t k) { return frame_.run_places[frame_.agreed[k]]; },
                           [&](std::size_t k) { return static_cast<std::size_t>(frame_.run_lengths[frame_.agreed[k]]); },
                           [&](std::size_t k, std::uint64_t* cells, std::size_t length, std::uint64_t sign) {
                             const Vote* votes = frame_.votes_of_run(frame_.agreed[k]);
                             const std::uint64_t whole = scaled(1.0) * sign;
                             one_.assign(stride_of<std::uint64_t>(lanes), 0);
                             for (std::size_t rater = 0; rater < raters; ++rater) one_[rater] = votes[rater] < frame_.labels ? whole : 0;
                             add_annotators(frame_, votes, whole, one_.data() + raters);
                             add_annotators(frame_, votes, sign, one_.data() + raters + annotators);
                             for (std::size_t at = 0; at < length; ++at) add_row(one_.data(), one_.size(), cells + at * one_.size());
                           }),
               disputed_sources(frame_.places, 0, frame_.number, [](std::size_t voxel) { return voxel; },
                                [&](std::size_t voxel, std::uint64_t* cell, std::size_t, std::uint64_t sign) {
                                  if (voxel - begin_ >= squares_.size()) fill_agreement(voxel);
                                  const Vote* votes = frame_.votes_at(voxel);
                                  const std::uint64_t* agreement = agreement_.data() + (voxel - begin_) * raters;
                                  for (std::size_t rater = 0; rater < raters; ++rater) cell[rater] += sign * agreement[rater];
                                  add_annotators(frame_, votes, sign * squares_[voxel - begin_], cell + raters);
                                  add_annotators(frame_, votes, sign, cell + raters + annotators);
                                }));
  }

  // Computes, for each voxel of the plane that contains `voxel`, the consensus's share of each rater's label
  // and the sum of the squared shares. Called for planes that enter or leave the window.
  void fill_agreement(std::size_t voxel) {
    const std::size_t raters = frame_.raters, plane = frame_.places[voxel] / (frame_.shape[2] * frame_.shape[3]);
    const std::size_t volume = plane / frame_.shape[1], z = plane % frame_.shape[1];
    const Box planes{{volume, z, 0, 0}, {volume + 1, z + 1, frame_.shape[2], frame_.shape[3]}};
    const auto ends = frame_.voxels_of(planes);
    begin_ = ends.first;
    agreement_.assign((ends.second - begin_) * raters, 0);
    squares_.assign(ends.second - begin_, 0);
    for (std::size_t label = 0; label < frame_.labels; ++label) {
      const auto [from, to] = frame_.mentions_of(label, planes);
      for (std::size_t k = from; k < to; ++k) {
        const std::size_t at = frame_.mentions[k] - begin_;
        const Vote* votes = frame_.votes_at(frame_.mentions[k]);
        const std::uint64_t share = scaled(shares_[k]);
        for (std::size_t rater = 0; rater < raters; ++rater) {
          if (votes[rater] == label) agreement_[at * raters + rater] = share;
        }
        squares_[at] += scaled(shares_[k] * shares_[k]);
      }
    }
  }

  // lower standard deviations are rounding errors: the patch is constant
  static constexpr double kConstant = 1e-9;

  const WindowFrame<Vote>& frame_;
  const double* shares_;
  double whole_;
  ProductSums& products_;
  double* out_;
  WindowSweep<Vote, std::uint64_t> sweep_;
  std::size_t begin_ = 0;  // the first voxel of the plane
  std::vector<std::uint64_t> agreement_, squares_, one_;
};

// Writes the similarities of the voxels of some planes; threads process ranges of rows.
template <class Vote>
void find_similarity(const WindowFrame<Vote>& frame, const Box& part, const double* shares, unsigned shift,
                     std::size_t threads, double* out) {
  const auto ends = frame.voxels_of(part);
  const std::size_t number = ends.second - ends.first;
  ProductSums products{ends.first, std::vector<double>(number * frame.raters), std::vector<double>(number * frame.raters),
                       std::vector<double>(number * frame.annotators())};
  const std::vector<Box> pieces = pieces_of(part, threads, 2);
  for_each_task(pieces.size(), threads, [&] { return PatchSimilarity<Vote>(frame, shares, shift, products, out); },
                [&](PatchSimilarity<Vote>& worker, std::size_t k) { worker.run(pieces[k]); });
}

// Adds the raters' weights, (n, J) for the voxels of some planes, to the scores of the labels they
// gave.
template <class Vote>
void add_votes(const WindowFrame<Vote>& frame, const Box& part, const double* weights, std::size_t threads, double* votes) {
  const std::size_t first = frame.voxels_of(part).first, raters = frame.raters;
  for_each_slab(make_slabs(frame.labels, threads, 1), [&](std::size_t, Slab labels) {
    for (std::size_t label = labels.begin; label < labels.end; ++label) {
      checkpoint();
      const auto [from, to] = frame.mentions_of(label, part);
      for (std::size_t k = from; k < to; ++k) {
        const Vote* said = frame.votes_at(frame.mentions[k]);
        const double* weight = weights + (frame.mentions[k] - first) * raters;
        double sum = 0.0;
        for (std::size_t rater = 0; rater < raters; ++rater) sum += said[rater] == label ? weight[rater] : 0.0;
        votes[k] += sum;
      }
    }
  });
}

}  // namespace consensus
