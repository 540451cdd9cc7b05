// SPDX-License-Identifier: Apache-2.0
// The lengths that a retrieval task is measured at.
#pragma once

#include <string>
#include <vector>

namespace plumbline::evaluation {

inline constexpr int most_prompts = 1 << 20;  ///< of a length
inline constexpr int longest_length = 1 << 24;

/// @throws BadInput naming the field for a value below `least` or above `most`.
void expect_within(int least, int most, const char* field, int value);

/// @throws BadInput for no length, a length twice, or one below `shortest`, which is that of
/// `what`.
void validate_lengths(const std::vector<int>& lengths, int shortest, const std::string& what);

/// The training length times 1, 2, 4, 8, without those below `shortest`; at least one of its
/// doublings in any case.
std::vector<int> usual_lengths(int training_length, int shortest);

}  // namespace plumbline::evaluation
