// Spatial STAPLE's E-step for one true label at a time: how probable the label is together with the
// votes, at each disputed voxel from whose window it can be seen.
//
// What a rater's confusion is there follows from window sums (window_sums.hpp); nothing is kept for
// labels x voxels. A label far less probable than another of the voxel is left out.
//
// Preconditions (checked in Python): as in window_sums.hpp; weights of the posterior are in [0, 1].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "window_performance.hpp"
#include "window_sums.hpp"

namespace consensus {

class JointsOfLabel {
 public:
  JointsOfLabel(const WindowFrame& frame, const PerformanceModel& model, const ScaleFactors<const float>& sigmas,
                const Mentions& mentions)
      : frame_(frame), model_(model), sigmas_(sigmas), mentions_(mentions), sweep_(frame),
        scale_(std::ldexp(1.0, -static_cast<int>(model.shift))) {}

  // Appends the joints, of voxels in one part, that are not far below the voxel's known peak.
  void run(std::size_t label, const WeightsInParts& posterior, const Part& whole, Peaks& peaks, LabelJoints& found) {
    label_ = label;
    posterior_ = &posterior;
    part_ = whole;
    const auto ends = voxels_of_part(frame_, part_);
    first_ = ends.first;
    number_ = ends.second - first_;
    if (number_ == 0) return;
    sum_truth(frame_.raters);
    if (model_.log_prior == nullptr) part_ = reach_;  // elsewhere the label has no share
    if (part_.empty()) return;
    start();
    for (std::size_t rater = 0; rater < frame_.raters; ++rater) add_votes(rater);
    keep(peaks, found);
    std::vector<Sources>().swap(by_vote_);  // of a large label they are much memory
  }

 private:
  // Calls work(voxel, its number in the part) for the voxels of the part.
  template <class Work>
  void for_each_voxel(Work work) const {
    for (std::size_t z = part_.low[0]; z < part_.high[0]; ++z) {
      for (std::size_t y = part_.low[1]; y < part_.high[1]; ++y) {
        const std::size_t row = frame_.row(part_.volume, z, y), x0 = row * frame_.shape[3];
        for (std::size_t voxel = frame_.row_begin[row]; voxel < frame_.row_begin[row + 1]; ++voxel) {
          const std::size_t x = frame_.places[voxel] - x0;
          if (x >= part_.low[2] && x < part_.high[2]) work(voxel, voxel - first_);
        }
      }
    }
  }

  // Unanimous and disputed voxels of the label in each window, of those that the rater annotated.
  void sum_truth(std::size_t rater) {
    annotator_ = rater;
    truth_.assign(number_, 0);
    agreed_.assign(number_, 0);
    Sources agreed;
    add_agreed(frame_, label_, rater, part_, 1, agreed);
    sweep_.run(agreed, part_, [&](std::size_t voxel, std::uint64_t sum) {
      agreed_[voxel - first_] = static_cast<std::uint32_t>(sum);
    });
    Sources disputed;
    SourceAt source_at(frame_);
    for_each_weight([&](std::size_t voxel, std::uint64_t weight) {
      if (rater < frame_.raters && frame_.vote(voxel, rater) == frame_.labels) return;
      disputed.push_back(source_at(frame_.places[voxel], 1, weight));
    });
    sweep_.run(disputed, part_, [&](std::size_t voxel, std::uint64_t sum) { truth_[voxel - first_] = sum; });
    reach_ = united(reach_of(frame_, agreed, part_), reach_of(frame_, disputed, part_));
  }

  // Calls work(voxel, scaled weight) for the posterior within reach of the part.
  template <class Work>
  void for_each_weight(Work work) const {
    const auto [low, high] = reached_places(frame_, part_);
    const double scale = std::ldexp(1.0, static_cast<int>(model_.shift));
    for (const LabelWeights& of : *posterior_) {
      const std::uint32_t* end = of.voxels + of.number;
      const std::uint32_t* at = std::lower_bound(
          of.voxels, end, low, [&](std::uint32_t voxel, std::uint32_t place) { return frame_.places[voxel] < place; });
      for (; at != end && frame_.places[*at] <= high; ++at) {
        const double weight = of.weights[at - of.voxels];
        work(*at, static_cast<std::uint64_t>(weight * scale + 0.5));  // exact: a float's bits fit twice
      }
    }
  }

  void start() {
    probability_.assign(number_, 0.0);
    log_joint_.assign(number_, 0.0);
    for_each_voxel([&](std::size_t voxel, std::size_t k) {
      if (model_.log_prior != nullptr) {
        log_joint_[k] = model_.log_prior[label_];
        probability_[k] = std::isinf(log_joint_[k]) ? 0.0 : 1.0;
      } else {
        probability_[k] = mass(k) / static_cast<double>(model_.seen.anybody()[voxel - model_.seen.first]);
      }
    });
  }

  double mass(std::size_t k) const {
    return static_cast<double>(agreed_[k]) + static_cast<double>(truth_[k]) * scale_;
  }

  // Multiplies by the probability of what the rater said (eqs. 2.5.3 and 2.5.4).
  void add_votes(std::size_t rater) {
    votes_.resize(number_);
    for_each_voxel([&](std::size_t voxel, std::size_t k) { votes_[k] = static_cast<std::uint16_t>(frame_.vote(voxel, rater)); });
    const std::size_t annotator = model_.seen.gaps[rater] ? rater : frame_.raters;
    if (annotator != annotator_) sum_truth(annotator);
    sum_counts(rater);
    sum_said(rater);
    const std::size_t labels = frame_.labels;
    const double* targets = model_.targets + rater * labels * labels;
    double pseudo = 0.0;
    for (std::size_t observed = 0; observed < labels; ++observed) pseudo += model_.alpha[observed * labels + label_];
    const double rest = targets[(label_ == 0 ? labels - 1 : 0) * labels + label_];
    const double more = targets[label_ * labels + label_] - rest;
    const bool flush = rater % kRatersAtOnce == kRatersAtOnce - 1;
    for_each_voxel([&](std::size_t voxel, std::size_t k) {
      const std::size_t observed = votes_[k];
      if (observed == labels || probability_[k] == 0.0) return;
      const std::size_t at = sigmas_.at(rater, voxel);
      const double leant = model_.mixed_target ? leaning_[k] : rest * sigmas_.sum[at] + more * sigma_true(rater, voxel, k);
      const double target = targets[observed * labels + label_];
      double count = static_cast<double>(count_[k]) * scale_;
      if (observed == label_) count += agreed_[k];
      const double wanted = sigmas_.said[at] * target + count + model_.alpha[observed * labels + label_];
      const double total = leant + mass(k) + pseudo;
      probability_[k] *= std::max(total > 0 ? wanted / total : target, model_.least);
      if (!flush) return;
      log_joint_[k] += std::log(probability_[k]);
      probability_[k] = 1.0;
    });
  }

  // Scale factor of the label; that of two labels is known from what was said at the voxel.
  double sigma_true(std::size_t rater, std::size_t voxel, std::size_t k) const {
    const std::size_t at = sigmas_.at(rater, voxel);
    if (votes_[k] == label_) return sigmas_.said[at];
    if (frame_.labels == 2) return static_cast<double>(sigmas_.sum[at]) - sigmas_.said[at];
    return sigma(rater, voxel, k);
  }

  double sigma(std::size_t rater, std::size_t voxel, std::size_t k) const {
    return model_.kappa * std::max(share(rater, voxel) - static_cast<double>(said_[k]), 0.0);
  }

  double share(std::size_t rater, std::size_t voxel) const {
    return static_cast<double>(model_.seen.by(rater)[voxel - model_.seen.first]) / static_cast<double>(frame_.labels);
  }

  // Posterior of disputed voxels in the window to which the rater gave what was said at the voxel.
  void sum_counts(std::size_t rater) {
    for (Sources& sources : by_vote_) sources.clear();
    by_vote_.resize(frame_.labels);
    SourceAt source_at(frame_);
    for_each_weight([&](std::size_t voxel, std::uint64_t weight) {
      const std::size_t observed = frame_.vote(voxel, rater);
      if (observed < frame_.labels) by_vote_[observed].push_back(source_at(frame_.places[voxel], 1, weight));
    });
    count_.assign(number_, 0);
    if (frame_.labels == 2) return sum_counts_of_two();
    for (std::size_t observed = 0; observed < frame_.labels; ++observed) {
      Part part = part_;
      const std::int64_t* box = frame_.boxes + 6 * observed;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        part.clip(axis, static_cast<std::size_t>(box[axis]), static_cast<std::size_t>(box[axis + 3]));
      }
      sweep_.run(by_vote_[observed], part, [&](std::size_t voxel, std::uint64_t sum) {
        if (votes_[voxel - first_] == observed) count_[voxel - first_] = sum;
      });
    }
  }

  // Of two labels one is what the other leaves; sums are exact, so nothing is lost by subtracting.
  void sum_counts_of_two() {
    const std::size_t rarer = by_vote_[1].size() <= by_vote_[0].size() ? 1 : 0;
    sweep_.run(by_vote_[rarer], part_, [&](std::size_t voxel, std::uint64_t sum) { count_[voxel - first_] = sum; });
    for_each_voxel([&](std::size_t, std::size_t k) {
      if (votes_[k] != rarer) count_[k] = truth_[k] - count_[k];
    });
  }

  // How often the rater said the label in each window; or what the rater leans to, if targets mix.
  void sum_said(std::size_t rater) {
    if (!model_.mixed_target) {
      if (frame_.labels > 2) sum_said_truth(rater);
      return;
    }
    said_.resize(number_);
    leaning_.assign(number_, 0.0);
    const double* targets = model_.targets + rater * frame_.labels * frame_.labels;
    for (std::size_t observed = 0; observed < frame_.labels; ++observed) {
      std::fill(said_.begin(), said_.end(), 0);
      sum_observed(rater, observed);
      const double target = targets[observed * frame_.labels + label_];
      for_each_voxel([&](std::size_t voxel, std::size_t k) { leaning_[k] += target * sigma(rater, voxel, k); });
    }
  }

  // Of the label itself the unanimous voxels are summed already.
  void sum_said_truth(std::size_t rater) {
    said_ = agreed_;
    Sources said;
    add_said(frame_, mentions_, rater, label_, part_, said);
    sweep_.run(said, part_, [&](std::size_t voxel, std::uint64_t sum) {
      said_[voxel - first_] += static_cast<std::uint32_t>(sum);
    });
  }

  void sum_observed(std::size_t rater, std::size_t observed) {
    sweep_.run(said_sources(frame_, mentions_, rater, observed, part_), part_, [&](std::size_t voxel, std::uint64_t sum) {
      said_[voxel - first_] = static_cast<std::uint32_t>(sum);
    });
  }

  void keep(Peaks& peaks, LabelJoints& found) {
    for_each_voxel([&](std::size_t, std::size_t k) {
      if (probability_[k] != 0.0) log_joint_[k] += std::log(probability_[k]);
    });
    peaks.locked([&] {
      for_each_voxel([&](std::size_t voxel, std::size_t k) {
        const auto joint = static_cast<float>(log_joint_[k]);
        if (probability_[k] == 0.0 || !peaks.raise(voxel, joint)) return;
        found.voxels.push_back(static_cast<std::uint32_t>(voxel));
        found.log_joints.push_back(joint);
      });
    });
  }

  static constexpr std::size_t kRatersAtOnce = 16;  // least^16 is far from the smallest double

  const WindowFrame& frame_;
  const PerformanceModel& model_;
  const ScaleFactors<const float>& sigmas_;
  const Mentions& mentions_;
  WindowSweep sweep_;
  double scale_;
  std::size_t label_ = 0, first_ = 0, number_ = 0;
  std::size_t annotator_ = 0;  // whose voxels truth_ and agreed_ are of; J: anybody's
  const WeightsInParts* posterior_ = nullptr;
  Part part_{}, reach_{};
  std::vector<std::uint64_t> truth_, count_;
  std::vector<std::uint32_t> agreed_, said_;
  std::vector<std::uint16_t> votes_;  // of the rater at hand, close to each other
  std::vector<double> probability_, log_joint_, leaning_;
  std::vector<Sources> by_vote_;
};

}  // namespace consensus
