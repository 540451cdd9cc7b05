// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/t5_buckets.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// The table's scalars are their own numbers, r_k = k.
template <bool encoder = false>
struct ClippedIsBucket {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::T5Buckets bucket(32, 128, encoder);
    const reference::ClippedDistance clipped(31);
    const int last = static_cast<int>(reference::representative(in.number("largest d")));
    std::vector<Placed<R>> residuals;
    for (int d = 0; d <= last; ++d) {
      residuals.push_back({R(bucket(d, 0) - clipped(d, 0)), "d = " + std::to_string(d)});
    }
    return residuals;
  }
};

Sample upto(double distance) { return Sample{}.with("largest d", {distance}); }

}  // namespace

Claim t5_clipped() {
  Claim claim;
  claim.id = "cable/t5_clipped";
  claim.title = "The T5 bias is a table of clipped distances";
  claim.source = source("Section 2, T5-bias");
  claim.statement = "T5-bias is b(i, j) = r_min(i - j, K) with learnable r_0..r_K.";
  claim.condition =
      "Distances up to 16, half of the buckets. (The code of the paper uses a plain clipped table, "
      "as printed.)";
  claim.derivation =
      "T5 maps distances to 32 buckets: one for each of 0..15, then 16 whose width grows with the "
      "logarithm up to 128. Distances 17 and 18 share the bucket of 16, and 19 begins the next. "
      "With r the number of the bucket: b(17) = 16, clipped 17. No other K or r helps: b(16) = "
      "b(17) makes a clipped table constant from K = 16 on, while T5 tells 18 from 19. The two "
      "agree as long as no bucket holds two distances.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "bucket(d) - min(d, 31) = 0 for d = 0..200", ClippedIsBucket<>{},
                 {upto(200)}),
         for_all(Role::condition, "the same for d = 0..16", ClippedIsBucket<>{}, {upto(16)})});
  };
  claim.mutant = "They agree up to d = 17.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "bucket(d) - min(d, 31) = 0 for d = 0..17", ClippedIsBucket<>{},
                   {upto(17)});
  };
  claim.implicit = {
      definition("T5's own causal map with its defaults, 32 buckets and a largest distance of 128.",
                 "It says which T5 is meant."),
      needed("Attention is causal: j <= i.",
             "The map of an encoder has half of the buckets for each side: one each up to 7 only.",
             [] {
               return for_all(Role::statement, "encoder: bucket(d) - min(d, 31) = 0 for d = 0..16",
                              ClippedIsBucket<true>{}, {upto(16)});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
