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

std::vector<Sample> lengths_of_quadratic_cost() {
  std::vector<Sample> samples;
  for (double n : {1.0, 2.0, 512.0, 1e6}) samples.push_back(Sample{}.with("n", {n}));
  return samples;
}

/// 2/n - |4 - ((2 n)/n)^power|.
template <int power>
struct AllPairsQuadruple {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &n = in.number("n"), two(2.0), twice = two * n / n;
    const R ratio = power == 2 ? twice * twice : twice;
    return {two / n - reference::absolute(R(4.0) - ratio)};
  }
};

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
  claim.derivation = "2 n (2 n + 1) / (n (n + 1)) = 4 - 2/(n + 1).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "2/n - |4 - pairs(2 n)/pairs(n)| >= 0",
                   DoublingQuadruplesPairs<false>{}, lengths_of_quadratic_cost());
  };
  claim.mutant = "Twice the length has twice the pairs.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "2/n - |2 - pairs(2 n)/pairs(n)| >= 0",
                   DoublingQuadruplesPairs<true>{}, lengths_of_quadratic_cost());
  };
  claim.hypotheses = {not_needed("A causal mask: n (n + 1)/2 visible pairs.",
                                 "Without it the n^2 pairs quadruple exactly.", [] {
                                   return for_all(Role::statement, "2/n - |4 - (2 n)^2/n^2| >= 0",
                                                  AllPairsQuadruple<2>{},
                                                  lengths_of_quadratic_cost());
                                 })};
  claim.implicit = {
      needed("The cost is the number of visible pairs, as in training; decoding one "
             "token with a cache costs n.",
             "One row of twice the length costs twice as much.", [] {
               return for_all(Role::statement, "2/n - |4 - (2 n)/n| >= 0", AllPairsQuadruple<1>{},
                              {Sample{}.with("n", {512})});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
