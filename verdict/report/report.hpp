// SPDX-License-Identifier: Apache-2.0
// What a run of the property-based check says, for a person, a program and a CI server.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verdict/property/property.hpp"

namespace plumbline::verdict {

struct VerifyReport {
  std::string library, device;
  Isolation isolation = Isolation::none;
  std::string kernel_option;  ///< "--kernel PATH" or "--backend NAME", for the repro lines
  std::string artifact;       ///< the kernel library's path
  std::string shard;          ///< "2/4", or empty for all cases
  std::string repeat;         ///< of a judgement of outputs: the command; no kernel was run
  std::uint64_t seed = 0;
  double seconds = 0;
  std::vector<CellResult> cells;
  /// Not judged, because no kernel offers it: "decode alibi fp16".
  std::vector<std::string> not_offered;

  Outcome outcome() const;
  int cases() const;
};

/// "fused forward alibi bf16".
std::string label(const CellResult&);

/// Where the kernels could have ended the judge: a sentence about that, else empty.
std::string exposure(const VerifyReport&);

/// The command that repeats a cell's failing case and nothing else, or report.repeat.
std::string repro_line(const VerifyReport& report, const CellResult& cell);

/// The failing case of a cell, what is wrong with it, and its repro line.
std::string describe_failure(const VerifyReport& report, const CellResult& cell);

/// kernel x bias x format: cases, worst |error| / bound of o and lse, verdict. What is not offered
/// is counted where it is much.
std::string to_table(const VerifyReport& report);
nlohmann::ordered_json to_json(const VerifyReport& report);
nlohmann::ordered_json to_json(const Judgement& judgement);
/// One test suite a kernel, one test case a cell (the common JUnit schema).
std::string to_junit(const VerifyReport& report);
/// The failing and the undecided cells as SARIF 2.1.0 (OASIS), one result each, whose rule is the
/// judgement's kind and whose place is the kernel library.
nlohmann::ordered_json to_sarif(const VerifyReport& report);

}  // namespace plumbline::verdict
