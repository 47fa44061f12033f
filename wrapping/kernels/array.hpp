// NumPy arrays for kernels: a pointer, a shape and an element type, accessed through Python's
// buffer protocol, which is part of the stable ABI. Returned arrays are created by numpy.empty.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace consensus {

namespace nb = nanobind;

// NumPy's letter for the kind of element (u, i or f; ? if unsupported), and its size in bytes.
struct ElementType {
  char kind;
  std::size_t bytes;

  bool operator==(const ElementType& other) const { return kind == other.kind && bytes == other.bytes; }
  bool operator!=(const ElementType& other) const { return !(*this == other); }
};

template <class T>
constexpr ElementType element_type() {
  return {std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u', sizeof(T)};
}

// An array of any type. Copies share the buffer; the last copy must be destroyed with the GIL held.
class Array {
 public:
  Array() = default;
  Array(const std::vector<std::size_t>& shape, ElementType type);

  // Returns false, without setting a Python error, for objects without a buffer.
  bool load(nb::handle source) noexcept;
  // As `load`, but if `convert` is true and NumPy considers the cast safe, copies an array of
  // another type or order.
  bool load_as(nb::handle source, ElementType type, bool convert) noexcept;
  nb::handle object() const { return view_->obj; }

  const void* data() const { return view_->buf; }
  void* mutable_data() const;
  ElementType type() const;
  std::size_t itemsize() const { return static_cast<std::size_t>(view_->itemsize); }
  std::size_t ndim() const { return static_cast<std::size_t>(view_->ndim); }
  std::size_t shape(std::size_t axis) const { return static_cast<std::size_t>(view_->shape[axis]); }
  std::size_t size() const;
  bool contiguous() const { return PyBuffer_IsContiguous(view_.get(), 'C') != 0; }

 private:
  std::shared_ptr<Py_buffer> view_;
};

// A contiguous array of elements of type T.
template <class T>
class ArrayOf : public Array {
 public:
  ArrayOf() = default;
  explicit ArrayOf(std::size_t length) : ArrayOf(std::vector<std::size_t>{length}) {}
  explicit ArrayOf(const std::vector<std::size_t>& shape) : Array(shape, element_type<T>()) {}

  const T* data() const { return static_cast<const T*>(Array::data()); }
  T* mutable_data() const { return static_cast<T*>(Array::mutable_data()); }
};

}  // namespace consensus

namespace nanobind::detail {

template <>
struct type_caster<consensus::Array> {
  NB_TYPE_CASTER(consensus::Array, const_name("numpy.ndarray"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept { return value.load(source); }
  static handle from_cpp(const consensus::Array& array, rv_policy, cleanup_list*) noexcept {
    return array.object().inc_ref();
  }
};

template <class T>
struct type_caster<consensus::ArrayOf<T>> {
  NB_TYPE_CASTER(consensus::ArrayOf<T>, const_name("numpy.ndarray"))

  bool from_python(handle source, std::uint32_t flags, cleanup_list*) noexcept {
    return value.load_as(source, consensus::element_type<T>(), flags & cast_flags::convert);
  }
  static handle from_cpp(const consensus::ArrayOf<T>& array, rv_policy, cleanup_list*) noexcept {
    return array.object().inc_ref();
  }
};

}  // namespace nanobind::detail
