// Mean-field updates of a Potts field over the open voxels of a volume, in the two colours of a
// chessboard.
//
// Open voxels have a belief, a probability for each of a few labels; all other voxels inside the
// mask are settled and have one fixed label. Neighbours share a face, so all neighbours of a voxel
// have the other colour. The open voxels of each colour are listed row by row; while a row is
// walked, a cursor moves along in each neighbouring row of the other colour. Beliefs are stored
// only for labels that are candidates given the voxel's votes and are not far less probable than
// the best one.
//
// The division of rows into slabs depends only on their number, and the sums of slabs are added in
// order, so results do not depend on the number of threads.
//
// Preconditions (checked in Python): row_begin ends with the length of its list; columns ascend
// within a row and are below the width; codes are below the length of their table; labels of
// settled voxels, candidates and beliefs are below the number of labels; patterns have candidates.
// settled voxels, candidates and beliefs are below the number of labels; patterns have candidates.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "confusion_em.hpp"
#include "parallel.hpp"
#include "tiles.hpp"

namespace consensus {

// The open voxels of one colour.
struct ColourRows {
  const std::uint32_t* columns;    // of each voxel
  const std::int64_t* row_begin;   // [row]: index of its first voxel
  const std::uint32_t* patterns;   // of each voxel
  std::size_t number;
};

// Lists of labels and their values, for example the beliefs of voxels or the candidates of patterns.
template <class Value>
struct LabelLists {
  const std::int64_t* ends;  // [i]: where list i begins; [i + 1]: where it ends
  const std::uint16_t* labels;
  const Value* values;
};

template <class Code>
struct FieldGrid {
  Extents shape;
  std::array<double, kAxes> side;      // weight of a neighbour along each axis; the first is unused
  const Code* codes;
  const std::int32_t* settled_label;  // of each code; -1: open or outside
  std::size_t labels;

  std::size_t rows() const { return shape[0] * shape[1] * shape[2]; }
};

// Summed weights of a voxel's neighbours with each label: of all neighbours, and of settled ones.
class Pull {
 public:
  explicit Pull(std::size_t labels) : all_(labels, 0.0), settled_(labels, 0.0) {}

  void add(std::size_t label, double weight) {
    if (weight <= 0.0) return;
    if (all_[label] == 0.0) touched_.push_back(static_cast<std::uint16_t>(label));
    all_[label] += weight;
  }
  void add_settled(std::size_t label, double weight) {
    add(label, weight);
    settled_[label] += weight;
  }
  double of(std::size_t label) const { return all_[label]; }
  double of_settled(std::size_t label) const { return settled_[label]; }
  const std::vector<std::uint16_t>& labels() const { return touched_; }
  void clear() {
    for (const std::uint16_t label : touched_) all_[label] = settled_[label] = 0.0;
    touched_.clear();
  }

 private:
  std::vector<double> all_, settled_;
  std::vector<std::uint16_t> touched_;
};

// Calls visit(voxel, pull) for every voxel of one colour in a slab of rows.
template <class Code, class Visit>
void walk_field(const FieldGrid<Code>& grid, const ColourRows& mine, const ColourRows& others,
                const LabelLists<float>& beliefs, Slab rows, Visit visit) {
  struct Side {
    std::size_t row;
    double weight;
    std::int64_t cursor;
  };
  Pull pull(grid.labels);
  const std::size_t depth = grid.shape[1], height = grid.shape[2], width = grid.shape[3];
  std::vector<Side> sides;
  const auto look = [&](Side& side, std::size_t column) {
    const std::int64_t end = others.row_begin[side.row + 1];
    while (side.cursor < end && others.columns[side.cursor] < column) ++side.cursor;
    if (side.cursor < end && others.columns[side.cursor] == column) {
      for (std::int64_t i = beliefs.ends[side.cursor]; i < beliefs.ends[side.cursor + 1]; ++i) {
        pull.add(beliefs.labels[i], side.weight * static_cast<double>(beliefs.values[i]));
      }
      return;
    }
    const std::int32_t label = grid.settled_label[grid.codes[side.row * width + column]];
    if (label >= 0) pull.add_settled(static_cast<std::size_t>(label), side.weight);
  };
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    if (mine.row_begin[row] == mine.row_begin[row + 1]) continue;
    const std::size_t y = row % height, z = row / height % depth;
    sides.clear();
    const auto beside = [&](std::size_t other, double weight) {
      sides.push_back({other, weight, others.row_begin[other]});
    };
    if (z > 0) beside(row - height, grid.side[1]);
    if (z + 1 < depth) beside(row + height, grid.side[1]);
    if (y > 0) beside(row - 1, grid.side[2]);
    if (y + 1 < height) beside(row + 1, grid.side[2]);
    Side before{row, grid.side[3], others.row_begin[row]}, behind = before;
    for (std::int64_t voxel = mine.row_begin[row]; voxel < mine.row_begin[row + 1]; ++voxel) {
      const std::size_t column = mine.columns[voxel];
      for (Side& side : sides) look(side, column);
      if (column > 0) look(before, column - 1);
      if (column + 1 < width) look(behind, column + 1);
      visit(static_cast<std::size_t>(voxel), pull);
      pull.clear();
    }
  }
}

// New beliefs of the voxels in a slab, and their contributions to the variational bound.
struct FieldPart {
  std::vector<std::uint32_t> sizes;  // length of each voxel's list
  std::vector<std::uint16_t> labels;
  std::vector<float> values;
  double agreement = 0.0;  // expected weight of neighbours with the same label
  double settled = 0.0;  // as `agreement`, for settled neighbours only
  double entropy = 0.0;
  double votes = 0.0;  // expected log probability of the votes, weighted by `counted`
};

struct FieldRule {
  LabelLists<double> candidates;  // of each pattern, with their log scores
  const double* counted;          // of each pattern: the share of its voxels that contribute to sums of votes
  double weight;
  double cut;  // nats; labels this far below the most probable one get a belief of 0
};

// Computes the beliefs of the voxels of one colour, given those of the other.
template <class Code>
void believe(const FieldGrid<Code>& grid, const ColourRows& mine, const ColourRows& others,
             const LabelLists<float>& beliefs, const FieldRule& rule, Slab rows, FieldPart& part) {
  std::vector<double> score(grid.labels);
  std::vector<std::size_t> chosen(grid.labels);
  walk_field(grid, mine, others, beliefs, rows, [&](std::size_t voxel, const Pull& pull) {
    const std::size_t pattern = mine.patterns[voxel];
    const std::int64_t first = rule.candidates.ends[pattern];
    const auto number = static_cast<std::size_t>(rule.candidates.ends[pattern + 1] - first);
    const std::uint16_t* labels = rule.candidates.labels + first;
    const double* of_votes = rule.candidates.values + first;
    double best = kImpossible;
    for (std::size_t i = 0; i < number; ++i) {
      score[i] = of_votes[i] + rule.weight * pull.of(labels[i]);
      best = std::max(best, score[i]);
    }
    // Drop candidates with a negligible share, which are the majority.
    std::size_t kept = 0;
    double total = 0.0, below_best = 0.0;
    for (std::size_t i = 0; i < number; ++i) {
      const double below = score[i] - best;
      if (below <= -rule.cut) continue;
      const double odds = below == 0.0 ? 1.0 : std::exp(below);
      chosen[kept] = i;
      score[kept++] = odds;
      total += odds;
      below_best += odds * below;
    }
    double votes = 0.0;
    for (std::size_t k = 0; k < kept; ++k) {
      const std::uint16_t label = labels[chosen[k]];
      const double belief = score[k] / total;
      part.labels.push_back(label);
      part.values.push_back(static_cast<float>(belief));
      part.agreement += belief * pull.of(label);
      part.settled += belief * pull.of_settled(label);
      votes += belief * of_votes[chosen[k]];
    }
    part.entropy += std::log(total) - below_best / total;
    part.votes += rule.counted[pattern] * votes;
    part.sizes.push_back(static_cast<std::uint32_t>(kept));
  });
}

// First and negated second derivative of the log pseudo-likelihood with respect to the field's weight.
struct WeightSlope {
  double slope = 0.0;
  double curvature = 0.0;
};

template <class Code>
WeightSlope weight_slope(const FieldGrid<Code>& grid, const ColourRows& mine, const LabelLists<float>& own,
                         const ColourRows& others, const LabelLists<float>& beliefs, double weight, Slab rows) {
  WeightSlope sums;
  walk_field(grid, mine, others, beliefs, rows, [&](std::size_t voxel, const Pull& pull) {
    double highest = 0.0, total = 0.0, mean = 0.0, square = 0.0, believed = 0.0;
    for (const std::uint16_t label : pull.labels()) highest = std::max(highest, pull.of(label));
    for (const std::uint16_t label : pull.labels()) {
      const double here = pull.of(label), odds = std::exp(weight * (here - highest));
      total += odds;
      mean += odds * here;
      square += odds * here * here;
    }
    // All labels without a neighbour contribute the same term.
    total += static_cast<double>(grid.labels - pull.labels().size()) * std::exp(-weight * highest);
    mean /= total;
    for (std::int64_t i = own.ends[voxel]; i < own.ends[voxel + 1]; ++i) {
      believed += static_cast<double>(own.values[i]) * pull.of(own.labels[i]);
    }
    sums.slope += believed - mean;
    sums.curvature += square / total - mean * mean;
  });
  return sums;
}

// Appends the labels of a pattern whose log score is less than `reach` below the best, and their
// scores, which are clipped to at least `least`.
template <class Digit>
void add_candidates(const PatternRows<Digit>& rows, const double* log_theta, const double* log_prior,
                    std::size_t pattern, double reach, double least, std::vector<double>& score,
                    std::vector<std::uint16_t>& labels, std::vector<double>& values) {
  std::copy(log_prior, log_prior + rows.truths, score.begin());
  const Digit* digits = rows.digits + pattern * rows.raters;
  for (std::size_t j = 0; j < rows.raters; ++j) {
    if (digits[j] >= rows.labels) continue;
    add_scaled(log_theta + (j * rows.labels + digits[j]) * rows.truths, 1.0, rows.truths, score.data());
  }
  const double best = std::max(least, highest_of(score.data(), rows.truths));
  for (std::size_t t = 0; t < rows.truths; ++t) {
    const double value = std::max(score[t], least);
    if (value <= best - reach) continue;
    labels.push_back(static_cast<std::uint16_t>(t));
    values.push_back(value);
  }
}

// Adds the beliefs of voxels, weighted by counted[pattern], to counts[rater][observed][true].
template <class Digit>
void count_beliefs(const PatternRows<Digit>& rows, const std::uint32_t* patterns, const LabelLists<float>& beliefs,
                   const double* counted, Slab voxels, std::vector<double>& counts) {
  for (std::size_t voxel = voxels.begin; voxel < voxels.end; ++voxel) {
    if (voxel % 1024 == 0) checkpoint();
    const Digit* digits = rows.digits + patterns[voxel] * rows.raters;
    const double share = counted[patterns[voxel]];
    if (share == 0.0) continue;
    for (std::int64_t i = beliefs.ends[voxel]; i < beliefs.ends[voxel + 1]; ++i) {
      double* of_label = counts.data() + beliefs.labels[i];
      const double amount = share * static_cast<double>(beliefs.values[i]);
      for (std::size_t j = 0; j < rows.raters; ++j) {
        if (digits[j] < rows.labels) of_label[(j * rows.labels + digits[j]) * rows.truths] += amount;
      }
    }
  }
}

}  // namespace consensus
