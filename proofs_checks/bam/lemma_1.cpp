// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// With L keys of which the first i are visible: softmax(M)_j - u_j, and the causal weight less
/// p_cont(j) u_j / Z, Z = sum_z p_cont(z) u_z, where p_cont is taken over all L keys. u_j = 1/i for
/// j <= i and 0 beyond; for the mutant u_j = 1/L everywhere.
template <bool mutant>
struct MaskIsUniformPrior {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& f = in["f"];
    const int L = static_cast<int>(f.size()), i = integer(in, "i");
    const reference::Vector<R> content = reference::softmax(f).probability;
    const auto causal = reference::softmax(reference::Vector<R>(f.head(i))).probability;
    const auto mask = reference::softmax(reference::Vector<R>(reference::zeros<R>(i))).probability;
    reference::Vector<R> uniform(L);
    for (int j = 0; j < L; ++j) {
      uniform[j] = mutant ? R(1.0) / R(L) : j < i ? R(1.0) / R(i) : R(0.0);
    }
    const R Z = reference::dot(content, uniform);
    std::vector<R> residuals;
    for (int j = 0; j < L; ++j) {
      residuals.push_back((j < i ? mask[j] : R(0.0)) - uniform[j]);
      residuals.push_back((j < i ? causal[j] : R(0.0)) - content[j] * uniform[j] / Z);
    }
    return residuals;
  }
};

/// Every query position of some score lists.
std::vector<Sample> causal_rows() {
  std::vector<Sample> samples;
  for (const Sample& pair : score_pairs(true, 8)) {
    const std::vector<double>& f = pair.quantities.front().lower;
    for (std::size_t i = 1; i <= f.size(); ++i) {
      samples.push_back(Sample{}.with("f", f).with("i", {static_cast<double>(i)}));
    }
  }
  return samples;
}

struct FiniteMaskIsUniformPrior {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int L = integer(in, "L"), i = integer(in, "i");
    reference::Vector<R> mask(L);
    for (int j = 0; j < L; ++j) mask[j] = j < i ? R(0.0) : in.number("M for j > i");
    const auto prior = reference::softmax(mask).probability;
    return {prior[0] - R(1.0) / R(i)};
  }
};

struct PriorCountedFromZero {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int i = integer(in, "i");
    const auto mask = reference::softmax(reference::Vector<R>(reference::zeros<R>(i + 1)));
    return {mask.probability[0] - R(1.0) / R(i)};
  }
};

}  // namespace

Claim lemma_1() {
  Claim claim;
  claim.id = "bam/lemma_1";
  claim.title = "The causal mask is a uniform prior";
  claim.source = source("Lemma 1, section 2.2, and its proof, appendix B.1");
  claim.statement =
      "Causal mask => p(g_pos(i, j)) = Uniform(1, i, j): softmax(M_i)_j = 1/i for j <= i and 0 "
      "otherwise, and softmax(q_i K^T + M_i) is the content's softmax times this prior over Z.";
  claim.derivation =
      "e^0 = 1 for i keys and e^(-inf) = 0 for the others, so softmax(M_i) is 1/i on the visible "
      "keys. p_cont over all L keys times the prior over its sum is e^(f_j) / sum_{z <= i} "
      "e^(f_z): "
      "what p_cont spends on keys after the query cancels in Z.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(
        Role::statement,
        "softmax(M)_j - u_j = 0 and softmax(f + M)_j - p_cont u_j / Z = 0 for all L keys",
        MaskIsUniformPrior<false>{}, causal_rows());
  };
  claim.pictures = {pictures::prior_curves};
  claim.mutant = "The prior is 1/L for each of the L keys.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "the same with u_j = 1/L", MaskIsUniformPrior<true>{},
                   causal_rows());
  };
  claim.hypotheses = {
      definition("M_ij = 0 for j <= i.", "It is the causal mask."),
      needed("M_ij is minus infinity for j > i.",
             "A finite score leaves weight on the keys after the query.", [] {
               return for_all(Role::statement, "softmax(M)_j - u_j = 0 with M_ij = -8 for j > i",
                              FiniteMaskIsUniformPrior{},
                              {Sample{}.with("L", {3}).with("i", {2}).with("M for j > i", {-8})});
             })};
  claim.implicit = {
      definition("The content scores are finite, also those of the keys after the query.",
                 "inf - inf, a content and its mask, has no value."),
      needed("Positions are counted from 1, so the first query sees one key.",
             "Counted from 0, query i sees i + 1 keys.", [] {
               return for_all(Role::statement, "softmax(M)_j - 1/i = 0, the query sees i + 1 keys",
                              PriorCountedFromZero{}, {Sample{}.with("i", {1})});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
