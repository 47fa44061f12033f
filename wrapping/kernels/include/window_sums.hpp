// Sums the weights of sparse sources (voxels) over a window around each requested voxel.
//
// The window slides over planes. Column sums hold the sum over the planes in the window, row sums
// add these over the rows in the window, and the difference of two prefix sums of row sums is the
// sum over the window. Each source is added once and subtracted once, so the cost does not depend
// on the size of the window. Sums of the same sources for several raters are computed together, in
// lanes. Weights are integers (real numbers are scaled), so sums are exact: they do not depend on
// order or threads, and subtracting a source leaves no error.
//
// Preconditions (checked in Python): those of window_frame.hpp; sums of weights over a window fit
// the type `Number`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simd.hpp"
#include "window_frame.hpp"

namespace consensus {

template <class Number>
constexpr std::size_t kLanesAtOnce = 32 / sizeof(Number);

// Stride between the cells of neighbouring voxels with this many lanes.
template <class Number>
constexpr std::size_t stride_of(std::size_t lanes) {
  return lanes == 1 ? 1 : (lanes + kLanesAtOnce<Number> - 1) / kLanesAtOnce<Number> * kLanesAtOnce<Number>;
}

// Adds a weight to n numbers.
template <class Number>
void add_weight(Number weight, std::size_t n, Number* numbers) {
  for (std::size_t i = 0; i < n; ++i) numbers[i] += weight;
}

template <class Number>
CONSENSUS_INLINE void add_numbers(const Number* row, std::size_t n, Number* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += row[i];
}

template <class Number>
CONSENSUS_INLINE void subtract_numbers(const Number* row, std::size_t n, Number* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] -= row[i];
}

// before[x] = the sum of the cells with an index below x (prefix sums).
template <class Number>
CONSENSUS_INLINE void sum_cells(const Number* row, std::size_t cells, std::size_t lanes, Number* before) {
  constexpr std::size_t kAtOnce = kLanesAtOnce<Number>;
  if (lanes == 1) {
    before[0] = 0;
    for (std::size_t x = 0; x < cells; ++x) before[x + 1] = before[x] + row[x];
    return;
  }
  for (std::size_t first = 0; first < lanes; first += kAtOnce) {
    Number sums[kAtOnce] = {};
    for (std::size_t x = 0; x <= cells; ++x) {
      for (std::size_t lane = 0; lane < kAtOnce; ++lane) before[x * lanes + first + lane] = sums[lane];
      if (x == cells) break;
      for (std::size_t lane = 0; lane < kAtOnce; ++lane) sums[lane] += row[x * lanes + first + lane];
    }
  }
}

CONSENSUS_WIDE static inline void add_row(const std::uint32_t* row, std::size_t n, std::uint32_t* sums) {
  add_numbers(row, n, sums);
}
CONSENSUS_WIDE static inline void add_row(const std::uint64_t* row, std::size_t n, std::uint64_t* sums) {
  add_numbers(row, n, sums);
}
CONSENSUS_WIDE static inline void subtract_row(const std::uint32_t* row, std::size_t n, std::uint32_t* sums) {
  subtract_numbers(row, n, sums);
}
CONSENSUS_WIDE static inline void subtract_row(const std::uint64_t* row, std::size_t n, std::uint64_t* sums) {
  subtract_numbers(row, n, sums);
}
CONSENSUS_WIDE static inline void sum_row(const std::uint32_t* row, std::size_t cells, std::size_t lanes,
                                          std::uint32_t* before) {
  sum_cells(row, cells, lanes, before);
}
CONSENSUS_WIDE static inline void sum_row(const std::uint64_t* row, std::size_t cells, std::size_t lanes,
                                          std::uint64_t* before) {
  sum_cells(row, cells, lanes, before);
}

// A list of sources in ascending order of place. Source k covers length(k) voxels of a row from place(k) on;
// add(k, cells, number, sign) adds its weight, times sign (1 or -1), to the lanes of `number` cells.
template <class Place, class Length, class Add>
struct SourceList {
  std::size_t begin, end;
  Place place;
  Length length;
  Add add;
  std::size_t entering = 0, leaving = 0;
};

template <class Place, class Length, class Add>
SourceList<Place, Length, Add> source_list(std::size_t begin, std::size_t end, Place place, Length length, Add add) {
  return {begin, end, place, length, add};
}

// Disputed voxels as sources.
template <class VoxelOf, class Add>
auto disputed_sources(const std::uint32_t* places, std::size_t begin, std::size_t end, VoxelOf voxel_of, Add add) {
  return source_list(
      begin, end, [=](std::size_t k) { return places[voxel_of(k)]; },
      [](std::size_t) { return std::size_t{1}; }, add);
}

// Unanimous voxels as sources.
template <class Vote, class Add>
auto agreed_sources(const WindowFrame<Vote>& frame, std::size_t begin, std::size_t end, Add add) {
  const std::uint32_t *places = frame.run_places, *lengths = frame.run_lengths;
  return source_list(
      begin, end, [=](std::size_t run) { return places[run]; },
      [=](std::size_t run) { return static_cast<std::size_t>(lengths[run]); }, add);
}

// Requested voxels, in ascending order, given by a list and the place of each entry.
template <class PlaceOf>
class ListedVoxels {
 public:
  ListedVoxels(std::size_t begin, std::size_t end, PlaceOf place_of) : at_(begin), end_(end), place_of_(place_of) {}

  // Returns the range of entries between two places. Precondition: calls are in ascending order.
  std::pair<std::size_t, std::size_t> between(std::size_t first, std::size_t last) {
    while (at_ < end_ && place_of_(at_) < first) ++at_;
    const std::size_t begin = at_;
    while (at_ < end_ && place_of_(at_) < last) ++at_;
    return {begin, at_};
  }
  std::size_t place_of(std::size_t k) const { return place_of_(k); }

 private:
  std::size_t at_, end_;
  PlaceOf place_of_;
};

template <class Vote>
class AllVoxels {
 public:
  explicit AllVoxels(const WindowFrame<Vote>& frame) : frame_(frame) {}

  std::pair<std::size_t, std::size_t> between(std::size_t first, std::size_t last) const {
    const std::size_t row = first / frame_.shape[3];
    const std::uint32_t *begin = frame_.places + frame_.row_begin[row], *end = frame_.places + frame_.row_begin[row + 1];
    return {std::lower_bound(begin, end, first) - frame_.places, std::lower_bound(begin, end, last) - frame_.places};
  }
  std::size_t place_of(std::size_t k) const { return frame_.places[k]; }

 private:
  const WindowFrame<Vote>& frame_;
};

template <class Vote, class Number>
class WindowSweep {
 public:
  explicit WindowSweep(const WindowFrame<Vote>& frame) : frame_(frame) {}

  // Calls visit(k, high, low) for every requested voxel in `within` whose window can contain a source; the sum
  // in each lane is high[lane] - low[lane]. Precondition: `sources` and `within` lie in one volume.
  template <class Voxels, class Visit, class... Lists>
  void run(std::size_t lanes, const Box& sources, const Box& within, Voxels voxels, Visit visit, Lists... lists) {
    read_ = intersection(sources, frame_.reach_of(within));
    const Box asked = intersection(within, frame_.reach_of(read_));
    if (read_.empty() || asked.empty()) return;
    lanes_ = stride_of<Number>(lanes);
    width_ = read_.size(3);
    columns_.assign(read_.size(2) * width_ * lanes_, 0);
    row_.resize(width_ * lanes_);
    before_.resize((width_ + 1) * lanes_);
    (begin(lists), ...);
    std::size_t entered = read_.low[1], left = read_.low[1];
    for (std::size_t z = asked.low[1]; z < asked.high[1]; ++z) {
      checkpoint();
      for (; entered < read_.high[1] && entered <= z + frame_.radii[1]; ++entered) {
        (change(lists, lists.entering, entered, Number{1}), ...);
      }
      for (; left < entered && left + frame_.radii[1] < z; ++left) {
        (change(lists, lists.leaving, left, static_cast<Number>(Number{0} - Number{1})), ...);
      }
      plane(asked, z, voxels, visit);
    }
  }

 private:
  template <class List>
  void begin(List& list) const {
    const std::size_t first = frame_.plane_begin(read_.low[0], read_.low[1]);
    std::size_t low = list.begin, high = list.end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (list.place(middle) < first) low = middle + 1;
      else high = middle;
    }
    list.entering = list.leaving = low;
  }

  // Adds the weights of a list's sources in plane z, from `next` on, and advances `next`.
  template <class List>
  void change(List& list, std::size_t& next, std::size_t z, Number sign) {
    const auto first = static_cast<std::uint32_t>(frame_.plane_begin(read_.low[0], z));
    const std::size_t last = frame_.plane_begin(read_.low[0], z + 1);
    const auto across = static_cast<std::uint32_t>(frame_.shape[3]);
    // Local copies: the compiler must assume that cells alias these members.
    const Box read = read_;
    const std::size_t lanes = lanes_, width = width_, end = list.end;
    Number* columns = columns_.data();
    std::size_t k = next;
    for (; k < end && list.place(k) < last; ++k) {
      const std::uint32_t offset = list.place(k) - first;
      const std::size_t y = offset / across, x = offset % across;
      if (y < read.low[2] || y >= read.high[2]) continue;
      const std::size_t from = std::max(x, read.low[3]), to = std::min(x + list.length(k), read.high[3]);
      Number* cells = columns + ((y - read.low[2]) * width + from - read.low[3]) * lanes;
      if (from < to) list.add(k, cells, to - from, sign);
    }
    next = k;
  }

  template <class Voxels, class Visit>
  void plane(const Box& asked, std::size_t z, Voxels& voxels, Visit& visit) {
    const std::size_t radius = frame_.radii[2], around = frame_.radii[3], low = read_.low[3];
    const std::size_t width = width_, lanes = lanes_, n = width * lanes;
    const Number* before = before_.data();
    std::fill(row_.begin(), row_.end(), 0);
    bool summed = false;
    std::size_t upper = read_.low[2], lower = read_.low[2];  // ends of the rows that were added, subtracted
    for (std::size_t y = asked.low[2]; y < asked.high[2]; ++y) {
      const std::size_t first = frame_.row(asked.low[0], z, y) * frame_.shape[3];
      const auto [begin, end] = voxels.between(first + asked.low[3], first + asked.high[3]);
      if (begin == end) continue;
      for (; lower < upper && lower + radius < y; ++lower, summed = false) {
        subtract_row(columns_.data() + (lower - read_.low[2]) * n, n, row_.data());
      }
      for (; upper < read_.high[2] && upper + radius < y; ++upper) lower = upper + 1;  // skip rows outside every window
      for (; upper < read_.high[2] && upper <= y + radius; ++upper, summed = false) {
        add_row(columns_.data() + (upper - read_.low[2]) * n, n, row_.data());
      }
      if (!summed) sum_row(row_.data(), width_, lanes_, before_.data());
      summed = true;
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t x = voxels.place_of(k) - first;
        const std::size_t from = x < low + around ? 0 : std::min(width, x - around - low);
        const std::size_t to = x + around + 1 < low ? 0 : std::min(width, x + around + 1 - low);
        visit(k, before + to * lanes, before + from * lanes);
      }
    }
  }

  const WindowFrame<Vote>& frame_;
  Box read_;
  std::size_t lanes_ = 1, width_ = 0;
  std::vector<Number> columns_, row_, before_;
};

}  // namespace consensus
