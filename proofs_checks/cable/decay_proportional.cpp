// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <class R>
reference::Vector<R> by_distance(const Inputs<R>& in) {
  const int keys = 5;
  const reference::Alibi<R> bias{in.number("r")};
  reference::Vector<R> logits(keys);
  for (int d = 0; d < keys; ++d) logits[d] = bias(d, 0);
  return reference::softmax(logits).probability;
}

template <bool of_logarithms>
struct EqualSteps {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto p = by_distance(in);
    std::vector<Placed<R>> residuals;
    for (int d = 0; d < 3; ++d) {
      residuals.push_back({of_logarithms
                               ? R(reference::log(p[d]) - reference::log(p[d + 1]) - in.number("r"))
                               : R(p[d] - p[d + 1] - (p[d + 1] - p[d + 2])),
                           "d = " + std::to_string(d)});
    }
    return residuals;
  }
};

struct Halves {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto p = by_distance(in);
    return {p[0] - p[1] - p[1]};
  }
};

std::vector<Sample> rows_of_alibi() {
  return {Sample{}.with("r", {0.5}), Sample{}.with("r", {0.0625}), Sample{}.with("r", {1})};
}

}  // namespace

Claim decay_proportional() {
  Claim claim;
  claim.id = "cable/decay_proportional";
  claim.title = "Additive biases make weights decay in proportion to the distance";
  claim.source = source("Section 2, before eq. 1");
  claim.statement =
      "Additive methods are designed to enforce a decay in attention weights proportional to the "
      "relative distance: under ALiBi, for equal content, every step of distance takes the same "
      "amount from the weight.";
  claim.implicit = {
      "\"Proportional\" is linear; ALiBi stands for the additive methods, with content scores that "
      "are equal."};
  claim.correction = "The logit decays in proportion to the distance, the weight geometrically.";
  claim.derivation =
      "The weights are p(d) = p(0) e^(-r d): each step takes the same factor, not the same amount: "
      "(p(0) - p(1)) - (p(1) - p(2)) = p(0) (1 - e^(-r))^2 > 0. It is the logit, ln p, that decays "
      "in proportion to the distance.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "(p(d) - p(d + 1)) - (p(d + 1) - p(d + 2)) = 0, p(d) = e^(-r d) over "
                             "its sum for d = 0..4",
                             EqualSteps<false>{}, rows_of_alibi()),
                     for_all(Role::correction, "ln p(d) - ln p(d + 1) - r = 0", EqualSteps<true>{},
                             rows_of_alibi())});
  };
  claim.pictures = {pictures::exponential_weights};
  claim.mutant = "Every step halves the weight.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p(d) - 2 p(d + 1) = 0", Halves{}, rows_of_alibi());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
