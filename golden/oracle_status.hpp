// SPDX-License-Identifier: Apache-2.0
// What there is of a method in the oracle, found out and not written down.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "golden/golden.hpp"

namespace plumbline::golden {

/// Each check of a method's golden cases; none where there is nothing to check.
struct OracleStatus {
  std::string method;
  std::optional<FileResult> golden;     ///< there, as the manifest has it, its bits again from MPFR
  std::optional<FileResult> value;      ///< check_value
  std::optional<FileResult> gradient;   ///< check_gradient, and the coverage of every gradient
  std::optional<FileResult> enclosure;  ///< check_enclosure
};

/// The status of a registered method with the golden file of `folder`, whose manifest this is.
/// Without the file, or with one that cannot be read, all but `golden` is none; `golden` is none as
/// well where the manifest does not name the file either.
/// For the gradient to pass, of each grad_<input> at least half of the elements must have a bound
/// that says something (case_checks.hpp).
OracleStatus oracle_status(const std::string& method, const std::filesystem::path& folder,
                           const std::map<std::string, std::string>& manifest);

}  // namespace plumbline::golden
