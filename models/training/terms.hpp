// SPDX-License-Identifier: Apache-2.0
// In what a run differs from the one that is to be resumed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/training/checkpoint.hpp"
#include "support/error.hpp"

namespace plumbline::training {

struct Difference {
  std::string term;            ///< its place in the terms, e.g. "schedule.updates"
  Terms of_checkpoint, asked;  ///< null where it is missing
};

/// All of them, in the order of their names.
std::vector<Difference> differences(const Terms& of_checkpoint, const Terms& asked);

/// A checkpoint was made on other terms. The message tells the first difference.
class OtherTerms : public BadInput {
 public:
  /// @param differences at least one.
  OtherTerms(const std::filesystem::path& checkpoint, std::vector<Difference> differences);
  const std::vector<Difference>& differences() const { return differences_; }

 private:
  std::vector<Difference> differences_;
};

}  // namespace plumbline::training
