// One EM iteration of Spatial STAPLE, one true label at a time: computes the joint probability of
// the label and the votes at each disputed voxel to which any rater gave the label.
//
// The raters' local confusion matrices are computed from window sums (window_sums.hpp). Its
// posterior is 0 where no rater gave it, so only these few voxels need to be summed and updated.
//
// Preconditions (checked in Python): as in window_sums.hpp; posteriors are in [0, 1].
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "window_counts.hpp"

namespace consensus {

// Parameters of the M-step; K labels.
struct PerformanceModel {
  double kappa;             // strength of the regularisation
  const double* targets;    // (J, K, K) [rater, observed, true]: targets of the regularisation
  double right, wrong;      // pseudo-counts on and off the diagonal of the confusion matrix
  const double* log_prior;  // (K); null: the prior is the label's share of the window
  double least;             // lower bound of the probability of a vote
  unsigned shift;           // posteriors are scaled by 2^shift to integers
};

template <class Vote>
class JointsOfLabel {
 public:
  JointsOfLabel(const WindowFrame<Vote>& frame, const PerformanceModel& model, const WindowCounts<const float>& counts,
                const float* posterior, float* joints)
      : frame_(frame), model_(model), counts_(counts), posterior_(posterior), joints_(joints), weights_(frame),
        by_vote_(frame.labels), boxes_(frame.labels), whole_(std::ldexp(1.0, static_cast<int>(model.shift))),
        scale_(1.0 / whole_), fair_(1.0 / static_cast<double>(frame.labels)) {}

  // Writes the log joints of a label's mentions in some planes.
  void run(std::size_t label, const Box& planes) {
    label_ = label;
    const auto ends = frame_.mentions_of(label, planes);
    first_ = ends.first;
    number_ = ends.second - first_;
    if (number_ == 0) return;
    const Box box = intersection(planes, frame_.boxes[label]);
    sum_own(box);
    if (frame_.labels > 2) sum_others(box);
    for (std::size_t k = 0; k < number_; ++k) joints_[first_ + k] = static_cast<float>(log_joint(k));
  }

 private:
  std::size_t voxel_of(std::size_t mention) const { return frame_.mentions[mention]; }

  auto own_voxels() const {
    const std::uint32_t *mentions = frame_.mentions, *places = frame_.places;
    return ListedVoxels(first_, first_ + number_, [=](std::size_t k) { return places[mentions[k]]; });
  }

  // Returns a weight times `whole`, rounded to an integer.
  static std::uint64_t scaled(float weight, double whole) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole * weight + 0.5));
  }

  // Converted from a signed integer, which is faster.
  double unscaled(std::uint64_t sum) const { return static_cast<double>(static_cast<std::int64_t>(sum)) * scale_; }

  // Computes in each window, for each rater: the posterior mass of the label at voxels to which
  // the rater gave it, the mass at voxels that the rater annotated, and the number of voxels to
  // which the rater gave it.
  void sum_own(const Box& box) {
    // Local copies: the compiler must assume that the output aliases these members.
    const std::size_t raters = frame_.raters, annotators = frame_.annotators(), labels = frame_.labels;
    const std::size_t label = label_, first = first_, said = raters + annotators;
    // With two labels, the number of voxels is in counts_.said.
    const std::size_t counted = labels == 2 ? 0 : raters, lanes = said + counted;
    count_.resize(number_ * raters);
    mass_.resize(number_ * annotators);
    said_.resize(number_ * counted);
    std::uint64_t *counts = count_.data(), *masses = mass_.data();
    std::uint32_t* saids = said_.data();
    const std::uint32_t *mentions = frame_.mentions, *patterns = frame_.patterns;
    const Vote* votes = frame_.votes;
    const float* posterior = posterior_;
    const double whole = whole_;
    const auto add = [=](const Vote* here, std::uint64_t weight, std::uint64_t sign, std::uint64_t* cell) {
      for (std::size_t rater = 0; rater < raters; ++rater) cell[rater] += here[rater] == label ? weight : 0;
      for (std::size_t rater = 0; rater < counted; ++rater) cell[said + rater] += here[rater] == label ? sign : 0;
      cell[raters] += weight;
      for (std::size_t rater = 0; rater + 1 < annotators; ++rater) cell[raters + 1 + rater] += here[rater] < labels ? weight : 0;
    };
    weights_.run(lanes, frame_.boxes[label], box, own_voxels(),
                 [=](std::size_t k, const std::uint64_t* high, const std::uint64_t* low) {
                   const std::size_t at = k - first;
                   for (std::size_t rater = 0; rater < raters; ++rater) counts[at * raters + rater] = high[rater] - low[rater];
                   for (std::size_t who = 0; who < annotators; ++who) masses[at * annotators + who] = high[raters + who] - low[raters + who];
                   for (std::size_t rater = 0; rater < counted; ++rater) {
                     saids[at * raters + rater] = static_cast<std::uint32_t>(high[said + rater] - low[said + rater]);
                   }
                 },
                 agreed_sources(frame_, frame_.run_begin[label], frame_.run_begin[label + 1],
                                [&](std::size_t k, std::uint64_t* cells, std::size_t length, std::uint64_t sign) {
                                  one_.assign(stride_of<std::uint64_t>(lanes), 0);
                                  add(frame_.votes_of_run(k), sign << model_.shift, sign, one_.data());
                                  for (std::size_t at = 0; at < length; ++at) add_row(one_.data(), one_.size(), cells + at * one_.size());
                                }),
                 disputed_sources(frame_.places, frame_.mention_begin[label], frame_.mention_begin[label + 1],
                                  [=](std::size_t k) { return mentions[k]; },
                                  [=](std::size_t k, std::uint64_t* cell, std::size_t, std::uint64_t sign) {
                                    add(votes + patterns[mentions[k]] * raters, sign * scaled(posterior[k], whole), sign, cell);
                                  }));
    if (labels > 2) return;
    // With two labels, one sum is the total minus the other; sums are exact, so no precision is lost.
    for (std::size_t k = 0; k < number_; ++k) {
      const Vote* here = frame_.votes_at(voxel_of(first_ + k));
      for (std::size_t rater = 0; rater < raters; ++rater) {
        std::uint64_t& count = counts[k * raters + rater];
        if (here[rater] != label) count = masses[k * annotators + frame_.annotator(rater)] - count;
      }
    }
  }

  // Computes in each window, for each rater whose vote at the centre is another label: the
  // posterior mass at voxels to which the rater gave that other label.
  void sum_others(const Box& box) {
    sort_by_vote(box);
    for (std::size_t observed = 0; observed < frame_.labels; ++observed) {
      if (!by_vote_[observed].empty()) sum_other(observed, box);
    }
  }

  void sum_other(std::size_t observed, const Box& box) {
    const std::size_t raters = frame_.raters, first = first_, number = by_vote_[observed].size();
    const std::uint32_t *said = by_vote_[observed].data(), *mentions = frame_.mentions, *places = frame_.places;
    const std::uint32_t* patterns = frame_.patterns;
    const Vote* votes = frame_.votes;
    const float* posterior = posterior_;
    const double whole = whole_;
    std::uint64_t* counts = count_.data();
    const auto voxel_of = [=](std::size_t k) { return mentions[said[k]]; };
    weights_.run(raters, boxes_[observed], intersection(box, boxes_[observed]),
                 ListedVoxels(0, number, [=](std::size_t k) { return places[voxel_of(k)]; }),
                 [=](std::size_t k, const std::uint64_t* high, const std::uint64_t* low) {
                   const Vote* here = votes + patterns[voxel_of(k)] * raters;
                   std::uint64_t* count = counts + (said[k] - first) * raters;
                   for (std::size_t rater = 0; rater < raters; ++rater) {
                     if (here[rater] == observed) count[rater] = high[rater] - low[rater];
                   }
                 },
                 disputed_sources(places, 0, number, voxel_of,
                                  [=](std::size_t k, std::uint64_t* cell, std::size_t, std::uint64_t sign) {
                                    const float weight = posterior[said[k]];
                                    if (weight == 0.0F) return;
                                    add_raters(votes + patterns[voxel_of(k)] * raters, raters, observed, sign * scaled(weight, whole), cell);
                                  }));
  }

  // Groups the label's mentions within reach of the windows by the votes there, and finds the box of each group.
  void sort_by_vote(const Box& box) {
    for (std::size_t observed = 0; observed < frame_.labels; ++observed) {
      by_vote_[observed].clear();
      boxes_[observed] = {};
    }
    PlacesBox of(frame_.shape);
    const auto [begin, end] = frame_.mentions_of(label_, frame_.reach_of(box));
    for (std::size_t k = begin; k < end; ++k) {
      const Vote* votes = frame_.votes_at(voxel_of(k));
      for (std::size_t rater = 0; rater < frame_.raters; ++rater) {
        const std::size_t observed = votes[rater];
        if (observed == frame_.labels || observed == label_) continue;
        auto& said = by_vote_[observed];
        if (!said.empty() && said.back() == k) continue;
        said.push_back(static_cast<std::uint32_t>(k));
        of.widen(boxes_[observed], frame_.places[voxel_of(k)], 1);
      }
    }
  }

  // Returns the log of the prior times the probabilities of the votes (eqs. 2.5.3 and 2.5.4).
  double log_joint(std::size_t k) const {
    const std::size_t raters = frame_.raters, lanes = frame_.annotators(), labels = frame_.labels;
    const std::size_t voxel = voxel_of(first_ + k) - counts_.first;
    const Vote* votes = frame_.votes_at(voxel_of(first_ + k));
    const std::uint64_t *mass = mass_.data() + k * lanes, *count = count_.data() + k * raters;
    double joint = 0.0, probability = 1.0;
    if (model_.log_prior != nullptr) joint = model_.log_prior[label_];
    else probability = unscaled(mass[0]) / static_cast<double>(counts_.seen[voxel * lanes]);
    const double pseudo = model_.right + model_.wrong * static_cast<double>(labels - 1);
    for (std::size_t rater = 0; rater < raters; ++rater) {
      const std::size_t observed = votes[rater];
      if (observed == labels) continue;
      const double leant = target(rater, observed), sigma = scale_factor(k, rater);
      const double wanted = sigma * leant + unscaled(count[rater]) + (observed == label_ ? model_.right : model_.wrong);
      const double total = sigma + unscaled(mass[frame_.annotator(rater)]) + pseudo;
      probability *= std::max(total > 0 ? wanted / total : leant, model_.least);
      if (probability > kSmall) continue;
      joint += std::log(probability);
      probability = 1.0;
    }
    return joint + std::log(probability);
  }

  // Returns the strength of the regularisation of the label's column: kappa times the number of voxels by which
  // the rater's count of the label, or of all other labels, in the window is below an equal share per
  // label. The number is at least 1, so that a large kappa yields the target everywhere.
  double scale_factor(std::size_t k, std::size_t rater) const {
    const std::size_t voxel = voxel_of(first_ + k) - counts_.first, raters = frame_.raters;
    const double seen = counts_.seen[voxel * frame_.annotators() + frame_.annotator(rater)];
    const double said = frame_.labels > 2 ? said_[k * raters + rater] : counts_.said[voxel * raters + rater];
    return model_.kappa * std::max(seen * fair_ - std::min(said, seen - said), 1.0);
  }

  double target(std::size_t rater, std::size_t observed) const {
    return model_.targets[(rater * frame_.labels + observed) * frame_.labels + label_];
  }

  // products of this with the lowest probability of a vote are still normal doubles
  static constexpr double kSmall = 1e-200;

  const WindowFrame<Vote>& frame_;
  const PerformanceModel& model_;
  const WindowCounts<const float>& counts_;
  const float* posterior_;  // one per mention
  float* joints_;           // one per mention
  WindowSweep<Vote, std::uint64_t> weights_;
  std::size_t label_ = 0, first_ = 0, number_ = 0;  // the current label and its range of mentions
  std::vector<std::uint64_t> mass_, count_, one_;
  std::vector<std::uint32_t> said_;
  std::vector<std::vector<std::uint32_t>> by_vote_;
  std::vector<Box> boxes_;
  double whole_, scale_;  // 2^shift, and its inverse
  double fair_;           // equal share of a label
};

// Computes the log joints of all mentions in a part. Labels with many mentions are split and processed first,
// so that threads finish at about the same time and need little memory.
template <class Vote>
void joints_of_labels(const WindowFrame<Vote>& frame, const PerformanceModel& model, const Box& part,
                      const WindowCounts<const float>& counts, const float* posterior, float* joints, std::size_t threads) {
  struct Task {
    std::size_t label, mentions;
    Box planes;
  };
  const std::size_t voxels = whole_box(frame.shape).voxels();
  const std::size_t most = std::max<std::size_t>(kPiece, voxels / (4 * threads * frame.raters));
  std::vector<Task> tasks;
  for (std::size_t label = 0; label < frame.labels; ++label) {
    const auto [begin, end] = frame.mentions_of(label, part);
    for (const Box& planes : pieces_of(part, (end - begin + most - 1) / most, 1)) {
      if (end > begin) tasks.push_back({label, end - begin, planes});
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.mentions > b.mentions; });
  for_each_task(tasks.size(), threads, [&] { return JointsOfLabel<Vote>(frame, model, counts, posterior, joints); },
                [&](JointsOfLabel<Vote>& worker, std::size_t k) { worker.run(tasks[k].label, tasks[k].planes); });
}

struct StepSums {
  double evidence = 0.0;
  double moved = 0.0;  // total change of the posterior, half the sum of absolute differences
};

// Converts log joints to posteriors in place; posteriors below `least` become 0.
template <class Vote>
StepSums normalise_joints(const WindowFrame<Vote>& frame, const float* before, float* joints, float least,
                          std::size_t threads) {
  std::vector<StepSums> sums((frame.number + kPiece - 1) / kPiece);
  for_each_task(sums.size(), threads, [] { return std::vector<double>(2 * kPiece); }, [&](std::vector<double>& room, std::size_t task) {
    const std::size_t first = task * kPiece, last = std::min(frame.number, first + kPiece);
    double* peak = room.data();
    double* total = room.data() + kPiece;
    std::fill_n(peak, kPiece, -INFINITY);
    std::fill_n(total, kPiece, 0.0);
    // Calls work(mention, index of its voxel in the piece), label by label.
    const auto for_each = [&](auto work) {
      for (std::size_t label = 0; label < frame.labels; ++label) {
        const std::uint32_t* end = frame.mentions + frame.mention_begin[label + 1];
        const std::uint32_t* at = std::lower_bound(frame.mentions + frame.mention_begin[label], end, first);
        for (; at != end && *at < last; ++at) work(static_cast<std::size_t>(at - frame.mentions), *at - first);
      }
    };
    for_each([&](std::size_t k, std::size_t voxel) { peak[voxel] = std::max(peak[voxel], static_cast<double>(joints[k])); });
    for_each([&](std::size_t k, std::size_t voxel) {
      joints[k] = static_cast<float>(std::exp(joints[k] - peak[voxel]));
      total[voxel] += joints[k];
    });
    StepSums& sum = sums[task];
    for (std::size_t voxel = 0; voxel < last - first; ++voxel) sum.evidence += std::log(total[voxel]) + peak[voxel];
    for_each([&](std::size_t k, std::size_t voxel) {
      const auto share = static_cast<float>(joints[k] / total[voxel]);
      joints[k] = share < least ? 0.0F : share;
      sum.moved += std::abs(joints[k] - before[k]);
    });
  });
  StepSums all;
  for (const StepSums& sum : sums) {
    all.evidence += sum.evidence;
    all.moved += sum.moved / 2;
  }
  return all;
}

}  // namespace consensus
