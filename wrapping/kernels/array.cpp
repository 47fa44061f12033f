#include "array.hpp"

#include <cstring>
#include <stdexcept>

namespace consensus {

namespace {

// Returns numpy.empty; cached, since looking it up takes as long as running a small kernel.
nb::handle numpy_empty() {
  static const nb::handle empty = nb::object(nb::module_::import_("numpy").attr("empty")).release();
  return empty;
}

std::string numpy_name(ElementType type) { return type.kind + std::to_string(type.bytes); }

void release(Py_buffer* view) {
  PyBuffer_Release(view);
  delete view;
}

}  // namespace

Array::Array(const std::vector<std::size_t>& shape, ElementType type) {
  nb::list sizes;
  for (const std::size_t size : shape) sizes.append(size);
  load(numpy_empty()(nb::tuple(sizes), numpy_name(type).c_str()));
  if (!view_) throw std::runtime_error("numpy.empty gave no array");
}

bool Array::load(nb::handle source) noexcept {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(source.ptr(), view.get(), PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  view_ = {view.release(), release};
  return true;
}

bool Array::load_as(nb::handle source, ElementType wanted, bool convert) noexcept {
  if (load(source) && type() == wanted && contiguous()) return true;
  if (!convert || source.is_none()) return false;
  try {
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(source);
    return load(array.attr("astype")(numpy_name(wanted).c_str(), "C", "safe"));
  } catch (const nb::python_error&) {
    return false;
  }
}

void* Array::mutable_data() const {
  if (view_->readonly) throw std::invalid_argument("arrays that are written to must be writeable");
  return view_->buf;
}

ElementType Array::type() const {
  const char* format = view_->format ? view_->format : "B";
  if (*format && std::strchr(PY_LITTLE_ENDIAN ? "@=<" : "@=>", *format)) ++format;
  // Formats longer than one letter (byte-swapped, complex or structured) are not supported.
  char kind = '?';
  if (std::strlen(format) == 1) {
    if (std::strchr("BHILQ", *format)) kind = 'u';
    if (std::strchr("bhilq", *format)) kind = 'i';
    if (std::strchr("efdg", *format)) kind = 'f';
  }
  return {kind, itemsize()};
}

std::size_t Array::size() const {
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < ndim(); ++axis) size *= shape(axis);
  return size;
}

}  // namespace consensus
