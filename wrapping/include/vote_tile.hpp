// The votes in and around one tile: which labels occur there, where, and their smoothed shares.
//
// Only labels that occur are ever looked at, each only in its own box. Shares are sums of votes over
// the sum of weights of who annotated; where nobody did, they are the labels' overall frequencies,
// which are added as one smoothed field times each frequency. Voxels outside the mask neither vote
// nor count.
//
// Preconditions (checked in Python): raters and mask hold the whole volume; digits below `labels`
// are labels and `labels` itself means missing; weights are finite and not negative.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gaussian_lines.hpp"
#include "simd.hpp"
#include "tiles.hpp"
#include "votes.hpp"

namespace consensus {

// The whole volume's votes, from which tiles are cut.
struct VoteField {
  std::vector<const Votes*> raters;
  std::vector<double> weights;      // one per rater
  double whole_weight;              // their sum
  bool plain;                       // all weights are 1 and a byte can count the raters
  bool may_miss;                    // some rater may not have annotated some voxel
  const Votes* mask;                // digit 0: outside; null: all voxels are inside
  std::size_t labels;
  std::vector<double> frequencies;  // one per label
  Extents shape;
  GaussianWeights gaussian;

  std::size_t first_of(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return ((t * shape[1] + z) * shape[2] + y) * shape[3] + x;
  }
};

template <class Digit>
class VoteTile {
 public:
  struct Label {
    std::size_t digit;
    Box box;  // of the voxels around the tile for which anybody voted for it
  };

  explicit VoteTile(const VoteField& field)
      : field_(&field), single_(field.gaussian, field.shape), twice_(field.gaussian, field.shape),
        slots_(field.labels, kAbsent) {}

  // Reads the votes in the tile and within the Gaussian's reach of it.
  void load(const Box& tile) {
    tile_ = tile;
    around_ = twice_.source(tile);
    for (const Label& label : labels_) slots_[label.digit] = kAbsent;
    labels_.clear();
    outside_ = nobody_ = false;
    read_mask();
    alike_ = !outside_ && read_unanimous();
    if (alike_) return;
    digits_.resize(field_->raters.size() * around_.voxels());
    for (std::size_t rater = 0; rater < field_->raters.size(); ++rater) read_rater(rater);
    std::sort(labels_.begin(), labels_.end(),
              [](const Label& a, const Label& b) { return a.digit < b.digit; });
    for (std::size_t k = 0; k < labels_.size(); ++k) slots_[labels_[k].digit] = k;
    if (field_->may_miss) sum_weights();
  }

  const VoteField& field() const { return *field_; }
  const Box& tile() const { return tile_; }
  const Box& around() const { return around_; }
  const std::vector<Label>& labels() const { return labels_; }
  // All who annotated anything around the tile say the same label.
  bool unanimous() const { return labels_.size() == 1 && !nobody_; }
  bool has_outside() const { return outside_; }
  // Some voxel around the tile was annotated by nobody.
  bool has_nobody() const { return nobody_; }
  std::size_t slot(std::size_t digit) const { return slots_[digit]; }
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

  // A rater's digits around the tile; not there when alike().
  const Digit* digits(std::size_t rater) const { return digits_.data() + rater * around_.voxels(); }
  bool alike() const { return alike_; }
  bool inside(std::size_t around_index) const { return !outside_ || inside_[around_index]; }
  double weight_at(std::size_t around_index) const {
    return field_->may_miss && !alike_ ? sums_[around_index] : field_->whole_weight;
  }

  // What a smoothed vote is divided by: votes are smoothed unscaled unless voxels count differently.
  double unit() const { return scaled() ? 1.0 : field_->whole_weight; }

  // Part of `to` that votes for the label can reach.
  Box reached(const Label& label, const Box& to) const {
    return intersection(grown(label.box, twice_.reach(), field_->shape), to);
  }

  // Smoothed votes for a label in `to`, in units of unit().
  template <class Real>
  void smooth(const Label& label, const Box& to, Real* out) {
    const Box from = twice_.source(to);
    auto& values = scratch<Real>();
    values.assign(from.voxels(), Real{0});
    gather(label, from, values.data());
    gaussian<Real>().smooth(values, to);
    std::copy_n(values.data(), to.voxels(), out);
  }

  // Smoothed mask; to be asked for only where some voxel is outside.
  template <class Real>
  void smooth_mask(const Box& to, Real* out) {
    smooth_flags<Real>(to, out, [&](std::size_t at) { return inside_[at] != 0; });
  }

  // Smoothed indicator of voxels that nobody annotated.
  template <class Real>
  void smooth_nobody(const Box& to, Real* out) {
    smooth_flags<Real>(to, out, [&](std::size_t at) { return inside(at) && !(sums_[at] > 0); });
  }

 private:
  bool scaled() const { return field_->may_miss || field_->mask; }

  template <class Real>
  Gaussian<Real>& gaussian() {
    if constexpr (sizeof(Real) == sizeof(float)) return single_;
    else return twice_;
  }
  template <class Real>
  std::vector<Real>& scratch() {
    if constexpr (sizeof(Real) == sizeof(float)) return single_values_;
    else return twice_values_;
  }

  void read_mask() {
    if (!field_->mask) return;
    const std::size_t length = around_.size(3);
    inside_.assign(around_.voxels(), 1);
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      std::uint8_t* row = inside_.data() + around_.at(t, z, y, around_.low[3]);
      field_->mask->append(field_->first_of(t, z, y, around_.low[3]), length, 0, row);
      for (std::size_t x = 0; x < length; ++x) outside_ |= row[x] == 0;
    });
  }

  // The commonest tile: every rater says one and the same label throughout.
  bool read_unanimous() {
    const std::size_t length = around_.size(3);
    const std::uint32_t first =
        field_->raters[0]->digit(field_->first_of(around_.low[0], around_.low[1], around_.low[2], around_.low[3]));
    if (first >= field_->labels) return false;
    for (std::size_t t = around_.low[0]; t < around_.high[0]; ++t) {
      for (std::size_t z = around_.low[1]; z < around_.high[1]; ++z) {
        for (std::size_t y = around_.low[2]; y < around_.high[2]; ++y) {
          const std::size_t begin = field_->first_of(t, z, y, around_.low[3]);
          for (const Votes* rater : field_->raters) {
            if (rater->digit(begin) != first || !rater->constant(begin, length)) return false;
          }
        }
      }
    }
    labels_.push_back({first, around_});
    slots_[first] = 0;
    return true;
  }

  void read_rater(std::size_t rater) {
    const Votes* votes = field_->raters[rater];
    const std::size_t length = around_.size(3);
    Digit* digits = digits_.data() + rater * around_.voxels();
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      Digit* row = digits + around_.at(t, z, y, around_.low[3]);
      const std::size_t begin = field_->first_of(t, z, y, around_.low[3]);
      if (votes->constant(begin, length)) {
        std::fill_n(row, length, static_cast<Digit>(votes->digit(begin)));
        note(row[0], t, z, y, 0, length);
        return;
      }
      std::fill_n(row, length, Digit{0});
      votes->append(begin, length, 0, row);
      for (std::size_t from = 0, to = 1; from < length; from = to, ++to) {
        while (to < length && row[to] == row[from]) ++to;
        note(row[from], t, z, y, from, to);
      }
    });
  }

  // A run of one digit widens the box of its label.
  void note(std::size_t digit, std::size_t t, std::size_t z, std::size_t y, std::size_t from,
            std::size_t to) {
    if (digit >= field_->labels) return;  // missing
    const Box run{{t, z, y, around_.low[3] + from}, {t + 1, z + 1, y + 1, around_.low[3] + to}};
    if (slots_[digit] == kAbsent) {
      slots_[digit] = labels_.size();
      labels_.push_back({digit, run});
      return;
    }
    Box& box = labels_[slots_[digit]].box;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      box.low[axis] = std::min(box.low[axis], run.low[axis]);
      box.high[axis] = std::max(box.high[axis], run.high[axis]);
    }
  }

  void sum_weights() {
    const std::size_t voxels = around_.voxels();
    sums_.assign(voxels, 0.0);
    for (std::size_t rater = 0; rater < field_->raters.size(); ++rater) {
      const Digit* said = digits(rater);
      const double weight = field_->weights[rater];
      for (std::size_t i = 0; i < voxels; ++i) sums_[i] += said[i] < field_->labels ? weight : 0.0;
    }
    for (std::size_t i = 0; i < voxels; ++i) nobody_ |= inside(i) && !(sums_[i] > 0);
  }

  // Votes for a label in `from`, which starts as zeros: only the label's own box is filled.
  template <class Real>
  void gather(const Label& label, const Box& from, Real* out) {
    const Box box = intersection(label.box, from);
    if (box.empty()) return;
    const std::size_t length = box.size(3);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = around_.at(t, z, y, box.low[3]);
      Real* row = out + from.at(t, z, y, box.low[3]);
      if (alike_) {
        std::fill_n(row, length, static_cast<Real>(unit()));
      } else if (field_->plain) {
        counts_.assign(length, 0);
        for (std::size_t rater = 0; rater < field_->raters.size(); ++rater) {
          count_equal(digits(rater) + at, static_cast<Digit>(label.digit), length, counts_.data());
        }
        for (std::size_t x = 0; x < length; ++x) row[x] = static_cast<Real>(counts_[x]);
      } else {
        for (std::size_t rater = 0; rater < field_->raters.size(); ++rater) {
          const Digit* said = digits(rater) + at;
          const auto weight = static_cast<Real>(field_->weights[rater]);
          for (std::size_t x = 0; x < length; ++x) row[x] += said[x] == label.digit ? weight : Real{0};
        }
      }
      if (scaled() && !alike_) {
        for (std::size_t x = 0; x < length; ++x) {
          const double weight = weight_at(at + x);
          row[x] = weight > 0 ? static_cast<Real>(row[x] / weight) : Real{0};
        }
      }
      if (outside_) {
        for (std::size_t x = 0; x < length; ++x) row[x] = inside_[at + x] ? row[x] : Real{0};
      }
    });
  }

  template <class Real, class Flag>
  void smooth_flags(const Box& to, Real* out, Flag flag) {
    const Box from = twice_.source(to);
    auto& values = scratch<Real>();
    values.resize(from.voxels());
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = around_.at(t, z, y, from.low[3]);
      Real* row = values.data() + from.at(t, z, y, from.low[3]);
      for (std::size_t x = 0; x < from.size(3); ++x) row[x] = flag(at + x) ? Real{1} : Real{0};
    });
    gaussian<Real>().smooth(values, to);
    std::copy_n(values.data(), to.voxels(), out);
  }

  const VoteField* field_;
  Gaussian<float> single_;
  Gaussian<double> twice_;
  Box tile_, around_;
  std::vector<Label> labels_;
  std::vector<std::size_t> slots_;  // by digit: place in labels_
  bool outside_ = false, nobody_ = false, alike_ = false;
  std::vector<Digit> digits_;
  std::vector<std::uint8_t> inside_, counts_;
  std::vector<double> sums_;
  std::vector<float> single_values_;
  std::vector<double> twice_values_;
};

}  // namespace consensus
