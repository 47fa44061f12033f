// What every binding file shares: from element types to templates, and the checks that keep memory
// safe. Each bind_*.cpp unpacks arrays into pointers and extents, releases the GIL and runs a
// template of include/ over slabs; callers are in itk_consensus/labels, which check preconditions.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace consensus {

namespace py = pybind11;

using Mask = std::optional<py::array_t<std::uint8_t, py::array::c_style>>;
using Strata = std::optional<py::array_t<std::uint32_t, py::array::c_style>>;

template <class T>
struct Tag {
  using type = T;
};

// Calls f(Tag<T>) with the C++ type of a native-endian integer or floating dtype.
template <class F>
auto with_label_type(const py::dtype& dtype, F f) {
  const char kind = dtype.kind();
  const auto size = dtype.itemsize();
  if (kind == 'u' && size == 1) return f(Tag<std::uint8_t>{});
  if (kind == 'i' && size == 1) return f(Tag<std::int8_t>{});
  if (kind == 'u' && size == 2) return f(Tag<std::uint16_t>{});
  if (kind == 'i' && size == 2) return f(Tag<std::int16_t>{});
  if (kind == 'u' && size == 4) return f(Tag<std::uint32_t>{});
  if (kind == 'i' && size == 4) return f(Tag<std::int32_t>{});
  if (kind == 'u' && size == 8) return f(Tag<std::uint64_t>{});
  if (kind == 'i' && size == 8) return f(Tag<std::int64_t>{});
  if (kind == 'f' && size == 4) return f(Tag<float>{});
  if (kind == 'f' && size == 8) return f(Tag<double>{});
  throw std::invalid_argument("unsupported element type");
}

template <class F>
auto with_code_type(const py::array& codes, F f) {
  if (codes.dtype().kind() != 'u') throw std::invalid_argument("codes must be unsigned");
  if (codes.itemsize() == 1) return f(Tag<std::uint8_t>{});
  if (codes.itemsize() == 2) return f(Tag<std::uint16_t>{});
  if (codes.itemsize() == 4) return f(Tag<std::uint32_t>{});
  throw std::invalid_argument("codes must have 1, 2 or 4 bytes");
}

// Values are moved as bits, so one unsigned type per width serves every element type.
template <class F>
auto with_value_width(const py::array& values, F f) {
  if (values.itemsize() == 1) return f(Tag<std::uint8_t>{});
  if (values.itemsize() == 2) return f(Tag<std::uint16_t>{});
  if (values.itemsize() == 4) return f(Tag<std::uint32_t>{});
  if (values.itemsize() == 8) return f(Tag<std::uint64_t>{});
  throw std::invalid_argument("values must have 1, 2, 4 or 8 bytes");
}

inline std::size_t extent_of(const py::array& array) { return static_cast<std::size_t>(array.size()); }

inline void require_extent(const py::array& array, std::size_t extent) {
  if (!(array.flags() & py::array::c_style) || extent_of(array) != extent) {
    throw std::invalid_argument("arrays must be contiguous and equally long");
  }
}

template <class T>
const T* pointer_or_null(const std::optional<py::array_t<T, py::array::c_style>>& array,
                         std::size_t extent) {
  if (!array) return nullptr;
  require_extent(*array, extent);
  return array->data();
}

template <class F>
void with_real_type(const py::array& values, F f) {
  if (values.dtype().kind() != 'f') throw std::invalid_argument("values must be floating");
  if (values.itemsize() == 4) return f(Tag<float>{});
  if (values.itemsize() == 8) return f(Tag<double>{});
  throw std::invalid_argument("values must have 4 or 8 bytes");
}

inline std::vector<std::size_t> shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}

inline void require_axes(const py::array& array, std::size_t axes) {
  if (static_cast<std::size_t>(array.ndim()) != axes) {
    throw std::invalid_argument("one number per axis wanted");
  }
}

}  // namespace consensus
