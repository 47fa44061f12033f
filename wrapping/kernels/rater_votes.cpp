// Instantiates VotesOf for all label types, only in this file.
#include "rater_votes.hpp"

#include <utility>

#include "votes_of.hpp"

namespace consensus {

RaterVotes::RaterVotes(Array data_, const Array& values, const std::vector<std::uint16_t>& digits,
                       std::uint16_t other, Mask mask_, std::uint16_t missing)
    : data(std::move(data_)), mask(std::move(mask_)) {
  require_extent(data, extent_of(data));
  require_extent(values, digits.size());
  const std::uint8_t* inside = pointer_or_null(mask, extent_of(data));
  if (values.type() != data.type()) throw std::invalid_argument("values must have the type of data");
  votes = with_label_type(data, [&](auto tag) -> std::unique_ptr<Votes> {
    using T = typename decltype(tag)::type;
    const T* first = static_cast<const T*>(values.data());
    return std::make_unique<VotesOf<T>>(static_cast<const T*>(data.data()), inside,
                                        std::vector<T>(first, first + digits.size()), digits, other, missing);
  });
}

}  // namespace consensus
