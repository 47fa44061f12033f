// Sums over a box around each disputed voxel, of sources that are few and lie anywhere.
//
// A window slides over planes: the sum of its planes is kept per column, the sum of its rows per
// row, and a running sum along the row gives each voxel's window by one subtraction. Sources enter
// and leave as they come, so the cost is that of the rows between sources and voxels, whatever the
// window. Weights are whole numbers (reals are scaled), so that sums are exact: the order of adding,
// and with it tiles and threads, never shows, and what left a window leaves nothing behind.
//
// Preconditions (checked in Python): those of window_frame.hpp; sums of weights over a window stay
// below 2^64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"
#include "window_frame.hpp"

namespace consensus {

CONSENSUS_WIDE static inline void add_row(const std::uint64_t* row, std::size_t n, std::uint64_t* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += row[i];
}

CONSENSUS_WIDE static inline void subtract_row(const std::uint64_t* row, std::size_t n, std::uint64_t* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] -= row[i];
}

class WindowSweep {
 public:
  explicit WindowSweep(const WindowFrame& frame) : frame_(frame) {}

  // Calls visit(voxel, sum) for the disputed voxels of a part whose window can hold a source;
  // sources ascend in z and belong to the part's volume.
  template <class Visit>
  void run(const Sources& sources, const Part& within, Visit visit) {
    const Part part = reach_of(frame_, sources, within);
    if (part.empty()) return;
    begin(sources);
    std::size_t entering = 0, leaving = 0;
    const std::size_t depth = frame_.radii[1];
    for (std::size_t z = part.low[0]; z < part.high[0]; ++z) {
      checkpoint();
      for (; entering < sources.size() && sources[entering].z <= z + depth; ++entering) {
        if (sources[entering].z + depth >= part.low[0]) change<true>(sources[entering]);
      }
      for (; leaving < sources.size() && sources[leaving].z + depth < z; ++leaving) {
        if (sources[leaving].z + depth >= part.low[0]) change<false>(sources[leaving]);
      }
      plane(part, z, visit);
    }
  }

 private:
  void begin(const Sources& sources) {
    low_y_ = low_x_ = SIZE_MAX;
    std::size_t high_y = 0, high_x = 0;
    for (const Source& source : sources) {
      low_y_ = std::min<std::size_t>(low_y_, source.y);
      low_x_ = std::min<std::size_t>(low_x_, source.x);
      high_y = std::max<std::size_t>(high_y, source.y + 1);
      high_x = std::max<std::size_t>(high_x, source.x + source.length);
    }
    height_ = high_y - low_y_;
    width_ = high_x - low_x_;
    columns_.assign(height_ * width_, 0);
    row_.resize(width_);
    before_.resize(width_ + 1);
  }

  template <bool kEnters>
  void change(const Source& source) {
    std::uint64_t* column = columns_.data() + (source.y - low_y_) * width_ + (source.x - low_x_);
    for (std::size_t k = 0; k < source.length; ++k) {
      column[k] += kEnters ? source.weight : std::uint64_t{0} - source.weight;
    }
  }

  template <class Visit>
  void plane(const Part& part, std::size_t z, Visit& visit) {
    const std::size_t radius = frame_.radii[2];
    std::fill(row_.begin(), row_.end(), 0);
    std::size_t upper = low_y_;  // rows below it have entered
    std::size_t lower = low_y_;  // rows below it have left
    for (std::size_t y = part.low[1]; y < part.high[1]; ++y) {
      for (; upper < low_y_ + height_ && upper <= y + radius; ++upper) {
        add_row(columns_.data() + (upper - low_y_) * width_, width_, row_.data());
      }
      for (; lower < upper && lower + radius < y; ++lower) {
        subtract_row(columns_.data() + (lower - low_y_) * width_, width_, row_.data());
      }
      voxels(part, frame_.row(part.volume, z, y), visit);
    }
  }

  template <class Visit>
  void voxels(const Part& part, std::size_t row, Visit& visit) {
    const std::size_t first = row * frame_.shape[3], radius = frame_.radii[3];
    std::size_t voxel = frame_.row_begin[row];
    const std::size_t end = frame_.row_begin[row + 1];
    while (voxel < end && frame_.places[voxel] - first < part.low[2]) ++voxel;
    if (voxel == end || frame_.places[voxel] - first >= part.high[2]) return;
    before_[0] = 0;
    for (std::size_t x = 0; x < width_; ++x) before_[x + 1] = before_[x] + row_[x];
    for (; voxel < end; ++voxel) {
      const std::size_t x = frame_.places[voxel] - first;
      if (x >= part.high[2]) break;
      const std::size_t from = x < low_x_ + radius ? 0 : std::min(width_, x - radius - low_x_);
      const std::size_t to = x + radius + 1 < low_x_ ? 0 : std::min(width_, x + radius + 1 - low_x_);
      visit(voxel, before_[to] - before_[from]);
    }
  }

  const WindowFrame& frame_;
  std::size_t low_y_ = 0, low_x_ = 0, height_ = 0, width_ = 0;
  std::vector<std::uint64_t> columns_, row_, before_;
};

// Unanimous voxels of a label which the rater (or, at `raters`, anybody) annotated.
inline void add_agreed(const WindowFrame& frame, std::size_t label, std::size_t rater, const Part& part,
                       std::uint64_t weight, Sources& sources) {
  const auto [first, last] = reached_places(frame, part);
  const std::uint32_t* begin = frame.run_places + frame.run_begin[label];
  const std::uint32_t* end = frame.run_places + frame.run_begin[label + 1];
  SourceAt source_at(frame);
  for (const std::uint32_t* at = std::lower_bound(begin, end, first); at != end && *at <= last; ++at) {
    const auto run = static_cast<std::size_t>(at - frame.run_places);
    if (rater < frame.raters && frame.vote_of(frame.run_patterns[run], rater) == frame.labels) continue;
    sources.push_back(source_at(*at, frame.run_lengths[run], weight));
  }
}

// For each label the disputed voxels, in order, to which anybody gave it: few of those around it.
using Mentions = std::vector<std::vector<std::uint32_t>>;

// As far as windows of the part reach.
inline Mentions mentions_around(const WindowFrame& frame, const Part& part) {
  Mentions mentions(frame.labels);
  const auto [low, high] = reached_places(frame, part);
  const std::uint32_t* end = frame.places + frame.number;
  for (const std::uint32_t* at = std::lower_bound(frame.places, end, low); at != end && *at <= high; ++at) {
    const auto voxel = static_cast<std::uint32_t>(at - frame.places);
    for (std::size_t rater = 0; rater < frame.raters; ++rater) {
      const std::size_t label = frame.vote(voxel, rater);
      if (label == frame.labels) continue;
      auto& voxels = mentions[label];
      if (voxels.empty() || voxels.back() != voxel) voxels.push_back(voxel);
    }
  }
  return mentions;
}

inline bool lies_before(const Source& a, const Source& b) { return a.z < b.z; }

// Disputed voxels that the rater gave a label.
inline void add_said(const WindowFrame& frame, const Mentions& mentions, std::size_t rater, std::size_t label,
                     const Part& part, Sources& sources) {
  const auto [low, high] = reached_places(frame, part);
  SourceAt source_at(frame);
  for (const std::uint32_t voxel : mentions[label]) {
    const std::uint32_t place = frame.places[voxel];
    if (place < low || place > high || frame.vote(voxel, rater) != label) continue;
    sources.push_back(source_at(place, 1, 1));
  }
}

// All voxels that the rater gave a label.
inline Sources said_sources(const WindowFrame& frame, const Mentions& mentions, std::size_t rater, std::size_t label,
                            const Part& part) {
  Sources sources;
  add_agreed(frame, label, rater, part, 1, sources);
  const auto agreed = static_cast<std::ptrdiff_t>(sources.size());
  add_said(frame, mentions, rater, label, part, sources);
  std::inplace_merge(sources.begin(), sources.begin() + agreed, sources.end(), lies_before);
  return sources;
}

}  // namespace consensus
