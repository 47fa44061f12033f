// A rater as a Python object, and the stack of raters that the templates of include/ read.
#pragma once

#include <memory>

#include "bindings.hpp"
#include "runs.hpp"
#include "votes.hpp"

namespace consensus {

// A rater as a Python object, which owns the arrays that its votes point into.
struct RaterVotes {
  Array data;
  Mask mask;
  std::unique_ptr<Votes> votes;

  RaterVotes(Array data_, const Array& values, const std::vector<std::uint16_t>& digits, std::uint16_t other,
             Mask mask_, std::uint16_t missing);
};

inline Stack make_stack(const std::vector<const RaterVotes*>& raters, std::uint32_t radix, std::size_t extent) {
  Stack stack{{}, radix, nullptr, nullptr};
  for (const RaterVotes* rater : raters) {
    if (!rater) throw std::invalid_argument("every rater must be a RaterVotes, got None");
    require_extent(rater->data, extent);
    stack.raters.push_back(rater->votes.get());
  }
  return stack;
}

}  // namespace consensus
