// The disputed voxels and the votes in the windows around them. A "mention" is a pair of a disputed voxel
// and a label that at least one rater gave it.
//
// Preconditions (checked in Python): the frame has the axes (volume, z, y, x), and its voxel indices fit
// 32 bits; `places` are ascending indices in the frame; all arrays have the stated lengths, and the
// indices in them are valid.
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

// The votes, which do not change between iterations: N disputed voxels, P patterns, J raters.
template <class Vote>
struct WindowFrame {
  Extents shape;                        // of the frame
  Extents radii;                        // radii[0] is 0: volumes are independent
  const std::uint32_t* places;          // (N) flat indices of the disputed voxels in the frame, ascending
  const std::uint32_t* row_begin;       // (rows + 1) index of the first disputed voxel of each row of the frame
  const std::uint32_t* patterns;        // (N) pattern of each disputed voxel
  const Vote* votes;                    // (P, J); `labels` where the rater is missing
  std::size_t number, raters, labels;
  bool gaps;                            // whether a rater is missing at a voxel that another annotated
  const std::uint32_t* run_places;      // runs of unanimous voxels along x, sorted by label, then by place
  const std::uint32_t* run_lengths;
  const std::uint32_t* run_patterns;
  const std::int64_t* run_begin;        // (labels + 1) first run of each label
  const std::uint32_t* mentions;  // the voxel of each mention, sorted by label, then by voxel
  const std::int64_t* mention_begin;    // (labels + 1) first mention of each label
  std::vector<Box> boxes;               // bounding box of each label, over all raters
  std::vector<std::uint32_t> agreed;    // indices of all runs, sorted by place

  const Vote* votes_at(std::size_t voxel) const { return votes + patterns[voxel] * raters; }
  const Vote* votes_of_run(std::size_t run) const { return votes + run_patterns[run] * raters; }
  std::size_t row(std::size_t volume, std::size_t z, std::size_t y) const {
    return (volume * shape[1] + z) * shape[2] + y;
  }
  std::size_t plane_begin(std::size_t volume, std::size_t z) const { return row(volume, z, 0) * shape[3]; }
  // Returns the range of the disputed voxels in a box of whole planes of one volume.
  std::pair<std::size_t, std::size_t> voxels_of(const Box& planes) const {
    const std::size_t volume = planes.low[0];
    return {row_begin[row(volume, planes.low[1], 0)], row_begin[row(volume, planes.high[1], 0)]};
  }
  // Returns the range of a label's mentions in such a box.
  std::pair<std::size_t, std::size_t> mentions_of(std::size_t label, const Box& planes) const {
    const auto [first, last] = voxels_of(planes);
    const std::uint32_t *begin = mentions + mention_begin[label], *end = mentions + mention_begin[label + 1];
    return {std::lower_bound(begin, end, first) - mentions, std::lower_bound(begin, end, last) - mentions};
  }
  // Returns the box that the windows around the voxels of a box cover.
  Box reach_of(const Box& box) const { return grown(box, radii, shape); }
  // Number of annotation counts per window: voxels that any rater annotated and, if `gaps`, those
  // that each rater annotated.
  std::size_t annotators() const { return gaps ? raters + 1 : 1; }
  std::size_t annotator(std::size_t rater) const { return gaps ? rater + 1 : 0; }
};

// Computes boxes from ascending places. Most places are on the same row as the previous one, so no
// division is needed to find their coordinates.
class PlacesBox {
 public:
  explicit PlacesBox(const Extents& shape) : shape_(shape) {}

  // Extends a box, which is initially empty, by consecutive voxels of a row.
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

// Returns the bounding box of each label over all raters.
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

// Returns the indices of all runs, sorted by place.
template <class Vote>
std::vector<std::uint32_t> runs_by_place(const WindowFrame<Vote>& frame) {
  std::vector<std::uint32_t> runs(static_cast<std::size_t>(frame.run_begin[frame.labels]));
  std::iota(runs.begin(), runs.end(), 0);
  std::sort(runs.begin(), runs.end(),
            [&](std::uint32_t a, std::uint32_t b) { return frame.run_places[a] < frame.run_places[b]; });
  return runs;
}

// Calls say(label, voxel) once for each mention, in ascending order of voxels.
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

// Divides a box along an axis into at most `number` parts.
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
