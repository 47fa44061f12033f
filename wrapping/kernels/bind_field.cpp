// Bindings of STAPLE's Potts field: candidates of patterns, beliefs of voxels, and their sums.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bindings.hpp"
#include "potts_field.hpp"
#include "slab_sums.hpp"

namespace consensus {

namespace {

// The arrays of LabelLists: ends, labels, values.
template <class Value>
using ListArrays = std::tuple<ArrayOf<std::int64_t>, ArrayOf<std::uint16_t>, ArrayOf<Value>>;

template <class Value>
LabelLists<Value> checked(const ListArrays<Value>& arrays, std::size_t number) {
  const auto& [ends, labels, values] = arrays;
  require_extent(ends, number + 1);
  require_extent(labels, static_cast<std::size_t>(ends.data()[number]));
  require_extent(values, extent_of(labels));
  return {ends.data(), labels.data(), values.data()};
}

// The arrays of ColourRows: columns, row_begin, patterns.
using ColourArrays = std::tuple<ArrayOf<std::uint32_t>, ArrayOf<std::int64_t>, ArrayOf<std::uint32_t>>;

// Owns the arrays that a grid points into.
class Grid {
 public:
  Grid(const Extents& shape, const std::array<double, kAxes>& side, Array codes, ArrayOf<std::int32_t> settled_label,
       std::size_t labels, const std::vector<ColourArrays>& colours)
      : shape_(shape), side_(side), codes_(codes), settled_label_(settled_label), labels_(labels), arrays_(colours) {
    require_extent(codes, shape[0] * shape[1] * shape[2] * shape[3]);
    if (colours.size() != 2) throw std::invalid_argument("two colours wanted");
    for (const auto& [columns, row_begin, patterns] : colours) {
      require_extent(row_begin, rows() + 1);
      require_extent(patterns, extent_of(columns));
      colours_.push_back({columns.data(), row_begin.data(), patterns.data(), extent_of(columns)});
    }
  }

  std::size_t rows() const { return shape_[0] * shape_[1] * shape_[2]; }
  const ColourRows& colour(std::size_t which) const { return colours_.at(which); }

  // Calls f(FieldGrid) with the type of the codes.
  template <class F>
  auto with_codes(F f) const {
    return with_code_type(codes_, [&](auto tag) {
      using Code = typename decltype(tag)::type;
      return f(FieldGrid<Code>{shape_, side_, static_cast<const Code*>(codes_.data()), settled_label_.data(), labels_});
    });
  }

 private:
  Extents shape_;
  std::array<double, kAxes> side_;
  Array codes_;
  ArrayOf<std::int32_t> settled_label_;
  std::size_t labels_;
  std::vector<ColourArrays> arrays_;
  std::vector<ColourRows> colours_;
};

// Concatenates parts and frees each part after it is copied.
template <class Value>
class Joined {
 public:
  Joined(std::size_t lists, std::size_t entries)
      : ends_(lists + 1), labels_(entries), values_(entries), end_(ends_.mutable_data()),
        label_(labels_.mutable_data()), value_(values_.mutable_data()) {
    *end_ = 0;
  }
  void add(std::vector<std::uint32_t>& sizes, std::vector<std::uint16_t>& labels, std::vector<Value>& values) {
    for (const std::uint32_t size : sizes) {
      end_[1] = end_[0] + size;
      ++end_;
    }
    label_ = std::copy(labels.begin(), labels.end(), label_);
    value_ = std::copy(values.begin(), values.end(), value_);
    std::vector<std::uint32_t>().swap(sizes);
    std::vector<std::uint16_t>().swap(labels);
    std::vector<Value>().swap(values);
  }
  ListArrays<Value> arrays() const { return {ends_, labels_, values_}; }

 private:
  ArrayOf<std::int64_t> ends_;
  ArrayOf<std::uint16_t> labels_;
  ArrayOf<Value> values_;
  std::int64_t* end_;
  std::uint16_t* label_;
  Value* value_;
};

// Divides rows into slabs, depending only on the number of rows; slabs are small, so their lists
// are small, too.
std::vector<Slab> row_slabs(std::size_t rows) { return make_slabs(rows, 256, 16); }

std::pair<ListArrays<float>, std::vector<double>> run_sweep(const Grid& grid, std::size_t colour,
                                                            const ListArrays<float>& others,
                                                            const ListArrays<double>& candidates,
                                                            const ArrayOf<double>& counted, double weight, double cut,
                                                            std::size_t threads) {
  const ColourRows &mine = grid.colour(colour), &theirs = grid.colour(1 - colour);
  const auto beliefs = checked(others, theirs.number);
  const FieldRule rule{checked(candidates, extent_of(counted)), counted.data(), weight, cut};
  const auto slabs = row_slabs(grid.rows());
  std::vector<FieldPart> parts(slabs.size());
  {
    nb::gil_scoped_release release;
    grid.with_codes([&](const auto& field) {
      share_slabs(slabs, threads,
                  [&](std::size_t k, Slab rows) { believe(field, mine, theirs, beliefs, rule, rows, parts[k]); });
    });
  }
  std::size_t entries = 0;
  for (const FieldPart& part : parts) entries += part.labels.size();
  Joined<float> joined(mine.number, entries);
  std::vector<double> sums(4, 0.0);
  for (FieldPart& part : parts) {
    joined.add(part.sizes, part.labels, part.values);
    sums[0] += part.agreement;
    sums[1] += part.settled;
    sums[2] += part.entropy;
    sums[3] += part.votes;
  }
  return {joined.arrays(), sums};
}

std::pair<double, double> run_slope(const Grid& grid, std::size_t colour, const ListArrays<float>& own,
                                    const ListArrays<float>& others, double weight, std::size_t threads) {
  const ColourRows &mine = grid.colour(colour), &theirs = grid.colour(1 - colour);
  const auto my_beliefs = checked(own, mine.number), beliefs = checked(others, theirs.number);
  const auto slabs = row_slabs(grid.rows());
  std::vector<WeightSlope> parts(slabs.size());
  nb::gil_scoped_release release;
  grid.with_codes([&](const auto& field) {
    share_slabs(slabs, threads, [&](std::size_t k, Slab rows) {
      parts[k] = weight_slope(field, mine, my_beliefs, theirs, beliefs, weight, rows);
    });
  });
  WeightSlope sums;
  for (const WeightSlope& part : parts) {
    sums.slope += part.slope;
    sums.curvature += part.curvature;
  }
  return {sums.slope, sums.curvature};
}

// Calls f with a PatternRows of the type of the digits: one or two bytes.
template <class F>
auto with_digits(const Array& digits, std::size_t labels, F f) {
  require_axes(digits, 2);
  require_extent(digits, extent_of(digits));
  return with_code_type(digits, [&](auto tag) {
    using Digit = typename decltype(tag)::type;
    return f(PatternRows<Digit>{static_cast<const Digit*>(digits.data()), digits.shape(0), digits.shape(1), labels,
                                labels, 1});
  });
}

ListArrays<double> run_candidates(const Array& digits, const ArrayOf<double>& log_theta,
                                  const ArrayOf<double>& log_prior, const Strata& prior_rows,
                                  const ArrayOf<std::uint8_t>& open, double reach, double least, std::size_t threads) {
  require_axes(log_theta, 3);
  require_axes(log_prior, 2);
  const std::size_t labels = log_theta.shape(2), patterns = digits.shape(0);
  require_extent(log_theta, digits.shape(1) * labels * labels);
  require_extent(open, patterns);
  require_extent(log_prior, log_prior.shape(0) * labels);
  const std::uint32_t* row = pointer_or_null(prior_rows, patterns);
  struct Part {
    std::vector<std::uint32_t> sizes;
    std::vector<std::uint16_t> labels;
    std::vector<double> values;
  };
  const auto slabs = make_slabs(patterns, 64, 256);
  std::vector<Part> parts(slabs.size());
  {
    nb::gil_scoped_release release;
    with_digits(digits, labels, [&](const auto& rows) {
      share_slabs(slabs, threads, [&](std::size_t k, Slab slab) {
        std::vector<double> score(labels);
        Part& part = parts[k];
        for (std::size_t p = slab.begin; p < slab.end; ++p) {
          const std::size_t before = part.labels.size();
          const double* prior = log_prior.data() + (row ? row[p] : 0) * labels;
          if (open.data()[p]) {
            add_candidates(rows, log_theta.data(), prior, p, reach, least, score, part.labels, part.values);
          }
          part.sizes.push_back(static_cast<std::uint32_t>(part.labels.size() - before));
        }
      });
    });
  }
  std::size_t entries = 0;
  for (const Part& part : parts) entries += part.labels.size();
  Joined<double> joined(patterns, entries);
  for (Part& part : parts) joined.add(part.sizes, part.labels, part.values);
  return joined.arrays();
}

ArrayOf<double> run_counts(const Grid& grid, std::size_t colour, const ListArrays<float>& own, const Array& digits,
                           const ArrayOf<double>& counted, std::size_t labels, std::size_t threads) {
  const ColourRows& mine = grid.colour(colour);
  const auto beliefs = checked(own, mine.number);
  const std::size_t cells = digits.shape(1) * labels * labels;
  require_extent(counted, digits.shape(0));
  ArrayOf<double> out({digits.shape(1), labels, labels});
  double* sums = out.mutable_data();
  nb::gil_scoped_release release;
  const auto slabs = fixed_slabs(mine.number, cells * sizeof(double));
  std::vector<std::vector<double>> parts(slabs.size());
  with_digits(digits, labels, [&](const auto& rows) {
    share_slabs(slabs, threads, [&](std::size_t k, Slab voxels) {
      parts[k].assign(cells, 0.0);
      count_beliefs(rows, mine.patterns, beliefs, counted.data(), voxels, parts[k]);
    });
  });
  std::fill_n(sums, cells, 0.0);
  for (const auto& part : parts) {
    for (std::size_t i = 0; i < cells; ++i) sums[i] += part[i];
  }
  return out;
}

}  // namespace

void bind_field(nb::module_& m) {
  nb::class_<Grid>(m, "FieldGrid")
      .def(nb::init<const Extents&, const std::array<double, kAxes>&, Array, ArrayOf<std::int32_t>, std::size_t,
                    const std::vector<ColourArrays>&>(),
           nb::arg("shape"), nb::arg("side"), nb::arg("codes"), nb::arg("settled_label"), nb::arg("labels"),
           nb::arg("colours"));
  m.def("field_sweep", &run_sweep, nb::arg("grid"), nb::arg("colour"), nb::arg("others"), nb::arg("candidates"),
        nb::arg("counted"), nb::arg("weight"), nb::arg("cut"), nb::arg("threads"));
  m.def("field_weight_slope", &run_slope, nb::arg("grid"), nb::arg("colour"), nb::arg("own"), nb::arg("others"),
        nb::arg("weight"), nb::arg("threads"));
  m.def("field_candidates", &run_candidates, nb::arg("digits"), nb::arg("log_theta"), nb::arg("log_prior"),
        nb::arg("prior_rows"), nb::arg("open"), nb::arg("reach"), nb::arg("least"), nb::arg("threads"));
  m.def("field_counts", &run_counts, nb::arg("grid"), nb::arg("colour"), nb::arg("own"), nb::arg("digits"),
        nb::arg("counted"), nb::arg("labels"), nb::arg("threads"));
}

}  // namespace consensus
