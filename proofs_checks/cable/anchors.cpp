// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// The increments with one of them larger by 1.
template <class R>
reference::Vector<R> raised(reference::Vector<R> f, int k) {
  f[k] += R(1.0);
  return f;
}

template <Relation r>
struct OwnIncrementCounts {
  static constexpr Relation relation = r;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto& f = in["f"];
    const int last = static_cast<int>(f.size()) - 1;
    const auto bias = published_bias<R>(f, in.number("g"));
    std::vector<R> residuals;
    for (int j = 0; j < last; ++j) {
      residuals.push_back(bias(last, j) -
                          published_bias<R>(raised<R>(f, j), in.number("g"))(last, j));
    }
    return residuals;
  }
};

struct QueryIncrementDoesNotCount {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int last = static_cast<int>(in["f"].size()) - 1;
    return {published_bias<R>(in["f"], in.number("g"))(last, 0) -
            published_bias<R>(raised<R>(in["f"], last), in.number("g"))(last, 0)};
  }
};

struct AnchorIsBetterOff {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    const int last = static_cast<int>(in["f"].size()) - 1;
    return {bias(last, 0) - bias(last, 1)};
  }
};

struct NearerIsNotWorseOff {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    const int last = static_cast<int>(in["f"].size()) - 1;
    std::vector<R> residuals;
    for (int j = 0; j < last; ++j) residuals.push_back(bias(last, j + 1) - bias(last, j));
    return residuals;
  }
};

std::vector<Sample> anchored() {
  return {Sample{}.with("f", {0, 3}).with("g", {1}),
          Sample{}.with("f", {0, 3, 0.5, 0.25}).with("g", {2})};
}

}  // namespace

Claim anchors() {
  Claim claim;
  claim.id = "cable/anchors";
  claim.title = "Anchor tokens can receive a weaker bias";
  claim.source = source("Section 5.4, second paragraph");
  claim.statement =
      "Tokens that serve as anchors may receive weaker biases, so that the model keeps stronger "
      "attention to them even at long distances, while less informative tokens are penalised more "
      "heavily.";
  claim.implicit = {
      "A token's bias is its f, which depends on the token alone (eq. 2); its weight g is that of "
      "the query (eq. 7).",
      "Attention is causal: j <= i.",
      "Increments are negated, as in the published code (cable/penalises_distance). With the "
      "printed sign everything is reversed: a key is never rewarded more than an earlier one."};
  claim.correction =
      "A key's penalty does not depend on its own increment but on those of the tokens after it, "
      "up to the query. A token with a large increment lowers all keys before it; a run of small "
      "increments keeps all earlier keys near.";
  claim.derivation =
      "The bias of key j for query i is -g_i (f_{j+1} + ... + f_i): the key's own f_j is not in "
      "it, for no query i >= j. Nor can the tokens between favour it: B_i,j+1 - B_ij = g_i f_{j+1} "
      ">= 0, so a key is never penalised less than a later one, whatever the parameters. With f = "
      "(0, 3), g = 1, an anchor with f_0 = 0 and a later token with f_1 = 3: B_10 = -3, B_11 = 0.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "a larger own increment of the key means a larger penalty: B_ij - B_ij(f_j + 1) > "
                 "0, j < i",
                 OwnIncrementCounts<Relation::above_zero>{}, increments_and_gains(false)),
         for_all(Role::statement,
                 "an anchor (f_0 = 0) is penalised less than the token after it (f_1 > 0): B_i0 - "
                 "B_i1 > 0",
                 AnchorIsBetterOff{}, anchored()),
         for_all(Role::correction, "B_ij - B_ij(f_j + 1) = 0, j < i",
                 OwnIncrementCounts<Relation::equals_zero>{}, increments_and_gains(false)),
         for_all(Role::correction, "B_i,j+1 - B_ij >= 0, j < i", NearerIsNotWorseOff{},
                 increments_and_gains(false))});
  };
  claim.pictures = {pictures::bias_maps};
  claim.mutant = "The own increment of the query does not count either: B_ij - B_ij(f_i + 1) = 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "B_ij - B_ij(f_i + 1) = 0, j < i", QueryIncrementDoesNotCount{},
                   increments_and_gains(false));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
