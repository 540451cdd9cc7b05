// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/attention.hpp"
#include "reference/bias/nope.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The reference's attention of one query with scores f over values v, one column.
template <class R>
R attended(const Inputs<R>& in) {
  const reference::Vector<R>&f = in["f"], &v = in["v"];
  const int keys = static_cast<int>(f.size());
  reference::Matrix<R> K(keys, 1), V(keys, 1);
  std::vector<int> visible;
  for (int j = 0; j < keys; ++j) {
    K(j, 0) = f[j];
    V(j, 0) = v[j];
    visible.push_back(j);
  }
  const reference::Vector<R> q = reference::Vector<R>::Constant(1, R(1.0));
  return reference::attention_row(q, K, V, visible, R(1.0), reference::Nope<R>{}, 0).output[0];
}

/// output - sum_j p_j v_j with p_j = e^(f_j) / sum_z e^(f_z), and sum_j p_j - 1.
template <int left_out>
struct OutputIsExpectation {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R>&f = in["f"], &v = in["v"];
    R total(0.0), weighted(0.0);
    for (int j = left_out; j < f.size(); ++j) {
      total += reference::exp(f[j]);
      weighted += reference::exp(f[j]) * v[j];
    }
    return {attended(in) - weighted / total,
            reference::sum(Normalisers<R>(in).content.probability) - R(1.0)};
  }
};

/// An expectation lies between the least and the largest value.
struct OutputBetweenValues {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    R largest = in["v"][0], smallest = -in["v"][0];
    for (const R& v : in["v"]) {
      largest = reference::maximum(largest, v);
      smallest = reference::maximum(smallest, -v);
    }
    return {largest - attended(in), attended(in) + smallest};
  }
};

std::vector<Sample> scores_and_values() {
  std::vector<Sample> samples;
  for (const Sample& pair : score_pairs(true)) {
    const std::vector<double>&f = pair.quantities[0].lower, &g = pair.quantities[1].lower;
    samples.push_back(Sample{}.with("f", f).with("v", g).with("g", g));
  }
  return samples;
}

}  // namespace

Claim definition_1() {
  Claim claim;
  claim.id = "bam/definition_1";
  claim.title = "Attention is an expectation over the values";
  claim.source = source("Definition 1, section 2.1");
  claim.statement =
      "self-attention(q_i, K, V) = sum_j p_ij v_j = E_{j|i}[V] with p_ij = exp(score_ij) / sum_z "
      "exp(score_iz), a distribution over the keys. (The first fraction of the printed chain has a "
      "free index j and multiplies the whole V; it is read as the row of all p_ij.)";
  claim.derivation =
      "p_ij > 0 and sum_j p_ij = 1, so p_i is a distribution over the keys and sum_j p_ij v_j is "
      "the mean of v under it; in every column it lies between the least and the largest value. "
      "With one key the output is its value.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together({for_all(Role::statement, "output - sum p_j v_j = 0 and sum p_j - 1 = 0",
                             OutputIsExpectation<0>{}, scores_and_values()),
                     for_all(Role::statement, "max v - output >= 0 and output - min v >= 0",
                             OutputBetweenValues{}, scores_and_values())});
  };
  claim.mutant = "The expectation leaves out the first key.";
  claim.mutant_checks = [] {
    std::vector<Sample> samples = scores_and_values();
    samples.resize(8);  // two keys and more
    return for_all(Role::statement, "output - sum over all keys but the first = 0",
                   OutputIsExpectation<1>{}, samples);
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {definition("p_ij is the softmax of the scores.", "It says what p_ij is.")};
  claim.implicit.push_back(
      definition("The query sees a key. A row whose keys are all masked, as a document mask can "
                 "leave one, has "
                 "no distribution.",
                 "The softmax of such a row is 0/0."));
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
