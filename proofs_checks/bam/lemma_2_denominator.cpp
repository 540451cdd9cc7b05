// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// (m/2) e^(-m d) for the n distances of a row.
template <class R>
reference::Vector<R> densities(const R& m, int n) {
  reference::Vector<R> result(n);
  for (int d = 0; d < n; ++d) result[d] = m / R(2.0) * reference::exp(LaplaceBias<R>{m}(d));
  return result;
}

/// Laplace(d) / sum_z Laplace(z) - Laplace(d).
struct DenominatorIsOne {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto laplace = densities(in.number("m"), static_cast<int>(in["f"].size()));
    const R total = reference::sum(laplace);
    std::vector<R> residuals;
    for (const R& density : laplace) residuals.push_back(density / total - density);
    return residuals;
  }
};

/// softmax(f + A)_d - p_cont(d) u_d / Z with u the density, not normalised, and
/// Z = sum_z p_cont(z) u_z; for the mutant Z is taken with the normalised u.
template <bool mutant>
struct AnotherZAbsorbsIt {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& f = in["f"];
    const int n = static_cast<int>(f.size());
    const LaplaceBias<R> bias{in.number("m")};
    const auto u = densities(in.number("m"), n);
    const auto content = reference::softmax(f).probability;
    reference::Vector<R> logits = f;
    for (int d = 0; d < n; ++d) logits[d] += bias(d);
    const auto joint = reference::softmax(logits).probability;
    const R Z = reference::dot(content, u) / (mutant ? reference::sum(u) : R(1.0));
    std::vector<R> residuals;
    for (int d = 0; d < n; ++d) residuals.push_back(joint[d] - content[d] * u[d] / Z);
    return residuals;
  }
};

std::vector<Sample> contents_and_slopes() {
  std::vector<Sample> samples = {Sample{}.with("f", {0}).with("m", {1})};
  for (double m : {1.0, 0.5, 0x1p-8}) {
    for (const Sample& pair : score_pairs(true, 8)) {
      samples.push_back(Sample{}.with("f", pair.quantities.front().lower).with("m", {m}));
    }
  }
  return samples;
}

}  // namespace

Claim lemma_2_denominator() {
  Claim claim;
  claim.id = "bam/lemma_2_denominator";
  claim.title = "The normalising denominator can be dropped";
  claim.source = source("Appendix B.2, the last equality of the displayed chain");
  claim.statement =
      "Laplace(0, 1/m, j - i) / sum_z (m/2) exp(-m |z - i|) = Laplace(0, 1/m, j - i), the "
      "denominator being dropped because Z_ALiBi accounts for the normalisation.";
  claim.hypotheses = {"Z_ALiBi normalises the product of content, mask and Laplace factors."};
  claim.implicit = {"m > 0, finitely many visible keys."};
  claim.correction =
      "The factor may be dropped from the product only by changing Z with it: p_ij = p_cont(j) u_j "
      "/ "
      "sum_z p_cont(z) u_z for u_j = (m/2) e^(-m |j - i|), normalised or not.";
  claim.derivation =
      "The equality needs sum_z (m/2) e^(-m |z - i|) = 1. With one key and m = 1 the left side is "
      "1 "
      "and the right 1/2. Not even all the integers save it: (m/2) coth(m/2) > 1. A factor common "
      "to all u_j cancels between u_j and the sum in Z, which is what the proof needs.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "Laplace / sum - Laplace = 0", DenominatorIsOne{},
                             contents_and_slopes()),
                     for_all(Role::correction, "softmax(f + A) - p_cont u / sum p_cont u = 0",
                             AnotherZAbsorbsIt<false>{}, contents_and_slopes())});
  };
  claim.mutant = "The Z of the normalised prior serves u that is not normalised.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "softmax(f + A) - p_cont u sum u / sum p_cont u = 0",
                   AnotherZAbsorbsIt<true>{}, contents_and_slopes());
  };
  claim.correction_hypotheses = {
      needed("Z is the sum with the same u.", "The Z of the normalised u serves no other.",
             claim.mutant_checks),
      definition("m > 0.",
                 "For m <= 0 there is no Laplace density. (The factor m/2 cancels for m < 0 as "
                 "well; only m = 0 gives 0/0.)"),
      definition("Finitely many visible keys.", "Otherwise the sum need not converge.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
