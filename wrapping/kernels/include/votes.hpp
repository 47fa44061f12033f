// Interface to the votes of one rater, whatever their storage type, as digits 0 .. radix - 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace consensus {

// Returns whether all values are equal. Compares the array with itself shifted by one value, since
// memcmp uses the widest registers.
template <class T>
bool is_constant(const T* data, std::size_t n) {
  return std::memcmp(data, data + 1, (n - 1) * sizeof(T)) == 0;
}

class Votes {
 public:
  virtual ~Votes() = default;
  virtual bool constant(std::size_t begin, std::size_t n) const = 0;
  virtual std::uint32_t digit(std::size_t at) const = 0;
  // digits[k] = digit(begin + k).
  virtual void read(std::size_t begin, std::size_t n, std::uint16_t* digits) const = 0;
  // Bytes of a symbol if votes are stored as integers that a table maps to digits; else 0.
  virtual std::size_t symbol_width() const = 0;
  virtual const void* symbols() const = 0;
  // The digit of every symbol; the index is the symbol as an unsigned integer.
  virtual std::vector<std::uint16_t> symbol_table() const = 0;
  // keys[k] = keys[k] * radix + digit(begin + k), for each width of keys that the encoders use.
  virtual void append(std::size_t begin, std::size_t n, std::uint32_t radix, std::uint8_t* keys) const = 0;
  virtual void append(std::size_t begin, std::size_t n, std::uint32_t radix, std::uint16_t* keys) const = 0;
  virtual void append(std::size_t begin, std::size_t n, std::uint32_t radix, std::uint32_t* keys) const = 0;
};

}  // namespace consensus
