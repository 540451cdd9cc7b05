// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// sum over all integers k of e^(-m |k|) = (1 + q)/(1 - q), q = e^-m.
template <class R>
R sum_over_integers(const R& m) {
  const R q = reference::exp(-m);
  return (R(1.0) + q) / (R(1.0) - q);
}

struct DensitySumsToOne {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    return {m / R(2.0) * sum_over_integers(m) - R(1.0)};
  }
};

/// tanh(x) times the sum, less 1; x = m/2, for the mutant x = m.
template <bool mutant>
struct TanhNormalises {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    const R x = mutant ? m : m / R(2.0);
    const R up = reference::exp(x), down = reference::exp(-x);
    return {(up - down) / (up + down) * sum_over_integers(m) - R(1.0)};
  }
};

std::vector<Sample> slopes_of_laplace_over_tokens() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.5, 0.25, 0.0625, 0x1p-8, 3.0}) {
    samples.push_back(Sample{}.with("m", {m}));
  }
  return samples;
}

}  // namespace

Claim laplace_over_tokens() {
  Claim claim;
  claim.id = "bam/laplace_over_tokens";
  claim.title = "The Laplace density is a distribution over token positions";
  claim.source = source("Appendix B.2, Laplace(0, 1/m, j - i) with the factor m/2");
  claim.statement =
      "(m/2) exp(-m |j - i|) is a probability distribution over the positions j, already without "
      "any mask: it sums to 1 over the integers.";
  claim.hypotheses = {"m > 0."};
  claim.implicit = {"Positions are integers; the density with m/2 is normalised over the reals."};
  claim.correction = "Over the integers the factor is tanh(m/2), not m/2.";
  claim.derivation =
      "sum_k q^|k| = 1 + 2 q/(1 - q) = (1 + q)/(1 - q) = coth(m/2), and (m/2) coth(m/2) > 1 for "
      "m > 0 because tanh x < x; m = 1: 1.0820. The error vanishes like m^2/12 for small slopes.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "(m/2) sum e^(-m |k|) - 1 = 0, the sum over all whole k",
                 DensitySumsToOne{}, slopes_of_laplace_over_tokens()),
         for_all(Role::correction, "tanh(m/2) sum e^(-m |k|) - 1 = 0", TanhNormalises<false>{},
                 slopes_of_laplace_over_tokens())});
  };
  claim.pictures = {pictures::laplace_sum};
  claim.mutant = "The factor is tanh(m).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "tanh(m) sum e^(-m |k|) - 1 = 0", TanhNormalises<true>{},
                   slopes_of_laplace_over_tokens());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
