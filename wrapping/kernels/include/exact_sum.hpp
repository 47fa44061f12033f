// Sums of real numbers that do not depend on the order or grouping of the terms.
//
// A number of magnitude up to 1 is truncated to a multiple of 2^-86 and split into two integers,
// which add and multiply exactly. Thus n equal voxels have bitwise the same sum whether they are
// added one by one, in stretches, in chunks, or as one table row with a count of n.
#pragma once

#include <cstddef>
#include <cstdint>

namespace consensus {

// The number of terms that the integers of a `SplitReal` can accumulate without a carry.
constexpr std::size_t kMostSplit = std::size_t{1} << 18;

struct SplitReal {
  std::int64_t coarse = 0;  // in units of 2^-44
  std::int64_t fine = 0;    // in units of 2^-86

  // Precondition: |value| <= 1.
  static SplitReal of(double value) {
    const double scaled = value * 0x1p44;
    const auto coarse = static_cast<std::int64_t>(scaled);
    return {coarse, static_cast<std::int64_t>((scaled - static_cast<double>(coarse)) * 0x1p42)};
  }

  // Returns 1 - *this if `flip`, else *this; without a branch, which would be unpredictable.
  SplitReal flipped(bool flip) const {
    const auto once = static_cast<std::int64_t>(flip);
    return {(once << 44) + (1 - 2 * once) * coarse, (1 - 2 * once) * fine};
  }

  SplitReal times(std::int64_t count) const { return {count * coarse, count * fine}; }

  void add(const SplitReal& other) {
    coarse += other.coarse;
    fine += other.fine;
  }
};

class ExactSum {
 public:
  void add(const SplitReal& sum) {
    fine_ += sum.fine;
    coarse_ += sum.coarse;
    carry();
  }
  void add(const ExactSum& other) {
    whole_ += other.whole_;
    add(SplitReal{other.coarse_, other.fine_});
  }
  ExactSum subtracted_from(std::int64_t count) const {
    ExactSum rest;
    rest.whole_ = count - whole_;
    rest.add(SplitReal{-coarse_, -fine_});
    return rest;
  }
  double value() const {
    // Adding -1 and a fraction close to 1 would lose the lowest bits.
    if (whole_ < 0) return -subtracted_from(0).value();
    const double part = static_cast<double>(coarse_) * 0x1p-44 + static_cast<double>(fine_) * 0x1p-86;
    return static_cast<double>(whole_) + part;
  }

 private:
  // Relies on the arithmetic right shift of negative numbers, which all supported compilers implement.
  void carry() {
    coarse_ += fine_ >> 42;
    fine_ &= (std::int64_t{1} << 42) - 1;
    whole_ += coarse_ >> 44;
    coarse_ &= (std::int64_t{1} << 44) - 1;
  }
  std::int64_t whole_ = 0, coarse_ = 0, fine_ = 0;
};

}  // namespace consensus
