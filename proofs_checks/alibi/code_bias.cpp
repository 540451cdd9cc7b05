// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

template <bool causal>
struct CodeIsFormula {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> formula{in.number("m")};
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < (causal ? i + 1 : 5); ++j) {
        residuals.push_back({in.number("m") * R(j - i) - formula(i, j),
                             "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
      }
    }
    return residuals;
  }
};

struct Transposed {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> formula{in.number("m")};
    return {in.number("m") * R(1.0) - formula(1, 0)};
  }
};

std::vector<Sample> slopes_of_code_bias() {
  return {Sample{}.with("m", {0.5}), Sample{}.with("m", {0x1p-8})};
}

}  // namespace

Claim code_bias() {
  Claim claim;
  claim.id = "alibi/code_bias";
  claim.title = "The code computes the bias of the formula";
  claim.source = source("Code example against the formula");
  claim.statement = "build_alibi_bias computes bias_ij = -m |i - j|, as slopes * (j - i).";
  claim.condition = "Attention is causal, j <= i.";
  claim.derivation =
      "m (j - i) = -m |i - j| for j <= i. For j > i the product is +m |i - j|, a reward; the code "
      "then adds minus infinity there, so its result is right, while the product without the mask "
      "(an encoder) is not: i = 0, j = 1, m = 1/2 gives +1/2 in place of -1/2.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "m (j - i) + m |i - j| = 0 for all i, j < 5",
                             CodeIsFormula<false>{}, slopes_of_code_bias()),
                     for_all(Role::condition, "the same for j <= i", CodeIsFormula<true>{},
                             slopes_of_code_bias())});
  };
  claim.mutant = "m (i - j) would do as well for j <= i.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "m (i - j) + m |i - j| = 0 for j <= i", Transposed{},
                   slopes_of_code_bias());
  };
  claim.implicit = {definition("The tensor alibi_bias of step 3, before the mask of step 4.",
                               "It is what the claim is about.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
