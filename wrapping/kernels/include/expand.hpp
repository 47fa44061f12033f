// Replaces every voxel's code with a value from a table or, in place, with another code.
//
// Precondition (checked in Python): every code is below the length of the table.
#pragma once

#include <cstddef>

namespace consensus {

template <class Code, class Value>
void expand(const Code* codes, std::size_t begin, std::size_t end, const Value* table, Value* out) {
  for (std::size_t k = begin; k < end; ++k) out[k] = table[codes[k]];
}

template <class Code>
void renumber(Code* codes, std::size_t begin, std::size_t end, const Code* table) {
  for (std::size_t k = begin; k < end; ++k) codes[k] = table[codes[k]];
}

}  // namespace consensus
