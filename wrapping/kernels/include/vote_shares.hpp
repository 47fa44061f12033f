// Computes the smoothed shares of the labels in a tile and chooses a label at each voxel.
//
// Shares are first computed in single precision. Where the difference of the two best shares could
// be a rounding error, a box around the voxels is recomputed in double precision. Thus the results
// equal those of double precision everywhere, and do not depend on tiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "vote_tile.hpp"

namespace consensus {

constexpr std::int32_t kUndecided = -1;   // the codes of votes/ties.py
constexpr std::int32_t kBackground = -2;
constexpr std::size_t kChunk = 128;       // voxels that are decided at a time

enum class Tie { undecided, lowest, highest, background, prior };

// The rule by which a label is chosen from the shares.
struct Choice {
  Tie tie;
  double threshold;  // a label needs more than this share; below 0: any
  double tolerance;  // shares that differ by at most this are tied
  const double* prior;

  std::int32_t nothing() const { return tie == Tie::background ? kBackground : kUndecided; }
  // Chooses between two tied labels; `other` has the higher index.
  std::int32_t between(std::int32_t held, std::int32_t other) const {
    switch (tie) {
      case Tie::lowest: return held;
      case Tie::highest: return other;
      case Tie::background: return kBackground;
      case Tie::prior: return prior[other] > prior[held] ? other : held;
      default: return kUndecided;
    }
  }
};

// The best and the second-best share at some voxels, in single precision.
struct Leaders {
  float best[kChunk];
  float second[kChunk];
  std::int32_t label[kChunk];

  void clear(std::size_t n) {
    std::fill_n(best, n, -1.0f);
    std::fill_n(second, n, -1.0f);
    std::fill_n(label, n, kUndecided);
  }
};

CONSENSUS_WIDE static inline void lead(Leaders& leaders, std::int32_t label, const float* shares,
                                       std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool wins = shares[i] > leaders.best[i];
    const float loser = wins ? leaders.best[i] : shares[i];
    leaders.second[i] = loser > leaders.second[i] ? loser : leaders.second[i];
    leaders.best[i] = wins ? shares[i] : leaders.best[i];
    leaders.label[i] = wins ? label : leaders.label[i];
  }
}

// Chooses a label in double precision, with ties. Precondition: labels are added in ascending order.
class Winner {
 public:
  void offer(const Choice& choice, std::int32_t label, double share) {
    if (choice.threshold >= 0 && !(share > choice.threshold + choice.tolerance)) return;
    if (share > best_ + choice.tolerance) {
      label_ = label;
      best_ = share;
      tied_ = false;
    } else if (share >= best_ - choice.tolerance) {
      label_ = tied_ && label_ < 0 ? label_ : choice.between(label_, label);
      best_ = std::max(best_, share);
      tied_ = true;
    }
  }
  std::int32_t answer(const Choice& choice) const { return std::isfinite(best_) ? label_ : choice.nothing(); }

 private:
  double best_ = -std::numeric_limits<double>::infinity();
  std::int32_t label_ = kUndecided;
  bool tied_ = false;
};

// Shares of the labels that occur around a tile, of shape (labels, voxels of a box), in ascending
// order of labels. If any voxel is not annotated, all labels are included, since the shares there
// are the labels' frequencies.
template <class Real>
struct Shares {
  Box box;
  std::vector<std::int32_t> labels;
  std::vector<Real> values;

  const Real* of(std::size_t k) const { return values.data() + k * box.voxels(); }
  Real* of(std::size_t k) { return values.data() + k * box.voxels(); }
};

template <class Vote>
struct ShareMaker {
  // In single precision, the share of the label with the largest box is computed as 1 minus the others.
  template <class Real>
  static void make(VoteTile<Vote>& tile, const Box& box, Shares<Real>& shares) {
    const std::size_t voxels = box.voxels();
    const auto& labels = tile.labels();
    shares.box = box;
    shares.labels.clear();
    if (tile.has_nobody()) {
      for (std::size_t k = 0; k < tile.field().labels; ++k) shares.labels.push_back(static_cast<std::int32_t>(k));
    } else {
      for (const auto& label : labels) shares.labels.push_back(static_cast<std::int32_t>(label.digit));
    }
    shares.values.assign(shares.labels.size() * voxels, Real{0});
    const bool leave_one = sizeof(Real) == sizeof(float) && !tile.has_nobody() && labels.size() > 1;
    const std::size_t widest = leave_one ? farthest(tile, box) : labels.size();
    for (std::size_t k = 0; k < labels.size(); ++k) {
      if (k == widest) continue;
      const std::size_t place = tile.has_nobody() ? labels[k].digit : k;
      add_label(tile, labels[k], box, shares.of(place));
    }
    if (tile.has_nobody()) add_frequencies(tile, shares);
    if (tile.has_outside()) divide_by_mask(tile, shares);
    if (leave_one) leave(shares, widest);
  }

 private:
  static std::size_t farthest(const VoteTile<Vote>& tile, const Box& box) {
    std::size_t best = 0, most = 0;
    for (std::size_t k = 0; k < tile.labels().size(); ++k) {
      const std::size_t voxels = tile.reached(tile.labels()[k], box).voxels();
      if (voxels > most) {
        most = voxels;
        best = k;
      }
    }
    return best;
  }

  template <class Real>
  static void add_label(VoteTile<Vote>& tile, const typename VoteTile<Vote>::Label& label, const Box& box, Real* out) {
    const Box part = tile.reached(label, box);
    if (part.empty()) return;
    const auto unit = static_cast<Real>(tile.unit());
    const Real* values = tile.template smooth<Real>(label, part);
    for_each_row(part, [&](std::size_t t, std::size_t z, std::size_t y) {
      const Real* row = values + part.at(t, z, y, part.low[3]);
      Real* to = out + box.at(t, z, y, part.low[3]);
      for (std::size_t x = 0; x < part.size(3); ++x) to[x] = row[x] / unit;
    });
  }

  template <class Real>
  static void add_frequencies(VoteTile<Vote>& tile, Shares<Real>& shares) {
    const Real* nobody = tile.template smooth_nobody<Real>(shares.box);
    for (std::size_t k = 0; k < shares.labels.size(); ++k) {
      add_scaled(nobody, static_cast<Real>(tile.field().frequencies[k]), shares.box.voxels(), shares.of(k));
    }
  }

  template <class Real>
  static void divide_by_mask(VoteTile<Vote>& tile, Shares<Real>& shares) {
    const Real* mask = tile.template smooth_mask<Real>(shares.box);
    for (std::size_t k = 0; k < shares.labels.size(); ++k) {
      Real* values = shares.of(k);
      for (std::size_t i = 0; i < shares.box.voxels(); ++i) {
        values[i] = mask[i] > 0 ? std::min(values[i] / mask[i], Real{1}) : Real{0};
      }
    }
  }

  template <class Real>
  static void leave(Shares<Real>& shares, std::size_t widest) {
    const std::size_t voxels = shares.box.voxels();
    Real* left = shares.of(widest);
    std::fill_n(left, voxels, Real{1});
    for (std::size_t k = 0; k < shares.labels.size(); ++k) {
      if (k != widest) add_scaled(shares.of(k), Real{-1}, voxels, left);
    }
  }
};

}  // namespace consensus
