// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// 2/n - |4 - pairs(2 n)/pairs(n)| with pairs(n) = n (n + 1)/2; for the mutant 2 in place of 4.
template <bool mutant>
struct DoublingQuadruplesPairs {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &n = in.number("n"), one(1.0), two(2.0);
    const auto pairs = [&](const R& keys) { return keys * (keys + one) / two; };
    const R ratio = pairs(two * n) / pairs(n);
    return {two / n - reference::absolute(R(mutant ? 2.0 : 4.0) - ratio)};
  }
};

std::vector<Sample> lengths() {
  std::vector<Sample> samples;
  for (double n : {1.0, 2.0, 512.0, 1e6}) samples.push_back(Sample{}.with("n", {n}));
  return samples;
}

}  // namespace

Claim quadratic_cost() {
  Claim claim;
  claim.id = "bam/quadratic_cost";
  claim.title = "Attention scales quadratically with the sequence length";
  claim.source = source("Appendix J, first paragraph");
  claim.statement =
      "\"Attention scales quadratically with sequence length\": twice the length has four times "
      "the "
      "pairs of query and key, up to a relative error of order 1/n.";
  claim.hypotheses = {"A causal mask: n (n + 1)/2 visible pairs."};
  claim.implicit = {
      "The cost is the number of visible pairs, as in training; decoding one token "
      "with a cache costs n."};
  claim.derivation = "2 n (2 n + 1) / (n (n + 1)) = 4 - 2/(n + 1).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "2/n - |4 - pairs(2 n)/pairs(n)| >= 0",
                   DoublingQuadruplesPairs<false>{}, lengths());
  };
  claim.mutant = "Twice the length has twice the pairs.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "2/n - |2 - pairs(2 n)/pairs(n)| >= 0",
                   DoublingQuadruplesPairs<true>{}, lengths());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
