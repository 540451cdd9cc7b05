// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "proofs_checks/bam/normalisers.hpp"
#include "reference/attention/attention.hpp"
#include "reference/bias/nope.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The reference's attention of one query with scores f over values v, one column.
template <class R>
R attended(const Vector<R>& f, const Vector<R>& v) {
  std::vector<int> visible(f.size());
  std::iota(visible.begin(), visible.end(), 0);
  const Vector<R> q = Vector<R>::Constant(1, R(1.0));
  return reference::attention_row(q, reference::Matrix<R>(f), reference::Matrix<R>(v), visible,
                                  R(1.0), reference::Nope<R>{}, 0)
      .output[0];
}

/// w_j = e^(f_j) / sum_z p_pos(z) e^(f_z): what takes the prior p_pos to p_ij.
template <class R>
Vector<R> likelihood_ratios(const Inputs<R>& in) {
  const Normalisers<R> n(in);
  Vector<R> weights(n.keys());
  for (int j = 0; j < n.keys(); ++j) weights[j] = exp(in["f"][j]);
  const R evidence = dot(n.position.probability, weights);
  for (R& w : weights) w = w / evidence;
  return weights;
}

}  // namespace

void claims_of_posterior(Claims& claims) {
  const auto is_expectation = equals_zero<"f", "v">([]<class R>(const Vector<R>& f,
                                                                const Vector<R>& v, int left_out) {
    R total(0.0), weighted(0.0);
    for (int j = left_out; j < f.size(); ++j) {
      total += exp(f[j]);
      weighted += exp(f[j]) * v[j];
    }
    return std::vector<R>{attended(f, v) - weighted / total, sum(softmax(f).probability) - R(1.0)};
  });
  const auto between_values =
      at_least_zero<"f", "v">([]<class R>(const Vector<R>& f, const Vector<R>& v) {
        R largest = v[0], smallest = -v[0];
        for (const R& value : v) {
          largest = maximum(largest, value);
          smallest = maximum(smallest, -value);
        }
        return std::vector<R>{largest - attended(f, v), attended(f, v) + smallest};
      });
  // The values v are the numbers of g.
  Samples scores_and_values = score_pairs(true);
  for (Sample& sample : scores_and_values) {
    sample.quantities.emplace(sample.quantities.begin() + 1, "v", sample.quantities[1].lower);
  }
  claims["bam/definition_1"] = Claim({
      .title = "Attention is an expectation over the values",
      .source = source("Definition 1, section 2.1"),
      .statement = "self-attention(q_i, K, V) = sum_j p_ij v_j = E_{j|i}[V] with p_ij = "
                   "exp(score_ij) / sum_z exp(score_iz), a distribution over the keys. (The first "
                   "fraction of the printed chain has a free index j and multiplies the whole V; "
                   "it is read as the row of all p_ij.)",
      .hypotheses = {definition("p_ij is the softmax of the scores.", "It says what p_ij is.")},
      .implicit =
          shared_hypotheses({definition("The query sees a key. A row whose keys are all masked, as "
                                        "a document mask can leave one, has no distribution.",
                                        "The softmax of such a row is 0/0.")}),
      .proof = holds("p_ij > 0 and sum_j p_ij = 1, so p_i is a distribution over the keys and "
                     "sum_j p_ij v_j is the mean of v under it; in every column it lies between "
                     "the least and the largest value. With one key the output is its value."),
      .theorem = "posterior.definition_1",
      .checks = {check("output - sum p_j v_j = 0 and sum p_j - 1 = 0", is_expectation(0),
                       scores_and_values),
                 check("max v - output >= 0 and output - min v >= 0", between_values,
                       scores_and_values)},
      .mutant = {"The expectation leaves out the first key.",
                 check("output - sum over all keys but the first = 0", is_expectation(1),
                       {scores_and_values[1]})},
  });

  const auto same_softmax =
      equals_zero<"d", "f">([]<class R>(R d, const Vector<R>& f, bool mutant) {
        const R scale = R(1.0) / sqrt(d);
        const auto weights = [&](const R& factor) {
          Vector<R> x = f;
          for (R& element : x) element = factor * element;
          return softmax(x).probability;
        };
        const auto scaled = weights(scale), other = weights(mutant ? scale * scale : R(1.0));
        return at_each("j", 0, scaled.size(), [&](int j) { return scaled[j] - other[j]; });
      });
  const auto products_of_width = [](double d) { return with(contents(false, 10), {{{"d", d}}}); };
  claims["bam/score_scale"] = Claim({
      .title = "The score is the scaled dot product, and it is q_i K^T + M",
      .source = source(
          "Section 2.1, after Definition 1, against appendix A and every softmax of the proofs"),
      .statement = "\"The scoring function is the scaled dot product\" (section 2.1) and \"it is a "
                   "convention to denote the scoring function of the non-normalized logits as "
                   "score(q_i, K) = q_i K^T + M\" (appendix A) describe the same attention: "
                   "softmax(q_i K^T / sqrt(d)) = softmax(q_i K^T).",
      .hypotheses = {definition("q_i and k_j have d components.", "It says what d is.")},
      .implicit = {definition(
          "q_i in appendix A is the projection x_i W_q itself, as it says there.",
          "It says what q_i is.")},
      .condition = "The head has width d = 1. (Or 1/sqrt(d) is taken to be part of W_q; then the "
                   "two agree by definition, and no proof of the paper depends on it.)",
      .proof = holds_under_condition(
          "The two softmaxes have the ratios e^((x_j - x_k)/sqrt(d)) and e^(x_j - x_k), which "
          "agree for every x only if sqrt(d) = 1. Products (0, 0) hide the difference; (1, 0) with "
          "d = 48 shows it. The published code scales."),
      .theorem = "posterior.score_scale",
      .checks = {check("softmax(x/sqrt(48)) - softmax(x) = 0", same_softmax(false),
                       products_of_width(48)),
                 condition("softmax(x/sqrt(1)) - softmax(x) = 0", same_softmax(false),
                           products_of_width(1))},
      .mutant = {"Dividing by d is the same as dividing by sqrt(d).",
                 check("softmax(x/48) - softmax(x/sqrt(48)) = 0", same_softmax(true),
                       products_of_width(48))},
  });

  const auto at_most_marginal = at_least_zero([]<class R>(const Normalisers<R>& n) {
    return at_each("j", 0, n.keys(), [&](int j) { return n.p_pos(j) - n.p_joint(j); });
  });
  const auto ratio_times_prior = equals_zero([]<class R>(const Inputs<R>& in) {
    const Normalisers<R> n(in);
    const Vector<R> w = likelihood_ratios(in);
    std::vector<R> residuals = {dot(n.position.probability, w) - R(1.0)};
    for (int j = 0; j < n.keys(); ++j) residuals.push_back(n.p_joint(j) - w[j] * n.p_pos(j));
    return residuals;
  });
  const auto is_probability = at_least_zero([]<class R>(const Inputs<R>& in) {
    const Vector<R> w = likelihood_ratios(in);
    return at_each("j", 0, w.size(), [&](int j) { return R(1.0) - w[j]; });
  });
  claims["bam/definition_2"] = Claim({
      .title = "The attention weight is a joint probability of content and position",
      .source = source("Definition 2, section 2.1"),
      .statement = "p_ij = p(f_cont(q_i, k_j) | g_pos(i, j)) x p(g_pos(i, j)) is the joint "
                   "probability of the content and the position of token j, with p(g_pos) = "
                   "softmax(g) (Theorem 1). Checked through a consequence: a joint probability is "
                   "at most each of its marginals, p_ij <= p(g_pos(i, j)).",
      .hypotheses =
          {"p_ij is the attention weight, p(g_pos) the softmax of the positional scores."},
      .implicit = shared_hypotheses(
          {"The factors are probabilities, as appendix A calls them, and not densities."}),
      .correction =
          "p_ij is a posterior over the one variable j: p_ij = w_j p_pos(j), w_j = e^(f_j) / sum_z "
          "p_pos(z) e^(f_z), with the mean of w under the prior equal to 1. The factor w_j, which "
          "is p_cont(j) / Z, is a likelihood ratio and may exceed 1.",
      .correction_hypotheses = shared_hypotheses(),
      .proof =
          refuted("Theorem 1 leaves p_cont(j) / Z for the conditional factor, and that is above 1 "
                  "wherever e^(f_j) exceeds sum_z p_pos(z) e^(f_z); that happens at some key "
                  "unless f is constant. f = (1, 0), g = (0, 1) gives p_i0 = 1/2 and p_pos(0) = "
                  "1/(1 + e) = 0.2689. Bayes' rule says what is meant: the prior p_pos(j), a "
                  "likelihood proportional to e^(f_j), the evidence sum_z p_pos(z) e^(f_z)."),
      .theorem = "posterior.definition_2_fails",
      .checks = {check("p_pos - p_ij >= 0 at every key", at_most_marginal, score_pairs(true)),
                 correction("p_ij - w p_pos = 0 and sum w p_pos - 1 = 0", ratio_times_prior,
                            score_pairs(true))},
      .mutant = {"The factor p_cont(j) / Z is at most 1.",
                 check("1 - w_j >= 0 at every key", is_probability, score_pairs(true))},
  });

  const auto joint_is_product = equals_zero([]<class R>(const Normalisers<R>& n, bool over_z) {
    return at_each("j", 0, n.keys(), [&](int j) {
      return n.p_joint(j) - n.p_cont(j) * n.p_pos(j) / (over_z ? n.overlap() : R(1.0));
    });
  });
  claims["bam/theorem_1"] = Claim({
      .title = "An additive score factorises the attention weights",
      .source = source("Theorem 1 and its proof, section 2.1"),
      .statement = "If the score is f_j + g_j, then p_ij = softmax(f + g)_j = p(f_j) p(g_j) / Z "
                   "with p(f) = softmax(f), p(g) = softmax(g), Z = sum_z p(f_z) p(g_z).",
      .hypotheses = {needed(
          "The score is additive: f_cont(q_i, k_j) + g_pos(i, j).",
          "The exponential of another score, here the product f_j g_j, does not factorise.",
          check("softmax(f g)_j - p_cont p_pos / Z = 0", equals_zero(of_product(first_key)),
                {scores({1, 0}, {2, 0})}))},
      .implicit = shared_hypotheses({definition(
          "\"Marginal probability\" names softmax(f) and softmax(g); they are not the marginals of "
          "p_ij, which is a distribution over the single index j (see bam/z_mutual_information).",
          "It says what the words mean.")}),
      .proof = holds("exp(f_j + g_j) = exp(f_j) exp(g_j) = Z_cont p(f_j) Z_pos p(g_j). Dividing by "
                     "Z_joint = sum_z exp(f_z + g_z) = Z_cont Z_pos sum_z p(f_z) p(g_z) leaves "
                     "p(f_j) p(g_j) / Z. Z > 0 because every term is positive. This is an identity "
                     "in the reals; no other hypothesis is used."),
      .theorem = "posterior.theorem_1",
      .checks = check("p_joint - p_cont p_pos / Z = 0 at every key", joint_is_product(true),
                      score_pairs(true)),
      .mutant = {"p_joint = p_cont p_pos, without Z.",
                 check("p_joint - p_cont p_pos = 0 at every key", joint_is_product(false),
                       score_pairs(true))},
  });
}

}  // namespace plumbline::proofs_checks::bam
