// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The weight of the one key whose content is ln(n - 1) above the others' is 1/2 at every length:
/// 1/4 - p.
struct PeakVanishes {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int others = integer(in, "n") - 1;
    const auto delta = reference::Vector<R>::Constant(others, -reference::log(R(others)));
    return {R(0.25) - weight_of_farthest<R>(delta, [](int) { return R(0.0); })};
  }
};

/// e^(2 F) / n - p of any key, for every content within [-F, F]; for the mutant e^F / n.
template <bool mutant>
struct WeightBelowRateOfFadingPeaks {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& F = in.number("F");
    const reference::Vector<R>& delta = in["delta"];
    const R p = weight_of_farthest<R>(delta, [](int) { return R(0.0); });
    const R n(static_cast<int>(delta.size()) + 1);
    return {reference::exp(mutant ? F : F + F) / n - p};
  }
};

std::vector<Sample> lengths_of_fading_peaks() {
  std::vector<Sample> samples;
  for (double n : {1024, 64, 2}) samples.push_back(Sample{}.with("n", {n}));
  return samples;
}

std::vector<Sample> bounded_contents_of_fading_peaks() {
  std::vector<Sample> samples;
  for (double F : {0.0, 1.0, 8.0}) {
    for (int others : {1, 15, 255, 1023}) samples.push_back(contents_within(F, others));
  }
  return samples;
}

struct OwnWeightUnderAlibi {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const LaplaceBias<R> bias{in.number("m")};
    const int n = integer(in, "n");
    const R total = mass(reference::Vector<R>(reference::zeros<R>(n)), bias, 0, n);
    return {R(1.0) / R(n) - R(1.0) / total};
  }
};

}  // namespace

Claim fading_peaks() {
  Claim claim;
  claim.id = "bam/fading_peaks";
  claim.title = "The peaks of a softmax vanish as the context grows";
  claim.source = source(
      "Section 2.5, \"Scalable Softmax\"; appendix H.4, \"the softmax function tends to zero\"");
  claim.statement =
      "The denominator of the softmax grows with the context size n while the numerator of each "
      "token remains constant, leading to vanishing attention peaks: max_j p_j -> 0 as n -> "
      "infinity.";
  claim.condition = "The content scores are bounded, |f_j| <= F for all n.";
  claim.correction = "Rate: max_j p_j <= e^(2 F)/n.";
  claim.derivation =
      "Each of the n terms of the denominator is at least e^-F, the numerator at most e^F. With "
      "scores that may grow, f_0 = ln(n - 1) and 0 elsewhere gives p_0 = 1/2 for every n. With "
      "ALiBi no such fading exists: the own key keeps at least e^(-2 F) (1 - e^-m).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(
             Role::statement,
             "f_0 = ln(n - 1), others 0: 1/4 - p_0 > 0 at some n, p_0 = e^(f_0)/(e^(f_0) + n - 1)",
             PeakVanishes{}, lengths_of_fading_peaks()),
         for_all(Role::condition, "e^(2 F)/n - p >= 0 on all contents in [-F, F]",
                 WeightBelowRateOfFadingPeaks<false>{}, bounded_contents_of_fading_peaks())});
  };
  claim.pictures = {pictures::fading};
  claim.mutant = "The rate is e^F/n.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "e^F/n - p >= 0", WeightBelowRateOfFadingPeaks<true>{},
                   {Sample{}.with("F", {2}).with("delta", std::vector<double>(63, -4))});
  };
  claim.hypotheses = {
      needed("No positional bias that removes distant keys.",
             "Under ALiBi the own key keeps 1 - e^-m at every length.", [] {
               return for_all(Role::statement, "ALiBi, equal contents: 1/n - p_own >= 0 (F = 0)",
                              OwnWeightUnderAlibi{}, {Sample{}.with("m", {1}).with("n", {64})});
             })};
  claim.implicit = {definition(
      "Nothing is said of the content scores; \"constant\" fixes a token's own score, not "
      "those of the tokens that are added.",
      "The condition says it.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
