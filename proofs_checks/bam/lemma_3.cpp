// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The farthest key alone has content: m n, as much as its bias takes away. Its weight is
/// 1 / (1 + sum_{d < n} e^(-m d)).
struct WeightFallsBelowHalfOfItsLimit {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), one(1.0);
    const int n = integer(in, "n");
    const R q = reference::exp(-m), limit = (one - q) / (R(2.0) - q);
    const reference::Vector<R> delta = reference::Vector<R>::Constant(n, -(m * R(n)));
    return {limit / R(2.0) - weight_of_farthest(delta, LaplaceBias<R>{m})};
  }
};

/// The same with q^n = t anywhere in [0, 1], so at every length: p = 1 / (1 + (1 - t)/(1 - q)).
struct WeightFallsAtSomeLength {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R q = reference::exp(-in.number("m")), one(1.0);
    const R p = one / (one + (one - in.number("q^n")) / (one - q));
    return {(one - q) / (R(2.0) - q) / R(2.0) - p};
  }
};

/// e^(2 F - m n) - p for every content within [-F, F]; for the mutant e^(F - m n).
template <bool mutant>
struct WeightBelowRateOfLemma3 {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &F = in.number("F"), &m = in.number("m");
    const reference::Vector<R>& delta = in["delta"];
    const R spread = mutant ? F : F + F;
    const R rate = reference::exp(spread - m * R(static_cast<int>(delta.size())));
    return {rate - weight_of_farthest(delta, LaplaceBias<R>{m})};
  }
};

std::vector<Sample> bounded_contents_of_lemma_3() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.5, 0x1p-8}) {
    for (double F : {0.0, 1.0, 8.0}) {
      for (int n : {1, 2, 16, 256}) samples.push_back(contents_within(F, n).with("m", {m}));
    }
  }
  return samples;
}

std::vector<Sample> all_lengths() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.5, 0x1p-8})
    samples.push_back(Sample{}.with("m", {m}).within("q^n", 0, 1));
  return samples;
}

std::vector<Sample> cancelling_contents_of_lemma_3() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.5, 0x1p-8}) {
    for (double n : {512, 16, 1}) samples.push_back(Sample{}.with("m", {m}).with("n", {n}));
  }
  return samples;
}

/// The farthest key has the content 2 F more than all others, and the distance is small.
std::vector<Sample> opposed_contents_of_lemma_3() {
  return {Sample{}.with("F", {4}).with("m", {3}).with("delta", {-8, -8})};
}

/// The rate of the condition where n keys after the query, without content, join the denominator.
struct WeightBelowRateOnBothSides {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &F = in.number("F"), &m = in.number("m");
    const reference::Vector<R>& delta = in["delta"];
    const int n = static_cast<int>(delta.size());
    R others(0.0);
    for (int d = 0; d < n; ++d) {
      const R term = reference::exp(delta[d] + m * R(n - d));
      others += d == 0 ? term : term + term;  // every distance but 0 on either side
    }
    return {reference::exp(F + F - m * R(n)) - R(1.0) / (R(1.0) + others)};
  }
};

/// Equal contents and m < 0: p_far = (1 - t)/(1 - t t') with t = e^m and t' = e^(m n) in [0, 1].
struct WeightFallsAtSomeLengthBelowZero {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R t = reference::exp(in.number("m")), one(1.0);
    return {R(0.25) - (one - t) / (one - t * in.number("e^(m n)"))};
  }
};

}  // namespace

Claim lemma_3() {
  Claim claim;
  claim.id = "bam/lemma_3";
  claim.title = "Under ALiBi the weight of a key tends to 0 with its distance";
  claim.source = source("Lemma 3, section 2.2, and appendix B.3");
  claim.statement =
      "If p_ij = softmax(q_i K^T + M_i + A_i) then lim p_ij = 0 as |j - i| -> infinity.";
  claim.condition = "The content scores are bounded, |q_i k_j| <= F for all i and j.";
  claim.correction = "Rate: p_ij <= e^(2 F - m |i - j|), for every length and all such contents.";
  claim.derivation =
      "p_ij <= e^(f_j - m d) / e^(f_i) <= e^(2 F - m d), as the query's own key is one of the "
      "terms of the denominator and has bias 0. Without a bound on the content: f_j = m (i - j) at "
      "the farthest key and 0 elsewhere gives p_ij = 1/(1 + sum_{k < d} q^k), q = e^-m, which "
      "falls to (1 - q)/(2 - q) and not to 0. The proof's step \"the score becomes minus infinity, "
      "so the softmax becomes 0\" needs the bound on q_i k_j.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "f_far = m n, others 0: (1 - q)/(2 - q)/2 - p > 0 at some length, q = "
                             "e^-m, p = 1/(1 + sum_{d < n} q^d)",
                             WeightFallsBelowHalfOfItsLimit{}, cancelling_contents_of_lemma_3()),
                     for_all(Role::statement, "the same at every length, q^n in [0, 1]",
                             WeightFallsAtSomeLength{}, all_lengths()),
                     for_all(Role::condition, "e^(2 F - m n) - p >= 0 on all contents in [-F, F]",
                             WeightBelowRateOfLemma3<false>{}, bounded_contents_of_lemma_3())});
  };
  claim.pictures = {pictures::alibi_decay};
  claim.mutant = "The rate is e^(F - m d).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "e^(F - m n) - p >= 0", WeightBelowRateOfLemma3<true>{},
                   opposed_contents_of_lemma_3());
  };
  claim.hypotheses = {
      definition("a_ij = -m |j - i|.", "It is ALiBi."),
      not_needed("The causal mask.", "Keys after the query only add to the denominator.",
                 [] {
                   return for_all(
                       Role::statement,
                       "as many keys after the query: e^(2 F - m n) - p >= 0 on all contents",
                       WeightBelowRateOnBothSides{}, {contents_within(1, 16).with("m", {0.5})});
                 }),
      definition("\"A fixed query q_i\".",
                 "Set aside: it contradicts the limit, as a query at a fixed i has no distances "
                 "beyond i - 1.")};
  claim.implicit = {
      needed(
          "m > 0.",
          "For m < 0 the farthest key gets most at every length: p >= 1 - e^m. (At m = 0 the "
          "weight is at most e^(2 F)/n by bam/fading_peaks: it falls with the length, though not "
          "at the rate.)",
          [] {
            return for_all(Role::statement,
                           "equal contents: 1/4 - p_far > 0 at every length, e^(m n) in [0, 1]",
                           WeightFallsAtSomeLengthBelowZero{},
                           {Sample{}.with("m", {-1}).within("e^(m n)", 0, 1)});
          })
          .where("m", above(0)),
      definition(
          "The length grows with the distance: a query at a fixed i sees distances up to i - 1 "
          "only, where no limit can be taken. The limit is one over queries i -> infinity.",
          "Otherwise there is no limit."),
      definition("The content may depend on i and j in any way.", "It says how general it is.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
