// Computes the exact signed Euclidean distance between voxel centres, axis by axis.
//
// Both sides of the contour are computed at once: the magnitude of a voxel's value is the squared
// distance to the nearest voxel of the *other* side, and the sign is negative inside. A voxel k
// steps away along an axis contributes the candidate k^2 (times the spacing squared) plus its own
// squared distance if it is on the same side, or plus 0 if not. Neighbouring lines are processed
// together in registers, until k^2 alone exceeds the best candidate of each line. Thus the cost
// per voxel is proportional to its distance from the contour in voxels, divided by the width of a
// register: a few operations near a contour, whereas the lower envelope of parabolas (Felzenszwalb
// & Huttenlocher, 2012) takes dozens.
//
// Preconditions (checked in Python): `squared` holds outer * length * inner values, initially -inf
// inside and +inf outside; every voxel size is positive and finite; the axis with inner = 1 is
// processed first.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "lines.hpp"
#include "simd.hpp"

namespace consensus {

// The first pass, along contiguous lines. The nearest voxel of the other side is next to one end of the run.
template <class Real>
void run_distances(std::size_t length, double size, Real* squared) {
  for (std::size_t begin = 0, end = 0; begin < length; begin = end) {
    const Real side = squared[begin];
    while (end < length && squared[end] == side) ++end;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t before = begin > 0 ? k - begin + 1 : length;
      const std::size_t after = end < length ? end - k : length;
      const std::size_t steps = std::min(before, after);
      if (steps == length) continue;
      const double way = size * static_cast<double>(steps);
      squared[k] = static_cast<Real>(side < 0 ? -(way * way) : way * way);
    }
  }
}

// Updates the nearest distances with the candidates of one row, k steps away.
template <class Real>
CONSENSUS_INLINE void take_offers(const Real* row, const Real* sides, Real way, Real* nearest) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const Real seen = sides[lane] * row[lane];
    const Real offer = (seen > 0 ? seen : Real{0}) + way;
    nearest[lane] = offer < nearest[lane] ? offer : nearest[lane];
  }
}

template <class Real>
CONSENSUS_INLINE bool any_farther(const Real* nearest, Real way) {
  unsigned farther = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) farther |= nearest[lane] > way;
  return farther != 0;
}

// The first and the last row of a block that can contribute candidates, and the requested rows.
struct BlockRows {
  std::size_t first, last;
  const std::uint8_t* wanted;  // for each row: not 0 if requested
};

// Processes one block of kLanes lines. `lines` has `length` rows of kLanes signed squared distances; `out`
// receives the requested rows.
template <class Real>
CONSENSUS_INLINE void distance_block(const Real* lines, const Real* ways, const BlockRows& rows, std::size_t length,
                                     Real* out) {
  for (std::size_t at = 0; at < length; ++at) {
    if (!rows.wanted[at]) continue;
    const Real* own = lines + at * kLanes;
    Real sides[kLanes], nearest[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sides[lane] = own[lane] < 0 ? Real{-1} : Real{1};
      nearest[lane] = sides[lane] * own[lane];
    }
    const std::size_t before = at > rows.last ? at - rows.last : 1, after = at < rows.first ? rows.first - at : 1;
    const std::size_t most = std::max(at > rows.first ? at - rows.first : 0, at < rows.last ? rows.last - at : 0);
    const std::size_t start = std::max(before, after);
    for (std::size_t k = start; k <= most; ++k) {
      // Checked only at every fourth step, since a check costs as much as two candidates.
      if ((k - start) % 4 == 0 && !any_farther(nearest, ways[k])) break;
      if (rows.first + k <= at) take_offers(own - k * kLanes, sides, ways[k], nearest);
      if (at + k <= rows.last) take_offers(own + k * kLanes, sides, ways[k], nearest);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) out[at * kLanes + lane] = sides[lane] * nearest[lane];
  }
}

CONSENSUS_WIDE static inline void distance_lines(const float* lines, const float* ways, const BlockRows& rows,
                                                 std::size_t length, float* out) {
  distance_block(lines, ways, rows, length, out);
}

CONSENSUS_WIDE static inline void distance_lines(const double* lines, const double* ways, const BlockRows& rows,
                                                 std::size_t length, double* out) {
  distance_block(lines, ways, rows, length, out);
}

// Returns whether all lanes of a row have the infinite distance `side`, so that it contributes nothing.
template <class Real>
bool know_nothing(const Real* row, std::size_t lanes, Real side) {
  bool same = true;
  for (std::size_t lane = 0; lane < lanes; ++lane) same = same && row[lane] == side;
  return same && std::isinf(side);
}

// Marks the rows of a block in which any lane is requested; returns whether there are any.
inline bool mark_wanted(const Lines& lines, const std::uint8_t* wanted, std::size_t lanes, std::uint8_t* rows) {
  std::uint8_t any = 0;
  for (std::size_t k = 0; k < lines.length; ++k) {
    rows[k] = std::memchr(wanted + k * lines.inner, 1, lanes) != nullptr;
    any |= rows[k];
  }
  return any != 0;
}

// A full block has a compile-time width, so the compiler emits no call of memcpy.
template <class Real>
void copy_lanes(const Real* from, std::size_t lanes, Real* to) {
  if (lanes == kLanes) {
    std::copy_n(from, kLanes, to);
  } else {
    std::copy_n(from, lanes, to);
  }
}

template <class Real>
void distance_across(const Lines& lines, double size, Slab slab, const std::uint8_t* wanted, Real* squared) {
  // Unused lanes have distance 0, so they never prolong the loop.
  std::vector<Real> values(lines.length * kLanes), found(values.size()), ways(lines.length);
  std::vector<std::uint8_t> is_wanted(lines.length, 1);
  for (std::size_t k = 0; k < lines.length; ++k) {
    const double way = size * static_cast<double>(k);
    ways[k] = static_cast<Real>(way * way);
  }
  for (std::size_t block = slab.begin; block < slab.end; ++block) {
    Real* first = squared + lines.first(block);
    const std::size_t lanes = lines.lanes(block);
    const auto offers_nothing = [&](std::size_t k) { return know_nothing(first + k * lines.inner, lanes, *first); };
    // Rows of infinite distance at either end contribute nothing, except the innermost of them, which may
    // lie on the other side of the contour.
    BlockRows rows{0, lines.length - 1, is_wanted.data()};
    while (rows.first < lines.length && offers_nothing(rows.first)) ++rows.first;
    if (rows.first == lines.length) continue;
    while (offers_nothing(rows.last)) --rows.last;
    rows.first -= rows.first > 0;
    rows.last += rows.last + 1 < lines.length;
    if (wanted && !mark_wanted(lines, wanted + lines.first(block), lanes, is_wanted.data())) continue;
    if (lanes < kLanes) std::fill(values.begin(), values.end(), Real{0});
    for (std::size_t k = 0; k < lines.length; ++k) copy_lanes(first + k * lines.inner, lanes, values.data() + k * kLanes);
    distance_lines(values.data(), ways.data(), rows, lines.length, found.data());
    for (std::size_t k = 0; k < lines.length; ++k) {
      if (is_wanted[k]) copy_lanes(found.data() + k * kLanes, lanes, first + k * lines.inner);
    }
  }
}

template <class Real>
void distance_axis(const Lines& lines, double size, std::size_t threads, const std::uint8_t* wanted, Real* squared) {
  for_each_block_slab(lines, threads, [&](Slab slab) {
    if (lines.inner > 1) return distance_across(lines, size, slab, wanted, squared);
    for (std::size_t line = slab.begin; line < slab.end; ++line) {
      run_distances(lines.length, size, squared + line * lines.length);
    }
  });
}

// Converts signed squared distances to signed distances.
template <class Real>
void sign_roots(std::size_t begin, std::size_t end, Real* squared) {
  for (std::size_t k = begin; k < end; ++k) {
    const Real root = std::sqrt(std::abs(squared[k]));
    squared[k] = squared[k] < 0 ? -root : root;
  }
}

// The voxels that each pass must compute: in the last pass, the requested ones; in earlier passes, all
// voxels on a line of which the next pass needs any voxel.
class WantedVoxels {
 public:
  WantedVoxels(std::vector<std::uint8_t> marks, const std::vector<std::size_t>& shape,
               const std::vector<double>& sizes) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      marks_.push_back(marks);
      if (sizes[axis] > 0) spread(lines_along(shape, axis), marks);
    }
  }

  const std::uint8_t* at(std::size_t axis) const { return marks_[axis].data(); }

 private:
  static void spread(const Lines& lines, std::vector<std::uint8_t>& marks) {
    for (std::size_t outer = 0; outer < lines.outer; ++outer) {
      std::uint8_t* first = marks.data() + outer * lines.length * lines.inner;
      for (std::size_t k = 1; k < lines.length; ++k) {
        for (std::size_t at = 0; at < lines.inner; ++at) first[at] |= first[k * lines.inner + at];
      }
      for (std::size_t k = 1; k < lines.length; ++k) std::copy_n(first, lines.inner, first + k * lines.inner);
    }
  }

  std::vector<std::vector<std::uint8_t>> marks_;
};

// Processes all axes with a voxel size above 0; the others index independent volumes. Without `wanted`, all
// voxels are computed.
template <class Real>
void signed_squares(const std::vector<std::size_t>& shape, const std::vector<double>& sizes, std::size_t threads,
                    const WantedVoxels* wanted, Real* squared) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (sizes[axis] == 0) continue;
    distance_axis(lines_along(shape, axis), sizes[axis], threads, wanted ? wanted->at(axis) : nullptr, squared);
  }
}

template <class Real>
constexpr Real unknown_distance(bool inside) {
  return inside ? -std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::infinity();
}

}  // namespace consensus
