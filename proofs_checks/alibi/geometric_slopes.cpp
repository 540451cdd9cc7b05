// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/head_counts.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

template <bool official>
struct Geometric {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto m = official ? reference::alibi_slopes<R>(heads_of(in))
                            : reference::alibi_slopes_geometric<R>(heads_of(in));
    std::vector<Placed<R>> residuals;
    for (std::size_t h = 1; h + 1 < m.size(); ++h) {
      residuals.push_back(
          {m[h - 1] * m[h + 1] - m[h] * m[h], "h = " + std::to_string(h + 1) + " of 1..H"});
    }
    return residuals;
  }
};

}  // namespace

Claim geometric_slopes() {
  Claim claim;
  claim.id = "alibi/geometric_slopes";
  claim.title = "The slopes are geometric sequences";
  claim.source = source("Technical details");
  claim.statement = "The slopes m_h are fixed geometric sequences: m_{h-1} m_{h+1} = m_h^2.";
  claim.condition = "The number of heads is a power of two.";
  claim.derivation =
      "For H = 2^a all ratios are 2^(-8/H). For H = 12 the official slopes are 2^-1..2^-8 followed "
      "by 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5: at the seam 2^-7 2^-0.5 is not 2^-16, and no order of "
      "them is geometric, as the exponents 0.5, 1, 1.5, ..., 4, 5, ..., 8 are not evenly spaced. "
      "The article's own code is geometric for every H (alibi/code_slopes_official).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "m_{h-1} m_{h+1} - m_h^2 = 0, official, H = 8, 12",
                             Geometric<true>{}, head_counts({8, 12})),
                     for_all(Role::condition, "the same for H = 4, 8, 16, 32", Geometric<true>{},
                             head_counts({4, 8, 16, 32}))});
  };
  claim.pictures = {pictures::slopes_of_12_heads};
  claim.mutant = "So it is for 3 heads.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "m_{h-1} m_{h+1} - m_h^2 = 0, official, H = 3",
                   Geometric<true>{}, head_counts({3}));
  };
  claim.implicit = {
      not_needed("The slopes are those of the official implementation.",
                 "The article's own formula is geometric for every number of heads.", [] {
                   return for_all(Role::statement, "m_{h-1} m_{h+1} - m_h^2 = 0, m_h = 2^(-8 h/H)",
                                  Geometric<false>{}, head_counts({4, 6, 8, 12}));
                 })};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
