// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Logits x = f + g of n keys, the weights p = softmax(x) and p' = softmax(s ln n x).
template <class R>
struct Scaled {
  reference::Vector<R> x, p, scaled;
  R factor;
  explicit Scaled(const Inputs<R>& in)
      : x(in["f"] + in["g"]), p(reference::softmax(x).probability) {
    factor = in.number("s") * reference::log(R(static_cast<int>(x.size())));
    reference::Vector<R> logits = x;
    for (R& logit : logits) logit = factor * logit;
    scaled = reference::softmax(logits).probability;
  }
};

/// p'_j p_0 - p'_0 p_j: p' is p divided by one number, whatever that is.
struct ScalingDividesByANumber {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const Scaled<R> row(in);
    std::vector<Placed<R>> residuals;
    for (int j = 1; j < row.x.size(); ++j) {
      residuals.push_back(
          {row.scaled[j] * row.p[0] - row.scaled[0] * row.p[j], "j = " + std::to_string(j)});
    }
    return residuals;
  }
};

/// ln(p'_j/p'_0) - c ln(p_j/p_0), c = s ln n (the mutant: c = 1), and p_j - p_cont p_pos / Z.
template <bool mutant>
struct ScalingRaisesRatios {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Scaled<R> row(in);
    const Normalisers<R> n(in);
    const auto ratio = [](const reference::Vector<R>& p, int j) {
      return reference::log(p[j]) - reference::log(p[0]);
    };
    std::vector<R> residuals;
    for (int j = 1; j < row.x.size(); ++j) {
      const R c = mutant ? R(1.0) : row.factor;
      residuals.push_back(ratio(row.scaled, j) - c * ratio(row.p, j));
      residuals.push_back(row.p[j] - n.p_cont(j) * n.p_pos(j) / n.overlap());
    }
    return residuals;
  }
};

std::vector<Sample> rows_of_ssmax_is_z() {
  std::vector<Sample> samples;
  for (double s : {1.0, 0.25}) {
    for (Sample pair : score_pairs(false, 20)) samples.push_back(pair.with("s", {s}));
  }
  return samples;
}

}  // namespace

Claim ssmax_is_z() {
  Claim claim;
  claim.id = "bam/ssmax_is_z";
  claim.title = "The scale of scalable softmax serves as the normaliser Z";
  claim.source = source(
      "Section 2.5, last sentence; appendix H.4, \"s has a similar effect to the normalizing "
      "scaler Z\"");
  claim.statement =
      "The learnable s of scalable softmax \"serves the purpose of learning the normalizing "
      "dependence scalar Z\"; \"the only effective difference is that Z should be a function of "
      "both "
      "query and keys\". So softmax(s ln n x)_j is softmax(x)_j divided by one number for each "
      "query, as Z divides in Theorem 1.";
  claim.hypotheses = {"p_ij = p_cont p_pos / Z (Theorem 1), Z one number for each query."};
  claim.implicit = shared_hypotheses();
  claim.correction =
      "s ln n is an inverse temperature (the gamma of K.1): ln(p'_j/p'_k) = s ln n ln(p_j/p_k). "
      "Dividing by Z changes no ratio, and Z is not free: it is what makes the weights sum to 1.";
  claim.derivation =
      "p_j/p_k does not contain Z. With x = (0, 0) or s ln n = 1 scaling changes nothing either; "
      "otherwise it changes every ratio between keys of different score: f = (1, 0), g = (2, 0), "
      "s = 1, n = 2: ln(p'_0/p'_1) = 3 ln 2 = 2.08 instead of 3.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "p'_j p_0 - p'_0 p_j = 0, p = softmax(f + g), p' = softmax(s ln n (f "
                             "+ g)), j = 0, 1, ...",
                             ScalingDividesByANumber{}, rows_of_ssmax_is_z()),
                     for_all(Role::correction,
                             "ln(p'_j/p'_0) - s ln n ln(p_j/p_0) = 0 and p_j - p_cont p_pos/Z = 0",
                             ScalingRaisesRatios<false>{}, rows_of_ssmax_is_z())});
  };
  claim.mutant = "ln(p'_j/p'_k) = ln(p_j/p_k).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "ln(p'_j/p'_0) - ln(p_j/p_0) = 0", ScalingRaisesRatios<true>{},
                   rows_of_ssmax_is_z());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
