// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <class R>
R square(const R& x) {
  return reference::absolute(x) * reference::absolute(x);
}

struct SlopeIdentity {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &b = in.number("b"), one(1.0);
    return {one - reference::log_kernel_derivative(b) - square<R>(one - b) / (one + square(b))};
  }
};

template <int whole>
struct SlopeDifference {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &b = in.number("b"), one(1.0);
    if (whole == 0) return {R(0.75) - reference::log_kernel_derivative(b)};
    return {square<R>(one - b) / (one + square(b))};
  }
};

struct ValueDifference {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("b") - reference::log_kernel(in.number("b"))};
  }
};

struct Ratio {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& b = in.number("b");
    return {R(4.0) / reference::sqrt(b) - reference::log_kernel(b) / b};
  }
};

std::vector<Sample> points() {
  std::vector<Sample> samples;
  for (double b : {0.0, 0x1p-6, 0.5, 1.0, 1.5, 2.0, 10.0, 1024.0, 0x1p20})
    samples.push_back(Sample{}.with("b", {b}));
  return samples;
}

std::vector<Sample> octaves() {
  std::vector<Sample> samples;
  for (double b = 1; b < 0x1p40; b *= 2) samples.push_back(Sample{}.within("b", b, 2 * b));
  return samples;
}

}  // namespace

Claim k_cable_slope() {
  Claim claim;
  claim.id = "cable/k_cable_slope";
  claim.title = "The kernel has a slower slope";
  claim.source = source("Section 5.6");
  claim.statement =
      "With the kernel -log(b^2 + 1), K-CABLE has a slower slope for biases than CABLE: |d/db ln(1 "
      "+ b^2)| <= 1, ln(1 + b^2) <= b, and ln(1 + b^2) / b falls to 0.";
  claim.derivation =
      "1 - 2b/(1 + b^2) = (1 - b)^2/(1 + b^2) >= 0, with equality at b = 1 only; both penalties "
      "are 0 at b = 0, so the kernel's is never larger. ln(1 + b^2) <= 2 ln(1 + b) <= 2 sqrt(b) "
      "bounds the ratio by 2/sqrt(b); the checks enclose 4/sqrt(b) on [1, 2^40].";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "1 - 2b/(1 + b^2) - (1 - b)^2/(1 + b^2) = 0", SlopeIdentity{},
                 points()),
         for_all(Role::statement, "(1 - b)^2/(1 + b^2) >= 0 for b in [0, 2^100]",
                 SlopeDifference<1>{},
                 {Sample{}.within("b", 0, 1), Sample{}.within("b", 1, 0x1p100)}),
         for_all(Role::statement, "b - ln(1 + b^2) >= 0", ValueDifference{}, points()),
         for_all(Role::statement, "4/sqrt(b) - ln(1 + b^2)/b >= 0 on boxes that cover [1, 2^40]",
                 Ratio{}, octaves())});
  };
  claim.pictures = {pictures::k_cable_kernel};
  claim.mutant = "The slope is at most 3/4 of that of CABLE.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "3/4 - 2b/(1 + b^2) >= 0 at b = 1", SlopeDifference<0>{},
                   {Sample{}.with("b", {1})});
  };
  claim.hypotheses = {needed("b >= 0 is the penalty of CABLE for the pair.",
                             "For b < 0 the kernel's penalty is positive and CABLE's a reward.",
                             [] {
                               return for_all(Role::statement, "b - ln(1 + b^2) >= 0 at b = -1",
                                              ValueDifference{}, {Sample{}.with("b", {-1})});
                             })
                          .where("b", at_least(0))};
  claim.implicit = {definition(
      "The slope is taken in b. In the distance it is that times the increment, for both.",
      "It says what \"slope\" means.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
