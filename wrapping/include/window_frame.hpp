// The disputed voxels and all that windows around them see, and what enters a window: sources.
//
// Preconditions (checked in Python): places ascend and lie in the frame, whose four axes are
// (volume, z, y, x) and whose voxels fit 32 bits; rows and runs point into tables as long as said.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tiles.hpp"

namespace consensus {

// Everything about the votes that does not change: N disputed voxels, P patterns, J raters.
struct WindowFrame {
  Extents shape;                    // of the frame
  Extents radii;                    // radii[0] is 0: volumes are independent
  const std::uint32_t* places;      // (N) flat, ascending
  const std::uint32_t* row_begin;   // (rows + 1) first disputed voxel of each row of the frame
  const std::uint32_t* patterns;    // (N)
  const std::uint8_t* narrow;       // (P, J) votes; `labels` where the rater is missing
  const std::uint16_t* wide;        // the same where a byte does not hold them; one of the two is null
  std::size_t number, raters, labels;
  const std::uint32_t* run_places;  // unanimous voxels in runs along x, by label, then by place
  const std::uint32_t* run_lengths;
  const std::uint32_t* run_patterns;
  const std::int64_t* run_begin;    // (labels + 1)
  const std::int64_t* boxes;        // (labels, 6): z, y, x from, z, y, x to; of who said the label

  std::size_t vote(std::size_t voxel, std::size_t rater) const {
    return vote_of(patterns[voxel], rater);
  }
  std::size_t vote_of(std::size_t pattern, std::size_t rater) const {
    const std::size_t at = pattern * raters + rater;
    return narrow != nullptr ? narrow[at] : wide[at];
  }
  std::size_t row(std::size_t volume, std::size_t z, std::size_t y) const {
    return (volume * shape[1] + z) * shape[2] + y;
  }
};

// Part of one volume of the frame; `volume` is on the first axis.
struct Part {
  std::size_t volume;
  std::size_t low[3];
  std::size_t high[3];

  bool empty() const { return low[0] >= high[0] || low[1] >= high[1] || low[2] >= high[2]; }
  void clip(std::size_t axis, std::size_t from, std::size_t to) {
    low[axis] = std::max(low[axis], from);
    high[axis] = std::max(low[axis], std::min(high[axis], to));
  }
};

// The voxels of whole planes lie between two numbers.
inline std::pair<std::size_t, std::size_t> voxels_of_part(const WindowFrame& frame, const Part& part) {
  return {frame.row_begin[frame.row(part.volume, part.low[0], 0)],
          frame.row_begin[frame.row(part.volume, part.high[0] - 1, frame.shape[2] - 1) + 1]};
}

struct Source {
  std::uint32_t z, y, x, length;
  std::uint64_t weight;
};

using Sources = std::vector<Source>;

// Makes sources of places. Most lie in the row of the one before, which saves dividing.
class SourceAt {
 public:
  explicit SourceAt(const WindowFrame& frame)
      : depth_(static_cast<std::uint32_t>(frame.shape[1])), height_(static_cast<std::uint32_t>(frame.shape[2])),
        width_(static_cast<std::uint32_t>(frame.shape[3])) {}

  Source operator()(std::uint32_t place, std::uint32_t length, std::uint64_t weight) {
    if (place - first_ >= width_) {
      const std::uint32_t row = place / width_;
      first_ = row * width_;
      y_ = row % height_;
      z_ = row / height_ % depth_;
    }
    return {z_, y_, place - first_, length, weight};
  }

 private:
  std::uint32_t depth_, height_, width_;
  std::uint32_t first_ = 0, y_ = 0, z_ = 0;  // of the row
};

// Neighbours in a row that weigh the same become one source.
inline void add_to_runs(const Source& source, Sources& sources) {
  const bool follows = !sources.empty() && sources.back().z == source.z && sources.back().y == source.y &&
                       sources.back().x + sources.back().length == source.x && sources.back().weight == source.weight;
  if (!follows) return sources.push_back(source);
  sources.back().length += source.length;
}

// First and last place of the planes that windows of a part reach.
inline std::pair<std::uint32_t, std::uint32_t> reached_places(const WindowFrame& frame, const Part& part) {
  const std::size_t plane = frame.shape[2] * frame.shape[3], first = part.volume * frame.shape[1];
  const std::size_t low = part.low[0] - std::min(part.low[0], frame.radii[1]);
  const std::size_t high = std::min(frame.shape[1], part.high[0] + frame.radii[1]);
  return {static_cast<std::uint32_t>((first + low) * plane), static_cast<std::uint32_t>((first + high) * plane - 1)};
}

// The part from which a window can hold one of the sources.
inline Part reach_of(const WindowFrame& frame, const Sources& sources, Part part) {
  if (sources.empty()) {
    part.high[0] = part.low[0];
    return part;
  }
  std::size_t low[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, high[3] = {0, 0, 0};
  for (const Source& source : sources) {
    const std::size_t at[3] = {source.z, source.y, source.x};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], at[axis]);
      high[axis] = std::max(high[axis], at[axis] + (axis == 2 ? source.length : 1));
    }
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t radius = frame.radii[axis + 1];
    part.clip(axis, low[axis] - std::min(low[axis], radius), high[axis] + radius);
  }
  return part;
}

inline Part united(const Part& one, const Part& other) {
  if (one.empty() || other.empty()) return one.empty() ? other : one;
  Part both = one;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    both.low[axis] = std::min(one.low[axis], other.low[axis]);
    both.high[axis] = std::max(one.high[axis], other.high[axis]);
  }
  return both;
}

}  // namespace consensus
