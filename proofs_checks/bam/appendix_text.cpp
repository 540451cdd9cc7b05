// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_appendix_text(Claims& claims) {
  const auto same_factor = equals_zero<"alpha", "beta", "d">([]<class R>(R alpha, R beta, R d) {
    const auto density = [&](const R& x) { return exp(-power(x / alpha, beta)); };
    return density(d + R(1.0)) * density(d) - density(d + R(2.0)) * density(d - R(1.0));
  });
  claims["bam/laplace_decay"] = Claim({
      .title = "A Laplace prior decays exponentially with the distance",
      .source = source("Appendix A, \"Positional Priors\", second item"),
      .statement = "The Laplace distribution, exp(-|x|/alpha), \"decays exponentially with "
                   "distance\": each step multiplies it by the same factor, p(d + 1) p(d) = "
                   "p(d + 2) p(d - 1).",
      .hypotheses = {needed_as_the_mutant_shows({"beta = 1.", "beta", exactly(1)},
                                                "Another power has another factor at each step."),
                     definition("The scale is positive: alpha of the formula, which the sentence "
                                "calls b.",
                                "It is a unit.")},
      .implicit = {definition("The distance is at least 2, to have a step before it.",
                              "It says where the factors are compared.")},
      .proof = holds("exp(-(d + 1)/alpha) = exp(-1/alpha) exp(-d/alpha)."),
      .checks = check("p(d + 1) p(d) - p(d + 2) p(d - 1) = 0", same_factor,
                      grid({{"alpha", {0.5, 2, 64}}, {"beta", 1}, {"d", {2, 3, 17}}})),
      .mutant = {"With beta = 1/2 too.", check("beta = 1/2: the same", same_factor,
                                               {{{"alpha", 2}, {"beta", 0.5}, {"d", 2}}})},
  });

  // The weight of a key with the bias `sign` x against one with the bias 0, contents being equal.
  const auto vanishes = above_zero<"x", "sign">(
      []<class R>(R x, R sign) { return R(0.0009765625) - logistic(sign * x); });
  const auto biases = [](double sign) { return grid({{"x", {16, 64, 256}}, {"sign", sign}}); };
  claims["bam/plugged_infinity"] = Claim({
      .title = "With infinity plugged in, the score becomes minus infinity",
      .source = source("Appendix B.4, the sentence before the last formula"),
      .statement = "\"When we plug infinity back into the scoring function we see that it becomes "
                   "-infinity, and consequently the softmax becomes 0.\" Checked for large biases "
                   "x: the weight of the key is below 2^-10.",
      .implicit = {"The content scores are equal."},
      .correction = "Minus infinity is plugged in, the limit of the bias in the line before, as "
                    "in appendix B.3.",
      .proof = refuted("q k + x tends to infinity with x, and the weight, e^x / (1 + e^x) against "
                       "one other key, to 1. With the bias -x it is e^-x / (1 + e^-x)."),
      .checks = {check("bias x = 16, 64, 256: 2^-10 - weight > 0", vanishes, biases(1)),
                 correction("bias -x: 2^-10 - weight > 0", vanishes, biases(-1))},
      .mutant = {"A bias of 1 does it.",
                 check("bias 1: 2^-10 - weight > 0", vanishes, {{{"x", 1}, {"sign", 1}}})},
  });

  const auto weights = [](auto&& residual) {
    return [=]<class R>(const Vector<R>& f) {
      const Vector<R> p = softmax(f).probability;
      return at_each("j", 0, static_cast<int>(p.size()), [&](int j) { return residual(p[j]); });
    };
  };
  const Samples some_contents = {
      {{"f", 1.5}}, {{"f", {0, 0}}}, {{"f", {1, 0, -2}}}, {{"f", {4, 0, -4, 2}}}};
  claims["bam/plugged_zero"] = Claim({
      .title = "With 0 plugged in, the score becomes minus infinity and the weight 0",
      .source = source("Appendix B.7, the sentence before the last formula"),
      .statement = "\"When we plug 0 back into the scoring function we see that it becomes "
                   "-infinity, and consequently the softmax becomes 0\": with the bias 0 every "
                   "weight is 0.",
      .implicit = {shared_hypotheses()[1].text},
      .correction = "The score stays q_i K^T + M_i, as the formula after the sentence says, and "
                    "every visible key keeps a positive weight.",
      .proof = refuted("f_j + 0 = f_j, and softmax(f)_j > 0. The paper's own last line has "
                       "softmax(q_i K^T + M_i), \"not necessarily zero\"."),
      .checks = {check("softmax(f + 0)_j = 0", equals_zero<"f">(weights([](auto p) { return p; })),
                       some_contents),
                 correction("softmax(f + 0)_j > 0",
                            above_zero<"f">(weights([](auto p) { return p; })), some_contents)},
      .mutant = {"At most half of it is left.",
                 check("one key: 1/2 - softmax(f + 0)_j >= 0",
                       at_least_zero<"f">(weights([](auto p) { return decltype(p)(0.5) - p; })),
                       {{{"f", 1.5}}})},
  });
}

}  // namespace plumbline::proofs_checks::bam
