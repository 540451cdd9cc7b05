// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// <p_cont, p_pos> and 1 - <p_cont, p_pos>, neither negative.
struct OverlapInUnitInterval {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R overlap = Normalisers<R>(in).overlap();
    return {overlap, R(1.0) - overlap};
  }
};

/// The same, both positive: the ends are not reached.
struct OverlapInOpenInterval {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R overlap = Normalisers<R>(in).overlap();
    return {overlap, R(1.0) - overlap};
  }
};

/// The mutant: the overlap is at least 1/n, its value for two uniform vectors.
struct OverlapAtLeastUniform {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.overlap() - R(1.0) / R(static_cast<double>(n.keys()))};
  }
};

Sample vectors(std::vector<double> p, std::vector<double> q) {
  return Sample{}.with("p", std::move(p)).with("q", std::move(q));
}

struct DotAtMostOne {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R dot = reference::dot(in["p"], in["q"]);
    return {{dot, "<p, q>"}, {R(1.0) - dot, "1 - <p, q>"}};
  }
};

}  // namespace

Claim z_overlap_range() {
  Claim claim;
  claim.id = "bam/z_overlap_range";
  claim.title = "The overlap of content and position lies in [0, 1]";
  claim.source = source("Appendix K.2, first bullet, first half");
  claim.statement = "<p_cont, p_pos> = sum_j p_cont(j) p_pos(j) lies in [0, 1].";
  claim.correction =
      "Sharper: with two or more keys and finite scores, 0 < <p_cont, p_pos> < 1. The paper's "
      "\"minimal when they are disjoint\" describes an infimum: softmax vectors have no zeros, so "
      "they are never disjoint.";
  claim.derivation =
      "All terms are products of non-negative numbers, so the sum is >= 0. Since p_pos(j) <= 1, "
      "the sum is <= sum_j p_cont(j) = 1. A softmax is positive in every component, so the sum is "
      "> 0; with two keys or more every p_pos(j) < 1, so it is < 1.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together({for_all(Role::statement, "<p_cont, p_pos> >= 0 and 1 - <p_cont, p_pos> >= 0",
                             OverlapInUnitInterval{}, score_pairs(true)),
                     for_all(Role::correction, "both inequalities are strict with 2 keys or more",
                             OverlapInOpenInterval{}, score_pairs(false))});
  };
  claim.mutant = "<p_cont, p_pos> is at least 1/n, its value for uniform vectors.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "<p_cont, p_pos> - 1/n >= 0", OverlapAtLeastUniform{},
                   score_pairs(true));
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {
      needed("p_cont and p_pos are not negative and sum to 1.",
             "(2, 0) and (1, 0) have the product 2.",
             [] {
               return for_all(Role::statement, "1 - <p, q> >= 0 with p = (2, 0), not normalised",
                              DotAtMostOne{}, {vectors({2, 0}, {1, 0})});
             })
          .where("p", at_most(1)),
      not_needed("They are softmax vectors.", "Zeros do no harm.",
                 [] {
                   return for_all(Role::statement,
                                  "<p, q> >= 0 and 1 - <p, q> >= 0 for p, q with zeros",
                                  DotAtMostOne{},
                                  {vectors({1, 0}, {0, 1}), vectors({1, 0}, {1, 0}),
                                   vectors({0.5, 0.5, 0}, {0.25, 0, 0.75})});
                 }),
      definition("Over the same keys.", "Otherwise there is no product.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
