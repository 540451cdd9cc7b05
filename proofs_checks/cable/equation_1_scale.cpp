// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// 0: the query is scaled. 1: nothing is. 2: the sum is. 3: the query, against the sum.
template <int reading>
struct Logits {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto &q = in["q"], &k = in["k"];
    const R root = reference::sqrt(R(static_cast<int>(q.size()))), &b = in.number("b");
    R product(0.0), scaled_query(0.0);
    for (int c = 0; c < q.size(); ++c) {
      product += q[c] * k[c];
      scaled_query += q[c] / root * k[c];
    }
    const R scaled = product / root + b;
    if (reading == 0) return {scaled_query + b - scaled};
    if (reading == 3) return {scaled_query + b - (product + b) / root};
    return {(reading == 1 ? product + b : (product + b) / root) - scaled};
  }
};

std::vector<Sample> pairs_of_vectors() {
  return {Sample{}.with("q", {1, 2, -1, 0.5}).with("k", {2, 0, 1, 4}).with("b", {-0.5}),
          Sample{}
              .with("q", std::vector<double>(64, 1))
              .with("k", std::vector<double>(64, 1))
              .with("b", {-3})};
}

}  // namespace

Claim equation_1_scale() {
  Claim claim;
  claim.id = "cable/equation_1_scale";
  claim.title = "Additive biases join the products of queries and keys";
  claim.source = source("Section 2, eq. 1");
  claim.statement =
      "A_RPE(X) = X W_Q (X W_K)^T + B: the logits of scaled attention with an additive bias, q . k "
      "/ sqrt(d) + b.";
  claim.condition = "W_Q contains the factor 1/sqrt(d).";
  claim.derivation =
      "Eq. 1 has no 1/sqrt(d). With the same W_Q and W_K and d = 64, q . k = 64 gives 64 + b in "
      "place of 8 + b. Dividing W_Q by sqrt(d) gives the scaled logits exactly, so nothing is lost "
      "in what can be learned; but the size of b against q . k, which a slope of 1/2^h fixes, "
      "differs by the factor sqrt(d) if the scale is applied to the sum.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "q . k + b - (q . k / sqrt(d) + b) = 0", Logits<1>{},
                             pairs_of_vectors()),
                     for_all(Role::condition, "(q / sqrt(d)) . k + b - (q . k / sqrt(d) + b) = 0",
                             Logits<0>{}, pairs_of_vectors())});
  };
  claim.mutant = "Scaling the sum with the bias is the same: (q . k + b) / sqrt(d).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "(q . k + b) / sqrt(d) - (q . k / sqrt(d) + b) = 0",
                   Logits<2>{}, pairs_of_vectors());
  };
  claim.implicit = {needed(
      "Attention is scaled by 1/sqrt(d) before the bias is added, as in ALiBi and in the published "
      "code.",
      "A scale of the sum reaches the bias as well, and W_Q cannot make up for that.", [] {
        return for_all(Role::statement, "(q / sqrt(d)) . k + b - (q . k + b) / sqrt(d) = 0",
                       Logits<3>{}, pairs_of_vectors());
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
