// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <bool strictly_lower>
struct MatrixIsRecursion {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto& f = in["f"];
    const auto sums = reference::prefix_sum(f);
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < f.size(); ++i) {
      R product(0.0);
      for (int j = 0; j < f.size(); ++j) {
        const bool one = strictly_lower ? j < i : j <= i;
        product += R(one ? 1.0 : 0.0) * f[j];
      }
      residuals.push_back({product - sums[i], "i = " + std::to_string(i)});
    }
    return residuals;
  }
};

struct NotDecreasing {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto sums = reference::prefix_sum(in["f"]);
    std::vector<Placed<R>> residuals = {{sums[0], "S_0"}};
    for (int i = 1; i < sums.size(); ++i)
      residuals.push_back(
          {sums[i] - sums[i - 1], "S_" + std::to_string(i) + " - S_" + std::to_string(i - 1)});
    return residuals;
  }
};

}  // namespace

Claim cumulative_sum() {
  Claim claim;
  claim.id = "cable/cumulative_sum";
  claim.title = "S = L f is the cumulative sum";
  claim.source = source("Section 3, eqs 3-4");
  claim.statement =
      "With L the lower triangular matrix of ones, S = L f is the cumulative sum of f, and S lies "
      "in R_+^t: S_i = f_0 + ... + f_i, non-negative and not decreasing.";
  claim.derivation =
      "Row i of L picks f_0..f_i. A sum of non-negative numbers is not negative, and S_{i+1} - S_i "
      "= f_{i+1} >= 0.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together({for_all(Role::statement, "(L f)_i - S_i = 0 with S_i = S_{i-1} + f_i",
                             MatrixIsRecursion<false>{}, increments_and_gains(false)),
                     for_all(Role::statement, "S_0 >= 0 and S_{i+1} - S_i >= 0", NotDecreasing{},
                             increments_and_gains(false))});
  };
  claim.mutant = "The same with L_ij = 1 for j < i only, which leaves the token itself out.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "(L f)_i - S_i = 0, L strictly lower triangular",
                   MatrixIsRecursion<true>{}, increments_and_gains(false));
  };
  claim.hypotheses = {
      needed("f = ReLU(X w_c) >= 0 (eq. 2).", "With a negative increment the sum falls.", [] {
        return for_all(Role::statement, "S_0 >= 0 and S_{i+1} - S_i >= 0", NotDecreasing{},
                       {Sample{}.with("f", {-1, 1})});
      }).where("f", at_least(0))};
  claim.implicit = {needed("Rows and columns count from the same number; only j <= i matters.",
                           "Otherwise L leaves out the token itself.", claim.mutant_checks)};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
