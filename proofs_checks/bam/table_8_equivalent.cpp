// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

const std::vector<std::string> others_of_table_8_equivalent = {
    "Sinusoidal SSMax, upper end", "RoPE SSMax, upper end", "ALiBi SSMax, upper end",
    "NoPE SSMax, upper end"};

/// The ends of all ranges at 430M, 1.1B and 120M parameters. Each sums up two roundings.
std::vector<Sample> ends() {
  const double millions[] = {120, 430, 1100};
  std::vector<Sample> samples;
  for (std::size_t size : {1, 2, 0}) {
    Sample sample = Sample{}.with("million parameters", {millions[size]});
    for (const Timing& row : table_8) {
      sample.printed(row.method + ", lower end", row.mean[size] - row.deviation[size], 2);
      sample.printed(row.method + ", upper end", row.mean[size] + row.deviation[size], 2);
    }
    samples.push_back(std::move(sample));
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
  claim.implicit = {printed_numbers_are_rounded, "Equivalent means that the two ranges overlap."};
  claim.correction =
      "With scalable softmax BAM is the slowest of all at 430M (59.50 ms, others 53.39 to 58.36) "
      "and at 1.1B (133.14 ms, others 120.91 to 124.95), by more than the deviations add up to.";
  claim.derivation =
      "430M: BAM SSMax 59.50 +- 0.18, ALiBi SSMax 54.22 +- 0.21; 1.1B: 133.14 +- 0.41 against "
      "122.09 +- 0.33, nine percent more, more than twenty-five deviations apart. (The caption "
      "says backward pass, the text inference.)";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {below(
             Role::statement,
             "BAM SSMax mean - deviation is below every other mean + deviation (hundredths of ms)",
             ends(), "BAM SSMax, lower end", others_of_table_8_equivalent),
         above(Role::correction,
               "430M, 1.1B: BAM SSMax mean - deviation is above every other mean + deviation",
               {ends()[0], ends()[1]}, "BAM SSMax, lower end", others_of_table_8_equivalent)});
  };
  claim.mutant = "Without scalable softmax BAM and Sinusoidal overlap at 430M.";
  claim.mutant_checks = [] {
    return below(Role::statement, "430M: BAM mean - deviation is below Sinusoidal mean + deviation",
                 {ends()[0]}, "BAM, lower end", {"Sinusoidal, upper end"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
