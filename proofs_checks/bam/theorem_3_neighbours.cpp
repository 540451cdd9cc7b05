// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// 1/10 - p_i,i-1 / p_i,i-D with equal contents, exp(b(1) - b(D)), beta < 0.
struct NeighbourIsIgnored {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), one(1.0);
    const R scale = reference::power(one / alpha, beta);  // alpha^|beta|
    const R gap = scale * (one - reference::power(in.number("D"), beta));
    return {one / R(10.0) - reference::exp(-gap)};
  }
};

std::vector<Sample> points_of_theorem_3_neighbours(double alpha) {
  std::vector<Sample> samples;
  for (double beta : {-1.0, -0.25, -4.0}) {
    for (double D : {512, 1 << 20}) {
      samples.push_back(Sample{}.with("alpha", {alpha}).with("beta", {beta}).with("D", {D}));
    }
  }
  return samples;
}

/// Boxes with alpha^|beta| (1 - D^-|beta|) >= ln 10.
std::vector<Sample> strong_of_theorem_3_neighbours() {
  std::vector<Sample> samples;
  for (double beta = -2; beta < -1; beta += 0.125) {
    samples.push_back(
        Sample{}.within("alpha", 8, 64).within("beta", beta, beta + 0.125).within("D", 8, 1 << 20));
  }
  return samples;
}

struct NeighbourIsIgnoredWithMu {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = [&](const R& d) {
      return -reference::power((d + in.number("mu")) / in.number("alpha"), in.number("beta"));
    };
    return {R(1.0) / R(10.0) - reference::exp(bias(R(1.0)) - bias(in.number("D")))};
  }
};

}  // namespace

Claim theorem_3_neighbours() {
  Claim claim;
  claim.id = "bam/theorem_3_neighbours";
  claim.title = "With beta < 0 the local context is ignored";
  claim.source = source(
      "Theorem 3, first sentence; section 2.5, \"effectively zero in the vicinity of the query "
      "position\"");
  claim.statement =
      "GGD-BAM ignores local context for any beta < 0 and alpha > 0. Checked at the nearest "
      "neighbour: with equal contents its weight is below a tenth of that of a key at distance D = "
      "512 or 2^20.";
  claim.condition = "alpha^|beta| (1 - D^-|beta|) >= ln 10: alpha^|beta| is large.";
  claim.correction =
      "p_i,i-1 / p_i,i-D = exp(-alpha^|beta| (1 - D^-|beta|)), at least e^-1 = 0.37 for alpha <= 1 "
      "and any beta < 0.";
  claim.derivation =
      "b(1) = -alpha^|beta| and b(D) = -(alpha/D)^|beta|. For alpha = 1 (theta_alpha = 0) the "
      "neighbour keeps more than e^-1 of the weight of the farthest key; only the own key, at "
      "distance 0, has an infinite penalty. How local the blind zone is, alpha decides and not the "
      "sign of beta.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "alpha = 1: 1/10 - p_i,i-1 / p_i,i-D > 0, the quotient being e^(b(1) - b(D)), "
                 "b(d) = -(d/alpha)^beta",
                 NeighbourIsIgnored{}, points_of_theorem_3_neighbours(1)),
         for_all(Role::condition, "alpha in [8, 64], beta in [-2, -1]: 1/10 - the ratio > 0",
                 NeighbourIsIgnored{}, strong_of_theorem_3_neighbours())});
  };
  claim.mutant = "alpha = 2 is enough for every beta < 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "alpha = 2: 1/10 - p_i,i-1 / p_i,i-D > 0", NeighbourIsIgnored{},
                   points_of_theorem_3_neighbours(2));
  };
  claim.hypotheses = {
      needed("beta < 0.", "For beta > 0 the neighbour has the larger prior.",
             [] {
               return for_all(Role::statement, "beta = 1: 1/10 - p_i,i-1 / p_i,i-D > 0",
                              NeighbourIsIgnored{},
                              {Sample{}.with("alpha", {8}).with("beta", {1}).with("D", {512})});
             })
          .where("beta", below(0)),
      definition("alpha > 0.", "It is a scale: x/0 has no value."),
      needed("mu = 0.", "Another mu removes another key.", [] {
        return for_all(
            Role::statement, "1/10 - p_i,i-1 / p_i,i-D > 0 with mu = 100",
            NeighbourIsIgnoredWithMu{},
            {Sample{}.with("alpha", {8}).with("beta", {-1}).with("D", {512}).with("mu", {100})});
      }).where("mu", exactly(0))};
  claim.implicit = {
      definition(
          "Local context is more than the token itself: Theorem 3 and its proof speak of j = i "
          "only.",
          "It says what the words mean."),
      definition("A tenth stands for any threshold below e^-1.",
                 "Without a number there is nothing to check.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
