// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Equal contents of n keys: the own key's weight under ALiBi less that under the GGD with b = -m
/// d^beta; for the mutant the other way round.
template <bool mutant>
struct OwnWeightIsSmaller {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), one(1.0);
    const int n = integer(in, "n");
    const LaplaceBias<R> alibi{m};
    const PowerBias<R> ggd{m, in.number("beta")};
    R others_alibi(0.0), others_ggd(0.0);
    for (int d = 1; d < n; ++d) {
      others_alibi += reference::exp(alibi(d));
      others_ggd += reference::exp(ggd(d));
    }
    const R difference = one / (one + others_alibi) - one / (one + others_ggd);
    return {mutant ? -difference : difference};
  }
};

std::vector<Sample> rows_of_fades_more_than_alibi() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.25, 0x1p-8}) {
    for (double n : {3, 16, 512}) {
      samples.push_back(Sample{}.with("m", {m}).with("n", {n}).within("beta", 0.0625, 0.5));
      samples.push_back(Sample{}.with("m", {m}).with("n", {n}).within("beta", 0.5, 0.9375));
    }
  }
  return samples;
}

/// b = -m (c |d + mu|)^beta with c = m^(-1/beta)/alpha; contents f, or equal ones.
struct OwnWeightIsSmallerWith {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), &beta = in.number("beta"), &mu = in.number("mu"), one(1.0);
    const auto ggd = [&](int d) {
      const R x = reference::absolute(R(d) + mu) / in.number("alpha/m^(-1/beta)");
      const bool at_peak = d == 0 && reference::representative(mu) == 0;
      return at_peak ? R(0.0) : -(m * reference::power(x, beta));
    };
    R alibi_total(0.0), ggd_total(0.0);
    for (int d = 0; d < integer(in, "n"); ++d) {
      const R content = in.has("f") ? in["f"][d] - in["f"][0] : R(0.0);
      alibi_total += reference::exp(content - m * R(d));
      ggd_total += reference::exp(content + (ggd(d) - ggd(0)));
    }
    return {one / alibi_total - one / ggd_total};
  }
};

/// beta < 0, equal contents: the own key has weight 0 and the farthest one the largest. The own
/// weight under ALiBi less that.
struct FarthestWeightIsSmaller {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    const int n = integer(in, "n");
    const reference::Vector<R> f = reference::zeros<R>(n);
    const PowerBias<R> ggd{m, in.number("beta")};
    const R peak = reference::exp(ggd(n - 1)) / mass(f, ggd, 1, n);
    return {R(1.0) / mass(f, LaplaceBias<R>{m}, 0, n) - peak};
  }
};

}  // namespace

Claim fades_more_than_alibi() {
  Claim claim;
  claim.id = "bam/fades_more_than_alibi";
  claim.title = "BAM is more susceptible to fading attention than ALiBi";
  claim.source = source("Section 2.5, last paragraph");
  claim.statement =
      "BAM \"becomes more susceptible to fading attention as it increases the context length that "
      "the LM can attend to\": with the prior of Theorem 2's proof the peak of the positional "
      "prior, "
      "at the query's own key, is at most ALiBi's.";
  claim.derivation =
      "d^beta <= d for d >= 1 and beta <= 1, so every term of the GGD's denominator is at least "
      "that "
      "of ALiBi's, while the own key's numerator is 1 in both.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "p_own under ALiBi - p_own under the GGD >= 0, all beta in "
                   "[1/16, 15/16]",
                   OwnWeightIsSmaller<false>{}, rows_of_fades_more_than_alibi());
  };
  claim.mutant = "The GGD's peak is at least ALiBi's.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_own under the GGD - p_own under ALiBi >= 0",
                   OwnWeightIsSmaller<true>{}, rows_of_fades_more_than_alibi());
  };
  claim.hypotheses = {
      needed("beta < 1.", "For beta = 2 the GGD is the narrower one.",
             [] {
               return for_all(Role::statement,
                              "beta = 2: p_own under ALiBi - p_own under the GGD >= 0",
                              OwnWeightIsSmaller<false>{},
                              {Sample{}.with("m", {0.25}).with("n", {16}).with("beta", {2})});
             })
          .where("beta", below(1)),
      needed("beta > 0.",
             "Below 0 the own key has weight 0 and the peak is at the farthest key: the only other "
             "one of two has weight 1, against ALiBi's 1/(1 + e^-0.25) = 0.562.",
             [] {
               return for_all(
                   Role::statement,
                   "beta = -1: 1/sum_{d < n} e^(-m d) - max_d e^(-m d^beta) / sum_{d = 1..n-1} "
                   "e^(-m d^beta) >= 0",
                   FarthestWeightIsSmaller{},
                   {Sample{}.with("m", {0.25}).with("n", {2}).with("beta", {-1})});
             })
          .where("beta", above(0)),
      not_needed("mu = 0.", "|d + mu|^beta - |mu|^beta <= d^beta for beta <= 1.",
                 [] {
                   return for_all(Role::statement,
                                  "mu = 5/2, -13/4: p_own under ALiBi - under the GGD >= 0",
                                  OwnWeightIsSmallerWith{},
                                  {Sample{}
                                       .with("alpha/m^(-1/beta)", {1})
                                       .with("mu", {2.5})
                                       .with("m", {0.25})
                                       .with("n", {16})
                                       .with("beta", {0.5}),
                                   Sample{}
                                       .with("alpha/m^(-1/beta)", {1})
                                       .with("mu", {-3.25})
                                       .with("m", {0.25})
                                       .with("n", {16})
                                       .with("beta", {0.5})});
                 })
          .where("mu", exactly(0)),
      needed("alpha = m^(-1/beta).", "A small alpha removes all keys but the own one.", [] {
        return for_all(Role::statement, "alpha = m^(-1/beta)/1024: p_own under ALiBi - GGD >= 0",
                       OwnWeightIsSmallerWith{},
                       {Sample{}
                            .with("alpha/m^(-1/beta)", {0x1p-10})
                            .with("mu", {0})
                            .with("m", {0.25})
                            .with("n", {16})
                            .with("beta", {0.5})});
      }).where("alpha/m^(-1/beta)", exactly(1))};
  claim.implicit = {
      not_needed(
          "Equal contents.",
          "The denominators compare term by term, whatever factor e^f the contents give both.",
          [] {
            return for_all(Role::statement, "contents within [-1, 1]: p_own under ALiBi - GGD >= 0",
                           OwnWeightIsSmallerWith{},
                           {Sample{}
                                .with("alpha/m^(-1/beta)", {1})
                                .with("mu", {0})
                                .with("m", {0.25})
                                .with("n", {5})
                                .with("beta", {0.5})
                                .with("f", {0.5, -1, 1, 0.75, -0.25})});
          }),
      definition("The peak stands for the sharpness of attention.", "It says what fading is.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
