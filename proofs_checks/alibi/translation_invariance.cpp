// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

template <bool by_key>
struct Moved {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    const reference::AlibiKeyPosition<R> key_position{in.number("m")};
    std::vector<R> residuals;
    for (int s : {1, 95, 10000}) {
      for (int d : {0, 1, 5}) {
        residuals.push_back(by_key ? key_position(5 + s, 5 - d + s) - key_position(5, 5 - d)
                                   : bias(5 + s, 5 - d + s) - bias(5, 5 - d));
      }
    }
    return residuals;
  }
};

std::vector<Sample> slopes_of_translation_invariance() {
  return {Sample{}.with("m", {0.5}), Sample{}.with("m", {0.1}), Sample{}.with("m", {0x1p-8})};
}

struct QueryMovesAlone {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    return {bias(6, 5) - bias(5, 5)};
  }
};

}  // namespace

Claim translation_invariance() {
  Claim claim;
  claim.id = "alibi/translation_invariance";
  claim.title = "A distance of 5 is always a distance of 5";
  claim.source = source("Why does this work so well, 1");
  claim.statement =
      "The bias is a relative measure of distance: it does not matter if a sentence has 100 words "
      "or 10,000: b(i + s, j + s) = b(i, j).";
  claim.derivation =
      "|(i + s) - (j + s)| = |i - j|. The bias m j of the original code, equal up to a constant of "
      "the row, is not invariant, though the weights under it are.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "b(i + s, j + s) - b(i, j) = 0, s up to 10000", Moved<false>{},
                   slopes_of_translation_invariance());
  };
  claim.mutant = "So is m j, which the original code adds.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "m (j + s) - m j = 0", Moved<true>{},
                   slopes_of_translation_invariance());
  };
  claim.hypotheses = {
      needed("Query and key move by the same s.", "A key that stays behind is farther away.", [] {
        return for_all(Role::statement, "b(5 + 1, 5) - b(5, 5) = 0", QueryMovesAlone{},
                       slopes_of_translation_invariance());
      })};
  claim.implicit = {definition("Exact arithmetic.",
                               "The statement is one about real numbers; m |i - j| is rounded in "
                               "floating point, though alike for equal distances.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
