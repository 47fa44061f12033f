// EM for two labels without missing votes: votes are packed as bits, eight raters per byte.
//
// The log likelihood of a voxel's votes is one look-up per byte in a table of 256 entries;
// posteriors are added to histograms of 256 bins, which the caller converts to counts per rater.
// No pattern table is needed, however noisy the votes are.
//
// Bytes are stored in planes: planes[group * extent + voxel]. A stretch of voxels with equal votes
// is computed once. A "voxel" may also be a row of a pattern table, with a count. Sums are exact
// (exact_sum.hpp), so results do not depend on threads or on the grouping of voxels.
//
// Preconditions (checked in Python): every digit is 0 or 1; arrays have one entry per voxel;
// counts are positive; log values are below +inf and not NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "exact_sum.hpp"
#include "runs.hpp"
#include "votes.hpp"

namespace consensus {

inline void pack_votes(const std::vector<const Votes*>& raters, std::size_t extent, std::size_t begin,
                       std::size_t end, std::uint8_t* planes) {
  for (std::size_t at = begin; at < end; at += kLongRun) {
    const std::size_t n = std::min(kLongRun, end - at);
    for (std::size_t group = 0; group * 8 < raters.size(); ++group) {
      std::uint8_t* to = planes + group * extent + at;
      std::fill_n(to, n, std::uint8_t{0});
      // A byte is a binary number whose lowest digit is the first rater of the group.
      for (std::size_t j = std::min(raters.size(), group * 8 + 8); j-- > group * 8;) {
        raters[j]->append(at, n, 2, to);
      }
    }
  }
}

struct Pair {
  double of[2];
};

struct PackedPlanes {
  const std::uint8_t* planes;
  std::size_t extent;
  std::size_t groups;
  const std::uint8_t* mask;  // nullptr: all voxels are used
  const std::int64_t* counts;  // number of voxels represented by each entry; nullptr: one

  bool same(std::size_t a, std::size_t b) const {
    if (mask && (mask[a] != 0) != (mask[b] != 0)) return false;
    for (std::size_t g = 0; g < groups; ++g) {
      if (planes[g * extent + a] != planes[g * extent + b]) return false;
    }
    return true;
  }

  // Calls run(first, n) for each stretch of [begin, end) with equal votes inside the mask; with counts, for
  // each entry separately.
  template <class Run>
  void for_each_stretch(std::size_t begin, std::size_t end, Run run) const {
    if (counts) {
      for (std::size_t at = begin; at < end; ++at) run(at, static_cast<std::size_t>(counts[at]));
      return;
    }
    for (std::size_t at = begin; at < end;) {
      std::size_t next = at + 1;
      while (next < end && same(at, next)) ++next;
      if (!mask || mask[at]) run(at, next - at);
      at = next;
    }
  }
};

// Log joints of both labels, from tables [group][byte]; the first table includes the log prior.
struct LogJoint {
  const PackedPlanes& packed;
  const Pair* tables;

  Pair at(std::size_t voxel) const {
    Pair sum{{0, 0}};
    for (std::size_t g = 0; g < packed.groups; ++g) {
      const Pair& more = tables[g * 256 + packed.planes[g * packed.extent + voxel]];
      sum.of[0] += more.of[0];
      sum.of[1] += more.of[1];
    }
    return sum;
  }
};

struct PackedPosterior {
  bool possible;      // whether any label has a non-zero probability
  bool prefers_one;   // whether label 1 is more probable than label 0
  double less;  // share of the less probable label
  double more;  // share of the more probable label
  double log_evidence;
};

// Computes log(1 + x) with the rounding error of 1 + x, which is precise enough for the log evidence. A
// few terms of the series suffice if x is small; std::log1p takes several times as long as std::log.
inline double log_one_plus(double x) {
  if (x > 0x1p-10) return std::log(1 + x);
  return x * (1 - x * (1. / 2 - x * (1. / 3 - x * (1. / 4 - x * (1. / 5)))));
}

inline PackedPosterior posterior_of(const Pair& log_joint) {
  const double a = log_joint.of[0], b = log_joint.of[1];
  const double peak = std::max(a, b);
  if (peak == -std::numeric_limits<double>::infinity()) return {false, false, 0, 0, peak};
  const double other = std::exp(std::min(a, b) - peak);
  const double total = 1 + other;
  return {true, b > a, other / total, 1 / total, peak + log_one_plus(other)};
}

// Unit, in nats, in which log evidence is summed; it exceeds the log evidence of any voxel.
constexpr double kNats = 0x1p24;

struct PackedSums {
  struct Bin {
    std::int64_t voxels = 0;
    ExactSum foreground;
  };
  std::vector<Bin> histograms;  // [group][byte]
  ExactSum log_likelihood;      // in units of kNats
  bool possible = true;

  explicit PackedSums(std::size_t groups) : histograms(groups * 256) {}

  void add(const PackedSums& other) {
    for (std::size_t i = 0; i < histograms.size(); ++i) {
      histograms[i].voxels += other.histograms[i].voxels;
      histograms[i].foreground.add(other.histograms[i].foreground);
    }
    log_likelihood.add(other.log_likelihood);
    possible = possible && other.possible;
  }
};

// Adds to partial sums, which need no carry, and flushes them to the exact sums when they are full.
class PackedAdder {
 public:
  PackedAdder(const PackedPlanes& packed, PackedSums& sums)
      : packed_(packed), sums_(sums), bins_(packed.groups * 256) {}
  ~PackedAdder() { hand_on(); }

  void add(std::size_t voxel, std::size_t times, const SplitReal& foreground,
           const SplitReal& log_evidence) {
    while (times) {
      const std::size_t now = std::min(times, kMostSplit - added_);
      const auto count = static_cast<std::int64_t>(now);
      add_some(voxel, count, foreground.times(count));
      log_evidence_.add(log_evidence.times(count));
      times -= now;
      added_ += now;
      if (added_ == kMostSplit) hand_on();
    }
  }

 private:
  struct Bin {
    SplitReal foreground;
    std::int64_t voxels = 0;
  };

  void add_some(std::size_t voxel, std::int64_t count, const SplitReal& foreground) {
    for (std::size_t g = 0; g < packed_.groups; ++g) {
      Bin& bin = bins_[g * 256 + packed_.planes[g * packed_.extent + voxel]];
      bin.voxels += count;
      bin.foreground.add(foreground);
    }
  }

  void hand_on() {
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      sums_.histograms[i].voxels += bins_[i].voxels;
      sums_.histograms[i].foreground.add(bins_[i].foreground);
      bins_[i] = Bin{};
    }
    sums_.log_likelihood.add(log_evidence_);
    log_evidence_ = SplitReal{};
    added_ = 0;
  }

  const PackedPlanes& packed_;
  PackedSums& sums_;
  std::vector<Bin> bins_;
  SplitReal log_evidence_;
  std::size_t added_ = 0;
};

// The smallest non-zero share, so that possible labels stay possible.
inline SplitReal split_share(double share) {
  return SplitReal::of(share > 0 ? std::max(share, 0x1p-86) : 0);
}

// Adds the sums of the E-step for some voxels. A voxel at which neither label is possible sets the
// likelihood to 0 and is counted for neither label.
inline void expect_packed(const PackedPlanes& packed, const Pair* tables, std::size_t begin,
                          std::size_t end, PackedSums& sums) {
  const LogJoint log_joint{packed, tables};
  PackedAdder adder(packed, sums);
  packed.for_each_stretch(begin, end, [&](std::size_t at, std::size_t n) {
    const PackedPosterior now = posterior_of(log_joint.at(at));
    if (!now.possible) {
      sums.possible = false;
      return;
    }
    adder.add(at, n, split_share(now.less).flipped(now.prefers_one),
              SplitReal::of(now.log_evidence / kNats));
  });
}

// The same if the posterior of label 1 is given by the number of votes for it: foreground[votes].
inline void expect_packed_votes(const PackedPlanes& packed, const double* foreground, std::size_t begin,
                                std::size_t end, PackedSums& sums) {
  PackedAdder adder(packed, sums);
  packed.for_each_stretch(begin, end, [&](std::size_t at, std::size_t n) {
    std::size_t votes = 0;
    for (std::size_t g = 0; g < packed.groups; ++g) {
      for (unsigned byte = packed.planes[g * packed.extent + at]; byte; byte &= byte - 1) ++votes;
    }
    adder.add(at, n, split_share(foreground[votes]), SplitReal{});
  });
}

// Writes the probability of label 1; 0 outside the mask.
template <class Real>
void packed_probability(const PackedPlanes& packed, const Pair* tables, std::size_t begin,
                        std::size_t end, Real* out) {
  const LogJoint log_joint{packed, tables};
  if (packed.mask) std::fill(out + begin, out + end, Real{0});
  packed.for_each_stretch(begin, end, [&](std::size_t at, std::size_t n) {
    const PackedPosterior now = posterior_of(log_joint.at(at));
    std::fill_n(out + at, n, static_cast<Real>(now.prefers_one ? now.more : now.less));
  });
}

}  // namespace consensus
