// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::cable {

Claim tokens_per_second() {
  Claim claim;
  claim.id = "cable/tokens_per_second";
  claim.title = "1.9M against 0.6M tokens per second is about three times";
  claim.source = source("Section 5.3");
  claim.statement =
      "GPT-2 Small with CABLE trains at 1.9M tokens per second, DAPEv2+CABLE at 0.6M: about 3 "
      "times slower.";
  claim.derivation =
      "1.9 / 0.6 = 3.17, which rounds to 3. (With all numbers that round to the printed ones the "
      "ratio lies between 2.85 and 3.55.)";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return between(Role::statement, "2.5 * 6 <= 19 <= 3.5 * 6 (tenths of M tokens per second)",
                   {Sample{}.with("2.5 DAPEv2", {15}).with("CABLE", {19}).with("3.5 DAPEv2", {21})},
                   "2.5 DAPEv2", "CABLE", "3.5 DAPEv2");
  };
  claim.mutant = "About 4 times.";
  claim.mutant_checks = [] {
    return between(Role::statement, "3.5 * 6 <= 19 <= 4.5 * 6",
                   {Sample{}.with("3.5 DAPEv2", {21}).with("CABLE", {19}).with("4.5 DAPEv2", {27})},
                   "3.5 DAPEv2", "CABLE", "4.5 DAPEv2");
  };
  claim.implicit = {
      needed("The ratio of the numbers as printed, rounded to a whole number.",
             "Of all numbers that round to the printed ones, 1.95 and 0.55 have the ratio 3.55.",
             [] {
               return between(Role::statement, "2.5 * 5.5 <= 19.5 <= 3.5 * 5.5",
                              {Sample{}
                                   .with("2.5 DAPEv2", {13.75})
                                   .with("CABLE", {19.5})
                                   .with("3.5 DAPEv2", {19.25})},
                              "2.5 DAPEv2", "CABLE", "3.5 DAPEv2");
             })
          .where("CABLE", exactly(19))};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
