// SPDX-License-Identifier: Apache-2.0
#include "models/text/permutation.hpp"

#include <stdexcept>

namespace plumbline::text {

Permutation::Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t stream)
    : count_(count), draw_(seed, stream) {
  if (count < 1 || count > std::int64_t{1} << 62) {
    throw std::invalid_argument("a permutation of " + std::to_string(count) + " elements");
  }
  while (count_ > std::int64_t{1} << (2 * half_bits_)) ++half_bits_;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  if (index < 0 || index >= count_) {
    throw std::out_of_range("element " + std::to_string(index) + " of a permutation of " +
                            std::to_string(count_));
  }
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  auto place = static_cast<std::uint64_t>(index);
  do {
    std::uint64_t left = place >> half_bits_, right = place & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      // A round has its own 2^32 words: a half has at most 31 bits.
      const std::uint64_t next = left ^ (draw_.word((round << 32) + right) & mask);
      left = right;
      right = next;
    }
    place = (left << half_bits_) | right;
  } while (place >= static_cast<std::uint64_t>(count_));
  return static_cast<std::int64_t>(place);
}

}  // namespace plumbline::text
