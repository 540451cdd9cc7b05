// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim abstract_medium() {
  Claim claim;
  claim.id = "cable/abstract_medium";
  claim.title = "GPT-2 Medium with CABLE has a lower perplexity beyond its training length";
  claim.source = source("Abstract; Table 1 (upper) and Table 5 (upper)");
  claim.statement =
      "Evaluated on sequences longer than it was trained with (1024), GPT-2 Medium with CABLE has "
      "a lower perplexity than with every other positional encoding of the tables.";
  claim.derivation =
      "Read off the tables: in each of the eight rows the printed perplexity of CABLE is below "
      "that of ALiBi, Fire, T5-bias, Kerple, RoPE and Sinusoidal, and the intervals of half a "
      "hundredth do not meet.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return below(Role::statement, "CABLE is below every baseline, Medium, T > 1024 (hundredths)",
                 rows({table_1_fineweb, table_5_medium}, 1025), "CABLE", baselines);
  };
  claim.mutant = "Kerple has a lower perplexity than every other method of the tables.";
  claim.mutant_checks = [] {
    return below(Role::statement, "Kerple is below ALiBi and CABLE, Medium, T > 1024",
                 rows({table_1_fineweb, table_5_medium}, 1025), "Kerple", {"ALiBi", "CABLE"});
  };
  claim.hypotheses = {definition("Trained with T = 1024; FineWeb-Edu-10B and WikiText-103.",
                                 "It says which tables are read.")};
  claim.implicit = {definition_of_printed_numbers(),
                    definition("Learnable has no number beyond 1024 and is not compared.",
                               "The tables have none.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
