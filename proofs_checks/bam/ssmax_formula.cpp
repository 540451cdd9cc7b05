// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/samples.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/attention/ssmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// n^(s z_i) / sum_j n^(s z_j) - softmax(c z)_i with c = s ln n, the reference's factor; for the
/// mutant the logarithm is to base 10.
template <bool mutant>
struct PowersAreExponentials {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& z = in["f"];
    const R& s = in.number("s");
    const int n = static_cast<int>(z.size());
    R factor = reference::ssmax_factor(s, n);
    if (mutant) factor = factor / reference::log(R(10.0));
    reference::Vector<R> powers(n), logits(n);
    for (int j = 0; j < n; ++j) {
      powers[j] = reference::power(R(n), s * z[j]);
      logits[j] = factor * z[j];
    }
    const R total = reference::sum(powers);
    const auto p = reference::softmax(logits).probability;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < n; ++j)
      residuals.push_back({powers[j] / total - p[j], "i = " + std::to_string(j)});
    return residuals;
  }
};

std::vector<Sample> scaled_contents() {
  std::vector<Sample> samples;
  for (double s : {1.0, 0.25, -0.5, 0.0}) {
    for (const Sample& pair : score_pairs(true, 10)) {
      samples.push_back(Sample{}.with("f", pair.quantities.front().lower).with("s", {s}));
    }
  }
  return samples;
}

struct PowersOfAnotherN {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>& z = in["f"];
    const R &s = in.number("s"), &n = in.number("n");
    reference::Vector<R> powers(z.size()), logits(z.size());
    for (int j = 0; j < z.size(); ++j) {
      powers[j] = reference::power(n, s * z[j]);
      logits[j] = s * reference::log(n) * z[j];
    }
    const R total = reference::sum(powers);
    const auto p = reference::softmax(logits).probability;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < z.size(); ++j)
      residuals.push_back({powers[j] / total - p[j], "i = " + std::to_string(j)});
    return residuals;
  }
};

}  // namespace

Claim ssmax_formula() {
  Claim claim;
  claim.id = "bam/ssmax_formula";
  claim.title = "The two forms of scalable softmax agree";
  claim.source = source("Section 2.5, \"Scalable Softmax\"; appendix H.4, s ln(n)");
  claim.statement = "n^(s z_i) / sum_j n^(s z_j) = e^((s log n) z_i) / sum_j e^((s log n) z_j).";
  claim.correction =
      "For n = 1 the factor is 0 and the weight 1. A negative s, which \"s in R\" allows, turns "
      "the "
      "order of the keys around.";
  claim.derivation = "n^(s z) = e^(s z ln n).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "n^(s z_i)/sum n^(s z_j) - softmax(s ln n z)_i = 0",
                   PowersAreExponentials<false>{}, scaled_contents());
  };
  claim.mutant = "log is the logarithm to base 10.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "n^(s z_i)/sum n^(s z_j) - softmax(s log10 n z)_i = 0",
                   PowersAreExponentials<true>{}, scaled_contents());
  };
  claim.hypotheses = {definition("n >= 1 scores.", "A softmax over none is 0/0."),
                      definition("s is any real number.", "It says how general it is.")};
  claim.implicit = {
      needed("log is the natural logarithm, as appendix H.4 writes.",
             "Another base divides s by a constant.", claim.mutant_checks),
      not_needed("n is the number of keys that the query sees.",
                 "The identity holds for any number n > 0 that both forms use.", [] {
                   return for_all(
                       Role::statement, "n = 100, 3 keys: n^(s z_i)/sum - softmax = 0",
                       PowersOfAnotherN{},
                       {Sample{}.with("f", {1, 0, -2}).with("s", {0.5}).with("n", {100})});
                 })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
