// Two labels, every rater present: votes as bits, eight raters to a byte, and EM on them.
//
// The log likelihood of a voxel's votes is a look-up per byte in a table of 256; the posterior is
// added to histograms of 256, which the caller unfolds into counts per rater. No table of patterns is
// needed, however noisy the votes are.
//
// Bytes lie in planes: planes[group * extent + voxel]. A stretch of voxels with the same votes is
// computed once. Slabs have a fixed length and are added in order, so results do not depend on the
// number of threads.
//
// Preconditions (checked in Python): every digit is 0 or 1; arrays hold their extents; log values
// are below +inf and not NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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
      // A byte is a number of radix 2 whose last digit is the group's first rater.
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
  const std::uint8_t* mask;  // nullptr: every voxel counts

  bool same(std::size_t a, std::size_t b) const {
    if (mask && (mask[a] != 0) != (mask[b] != 0)) return false;
    for (std::size_t g = 0; g < groups; ++g) {
      if (planes[g * extent + a] != planes[g * extent + b]) return false;
    }
    return true;
  }

  // Calls run(first, n) for the stretches of [begin, end) inside the mask with the same votes.
  template <class Run>
  void for_each_stretch(std::size_t begin, std::size_t end, Run run) const {
    for (std::size_t at = begin; at < end;) {
      std::size_t next = at + 1;
      while (next < end && same(at, next)) ++next;
      if (!mask || mask[at]) run(at, next - at);
      at = next;
    }
  }
};

// Log joint of both labels from tables [group][byte], the prior being part of the first.
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
  Pair share;  // sums to one, or zero if neither label is possible
  double peak;
  double total;  // of exp(log joint - peak), 1 to 2; 0 if neither is possible
};

inline PackedPosterior posterior_of(const Pair& log_joint) {
  const double a = log_joint.of[0], b = log_joint.of[1];
  const double peak = std::max(a, b);
  if (peak == -std::numeric_limits<double>::infinity()) return {{{0, 0}}, peak, 0};
  const double other = std::exp(std::min(a, b) - peak);
  const double total = 1 + other;
  const double high = 1 / total, low = other / total;
  return {a >= b ? Pair{{high, low}} : Pair{{low, high}}, peak, total};
}

struct PackedSums {
  std::vector<Pair> histograms;  // [group][byte]
  Pair mass{{0, 0}};
  double log_likelihood = 0;

  explicit PackedSums(std::size_t groups) : histograms(groups * 256, Pair{{0, 0}}) {}

  void add(const PackedPlanes& packed, std::size_t voxel, const Pair& amount) {
    for (std::size_t g = 0; g < packed.groups; ++g) {
      Pair& bin = histograms[g * 256 + packed.planes[g * packed.extent + voxel]];
      bin.of[0] += amount.of[0];
      bin.of[1] += amount.of[1];
    }
    mass.of[0] += amount.of[0];
    mass.of[1] += amount.of[1];
  }

  void add(const PackedSums& other) {
    for (std::size_t i = 0; i < histograms.size(); ++i) {
      histograms[i].of[0] += other.histograms[i].of[0];
      histograms[i].of[1] += other.histograms[i].of[1];
    }
    mass.of[0] += other.mass.of[0];
    mass.of[1] += other.mass.of[1];
    log_likelihood += other.log_likelihood;
  }
};

// Sum of logs of numbers between 1 and 2: their products are cheaper than their logs.
class LogSum {
 public:
  void add(double factor, std::size_t times) {
    if (times > 1) {
      sum_ += static_cast<double>(times) * std::log(factor);
      return;
    }
    product_ *= factor;
    if (product_ > kLarge) {
      sum_ += std::log(product_);
      product_ = 1;
    }
  }
  double value() const { return sum_ + std::log(product_); }

 private:
  static constexpr double kLarge = 1e300;
  double sum_ = 0;
  double product_ = 1;
};

inline void expect_packed(const PackedPlanes& packed, const Pair* tables, std::size_t begin,
                          std::size_t end, PackedSums& sums) {
  const LogJoint log_joint{packed, tables};
  double peaks = 0;
  LogSum logs;
  packed.for_each_stretch(begin, end, [&](std::size_t at, std::size_t n) {
    const PackedPosterior now = posterior_of(log_joint.at(at));
    const auto times = static_cast<double>(n);
    peaks += times * now.peak;
    if (now.total > 0) logs.add(now.total, n);
    sums.add(packed, at, {{times * now.share.of[0], times * now.share.of[1]}});
  });
  sums.log_likelihood += peaks + logs.value();
}

// The same where the posterior is a function of how many raters said 1: foreground[votes].
inline void expect_packed_votes(const PackedPlanes& packed, const double* foreground, std::size_t begin,
                                std::size_t end, PackedSums& sums) {
  packed.for_each_stretch(begin, end, [&](std::size_t at, std::size_t n) {
    std::size_t votes = 0;
    for (std::size_t g = 0; g < packed.groups; ++g) {
      for (unsigned byte = packed.planes[g * packed.extent + at]; byte; byte &= byte - 1) ++votes;
    }
    const auto times = static_cast<double>(n);
    sums.add(packed, at, {{times * (1 - foreground[votes]), times * foreground[votes]}});
  });
}

// Probability of label 1; 0 outside the mask.
template <class Real>
void packed_probability(const PackedPlanes& packed, const Pair* tables, std::size_t begin,
                        std::size_t end, Real* out) {
  const LogJoint log_joint{packed, tables};
  if (packed.mask) std::fill(out + begin, out + end, Real{0});
  packed.for_each_stretch(begin, end, [&](std::size_t at, std::size_t n) {
    std::fill_n(out + at, n, static_cast<Real>(posterior_of(log_joint.at(at)).share.of[1]));
  });
}

}  // namespace consensus
