// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/head_counts.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

struct OfficialSlopes {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto simple = reference::alibi_slopes_geometric<R>(heads_of(in));
    const auto official = reference::alibi_slopes<R>(heads_of(in));
    std::vector<Placed<R>> residuals;
    for (std::size_t k = 0; k < simple.size(); ++k) {
      residuals.push_back({simple[k] - official[k], "k = " + std::to_string(k)});
    }
    return residuals;
  }
};

}  // namespace

Claim code_slopes_official() {
  Claim claim;
  claim.id = "alibi/code_slopes_official";
  claim.title = "The code's slopes are those of the official implementation";
  claim.source = source("Code example, docstring of get_alibi_slopes");
  claim.statement =
      "get_alibi_slopes is \"a simplified version of the logic used in the official "
      "implementation\": m_k = 2^(-8 (k+1)/H), the official slopes.";
  claim.condition = "The number of heads is a power of two.";
  claim.derivation =
      "The official implementation has a second rule: for p < H < 2p it takes the slopes of p "
      "heads and appends every second of those of 2p. H = 12: 2^-1 for the first head against "
      "2^(-2/3) from the article's formula. GPT-2 Small has 12 heads.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "2^(-8 (k+1)/H) - official = 0 for H = 8, 12",
                             OfficialSlopes{}, head_counts({8, 12})),
                     for_all(Role::condition, "the same for H = 1, 2, 4, ..., 64", OfficialSlopes{},
                             head_counts({1, 2, 4, 8, 16, 32, 64}))});
  };
  claim.pictures = {pictures::slopes_of_12_heads};
  claim.mutant = "They agree for 6 heads.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "2^(-8 (k+1)/H) - official = 0 for H = 6", OfficialSlopes{},
                   head_counts({6}));
  };
  claim.implicit = {definition(
      "The official implementation is get_slopes of ofirpress/attention_with_linear_biases.",
      "Without one there is nothing to agree with.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
