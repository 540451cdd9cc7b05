// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// rate - |b(d) - b(own)|, rate = e^(beta (|ln d| + |ln epsilon|)) - 1 and alpha = 1, where the own
/// key's bias is -epsilon^beta, or 0 without epsilon (then the rate has no epsilon either).
template <bool with_epsilon, bool mutant = false>
struct BiasesApproachEachOther {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &beta = in.number("beta"), d = in.number("d"), one(1.0);
    const R base = with_epsilon ? in.number("epsilon") : one;
    const R own = with_epsilon ? reference::power(base, beta) : R(0.0);
    const R other = reference::power(with_epsilon ? d + base : d, beta);
    const R logs = reference::log(d + base) - (mutant ? R(0.0) : reference::log(base));
    return {reference::exp(beta * logs) - one - reference::absolute(other - own)};
  }
};

std::vector<Sample> shapes_of_ggd_limits(bool with_epsilon = true) {
  std::vector<Sample> samples;
  for (double beta : {0.5, 0.125, 0x1p-6, 0x1p-12, 0x1p-20}) {
    for (double d : {1, 2, 512}) {
      Sample sample = Sample{}.with("beta", {beta}).with("d", {d});
      if (with_epsilon) sample.with("epsilon", {0x1p-16});
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

/// The rate of the condition for other parameters; the bias at distance d against that at another.
struct BiasesApproach {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &beta = in.number("beta"), &epsilon = in.number("epsilon"), one(1.0);
    const auto size = [&](const R& d) {
      return reference::power(d + in.number("mu") + epsilon, beta);
    };
    const R &d = in.number("d"), scale = reference::exp(in.number("theta_alpha"));
    const R difference = scale * size(d) - scale * size(in.number("own key at"));
    const R logs = reference::log(d + in.number("mu") + epsilon) - reference::log(epsilon);
    return {reference::exp(reference::absolute(beta) * logs) - one -
            reference::absolute(difference) / scale};
  }
};

}  // namespace

Claim ggd_limits() {
  Claim claim;
  claim.id = "bam/ggd_limits";
  claim.title = "As beta falls to 0 the prior becomes uniform";
  claim.source = source(
      "Appendix H.1: theta_beta = 0 is a uniform prior, \"a middle ground\" between beta = 1 and "
      "beta < 0; the definition in section 2.3");
  claim.statement =
      "theta_beta = 0, the uniform prior, is a middle ground between a Laplace prior and beta < 0: "
      "for beta -> 0+ all biases b_ij = -|(j - i)/alpha|^beta approach each other.";
  claim.condition = "The bias has appendix C's epsilon > 0.";
  claim.correction =
      "Without epsilon the own key keeps b = 0 while all others tend to -1: in the limit it has e "
      "times the weight of any other, and from beta < 0 it has none: the uniform prior is the "
      "limit "
      "from neither side.";
  claim.derivation =
      "d^beta -> 1 for d >= 1, but 0^beta = 0 for every beta > 0. With epsilon the difference is "
      "(d + epsilon)^beta - epsilon^beta <= ((d + epsilon)/epsilon)^beta - 1 = "
      "e^(beta ln((d + epsilon)/epsilon)) - 1 -> 0, slowly: ln epsilon = -11.5.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(
             Role::statement,
             "without epsilon: e^(beta ln(d + 1)) - 1 - |b - b_own| >= 0, b = -d^beta, b_own = 0",
             BiasesApproachEachOther<false>{}, shapes_of_ggd_limits(false)),
         for_all(Role::condition,
                 "epsilon = 2^-16: e^(beta ln((d + epsilon)/epsilon)) - 1 - |b - b_own| >= 0",
                 BiasesApproachEachOther<true>{}, shapes_of_ggd_limits())});
  };
  claim.pictures = {pictures::ggd_shapes};
  claim.mutant = "The rate is e^(beta ln(d + epsilon)) - 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement,
                   "epsilon = 2^-16: e^(beta ln(d + epsilon)) - 1 - |b - b_own| >= 0",
                   BiasesApproachEachOther<true, true>{}, shapes_of_ggd_limits());
  };
  const auto with = [](const std::string& what, const Sample& sample) {
    return [=] {
      return for_all(Role::statement,
                     "e^(|beta| (ln(d + mu + epsilon) - ln epsilon)) - 1 - |b - b_own| "
                     "e^-theta_alpha >= 0, " +
                         what,
                     BiasesApproach{}, {sample});
    };
  };
  const auto sample = [](double beta, double mu, double theta_alpha, double own) {
    return Sample{}
        .with("beta", {beta})
        .with("d", {512})
        .with("epsilon", {0x1p-16})
        .with("mu", {mu})
        .with("theta_alpha", {theta_alpha})
        .with("own key at", {own});
  };
  claim.hypotheses = {
      not_needed("mu = 0.", "All biases tend to -1 whatever mu is.",
                 with("mu = 5/2", sample(0x1p-6, 2.5, 0, 0)))
          .where("mu", exactly(0)),
      not_needed("beta -> 0 from above.", "With epsilon it is the limit from below as well.",
                 with("beta < 0", sample(-0x1p-6, 0, 0, 0)))
          .where("beta", above(0))};
  claim.implicit = {
      not_needed("alpha = 1 is kept (theta_alpha = 0).",
                 "theta_alpha multiplies all biases by e^theta_alpha.",
                 with("theta_alpha = 1", sample(0x1p-6, 0, 1, 0)))
          .where("theta_alpha", exactly(0)),
      not_needed("The query's own key is among the keys.",
                 "With epsilon the other keys approach each other as well, and sooner.",
                 with("against the key at distance 1", sample(0x1p-6, 0, 0, 1)))
          .where("own key at", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
