// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Mean and deviation at a model size (0: 120M, 1: 430M, 2: 1.1B), hundredths of a millisecond.
const Timing& timing(const std::string& method) {
  for (const Timing& row : table_8) {
    if (row.method == method) return row;
  }
  return table_8.front();
}

Sample pair(const std::string& method, const std::string& other, std::size_t size) {
  return Sample{}
      .with("size", {static_cast<double>(size)})
      .printed("this, lower end", timing(method).mean[size] - timing(method).deviation[size], 2)
      .printed("other, upper end", timing(other).mean[size] + timing(other).deviation[size], 2);
}

std::vector<Sample> comparisons(const std::string& method) {
  std::vector<Sample> samples;
  for (const char* other : {"ALiBi SSMax", "RoPE SSMax", "Sinusoidal SSMax", "NoPE SSMax"}) {
    for (std::size_t size : {1, 2, 0}) samples.push_back(pair(method, other, size));
  }
  return samples;
}

std::vector<Sample> slower() {
  std::vector<Sample> samples;
  for (const char* other : {"ALiBi SSMax", "RoPE SSMax", "Sinusoidal SSMax", "NoPE SSMax"}) {
    for (std::size_t size : {1, 2}) samples.push_back(pair("BAM SSMax", other, size));
  }
  return samples;
}

}  // namespace

Claim table_8_equivalent() {
  Claim claim;
  claim.id = "bam/table_8_equivalent";
  claim.title = "Every encoding has the same inference time within the standard deviation";
  claim.source = source("Appendix H.7; section 3.2, \"no measurable impact on inference time\"");
  claim.statement =
      "\"When we account for the standard deviation, every model has equivalent inference time\": "
      "the ranges mean +- deviation of BAM SSMax and of any other encoding with scalable softmax "
      "overlap.";
  claim.implicit = {as_rounded, "Equivalent means that the two ranges overlap."};
  claim.correction =
      "With scalable softmax BAM is the slowest of all at 430M (59.50 ms, others 53.39 to 58.36) "
      "and at 1.1B (133.14 ms, others 120.91 to 124.95), by more than the deviations add up to.";
  claim.derivation =
      "430M: BAM SSMax 59.50 +- 0.18, ALiBi SSMax 54.22 +- 0.21; 1.1B: 133.14 +- 0.41 against "
      "122.09 +- 0.33, a tenth more, thirty deviations apart. (The caption says backward pass, the "
      "text inference.)";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {above(Role::statement, "other mean + deviation is above BAM SSMax mean - deviation",
               comparisons("BAM SSMax"), "other, upper end", {"this, lower end"}),
         above(Role::correction,
               "430M, 1.1B: BAM SSMax mean - deviation is above every other mean + deviation",
               slower(), "this, lower end", {"other, upper end"})});
  };
  claim.mutant = "Without scalable softmax BAM and Sinusoidal overlap at 430M.";
  claim.mutant_checks = [] {
    return above(Role::statement, "430M: Sinusoidal mean + deviation is above BAM mean - deviation",
                 {pair("BAM", "Sinusoidal", 1)}, "other, upper end", {"this, lower end"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
