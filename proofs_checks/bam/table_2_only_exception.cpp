// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// One column of Table 2 in units of 10^-4, and ALiBi's number with 0.1 added.
Sample column(bool wikipedia) {
  Sample sample;
  for (const Perplexity& row : table_2) {
    const int number = wikipedia ? row.wikipedia : row.fineweb;
    sample.printed(row.method, number, 1);
    if (row.method == "ALiBi") sample.printed("ALiBi + 0.1", number + 1000, 1);
  }
  return sample;
}

const std::vector<std::string> others_of_table_2_only_exception = {"Sinusoidal", "NoPE", "RoPE"};

}  // namespace

Claim table_2_only_exception() {
  Claim claim;
  claim.id = "bam/table_2_only_exception";
  claim.title = "Only ALiBi has a lower perplexity than BAM, by less than 0.1";
  claim.source = source("Appendix D.1, first paragraph after Table 2");
  claim.statement =
      "\"BAM outperforms almost all the compared baselines. The only exception is ALiBi, which "
      "outperforms BAM by less than 0.1 points in perplexity.\"";
  claim.condition = "The data set is FineWeb.";
  claim.derivation =
      "Wikipedia: RoPE 18.3599 and ALiBi 18.5452 against 18.9281 for BAM: two exceptions, by 0.57 "
      "and 0.38. FineWeb: ALiBi 22.1771 against 22.2640, 0.087; the others are above 22.35. With "
      "scalable softmax on Wikipedia, ALiBi is ahead by 0.193.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {below(Role::statement, "Wikipedia: BAM is below Sinusoidal, NoPE and RoPE (10^-4)",
               {column(true)}, "BAM", others_of_table_2_only_exception),
         above(Role::statement, "Wikipedia: ALiBi + 0.1 is above BAM (10^-4)", {column(true)},
               "ALiBi + 0.1", {"BAM"}),
         below(Role::condition, "FineWeb: BAM is below Sinusoidal, NoPE and RoPE (10^-4)",
               {column(false)}, "BAM", others_of_table_2_only_exception),
         above(Role::condition, "FineWeb: ALiBi + 0.1 is above BAM (10^-4)", {column(false)},
               "ALiBi + 0.1", {"BAM"}),
         above(Role::correction, "FineWeb: BAM is above ALiBi (10^-4)", {column(false)}, "BAM",
               {"ALiBi"})});
  };
  claim.mutant = "On FineWeb ALiBi is not an exception.";
  claim.mutant_checks = [] {
    return below(Role::statement, "FineWeb: BAM is below ALiBi", {column(false)}, "BAM", {"ALiBi"});
  };
  claim.hypotheses = {
      definition("Table 2, models without scalable softmax.", "It says which numbers are read.")};
  claim.implicit = {definition_of_printed_numbers(),
                    definition("Both columns of Table 2 are meant.", "The condition replaces it.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
