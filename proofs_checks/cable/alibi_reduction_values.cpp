// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// Every pair j <= i: printed B_ij minus ALiBi's -m (i - j).
struct PrintedBiasIsAlibiOfAlibiReductionValues {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto bias = printed_bias<R>(in["f"], in.number("g"));
    const reference::Alibi<R> alibi{in.number("m")};
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < static_cast<int>(in["f"].size()); ++i) {
      for (int j = 0; j <= i; ++j)
        residuals.push_back(
            {bias(i, j) - alibi(i, j), "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
    }
    return residuals;
  }
};

/// Heads h = 1..8 and 2 to 9 tokens, each with the increment `f`.
std::vector<Sample> heads(double f) {
  std::vector<Sample> samples;
  for (int h = 1; h <= 8; ++h) {
    const double weight = std::ldexp(1.0, -h);
    samples.push_back(
        Sample{}.with("f", std::vector<double>(h + 1, f)).with("g", {weight}).with("m", {weight}));
  }
  return samples;
}

struct LaterKeyIsAlibi {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {printed_bias<R>(in["f"], in.number("g"))(0, 1) -
            reference::Alibi<R>{in.number("m")}(0, 1)};
  }
};

}  // namespace

Claim alibi_reduction_values() {
  Claim claim;
  claim.id = "cable/alibi_reduction_values";
  claim.title = "The values -1 and 1/2^h in eqs 3-5 and 7 give ALiBi";
  claim.source = source("Section 3, after eq. 7");
  claim.statement =
      "With f_k = -1 and g_i = 1/2^h put in by hand, eqs 3-5 and 7 give B_ij = -(i - j)/2^h.";
  claim.derivation =
      "S_i = -(i + 1), so S_i - S_j = -(i - j) and B_ij = -(i - j)/2^h, which is -m |i - j| with "
      "m = 1/2^h for j <= i. All numbers are dyadic: the identity is exact in every reading.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "printed B_ij + m (i - j) = 0 with f = -1, g = m = 1/2^h",
                   PrintedBiasIsAlibiOfAlibiReductionValues{}, heads(-1));
  };
  claim.mutant = "f_k = +1 gives ALiBi under the printed sign.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "printed B_ij + m (i - j) = 0 with f = +1, g = m = 1/2^h",
                   PrintedBiasIsAlibiOfAlibiReductionValues{}, heads(+1));
  };
  claim.hypotheses = {needed("f_k = -1 for every token, g_i = 1/2^h for every query.",
                             "f_k = +1 gives the reward m (i - j).", claim.mutant_checks)
                          .where("f", exactly(-1))};
  claim.implicit = {
      definition(
          "Eqs 2 and 6 are set aside: ReLU never gives -1 (cable/alibi_reduction_as_printed).",
          "It is what putting the values in by hand means; with eq. 2 there is no f = -1."),
      needed("Attention is causal: for j > i the formula gives a reward.",
             "Eq. 7 has the sign of i - j, ALiBi has not.", [] {
               return for_all(Role::statement,
                              "printed B_01 + m |0 - 1| = 0: a key after the query",
                              LaterKeyIsAlibi{}, heads(-1));
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
