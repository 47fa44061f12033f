// Spatial STAPLE's step, for one true label at a time: how probable the label is together with the
// votes, at each disputed voxel to which anybody gave it.
//
// What a rater's confusion is there follows from window sums (window_sums.hpp). A voxel to which
// nobody gave the label has none of its posterior, so that sources and voxels are the same few.
//
// Preconditions (checked in Python): as in window_sums.hpp; weights of the posterior are in [0, 1].
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "window_scales.hpp"

namespace consensus {

// What the M-step needs beyond sums; K labels.
struct PerformanceModel {
  double kappa;             // strength of the regularisation
  const double* targets;    // (J, K, K) [rater, observed, true]: what sparse data lean to
  bool mixed_target;        // whether targets are more than a diagonal and a rest
  double right, wrong;      // pseudo-counts on and off the diagonal
  const double* log_prior;  // (K), or null: the label's share of the window
  double least;             // a vote is never less probable
  unsigned shift;           // weights are scaled by 2^shift
};

template <class Vote>
class JointsOfLabel {
 public:
  JointsOfLabel(const WindowFrame<Vote>& frame, const PerformanceModel& model, const WindowScales<const float>& scales,
                const float* posterior, float* joints)
      : frame_(frame), model_(model), scales_(scales), posterior_(posterior), joints_(joints), counts_(frame),
        weights_(frame), by_vote_(frame.labels), boxes_(frame.labels),
        whole_(std::ldexp(1.0, static_cast<int>(model.shift))), scale_(1.0 / whole_) {}

  // Writes the log joints of a label's mentions in some planes.
  void run(std::size_t label, const Box& planes) {
    label_ = label;
    const auto ends = frame_.mentions_of(label, planes);
    first_ = ends.first;
    number_ = ends.second - first_;
    if (number_ == 0) return;
    const Box box = intersection(planes, frame_.boxes[label]);
    sum_mass(box);
    sum_said(box);
    sum_counts(box);
    for (std::size_t k = 0; k < number_; ++k) joints_[first_ + k] = static_cast<float>(log_joint(k));
  }

 private:
  std::size_t voxel_of(std::size_t mention) const { return frame_.mentions[mention]; }

  auto own_voxels() const {
    return ListedVoxels(first_, first_ + number_, [this](std::size_t k) { return frame_.places[voxel_of(k)]; });
  }

  std::uint64_t weight_of(std::size_t mention) const {
    // Exact: a float's bits fit twice.
    return static_cast<std::uint64_t>(whole_ * posterior_[mention] + 0.5);
  }

  // How much of the label each window holds, of those voxels that the annotator saw.
  void sum_mass(const Box& box) {
    const std::size_t lanes = frame_.annotators();
    const auto same = [](std::size_t k) { return k; };
    mass_.assign(number_ * lanes, 0);
    weights_.run(lanes, frame_.boxes[label_], box, own_voxels(),
                 [&](std::size_t k, const std::uint64_t* high, const std::uint64_t* low) {
                   for (std::size_t lane = 0; lane < lanes; ++lane) mass_[(k - first_) * lanes + lane] = high[lane] - low[lane];
                 },
                 agreed_sources(frame_, frame_.run_begin[label_], frame_.run_begin[label_ + 1], same,
                                [&](std::size_t k, std::uint64_t* cells, std::size_t number, std::uint64_t sign) {
                                  add_annotators(frame_, frame_.votes_of_run(k), sign << model_.shift, cells, number);
                                }),
                 disputed_sources(frame_, frame_.mention_begin[label_], frame_.mention_begin[label_ + 1],
                                  [&](std::size_t k) { return voxel_of(k); },
                                  [&](std::size_t k, std::uint64_t* cell, std::size_t, std::uint64_t sign) {
                                    if (posterior_[k] == 0.0F) return;
                                    add_annotators(frame_, frame_.votes_at(voxel_of(k)), sign * weight_of(k), cell);
                                  }));
  }

  // How often raters said the label in each window; or what they lean to, if targets mix.
  void sum_said(const Box& box) {
    const std::size_t raters = frame_.raters, labels = frame_.labels;
    if (!model_.mixed_target) {
      if (labels == 2) return;  // known from what was said at the voxel
      said_.assign(number_ * raters, 0);
      count_said(counts_, frame_, label_, box, own_voxels(),
                 [&](std::size_t k, const std::uint32_t* high, const std::uint32_t* low) {
                   for (std::size_t rater = 0; rater < raters; ++rater) said_[(k - first_) * raters + rater] = high[rater] - low[rater];
                 });
      return;
    }
    leaning_.assign(number_ * raters, 0.0);
    for (std::size_t rater = 0; rater < raters; ++rater) {
      double all = 0.0;
      for (std::size_t observed = 0; observed < labels; ++observed) all += target(rater, observed);
      for (std::size_t k = 0; k < number_; ++k) leaning_[k * raters + rater] = all * share(k, rater);
    }
    for (std::size_t observed = 0; observed < labels; ++observed) {
      count_said(counts_, frame_, observed, box, own_voxels(),
                 [&](std::size_t k, const std::uint32_t* high, const std::uint32_t* low) {
                   for (std::size_t rater = 0; rater < raters; ++rater) {
                     const double held = std::min(static_cast<double>(high[rater] - low[rater]), share(k - first_, rater));
                     leaning_[(k - first_) * raters + rater] -= target(rater, observed) * held;
                   }
                 });
    }
  }

  // Posterior in each window of the voxels to which raters gave what they say at its centre.
  void sum_counts(const Box& box) {
    const std::size_t raters = frame_.raters;
    count_.assign(number_ * raters, 0);
    sort_by_vote(box);
    for (std::size_t observed = 0; observed < frame_.labels; ++observed) {
      if (by_vote_[observed].empty()) continue;
      const std::vector<std::uint32_t>& said = by_vote_[observed];
      const auto voxel = [&](std::size_t k) { return voxel_of(said[k]); };
      const std::size_t runs = observed == label_ ? frame_.run_begin[label_ + 1] : frame_.run_begin[label_];
      const auto same = [](std::size_t k) { return k; };
      weights_.run(raters, observed == label_ ? frame_.boxes[label_] : boxes_[observed], intersection(box, boxes_[observed]),
                   ListedVoxels(0, said.size(), [&](std::size_t k) { return frame_.places[voxel(k)]; }),
                   [&](std::size_t k, const std::uint64_t* high, const std::uint64_t* low) {
                     const Vote* votes = frame_.votes_at(voxel(k));
                     std::uint64_t* count = count_.data() + (said[k] - first_) * raters;
                     for (std::size_t rater = 0; rater < raters; ++rater) {
                       if (votes[rater] == observed) count[rater] = high[rater] - low[rater];
                       else if (frame_.labels == 2) count[rater] = mass_[(said[k] - first_) * frame_.annotators() + frame_.annotator(rater)] - (high[rater] - low[rater]);
                     }
                   },
                   agreed_sources(frame_, frame_.run_begin[label_], runs, same,
                                  [&](std::size_t k, std::uint64_t* cells, std::size_t number, std::uint64_t sign) {
                                    add_raters(frame_, frame_.votes_of_run(k), label_, sign << model_.shift, cells, number);
                                  }),
                   disputed_sources(frame_, 0, said.size(), voxel,
                                    [&](std::size_t k, std::uint64_t* cell, std::size_t, std::uint64_t sign) {
                                      if (posterior_[said[k]] == 0.0F) return;
                                      add_raters(frame_.votes_at(voxel(k)), raters, observed, sign * weight_of(said[k]), cell);
                                    }));
    }
  }

  // The label's mentions that windows reach, by what was said at them, and where those lie.
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
        // Of two labels one is what the other leaves; sums are exact, so nothing is lost by subtracting.
        if (observed == frame_.labels || (frame_.labels == 2 && observed != label_)) continue;
        auto& said = by_vote_[observed];
        if (!said.empty() && said.back() == k) continue;
        said.push_back(static_cast<std::uint32_t>(k));
        of.widen(boxes_[observed], frame_.places[voxel_of(k)], 1);
      }
    }
  }

  // The prior times the probabilities of what raters said (eqs. 2.5.3 and 2.5.4), logarithmic.
  double log_joint(std::size_t k) const {
    const std::size_t raters = frame_.raters, lanes = frame_.annotators(), voxel = voxel_of(first_ + k) - scales_.first;
    const Vote* votes = frame_.votes_at(voxel_of(first_ + k));
    const std::uint64_t* mass = mass_.data() + k * lanes;
    double joint = 0.0, probability = 1.0;
    if (model_.log_prior != nullptr) joint = model_.log_prior[label_];
    else probability = static_cast<double>(mass[0]) * scale_ / static_cast<double>(scales_.seen[voxel * lanes]);
    const double pseudo = model_.right + model_.wrong * static_cast<double>(frame_.labels - 1);
    for (std::size_t rater = 0; rater < raters; ++rater) {
      const std::size_t observed = votes[rater], at = voxel * raters + rater;
      if (observed == frame_.labels) continue;
      const double leant = target(rater, observed);
      const double wanted = scales_.said[at] * leant + static_cast<double>(count_[k * raters + rater]) * scale_ +
                            (observed == label_ ? model_.right : model_.wrong);
      const double total = leaning(k, rater, observed) + static_cast<double>(mass[frame_.annotator(rater)]) * scale_ + pseudo;
      probability *= std::max(total > 0 ? wanted / total : leant, model_.least);
      if (probability > kSmall) continue;
      joint += std::log(probability);
      probability = 1.0;
    }
    return joint + std::log(probability);
  }

  // Sum over all labels of the target times the scale factor.
  double leaning(std::size_t k, std::size_t rater, std::size_t observed) const {
    if (model_.mixed_target) return model_.kappa * std::max(leaning_[k * frame_.raters + rater], 0.0);
    const std::size_t at = (voxel_of(first_ + k) - scales_.first) * frame_.raters + rater;
    const double rest = target(rater, label_ == 0 ? frame_.labels - 1 : 0), sum = scales_.sum[at], said = scales_.said[at];
    const double own = observed == label_      ? said
                       : frame_.labels == 2 ? sum - said
                                            : model_.kappa * std::max(share(k, rater) - said_[k * frame_.raters + rater], 0.0);
    return rest * sum + (target(rater, label_) - rest) * own;
  }

  double target(std::size_t rater, std::size_t observed) const {
    return model_.targets[(rater * frame_.labels + observed) * frame_.labels + label_];
  }

  double share(std::size_t k, std::size_t rater) const {
    const std::size_t voxel = voxel_of(first_ + k) - scales_.first;
    return static_cast<double>(scales_.seen[voxel * frame_.annotators() + frame_.annotator(rater)]) / static_cast<double>(frame_.labels);
  }

  static constexpr double kSmall = 1e-200;  // times the least probability it is still a double

  const WindowFrame<Vote>& frame_;
  const PerformanceModel& model_;
  const WindowScales<const float>& scales_;
  const float* posterior_;  // of all mentions
  float* joints_;           // the same
  WindowSweep<Vote, std::uint32_t> counts_;
  WindowSweep<Vote, std::uint64_t> weights_;
  std::size_t label_ = 0, first_ = 0, number_ = 0;  // the label's mentions at hand
  std::vector<std::uint64_t> mass_, count_;
  std::vector<std::uint32_t> said_;
  std::vector<double> leaning_;
  std::vector<std::vector<std::uint32_t>> by_vote_;
  std::vector<Box> boxes_;
  double whole_, scale_;  // 2^shift, and its inverse
};

// Log joints of all mentions in a part, the largest labels first and in pieces: threads end together,
// and what a thread keeps of a mention is not much of the memory.
template <class Vote>
void joints_of_labels(const WindowFrame<Vote>& frame, const PerformanceModel& model, const Box& part,
                      const WindowScales<const float>& scales, const float* posterior, float* joints, std::size_t threads) {
  struct Task {
    std::size_t label, mentions;
    Box planes;
  };
  const std::size_t voxels = whole_box(frame.shape).voxels();
  const std::size_t most = std::max<std::size_t>(kPiece, voxels / (32 * threads));
  std::vector<Task> tasks;
  for (std::size_t label = 0; label < frame.labels; ++label) {
    const auto [begin, end] = frame.mentions_of(label, part);
    for (const Box& planes : pieces_of(part, (end - begin + most - 1) / most)) {
      if (end > begin) tasks.push_back({label, end - begin, planes});
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.mentions > b.mentions; });
  for_each_task(tasks.size(), threads, [&] { return JointsOfLabel<Vote>(frame, model, scales, posterior, joints); },
                [&](JointsOfLabel<Vote>& worker, std::size_t k) { worker.run(tasks[k].label, tasks[k].planes); });
}

struct StepSums {
  double evidence = 0.0;
  double moved = 0.0;  // probability that went from some labels to others
};

// Turns log joints, in place, into posteriors; those below `least` become 0.
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
    // Calls work(mention, its voxel in the piece), label by label.
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
