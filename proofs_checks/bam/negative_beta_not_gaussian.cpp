// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// sum_{d=1..N} e^(b(d)) - N e^(-alpha^|beta|); for the mutant 100 less the sum.
template <bool mutant>
struct SumGrowsWithN {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int N = integer(in, "N");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    const R total = mass(reference::Vector<R>(reference::zeros<R>(N + 1)), bias, 1, N + 1);
    return {mutant ? R(100.0) - total : total - in.number("N") * reference::exp(bias(1))};
  }
};

std::vector<Sample> shapes_of_negative_beta_not_gaussian() {
  std::vector<Sample> samples;
  for (double alpha : {0.5, 1.0, 4.0}) {
    for (double beta : {-0.25, -1.0, -2.0}) {
      for (double N : {1, 8, 512}) {
        samples.push_back(Sample{}.with("alpha", {alpha}).with("beta", {beta}).with("N", {N}));
      }
    }
  }
  return samples;
}

struct SumReaches {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int N = integer(in, "N");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    return {mass(reference::Vector<R>(reference::zeros<R>(N + 1)), bias, 1, N + 1) -
            in.number("N")};
  }
};

}  // namespace

Claim negative_beta_not_gaussian() {
  Claim claim;
  claim.id = "bam/negative_beta_not_gaussian";
  claim.title = "beta < 0 is no parametrisation of a probability distribution";
  claim.source = source("Section 2.5, \"GGD-BAM with beta < 0\"");
  claim.statement =
      "\"beta < 0 is not a valid parametrization of the GGD in a strict probability sense\": "
      "exp(-|d/alpha|^beta) cannot be normalised over all distances.";
  claim.derivation =
      "For d >= 1, (alpha/d)^|beta| <= alpha^|beta|, so each term is at least e^(-alpha^|beta|) "
      "and "
      "the first N sum to at least N e^(-alpha^|beta|), which has no bound.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "sum_{d <= N} e^b - N e^(-alpha^|beta|) >= 0",
                   SumGrowsWithN<false>{}, shapes_of_negative_beta_not_gaussian());
  };
  claim.mutant = "The sum over 512 distances is at most 100.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "100 - sum_{d <= N} e^b >= 0", SumGrowsWithN<true>{},
                   shapes_of_negative_beta_not_gaussian());
  };
  claim.hypotheses = {
      needed("beta < 0.", "For beta > 0 the sum over all distances converges.",
             [] {
               return for_all(Role::statement, "beta = 1: sum_{d <= N} e^b - N e^(-1/alpha) >= 0",
                              SumGrowsWithN<false>{},
                              {Sample{}.with("alpha", {1}).with("beta", {1}).with("N", {8})});
             })
          .where("beta", below(0)),
      definition("alpha > 0.", "It is a scale: x/0 has no value.")};
  claim.implicit = {needed(
      "All distances, without an end. Over the keys of one context the softmax normalises it, and "
      "Theorem 1 holds as for every finite score.",
      "Over 512 distances the sum is below 512, and dividing by it gives a distribution.", [] {
        return for_all(Role::statement, "sum_{d <= N} e^b - 512 >= 0 for N = 512", SumReaches{},
                       {Sample{}.with("alpha", {1}).with("beta", {-1}).with("N", {512})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
