// Computes the smoothed vote, plain or unmixed (unmixing.hpp), tile by tile: the decision at each voxel, or
// the share of one label.
//
// With unmixing, unanimous voxels keep their label, with a share of 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "unmixing.hpp"
#include "unsure.hpp"
#include "vote_shares.hpp"
#include "vote_tile.hpp"

namespace consensus {

template <class Vote>
class SmoothedVote {
 public:
  SmoothedVote(const VoteField& field, const Unmixing& unmixing, const Choice& choice)
      : tile_(field), unmixing_(unmixing), choice_(choice), gain_(unmixing.gain()) {}

  void decide(const Box& box) {
    tile_.load(box);
    answers_.resize(box.voxels());
    if (tile_.unanimous()) {
      const std::size_t digit = tile_.labels()[0].digit;
      std::fill(answers_.begin(), answers_.end(),
                unmixing_.inverse ? static_cast<std::int32_t>(digit) : answer_to_all(digit));
    } else {
      decide_quickly(box);
      each_agreed(box, [&](std::int32_t label, std::size_t at) { answers_[at] = label; });
    }
  }

  // Writes label indices, kUndecided or kBackground into the tile's part of the volume.
  template <class Index>
  void write_decision(const Box& box, Index* volume) {
    const auto& field = tile_.field();
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::int32_t* row = answers_.data() + box.at(t, z, y, box.low[3]);
      const std::size_t around = tile_.around().at(t, z, y, box.low[3]);
      Index* to = volume + field.first_of(t, z, y, box.low[3]);
      for (std::size_t x = 0; x < box.size(3); ++x) {
        to[x] = static_cast<Index>(tile_.inside(around + x) ? row[x] : kBackground);
      }
    });
  }

  // Writes a label's share into the tile's part of the volume, 0 outside the mask.
  void probability(const Box& box, std::int32_t label, double* volume) {
    const auto make = [&](std::size_t voxels) {
      each_share(voxels, [&](std::int32_t of, const double* shares, std::size_t at, std::size_t n) {
        if (of == label) std::copy_n(shares, n, found_.data() + at);
      });
    };
    write(box, volume, make, [&](std::int32_t agreed) { return agreed == label ? 1.0 : 0.0; });
  }

  // Writes the uncertainty of each voxel from the shares of all labels, 0 outside the mask.
  void uncertainty(const Box& box, Unsure kind, float* volume) {
    const auto make = [&](std::size_t voxels) {
      each_share(voxels, [&](std::int32_t, const double* shares, std::size_t at, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) found_[at + i] = more_unsure(kind, found_[at + i], shares[i]);
      });
      for (std::size_t i = 0; i < voxels; ++i) found_[i] = unsure_at_last(kind, found_[i]);
    };
    write(box, volume, make, [](std::int32_t) { return 0.0; });
  }

 private:
  // Returns a bound on the single-precision rounding error of smoothing along three axes and summing over labels.
  float doubt() const {
    const auto& field = tile_.field();
    std::size_t roundings = 16 + shares_.labels.size();
    for (const auto& weights : field.gaussian) roundings += 2 * weights.size();
    return static_cast<float>(6e-8 * gain_ * static_cast<double>(roundings) + 4 * choice_.tolerance +
                              4 * LocalUnmixing::kSmall);
  }

  // Returns the result where all votes within reach are for one label.
  std::int32_t answer_to_all(std::size_t digit) {
    exact_.box = {{}, {1, 1, 1, 1}};
    exact_.labels = {static_cast<std::int32_t>(digit)};
    exact_.values = {1.0};
    std::int32_t answer;
    decide_exactly(0, 1, &answer);
    return answer;
  }

  void decide_quickly(const Box& box) {
    ShareMaker<Vote>::make(tile_, box, shares_);
    if (unmixing_.inverse) local_.restrict_to(unmixing_, shares_.labels, LocalUnmixing::kSmall, kHopeless);
    known_.assign(shares_.labels.size(), kUnknown);
    const float doubt = this->doubt();
    Box doubtful{{}, {}};
    for (std::size_t at = 0; at < box.voxels(); at += kChunk) {
      const std::size_t n = std::min(kChunk, box.voxels() - at);
      if (settled(at, n)) continue;
      find_leaders(at, n);
      for (std::size_t i = 0; i < n; ++i) {
        answers_[at + i] = leaders_.label[i];
        if (in_doubt(leaders_.best[i], leaders_.second[i], doubt)) doubt_about(box, at + i, doubtful);
        else if (leaders_.best[i] <= static_cast<float>(choice_.threshold)) answers_[at + i] = choice_.nothing();
      }
    }
    if (!doubtful.empty()) decide_again(box, doubtful);
  }

  // Finds the two best shares at some voxels, among the labels with votes within reach.
  void find_leaders(std::size_t at, std::size_t n) {
    leaders_.clear(n);
    active_.resize(shares_.labels.size());
    for (std::size_t k = 0; k < active_.size(); ++k) active_[k] = any_above(shares_.of(k) + at, n, 0.0f);
    if (!unmixing_.inverse) {
      for (std::size_t k = 0; k < active_.size(); ++k) {
        if (active_[k]) lead(leaders_, shares_.labels[k], shares_.of(k) + at, n);
      }
      return;
    }
    float found[kChunk];
    for (const auto& row : local_.rows()) {
      if (!LocalUnmixing::can_exceed(row, active_, kHopeless)) continue;
      LocalUnmixing::combine(row, shares_, at, n, found, &active_);
      lead(leaders_, row.label, found, n);
    }
  }

  bool in_doubt(float best, float second, float doubt) const {
    if (best - second < doubt || best < 2 * static_cast<float>(kHopeless)) return true;
    return choice_.threshold >= 0 && std::abs(best - static_cast<float>(choice_.threshold)) < doubt;
  }

  // If all votes within reach are for one label, writes the result and returns true; else returns
  // false.
  bool settled(std::size_t at, std::size_t n) {
    for (std::size_t k = 0; k < shares_.labels.size(); ++k) {
      const float* share = shares_.of(k) + at;
      if (share[0] != 1.0f) continue;
      for (std::size_t i = 1; i < n; ++i) {
        if (share[i] != 1.0f) return false;
      }
      if (known_[k] == kUnknown) known_[k] = answer_to_all(static_cast<std::size_t>(shares_.labels[k]));
      std::fill_n(answers_.data() + at, n, known_[k]);
      return true;
    }
    return false;
  }

  void doubt_about(const Box& box, std::size_t index, Box& doubtful) {
    answers_[index] = kUnknown;
    Box voxel;
    for (std::size_t axis = kAxes; axis-- > 0;) {
      voxel.low[axis] = box.low[axis] + index % box.size(axis);
      voxel.high[axis] = voxel.low[axis] + 1;
      index /= box.size(axis);
    }
    const bool first = doubtful.empty();
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      doubtful.low[axis] = first ? voxel.low[axis] : std::min(doubtful.low[axis], voxel.low[axis]);
      doubtful.high[axis] = first ? voxel.high[axis] : std::max(doubtful.high[axis], voxel.high[axis]);
    }
  }

  void decide_again(const Box& box, const Box& doubtful) {
    ShareMaker<Vote>::make(tile_, doubtful, exact_);
    again_.resize(doubtful.voxels());
    for (std::size_t at = 0; at < again_.size(); at += kChunk) {
      const std::size_t n = std::min(kChunk, again_.size() - at);
      decide_exactly(at, n, again_.data() + at);
    }
    for_each_row(doubtful, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::int32_t* to = answers_.data() + box.at(t, z, y, doubtful.low[3]);
      const std::int32_t* row = again_.data() + doubtful.at(t, z, y, doubtful.low[3]);
      for (std::size_t x = 0; x < doubtful.size(3); ++x) to[x] = to[x] == kUnknown ? row[x] : to[x];
    });
  }

  void decide_exactly(std::size_t at, std::size_t n, std::int32_t* answers) {
    Winner winners[kChunk];
    unmixed(at, n, [&](std::int32_t label, const double* shares) {
      for (std::size_t i = 0; i < n; ++i) winners[i].offer(choice_, label, shares[i]);
    });
    for (std::size_t i = 0; i < n; ++i) answers[i] = winners[i].answer(choice_);
  }

  // Calls use(label, index in the tile) for every unanimous voxel if votes are unmixed; else does nothing.
  template <class Use>
  void each_agreed(const Box& box, Use use) const {
    if (!unmixing_.inverse) return;
    for (const auto& label : tile_.labels()) {
      const Box part = intersection(label.box, box);
      if (part.empty()) continue;
      for_each_row(part, [&](std::size_t t, std::size_t z, std::size_t y) {
        const std::size_t around = tile_.around().at(t, z, y, part.low[3]);
        const std::size_t at = box.at(t, z, y, part.low[3]);
        const Vote* votes = tile_.votes(label) + around;
        for (std::size_t x = 0; x < part.size(3); ++x) {
          if (votes[x] > 0 && votes[x] == tile_.weight_at(around + x)) {
            use(static_cast<std::int32_t>(label.digit), at + x);
          }
        }
      });
    }
  }

  // Writes a value per voxel of the tile. make(number of voxels) computes the values in found_, for one voxel
  // if all votes within reach are equal; agreed(label) returns the value of unanimous voxels.
  template <class Real, class Make, class Agreed>
  void write(const Box& box, Real* volume, Make make, Agreed agreed) {
    tile_.load(box);
    found_.assign(box.voxels(), 0.0);
    if (tile_.unanimous()) {
      exact_.box = {{}, {1, 1, 1, 1}};
      exact_.labels = {static_cast<std::int32_t>(tile_.labels()[0].digit)};
      exact_.values = {1.0};
      make(std::size_t{1});
      const double all = unmixing_.inverse ? agreed(exact_.labels[0]) : found_[0];
      std::fill(found_.begin(), found_.end(), all);
    } else {
      ShareMaker<Vote>::make(tile_, box, exact_);
      make(box.voxels());
      each_agreed(box, [&](std::int32_t label, std::size_t at) { found_[at] = agreed(label); });
    }
    const auto& field = tile_.field();
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const double* row = found_.data() + box.at(t, z, y, box.low[3]);
      const std::size_t around = tile_.around().at(t, z, y, box.low[3]);
      Real* to = volume + field.first_of(t, z, y, box.low[3]);
      for (std::size_t x = 0; x < box.size(3); ++x) to[x] = static_cast<Real>(tile_.inside(around + x) ? row[x] : 0.0);
    });
  }

  // Calls use(label, shares, at, n) for every label that can have a share, kChunk voxels at a time.
  template <class Use>
  void each_share(std::size_t voxels, Use use) {
    for (std::size_t at = 0; at < voxels; at += kChunk) {
      const std::size_t n = std::min(kChunk, voxels - at);
      unmixed(at, n, [&](std::int32_t label, const double* shares) { use(label, shares, at, n); });
    }
  }

  // Calls use(label, shares) for every label that can have a share, in ascending order.
  template <class Use>
  void unmixed(std::size_t at, std::size_t n, Use use) {
    if (!unmixing_.inverse) {
      for (std::size_t k = 0; k < exact_.labels.size(); ++k) use(exact_.labels[k], exact_.of(k) + at);
      return;
    }
    if (at == 0) exact_local_.restrict_to(unmixing_, exact_.labels, 0.0, 0.0);
    const auto& rows = exact_local_.rows();
    rows_.resize(rows.size() * n);
    double total[kChunk] = {};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      LocalUnmixing::combine(rows[r], exact_, at, n, rows_.data() + r * n);
      for (std::size_t i = 0; i < n; ++i) total[i] += rows_[r * n + i];
    }
    // If all unmixed shares are 0, the original shares are used; labels remain in ascending order.
    std::size_t k = 0;
    for (std::size_t r = 0; r <= rows.size(); ++r) {
      const std::int32_t next = r < rows.size() ? rows[r].label : std::numeric_limits<std::int32_t>::max();
      double shares[kChunk];
      for (; k < exact_.labels.size() && exact_.labels[k] < next; ++k) {
        for (std::size_t i = 0; i < n; ++i) shares[i] = total[i] > 0 ? 0.0 : exact_.of(k)[at + i];
        use(exact_.labels[k], shares);
      }
      if (r == rows.size()) break;
      const bool voted = k < exact_.labels.size() && exact_.labels[k] == next;
      for (std::size_t i = 0; i < n; ++i) {
        const double otherwise = voted ? exact_.of(k)[at + i] : 0.0;
        shares[i] = total[i] > 0 ? rows_[r * n + i] / total[i] : otherwise;
      }
      if (voted) ++k;
      use(next, shares);
    }
  }

  static constexpr std::int32_t kUnknown = -3;
  static constexpr double kHopeless = 0.005;  // a label with a lower share is ignored in single precision

  VoteTile<Vote> tile_;
  Unmixing unmixing_;
  Choice choice_;
  double gain_;
  Shares<float> shares_;
  Shares<double> exact_;
  LocalUnmixing local_, exact_local_;
  Leaders leaders_;
  std::vector<std::int32_t> answers_, again_, known_;
  std::vector<double> found_, rows_;
  std::vector<char> active_;
};

}  // namespace consensus
