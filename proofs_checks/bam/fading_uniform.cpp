// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The weights of the contents f repeated `times` times.
template <class R>
reference::Vector<R> repeated_weights(const reference::Vector<R>& f, int times) {
  const int n = static_cast<int>(f.size());
  reference::Vector<R> logits(n * times);
  for (int j = 0; j < n * times; ++j) logits[j] = f[j % n];
  return reference::softmax(logits).probability;
}

/// sum_j |p_j - 1/n|.
template <class R>
R distance_from_uniform(const reference::Vector<R>& p) {
  const R uniform = R(1.0) / R(static_cast<int>(p.size()));
  R total(0.0);
  for (const R& weight : p) total += reference::absolute(weight - uniform);
  return total;
}

/// Half of the distance from uniform of one context, less that of 16 copies of it.
struct DistanceHalves {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R once = distance_from_uniform(repeated_weights(in["f"], 1));
    return {once / R(2.0) - distance_from_uniform(repeated_weights(in["f"], 16))};
  }
};

/// The distance of `times` copies less that of one, and n p_j likewise at every key.
struct DistanceStays {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int times = integer(in, "times");
    const auto once = repeated_weights(in["f"], 1), more = repeated_weights(in["f"], times);
    std::vector<R> residuals = {distance_from_uniform(more) - distance_from_uniform(once)};
    for (int j = 0; j < once.size(); ++j) residuals.push_back(R(times) * more[j] - once[j]);
    return residuals;
  }
};

/// The entropy less ln n - (max f - min f), for the mutant less ln n.
template <bool mutant>
struct EntropyIsNearItsMaximum {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& f = in["f"];
    const auto p = reference::softmax(f).probability;
    R entropy(0.0), largest = f[0], smallest = -f[0];
    for (int j = 0; j < p.size(); ++j) {
      entropy -= p[j] * reference::log(p[j]);
      largest = reference::maximum(largest, f[j]);
      smallest = reference::maximum(smallest, -f[j]);
    }
    const R spread = mutant ? R(0.0) : largest + smallest;
    return {entropy + spread - reference::log(R(static_cast<int>(p.size())))};
  }
};

std::vector<Sample> contents_of_fading_uniform(int first) {
  std::vector<Sample> samples;
  const std::vector<Sample> pairs = score_pairs(false, 20);
  for (std::size_t k = static_cast<std::size_t>(first); k < pairs.size(); ++k) {
    samples.push_back(Sample{}.with("f", pairs[k].quantities.front().lower));
  }
  return samples;
}

std::vector<Sample> contents_and_copies() {
  std::vector<Sample> samples = contents_of_fading_uniform(0);
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k].with("times", {double(2 + k % 7)});
  return samples;
}

}  // namespace

Claim fading_uniform() {
  Claim claim;
  claim.id = "bam/fading_uniform";
  claim.title = "The attention distribution becomes increasingly uniform as the context grows";
  claim.source = source("Section 2.5, \"Scalable Softmax\", first sentence");
  claim.statement =
      "Attention fading: the attention distribution becomes increasingly uniform as context length "
      "grows. Checked as: sum_j |p_j - 1/n| halves when a context is repeated sixteen times.";
  claim.hypotheses = {"A softmax without positional bias, bounded content scores."};
  claim.implicit = {
      "Becoming uniform means that the distance from the uniform distribution tends to "
      "0.",
      "The contents are not all equal."};
  claim.correction =
      "Single weights vanish (bam/fading_peaks), the shape stays: n p_j, every ratio p_j/p_k and "
      "the "
      "distance from uniform do not change when a context is repeated. Only relative to its "
      "maximum does the entropy grow: ln n - H <= max f - min f, so H/ln n -> 1.";
  claim.derivation =
      "r copies of the contents divide every weight by r and leave n p_j = n e^(f_j)/sum_z "
      "e^(f_z). "
      "f = (1, 0): sum |p - 1/n| = 0.462 for every number of copies. p_j <= e^(max f - min f)/n "
      "gives the entropy's bound.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    // The first pair has equal contents, whose distance is 0 at every length.
    return together(
        {for_all(Role::statement,
                 "distance/2 - the distance of 16 copies >= 0, sum_j |p_j - 1/n| of softmax(f) and "
                 "of f repeated 16 times",
                 DistanceHalves{}, contents_of_fading_uniform(1)),
         for_all(Role::correction, "distance and n p_j of r copies less those of one = 0",
                 DistanceStays{}, contents_and_copies()),
         for_all(Role::correction, "H - (ln n - (max f - min f)) >= 0",
                 EntropyIsNearItsMaximum<false>{}, contents_of_fading_uniform(0))});
  };
  claim.mutant = "The entropy is ln n.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "H - ln n >= 0", EntropyIsNearItsMaximum<true>{},
                   contents_of_fading_uniform(1));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
