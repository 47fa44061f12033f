// Helpers for all bindings: dispatch from element types to templates, and the checks that ensure
// memory safety. Each bind_*.cpp unpacks arrays into pointers and extents, releases the GIL and
// runs a template of include/ over slabs. The Python callers, in itk_consensus/votes and space,
// check preconditions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "array.hpp"

namespace consensus {

using Mask = std::optional<ArrayOf<std::uint8_t>>;
using Strata = std::optional<ArrayOf<std::uint32_t>>;

template <class T>
struct Tag {
  using type = T;
};

// Calls f(Tag<T>) for native-endian integer or floating-point elements. Labels are only compared for
// equality, so signed integers are treated as unsigned ones of the same width. Floating-point labels are
// not compared as bits, since -0.0 equals 0.0.
template <class F>
auto with_label_type(const Array& array, F f) {
  const auto [kind, bytes] = array.type();
  if (kind == 'f' && bytes == 4) return f(Tag<float>{});
  if (kind == 'f' && bytes == 8) return f(Tag<double>{});
  if (kind != 'u' && kind != 'i') throw std::invalid_argument("unsupported element type");
  if (bytes == 1) return f(Tag<std::uint8_t>{});
  if (bytes == 2) return f(Tag<std::uint16_t>{});
  if (bytes == 4) return f(Tag<std::uint32_t>{});
  return f(Tag<std::uint64_t>{});
}

template <class F>
auto with_code_type(const Array& codes, F f) {
  if (codes.type().kind != 'u') throw std::invalid_argument("codes must be unsigned");
  if (codes.itemsize() == 1) return f(Tag<std::uint8_t>{});
  if (codes.itemsize() == 2) return f(Tag<std::uint16_t>{});
  if (codes.itemsize() == 4) return f(Tag<std::uint32_t>{});
  throw std::invalid_argument("codes must have 1, 2 or 4 bytes");
}

// Calls f(Tag<T>) with the unsigned type of the elements' width. Values are only copied, so this
// works for all types.
template <class F>
auto with_value_width(const Array& values, F f) {
  if (values.itemsize() == 1) return f(Tag<std::uint8_t>{});
  if (values.itemsize() == 2) return f(Tag<std::uint16_t>{});
  if (values.itemsize() == 4) return f(Tag<std::uint32_t>{});
  if (values.itemsize() == 8) return f(Tag<std::uint64_t>{});
  throw std::invalid_argument("values must have 1, 2, 4 or 8 bytes");
}

inline std::size_t extent_of(const Array& array) { return array.size(); }

inline void require_extent(const Array& array, std::size_t extent) {
  if (!array.contiguous() || extent_of(array) != extent) {
    throw std::invalid_argument("arrays must be contiguous and equally long");
  }
}

template <class T>
const T* pointer_or_null(const std::optional<ArrayOf<T>>& array, std::size_t extent) {
  if (!array) return nullptr;
  require_extent(*array, extent);
  return array->data();
}

template <class F>
void with_real_type(const Array& values, F f) {
  if (values.type().kind != 'f') throw std::invalid_argument("values must be floating");
  if (values.itemsize() == 4) return f(Tag<float>{});
  if (values.itemsize() == 8) return f(Tag<double>{});
  throw std::invalid_argument("values must have 4 or 8 bytes");
}

inline std::vector<std::size_t> shape_of(const Array& array) {
  std::vector<std::size_t> shape;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(array.shape(axis));
  return shape;
}

inline void require_axes(const Array& array, std::size_t axes) {
  if (array.ndim() != axes) {
    throw std::invalid_argument("one number per axis wanted");
  }
}

}  // namespace consensus
