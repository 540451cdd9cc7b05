// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim retrieval_others_degrade() {
  Claim claim;
  claim.id = "cable/retrieval_others_degrade";
  claim.title = "On retrieval the other methods degrade or become unusable";
  claim.source = source("Section 5.5, last sentence; Table 3");
  claim.statement =
      "CABLE exhibits the strongest scalability to long sequences, while the others either degrade "
      "significantly or become unusable: each of them scores lower at its longest length than at "
      "512.";
  claim.implicit = {
      printed_numbers_are_rounded,
      "\"The others\" are the columns of Table 3: ALiBi, RoPE, Learnable, Sinusoidal; Learnable "
      "has one number only."};
  claim.correction =
      "RoPE and Sinusoidal degrade or become unusable; ALiBi improves with length, by less than "
      "CABLE.";
  claim.derivation =
      "ALiBi rises from 14.02 at 512 to 23.44 at 16384, more than by half; the same section says "
      "that it \"maintains reasonable performance\". RoPE (15.16 to 0.12) and Sinusoidal (13.57 to "
      "0.00) do fall. The first half is true: CABLE gains most, 10.14 against 9.42.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({below(Role::statement, "ALiBi at 16384 is below ALiBi at 512 (hundredths)",
                           pairs(table_3, "ALiBi", 16384, 16384, 512), "here", {"before"}),
                     below(Role::correction, "RoPE at 16384 is below RoPE at 512",
                           pairs(table_3, "RoPE", 16384, 16384, 512), "here", {"before"}),
                     below(Role::correction, "Sinusoidal at 16384 is below Sinusoidal at 512",
                           pairs(table_3, "Sinusoidal", 16384, 16384, 512), "here", {"before"}),
                     above(Role::correction, "ALiBi at 16384 is above ALiBi at 512",
                           pairs(table_3, "ALiBi", 16384, 16384, 512), "here", {"before"})});
  };
  claim.mutant = "CABLE at 16384 is below CABLE at 512.";
  claim.mutant_checks = [] {
    return below(Role::statement, "CABLE at 16384 is below CABLE at 512",
                 pairs(table_3, "CABLE", 16384, 16384, 512), "here", {"before"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
