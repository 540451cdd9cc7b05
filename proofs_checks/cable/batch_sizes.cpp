// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <int gpus = 8>
struct FillsUpdate {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("batch") * R(1024.0 * gpus) * in.number("n") - R(524288.0)};
  }
};

}  // namespace

Claim batch_sizes() {
  Claim claim;
  claim.id = "cable/batch_sizes";
  claim.title = "The batch sizes make up 524,288 tokens";
  claim.source = source("Section 4.2");
  claim.statement =
      "With sequences of 1024 tokens on eight GPUs, batches of 64, 32 and 16 make up the 524,288 "
      "tokens of an update: a whole number of batches.";
  claim.derivation = "64 * 1024 * 8 = 524,288: one batch; 32: two; 16: four.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(
        Role::statement, "batch * 1024 * 8 * n - 524288 = 0", FillsUpdate<>{},
        {Sample{}.with("batch", {64}).with("n", {1}), Sample{}.with("batch", {32}).with("n", {2}),
         Sample{}.with("batch", {16}).with("n", {4})});
  };
  claim.mutant = "So do batches of 48.";
  claim.mutant_checks = [] {
    return for_all(
        Role::statement, "48 * 1024 * 8 * n - 524288 = 0, n = 1, 2", FillsUpdate<>{},
        {Sample{}.with("batch", {48}).with("n", {1}), Sample{}.with("batch", {48}).with("n", {2})});
  };
  claim.implicit = {not_needed(
      "The batch sizes are those of one GPU. (If they are those of all eight, 8, 16 and 32 batches "
      "make up an update: whole as well.)",
      "Eight times as many batches of an eighth.", [] {
        return for_all(Role::statement, "batch * 1024 * n - 524288 = 0, n = 8, 16, 32",
                       FillsUpdate<1>{},
                       {Sample{}.with("batch", {64}).with("n", {8}),
                        Sample{}.with("batch", {32}).with("n", {16}),
                        Sample{}.with("batch", {16}).with("n", {32})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
