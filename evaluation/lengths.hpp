// SPDX-License-Identifier: Apache-2.0
// The lengths that a retrieval task is measured at.
#pragma once

#include <string>
#include <vector>

namespace plumbline::evaluation {

/// @throws BadInput naming the field for a value below `least`.
void expect_at_least(int least, const char* field, int value);

/// @throws BadInput for no length, a length twice, or one below `shortest`, which is that of
/// `what`.
void validate_lengths(const std::vector<int>& lengths, int shortest, const std::string& what);

/// The training length times 1, 2, 4, 8, without those below `shortest`; at least one of its
/// doublings in any case.
std::vector<int> usual_lengths(int training_length, int shortest);

}  // namespace plumbline::evaluation
