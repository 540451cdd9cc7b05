// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// B/A = (d/alpha)^beta / (m d), mu = 0.
template <class R>
R ratio(const Inputs<R>& in, const R& d) {
  return reference::power(d / in.number("alpha"), in.number("beta")) / (in.number("m") * d);
}

struct RatioBelowOne {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(1.0) - ratio(in, in.number("d"))};
  }
};

/// Beyond and before the distance at which the two biases meet, d* = (alpha^-beta / m)^(1/(1 -
/// beta)); for the mutant the exponent is 1/beta.
template <bool beyond, bool mutant>
struct RatioAroundTheMeeting {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), one(1.0);
    const R meeting = reference::power(reference::power(alpha, -beta) / in.number("m"),
                                       one / (mutant ? beta : one - beta));
    const R d = beyond ? meeting * in.number("c") : meeting / in.number("c");
    return {beyond ? one - ratio(in, d) : ratio(in, d) - one};
  }
};

std::vector<Sample> distances_of_theorem_2_necessarily() {
  std::vector<Sample> samples;
  for (double d : {512, 2, 65535, 1 << 20}) {
    samples.push_back(
        Sample{}.with("alpha", {1}).with("beta", {0.5}).with("m", {0x1p-8}).with("d", {d}));
  }
  return samples;
}

std::vector<Sample> around() {
  std::vector<Sample> samples;
  for (double alpha : {0.25, 1.0, 100.0}) {
    for (double beta : {0.125, 0.25, 0.875}) {
      for (double m : {0.5, 0x1p-8}) {
        for (double c : {1.0625, 2.0, 1000.0}) {
          samples.push_back(
              Sample{}.with("alpha", {alpha}).with("beta", {beta}).with("m", {m}).with("c", {c}));
        }
      }
    }
  }
  return samples;
}

struct RatioWithMu {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& d = in.number("d");
    const R bias = reference::power((d + in.number("mu")) / in.number("alpha"), in.number("beta"));
    return {R(1.0) - bias / (in.number("m") * d)};
  }
};

}  // namespace

Claim theorem_2_necessarily() {
  Claim claim;
  claim.id = "bam/theorem_2_necessarily";
  claim.title = "GGD-BAM with beta < 1 necessarily sees more context than ALiBi";
  claim.source =
      source("Theorem 2, section 2.3, first sentence; section 2.5, \"slower decay rate\"");
  claim.statement =
      "GGD-BAM is necessarily capable of seeing more context length than ALiBi: for beta in (0, "
      "1), "
      "whatever alpha is, B_ij / A_ij < 1 (mu = 0, |j - i| >= 2).";
  claim.condition = "|j - i| > d* = (alpha^-beta / m)^(1/(1 - beta)).";
  claim.correction =
      "For every alpha the ratio is above 1 before d* and below 1 beyond. \"For some alpha\" does "
      "not tell GGD-BAM from ALiBi: alpha = 2/m with beta = 1 has the ratio 1/2 everywhere.";
  claim.derivation =
      "(d/alpha)^beta / (m d) = alpha^-beta d^(beta - 1) / m decreases in d and is 1 at d*. "
      "alpha = 1 (theta_alpha = 0, the paper's own starting value), beta = 1/2 and ALiBi's "
      "smallest "
      "slope m = 1/256: d* = 65536; at d = 512 the ratio is 11.3, so the GGD penalises eleven "
      "times "
      "as much over the whole training length.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "alpha = 1, beta = 1/2, m = 1/256: 1 - (d/alpha)^beta / (m d) > 0",
                             RatioBelowOne{}, distances_of_theorem_2_necessarily()),
                     for_all(Role::condition, "d = c d*, c > 1: 1 - ratio > 0",
                             RatioAroundTheMeeting<true, false>{}, around()),
                     for_all(Role::correction, "d = d*/c, c > 1: ratio - 1 > 0",
                             RatioAroundTheMeeting<false, false>{}, around())});
  };
  claim.pictures = {pictures::theorem_2_mass};
  claim.mutant = "d* = (alpha^-beta / m)^(1/beta).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "d = c d*, c > 1: 1 - ratio > 0",
                   RatioAroundTheMeeting<true, true>{}, around());
  };
  claim.hypotheses = {
      needed(
          "beta < 1.", "For beta > 1 the GGD's bias is the larger one beyond d*.",
          [] {
            return for_all(
                Role::statement, "beta = 3/2, d = c d*: 1 - ratio > 0",
                RatioAroundTheMeeting<true, false>{},
                {Sample{}.with("alpha", {1}).with("beta", {1.5}).with("m", {0.5}).with("c", {2})});
          })
          .where("beta", below(1)),
      not_needed(
          "beta > 0.", "Below 0 the bias even falls with the distance.",
          [] {
            return for_all(
                Role::statement, "beta = -1/2, d = c d*: 1 - ratio > 0",
                RatioAroundTheMeeting<true, false>{},
                {Sample{}.with("alpha", {1}).with("beta", {-0.5}).with("m", {0.5}).with("c", {2})});
          })
          .where("beta", above(0)),
      definition("The ratio below 1 is what seeing more context means.",
                 "It says what is compared; "
                 "bam/theorem_2_weights asks whether it is right.")};
  claim.implicit = {
      needed("mu = 0.", "A prior whose peak is far ahead has a large bias just beyond d*.",
             [] {
               return for_all(Role::statement, "|(d + mu)/alpha|^beta < m d at d > d* = 4",
                              RatioWithMu{},
                              {Sample{}
                                   .with("alpha", {1})
                                   .with("beta", {0.5})
                                   .with("m", {0.5})
                                   .with("d", {5})
                                   .with("mu", {1000})});
             })
          .where("mu", exactly(0)),
      definition("\"Necessarily\" is read as: for every alpha, and not for some.",
                 "It says what the word means.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
