// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/lengths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace plumbline::evaluation {

void expect_within(int least, int most, const char* field, int value) {
  if (value < least || value > most) {
    throw BadInput(field, std::to_string(value), fmt::format("from {} to {}", least, most));
  }
}

void validate_lengths(const std::vector<int>& lengths, int shortest, const std::string& what) {
  if (lengths.empty()) throw BadInput("lengths", "empty", "at least one");
  for (auto length = lengths.begin(); length != lengths.end(); ++length) {
    if (*length < shortest) {
      throw BadInput(
          "lengths", std::to_string(*length),
          fmt::format("at least {} tokens, which {} takes without filler", shortest, what));
    }
    expect_within(shortest, longest_length, "lengths", *length);
    if (std::find(lengths.begin(), length, *length) != length) {
      throw BadInput("lengths", fmt::format("{} twice", *length), "each length once");
    }
  }
}

std::vector<int> usual_lengths(int training_length, int shortest) {
  std::vector<int> result;
  for (int factor = 1, length = training_length; factor <= 8 || result.empty();
       factor *= 2, length *= 2) {
    if (length > longest_length) break;
    if (length >= shortest) result.push_back(length);
  }
  return result;
}

}  // namespace plumbline::evaluation
