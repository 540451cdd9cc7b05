// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// One key exceeds n - 1 others by the margin g; with scalable softmax its weight is
/// 1 / (1 + (n - 1) n^(-s g)). Less `least`.
struct PeakIsAtLeastHalf {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &n = in.number("n"), one(1.0);
    const R others = (n - one) * reference::power(n, -(in.number("s") * in.number("margin")));
    return {one / (one + others) - one / R(2.0)};
  }
};

/// 1 / (1 + n^(1 - s g) (1 - 1/n)) <= n^(s g - 1) / (1 - 1/n): the rate at which the peak vanishes.
struct PeakBelowRate {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &n = in.number("n"), one(1.0);
    const R sg = in.number("s") * in.number("margin");
    const R others = (n - one) * reference::power(n, -sg);
    return {reference::power(n, sg - one) / (one - one / n) - one / (one + others)};
  }
};

std::vector<Sample> lengths_of_ssmax_sharpness(const std::vector<double>& scales,
                                               const std::vector<double>& margins) {
  std::vector<Sample> samples;
  for (double s : scales) {
    for (double margin : margins) {
      for (double n : {512.0, 2.0, 3.0, 32000.0, 0x1p40}) {
        samples.push_back(Sample{}.with("s", {s}).with("margin", {margin}).with("n", {n}));
      }
    }
  }
  return samples;
}

/// All real s g from 1 to 8.
std::vector<Sample> strong_of_ssmax_sharpness() {
  std::vector<Sample> samples;
  for (double n : {2.0, 3.0, 512.0, 32000.0, 0x1p40}) {
    samples.push_back(Sample{}.within("s", 1, 4).within("margin", 1, 2).with("n", {n}));
  }
  return samples;
}

}  // namespace

Claim ssmax_sharpness() {
  Claim claim;
  claim.id = "bam/ssmax_sharpness";
  claim.title = "Scalable softmax preserves the sharpness regardless of the input size";
  claim.source =
      source("Section 2.5, \"Scalable Softmax\"; appendix H.4, \"fixing that limitation\"");
  claim.statement =
      "\"This modification preserves the sharpness of the distribution regardless of input size.\" "
      "Checked on one key that exceeds n - 1 equal ones by a margin g: it keeps at least half of "
      "the "
      "mass at every n.";
  claim.condition = "s g >= 1: the learned scale times the margin is at least 1.";
  claim.correction =
      "p = 1/(1 + (n - 1) n^(-s g)): for s g > 1 it tends to 1, for s g = 1 to 1/2, and for s g < "
      "1 it "
      "fades like n^(s g - 1), more slowly than without (1/n) but to 0 all the same.";
  claim.derivation =
      "n - 1 keys weigh n^(-s g) each. s = 1 (the starting value) and g = 1/2, n = 512: p = 0.042. "
      "For s g >= 1, (n - 1) n^(-s g) < 1.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "s = 1, g = 1/2: p - 1/2 >= 0, p = 1/(1 + (n - 1) n^(-s g)), g the margin",
                 PeakIsAtLeastHalf{}, lengths_of_ssmax_sharpness({1}, {0.5})),
         for_all(Role::condition, "all s in [1, 4], g in [1, 2]: p - 1/2 >= 0", PeakIsAtLeastHalf{},
                 strong_of_ssmax_sharpness()),
         for_all(Role::correction, "s g < 1: n^(s g - 1)/(1 - 1/n) - p >= 0", PeakBelowRate{},
                 lengths_of_ssmax_sharpness({0.25, 1}, {0.25, 0.875}))});
  };
  claim.pictures = {pictures::fading};
  claim.mutant = "s g >= 3/4 is enough.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "s g = 3/4: p - 1/2 >= 0", PeakIsAtLeastHalf{},
                   lengths_of_ssmax_sharpness({0.75}, {1}));
  };
  claim.hypotheses = {
      definition("p = softmax(s ln n z), s a learned number.", "It is scalable softmax.")};
  claim.implicit = {
      not_needed("The margin does not depend on n.", "Half is kept at every n at which s g >= 1.",
                 [] {
                   return for_all(
                       Role::statement, "margins that fall with n: p - 1/2 >= 0",
                       PeakIsAtLeastHalf{},
                       {Sample{}.with("s", {1}).with("margin", {2}).with("n", {2}),
                        Sample{}.with("s", {1}).with("margin", {1.125}).with("n", {512}),
                        Sample{}.with("s", {1}).with("margin", {1}).with("n", {0x1p40})});
                 }),
      definition("Half stands for any mass that must not be lost as n grows.",
                 "Without a number there is nothing to check.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
