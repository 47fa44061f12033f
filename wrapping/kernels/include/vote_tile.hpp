// Reads the votes in and around a tile: finds the labels that occur, the box of each, and its
// smoothed votes.
//
// Only labels that occur are processed, each within its own box. The share of a label at a voxel
// is the weighted sum of its votes divided by the sum of weights of the raters who annotated the
// voxel; at voxels without annotation it is the label's overall frequency. Voxels outside the mask
// are ignored.
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
#include "symbols.hpp"
#include "tiles.hpp"
#include "votes.hpp"

namespace consensus {

// The votes of the whole volume, and the parameters of smoothing.
struct VoteField {
  std::vector<const Votes*> raters;
  std::vector<double> weights;      // one per rater
  double whole_weight;  // sum of `weights`
  bool plain;                       // all weights are 1 and the number of raters fits a byte
  Alphabet alphabet;                // shared by all raters, if there is one
  bool may_miss;                    // whether a rater may be missing at a voxel
  const Votes* mask;                // digit 0: outside; null: all voxels are inside
  std::size_t labels;
  std::vector<double> frequencies;  // one per label
  Extents shape;
  GaussianWeights gaussian;

  std::size_t first_of(std::size_t t, std::size_t z, std::size_t y, std::size_t x) const {
    return ((t * shape[1] + z) * shape[2] + y) * shape[3] + x;
  }
};

// `Vote` is std::uint8_t if the field is `plain`, else double.
template <class Vote>
class VoteTile {
 public:
  struct Label {
    std::size_t digit;
    Box box;            // bounding box of the voxels around the tile with votes for the label
    std::size_t place;  // index of its votes in votes_
  };

  explicit VoteTile(const VoteField& field)
      : field_(&field), single_(field.gaussian, field.shape), twice_(field.gaussian, field.shape),
        slots_(field.labels, kAbsent) {}

  // Reads the votes in the tile, extended by the Gaussian's reach ("around the tile").
  void load(const Box& tile) {
    tile_ = tile;
    around_ = twice_.source(tile);
    for (const Label& label : labels_) slots_[label.digit] = kAbsent;
    labels_.clear();
    outside_ = nobody_ = false;
    read_mask();
    alike_ = !outside_ && read_unanimous();
    if (alike_) return;
    read_raters();
    std::sort(labels_.begin(), labels_.end(),
              [](const Label& a, const Label& b) { return a.digit < b.digit; });
    for (std::size_t k = 0; k < labels_.size(); ++k) slots_[labels_[k].digit] = k;
    if (field_->may_miss) sum_weights();
  }

  const VoteField& field() const { return *field_; }
  const Box& tile() const { return tile_; }
  const Box& around() const { return around_; }
  const std::vector<Label>& labels() const { return labels_; }
  // Returns whether all votes around the tile are for the same label, and every voxel is annotated.
  bool unanimous() const { return labels_.size() == 1 && !nobody_; }
  // Returns whether all raters gave the same label to all voxels around the tile. Then votes() is not available.
  bool alike() const { return alike_; }
  bool has_outside() const { return outside_; }
  // Returns whether some voxel around the tile was not annotated by any rater.
  bool has_nobody() const { return nobody_; }
  std::size_t slot(std::size_t digit) const { return slots_[digit]; }
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

  // Returns the votes for a label, one value per voxel around the tile.
  const Vote* votes(const Label& label) const { return votes_.data() + label.place * around_.voxels(); }
  bool inside(std::size_t around_index) const { return !outside_ || inside_[around_index]; }
  // Returns the sum of weights of the raters who annotated a voxel around the tile.
  double weight_at(std::size_t around_index) const {
    return field_->may_miss && !alike_ ? sums_[around_index] : field_->whole_weight;
  }

  // Returns the divisor that turns smoothed votes into shares. Votes are divided before smoothing only if the
  // sum of weights varies between voxels; then the divisor is 1.
  double unit() const { return scaled() ? 1.0 : field_->whole_weight; }

  // Returns the part of `to` within reach of votes for the label.
  Box reached(const Label& label, const Box& to) const {
    return intersection(grown(label.box, twice_.reach(), field_->shape), to);
  }

  // Returns the smoothed votes for a label in `to`, in units of unit(); the buffer is valid until the next call.
  template <class Real>
  const Real* smooth(const Label& label, const Box& to) {
    const Box voted = intersection(label.box, twice_.source(to));
    auto& values = scratch<Real>();
    values.resize(voted.voxels());
    gather(label, voted, values.data());
    gaussian<Real>().smooth_within(values, voted, Real{0}, to);
    return values.data();
  }

  // Returns the smoothed mask. Precondition: some voxel around the tile is outside the mask.
  template <class Real>
  const Real* smooth_mask(const Box& to) {
    return smooth_flags<Real>(to, [&](std::size_t at) { return inside_[at] != 0; });
  }

  // Returns the smoothed indicator of the voxels without annotation.
  template <class Real>
  const Real* smooth_nobody(const Box& to) {
    return smooth_flags<Real>(to, [&](std::size_t at) { return inside(at) && !(sums_[at] > 0); });
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

  // The most common case: returns true if all raters gave the same label to all voxels around the tile.
  bool read_unanimous() {
    const std::size_t length = around_.size(3);
    const auto& low = around_.low;
    const std::uint32_t first = field_->raters[0]->digit(field_->first_of(low[0], low[1], low[2], low[3]));
    if (first >= field_->labels) return false;
    bool one = true;
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t begin = field_->first_of(t, z, y, low[3]);
      for (std::size_t j = 0; one && j < field_->raters.size(); ++j) {
        one = field_->raters[j]->digit(begin) == first && field_->raters[j]->constant(begin, length);
      }
    });
    if (!one) return false;
    labels_.push_back({first, around_, 0});
    slots_[first] = 0;
    return true;
  }

  void read_raters() {
    if constexpr (sizeof(Vote) == 1) {
      if (field_->alphabet.width == 1) return read_alike<std::uint8_t>();
      if (field_->alphabet.width == 2) return read_alike<std::uint16_t>();
    }
    for (std::size_t rater = 0; rater < field_->raters.size(); ++rater) read_rater(rater);
  }

  // Reads symbols of all raters. Since raters agree at most voxels, first counts the first rater's votes for
  // all of them, then moves the votes that differ. Votes are integers, so the order does not matter.
  template <class Symbol>
  void read_alike() {
    const std::size_t length = around_.size(3), raters = field_->raters.size();
    const auto& digits = field_->alphabet.digits;
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t begin = field_->first_of(t, z, y, around_.low[3]);
      const auto* first = static_cast<const Symbol*>(field_->raters[0]->symbols()) + begin;
      for (std::size_t from = 0, to; from < length; from = to) {
        to = run_end(first, from, length);
        add_run(digits[first[from]], t, z, y, from, to, static_cast<Vote>(raters));
      }
      const std::size_t place = around_.at(t, z, y, around_.low[3]);
      for (std::size_t rater = 1; rater < raters; ++rater) {
        const auto* other = static_cast<const Symbol*>(field_->raters[rater]->symbols()) + begin;
        for (std::size_t from = first_difference(first, other, 0, length), to; from < length;
             from = first_difference(first, other, to, length)) {
          for (to = from + 1; to < length && other[to] == other[from] && first[to] == first[from];) ++to;
          take_run(digits[first[from]], place, from, to);
          add_run(digits[other[from]], t, z, y, from, to, Vote{1});
        }
      }
    });
  }

  // Removes one vote from the voxels of a run.
  void take_run(std::size_t digit, std::size_t place, std::size_t from, std::size_t to) {
    if (digit >= field_->labels) return;  // missing
    Vote* row = votes_.data() + slots_[digit] * around_.voxels() + place;
    for (std::size_t x = from; x < to; ++x) --row[x];
  }

  void read_rater(std::size_t rater) {
    const Votes* votes = field_->raters[rater];
    const auto weight = static_cast<Vote>(field_->weights[rater]);
    const std::size_t length = around_.size(3);
    row_.assign(length, 0);
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t begin = field_->first_of(t, z, y, around_.low[3]);
      if (votes->constant(begin, length)) {
        add_run(votes->digit(begin), t, z, y, 0, length, weight);
        return;
      }
      votes->read(begin, length, row_.data());
      for (std::size_t from = 0, to = 0; from < length; from = to) {
        to = run_end(row_.data(), from, length);
        add_run(row_[from], t, z, y, from, to, weight);
      }
    });
  }

  // Adds one vote to the voxels of a run and widens the box of its label.
  void add_run(std::size_t digit, std::size_t t, std::size_t z, std::size_t y, std::size_t from,
               std::size_t to, Vote weight) {
    if (digit >= field_->labels) return;  // missing
    const Box run{{t, z, y, around_.low[3] + from}, {t + 1, z + 1, y + 1, around_.low[3] + to}};
    if (slots_[digit] == kAbsent) {
      slots_[digit] = labels_.size();
      labels_.push_back({digit, run, labels_.size()});
      votes_.resize(std::max(votes_.size(), labels_.size() * around_.voxels()));
      std::fill_n(votes_.data() + slots_[digit] * around_.voxels(), around_.voxels(), Vote{0});
    }
    Box& box = labels_[slots_[digit]].box;
    for (std::size_t axis = 1; axis < kAxes; ++axis) {
      box.low[axis] = std::min(box.low[axis], run.low[axis]);
      box.high[axis] = std::max(box.high[axis], run.high[axis]);
    }
    Vote* row = votes_.data() + slots_[digit] * around_.voxels() + around_.at(t, z, y, around_.low[3]);
    for (std::size_t x = from; x < to; ++x) row[x] = static_cast<Vote>(row[x] + weight);
  }

  void sum_weights() {
    const std::size_t voxels = around_.voxels();
    sums_.assign(voxels, 0.0);
    row_.resize(around_.size(3));
    for (std::size_t rater = 0; rater < field_->raters.size(); ++rater) add_present(rater);
    for (std::size_t i = 0; i < voxels; ++i) nobody_ |= inside(i) && !(sums_[i] > 0);
  }

  // Weights are summed in the same order of raters as votes, so that the share of a unanimous
  // label is exactly 1.
  void add_present(std::size_t rater) {
    const std::size_t length = around_.size(3);
    const double weight = field_->weights[rater];
    for_each_row(around_, [&](std::size_t t, std::size_t z, std::size_t y) {
      field_->raters[rater]->read(field_->first_of(t, z, y, around_.low[3]), length, row_.data());
      double* row = sums_.data() + around_.at(t, z, y, around_.low[3]);
      for (std::size_t x = 0; x < length; ++x) row[x] += row_[x] < field_->labels ? weight : 0.0;
    });
  }

  // Copies the votes for a label in a part of its box, divided where unit() is 1.
  template <class Real>
  void gather(const Label& label, const Box& box, Real* out) {
    const std::size_t length = box.size(3);
    for_each_row(box, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = around_.at(t, z, y, box.low[3]);
      Real* row = out + box.at(t, z, y, box.low[3]);
      if (alike_) {
        std::fill_n(row, length, static_cast<Real>(unit()));
        return;
      }
      const Vote* said = votes(label) + at;
      for (std::size_t x = 0; x < length; ++x) row[x] = static_cast<Real>(said[x]);
      if (scaled()) {
        for (std::size_t x = 0; x < length; ++x) {
          const double weight = inside(at + x) ? weight_at(at + x) : 0.0;
          row[x] = weight > 0 ? static_cast<Real>(said[x] / weight) : Real{0};
        }
      }
    });
  }

  template <class Real, class Flag>
  const Real* smooth_flags(const Box& to, Flag flag) {
    const Box from = twice_.source(to);
    auto& values = scratch<Real>();
    values.resize(from.voxels());
    for_each_row(from, [&](std::size_t t, std::size_t z, std::size_t y) {
      const std::size_t at = around_.at(t, z, y, from.low[3]);
      Real* row = values.data() + from.at(t, z, y, from.low[3]);
      for (std::size_t x = 0; x < from.size(3); ++x) row[x] = flag(at + x) ? Real{1} : Real{0};
    });
    gaussian<Real>().smooth(values, to);
    return values.data();
  }

  const VoteField* field_;
  Gaussian<float> single_;
  Gaussian<double> twice_;
  Box tile_, around_;
  std::vector<Label> labels_;
  std::vector<std::size_t> slots_;  // by digit: index in labels_
  bool outside_ = false, nobody_ = false, alike_ = false;
  std::vector<Vote> votes_;  // (labels, voxels around the tile)
  std::vector<std::uint16_t> row_;
  std::vector<std::uint8_t> inside_;
  std::vector<double> sums_;
  std::vector<float> single_values_;
  std::vector<double> twice_values_;
};

}  // namespace consensus
