// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The weights by distance, contents f[d].
template <class R, class Bias>
reference::Vector<R> weights(const reference::Vector<R>& f, const Bias& bias) {
  reference::Vector<R> logits = f;
  for (int d = 0; d < f.size(); ++d) logits[d] += bias(d);
  return reference::softmax(logits).probability;
}

/// Equal contents of n keys: p_GGD(d) - p_ALiBi(d) at every distance from 2, where B/A < 1.
struct SmallerBiasGetsMoreWeight {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), &beta = in.number("beta");
    const reference::Vector<R> f = reference::zeros<R>(integer(in, "n"));
    const auto ggd = weights(f, PowerBias<R>{m, beta}), alibi = weights(f, LaplaceBias<R>{m});
    std::vector<Placed<R>> residuals;
    for (int d = 2; d < f.size(); ++d)
      residuals.push_back({ggd[d] - alibi[d], "d = " + std::to_string(d)});
    return residuals;
  }
};

/// Any contents: the mass at distance w and beyond, GGD's less ALiBi's, for every w >= 1. For the
/// mutant the mass nearer than w.
template <bool mutant>
struct MassBeyondEveryWindow {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), &beta = in.number("beta");
    const reference::Vector<R>& f = in["f"];
    const auto ggd = weights(f, PowerBias<R>{m, beta}), alibi = weights(f, LaplaceBias<R>{m});
    const int n = static_cast<int>(f.size());
    std::vector<Placed<R>> residuals;
    for (int w = 1; w < n; ++w) {
      const auto beyond = [&](const reference::Vector<R>& p) {
        return reference::sum(reference::Vector<R>(mutant ? p.head(w) : p.tail(n - w)));
      };
      residuals.push_back({beyond(ggd) - beyond(alibi), "w = " + std::to_string(w)});
    }
    return residuals;
  }
};

std::vector<Sample> equal_contents() {
  std::vector<Sample> samples;
  for (double n : {8, 64, 256}) {
    samples.push_back(Sample{}.with("m", {0.25}).with("beta", {0.5}).with("n", {n}));
  }
  return samples;
}

std::vector<Sample> any_contents_of_theorem_2_weights() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.25}) {
    for (double beta : {0.125, 0.5, 0.9375}) {
      for (const Sample& pair : score_pairs(false, 10)) {
        samples.push_back(
            Sample{}.with("f", pair.quantities.front().lower).with("m", {m}).with("beta", {beta}));
      }
    }
  }
  return samples;
}

/// Equal contents: the mass at distance 1 and beyond, GGD's with alpha = 1 less ALiBi's.
struct MassBeyondWithUnitScale {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> f = reference::zeros<R>(integer(in, "keys"));
    const auto ggd = weights(f, PowerBias<R>{R(1.0), in.number("beta")});
    const auto alibi = weights(f, LaplaceBias<R>{in.number("m")});
    return {alibi[0] - ggd[0]};
  }
};

/// beta < 0, where the own key has weight 0 under the GGD: the mass at distance w and beyond, GGD's
/// less ALiBi's, for every w >= 1.
struct MassBeyondWithoutOwnKey {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    const reference::Vector<R>& f = in["f"];
    const int n = static_cast<int>(f.size());
    const PowerBias<R> ggd{m, in.number("beta")};
    const LaplaceBias<R> alibi{m};
    std::vector<Placed<R>> residuals;
    for (int w = 1; w < n; ++w) {
      const R of_ggd = mass(f, ggd, w, n) / mass(f, ggd, 1, n);
      const R of_alibi = mass(f, alibi, w, n) / mass(f, alibi, 0, n);
      residuals.push_back({of_ggd - of_alibi, "w = " + std::to_string(w)});
    }
    return residuals;
  }
};

}  // namespace

Claim theorem_2_weights() {
  Claim claim;
  claim.id = "bam/theorem_2_weights";
  claim.title = "A ratio of biases below 1 means more attention to the key";
  claim.source = source("Appendix B.5, first sentence and conclusion");
  claim.statement =
      "For GGD-BAM to see more context than ALiBi the ratio B_ij / A_ij must be less than 1: where "
      "it is, with mu = 0 and alpha = m^(-1/beta), the key's weight is at least that under ALiBi.";
  claim.hypotheses = {
      "beta in (0, 1), mu = 0, alpha = m^(-1/beta), so B/A = d^(beta - 1) < 1 for d >= 2."};
  claim.implicit = {"Same content under both priors; seeing a key means giving it weight."};
  claim.correction =
      "For every window w and every content, the mass at distance w and beyond is at least that "
      "under ALiBi.";
  claim.derivation =
      "The ratio compares logits; weights are also divided by their sum, and the slower decay "
      "makes the sum larger. m = 1/4, beta = 1/2, 64 equal contents, d = 2: ALiBi gives e^-0.5 (1 "
      "- e^-0.25) = 0.134, the GGD 0.036. The conclusion is saved by monotonicity: B - A = m (d - "
      "d^beta) does not decrease in d, so GGD's weights are ALiBi's times an increasing factor "
      "(monotone likelihood ratio), which moves mass outwards past every w.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "n equal contents, d >= 2: p_GGD - p_ALiBi >= 0, e^(-m d^beta) and "
                             "e^(-m d), each over its sum for d = 0..n-1",
                             SmallerBiasGetsMoreWeight{}, equal_contents()),
                     for_all(Role::correction, "mass beyond w: GGD - ALiBi >= 0 for every w",
                             MassBeyondEveryWindow<false>{}, any_contents_of_theorem_2_weights())});
  };
  claim.pictures = {pictures::theorem_2_weights};
  claim.mutant = "The mass nearer than w: GGD - ALiBi >= 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "mass nearer than w: GGD - ALiBi >= 0 for every w",
                   MassBeyondEveryWindow<true>{}, any_contents_of_theorem_2_weights());
  };
  claim.correction_hypotheses = {
      needed("beta < 1.", "For beta = 2 the GGD has less mass beyond 2.",
             [] {
               return for_all(
                   Role::statement, "beta = 2: mass beyond w: GGD - ALiBi >= 0",
                   MassBeyondEveryWindow<false>{},
                   {Sample{}.with("f", {0, 0, 0, 0}).with("m", {0.25}).with("beta", {2})});
             })
          .where("beta", below(1)),
      not_needed(
          "beta > 0.",
          "For beta < 0 the own key has weight 0, and m (d - d^beta) still rises on d >= 1.",
          [] {
            return for_all(
                Role::statement,
                "beta < 0, own weight 0: mass beyond w: GGD - ALiBi >= 0 for every w",
                MassBeyondWithoutOwnKey{},
                {Sample{}.with("f", {0, 0, 0, 0}).with("m", {0.25}).with("beta", {-0.5}),
                 Sample{}.with("f", {3, -2, 0.5, 1, 0}).with("m", {1}).with("beta", {-0.5})});
          })
          .where("beta", above(0)),
      definition("beta is not 0.", "alpha = m^(-1/beta) divides by it."),
      needed("alpha = m^(-1/beta).", "A small alpha removes all keys but the own one.", [] {
        return for_all(Role::statement, "alpha = 1, m = 1/256: mass at distance 1 and beyond",
                       MassBeyondWithUnitScale{},
                       {Sample{}.with("m", {0x1p-8}).with("beta", {0.5}).with("keys", {4})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
