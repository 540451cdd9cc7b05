// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

struct HeadsFill {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("H") * in.number("D") - in.number("C")};
  }
};

}  // namespace

Claim ten_heads() {
  Claim claim;
  claim.id = "cable/ten_heads";
  claim.title = "GPT-2 Small has 10 heads at a width of 768";
  claim.source = source("Section 4.2");
  claim.statement =
      "The small version has 12 layers, 10 heads and a hidden dimension of 768: ten heads of one "
      "dimension D make up the width, 10 D = 768.";
  claim.implicit = {
      "All heads have the same whole dimension D and together the width of the model, as in "
      "GPT-2."};
  claim.correction = "GPT-2 Small has 12 heads of dimension 64.";
  claim.derivation =
      "768 = 2^8 3 is not divisible by 10: 10 D is at most 760 for D <= 76 and at least 770 for D "
      ">= 77. GPT-2 Small and the published code have 12 heads of dimension 64; the medium (16) "
      "and tiny (8) versions divide with 64 as well.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({exists(Role::statement, "some whole D: 10 D - 768 = 0", HeadsFill{},
                            {Sample{}.with("H", {10}).with("C", {768}).within("D", 0, 76),
                             Sample{}.with("H", {10}).with("C", {768}).within("D", 77, 768)}),
                     for_all(Role::correction, "H D - C = 0 for 12, 16 and 8 heads of dimension 64",
                             HeadsFill{},
                             {Sample{}.with("H", {12}).with("C", {768}).with("D", {64}),
                              Sample{}.with("H", {16}).with("C", {1024}).with("D", {64}),
                              Sample{}.with("H", {8}).with("C", {512}).with("D", {64})})});
  };
  claim.mutant = "Ten heads fill a width of 512.";
  claim.mutant_checks = [] {
    return exists(Role::statement, "some whole D: 10 D - 512 = 0", HeadsFill{},
                  {Sample{}.with("H", {10}).with("C", {512}).within("D", 0, 51),
                   Sample{}.with("H", {10}).with("C", {512}).within("D", 52, 512)});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
