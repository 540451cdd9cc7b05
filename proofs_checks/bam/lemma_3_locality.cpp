// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// No positional score and equal contents: every p is 1/n, which tends to 0. Half of the mass lies
/// within the window w.
struct VanishingWeightsAreLocal {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int n = integer(in, "n"), w = integer(in, "w");
    const reference::Vector<R> f = reference::zeros<R>(n);
    const auto none = [](int) { return R(0.0); };
    const R inside = mass(f, none, 0, w);
    return {inside / (inside + mass(f, none, w, n)) - R(1.0) / R(2.0)};
  }
};

/// ALiBi: e^(2 F) q^w / (1 - q^w) - (the mass outside the window w), for every content within
/// [-F, F]; for the mutant the bound has w + 1 in place of w.
template <int shift>
struct AlibiIsLocal {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &F = in.number("F"), &m = in.number("m"), one(1.0);
    const int w = integer(in, "w"), n = static_cast<int>(in["f"].size());
    const LaplaceBias<R> bias{m};
    const R inside = mass(in["f"], bias, 0, w), outside = mass(in["f"], bias, w, n);
    const R tail = reference::exp(bias(w + shift));
    return {reference::exp(F + F) * tail / (one - tail) - one / (one + inside / outside)};
  }
};

std::vector<Sample> windows() {
  std::vector<Sample> samples;
  for (double F : {0.0, 1.0, 4.0}) {
    for (double m : {1.0, 0.25}) {
      for (int n : {16, 256}) {
        for (double w : {1, 4, 15}) {
          samples.push_back(Sample{}.with("F", {F}).with("m", {m}).with("w", {w}).within(
              "f", -F, F, static_cast<std::size_t>(n)));
        }
      }
    }
  }
  return samples;
}

std::vector<Sample> lengths_of_lemma_3_locality() {
  std::vector<Sample> samples;
  for (double n : {32, 128, 512, 1024}) samples.push_back(Sample{}.with("n", {n}).with("w", {8}));
  return samples;
}

Sample unbounded() {
  std::vector<double> f(16, 0.0);
  f[15] = 20;
  return Sample{}.with("F", {0}).with("m", {1}).with("w", {4}).with("f", f);
}

}  // namespace

Claim lemma_3_locality() {
  Claim claim;
  claim.id = "bam/lemma_3_locality";
  claim.title = "A weight that tends to 0 with the distance makes attention local";
  claim.source = source("Lemmas 3 and 4: \"becomes local attention\", shown by lim p_ij = 0");
  claim.statement =
      "lim p_ij = 0 as |j - i| -> infinity means local attention. Checked through a consequence: "
      "where all weights of distant keys vanish, a window of some fixed size keeps half of the "
      "mass.";
  claim.hypotheses = {"The limit of Lemma 3 is what shows that attention is local."};
  claim.implicit = {
      "Local means that the mass outside a window is small however long the text is."};
  claim.correction =
      "What makes ALiBi local is a bound on mass: with |f| <= F, the keys beyond a window of w get "
      "at most e^(2 F) q^w / (1 - q^w) of the mass, q = e^-m, whatever the length is.";
  claim.derivation =
      "Without any positional score (NoPE) and with equal contents p_ij = 1/n -> 0, the limit of "
      "the lemma, and a window of w keys holds w/n -> 0 of the mass: every window loses, as n = 4 "
      "w leaves w/n = 1/4 for every w. The limit "
      "of single weights therefore tells nothing about locality. For ALiBi the mass outside is at "
      "most e^F q^w/(1 - q) and inside at least e^(-F) (1 - q^w)/(1 - q).";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "NoPE, equal contents: mass within w - 1/2 >= 0",
                 VanishingWeightsAreLocal{}, lengths_of_lemma_3_locality()),
         for_all(Role::correction,
                 "e^(2 F) q^w/(1 - q^w) - mass beyond w >= 0 on all contents in [-F, F]",
                 AlibiIsLocal<0>{}, windows())});
  };
  claim.mutant = "The bound with w + 1 in place of w.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "e^(2 F) q^(w+1)/(1 - q^(w+1)) - mass beyond w >= 0",
                   AlibiIsLocal<1>{}, windows());
  };
  claim.correction_hypotheses = {
      needed("The content scores are bounded, |f| <= F.",
             "A far key with enough content holds nearly all of the mass.",
             [] {
               return for_all(Role::statement,
                              "e^(2 F) q^w/(1 - q^w) - mass beyond w >= 0 with F = 0, f_15 = 20",
                              AlibiIsLocal<0>{}, {unbounded()});
             }),
      needed("m > 0.", "For m < 0 the bound is negative; for m = 0 it divides by 0.", [] {
        return for_all(Role::statement, "m = -1: e^(2 F) q^w/(1 - q^w) - mass beyond w >= 0",
                       AlibiIsLocal<0>{},
                       {Sample{}.with("F", {0}).with("m", {-1}).with("w", {4}).with(
                           "f", std::vector<double>(16, 0.0))});
      }).where("m", above(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
