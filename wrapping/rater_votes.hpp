// A rater as Python holds it, and a stack of raters as the templates of include/ read it.
#pragma once

#include <memory>
#include <utility>

#include "bindings.hpp"
#include "runs.hpp"
#include "votes.hpp"

namespace consensus {

// A rater as Python holds it: the arrays stay alive as long as the pointers into them.
struct RaterVotes {
  py::array data;
  Mask mask;
  std::unique_ptr<Votes> votes;

  RaterVotes(py::array data_, py::array values, const std::vector<std::uint16_t>& digits,
             std::uint16_t other, Mask mask_,
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

inline Stack make_stack(const std::vector<const RaterVotes*>& raters, std::uint32_t radix,
                 std::size_t extent) {
  Stack stack{{}, radix, nullptr, nullptr};
  for (const RaterVotes* rater : raters) {
    if (!rater) throw std::invalid_argument("every rater must be a RaterVotes, got None");
    require_extent(rater->data, extent);
    stack.raters.push_back(rater->votes.get());
  }
  return stack;
}

}  // namespace consensus
