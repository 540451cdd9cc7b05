// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/head_counts.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <class R>
std::vector<R> official_slopes(const Inputs<R>& in) {
  return reference::alibi_slopes<R>(heads_of(in));
}

/// m_h - 1/2^h for the heads h = 1..H of a layer with H heads.
struct SlopeIsHalfPower {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const std::vector<R> slopes = official_slopes(in);
    std::vector<Placed<R>> residuals;
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      residuals.push_back({slopes[k] - R(std::ldexp(1.0, -static_cast<int>(k) - 1)),
                           "h = " + std::to_string(k + 1)});
    }
    return residuals;
  }
};

/// ln m_h + (8 h / H) ln 2 for the heads h = 1..H.
struct LogSlopeIsGeometric {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    std::vector<R> residuals = official_slopes(in);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      residuals[k] = reference::log(residuals[k]) +
                     R(8.0 * static_cast<double>(k + 1)) / in.number("H") * reference::log(R(2.0));
    }
    return residuals;
  }
};

struct SlopeCountedFromZero {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {official_slopes(in)[0] - R(1.0)};
  }
};

}  // namespace

Claim slope_half_power_h() {
  Claim claim;
  claim.id = "cable/slope_half_power_h";
  claim.title = "ALiBi's slope of head h is 1/2^h";
  claim.source = source("Section 3, after eq. 7: the weight 1/2^h");
  claim.statement = "The official ALiBi slope of head h = 1..H of a layer with H heads is 1/2^h.";
  claim.condition = "The layer has H = 8 heads (CABLE's tiny model has; small has 12, medium 16).";
  claim.correction =
      "For H a power of two the official slope is 2^(-8 h / H). For other H the slopes of the next "
      "smaller power of two are followed by every second slope of its double; H = 12 has the "
      "exponents 1..8, 0.5, 1.5, 2.5, 3.5.";
  claim.derivation =
      "2^(-8 h / H) = 2^(-h) for some h >= 1 exactly if H = 8. Other powers of two differ at h = "
      "1: "
      "H = 16 has 2^(-1/2) = 0.7071 in place of 1/2. For p < H < 2p, p a power of two: p = 8 "
      "agrees "
      "for h <= 8 and then differs, as 2^(-1/2) follows at h = 9 in place of 2^(-9); p not 8 "
      "differs at h = 1 already.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "m_h - 2^-h = 0 for H = 8, 16, 12, 1, 2, 3, 4, 6, 9, 32",
                 SlopeIsHalfPower{}, head_counts({8, 16, 12, 1, 2, 3, 4, 6, 9, 32})),
         for_all(Role::condition, "m_h - 2^-h = 0 for H = 8", SlopeIsHalfPower{}, head_counts({8})),
         for_all(Role::correction, "ln m_h + (8 h / H) ln 2 = 0 for H = 1, 2, 4, ..., 64",
                 LogSlopeIsGeometric{}, head_counts({1, 2, 4, 8, 16, 32, 64}))});
  };
  claim.pictures = {pictures::slopes_of_12_heads};
  claim.mutant = "The formula 2^(-8 h / H) holds for H = 12 as well.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "ln m_h + (8 h / H) ln 2 = 0 for H = 12", LogSlopeIsGeometric{},
                   head_counts({12}));
  };
  claim.implicit = {
      needed("h counts the heads of a layer from 1.", "Counted from 0, head 0 would have 1.",
             [] {
               return for_all(Role::statement, "m_h - 2^-h = 0, h = 0, ..., 7",
                              SlopeCountedFromZero{}, head_counts({8}));
             }),
      definition("\"ALiBi\" is the schedule of its authors' code "
                 "(ofirpress/attention_with_linear_biases).",
                 "The paper on ALiBi gives the rule for powers of two only.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
