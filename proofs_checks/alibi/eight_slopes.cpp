// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/head_counts.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

struct ArticleSlopes {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R x = reference::power(R(256.0), R(1.0) / in.number("H"));
    std::vector<Placed<R>> residuals;
    R to_the(1.0);
    for (int i = 0; i < heads_of(in); ++i) {
      to_the = to_the * x;
      residuals.push_back(
          {R(1.0) / to_the - R(std::ldexp(1.0, -i - 1)), "i = " + std::to_string(i)});
    }
    return residuals;
  }
};

}  // namespace

Claim eight_slopes() {
  Claim claim;
  claim.id = "alibi/eight_slopes";
  claim.title = "Eight heads have the slopes 1/2, 1/4, ..., 1/256";
  claim.source = source("Technical details; get_alibi_slopes");
  claim.statement =
      "For 8 heads the slopes are the geometric sequence 1/2^1, ..., 1/2^8, and get_alibi_slopes, "
      "1 / x^(i+1) with x = (2^8)^(1/8), returns them.";
  claim.derivation = "x = 256^(1/8) = 2. The code says \"approximately\", for its float32.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "1 / x^(i+1) - 2^-(i+1) = 0, x = 256^(1/H), H = 8",
                   ArticleSlopes{}, head_counts({8}));
  };
  claim.mutant = "So it is for 16 heads.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "1 / x^(i+1) - 2^-(i+1) = 0, H = 16", ArticleSlopes{},
                   head_counts({16}));
  };
  claim.hypotheses = {needed("The layer has 8 heads.",
                             "The formula has other ratios for other numbers.", claim.mutant_checks)
                          .where("H", exactly(8))};
  claim.implicit = {definition(
      "Exact arithmetic.", "The statement is one about real numbers; the code rounds to float32.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
