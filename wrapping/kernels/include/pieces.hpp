// Finds connected components ("pieces") of equal labels, numbered in the order of their first voxels. Rows
// are split into runs of one label, and touching runs of equal labels are united. 0 is background.
// Voxels are not connected along the first axis.
//
// Preconditions (checked in Python): `labels` and `places` hold the volume; the numbers of rows and of
// runs fit 32 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "parallel.hpp"
#include "tiles.hpp"

namespace consensus {

struct Piece {
  std::size_t voxels = 0;
  Box box;
  std::size_t first = 0;  // its first voxel, in C order
};

template <class Label>
class PieceFinder {
 public:
  PieceFinder(const Label* labels, const Extents& shape, bool corners)
      : labels_(labels), shape_(shape), slack_(corners) {}

  // Writes the number of each voxel's piece, counted from 1; returns the pieces.
  std::vector<Piece> find(std::int32_t* places) {
    find_runs();
    std::vector<Piece> pieces;
    std::vector<std::int32_t> number(runs_.size());
    const Box whole = whole_box(shape_);
    std::fill_n(places, whole.voxels(), 0);
    std::size_t row = 0;
    for_each_row(whole, [&](std::size_t t, std::size_t z, std::size_t y) {
      for (std::size_t k = first_[row]; k < first_[row + 1]; ++k) {
        const Run& run = runs_[k];
        const std::uint32_t top = root(static_cast<std::uint32_t>(k));
        if (top == k) {
          pieces.push_back({0, {{t, z, y, run.begin}, {t, z, y, run.end}}, row * shape_[3] + run.begin});
          number[k] = static_cast<std::int32_t>(pieces.size());
        }
        Piece& piece = pieces[static_cast<std::size_t>(number[top]) - 1];
        piece.voxels += run.end - run.begin;
        piece.box.low = {t, piece.box.low[1], std::min(piece.box.low[2], y),
                         std::min<std::size_t>(piece.box.low[3], run.begin)};
        piece.box.high = {t + 1, z + 1, std::max(piece.box.high[2], y + 1),
                          std::max<std::size_t>(piece.box.high[3], run.end)};
        std::fill_n(places + row * shape_[3] + run.begin, run.end - run.begin, number[top]);
      }
      ++row;
    });
    return pieces;
  }

 private:
  struct Run {
    std::uint32_t begin, end;
    std::uint32_t parent;  // an earlier run of the same piece, or this run
    Label label;
  };

  void find_runs() {
    first_.assign(1, 0);
    for_each_row(whole_box(shape_), [&](std::size_t, std::size_t z, std::size_t y) {
      if (y == 0) checkpoint();
      const std::size_t row = first_.size() - 1;
      add_row(labels_ + row * shape_[3]);
      if (y > 0) join(row, row - 1);
      if (z == 0) return;
      const std::size_t before = row - shape_[2];
      if (slack_ && y > 0) join(row, before - 1);
      join(row, before);
      if (slack_ && y + 1 < shape_[2]) join(row, before + 1);
    });
  }

  void add_row(const Label* row) {
    const std::size_t length = shape_[3];
    for (std::size_t begin = 0; begin < length;) {
      const std::size_t end = end_of_run(row, begin, length);
      if (row[begin] != 0) {
        runs_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                         static_cast<std::uint32_t>(runs_.size()), row[begin]});
      }
      begin = end;
    }
    first_.push_back(runs_.size());
  }

  // Returns the end of the run that begins at `begin`; compares eight bytes at a time.
  static std::size_t end_of_run(const Label* row, std::size_t begin, std::size_t length) {
    constexpr std::size_t kWord = sizeof(std::uint64_t) / sizeof(Label);
    std::array<Label, kWord> equal;
    equal.fill(row[begin]);
    std::size_t end = begin + 1;
    while (end + kWord <= length && std::memcmp(row + end, equal.data(), sizeof(std::uint64_t)) == 0) end += kWord;
    while (end < length && row[end] == row[begin]) ++end;
    return end;
  }

  // Unites touching runs of equal labels in two rows.
  void join(std::size_t row, std::size_t other) {
    std::size_t a = first_[row], b = first_[other];
    const std::size_t a_end = first_[row + 1], b_end = first_[other + 1];
    while (a < a_end && b < b_end) {
      join_if_touching(a, b);
      if (runs_[a].end == runs_[b].end) {
        // At a corner, either run may also touch the next run of the other row.
        if (slack_ && b + 1 < b_end) join_if_touching(a, b + 1);
        ++a;
      } else if (runs_[a].end < runs_[b].end) {
        ++a;
      } else {
        ++b;
      }
    }
  }

  void join_if_touching(std::size_t a, std::size_t b) {
    if (runs_[a].label == runs_[b].label && runs_[a].begin < runs_[b].end + slack_ &&
        runs_[b].begin < runs_[a].end + slack_) {
      const std::uint32_t one = root(static_cast<std::uint32_t>(a)), two = root(static_cast<std::uint32_t>(b));
      runs_[std::max(one, two)].parent = std::min(one, two);
    }
  }

  std::uint32_t root(std::uint32_t run) {
    while (runs_[run].parent != run) {
      runs_[run].parent = runs_[runs_[run].parent].parent;
      run = runs_[run].parent;
    }
    return run;
  }

  const Label* labels_;
  Extents shape_;
  std::uint32_t slack_;  // 1 if runs that touch only at a corner are connected, else 0
  std::vector<Run> runs_;
  std::vector<std::size_t> first_;  // index of each row's first run
};

// Sets in `finders`, of shape (pieces + 1, planes), the bits of the raters who marked any voxel of
// each piece; counts in `shared` the voxels of each piece that two or more raters marked.
inline void find_finders(const std::int32_t* places, const std::uint8_t* bits, std::size_t voxels, std::size_t planes,
                         std::uint8_t* finders, std::int64_t* shared) {
  for (std::size_t i = 0; i < voxels; ++i) {
    if (i % kPiece == 0) checkpoint();
    if (places[i] == 0) continue;
    const auto piece = static_cast<std::size_t>(places[i]);
    unsigned marked = 0, several = 0;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const unsigned byte = bits[plane * voxels + i];
      several |= (byte & (byte - 1u)) | (byte && marked);
      marked |= byte;
      finders[piece * planes + plane] = static_cast<std::uint8_t>(finders[piece * planes + plane] | byte);
    }
    shared[piece] += several != 0;
  }
}

}  // namespace consensus
