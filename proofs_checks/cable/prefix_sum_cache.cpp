// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <bool mutant>
struct CachedRow {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto& f = in["f"];
    const int n = static_cast<int>(f.size()) - 1;
    const reference::Vector<R> old_tokens = f.head(n);
    const auto cache = reference::prefix_sum(old_tokens);
    const R sum_n = mutant ? cache[n - 1] : cache[n - 1] + f[n];
    std::vector<R> residuals;
    R between(0.0);
    for (int j = n - 1; j >= 0; --j) {
      between += f[j + 1];
      residuals.push_back(in.number("g") * between - in.number("g") * (sum_n - cache[j]));
    }
    return residuals;
  }
};

/// Three tokens; when the last came, the second's increment was another.
struct StaleCache {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto& f = in["f"];
    const R cached_sum = f[0] + in.number("f_1 before");
    return {in.number("g") * (f[1] + f[2]) - in.number("g") * (cached_sum + f[2] - f[0])};
  }
};

}  // namespace

Claim prefix_sum_cache() {
  Claim claim;
  claim.id = "cable/prefix_sum_cache";
  claim.title = "Cached cumulative sums serve inference";
  claim.source = source("Section 5.2");
  claim.statement =
      "For inference the cumulative sums are cached, so there is no need to re-calculate them for "
      "all tokens each time: with S_0..S_{n-1} kept, the row of the new token n is B_nj = -g_n "
      "(S_{n-1} + f_n - S_j).";
  claim.derivation =
      "S_j for j < n is a sum of f_0..f_j and does not change when a token is appended; S_n = "
      "S_{n-1} + f_n. So S_n - S_j = f_{j+1} + ... + f_n, one addition for the new token and one "
      "subtraction for each key.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "cached row + g (f_{j+1} + ... + f_n) = 0", CachedRow<false>{},
                   increments_and_gains(false));
  };
  claim.mutant = "The same without the own increment of the new token.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "-g (S_{n-1} - S_j) + g (f_{j+1} + ... + f_n) = 0",
                   CachedRow<true>{}, increments_and_gains(false));
  };
  claim.implicit = {
      needed("The f of earlier tokens do not change when a token is appended: attention is causal "
             "in all layers below.",
             "A cache of sums of other increments gives another row.",
             [] {
               return for_all(
                   Role::statement,
                   "-g (S'_1 + f_2 - S_0) + g (f_1 + f_2) = 0, S'_1 = f_0 + f_1 before",
                   StaleCache{},
                   {Sample{}.with("f", {1, 2, 1}).with("f_1 before", {3}).with("g", {1})});
             }),
      not_needed("Increments are negated, as in the published code (cable/penalises_distance).",
                 "The identity is one of sums and holds for either sign.", [] {
                   return for_all(Role::statement,
                                  "g (S_{n-1} + f_n - S_j) - g (f_{j+1} + ... + f_n) = 0",
                                  CachedRow<false>{}, increments_and_gains(false, 10));
                 })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
