// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// softmax(M + A) of a query that sees i keys, by distance 0..i-1.
template <class R>
reference::Vector<R> alibi_prior(const Inputs<R>& in) {
  const LaplaceBias<R> bias{in.number("m")};
  reference::Vector<R> logits(integer(in, "i"));
  for (int d = 0; d < logits.size(); ++d) logits[d] = bias(d);
  return reference::softmax(logits).probability;
}

/// Uniform(1, i, j) Laplace(0, 1/m, j - i) = (1/i) (m/2) e^(-m d).
template <class R>
R printed_prior(const Inputs<R>& in, int d) {
  const R& m = in.number("m");
  return m * reference::exp(LaplaceBias<R>{m}(d)) / R(2.0 * integer(in, "i"));
}

struct PriorEqualsProduct {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> prior = alibi_prior(in);
    std::vector<Placed<R>> residuals;
    for (int d = 0; d < prior.size(); ++d)
      residuals.push_back({prior[d] - printed_prior(in, d), "d = " + std::to_string(d)});
    return residuals;
  }
};

/// prior(d) x printed(0) - prior(0) x printed(d): the two differ by one factor for the whole row.
struct PriorIsProportional {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> prior = alibi_prior(in);
    std::vector<R> residuals;
    for (int d = 0; d < prior.size(); ++d) {
      residuals.push_back(prior[d] * printed_prior(in, 0) - prior[0] * printed_prior(in, d));
    }
    return residuals;
  }
};

/// prior(d) - q^d (1 - q) / (1 - q^n), q = e^-m, n = i keys (the mutant: n -> infinity).
template <bool mutant>
struct PriorIsTruncatedGeometric {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> prior = alibi_prior(in);
    const LaplaceBias<R> bias{in.number("m")};
    const int n = static_cast<int>(prior.size());
    const R one(1.0), rest = mutant ? R(0.0) : reference::exp(bias(n));
    std::vector<R> residuals;
    for (int d = 0; d < n; ++d) {
      residuals.push_back(prior[d] -
                          reference::exp(bias(d)) * (one - reference::exp(bias(1))) / (one - rest));
    }
    return residuals;
  }
};

std::vector<Sample> rows_of_lemma_2() {
  std::vector<Sample> samples;
  for (double m : {0.5, 1.0, 0x1p-8, 0.75, 3.0}) {
    for (double i : {1, 2, 3, 8, 64}) samples.push_back(Sample{}.with("m", {m}).with("i", {i}));
  }
  return samples;
}

/// Positions 1, 2, 3 and the query at 2: Uniform(1, 2, j) is 0 at j = 3.
struct UnmaskedPriorIsProportional {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const LaplaceBias<R> bias{in.number("m")};
    reference::Vector<R> logits(3);
    for (int j = 0; j < 3; ++j) logits[j] = bias(j == 1 ? 0 : 1);
    const auto prior = reference::softmax(logits).probability;
    const R product_2 = in.number("m") / R(4.0);
    return {prior[2] * product_2 - prior[1] * R(0.0)};
  }
};

}  // namespace

Claim lemma_2() {
  Claim claim;
  claim.id = "bam/lemma_2";
  claim.title = "ALiBi's prior is a uniform times a Laplace distribution";
  claim.source = source("Lemma 2, section 2.2, and appendix B.2");
  claim.statement =
      "ALiBi => p(g_pos(i, j)) = Uniform(1, i, j) Laplace(0, 1/m, j - i), that is "
      "softmax(M + A)_j = (1/i) (m/2) exp(-m |j - i|) for j <= i.";
  claim.condition =
      "The equality is meant up to one factor for each query, as appendix A defines its priors "
      "(\"proportional to\"); the product of the two does not sum to 1.";
  claim.correction =
      "Under the causal mask the prior is a truncated geometric distribution of the distance d = "
      "i - j: p(d) = q^d (1 - q)/(1 - q^i), q = e^-m.";
  claim.derivation =
      "sum_{d < i} (1/i)(m/2) q^d = m (1 - q^i) / (2 i (1 - q)), which is at most m/2, below 1 for "
      "m < "
      "2: for i = 1 it is m/2 "
      "while the only key has probability 1. Both sides are proportional to q^d on the visible "
      "keys, "
      "hence the condition; dividing q^d by its own sum gives the geometric form. It is one-sided: "
      "the mask removes the half j > i of the Laplace distribution.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "softmax(M + A)_j - (1/i)(m/2) e^(-m d) = 0",
                             PriorEqualsProduct{}, rows_of_lemma_2()),
                     for_all(Role::condition, "prior(d) product(0) - prior(0) product(d) = 0",
                             PriorIsProportional{}, rows_of_lemma_2()),
                     for_all(Role::correction, "prior(d) - q^d (1 - q)/(1 - q^i) = 0",
                             PriorIsTruncatedGeometric<false>{}, rows_of_lemma_2())});
  };
  claim.pictures = {pictures::prior_curves};
  claim.mutant = "p(d) = q^d (1 - q), the geometric distribution that is not truncated.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "prior(d) - q^d (1 - q) = 0", PriorIsTruncatedGeometric<true>{},
                   rows_of_lemma_2());
  };
  claim.hypotheses = {
      definition("a_ij = -m |j - i|.", "It is ALiBi."),
      needed("The causal mask.", "Without it keys after the query have a prior, and the product 0.",
             [] {
               return for_all(
                   Role::statement,
                   "no mask, 3 keys, i = 2: prior(3) product(2) - prior(2) product(3) = 0",
                   UnmaskedPriorIsProportional{}, {Sample{}.with("m", {1})});
             }),
      definition("Laplace(0, 1/m, x) = (m/2) exp(-m |x|), the density that B.2 uses.",
                 "It says what the symbol means.")};
  claim.implicit = {definition(
      "m > 0.", "For m <= 0 the integral of e^(-m |x|) diverges: no Laplace distribution.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
