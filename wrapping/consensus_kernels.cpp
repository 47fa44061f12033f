// The only place where compiled code meets Python. Each binding unpacks arrays into pointers and
// extents, releases the GIL and runs a template of include/ over slabs. Callers are in
// itk_consensus/labels, which check every precondition; the checks here only keep memory safe.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>

#include "box_sum.hpp"
#include "distance.hpp"
#include "distinct.hpp"
#include "encode_direct.hpp"
#include "encode_hashed.hpp"
#include "expand.hpp"
#include "lines.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "row_extents.hpp"
#include "votes.hpp"

namespace py = pybind11;
using namespace consensus;

namespace {

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

std::size_t extent_of(const py::array& array) { return static_cast<std::size_t>(array.size()); }

void require_extent(const py::array& array, std::size_t extent) {
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

// A rater as Python holds it: the arrays stay alive as long as the pointers into them.
struct RaterVotes {
  py::array data;
  std::optional<py::array_t<std::uint8_t, py::array::c_style>> mask;
  std::unique_ptr<Votes> votes;

  RaterVotes(py::array data_, py::array values, const std::vector<std::uint16_t>& digits,
             std::uint16_t other, std::optional<py::array_t<std::uint8_t, py::array::c_style>> mask_,
             std::uint16_t missing)
      : data(std::move(data_)), mask(std::move(mask_)) {
    require_extent(data, extent_of(data));
    require_extent(values, digits.size());
    const std::uint8_t* inside = pointer_or_null(mask, extent_of(data));
    if (!values.dtype().is(data.dtype()) && !values.dtype().equal(data.dtype())) {
      throw std::invalid_argument("values must have the type of data");
    }
    votes = with_label_type(data.dtype(), [&](auto tag) -> std::unique_ptr<Votes> {
      using T = typename decltype(tag)::type;
      const T* first = static_cast<const T*>(values.data());
      return std::make_unique<VotesOf<T>>(static_cast<const T*>(data.data()), inside,
                                          std::vector<T>(first, first + digits.size()), digits,
                                          other, missing);
    });
  }
};

Stack make_stack(const std::vector<const RaterVotes*>& raters, std::uint32_t radix,
                 std::size_t extent) {
  Stack stack{{}, radix, nullptr, nullptr};
  for (const RaterVotes* rater : raters) {
    if (!rater) throw std::invalid_argument("every rater must be a RaterVotes, got None");
    require_extent(rater->data, extent);
    stack.raters.push_back(rater->votes.get());
  }
  return stack;
}

// Every key, and "outside" after them, must have its own count.
void require_codes(std::size_t raters, std::uint32_t radix, bool masked, std::size_t number_of_codes) {
  std::size_t needed = 1;
  for (std::size_t k = 0; k < raters && needed <= number_of_codes; ++k) needed *= radix;
  if (needed + (masked ? 1 : 0) > number_of_codes) {
    throw std::invalid_argument("fewer counts than codes");
  }
}

using Mask = std::optional<py::array_t<std::uint8_t, py::array::c_style>>;
using Strata = std::optional<py::array_t<std::uint32_t, py::array::c_style>>;

py::array_t<std::int64_t> bind_encode_direct(const std::vector<const RaterVotes*>& raters,
                                             std::uint32_t radix, const Mask& mask, py::array codes,
                                             std::size_t number_of_codes, std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  Stack stack = make_stack(raters, radix, extent);
  stack.mask = pointer_or_null(mask, extent);
  require_codes(raters.size(), radix, mask.has_value(), number_of_codes);
  std::vector<std::int64_t> total(number_of_codes, 0);
  with_code_type(codes, [&](auto tag) {
    using Code = typename decltype(tag)::type;
    auto* out = static_cast<Code*>(codes.mutable_data());
    py::gil_scoped_release release;
    const auto slabs = make_slabs(extent, threads);
    std::vector<std::vector<std::int64_t>> counts(slabs.size());
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      counts[k].assign(number_of_codes, 0);
      encode_direct<Code>(stack, slab.begin, slab.end, static_cast<Code>(number_of_codes - 1), out,
                          counts[k].data());
    });
    for (const auto& part : counts) {
      for (std::size_t i = 0; i < number_of_codes; ++i) total[i] += part[i];
    }
  });
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(total.size()), total.data());
}

// One slab's patterns as Python sees them: (begin, end, digits, strata, counts).
template <class Digit, class Encoder>
py::tuple slab_patterns(const Encoder& encoder, Slab slab, std::size_t raters) {
  const auto n = static_cast<py::ssize_t>(encoder.size());
  py::array_t<Digit> digits({n, static_cast<py::ssize_t>(raters)});
  py::array_t<std::uint32_t> strata(n);
  py::array_t<std::int64_t> counts(n);
  for (std::size_t i = 0; i < encoder.size(); ++i) {
    strata.mutable_data()[i] = encoder.decode(i, digits.mutable_data() + i * raters);
    counts.mutable_data()[i] = encoder.count(i);
  }
  return py::make_tuple(slab.begin, slab.end, digits, strata, counts);
}

// None when the patterns outnumber the codes of this width.
py::object bind_encode_hashed(const std::vector<const RaterVotes*>& raters, std::uint32_t radix,
                              const Mask& mask, const Strata& strata, py::array codes,
                              std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  Stack stack = make_stack(raters, radix, extent);
  stack.mask = pointer_or_null(mask, extent);
  stack.strata = pointer_or_null(strata, extent);
  return with_code_type(codes, [&](auto tag) -> py::object {
    using Code = typename decltype(tag)::type;
    auto* out = static_cast<Code*>(codes.mutable_data());
    const auto slabs = make_slabs(extent, threads);
    std::vector<HashedEncoder<Code>> encoders(slabs.size(), HashedEncoder<Code>(stack));
    std::vector<char> fits(slabs.size(), 1);
    {
      py::gil_scoped_release release;
      for_each_slab(slabs, [&](std::size_t k, Slab slab) {
        fits[k] = encoders[k].encode(slab.begin, slab.end, out);
      });
    }
    py::list parts;
    for (std::size_t k = 0; k < slabs.size(); ++k) {
      if (!fits[k]) return py::none();
      parts.append(radix <= 256
                       ? slab_patterns<std::uint8_t>(encoders[k], slabs[k], raters.size())
                       : slab_patterns<std::uint16_t>(encoders[k], slabs[k], raters.size()));
    }
    return parts;
  });
}

void bind_expand(const py::array& codes, const py::array& table, py::array out, std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  require_extent(out, extent);
  require_extent(table, extent_of(table));
  if (table.itemsize() != out.itemsize()) throw std::invalid_argument("table and out differ in width");
  with_code_type(codes, [&](auto code_tag) {
    with_value_width(table, [&](auto value_tag) {
      using Code = typename decltype(code_tag)::type;
      using Value = typename decltype(value_tag)::type;
      const auto* in = static_cast<const Code*>(codes.data());
      const auto* values = static_cast<const Value*>(table.data());
      auto* to = static_cast<Value*>(out.mutable_data());
      py::gil_scoped_release release;
      prefer_huge_pages(to, extent * sizeof(Value));
      for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) {
        expand(in, slab.begin, slab.end, values, to);
      });
    });
  });
}

void bind_renumber(py::array codes, std::size_t begin, std::size_t end, const py::array& table,
                   std::size_t threads) {
  require_extent(codes, extent_of(codes));
  require_extent(table, extent_of(table));
  if (table.itemsize() != codes.itemsize() || begin > end || end > extent_of(codes)) {
    throw std::invalid_argument("table must have the codes' width and the range lie inside");
  }
  with_code_type(codes, [&](auto tag) {
    using Code = typename decltype(tag)::type;
    auto* out = static_cast<Code*>(codes.mutable_data()) + begin;
    const auto* values = static_cast<const Code*>(table.data());
    py::gil_scoped_release release;
    for_each_slab(make_slabs(end - begin, threads), [&](std::size_t, Slab slab) {
      renumber(out, slab.begin, slab.end, values);
    });
  });
}

// The values, unsorted and with repeats between slabs; None when more than `limit` in a slab.
py::object bind_distinct(const py::array& data, std::size_t limit, std::size_t threads) {
  const std::size_t extent = extent_of(data);
  require_extent(data, extent);
  return with_label_type(data.dtype(), [&](auto tag) -> py::object {
    using T = typename decltype(tag)::type;
    const auto* in = static_cast<const T*>(data.data());
    const auto slabs = make_slabs(extent, threads);
    std::vector<DistinctValues<T>> found(slabs.size());
    std::vector<char> fits(slabs.size(), 1);
    {
      py::gil_scoped_release release;
      for_each_slab(slabs, [&](std::size_t k, Slab slab) {
        fits[k] = found[k].scan(in, slab.begin, slab.end, limit);
      });
    }
    std::vector<T> values;
    for (std::size_t k = 0; k < slabs.size(); ++k) {
      if (!fits[k]) return py::none();
      const auto part = found[k].values();
      values.insert(values.end(), part.begin(), part.end());
    }
    return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
  });
}

py::tuple bind_row_extents(const py::array& codes, std::size_t length,
                           const py::array_t<std::uint8_t, py::array::c_style>& flags,
                           std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  if (length == 0 || extent % length) throw std::invalid_argument("rows must divide the extent");
  const std::size_t rows = extent / length;
  py::array_t<std::int64_t> first(static_cast<py::ssize_t>(rows));
  py::array_t<std::int64_t> last(static_cast<py::ssize_t>(rows));
  with_code_type(codes, [&](auto tag) {
    using Code = typename decltype(tag)::type;
    const auto* in = static_cast<const Code*>(codes.data());
    const auto* flagged = flags.data();
    auto* low = first.mutable_data();
    auto* high = last.mutable_data();
    const std::size_t smallest = kSmallestSlab / std::min(length, kSmallestSlab);
    py::gil_scoped_release release;
    for_each_slab(make_slabs(rows, threads, smallest), [&](std::size_t, Slab slab) {
      row_extents(in, length, slab.begin, slab.end, flagged, low, high);
    });
  });
  return py::make_tuple(first, last);
}

template <class F>
void with_real_type(const py::array& values, F f) {
  if (values.dtype().kind() != 'f') throw std::invalid_argument("values must be floating");
  if (values.itemsize() == 4) return f(Tag<float>{});
  if (values.itemsize() == 8) return f(Tag<double>{});
  throw std::invalid_argument("values must have 4 or 8 bytes");
}

std::vector<std::size_t> shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}

void require_axes(const py::array& array, std::size_t axes) {
  if (static_cast<std::size_t>(array.ndim()) != axes) {
    throw std::invalid_argument("one number per axis wanted");
  }
}

// A radius of 0 leaves its axis alone.
void bind_box_sum(py::array volume, const std::vector<std::size_t>& radii, std::size_t threads) {
  require_extent(volume, extent_of(volume));
  require_axes(volume, radii.size());
  const auto shape = shape_of(volume);
  with_real_type(volume, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    auto* values = static_cast<Value*>(volume.mutable_data());
    py::gil_scoped_release release;
    for (std::size_t axis = 0; axis < radii.size(); ++axis) {
      if (radii[axis] > 0) box_sum_axis(values, lines_along(shape, axis), radii[axis], threads);
    }
  });
}

// A size of 0 makes an axis hold independent volumes.
void bind_signed_distance(const py::array_t<std::uint8_t, py::array::c_style>& inside,
                          const std::vector<double>& sizes, py::array out, std::size_t threads) {
  const std::size_t extent = extent_of(inside);
  require_extent(out, extent);
  require_axes(inside, sizes.size());
  const auto shape = shape_of(inside);
  with_real_type(out, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const auto* sides = inside.data();
    auto* values = static_cast<Real*>(out.mutable_data());
    py::gil_scoped_release release;
    std::fill_n(values, extent, std::numeric_limits<Real>::infinity());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (sizes[axis] > 0) {
        distance_axis(sides, lines_along(shape, axis), sizes[axis], threads, values);
      }
    }
    for_each_slab(make_slabs(extent, threads), [&](std::size_t, Slab slab) {
      sign_roots(sides, slab.begin, slab.end, values);
    });
  });
}

}  // namespace

PYBIND11_MODULE(_kernels, m) {
  m.doc() = "Compiled kernels of itk_consensus; see wrapping/README.md.";
  py::class_<RaterVotes>(m, "RaterVotes")
      .def(py::init<py::array, py::array, const std::vector<std::uint16_t>&, std::uint16_t, Mask,
                    std::uint16_t>(),
           py::arg("data"), py::arg("values"), py::arg("digits"), py::arg("other"),
           py::arg("mask"), py::arg("missing"));
  m.def("encode_direct", &bind_encode_direct, py::arg("raters"), py::arg("radix"), py::arg("mask"),
        py::arg("codes"), py::arg("number_of_codes"), py::arg("threads"));
  m.def("encode_hashed", &bind_encode_hashed, py::arg("raters"), py::arg("radix"), py::arg("mask"),
        py::arg("strata"), py::arg("codes"), py::arg("threads"));
  m.def("expand", &bind_expand, py::arg("codes"), py::arg("table"), py::arg("out"), py::arg("threads"));
  m.def("renumber", &bind_renumber, py::arg("codes"), py::arg("begin"), py::arg("end"),
        py::arg("table"), py::arg("threads"));
  m.def("distinct", &bind_distinct, py::arg("data"), py::arg("limit"), py::arg("threads"));
  m.def("row_extents", &bind_row_extents, py::arg("codes"), py::arg("length"), py::arg("flags"),
        py::arg("threads"));
  m.def("box_sum", &bind_box_sum, py::arg("volume"), py::arg("radii"), py::arg("threads"));
  m.def("signed_distance", &bind_signed_distance, py::arg("inside"), py::arg("sizes"), py::arg("out"),
        py::arg("threads"));
}
