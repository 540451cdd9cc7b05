// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Some whole step s has 19 s = L.
struct WholeStep {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("gaps") * in.number("s") - in.number("L")};
  }
};

/// k L / gaps for k = 0..19: the steps less L/gaps, and the last position less L.
struct Positions {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &L = in.number("L"), &gaps = in.number("gaps");
    const auto position = [&](int k) { return R(k) * L / gaps; };
    std::vector<R> residuals;
    for (int k = 1; k < 20; ++k) residuals.push_back(position(k) - position(k - 1) - L / gaps);
    residuals.push_back(position(19) - L);
    return residuals;
  }
};

std::vector<Sample> lengths_of_passkey_depths(double gaps) {
  std::vector<Sample> samples;
  for (double L : {512, 2048, 32000})
    samples.push_back(Sample{}.with("L", {L}).with("gaps", {gaps}));
  return samples;
}

}  // namespace

Claim passkey_depths() {
  Claim claim;
  claim.id = "bam/passkey_depths";
  claim.title = "The passkey stands at 20 uniformly spaced positions";
  claim.source = source("Section 3.2, first paragraph");
  claim.statement =
      "20 sequences have the passkey at the uniformly spaced positions 0 L/19, 1 L/19, ..., L, "
      "which are positions of tokens.";
  claim.implicit = {definition("k runs over 0..19.", "It says what the dots stand for."),
                    definition("L = 512, the training context, is one of the lengths.",
                               "Figure 2 begins there.")};
  claim.condition = "The positions are real numbers, to be rounded to tokens.";
  claim.derivation =
      "k L/19, k = 0..19, are 20 numbers from 0 to L in steps of L/19. As positions of tokens they "
      "are whole only where 19 divides L: 512 = 26 x 19 + 18.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    const auto steps = [](double lower, double upper) {
      return Sample{}.with("L", {512}).with("gaps", {19}).within("s", lower, upper);
    };
    return together({exists(Role::statement, "some whole step s: 19 s - 512 = 0, s <= 26 or >= 27",
                            WholeStep{}, {steps(0, 26), steps(27, 512)}),
                     for_all(Role::condition, "steps of L/19, the last position is L", Positions{},
                             lengths_of_passkey_depths(19))});
  };
  claim.mutant = "The positions 0 L/20, ..., 19 L/20 reach L.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "steps of L/20, the last position is L", Positions{},
                   lengths_of_passkey_depths(20));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
