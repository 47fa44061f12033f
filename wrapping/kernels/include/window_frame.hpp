// The disputed voxels and the votes in the windows around them.
//
// Preconditions (checked in Python): places ascend and lie in the frame, whose four axes are
// (volume, z, y, x) and whose voxels fit 32 bits; rows, runs and mentions point into tables as long as said.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "tiles.hpp"

namespace consensus {

// Everything about the votes that does not change: N disputed voxels, P patterns, J raters.
template <class Vote>
struct WindowFrame {
  Extents shape;                        // of the frame
  Extents radii;                        // radii[0] is 0: volumes are independent
  const std::uint32_t* places;          // (N) flat, ascending
  const std::uint32_t* row_begin;       // (rows + 1) first disputed voxel of each row of the frame
  const std::uint32_t* patterns;        // (N)
  const Vote* votes;                    // (P, J); `labels` where the rater is missing
  std::size_t number, raters, labels;
  bool gaps;                            // whether a rater missed a voxel that another annotated
  const std::uint32_t* run_places;      // unanimous voxels in runs along x, by label, then by place
  const std::uint32_t* run_lengths;
  const std::uint32_t* run_patterns;
  const std::int64_t* run_begin;        // (labels + 1)
  const std::uint32_t* mentions;        // disputed voxels to which anybody gave a label, by label, then by voxel
  const std::int64_t* mention_begin;    // (labels + 1)
  std::vector<Box> boxes;               // of each label: where anybody said it
  std::vector<std::uint32_t> agreed;    // all runs by place

  const Vote* votes_at(std::size_t voxel) const { return votes + patterns[voxel] * raters; }
  const Vote* votes_of_run(std::size_t run) const { return votes + run_patterns[run] * raters; }
  std::size_t row(std::size_t volume, std::size_t z, std::size_t y) const {
    return (volume * shape[1] + z) * shape[2] + y;
  }
  std::size_t plane_begin(std::size_t volume, std::size_t z) const { return row(volume, z, 0) * shape[3]; }
  // The voxels of whole planes of one volume lie between two numbers.
  std::pair<std::size_t, std::size_t> voxels_of(const Box& planes) const {
    const std::size_t volume = planes.low[0];
    return {row_begin[row(volume, planes.low[1], 0)], row_begin[row(volume, planes.high[1], 0)]};
  }
  // So do a label's mentions of such voxels.
  std::pair<std::size_t, std::size_t> mentions_of(std::size_t label, const Box& planes) const {
    const auto [first, last] = voxels_of(planes);
    const std::uint32_t *begin = mentions + mention_begin[label], *end = mentions + mention_begin[label + 1];
    return {std::lower_bound(begin, end, first) - mentions, std::lower_bound(begin, end, last) - mentions};
  }
  // The voxels that windows around a box reach.
  Box reach_of(const Box& box) const { return grown(box, radii, shape); }
  // Number of annotation counts per window: of any rater and, if they differ, of each.
  std::size_t annotators() const { return gaps ? raters + 1 : 1; }
  std::size_t annotator(std::size_t rater) const { return gaps ? rater + 1 : 0; }
};

// Boxes of places that ascend. Most lie in the row of the one before, which saves dividing.
class PlacesBox {
 public:
  explicit PlacesBox(const Extents& shape) : shape_(shape) {}

  // Widens a box, empty at first, by some voxels in a row.
  void widen(Box& box, std::uint32_t place, std::size_t length) {
    if (place - first_ >= shape_[3]) {
      const std::size_t row = place / shape_[3], plane = row / shape_[2];
      first_ = static_cast<std::uint32_t>(row * shape_[3]);
      at_ = {plane / shape_[1], plane % shape_[1], row % shape_[2], 0};
    }
    at_[3] = place - first_;
    const bool first = box.high[3] == 0;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      box.low[axis] = first ? at_[axis] : std::min(box.low[axis], at_[axis]);
      box.high[axis] = std::max(box.high[axis], at_[axis] + (axis == 3 ? length : 1));
    }
  }

 private:
  Extents shape_, at_{};
  std::uint32_t first_ = 0;
};

// Bounding box of each label, over all raters.
template <class Vote>
std::vector<Box> label_boxes(const WindowFrame<Vote>& frame) {
  std::vector<Box> boxes(frame.labels);
  PlacesBox of(frame.shape);
  for (std::size_t label = 0; label < frame.labels; ++label) {
    checkpoint();
    for (auto run = frame.run_begin[label]; run < frame.run_begin[label + 1]; ++run) {
      of.widen(boxes[label], frame.run_places[run], frame.run_lengths[run]);
    }
    for (auto k = frame.mention_begin[label]; k < frame.mention_begin[label + 1]; ++k) {
      of.widen(boxes[label], frame.places[frame.mentions[k]], 1);
    }
  }
  return boxes;
}

// All runs in the order of their places.
template <class Vote>
std::vector<std::uint32_t> runs_by_place(const WindowFrame<Vote>& frame) {
  std::vector<std::uint32_t> runs(static_cast<std::size_t>(frame.run_begin[frame.labels]));
  std::iota(runs.begin(), runs.end(), 0);
  std::sort(runs.begin(), runs.end(),
            [&](std::uint32_t a, std::uint32_t b) { return frame.run_places[a] < frame.run_places[b]; });
  return runs;
}

// Calls say(label, voxel) once for each label that any rater gave a voxel, in ascending order of voxels.
template <class Vote, class Say>
void for_each_mention(const std::uint32_t* patterns, std::size_t number, const Vote* votes, std::size_t raters,
                      std::size_t labels, Say say) {
  for (std::size_t voxel = 0; voxel < number; ++voxel) {
    if (voxel % kPiece == 0) checkpoint();
    const Vote* said = votes + patterns[voxel] * raters;
    for (std::size_t rater = 0; rater < raters; ++rater) {
      if (said[rater] < labels && std::find(said, said + rater, said[rater]) == said + rater) {
        say(static_cast<std::size_t>(said[rater]), voxel);
      }
    }
  }
}

// Splits a box along an axis.
inline std::vector<Box> pieces_of(const Box& box, std::size_t number, std::size_t axis) {
  std::vector<Box> pieces;
  for (const Slab& slab : make_slabs(box.size(axis), number, 1)) {
    pieces.push_back(box);
    pieces.back().low[axis] = box.low[axis] + slab.begin;
    pieces.back().high[axis] = box.low[axis] + slab.end;
  }
  return pieces;
}

}  // namespace consensus
