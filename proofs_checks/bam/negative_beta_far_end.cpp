// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The prior's mass at distances D/2 + 1 .. D, less 3/4; the own key has none.
struct FarHalfHoldsThreeQuarters {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int D = integer(in, "D");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    const reference::Vector<R> f = reference::zeros<R>(D + 1);
    const R far = mass(f, bias, D / 2 + 1, D + 1), near = mass(f, bias, 1, D / 2 + 1);
    return {far / (far + near) - R(3.0) / R(4.0)};
  }
};

/// b(d + 1) - b(d) and (alpha/d)^|beta| + b(D), what the whole way from d to D adds at most, with
/// b(d) <= b(D) < 0; for the mutant b(d) - b(d + 1).
template <bool mutant>
struct PriorRisesAndFlattens {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int D = integer(in, "D");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    std::vector<R> residuals;
    for (int d = 1; d < D; d *= 2) {
      const R step = bias(d + 1) - bias(d);
      residuals.push_back(mutant ? -step : step);
      residuals.push_back(-bias(d) - (bias(D) - bias(d)));
    }
    return residuals;
  }
};

std::vector<Sample> shapes_of_negative_beta_far_end(const std::vector<double>& alphas,
                                                    const std::vector<double>& betas) {
  std::vector<Sample> samples;
  for (double alpha : alphas) {
    for (double beta : betas) {
      for (double D : {512, 64}) {
        samples.push_back(Sample{}.with("alpha", {alpha}).with("beta", {beta}).with("D", {D}));
      }
    }
  }
  return samples;
}

struct FarHalfWithMu {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int D = integer(in, "D");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta"), in.number("mu"), false};
    const reference::Vector<R> f = reference::zeros<R>(D + 1);
    const R far = mass(f, bias, D / 2 + 1, D + 1), near = mass(f, bias, 1, D / 2 + 1);
    return {far / (far + near) - R(3.0) / R(4.0)};
  }
};

}  // namespace

Claim negative_beta_far_end() {
  Claim claim;
  claim.id = "bam/negative_beta_far_end";
  claim.title = "With beta < 0 the prior is concentrated at the far end of the context";
  claim.source =
      source("Section 2.5, \"GGD-BAM with beta < 0\", second sentence; Figure 1, black curve");
  claim.statement =
      "With beta < 0 the prior probability is effectively zero in the vicinity of the query and "
      "sharply concentrated at the far end of the context window. Checked as: the farther half of "
      "the context holds at least three quarters of the prior.";
  claim.condition = "(2 alpha/D)^|beta| - (4 alpha/(3 D))^|beta| >= ln 6: alpha is large beside D.";
  claim.correction =
      "The prior rises with the distance and flattens: from d to D it grows by at most the factor "
      "e^((alpha/d)^|beta|). For a given alpha it approaches the uniform prior as D grows.";
  claim.derivation =
      "b(d) = -(alpha/d)^|beta| rises to 0. alpha = 1, beta = -1/2, D = 512: b(256) = -1/16, "
      "b(512) = -0.044, so the farther half holds 52 percent. Under the condition the keys beyond "
      "3 D/4, a quarter of all, have each at least 6 times the weight of any of the nearer half: "
      "6/4 against at most 1/2, three quarters.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "alpha = 1: mass of the farther half - 3/4 >= 0, e^(b(d)) summed over d > D/2 and "
                 "over d = 1..D, b(d) = -(d/alpha)^beta",
                 FarHalfHoldsThreeQuarters{}, shapes_of_negative_beta_far_end({1}, {-0.5, -1, -4})),
         for_all(Role::condition,
                 "alpha = 2048, 4096, beta <= -1: mass of the farther half - 3/4 >= 0",
                 FarHalfHoldsThreeQuarters{},
                 shapes_of_negative_beta_far_end({2048, 4096}, {-1, -1.25})),
         for_all(Role::correction, "b(d + 1) - b(d) >= 0 and (alpha/d)^|beta| - (b(D) - b(d)) >= 0",
                 PriorRisesAndFlattens<false>{},
                 shapes_of_negative_beta_far_end({0.5, 1, 64}, {-0.25, -1, -2}))});
  };
  claim.pictures = {pictures::prior_curves};
  claim.mutant = "The prior falls with the distance.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "b(d) - b(d + 1) >= 0", PriorRisesAndFlattens<true>{},
                   shapes_of_negative_beta_far_end({1}, {-1}));
  };
  claim.hypotheses = {
      needed("beta < 0.", "For beta > 0 the nearer half holds more.",
             [] {
               return for_all(Role::statement, "beta = 1: mass of the farther half - 3/4 >= 0",
                              FarHalfHoldsThreeQuarters{},
                              shapes_of_negative_beta_far_end({2048}, {1}));
             })
          .where("beta", below(0)),
      definition("alpha > 0.", "It is a scale: x/0 has no value."),
      needed("mu = 0.", "With mu = -512.5 it is the far end that the prior removes.",
             [] {
               return for_all(Role::statement,
                              "mass of the farther half - 3/4 >= 0 with mu = -512.5",
                              FarHalfWithMu{},
                              {Sample{}
                                   .with("alpha", {2048})
                                   .with("beta", {-1})
                                   .with("D", {512})
                                   .with("mu", {-512.5})});
             })
          .where("mu", exactly(0)),
      definition("The sentence describes one scenario; it is read for every beta < 0.",
                 "It says how the sentence is read.")};
  claim.implicit = {definition(
      "The context has a length D; alpha is not scaled with it.",
      "The condition is one on alpha/D; an alpha in proportion to D meets it at every D or "
      "at none.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
