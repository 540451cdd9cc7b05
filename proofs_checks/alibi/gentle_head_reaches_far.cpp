// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

struct NineTenths {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::exp(-(in.number("m") * in.number("d"))) - R(9.0) / R(10.0)};
  }
};

std::vector<Sample> distances(const std::vector<double>& ds) {
  std::vector<Sample> samples;
  for (double d : ds) samples.push_back(Sample{}.with("m", {0x1p-8}).with("d", {d}));
  return samples;
}

struct NineTenthsWithContent {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::exp(in.number("s") - in.number("m") * in.number("d")) - R(9.0) / R(10.0)};
  }
};

}  // namespace

Claim gentle_head_reaches_far() {
  Claim claim;
  claim.id = "alibi/gentle_head_reaches_far";
  claim.title = "A small slope looks far back with almost no degradation";
  claim.source = source("Intuition; technical details");
  claim.statement =
      "With a small slope (1/256) heads look far back into the context with almost no degradation, "
      "a name mentioned chapters ago, and attend to distant tokens almost as easily as nearby "
      "ones.";
  claim.condition = "d <= 26, a tenth of 1/m.";
  claim.derivation =
      "For equal content a key at distance d has e^(-d/256) times the weight of the nearest. One "
      "of the article's chapters, 2,000 words, leaves e^(-7.8) = 0.0004 of it, its 10,000 words "
      "e^(-39) = 1e-17. Read as nine tenths of the weight, \"almost\" ends at d = 256 ln(10/9) = "
      "26.97. What is true is that 1/256 reaches 128 times as far as 1/2.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "e^(-m d) - 0.9 >= 0 for d = 26, 2000, 10000, m = 1/256",
                 NineTenths{}, distances({26, 2000, 10000})),
         for_all(Role::condition, "the same for d <= 26", NineTenths{},
                 distances({1, 5, 10, 20, 26}))});
  };
  claim.pictures = {pictures::steep_and_gentle};
  claim.mutant = "It holds for d = 27.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "e^(-m d) - 0.9 >= 0 for d = 27", NineTenths{},
                   distances({27}));
  };
  claim.implicit = {
      needed("The content scores are equal: a larger score of the distant key can outweigh the "
             "penalty, 7.8 for 2,000 words.",
             "A nearest key with more content gets more.",
             [] {
               return for_all(Role::statement,
                              "e^(s - m d) - 0.9 >= 0 where the far key's content is s more",
                              NineTenthsWithContent{},
                              {Sample{}.with("m", {0x1p-8}).with("d", {20}).with("s", {-1})});
             })
          .where("s", exactly(0)),
      definition("\"Almost\" is read as at least nine tenths of the weight of the nearest key.",
                 "Without a number there is nothing to check."),
      definition("A token is a word, a chapter has the 2,000 words of the introduction.",
                 "It gives \"chapters ago\" a distance.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
