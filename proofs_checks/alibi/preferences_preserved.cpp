// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/rows.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

struct SameRatio {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int a : {1, 5, 11})
        residuals.push_back(reference::log(p[a]) - reference::log(p[0]) + m * R(a));
    }
    return residuals;
  }
};

struct Limit {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int d : {0, 5, 11}) {
        const R above = p[d] - reference::exp(-(m * R(d))) * (R(1.0) - reference::exp(-m));
        residuals.push_back(above);
        residuals.push_back(p[d] * reference::exp(-(m * R(keys))) - above);
      }
    }
    return residuals;
  }
};

struct SameWeight {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {weights_by_distance(in.number("m"), 100)[5] -
            weights_by_distance(in.number("m"), 12)[5]};
  }
};

std::vector<Sample> slopes_of_preferences_preserved() {
  return {Sample{}.with("m", {0x1p-8}), Sample{}.with("m", {0.0625}), Sample{}.with("m", {0.5})};
}

struct SameRatioWithContent {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    reference::Vector<R> logits(12);
    for (int d = 0; d < 12; ++d) logits[d] = bias(d, 0);
    logits[1] += in.number("s at distance 1");
    const auto p = reference::softmax(logits).probability;
    return {reference::log(p[1]) - reference::log(p[0]) + in.number("m")};
  }
};

struct SameRatioBothSides {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    reference::Vector<R> logits(12);
    for (int j = 0; j < 12; ++j) logits[j] = bias(6, j);
    const auto p = reference::softmax(logits).probability;
    std::vector<R> residuals;
    for (int j = 0; j < 12; ++j) {
      residuals.push_back(reference::log(p[j]) - reference::log(p[6]) - bias(6, j));
    }
    return residuals;
  }
};

}  // namespace

Claim preferences_preserved() {
  Claim claim;
  claim.id = "alibi/preferences_preserved";
  claim.title = "The preferences between near and far are preserved";
  claim.source = source("Why does this work so well, 1");
  claim.statement =
      "The pattern of preferences between near and far tokens is preserved even when absolute "
      "positions become much larger than during training: the ratio of the weights at two "
      "distances is the same at every position.";
  claim.correction =
      "The ratios of weights are preserved exactly; the weights themselves fall with the number of "
      "keys n to a positive limit, at the rate e^(-m n).";
  claim.derivation =
      "p(a)/p(b) = e^(-m (a - b)) e^(s_a - s_b) with the content scores s: the denominator, which "
      "depends on the position, cancels. The weights themselves do depend on it: for equal content "
      "p(d) = e^(-m d) (1 - e^(-m))/(1 - e^(-m n)) with n keys, which falls to e^(-m d) (1 - "
      "e^(-m)) as n grows; relative to the limit the difference is e^(-m n)/(1 - e^(-m n)).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "ln p(a) - ln p(b) + m (a - b) = 0 for 12 and 100 keys",
                 SameRatio{}, slopes_of_preferences_preserved()),
         for_all(Role::correction,
                 "0 <= p(d) - e^(-m d) (1 - e^(-m)) <= p(d) e^(-m n), n = 12, 100", Limit{},
                 slopes_of_preferences_preserved())});
  };
  claim.mutant = "The weight at distance 5 is the same for 12 and for 100 keys.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p(5) of 100 keys - p(5) of 12 keys = 0", SameWeight{},
                   slopes_of_preferences_preserved());
  };
  claim.implicit = {
      needed("The content scores at the two distances are the same at both positions; the checks "
             "take equal ones.",
             "The ratio has the factor e^(s_a - s_b) of the content.",
             [] {
               return for_all(Role::statement,
                              "ln p(1) - ln p(0) + m = 0 with content s at distance 1",
                              SameRatioWithContent{},
                              {Sample{}.with("m", {0.5}).with("s at distance 1", {1})});
             })
          .where("s at distance 1", exactly(0)),
      not_needed("Attention is causal: j <= i.",
                 "Keys after the query change the denominator, which cancels.", [] {
                   return for_all(Role::statement,
                                  "ln p_6j - ln p_66 + m |6 - j| = 0 for all j of 12 keys",
                                  SameRatioBothSides{}, slopes_of_preferences_preserved());
                 })};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
