// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// p - c for the farthest of n keys besides the query's own, equal contents; the own key has weight
/// 0, so the others stand at distances 1..n.
struct FarWeightStaysAbove {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int n = integer(in, "n");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    const reference::Vector<R> f = reference::zeros<R>(n + 1);
    return {reference::exp(bias(n)) / mass(f, bias, 1, n + 1) - in.number("c")};
  }
};

/// e/n - c, which is more than p - c for alpha = 1 and equal contents, at every length of a box.
struct FarWeightReturns {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::exp(R(1.0)) / in.number("n") - in.number("c")};
  }
};

/// e^(2 F + alpha^|beta|) / n - p of the farthest of n keys, for every content within [-F, F].
struct FarWeightBelowRate {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    const reference::Vector<R>& delta = in["delta"];  // keys at distances 1, ..., n - 1
    const R &F = in.number("F"), one(1.0);
    const int n = static_cast<int>(delta.size()) + 1;
    R others(0.0);
    for (int d = 1; d < n; ++d) others += reference::exp(delta[d - 1] + (bias(d) - bias(n)));
    return {reference::exp(F + F - bias(1)) / R(n) - one / (one + others)};
  }
};

/// p_d - e^(b_d) p_NoPE,d at every distance d >= 1, for any content f[d], d = 0 the own key; for
/// the mutant without e^(b_d).
template <bool mutant>
struct NotDampedBesideNope {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& f = in["f"];
    const int n = static_cast<int>(f.size()) - 1;
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    reference::Vector<R> logits(n);
    for (int d = 1; d <= n; ++d) logits[d - 1] = f[d] + bias(d);
    const auto with = reference::softmax(logits).probability;
    const auto without = reference::softmax(f).probability;
    std::vector<R> residuals;
    for (int d = 1; d <= n; ++d) {
      const R factor = mutant ? R(1.0) : reference::exp(bias(d));
      residuals.push_back(with[d - 1] - factor * without[d]);
    }
    return residuals;
  }
};

/// Thresholds c and the length n >= e/c at which the weight has fallen below c (alpha = 1).
std::vector<Sample> thresholds() {
  std::vector<Sample> samples;
  for (double beta : {-1.0, -0.25}) {
    for (double c : {0.1, 0.01, 0.001}) {
      samples.push_back(Sample{}
                            .with("alpha", {1})
                            .with("beta", {beta})
                            .with("c", {c})
                            .with("n", {std::ceil(2.75 / c)}));
    }
  }
  return samples;
}

/// All lengths from there to 2^60.
std::vector<Sample> longer() {
  std::vector<Sample> samples;
  for (double c : {0.1, 0.01, 0.001, 1e-9}) {
    samples.push_back(Sample{}.with("c", {c}).within("n", std::ceil(2.75 / c), 0x1p60));
  }
  return samples;
}

std::vector<Sample> bounded_contents_of_theorem_4() {
  std::vector<Sample> samples;
  for (double F : {0.0, 2.0}) {
    for (double alpha : {0.5, 4.0}) {
      for (double beta : {-0.25, -2.0}) {
        for (int n : {2, 16, 256}) {
          samples.push_back(contents_within(F, n - 1).with("alpha", {alpha}).with("beta", {beta}));
        }
      }
    }
  }
  return samples;
}

std::vector<Sample> any_contents_of_theorem_4() {
  std::vector<Sample> samples;
  for (double alpha : {1.0, 4.0}) {
    for (double beta : {-0.5, -2.0}) {
      for (const Sample& pair : score_pairs(false, 20)) {
        samples.push_back(Sample{}
                              .with("f", pair.quantities.front().lower)
                              .with("alpha", {alpha})
                              .with("beta", {beta}));
      }
    }
  }
  return samples;
}

/// Contents f_n = ln(n - 1) at the farthest key and 0 elsewhere, against the rate with F = 0.
struct UnboundedFarWeight {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int n = integer(in, "n");
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    const reference::Vector<R> f = reference::zeros<R>(n + 1);
    const R far = R(n - 1) * reference::exp(bias(n));
    return {reference::exp(-bias(1)) / R(n) - far / (far + mass(f, bias, 1, n))};
  }
};

/// 1 - e^-y <= y with y = (alpha/d)^|beta|.
struct FactorTendsToOne {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &d = in.number("d");
    const R bias = -reference::power(d / alpha, beta);
    return {reference::exp(bias) - R(1.0) + reference::power(alpha / d, reference::absolute(beta))};
  }
};

/// The query's own key first, all keys with the bias of a mu that is at no key.
struct BesideNopeWithMu {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& f = in["f"];
    const GgdBias<R> bias{in.number("alpha"), in.number("beta"), in.number("mu"), false};
    reference::Vector<R> logits = f;
    for (int d = 0; d < f.size(); ++d) logits[d] += bias(d);
    const auto with = reference::softmax(logits).probability;
    const auto without = reference::softmax(f).probability;
    std::vector<R> residuals;
    for (int d = 1; d < f.size(); ++d) {
      residuals.push_back(with[d] - reference::exp(bias(d)) * without[d]);
    }
    return residuals;
  }
};

}  // namespace

Claim theorem_4() {
  Claim claim;
  claim.id = "bam/theorem_4";
  claim.title = "With beta < 0 the weight of a key does not tend to 0 with its distance";
  claim.source = source("Theorem 4, section 2.4, and appendix B.7");
  claim.statement =
      "For all beta < 0 and alpha > 0, if p_ij = softmax(q_i K^T + M_i + B_i) then lim p_ij is not "
      "0 as |j - i| -> infinity.";
  claim.hypotheses = {"beta < 0, alpha > 0 (B.7; section 2.4 has alpha >= 0), mu = 0.",
                      "\"A fixed query q_i\"."};
  claim.implicit = {
      "The length grows with the distance, as in Lemmas 3 and 4, whose proofs this one repeats. At "
      "a fixed length the statement is empty: every softmax weight is positive, ALiBi's as well."};
  claim.correction =
      "With |f| <= F: p_ij <= e^(2 F + alpha^|beta|) / (i - 1) -> 0. What beta < 0 gives is "
      "relative: p_ij >= e^(b_ij) p_ij^NoPE with e^(b_ij) -> 1, for every content and length, so a "
      "distant key gets in the limit at least what it gets without any positional score.";
  claim.derivation =
      "b_ij -> 0, but the limit is taken inside a softmax whose length is held fixed while the "
      "distance grows beyond it. The denominator has i - 1 terms of at least e^(-F - "
      "alpha^|beta|): the weight falls like 1/i. With equal contents and alpha = 1, p <= e/(i - "
      "1): below any c at i = 1 + e/c. B.7 ends with softmax(q_i K^T + M_i), \"not necessarily "
      "zero\": that is NoPE's weight, which tends to 0 as well. NoPE's denominator has every term "
      "of BAM's divided by e^b <= 1, and the own key's: the relative bound. (The sentence \"plug 0 "
      "back ... minus infinity ... 0\" in B.7 is left over from B.6.)";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "equal contents, alpha = 1: p_far - c >= 0 at every length n, p_far = e^(b(n)) / "
                 "sum_{d=1..n} e^(b(d)), b(d) = -(d/alpha)^beta",
                 FarWeightStaysAbove{}, thresholds()),
         for_all(Role::statement,
                 "and it comes back above c at some longer one: e/n - c >= 0, e/n >= p_far",
                 FarWeightReturns{}, longer()),
         for_all(Role::correction,
                 "e^(2 F + alpha^|beta|)/n - p_far >= 0 on all contents in [-F, F]",
                 FarWeightBelowRate{}, bounded_contents_of_theorem_4()),
         for_all(Role::correction, "p_ij - e^(b_ij) p_ij^NoPE >= 0", NotDampedBesideNope<false>{},
                 any_contents_of_theorem_4())});
  };
  claim.pictures = {pictures::negative_beta_decay};
  claim.mutant = "p_ij >= p_ij^NoPE at every distance.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_ij - p_ij^NoPE >= 0", NotDampedBesideNope<true>{},
                   any_contents_of_theorem_4());
  };
  claim.correction_hypotheses = {
      needed(
          "The content scores are bounded, |f| <= F (for the rate).",
          "The farthest of n keys keeps 1/2 if its content is ln(n - 1) more and alpha is small.",
          [] {
            return for_all(Role::statement, "e^(alpha^|beta|)/n - p_far >= 0 with f_far = ln 1024",
                           UnboundedFarWeight{},
                           {Sample{}.with("alpha", {0.125}).with("beta", {-1}).with("n", {1025})});
          }),
      needed("beta < 0 (for e^(b_ij) -> 1; the bound itself holds for every bias <= 0).",
             "For beta > 0 the factor e^(b_ij) tends to 0.",
             [] {
               return for_all(Role::statement, "e^(b(d)) - 1 + (alpha/d)^|beta| >= 0 with beta = 1",
                              FactorTendsToOne{},
                              {Sample{}.with("alpha", {1}).with("beta", {1}).with("d", {10})});
             })
          .where("beta", below(0)),
      not_needed("mu = 0.",
                 "For every mu all biases are at most 0, so NoPE's denominator is at least BAM's "
                 "and p_d >= e^(b_d) p_d^NoPE.",
                 [] {
                   return for_all(Role::statement, "mu = 1, -5/2: p_d - e^(b_d) p_d^NoPE >= 0",
                                  BesideNopeWithMu{},
                                  {Sample{}
                                       .with("alpha", {1})
                                       .with("beta", {-1})
                                       .with("mu", {1})
                                       .with("f", {1, 0, -2, 3}),
                                   Sample{}
                                       .with("alpha", {1})
                                       .with("beta", {-1})
                                       .with("mu", {-2.5})
                                       .with("f", {1, 0, -2, 3})});
                 })
          .where("mu", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
