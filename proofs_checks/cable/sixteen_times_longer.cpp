// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

Sample lengths(double factor, double trained, double longest) {
  return Sample{}.with("factor", {factor}).with("trained", {trained}).with("longest", {longest});
}

}  // namespace

Claim sixteen_times_longer() {
  Claim claim;
  claim.id = "cable/sixteen_times_longer";
  claim.title = "CABLE extrapolates to sequences 16 times longer";
  claim.source = source("Section 5.1 against its footnote");
  claim.statement =
      "For models trained on sequences of length 1024, CABLE achieves a lower perplexity even when "
      "extrapolating to sequences 16 times longer; the longest tested are of 15,360 tokens.";
  claim.implicit = {"The tables are all that was tested."};
  claim.correction = "To sequences 15 times longer.";
  claim.derivation =
      "15,360 / 1024 = 15. The footnote says that 15,360 took the place of 16,384 = 16 * 1024. "
      "Only retrieval (Table 3) goes to 16,384, which is 32 times its training length of 512.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({products(Role::statement, "16 * 1024 - 15360 = 0", {lengths(16, 1024, 15360)},
                              {"factor", "trained"}, "longest"),
                     products(Role::correction, "15 * 1024 - 15360 = 0", {lengths(15, 1024, 15360)},
                              {"factor", "trained"}, "longest")});
  };
  claim.mutant = "For retrieval, 16,384 tokens are 16 times the training length of 512.";
  claim.mutant_checks = [] {
    return products(Role::statement, "16 * 512 - 16384 = 0", {lengths(16, 512, 16384)},
                    {"factor", "trained"}, "longest");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
