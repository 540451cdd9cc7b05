// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The prior that a causal mask gives the j-th of i visible keys, less 1/n for the first n of them
/// and 0 for the others.
template <int without>
struct PriorIsUniformOverAllBut {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const int i = integer(in, "i"), n = i - without;
    const auto mask = reference::softmax(reference::Vector<R>(reference::zeros<R>(i))).probability;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < i; ++j)
      residuals.push_back(
          {mask[j] - (j < n ? R(1.0) / R(n) : R(0.0)), "j = " + std::to_string(j + 1)});
    return residuals;
  }
};

std::vector<Sample> queries(int first, int last) {
  std::vector<Sample> samples;
  for (int i = first; i <= last; ++i) samples.push_back(Sample{}.with("i", {double(i)}));
  return samples;
}

}  // namespace

Claim uniform_prior_positions() {
  Claim claim;
  claim.id = "bam/uniform_prior_positions";
  claim.title = "The uniform prior covers the positions before the current token";
  claim.source = source("Appendix A, \"Positional Priors\", first item");
  claim.statement =
      "The uniform distribution \"assigns equal probability mass to all valid positions before the "
      "current token\": 1/(i - 1) for j < i and 0 for j = i.";
  claim.hypotheses = {"The prior is the one that the causal mask gives (Lemma 1)."};
  claim.implicit = {"\"Before\" leaves the current token out; the first token has no prior then."};
  claim.correction =
      "Up to and including the current token: 1/i for 1 <= j <= i, as the formula beside the "
      "sentence, I[a <= x <= b], and Lemma 1 have it.";
  claim.derivation =
      "M_ii = 0, so the query sees its own key: i keys with 1/i each. i = 2: (1/2, 1/2) and not "
      "(1, 0). For i = 1 no position is before the token, while the mask gives it all the mass.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "prior_j - 1/(i - 1) = 0 for j < i, prior_i = 0",
                             PriorIsUniformOverAllBut<1>{}, queries(2, 9)),
                     for_all(Role::correction, "prior_j - 1/i = 0 for j <= i",
                             PriorIsUniformOverAllBut<0>{}, queries(1, 9))});
  };
  claim.mutant = "The last two of the visible keys get nothing.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "prior_j - 1/(i - 2) = 0 for j < i - 1, else 0",
                   PriorIsUniformOverAllBut<2>{}, queries(3, 9));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
