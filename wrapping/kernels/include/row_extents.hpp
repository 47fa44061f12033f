// Finds the first and the last flagged voxel of each row, from which bounding boxes are computed.
//
// Preconditions (checked in Python): every code is below the length of `flags`; `codes` holds
// end * length codes; `first` and `last` hold one entry per row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace consensus {

// Rows without a flagged voxel get first = length, last = -1.
template <class Code>
void row_extents(const Code* codes, std::size_t length, std::size_t begin, std::size_t end,
                 const std::uint8_t* flags, std::int64_t* first, std::int64_t* last) {
  for (std::size_t row = begin; row < end; ++row) {
    const Code* line = codes + row * length;
    std::size_t low = 0;
    while (low < length && !flags[line[low]]) ++low;
    std::size_t high = length;
    while (high > low && !flags[line[high - 1]]) --high;
    first[row] = static_cast<std::int64_t>(low);
    last[row] = low == length ? -1 : static_cast<std::int64_t>(high) - 1;
  }
}

}  // namespace consensus
