// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_ablations(Claims& claims) {
  const auto as_many = total({"described", "others"}, "in the caption");
  const auto schemes = numbers_of({"described", "others", "in the caption"});
  claims["bam/initialisations"] = Claim({
      .title = "Two initialisations are compared",
      .source = source("Appendix H.1, first sentence, against the caption of Figure 8"),
      .statement = "\"In this section we study two different initialization strategies\"; the "
                   "caption of Figure 8 compares \"three distinct parameter initialization "
                   "schemes\": the two are all that the figure compares.",
      .implicit = {definition("The strategies of this section are schemes of Figure 8, its only "
                              "figure.",
                              "It says what is counted; the figure is not in the text at hand.")},
      .correction = "Figure 8 compares three, of which the text describes two.",
      .proof =
          refuted("The text describes ALiBi's and the uniform one. 2 is not 3; with one that is "
                  "not described, 2 + 1 = 3."),
      .checks = {check("2 = 3", as_many, {schemes(2, 0, 3)}),
                 correction("with one that is not described, 2 + 1 = 3", as_many,
                            {schemes(2, 1, 3)})},
      .mutant = {"Two are not described.", check("2 + 2 = 3", as_many, {schemes(2, 2, 3)})},
  });

  const auto counted = product({"free per head", "heads", "layers"}, "trained");
  const auto trained = numbers_of({"free per head", "heads", "layers", "trained"});
  claims["bam/figure_9_caption"] = Claim({
      .title = "The best configuration trains theta_beta and fixes it at 0",
      .source = source("Caption of Figure 9, against appendix H.2"),
      .statement = "\"Training theta_beta and theta_alpha while fixing theta_beta = 0 yields more "
                   "extrapolation length\": this is the configuration that appendix H.2 counts "
                   "with 384 trained parameters.",
      .implicit = {"A parameter that is fixed is not trained."},
      .correction = "theta_mu is what is fixed at 0; then theta_beta and theta_alpha are the 384.",
      .proof = refuted(
          "With theta_beta fixed only theta_alpha is free: 16 x 12 = 192 parameters. And it would "
          "be free without effect: with theta_beta = 0 the prior is uniform whatever theta_alpha "
          "is (bam/beta_zero_uniform). Two free parameters give 2 x 16 x 12 = 384."),
      .checks = {check("1 x 16 x 12 = 384", counted, {trained(1, 16, 12, 384)}),
                 correction("2 x 16 x 12 = 384", counted, {trained(2, 16, 12, 384)})},
      .mutant = {"All three are free.",
                 check("3 x 16 x 12 = 384", counted, {trained(3, 16, 12, 384)})},
  });

  // Linear in theta_beta, so each is a line in the plane of theta_beta and theta_alpha.
  const auto above_line =
      above_zero<"theta_beta", "line">([]<class R>(R beta, R line) { return beta - line; });
  const auto up_to_line =
      at_least_zero<"theta_beta", "line">([]<class R>(R beta, R line) { return line - beta; });
  const auto from_line =
      at_least_zero<"theta_beta", "line">([]<class R>(R beta, R line) { return beta - line; });
  const auto below_line =
      above_zero<"theta_beta", "line">([]<class R>(R beta, R line) { return line - beta; });
  const auto first = within("theta_beta", 0x1p-20, 16), second = within("theta_beta", -0.6, 0);
  const auto third = within("theta_beta", -16, -0.6 - 0x1p-20);
  claims["bam/clusters_separable"] = Claim({
      .title = "The three clusters are linearly separable",
      .source = source("Appendix H.8, first paragraph"),
      .statement = "\"Three linearly-separable clusters\": theta_beta > 0, -0.6 <= theta_beta <= 0 "
                   "and theta_beta < -0.6.",
      .implicit = {definition("Each two clusters have a line between them, in the plane of "
                              "theta_beta and theta_alpha.",
                              "It says what the words mean; no one line has the middle cluster on "
                              "one side and both others on the other.")},
      .proof = holds("The lines theta_beta = 0 and theta_beta = -0.6, whatever the learned numbers "
                     "are: every set of points is separable so, since the clusters are ranges of "
                     "one coordinate. That is no evidence for clusters."),
      .checks = {check("theta_beta = 0: the first above, the second not", above_line,
                       {{first, {"line", 0}}}),
                 check("the second is not above theta_beta = 0", up_to_line,
                       {{second, {"line", 0}}}),
                 check("the second is not below theta_beta = -0.6", from_line,
                       {{second, {"line", -0.6}}}),
                 check("the third is below theta_beta = -0.6", below_line,
                       {{third, {"line", -0.6}}})},
      .mutant = {"theta_beta = -0.3 has the middle cluster on one side.",
                 check("the second is not below theta_beta = -0.3", from_line,
                       {{{"theta_beta", -0.6}, {"line", -0.3}}})},
  });

  const auto like_alibi = at_least_zero<"theta_beta">([]<class R>(R beta) {
    const R doubled = power(R(2.0), beta);
    return std::vector<Placed<R>>{{R(10.0) * doubled - R(17.0), "10 x 2^beta - 17"},
                                  {R(23.0) - R(10.0) * doubled, "23 - 10 x 2^beta"}};
  });
  claims["bam/positive_cluster_laplace"] = Claim({
      .title = "A head with theta_beta > 0 works similarly to ALiBi",
      .source = source("Appendix H.8, first cluster"),
      .statement = "\"The first cluster with theta_beta > 0, where each attention head works "
                   "similarly to a Laplace distribution (ALiBi)\": at twice the distance the "
                   "penalty is 1.7 to 2.3 times as large, as it is 2 times under ALiBi.",
      .hypotheses = {definition("theta_mu = 0, epsilon = 0.", "They make the bias a power.")},
      .implicit = {definition("Similarly means by 0.3 at most from ALiBi's factor.",
                              "It says what the word means.")},
      .condition = "theta_beta is 0.8 to 1.2.",
      .proof = holds_under_condition(
          "The penalty is e^theta_alpha d^theta_beta, so its factor is 2^theta_beta: 1.74 to 2.30 "
          "for theta_beta from 0.8 to 1.2, but 1.04 at 1/16, which is near the uniform prior, and "
          "4 at 2, a Gaussian."),
      .checks = {check("theta_beta = 1/16, 1/4, 2: 1.7 <= 2^theta_beta <= 2.3", like_alibi,
                       {{{"theta_beta", 0.0625}}, {{"theta_beta", 0.25}}, {{"theta_beta", 2}}}),
                 condition("all theta_beta in [0.8, 1.2]: the same", like_alibi,
                           grid({boxes("theta_beta", evenly(0.8, 1.2, 16))}))},
      .mutant = {"theta_beta = 1/2 as well.", check("theta_beta = 1/2: 1.7 <= 2^theta_beta <= 2.3",
                                                    like_alibi, {{{"theta_beta", 0.5}}})},
  });

  // How much more than at `other` a far key gains over one at distance d, in units of
  // e^theta_alpha.
  const auto gains_more =
      above_zero<"d", "D", "theta_beta", "other">([]<class R>(R d, R D, R beta, R other) {
        const auto gain = [&](const R& b) { return power(d, b) - power(D, b); };
        return gain(beta) - gain(other);
      });
  claims["bam/aggressive_cluster"] = Claim({
      .title = "A theta_beta below -0.6 makes a more aggressive retrieval head",
      .source = source("Appendix H.8, third cluster"),
      .statement = "\"The third cluster, with theta_beta < -0.6. We conjecture that this cluster "
                   "works as a more aggressive retrieval head\": at the same theta_alpha the score "
                   "of a far key exceeds that of a near one by more than it does with theta_beta "
                   "in [-0.6, 0).",
      .hypotheses = {definition("theta_mu = 0, epsilon = 0.", "They make the bias a power.")},
      .implicit = {definition("Near is a distance d, far a distance D > d.",
                              "It says what is compared.")},
      .condition = "The near key is the neighbour, d = 1.",
      .proof = holds_under_condition(
          "The lead is e^theta_alpha (d^theta_beta - D^theta_beta). At d = 1 it is 1 - "
          "D^theta_beta, which grows as theta_beta falls. At d = 2 it is 0.69 for theta_beta = "
          "-0.3 and 0.50 for theta_beta = -1 (D = 1024): the penalty ends sooner. With theta_beta "
          "-> -infinity only the own key and the neighbour have one."),
      .checks = {check(
                     "d = 2, D = 1024, theta_beta = -1 against -0.3: e^-theta_alpha (lead - other "
                     "lead) > 0",
                     gains_more, {{{"d", 2}, {"D", 1024}, {"theta_beta", -1}, {"other", -0.3}}}),
                 condition("d = 1: e^-theta_alpha (lead - other lead) > 0", gains_more,
                           grid({{"d", 1},
                                 {"D", {2, 16, 1024, 0x1p20}},
                                 {"theta_beta", {-0.625, -1, -2, -4}},
                                 {"other", {-0.5, -0.25, -0x1p-6}}}))},
      .mutant = {"Less aggressive at the neighbour.",
                 check(
                     "d = 1, theta_beta = -0.3 against -1: e^-theta_alpha (lead - other lead) > 0",
                     gains_more, {{{"d", 1}, {"D", 1024}, {"theta_beta", -0.3}, {"other", -1}}})},
  });
}

}  // namespace plumbline::proofs_checks::bam
