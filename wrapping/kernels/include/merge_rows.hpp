// Merges tables of patterns into one whose rows are distinct and sorted by digits, then by stratum.
//
// Sort keys are as many leading digits as fit in 64 bits; the full rows are compared only if these are
// equal. This needs 16 bytes per row in addition to the tables.
//
// Preconditions (checked in Python): all tables have the same number of raters; each has fewer than 2^32
// rows; there are fewer than 2^32 tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace consensus {

template <class Digit>
struct TablePart {
  const Digit* digits;  // [row][rater]
  const std::uint32_t* strata;
  const std::int64_t* counts;
  std::size_t rows;
};

template <class Digit>
class MergedRows {
 public:
  MergedRows(std::vector<TablePart<Digit>> parts, std::size_t raters)
      : parts_(std::move(parts)), raters_(raters) {
    std::size_t total = 0;
    for (const auto& part : parts_) total += part.rows;
    rows_.reserve(total);
    measure_digits();
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
      for (std::size_t row = 0; row < parts_[part].rows; ++row) {
        rows_.push_back({prefix(parts_[part].digits + row * raters_), part, static_cast<std::uint32_t>(row)});
      }
    }
    std::size_t compared = 0;
    std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
      if (++compared % kPiece == 0) checkpoint();
      return compare(a, b) < 0;
    });
    for (std::size_t i = 0; i < rows_.size(); ++i) size_ += is_new(i);
  }

  std::size_t size() const { return size_; }

  // Writes the merged table; ranks[part][row] becomes the index of the row in it.
  void write(Digit* digits, std::uint32_t* strata, std::int64_t* counts,
             const std::vector<std::int64_t*>& ranks) const {
    std::size_t rank = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const auto& part = parts_[row.part];
      if (is_new(i)) {
        rank += i > 0;
        std::copy_n(part.digits + row.row * raters_, raters_, digits + rank * raters_);
        strata[rank] = part.strata[row.row];
        counts[rank] = 0;
      }
      counts[rank] += part.counts[row.row];
      ranks[row.part][row.row] = static_cast<std::int64_t>(rank);
    }
  }

 private:
  struct Row {
    std::uint64_t prefix;
    std::uint32_t part;
    std::uint32_t row;
  };

  void measure_digits() {
    Digit any = 0;
    for (const auto& part : parts_) {
      for (std::size_t i = 0; i < part.rows * raters_; ++i) any = static_cast<Digit>(any | part.digits[i]);
    }
    for (bits_ = 1; any >> bits_; ++bits_) {}
    in_prefix_ = std::min(raters_, 64 / bits_);
  }

  std::uint64_t prefix(const Digit* digits) const {
    std::uint64_t key = 0;
    for (std::size_t j = 0; j < in_prefix_; ++j) key = key << bits_ | digits[j];
    return key;
  }

  int compare(const Row& a, const Row& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
    const auto& first = parts_[a.part];
    const auto& second = parts_[b.part];
    const Digit* x = first.digits + a.row * raters_;
    const Digit* y = second.digits + b.row * raters_;
    for (std::size_t j = in_prefix_; j < raters_; ++j) {
      if (x[j] != y[j]) return x[j] < y[j] ? -1 : 1;
    }
    const std::uint32_t s = first.strata[a.row], t = second.strata[b.row];
    return s == t ? 0 : s < t ? -1 : 1;
  }

  bool is_new(std::size_t i) const { return i == 0 || compare(rows_[i - 1], rows_[i]) != 0; }

  std::vector<TablePart<Digit>> parts_;
  std::size_t raters_;
  std::size_t bits_ = 1;  // enough for every digit
  std::size_t in_prefix_ = 0;
  std::vector<Row> rows_;
  std::size_t size_ = 0;
};

}  // namespace consensus
