// Bindings for patterns: encoding a stack, expanding results, finding the labels that occur.
#include <algorithm>

#include "bindings.hpp"
#include "distinct.hpp"
#include "encode_direct.hpp"
#include "encode_hashed.hpp"
#include "expand.hpp"
#include "memory.hpp"
#include "merge_rows.hpp"
#include "pair_counts.hpp"
#include "parallel.hpp"
#include "rater_votes.hpp"
#include "row_extents.hpp"

namespace consensus {

namespace {

// Throws unless there is a count for every code, including "outside the mask".
void require_codes(std::size_t raters, std::uint32_t radix, bool masked, std::size_t number_of_codes) {
  std::size_t needed = 1;
  for (std::size_t k = 0; k < raters && needed <= number_of_codes; ++k) needed *= radix;
  if (needed + (masked ? 1 : 0) > number_of_codes) {
    throw std::invalid_argument("fewer counts than codes");
  }
}

ArrayOf<std::int64_t> run_encode_direct(const std::vector<const RaterVotes*>& raters,
                                             std::uint32_t radix, const Mask& mask, Array codes,
                                             std::size_t number_of_codes, std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  Stack stack = make_stack(raters, radix, extent);
  stack.mask = pointer_or_null(mask, extent);
  require_codes(raters.size(), radix, mask.has_value(), number_of_codes);
  ArrayOf<std::int64_t> total(number_of_codes);
  std::int64_t* sums = total.mutable_data();
  std::fill_n(sums, number_of_codes, std::int64_t{0});
  with_code_type(codes, [&](auto tag) {
    using Code = typename decltype(tag)::type;
    auto* out = static_cast<Code*>(codes.mutable_data());
    nb::gil_scoped_release release;
    const auto slabs = make_slabs(extent, threads);
    std::vector<std::vector<std::int64_t>> counts(slabs.size());
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      counts[k].assign(number_of_codes, 0);
      in_pieces(slab, kPiece, [&](Slab piece) {
        encode_direct<Code>(stack, piece.begin, piece.end, static_cast<Code>(number_of_codes - 1), out,
                            counts[k].data());
      });
    });
    for (const auto& part : counts) {
      for (std::size_t i = 0; i < number_of_codes; ++i) sums[i] += part[i];
    }
  });
  return total;
}

// Returns the patterns of a slab as (begin, end, digits, strata, counts).
template <class Digit, class Encoder>
nb::tuple slab_patterns(const Encoder& encoder, Slab slab, std::size_t raters) {
  const auto n = encoder.size();
  ArrayOf<Digit> digits({n, raters});
  ArrayOf<std::uint32_t> strata(n);
  ArrayOf<std::int64_t> counts(n);
  for (std::size_t i = 0; i < encoder.size(); ++i) {
    strata.mutable_data()[i] = encoder.decode(i, digits.mutable_data() + i * raters);
    counts.mutable_data()[i] = encoder.count(i);
  }
  return nb::make_tuple(slab.begin, slab.end, digits, strata, counts);
}

// Returns None if patterns outnumber the codes of this width.
nb::object run_encode_hashed(const std::vector<const RaterVotes*>& raters, std::uint32_t radix,
                              const Mask& mask, const Strata& strata, Array codes,
                              std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  Stack stack = make_stack(raters, radix, extent);
  stack.mask = pointer_or_null(mask, extent);
  stack.strata = pointer_or_null(strata, extent);
  return with_code_type(codes, [&](auto tag) -> nb::object {
    using Code = typename decltype(tag)::type;
    auto* out = static_cast<Code*>(codes.mutable_data());
    const auto slabs = make_slabs(extent, threads);
    std::vector<std::optional<HashedEncoder<Code>>> encoders(slabs.size());
    std::vector<char> fits(slabs.size(), 1);
    {
      nb::gil_scoped_release release;
      for_each_slab(slabs, [&](std::size_t k, Slab slab) {
        encoders[k].emplace(stack);
        in_pieces(slab, kPiece, [&](Slab piece) { fits[k] = encoders[k]->encode(piece.begin, piece.end, out); });
      });
    }
    nb::list parts;
    for (std::size_t k = 0; k < slabs.size(); ++k) {
      if (!fits[k]) return nb::none();
      parts.append(radix <= 256
                       ? slab_patterns<std::uint8_t>(*encoders[k], slabs[k], raters.size())
                       : slab_patterns<std::uint16_t>(*encoders[k], slabs[k], raters.size()));
      encoders[k].reset();  // frees the encoder's table
    }
    return parts;
  });
}

template <class Digit>
nb::tuple merged_tables(const std::vector<nb::tuple>& tables, std::size_t raters) {
  using Digits = ArrayOf<Digit>;
  using Counts = ArrayOf<std::int64_t>;
  using StrataOf = ArrayOf<std::uint32_t>;
  std::vector<TablePart<Digit>> parts;
  std::vector<std::int64_t*> ranks;
  nb::list rank_arrays;
  std::vector<Array> kept;  // keeps arrays alive, since a cast may have copied them
  for (const nb::tuple& table : tables) {
    auto digits = nb::cast<Digits>(table[0]);
    auto strata = nb::cast<StrataOf>(table[1]);
    auto counts = nb::cast<Counts>(table[2]);
    const std::size_t rows = extent_of(counts);
    require_extent(digits, rows * raters);
    require_extent(strata, rows);
    parts.push_back({digits.data(), strata.data(), counts.data(), rows});
    kept.insert(kept.end(), {digits, strata, counts});
    ArrayOf<std::int64_t> of_part(rows);
    ranks.push_back(of_part.mutable_data());
    rank_arrays.append(of_part);
  }
  std::optional<MergedRows<Digit>> merged;
  {
    nb::gil_scoped_release release;
    merged.emplace(std::move(parts), raters);
  }
  const auto size = merged->size();
  ArrayOf<Digit> digits({size, raters});
  ArrayOf<std::uint32_t> strata(size);
  ArrayOf<std::int64_t> counts(size);
  merged->write(digits.mutable_data(), strata.mutable_data(), counts.mutable_data(), ranks);
  return nb::make_tuple(digits, strata, counts, rank_arrays);
}

// Takes tables (digits, strata, counts); returns the merged table and the rank of each table's rows in it.
nb::tuple run_merge_tables(const std::vector<nb::tuple>& tables) {
  if (tables.empty()) throw std::invalid_argument("at least one table wanted");
  std::size_t width = 1;
  std::size_t raters = 0;
  for (const nb::tuple& table : tables) {
    if (table.size() != 3) throw std::invalid_argument("tables must be (digits, strata, counts)");
    const auto digits = nb::cast<Array>(table[0]);
    require_axes(digits, 2);
    width = std::max(width, digits.itemsize());
    raters = digits.shape(1);
  }
  if (width > 2) throw std::invalid_argument("digits must be uint8 or uint16");
  return width == 1 ? merged_tables<std::uint8_t>(tables, raters)
                    : merged_tables<std::uint16_t>(tables, raters);
}

void run_expand(const Array& codes, const Array& table, Array out, std::size_t threads) {
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
      nb::gil_scoped_release release;
      prefer_huge_pages(to, extent * sizeof(Value));
      for_each_piece(extent, threads, [&](Slab slab) {
        expand(in, slab.begin, slab.end, values, to);
      });
    });
  });
}

void run_renumber(Array codes, std::size_t begin, std::size_t end, const Array& table,
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
    nb::gil_scoped_release release;
    for_each_piece(end - begin, threads, [&](Slab slab) {
      renumber(out, slab.begin, slab.end, values);
    });
  });
}

// Returns the distinct values, unsorted and possibly repeated for different slabs, or None if a
// slab has more than `limit`. Values that occur in the reference array may be omitted.
nb::object run_distinct(const Array& data, std::size_t limit, std::size_t threads,
                        const std::optional<Array>& reference) {
  const std::size_t extent = extent_of(data);
  require_extent(data, extent);
  if (reference) {
    require_extent(*reference, extent);
    if (reference->type() != data.type()) {
      throw std::invalid_argument("the reference must have the type of data");
    }
  }
  return with_label_type(data, [&](auto tag) -> nb::object {
    using T = typename decltype(tag)::type;
    const auto* in = static_cast<const T*>(data.data());
    const auto* like = reference ? static_cast<const T*>(reference->data()) : nullptr;
    const auto slabs = make_slabs(extent, threads);
    std::vector<DistinctValues<T>> found(slabs.size());
    std::vector<char> fits(slabs.size(), 1);
    {
      nb::gil_scoped_release release;
      for_each_slab(slabs, [&](std::size_t k, Slab slab) {
        in_pieces(slab, kPiece, [&](Slab piece) {
          if (fits[k]) fits[k] = found[k].scan(in, like, piece.begin, piece.end, limit);
        });
      });
    }
    std::vector<T> values;
    for (std::size_t k = 0; k < slabs.size(); ++k) {
      if (!fits[k]) return nb::none();
      const auto part = found[k].values();
      values.insert(values.end(), part.begin(), part.end());
    }
    const Array all({values.size()}, data.type());
    std::copy(values.begin(), values.end(), static_cast<T*>(all.mutable_data()));
    return nb::cast(all);
  });
}

nb::tuple run_row_extents(const Array& codes, std::size_t length,
                           const ArrayOf<std::uint8_t>& flags,
                           std::size_t threads) {
  const std::size_t extent = extent_of(codes);
  require_extent(codes, extent);
  if (length == 0 || extent % length) throw std::invalid_argument("rows must divide the extent");
  const std::size_t rows = extent / length;
  ArrayOf<std::int64_t> first(rows);
  ArrayOf<std::int64_t> last(rows);
  with_code_type(codes, [&](auto tag) {
    using Code = typename decltype(tag)::type;
    const auto* in = static_cast<const Code*>(codes.data());
    const auto* flagged = flags.data();
    auto* low = first.mutable_data();
    auto* high = last.mutable_data();
    const std::size_t smallest = kSmallestSlab / std::min(length, kSmallestSlab);
    nb::gil_scoped_release release;
    for_each_slab(make_slabs(rows, threads, smallest), [&](std::size_t, Slab slab) {
      in_pieces(slab, smallest, [&](Slab piece) {
        row_extents(in, length, piece.begin, piece.end, flagged, low, high);
      });
    });
  });
  return nb::make_tuple(first, last);
}

ArrayOf<std::int64_t> run_pair_counts(const Array& rows, const ArrayOf<std::int64_t>& voxels,
                                          std::size_t labels, std::size_t threads) {
  require_axes(rows, 2);
  const std::size_t extent = extent_of(voxels);
  const std::size_t raters = rows.shape(1);
  require_extent(rows, extent * raters);
  ArrayOf<std::int64_t> shared({labels, raters, raters});
  const std::size_t size = labels * raters * raters;
  auto* total = shared.mutable_data();
  const auto* counted = voxels.data();
  with_code_type(rows, [&](auto tag) {
    using Digit = typename decltype(tag)::type;
    const auto* said = static_cast<const Digit*>(rows.data());
    nb::gil_scoped_release release;
    // Each thread needs enough work to justify its own table.
    const auto slabs = make_slabs(extent, threads, std::max(kSmallestSlab, size));
    std::vector<std::vector<std::int64_t>> parts(slabs.size());
    for_each_slab(slabs, [&](std::size_t k, Slab slab) {
      parts[k].assign(size, 0);
      in_pieces(slab, kPiece, [&](Slab piece) {
        pair_counts(said, raters, labels, counted, piece.begin, piece.end, parts[k].data());
      });
    });
    std::fill_n(total, size, 0);
    for (const auto& part : parts) {
      for (std::size_t i = 0; i < size; ++i) total[i] += part[i];
    }
    for (std::size_t label = 0; label < labels; ++label) {
      auto* table = total + label * raters * raters;
      for (std::size_t i = 0; i < raters; ++i) {
        for (std::size_t j = 0; j < i; ++j) table[i * raters + j] = table[j * raters + i];
      }
    }
  });
  return shared;
}

}  // namespace

void bind_patterns(nb::module_& m) {
  nb::class_<RaterVotes>(m, "RaterVotes")
      .def(nb::init<Array, const Array&, const std::vector<std::uint16_t>&, std::uint16_t, Mask,
                    std::uint16_t>(),
           nb::arg("data"), nb::arg("values"), nb::arg("digits"), nb::arg("other"),
           nb::arg("mask"), nb::arg("missing"));
  m.def("encode_direct", &run_encode_direct, nb::arg("raters"), nb::arg("radix"), nb::arg("mask"),
        nb::arg("codes"), nb::arg("number_of_codes"), nb::arg("threads"));
  m.def("encode_hashed", &run_encode_hashed, nb::arg("raters"), nb::arg("radix"), nb::arg("mask"),
        nb::arg("strata"), nb::arg("codes"), nb::arg("threads"));
  m.def("merge_tables", &run_merge_tables, nb::arg("tables"));
  m.def("expand", &run_expand, nb::arg("codes"), nb::arg("table"), nb::arg("out"), nb::arg("threads"));
  m.def("renumber", &run_renumber, nb::arg("codes"), nb::arg("begin"), nb::arg("end"),
        nb::arg("table"), nb::arg("threads"));
  m.def("distinct", &run_distinct, nb::arg("data"), nb::arg("limit"), nb::arg("threads"),
        nb::arg("reference") = nb::none());
  m.def("pair_counts", &run_pair_counts, nb::arg("rows"), nb::arg("voxels"), nb::arg("labels"),
        nb::arg("threads"));
  m.def("row_extents", &run_row_extents, nb::arg("codes"), nb::arg("length"), nb::arg("flags"),
        nb::arg("threads"));
}

}  // namespace consensus
