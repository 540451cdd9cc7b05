// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// sign (a(d + 1) - a(d)) > 0.
template <int sign>
struct BiasRises {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    std::vector<Placed<R>> residuals;
    for (int d : {0, 1, 7, 100}) {
      residuals.push_back({R(sign) * (bias(d + 1, 0) - bias(d, 0)), "d = " + std::to_string(d)});
    }
    return residuals;
  }
};

/// Equal steps: a(d + 2) - 2 a(d + 1) + a(d).
struct StepsAreEqual {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    std::vector<R> residuals;
    for (int d : {0, 1, 7, 100}) {
      residuals.push_back(bias(d + 2, 0) - R(2.0) * bias(d + 1, 0) + bias(d, 0));
    }
    return residuals;
  }
};

std::vector<Sample> slopes_of_alibi_linear_bias(const std::vector<double>& values) {
  std::vector<Sample> samples;
  for (double m : values) samples.push_back(Sample{}.with("m", {m}));
  return samples;
}

}  // namespace

Claim alibi_linear_bias() {
  Claim claim;
  claim.id = "bam/alibi_linear_bias";
  claim.title = "ALiBi injects a linearly increasing bias";
  claim.source = source("Section 2.5, \"ALiBi as a Laplace Prior\"");
  claim.statement =
      "\"The ALiBi mechanism injects a linearly increasing bias into the attention logits\": "
      "a(d + 1) > a(d), by equal steps.";
  claim.hypotheses = {needed("m > 0.", "At m = 0 there is no bias.", [] {
                        return for_all(Role::statement, "|a(d + 1)| - |a(d)| > 0 with m = 0",
                                       BiasRises<-1>{}, slopes_of_alibi_linear_bias({0}));
                      }).where("m", above(0))};
  claim.implicit = {definition("d is the distance of the key from the query.",
                               "It says along what the bias increases.")};
  claim.condition = "\"Bias\" means its size, the penalty.";
  claim.derivation =
      "a(d) = -m d falls by m in every step, and its size rises by m. Added to the logits, it is "
      "the falling a that makes the prior decay, as the next sentence says.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "a(d + 1) - a(d) > 0, a(d) = -m d", BiasRises<1>{},
                             slopes_of_alibi_linear_bias({0.5, 0x1p-8})),
                     for_all(Role::condition, "|a(d + 1)| - |a(d)| > 0", BiasRises<-1>{},
                             slopes_of_alibi_linear_bias({0.5, 1, 0x1p-8})),
                     for_all(Role::condition, "a(d + 2) - 2 a(d + 1) + a(d) = 0", StepsAreEqual{},
                             slopes_of_alibi_linear_bias({0.5, 1, 0x1p-8}))});
  };
  claim.mutant = "Its size rises for the slope 0 as well.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "|a(d + 1)| - |a(d)| > 0 with m = 0", BiasRises<-1>{},
                   slopes_of_alibi_linear_bias({0}));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
