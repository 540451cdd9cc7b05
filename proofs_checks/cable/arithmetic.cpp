// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/source.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// What CABLE adds as published code has it: two linear maps C -> H with bias terms in each layer.
template <class R>
R added_parameters(const Inputs<R>& in) {
  return R(2.0) * in.number("L") * (in.number("C") + R(1.0)) * in.number("H");
}

/// What is counted, as a hypothesis.
constexpr const char* gpt2_parameters_counted =
    "GPT-2 with a vocabulary of 50304, tied embeddings, linear maps and LayerNorms with bias "
    "terms: V C + P C + L (12 C^2 + 13 C) + 2 C parameters, P = 1024 positions or, for the "
    "relative encodings, none.";

template <class R>
R gpt2_parameters(const Inputs<R>& in) {
  const R &C = in.number("C"), &P = in.number("P");
  return R(50304.0) * C + P * C + in.number("L") * (R(12.0) * C * C + R(13.0) * C) + R(2.0) * C +
         in.number("cable") * added_parameters(in);
}

Statement parameters_lie_in(double lower, double upper) {
  return at_least_zero([=]<class R>(const Inputs<R>& in) {
    const R count = gpt2_parameters(in);
    return std::vector<Placed<R>>{{count - R(lower), "the lower end"},
                                  {R(upper) - count, "the upper end"}};
  });
}

/// The three models with P trained positions (0: no table), and with CABLE or without (0).
Sample small_with(double P, double cable, double H = 12) {
  return {{"L", 12}, {"H", H}, {"C", 768}, {"P", P}, {"cable", cable}};
}
Sample medium_with(double P, double cable) {
  return {{"L", 24}, {"H", 16}, {"C", 1024}, {"P", P}, {"cable", cable}};
}
Sample tiny_with(double P, double cable) {
  return {{"L", 6}, {"H", 8}, {"C", 512}, {"P", P}, {"cable", cable}};
}

/// What the tokens of the data sets, the settings of training and the captions say of each other.
void claims_of_settings(Claims& claims) {
  const auto parts = numbers_of({"training", "evaluation", "sample"});
  const auto parts_sum = total({"training", "evaluation"}, "sample");
  claims["cable/data_split"] = Claim({
      .title = "9.9B tokens for training and 0.1B for evaluation make up the sample of 10B",
      .source = source("Section 4.1"),
      .statement = "The 10B tokens are a sample of FineWeb-Edu's 1.3T, which are filtered from "
                   "FineWeb's 15T; \"we allocate 9.9B tokens for training and 0.1B for "
                   "evaluation\": 9.9 + 0.1 = 10, and 10 <= 1300 <= 15000.",
      .implicit = {definition("No token is in both parts, and none is left out.",
                              "It says what it means to allocate the sample.")},
      .proof = holds("9.9 + 0.1 = 10. The sample is 0.8 percent of FineWeb-Edu, which is 9 percent "
                     "of FineWeb."),
      .checks = {check("9.9 + 0.1 - 10 = 0 (tenths of 10^9 tokens)", parts_sum,
                       {parts(99, 1, 100)}),
                 check("10B <= 1.3T <= 15T (tenths of 10^9 tokens)",
                       between("sample", "FineWeb-Edu", "FineWeb"),
                       {{{"sample", 100}, {"FineWeb-Edu", 13000}, {"FineWeb", 150000}}})},
      .mutant = {"With 1B for evaluation they make it up.",
                 check("9.9 + 1 - 10 = 0 (tenths of 10^9 tokens)", parts_sum,
                       {parts(99, 10, 100)})},
  });

  const auto so_many_times_more = above_zero<"FineWeb-Edu-10B", "WikiText-103">(
      []<class R>(R fineweb, R wikitext, double times) { return fineweb - R(times) * wikitext; });
  const Samples both_sets = {
      {printed("FineWeb-Edu-10B", 10e9, 1e9), within("WikiText-103", 103e6, 206e6)}};
  claims["cable/far_more_tokens"] = Claim({
      .title = "FineWeb-Edu-10B has far more tokens than WikiText-103",
      .source = source("Section 5.1, third paragraph; section 4.1 (\"a small dataset\"); section "
                       "4.2 (\"relatively small\")"),
      .statement =
          "FineWeb-Edu-10B \"contains far more tokens than WikiText-103\": more than forty "
          "times as many.",
      .implicit = {definition(
                       "WikiText-103 is the set of 103 million words that its name counts; a word "
                       "is one to two tokens on average.",
                       "It says which data set is meant, and what a token is."),
                   definition("\"Far more\" is read as forty times.",
                              "Without a number there is nothing to check."),
                   definition_of_printed_numbers()},
      .proof = holds("At most 206 million tokens against at least 9.5e9: 46 times. With GPT-2's "
                     "tokenizer, 1.14 tokens a word, it is 85 times."),
      .checks = check("FineWeb-Edu-10B - 40 WikiText-103 > 0 (tokens)", so_many_times_more(40),
                      both_sets),
      .mutant = {"More than a thousand times as many.",
                 check("FineWeb-Edu-10B - 1000 WikiText-103 > 0 (tokens)", so_many_times_more(1000),
                       both_sets)},
  });

  claims["cable/evaluation_on_fineweb"] = Claim({
      .title = "The models are evaluated on three sets, one of them of FineWeb",
      .source = source("Section 4.1, last sentence, against the captions of Tables 1, 4 and 5"),
      .statement = "\"For evaluation, we use the test sets of FineWeb-Edu, WikiText-103, and a "
                   "1B-token sample of the FineWeb dataset\": perplexities on three sets are "
                   "reported.",
      .implicit = {"What is evaluated is reported in a table."},
      .proof = {"What is missing: a number on the sample of FineWeb. The captions of Tables 1, 4 "
                "and 5 name FineWeb-Edu-10B and WikiText-103, section 5.3 names FineWeb-Edu-10B "
                "for Table 2, and Table 3 is about retrieval.",
                Verdict::undecided},
      .mutant = {"The captions of Tables 1, 4 and 5 name three sets.",
                 check("1 + 1 - 3 = 0: FineWeb-Edu-10B, WikiText-103, and three sets",
                       total({"FineWeb-Edu-10B", "WikiText-103"}, "sets"),
                       {{{"FineWeb-Edu-10B", 1}, {"WikiText-103", 1}, {"sets", 3}}})},
  });

  const auto trained_at = equals_zero<"trained at">(
      []<class R>(R trained, double length) { return trained - R(length); });
  const auto tables_with = [](double trained, const std::vector<double>& tables) {
    Samples samples;
    for (double table : tables) samples.push_back({{"table", table}, {"trained at", trained}});
    return samples;
  };
  claims["cable/training_length"] = Claim({
      .title = "The models for next-token prediction are trained with a sequence length of 1024",
      .source = source("Section 4.2, against section 5.3 (Table 2) and section 5.4 (Figure 4)"),
      .statement = "\"For all next-token prediction tasks\": \"we train the models with sequence "
                   "length of 1024\".",
      .implicit = {"Table 2 is about next-token prediction: its numbers are perplexities of GPT-2 "
                   "Small on FineWeb-Edu-10B."},
      .correction =
          "The models of Tables 1, 4 and 5 are; those of Table 2 and Figure 4 are trained "
          "at 512.",
      .proof =
          refuted("Section 5.3 says of Table 2 that its models are \"trained at sequence length "
                  "512\", section 5.4 of Figure 4 that its model is \"trained and evaluated "
                  "with a sequence length of 512 tokens\"."),
      .checks = {check("the training length - 1024 = 0 in Table 2", trained_at(1024),
                       tables_with(512, {2})),
                 correction("the training length - 1024 = 0 in Tables 1, 4, 5", trained_at(1024),
                            tables_with(1024, {1, 4, 5})),
                 correction("the training length - 512 = 0 in Table 2", trained_at(512),
                            tables_with(512, {2}))},
      .mutant = {"All are trained at 512.", check("the training length - 512 = 0 in Tables 1, 4, 5",
                                                  trained_at(512), tables_with(1024, {1, 4, 5}))},
  });

  const auto batch_of = numbers_of({"sequences", "length", "tokens"});
  const auto makes_tokens = product({"sequences", "length"}, "tokens");
  const auto equal_vocabularies =
      equals_zero<"here", "GPT-2">([]<class R>(R here, R gpt2) { return here - gpt2; });
  claims["cable/gpt2_training_settings"] = Claim({
      .title = "The training settings are those of GPT-2",
      .source = source("Section 4.2"),
      .statement = "\"Training settings are the same as those used for GPT-2 (Radford et al., "
                   "2019). Gradients are updated after processing 524,288 tokens and vocab size is "
                   "50304\": GPT-2 has the same vocabulary, and an update of as many tokens.",
      .implicit = {"GPT-2 has a vocabulary of 50,257 and updates after 512 sequences of 1024 "
                   "(Radford et al., 2019).",
                   "The vocabulary is one of the settings; the next sentence names it."},
      .correction = "The tokens of an update are the same, 512 x 1024 = 524,288; the vocabulary is "
                    "GPT-2's rounded up to a multiple of 128, 50,304 = 393 x 128.",
      .proof =
          refuted("50,257 is not 50,304. The larger one has 47 tokens that the tokenizer never "
                  "makes, and a size that suits the hardware: 392 x 128 = 50,176 < 50,257 <= "
                  "50,304 = 393 x 128."),
      .checks =
          {check("50304 - 50257 = 0", equal_vocabularies, {{{"here", 50304}, {"GPT-2", 50257}}}),
           correction("512 x 1024 - 524288 = 0", makes_tokens, {batch_of(512, 1024, 524288)}),
           correction(
               "392 x 128 + 1 <= 50257 <= 393 x 128",
               between("392 x 128 + 1", "GPT-2", "393 x 128"),
               {{{"392 x 128 + 1", 392 * 128 + 1}, {"GPT-2", 50257}, {"393 x 128", 393 * 128}}}),
           correction("50304 - 393 x 128 = 0", equal_vocabularies,
                      {{{"here", 50304}, {"GPT-2", 393 * 128}}})},
      .mutant = {"256 sequences of 1024 make up an update.",
                 check("256 x 1024 - 524288 = 0", makes_tokens, {batch_of(256, 1024, 524288)})},
  });

  // s steps make an epoch: each number of steps is so many epochs, rounded.
  const auto steps_fit = at_least_zero<"steps of an epoch">([]<class R>(R s, double tiny_epochs) {
    std::vector<Placed<R>> residuals;
    const auto fit = [&](const char* model, double steps, double epochs) {
      residuals.push_back({R(steps) - R(epochs - 0.5) * s, model});
      residuals.push_back({R(epochs + 0.5) * s - R(steps), model});
    };
    fit("Tiny", 9000, tiny_epochs);
    fit("Small", 5000, 5);
    fit("Medium", 3000, 3);
    return residuals;
  });
  claims["cable/epochs_agree"] = Claim({
      .title = "9k, 5k and 3k steps stand to each other as about 10, 5 and 3 epochs",
      .source = source("Section 4.2"),
      .statement = "On WikiText-103 9k, 5k and 3k steps are about 10, 5 and 3 epochs: some number "
                   "of steps of an epoch fits all three.",
      .hypotheses = {definition("One data set, one number of tokens a step (524,288 for all).",
                                "It says that an epoch has one number of steps.")},
      .implicit = {definition("\"~10\" stands for 9.5 to 10.5 epochs, and so on; 9k stands for "
                              "9,000 steps.",
                              "It says what is meant by about.")},
      .proof =
          holds("9,000/s, 5,000/s and 3,000/s round to 10, 5 and 3 for 909.1 < s <= 947.4, for "
                "instance s = 930. So the three agree with each other; with the size of the "
                "data they do not (cable/wikitext_epochs): 930 steps of 524,288 tokens are "
                "488 million tokens."),
      .checks = exists("some s: 9.5 <= 9000/s <= 10.5, 4.5 <= 5000/s <= 5.5, 2.5 <= 3000/s <= 3.5",
                       steps_fit(10), {{{"steps of an epoch", 930}}}),
      .mutant = {"9k, 5k and 3k steps are about 20, 5 and 3 epochs.",
                 exists("some s: 19.5 <= 9000/s <= 20.5, 4.5 <= 5000/s <= 5.5", steps_fit(20),
                        {{within("steps of an epoch", 0, 600)},
                         {within("steps of an epoch", 600, 1e5)}})},
  });

  // In units of 10^-5: up to 60 in 750 equal steps, then along a cosine down to 6.
  const auto rate = []<class R>(const R& k, double step, const R& steps) {
    if (step <= 750) return R(60.0) * k / R(750.0);
    const R part = (k - R(750.0)) / (steps - R(750.0));
    return R(6.0) + R(27.0) * (R(1.0) + cos(R(reference::pi<R>() * part)));
  };
  const auto rate_is =
      equals_zero<"step", "step", "steps">([=]<class R>(R k, double step, R steps, double value) {
        return rate(k, step, steps) - R(value);
      });
  const auto rate_is_below =
      above_zero<"step", "step", "steps">([=]<class R>(R k, double step, R steps, double value) {
        return R(value) - rate(k, step, steps);
      });
  const auto rate_is_at_least =
      at_least_zero<"step", "step", "steps">([=]<class R>(R k, double step, R steps, double value) {
        return rate(k, step, steps) - R(value);
      });
  const auto at_steps = [](const std::vector<double>& steps) {
    return grid({{"steps", {19000, 9000, 5000, 3000}}, {"step", steps}});
  };
  const Hypothesis linear_warmup = definition(
      "A linear warmup rises from 0 in equal steps: at step k of 750 it is k/750 of the rate at "
      "its end.",
      "It says what a warmup is.");
  claims["cable/learning_rate_start"] = Claim({
      .title = "The learning rate starts at 0.0006",
      .source = source("Section 4.2, last sentence"),
      .statement = "\"The learning rate starts at 0.0006, with a linear warmup over 750 steps\": "
                   "the rate of the first step is 0.0006.",
      .implicit = {linear_warmup},
      .correction =
          "It starts near 0, at 0.0006/750, and is 0.0006 at step 750, its largest value.",
      .proof = refuted("What rises linearly to a value does not start at it: the first step has "
                       "0.0006/750 = 0.0000008. 0.0006 is the peak, from which the cosine falls."),
      .checks = {check("rate - 60 = 0 at step 1 (units of 10^-5)", rate_is(60), at_steps({1})),
                 correction("rate - 60 = 0 at step 750 (units of 10^-5)", rate_is(60),
                            at_steps({750})),
                 correction("60 - rate > 0 at steps 1, 375, 749, 1500, 3000 (units of 10^-5)",
                            rate_is_below(60), at_steps({1, 375, 749, 1500, 3000}))},
      .mutant = {"It is 0.0006 at step 700.",
                 check("rate - 60 = 0 at step 700 (units of 10^-5)", rate_is(60), at_steps({700}))},
  });

  claims["cable/learning_rate_minimum"] = Claim({
      .title = "The minimum of the learning rate is 0.00006",
      .source = source("Section 4.2, last sentence"),
      .statement = "A linear warmup over 750 steps, \"followed by cosine decay to a minimum of "
                   "0.00006\": in every step the rate is at least 0.00006, a tenth of 0.0006.",
      .implicit = {linear_warmup,
                   definition("The cosine falls from the end of the warmup to the last step.",
                              "It says what is meant by a cosine decay.")},
      .condition = "The step is the 75th or a later one.",
      .proof = holds_under_condition(
          "At step k <= 750 the rate is 0.0006 k/750, which is below 0.00006 for k < 75. From step "
          "750 on it is 0.00006 + 0.00027 (1 + cos), which is at least 0.00006, with equality at "
          "the last step."),
      .checks = {check("rate - 6 >= 0 at steps 1, 750, 3000 (units of 10^-5)", rate_is_at_least(6),
                       at_steps({1, 750, 3000})),
                 condition("rate - 6 >= 0 at steps 75 to 3000 (units of 10^-5)",
                           rate_is_at_least(6), at_steps({75, 76, 400, 750, 751, 1500, 3000})),
                 condition("rate - 6 >= 0 at the last step of 19,000 (units of 10^-5)",
                           rate_is_at_least(6), {{{"steps", 19000}, {"step", 19000}}})},
      .mutant = {"It is so from step 50 on.", check("rate - 6 >= 0 at step 50 (units of 10^-5)",
                                                    rate_is_at_least(6), at_steps({50}))},
  });

  const auto same_steps = equals_zero<"section 4.2", "caption">(
      []<class R>(R section, R caption) { return section - caption; });
  const auto thousands_of_steps = numbers_of({"table", "section 4.2", "caption"});
  claims["cable/steps_of_captions"] = Claim({
      .title = "The captions give the steps of section 4.2",
      .source = source("Captions of Tables 1, 4 and 5, against section 4.2"),
      .statement =
          "On FineWeb-Edu-10B 19k steps for Medium (Table 1), Small and Tiny (Table 4); on "
          "WikiText-103 9k for Tiny (Table 1), 3k for Medium and 5k for Small (Table 5), as "
          "section 4.2 has it.",
      .implicit = {definition("Table 4's \"GPT-Tiny\" is GPT-2 Tiny.",
                              "It says what a name means.")},
      .proof =
          holds("Five comparisons: 19, 9, 19, 3 and 5 thousand steps, the same in the captions "
                "and in the section."),
      .checks = check("steps of section 4.2 - steps of the caption = 0 (thousands)", same_steps,
                      {thousands_of_steps(1, 19, 19), thousands_of_steps(1, 9, 9),
                       thousands_of_steps(4, 19, 19), thousands_of_steps(5, 3, 3),
                       thousands_of_steps(5, 5, 5)}),
      .mutant = {"Both halves of Table 5 have 5k steps.",
                 check("5 - steps of the caption = 0 in Table 5, upper (thousands)", same_steps,
                       {thousands_of_steps(5, 5, 3)})},
  });

  const auto not_older = at_least_zero<"model", "encoding">(
      []<class R>(R model, R encoding) { return model - encoding; });
  const auto years = numbers_of({"model", "encoding"});
  claims["cable/rope_in_gpt2"] = Claim({
      .title = "RoPE is adopted in GPT-2",
      .source = source("Section 4.3, RoPE"),
      .statement = "RoPE is \"widely adopted in LLMs such as GPT-2 (Brown et al., 2020), LLaMA "
                   "(Touvron et al., 2023), PaLM (Chowdhery et al., 2023), and Gemma (Team et al., "
                   "2024a,b)\". Checked through a consequence: a model is not older than what it "
                   "adopts.",
      .implicit = {"RoPE was first published in 2021 (arXiv:2104.09864); the references have the "
                   "journal's year, 2024.",
                   "The years of the models are those of the citations."},
      .correction = "The other three are younger than RoPE. GPT-2 has a learned vector for each of "
                    "1024 positions.",
      .proof =
          refuted("GPT-2 is of 2019 (Radford et al., 2019, in section 4.2), and the citation is "
                  "of 2020: before 2021. Its absolute positions are those that section 4.3 "
                  "calls Learnable."),
      .checks = {check("year of GPT-2 - year of RoPE >= 0", not_older, {years(2020, 2021)}),
                 correction("year of LLaMA, PaLM, Gemma - year of RoPE >= 0", not_older,
                            {years(2023, 2021), years(2024, 2021)})},
      .mutant = {"LLaMA is not older than the journal's paper on RoPE.",
                 check("year of LLaMA - 2024 >= 0", not_older, {years(2023, 2024)})},
  });

  const auto places = numbers_of({"relative", "place", "methods"});
  claims["cable/third_fastest"] = Claim({
      .title = "Faster than the other relative encodings, CABLE is the third fastest overall",
      .source = source("Section 5.2; caption of Figure 3; section 4.3"),
      .statement = "In inference CABLE is \"faster [...] than other RPEs\" and \"the third fastest "
                   "overall, trailing only Sinusoidal and Learnable\": of the eight methods of "
                   "Figure 3 five are slower and two faster.",
      .implicit = {definition("The other relative encodings of Figure 3 are RoPE, Kerple, Fire, "
                              "T5-bias and ALiBi, as section 4.3 calls them.",
                              "It says which methods are counted.")},
      .proof =
          holds("8 - 5 = 3 = 2 + 1: the two sentences say the same, and the seven baselines of "
                "section 4.3 are the other seven methods. The times are drawn, not printed, "
                "and are not examined here."),
      .checks = {check("5 + 3 - 8 = 0", total({"relative", "place"}, "methods"), {places(5, 3, 8)}),
                 check("2 + 1 - 3 = 0", total({"faster", "CABLE"}, "place"),
                       {{{"faster", 2}, {"CABLE", 1}, {"place", 3}}}),
                 check("7 + 1 - 8 = 0", total({"baselines", "CABLE"}, "methods"),
                       {{{"baselines", 7}, {"CABLE", 1}, {"methods", 8}}})},
      .mutant = {"Faster than four of the five, it is the third.",
                 check("4 + 3 - 8 = 0", total({"relative", "place"}, "methods"),
                       {places(4, 3, 8)})},
  });

  const auto figures = numbers_of({"before", "shown", "last"});
  const auto count_of_figures = total({"before", "shown"}, "last");
  claims["cable/counts_of_figures"] = Claim({
      .title = "Figures 8 to 14 show seven additive encodings, Figure 4 three heads",
      .source = source("Appendix A.3; section 5.4; captions of Figures 4 and 8 to 15"),
      .statement =
          "Figures 8 to 14 show Cable, DAPEv2+Cable, Kerple, DAPEv2+Kerple, ALiBi, Fire "
          "and T5-bias, one figure each, and Figure 15 RoPE; the \"three different heads\" "
          "of section 5.4 are the \"left three panels\" of Figure 4.",
      .implicit = {definition("One panel for each head, one figure for each method.",
                              "It says what is counted.")},
      .proof = holds("7 + 7 = 14 and 7 + 8 = 15: seven figures follow Figure 7, then one for RoPE, "
                     "and the captions have the methods in the order of the list. Three heads, "
                     "three panels."),
      .checks = {check("7 + 7 - 14 = 0, 7 + 8 - 15 = 0, 0 + 3 - 3 = 0", count_of_figures,
                       {figures(7, 7, 14), figures(7, 8, 15), figures(0, 3, 3)})},
      .mutant = {"Figures 8 to 14 are six.",
                 check("7 + 6 - 14 = 0", count_of_figures, {figures(7, 6, 14)})},
  });
}

/// What CABLE costs in operations and memory.
void claims_of_costs(Claims& claims) {
  const auto models = [](const std::vector<double>& lengths) {
    return with({{{"C", 768}, {"H", 12}}, {{"C", 1024}, {"H", 16}}, {{"C", 512}, {"H", 8}}},
                grid({{"T", lengths}}));
  };
  const Hypothesis layer_counted = definition(
      "Multiplications of one layer and one sequence of T tokens, without a mask: 12 C^2 T + 2 C "
      "T^2 for the layer, 2 T C H + H T^2 for CABLE (two maps and the weight). Time on an "
      "accelerator is another matter.",
      "It says what is counted.");
  const Hypothesis heads_of_64 =
      definition("The heads have dimension 64: C = 64 H, as in GPT-2 (cable/ten_heads).",
                 "It says which models are meant.");

  // 12 C^2 - share (2 C H) and 2 C - share H: the tokens' part and the part of each further token.
  const auto shares = above_zero<"C", "H">([]<class R>(R C, R H, double share) {
    return std::vector<Placed<R>>{{R(12.0) * C * C - R(2 * share) * C * H, "what grows with T"},
                                  {R(2.0) * C - R(share) * H, "what grows with T^2"}};
  });
  const auto sizes = models({1});
  claims["cable/negligible_operations"] = Claim({
      .title = "CABLE adds a negligible time",
      .source = source("Section 1 (\"negligible time and memory burden\"); section 3, last "
                       "paragraph; section 6; Limitation (\"computational overhead, though "
                       "minimal\")"),
      .statement = "CABLE adds negligible time to the conventional transformer: less than a "
                   "hundredth of a layer's multiplications, at every length.",
      .implicit = {layer_counted, heads_of_64,
                   definition("\"Negligible\" is read as less than a hundredth.",
                              "Without a number there is nothing to check.")},
      .proof = holds("(12 C^2 T + 2 C T^2) - 100 (2 C H T + H T^2) = (12 C^2 - 200 C H) T + (2 C - "
                     "100 H) T^2, and with C = 64 H both brackets are positive: 36,352 H^2 and 28 "
                     "H. The share rises from 1/384 to 1/128 as T grows."),
      .checks = check("12 C^2 - 200 C H > 0, 2 C - 100 H > 0", shares(100), sizes),
      .mutant = {"It is less than half a hundredth.",
                 check("12 C^2 - 400 C H > 0, 2 C - 200 H > 0", shares(200), sizes)},
  });

  const auto layer = []<class R>(const R& T, const R& C) {
    return R(12.0) * C * C * T + R(2.0) * C * T * T;
  };
  const auto added = []<class R>(const R& T, const R& C, const R& H) {
    return R(2.0) * T * C * H + H * T * T;
  };
  const auto share_grows = above_zero<"T", "C", "H">([=]<class R>(R T, R C, R H, double times) {
    const R T_0(15360.0);
    return added(T, C, H) * layer(T_0, C) - R(times) * added(T_0, C, H) * layer(T, C);
  });
  const auto share_is_minimal = above_zero<"T", "C", "H">(
      [=]<class R>(R T, R C, R H) { return layer(T, C) - R(128.0) * added(T, C, H); });
  const auto beyond_100k = models({100001, 131072, 1e6, 1e9});
  claims["cable/overhead_beyond_100k"] = Claim({
      .title = "The overhead is minimal and more pronounced beyond 100K tokens",
      .source = source("Limitation"),
      .statement = "\"The method's computational overhead, though minimal, may become more "
                   "pronounced for extremely long sequences (>100K tokens)\": CABLE's share of a "
                   "layer's multiplications is larger there than at T = 15360, and still below "
                   "1/128.",
      .implicit = {layer_counted, heads_of_64,
                   definition("More pronounced: than at 15,360 tokens, the longest that is tested.",
                              "It says with what it is compared.")},
      .proof = holds("The share is (2 C H + H T)/(12 C^2 + 2 C T) = (128 H + T)/(128 (384 H + T)) "
                     "with C = 64 H. It rises with T towards 1/128 and never reaches it: 0.66 "
                     "percent at T = 15360 and 0.76 percent at 100,000 for Small."),
      .checks = {check("share at T - share at 15360 > 0, times both layers", share_grows(1),
                       beyond_100k),
                 check("layer - 128 CABLE > 0", share_is_minimal, beyond_100k)},
      .mutant = {"It is more than twice that at 15,360 tokens.",
                 check("share at T - 2 share at 15360 > 0, times both layers", share_grows(2),
                       beyond_100k)},
  });

  // For one new token with T keys, its own among them.
  const auto with_sums_kept = []<class R>(const R& T, const R& C, const R& H) {
    return R(2.0) * C * H + H + R(2.0) * H * T;
  };
  const auto at_most_alibi =
      at_least_zero<"T", "C", "H">([=]<class R>(R T, R C, R H, double times) {
        return R(times) * H * T - with_sums_kept(T, C, H);
      });
  const auto more_than_alibi = above_zero<"T", "C", "H">([=]<class R>(R T, R C, R H, double times) {
    return with_sums_kept(T, C, H) - R(times) * H * T;
  });
  claims["cable/inference_operations"] = Claim({
      .title = "Keeping the sums makes CABLE faster in inference than ALiBi",
      .source = source("Section 5.2, last two sentences; section 6"),
      .statement =
          "\"For inference, we cache the cumulative sums [...] This optimization helps CABLE "
          "achieving superior inference time to other methods, such as ALiBi\": with the "
          "sums kept, the bias of a new token takes no more operations than ALiBi's.",
      .hypotheses = {"S_0, ..., S_(T-2) are kept; the new token is the last of T."},
      .implicit = {"Operations stand for time; on an accelerator that is another matter.",
                   "ALiBi multiplies its slope by each of T distances, for each head. All else is "
                   "the same in both methods."},
      .correction =
          "CABLE takes more than twice as many. Keeping the sums saves CABLE its own T - 1 "
          "earlier sums; it takes nothing from what it does beside ALiBi.",
      .proof =
          refuted("CABLE: two maps C -> H, 2 C H; one addition for each head, H; for each key a "
                  "difference S_i - S_j and a product with g_i, 2 H T. ALiBi: H T products. "
                  "For every T the first is larger, by 2 C H + H + H T."),
      .checks = {check("H T - (2 C H + H + 2 H T) >= 0", at_most_alibi(1),
                       models({1, 1024, 15360})),
                 correction("2 C H + H + 2 H T - 2 H T > 0", more_than_alibi(2),
                            models({1, 1024, 15360}))},
      .mutant = {"It takes at most twice as many.",
                 check("2 H T - (2 C H + H + 2 H T) >= 0", at_most_alibi(2),
                       models({1, 1024, 15360}))},
  });

  const auto fits_in_hundredth = at_least_zero<"T", "H", "stored">([]<class R>(R T, R H, R stored) {
    return H * T * T - R(100.0) * (stored * H * T * T + R(2.0) * H * T);
  });
  const auto kept = [=](const std::vector<double>& lengths, double stored) {
    return with(models(lengths), {{{"stored", stored}}});
  };
  claims["cable/bias_memory"] = Claim({
      .title = "CABLE adds a negligible memory",
      .source = source("Section 1 (\"negligible time and memory burden\"); section 3, last "
                       "paragraph; section 5.2; equations 5 and 7"),
      .statement = "CABLE \"adds negligible overhead\" in memory: the numbers that it makes beside "
                   "the H T^2 logits of a layer are at most a hundredth of these.",
      .implicit = {definition(
                       "Numbers of one layer and one sequence: the sums and the weights, 2 H "
                       "T, and B where it is stored, H T^2.",
                       "It says what is counted."),
                   definition("\"Negligible\" is read as at most a hundredth.",
                              "Without a number there is nothing to check.")},
      .condition = "B is not stored but computed from S and g where it is needed, and T >= 200.",
      .conditions = {needed({"B is not stored but computed from S and g where it is needed.",
                             "stored", exactly(0)},
                            "The matrix of equation 7 is as large as the logits.",
                            check("H T^2 - 100 (H T^2 + 2 H T) >= 0, T = 1024", fits_in_hundredth,
                                  kept({1024}, 1))),
                     needed({"T >= 200.", "T", at_least(200)},
                            "In short sequences 2 H T is more than a hundredth of H T^2.",
                            check("H T^2 - 200 H T >= 0, T = 199", fits_in_hundredth,
                                  kept({199}, 0)))},
      .proof = holds_under_condition(
          "Equations 5 and 7 have a matrix B(X) in R^(t x t) for each head, and unlike ALiBi's it "
          "differs from sequence to sequence: stored, it doubles the H T^2 numbers of the logits. "
          "Computed as g_i (S_i - S_j) where it is needed, it takes 2 H T numbers, a share of 2/T: "
          "1/512 at T = 1024. Measured memory is drawn in Figure 3 and printed nowhere."),
      .checks = {check("H T^2 - 100 (H T^2 + 2 H T) >= 0, B stored", fits_in_hundredth,
                       kept({1024, 15360}, 1)),
                 condition("H T^2 - 200 H T >= 0, B not stored, T >= 200", fits_in_hundredth,
                           kept({200, 512, 1024, 15360}, 0))},
      .mutant = {"It is so for T >= 100, B not stored.",
                 check("H T^2 - 200 H T >= 0, T = 100", fits_in_hundredth, kept({100}, 0))},
  });

  // The bias of equation 7 against what two further coordinates of query and key give: (g S_i, -g)
  // and (1, S_j); with `first` 0, the second coordinate alone.
  const auto coordinates =
      equals_zero<"f", "g">([]<class R>(const Vector<R>& f, const R& g, double first) {
        std::vector<Placed<R>> residuals;
        Vector<R> S = f;
        for (int k = 1; k < S.size(); ++k) S[k] = S[k - 1] + f[k];
        for (int i = 0; i < S.size(); ++i) {
          for (int j = 0; j <= i; ++j) {
            const R product = R(first) * (g * S[i]) * R(1.0) + (-g) * S[j];
            residuals.push_back({g * (S[i] - S[j]) - product,
                                 "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
          }
        }
        return residuals;
      });
  claims["cable/queries_and_keys"] = Claim({
      .title = "CABLE adds positional information only to queries and keys",
      .source = source("Section 3, after equation 7"),
      .statement =
          "\"CABLE adds positional information only to the queries and keys (not the "
          "values)\": the scores with the bias of equation 7 are those of queries and keys "
          "with further coordinates, q . k + g_i (S_i - S_j) = (q, g_i S_i, -g_i) . (k, 1, "
          "S_j).",
      .hypotheses = {definition("B_ij = g_i (S_i - S_j), equation 7.", "It is the bias.")},
      .implicit = {definition("What is added to queries and keys may be further coordinates; the "
                              "paper adds B to the logits.",
                              "A query and a key have no other way to hold a bias.")},
      .proof =
          holds("g_i S_i 1 + (-g_i) S_j = g_i (S_i - S_j). For each head B has rank at most 2. "
                "After the softmax the first of the two coordinates makes no difference, as "
                "g_i S_i is the same for all keys of a query. (With the published code's "
                "absolute value, which BERT needs, it is no such product.)"),
      .checks = check("g (S_i - S_j) - (g S_i, -g) . (1, S_j) = 0, j <= i", coordinates(1),
                      increments_and_gains(false)),
      .mutant = {"The coordinates -g_i and S_j alone give these scores.",
                 check("g (S_i - S_j) - (-g) S_j = 0, j <= i", coordinates(0),
                       increments_and_gains(false))},
  });

  const auto learned = equals_zero<"L", "C", "w_c is counted">(
      []<class R>(R L, R C, R counted) { return L * C * counted; });
  const auto versions = [](double counted) {
    return Samples{{{"L", 12}, {"C", 768}, {"w_c is counted", counted}},
                   {{"L", 24}, {"C", 1024}, {"w_c is counted", counted}},
                   {{"L", 6}, {"C", 512}, {"w_c is counted", counted}}};
  };
  claims["cable/nw_parameters"] = Claim({
      .title = "CABLE_NW has no additional learnable parameters",
      .source = source("Section 3, after equation 5"),
      .statement =
          "\"This version, without any additional learnable parameters for the biases\", is "
          "called CABLE_NW: it adds no learned parameter to the transformer.",
      .implicit = {definition("Learned parameters of the biases as printed: w_c in R^d for each "
                              "head, C numbers a layer.",
                              "It says what is counted.")},
      .condition = "Additional means: beside w_c of equation 2.",
      .proof = holds_under_condition(
          "Equation 2 has w_c, which is learned: L C numbers, 9,216 for Small, half of what CABLE "
          "has. Beside it there is none; CABLE has w_s as well."),
      .checks = {check("L C = 0: the numbers of w_c", learned, versions(1)),
                 condition("0 L C = 0: beside w_c", learned, versions(0))},
      .mutant = {"CABLE has none either: w_c and w_s are none.",
                 check("2 L C = 0: the numbers of w_c and w_s", learned, versions(2))},
  });

  // What a token's mark becomes at each distance after so many layers: a layer sums over the keys,
  // with the weight 1 for the nearest `window` and `outside` for all others.
  const auto carried = []<class R>(int window, int layers, const R& outside) {
    Vector<R> marks = zeros<R>(40);
    marks[0] = R(1.0);
    for (int layer = 0; layer < layers; ++layer) {
      Vector<R> next = zeros<R>(40);
      for (int i = 0; i < 40; ++i) {
        for (int j = 0; j <= i; ++j) next[i] += (i - j < window ? R(1.0) : outside) * marks[j];
      }
      marks = next;
    }
    return marks;
  };
  const auto nothing_beyond = equals_zero<"window", "layers", "outside">(
      [=]<class R>(int window, int layers, const R& outside) {
        const Vector<R> marks = carried(window, layers, outside);
        return at_each("distance", layers * (window - 1) + 1, 40, [&](int d) { return marks[d]; });
      });
  const auto something_up_to = above_zero<"window", "layers", "outside">(
      [=]<class R>(int window, int layers, const R& outside, int more) {
        const Vector<R> marks = carried(window, layers, outside);
        return at_each("distance", 0, layers * (window - 1) + more + 1,
                       [&](int d) { return marks[d]; });
      });
  const auto stacks = [](double outside) {
    return grid({{"window", {2, 3, 5}}, {"layers", {1, 2, 6}}, {"outside", outside}});
  };
  claims["cable/few_layers"] = Claim({
      .title = "With few layers a window carries information a short way",
      .source = source("Section 5.6"),
      .statement = "\"The sliding window nature of additive RPEs, where, with a low number of "
                   "layers, they struggle to propagate information across longer sequences\": "
                   "through L layers with a window of W keys a token reaches the distance L (W - "
                   "1) and no farther.",
      .implicit = {needed({"Keys outside the window have no weight at all.", "outside", exactly(0)},
                          "With a small weight one layer reaches every distance. An additive bias "
                          "makes the weights of distant keys small, not 0.",
                          check("marks beyond L (W - 1) = 0, with weights of 2^-10 outside",
                                nothing_beyond, stacks(0x1p-10)))},
      .proof = holds_under_condition(
          "A layer carries a token's mark to the W - 1 tokens after it, and L layers to L (W - 1). "
          "So the 6 layers of Tiny reach a quarter as far as the 24 of Medium, for the same W."),
      .checks = {check("marks beyond L (W - 1) = 0", nothing_beyond, stacks(0)),
                 check("marks up to L (W - 1) > 0", something_up_to(0), stacks(0))},
      .mutant = {"It reaches the distance L (W - 1) + 1.",
                 check("marks up to L (W - 1) + 1 > 0", something_up_to(1), stacks(0))},
  });
}

}  // namespace

void claims_of_arithmetic(Claims& claims) {
  const auto costs = above_zero<"T", "C", "H">([]<class R>(R T, R C, R H) {
    const R places = H * T * T;
    const R cable = R(2.0) * T * C * H + places;
    return std::vector<Placed<R>>{{R(96.0) * places - cable, "DAPE"},
                                  {R(288.0) * places - cable, "DAPEv2"}};
  });
  const auto sizes = [](const std::vector<double>& lengths) {
    Samples samples;
    for (double T : lengths) {
      samples.push_back({{"T", T}, {"C", 768}, {"H", 12}});
      samples.push_back({{"T", T}, {"C", 1024}, {"H", 16}});
      samples.push_back({{"T", T}, {"C", 512}, {"H", 8}});
    }
    return samples;
  };
  claims["cable/dape_cost"] = Claim({
      .title = "CABLE costs less than DAPE",
      .source = source("Section 5.3"),
      .statement = "DAPE applies feedforward layers, DAPEv2 convolutions, to the full attention "
                   "matrix [B, nh, T, T]; CABLE applies linear maps to [B, T, D], which results in "
                   "significantly lower computational overhead: fewer multiplications per layer.",
      .implicit = {definition("Multiplications of one layer and one sequence, without masks; time "
                              "on an accelerator is another matter.",
                              "It says what is counted."),
                   definition("DAPE as its published code has it: a hidden width of 32, the input "
                              "joins attention and bias of all heads.",
                              "It says what is counted.")},
      .condition = "T >= C/32: 16 tokens for Tiny, 24 for Small, 32 for Medium.",
      .proof = holds_under_condition(
          "DAPE: 2 H -> 32 -> H at each of T^2 places, 96 H T^2 multiplications; DAPEv2 with 1 x 3 "
          "kernels three times that. CABLE: two maps C -> H for T tokens, 2 T C H, and the weight "
          "at T^2 places, H T^2. DAPE exceeds CABLE if 95 T > 2 C. At T = 1, C = 768 CABLE needs "
          "more; at T = 512, H = 12 it needs 12.6M against 302M."),
      .theorem = "other_methods.dape_cost",
      .checks = {check("DAPE - CABLE > 0 and DAPEv2 - CABLE > 0: 96 H T^2 and 288 H T^2 less 2 T C "
                       "H + H T^2",
                       costs, sizes({512, 64, 8, 1, 8192})),
                 condition("the same for T >= C/32", costs, sizes({32, 64, 512, 1024, 8192}))},
      .mutant = {"The same for T >= C/128.",
                 check("DAPE - CABLE > 0 for T >= C/128", costs, sizes({8}))},
  });

  const auto heads_fill =
      equals_zero<"H", "D", "C">([]<class R>(R H, R D, R C) { return H * D - C; });
  claims["cable/ten_heads"] = Claim({
      .title = "GPT-2 Small has 10 heads at a width of 768",
      .source = source("Section 4.2"),
      .statement = "The small version has 12 layers, 10 heads and a hidden dimension of 768: ten "
                   "heads of one dimension D make up the width, 10 D = 768.",
      .implicit = {"All heads have the same whole dimension D and together the width of the model, "
                   "as in GPT-2."},
      .correction = "GPT-2 Small has 12 heads of dimension 64.",
      .proof =
          refuted("768 = 2^8 3 is not divisible by 10: 10 D is at most 760 for D <= 76 and at "
                  "least 770 for D >= 77. GPT-2 Small and the published code have 12 heads of "
                  "dimension 64; the medium (16) and tiny (8) versions divide with 64 as well."),
      .checks = {exists("some whole D: 10 D - 768 = 0", heads_fill,
                        {{{"H", 10}, {"C", 768}, within("D", 0, 76)},
                         {{"H", 10}, {"C", 768}, within("D", 77, 768)}}),
                 correction("H D - C = 0 for 12, 16 and 8 heads of dimension 64", heads_fill,
                            {{{"H", 12}, {"C", 768}, {"D", 64}},
                             {{"H", 16}, {"C", 1024}, {"D", 64}},
                             {{"H", 8}, {"C", 512}, {"D", 64}}})},
      .mutant = {"Ten heads fill a width of 512.",
                 exists("some whole D: 10 D - 512 = 0", heads_fill,
                        {{{"H", 10}, {"C", 512}, within("D", 0, 51)},
                         {{"H", 10}, {"C", 512}, within("D", 52, 512)}})},
  });

  claims["cable/parameters_small"] = Claim({
      .title = "GPT-2 Small has 124M parameters",
      .source = source("Section 4.2"),
      .statement =
          "The small version (12 layers, width 768, vocabulary 50304) has 124M parameters.",
      .implicit =
          {definition(gpt2_parameters_counted, "It says what is counted."),
           not_needed("CABLE adds 2 L (C H + H), as in the published code.",
                      "As printed it adds 2 L C = 18,432, which changes nothing in the millions.",
                      check("123.5M <= parameters <= 124.5M with 2 L C",
                            between("at least", "parameters", "at most"),
                            {{{"at least", 123.5e6},
                              {"parameters", 123689472 + 18432},
                              {"at most", 124.5e6}}})),
           definition_of_printed_numbers(),
           not_needed(
               {"12 heads (cable/ten_heads); the count of GPT-2 itself does not depend on it.", "H",
                exactly(12)},
               "What CABLE adds depends on it, but not in the millions.",
               check("10 heads: 123.5M <= parameters <= 124.5M",
                     parameters_lie_in(123.5e6, 124.5e6), {small_with(0, 1, 10)}))},
      .proof = holds("123,689,472 without a table of positions, 124,475,904 with one, 123,910,944 "
                     "with CABLE: all round to 124M."),
      .checks = check("123.5M <= parameters <= 124.5M", parameters_lie_in(123.5e6, 124.5e6),
                      {small_with(0, 0), small_with(1024, 0), small_with(0, 1)}),
      .mutant = {"The small version has 123M parameters.",
                 check("122.5M <= parameters <= 123.5M", parameters_lie_in(122.5e6, 123.5e6),
                       {small_with(0, 0)})},
  });

  const Samples medium_models = {medium_with(0, 0), medium_with(1024, 0), medium_with(0, 1)};
  claims["cable/parameters_medium"] = Claim({
      .title = "GPT-2 Medium has 334M parameters",
      .source = source("Abstract; section 4.2"),
      .statement =
          "The medium version (24 layers, width 1024, vocabulary 50304) has 334M parameters.",
      .implicit = {gpt2_parameters_counted, "CABLE adds 2 L (C H + H), as in the published code.",
                   printed_numbers_are_rounded},
      .correction = "354M parameters; 355M with CABLE or with a table of 1024 positions.",
      .proof = refuted(
          "51,511,296 for the embeddings, 24 * 12,596,224 = 302,309,376 for the layers, 2,048 for "
          "the last LayerNorm: 353,822,720; with a table of positions 354,871,296, with CABLE "
          "354,609,920. No choice of these gives 334M. (334,092,288 is the encoder of BERT large, "
          "with the same layers and a vocabulary of 30,522.)"),
      .checks = {check("333.5M <= parameters <= 334.5M", parameters_lie_in(333.5e6, 334.5e6),
                       medium_models),
                 correction("353.5M <= parameters <= 355.5M", parameters_lie_in(353.5e6, 355.5e6),
                            medium_models)},
      .mutant = {"The medium version has 345M parameters.",
                 check("344.5M <= parameters <= 345.5M", parameters_lie_in(344.5e6, 345.5e6),
                       {medium_with(1024, 0)})},
  });

  claims["cable/parameters_tiny"] = Claim({
      .title = "GPT-2 Tiny has 44M parameters",
      .source = source("Section 4.2"),
      .statement = "The tiny version (6 layers, width 512, vocabulary 50304) has 44M parameters.",
      .implicit = {definition(gpt2_parameters_counted, "It says what is counted."),
                   not_needed(
                       "CABLE adds 2 L (C H + H), as in the published code.",
                       "As printed it adds 2 L C = 6,144, which changes nothing in the millions.",
                       check("44M <= parameters <= 45M - 1 with 2 L C",
                             between("at least", "parameters", "at most"),
                             {{{"at least", 44e6},
                               {"parameters", 44670976 + 6144},
                               {"at most", 45e6 - 1}}})),
                   definition_of_printed_numbers()},
      .condition = "The count is cut off, not rounded, and there is no table of positions.",
      .conditions = {needed("The count is cut off, not rounded.", "44,670,976 rounds to 45M.",
                            check("43.5M <= parameters <= 44.5M without a table",
                                  parameters_lie_in(43.5e6, 44.5e6), {tiny_with(0, 0)})),
                     needed_as_the_mutant_shows(
                         {"There is no table of positions.", "P", exactly(0)},
                         "A table makes it 45,195,264.")},
      .proof = holds_under_condition(
          "25,755,648 for the embeddings, 6 * 3,152,384 = 18,914,304 for the layers, 1,024 for the "
          "last LayerNorm: 44,670,976, which rounds to 45M; 45,195,264 with a table of positions. "
          "With the digits after 44 cut off, and without a table, it is 44M (with CABLE "
          "44,720,224). The 124M of the small version is rounded, not cut "
          "(cable/parameters_small)."),
      .checks = {check("43.5M <= parameters <= 44.5M", parameters_lie_in(43.5e6, 44.5e6),
                       {tiny_with(0, 0), tiny_with(1024, 0)}),
                 condition("44M <= parameters < 45M without a table of positions",
                           parameters_lie_in(44e6, 45e6 - 1), {tiny_with(0, 0), tiny_with(0, 1)})},
      .mutant = {"With a table of positions, 44M <= parameters < 45M.",
                 check("44M <= parameters < 45M with a table", parameters_lie_in(44e6, 45e6 - 1),
                       {tiny_with(1024, 0)})},
  });

  // Thousandths of the parameters, times 1000, minus 1000 times what is added, in both readings.
  const auto share = above_zero([]<class R>(const Inputs<R>& in, double thousandths) {
    const R share = R(thousandths) * gpt2_parameters(in);
    return std::vector<R>{share - R(1000.0) * added_parameters(in),
                          share - R(2000.0) * in.number("L") * in.number("C")};
  });
  claims["cable/added_parameters"] = Claim({
      .title = "CABLE adds minimal parameters",
      .source = source("Section 3, last paragraph: \"minimal parameters\""),
      .statement = "Two additional linear layers in each attention layer add minimal parameters: "
                   "less than 0.3 percent of the model, for all three sizes.",
      .implicit =
          {definition(gpt2_parameters_counted, "It says what is counted."),
           definition(
               "CABLE adds 2 L (C H + H), as in the published code.",
               "It says what is counted; the reading as printed, 2 L C, is checked beside it."),
           definition_of_printed_numbers(),
           definition("\"Minimal\" is read as less than 0.3 percent.",
                      "Without a number there is nothing to check.")},
      .proof = holds(
          "2 L (C H + H): 221,472 of 123.9M for Small (0.18 percent), 787,200 of 354.6M for Medium "
          "(0.22), 49,248 of 44.7M for Tiny (0.11). As printed, with w_c and w_s in R^d for each "
          "head of dimension d = C/H, it is 2 L C only: 18,432, 49,152 and 6,144."),
      .checks = check("0.003 parameters - 2 L (C H + H) > 0 and >= that of 2 L C", share(3),
                      {small_with(0, 1), medium_with(0, 1), tiny_with(0, 1)}),
      .mutant = {"Less than 0.2 percent.",
                 check("0.002 parameters - 2 L (C H + H) > 0", share(2), {medium_with(0, 1)})},
  });

  const auto epochs_lie_in = at_least_zero<"steps", "tokens per step", "tokens of the data">(
      []<class R>(R steps, R tokens, R data, double lower, double upper) {
        const R seen = steps * tokens;
        return std::vector<Placed<R>>{{seen - R(lower) * data, "the lower end, in tokens"},
                                      {R(upper) * data - seen, "the upper end, in tokens"}};
      });
  const auto fineweb = [](double steps, double tokens) {
    return Sample{printed("steps", steps, 1e3),
                  {"tokens per step", tokens},
                  printed("tokens of the data", 9.9e9, 1e8)};
  };
  const auto wikitext = [](double steps, double tokens) {
    return Sample{printed("steps", steps, 1e3),
                  {"tokens per step", tokens},
                  within("tokens of the data", 103e6, 208e6)};
  };
  claims["cable/fineweb_epoch"] = Claim({
      .title = "19k steps are about one epoch of FineWeb-Edu-10B",
      .source = source("Sections 4.1 and 4.2"),
      .statement = "19k steps of 524,288 tokens are about 1 epoch of the 9.9B tokens for training.",
      .hypotheses = {needed(
          {"A step is an update of the weights (\"Gradients are updated after processing "
           "524,288 tokens\").",
           "tokens per step", exactly(524288)},
          "If it were a batch of 64 sequences of 1024 on one GPU, it would be an eighth.",
          check("0.95 <= steps 65536 / data <= 1.05", epochs_lie_in(0.95, 1.05),
                {fineweb(19e3, 65536)}))},
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("19,000 * 524,288 = 9.961e9, which is 1.006 times 9.9e9; with all numbers "
                     "that round to the printed ones it is 0.97 to 1.04."),
      .checks = check("0.95 <= steps 524288 / data <= 1.05", epochs_lie_in(0.95, 1.05),
                      {fineweb(19e3, 524288)}),
      .mutant = {"The same of 14k steps.",
                 check("0.95 <= 14k 524288 / data <= 1.05", epochs_lie_in(0.95, 1.05),
                       {fineweb(14e3, 524288)})},
  });

  const auto fills_update = equals_zero<"batch", "n">(
      []<class R>(R batch, R n, double gpus) { return batch * R(1024 * gpus) * n - R(524288.0); });
  claims["cable/batch_sizes"] = Claim({
      .title = "The batch sizes make up 524,288 tokens",
      .source = source("Section 4.2"),
      .statement = "With sequences of 1024 tokens on eight GPUs, batches of 64, 32 and 16 make up "
                   "the 524,288 tokens of an update: a whole number of batches.",
      .implicit = {not_needed("The batch sizes are those of one GPU. (If they are those of all "
                              "eight, 8, 16 and 32 batches make up an update: whole as well.)",
                              "Eight times as many batches of an eighth.",
                              check("batch * 1024 * n - 524288 = 0, n = 8, 16, 32", fills_update(1),
                                    {{{"batch", 64}, {"n", 8}},
                                     {{"batch", 32}, {"n", 16}},
                                     {{"batch", 16}, {"n", 32}}}))},
      .proof = holds("64 * 1024 * 8 = 524,288: one batch; 32: two; 16: four."),
      .checks =
          check("batch * 1024 * 8 * n - 524288 = 0", fills_update(8),
                {{{"batch", 64}, {"n", 1}}, {{"batch", 32}, {"n", 2}}, {{"batch", 16}, {"n", 4}}}),
      .mutant = {"So do batches of 48.",
                 check("48 * 1024 * 8 * n - 524288 = 0, n = 1, 2", fills_update(8),
                       {{{"batch", 48}, {"n", 1}}, {{"batch", 48}, {"n", 2}}})},
  });

  claims["cable/wikitext_epochs"] = Claim({
      .title = "9k, 5k and 3k steps are about 10, 5 and 3 epochs of WikiText-103",
      .source = source("Section 4.2"),
      .statement = "On WikiText-103 the tiny, small and medium variants are trained for 9k, 5k and "
                   "3k steps of 524,288 tokens: about 10, 5 and 3 epochs.",
      .implicit =
          {"A step is an update (\"Gradients are updated after processing 524,288 tokens\").",
           "The training set of WikiText-103 has 103 million words (Merity et al., 2016), and a "
           "tokenizer makes one to two tokens of a word on average.",
           printed_numbers_are_rounded},
      .correction = "With 524,288 tokens a step they are more than 20, 11 and 6 epochs.",
      .proof = refuted(
          "9,000 * 524,288 = 4.7e9 tokens. WikiText-103 has 103 million words; with at most two "
          "tokens a word that is more than 20 epochs (about 40 with GPT-2's tokenizer, 1.14 tokens "
          "a word), and 10 epochs would need 4.5 tokens a word. The printed epochs fit updates of "
          "131,072 tokens, a quarter: 10.0, 5.6 and 3.3 epochs of 118 million tokens."),
      .checks = {check("9.5 <= epochs of 9k steps <= 10.5", epochs_lie_in(9.5, 10.5),
                       {wikitext(9e3, 524288)}),
                 check("4.5 <= epochs of 5k steps <= 5.5", epochs_lie_in(4.5, 5.5),
                       {wikitext(5e3, 524288)}),
                 check("2.5 <= epochs of 3k steps <= 3.5", epochs_lie_in(2.5, 3.5),
                       {wikitext(3e3, 524288)}),
                 correction("9k steps are 20 to 50 epochs", epochs_lie_in(20, 50),
                            {wikitext(9e3, 524288)}),
                 correction("5k steps are 11 to 30 epochs", epochs_lie_in(11, 30),
                            {wikitext(5e3, 524288)}),
                 correction("3k steps are 6 to 20 epochs", epochs_lie_in(6, 20),
                            {wikitext(3e3, 524288)})},
      .mutant = {"9k steps of 1024 tokens are about 10 epochs.",
                 check("9.5 <= epochs of 9k steps of 1024 tokens <= 10.5", epochs_lie_in(9.5, 10.5),
                       {wikitext(9e3, 1024)})},
  });

  claims["cable/bert_epoch"] = Claim({
      .title = "14k steps are about one epoch for BERT",
      .source = source("Section 5.5"),
      .statement = "BERT is trained with a batch size of 32 and a maximum sequence length of 512 "
                   "for 14k steps, about 1 epoch on FineWeb-Edu-10B.",
      .implicit = {"No gradients are accumulated over several batches (none is mentioned).",
                   "The 9.9B tokens of section 4.1; \"about 1\" is 0.5 to 1.5.",
                   printed_numbers_are_rounded},
      .correction = "0.02 epochs; 0.09 if the batch is that of each of four GPUs. About 1 epoch "
                    "takes some hundred thousand tokens a step.",
      .proof = refuted(
          "14,000 * 32 * 512 = 2.3e8 tokens: 0.023 epochs of 9.9e9; if each of the four GPUs has a "
          "batch of 32, 9.2e8: 0.093 epochs. One epoch in 14k steps needs 707,143 tokens a step, "
          "1,381 sequences of 512. With 524,288 tokens a step, as for GPT-2, it would be 0.74."),
      .checks = {check("0.5 <= epochs <= 1.5, one GPU and four", epochs_lie_in(0.5, 1.5),
                       {fineweb(14e3, 32 * 512), fineweb(14e3, 4 * 32 * 512)}),
                 correction("0.02 <= epochs <= 0.025 for 32 sequences a step",
                            epochs_lie_in(0.02, 0.025), {fineweb(14e3, 32 * 512)}),
                 correction("0.08 <= epochs <= 0.1 for 128 sequences a step",
                            epochs_lie_in(0.08, 0.1), {fineweb(14e3, 4 * 32 * 512)}),
                 correction("0.5 <= epochs <= 1.5 for 524288 tokens a step",
                            epochs_lie_in(0.5, 1.5), {fineweb(14e3, 524288)})},
      .mutant = {"0.5 <= epochs <= 1.5 with 32 sequences a step on 16 GPUs.",
                 check("0.5 <= epochs <= 1.5, 16 GPUs", epochs_lie_in(0.5, 1.5),
                       {fineweb(14e3, 16 * 32 * 512)})},
  });

  claims["cable/tokens_per_second"] = Claim({
      .title = "1.9M against 0.6M tokens per second is about three times",
      .source = source("Section 5.3"),
      .statement = "GPT-2 Small with CABLE trains at 1.9M tokens per second, DAPEv2+CABLE at 0.6M: "
                   "about 3 times slower.",
      .implicit = {needed(
          {"The ratio of the numbers as printed, rounded to a whole number.", "CABLE", exactly(19)},
          "Of all numbers that round to the printed ones, 1.95 and 0.55 have the ratio 3.55.",
          check("2.5 * 5.5 <= 19.5 <= 3.5 * 5.5", between("2.5 DAPEv2", "CABLE", "3.5 DAPEv2"),
                {{{"2.5 DAPEv2", 13.75}, {"CABLE", 19.5}, {"3.5 DAPEv2", 19.25}}}))},
      .proof = holds_under_condition(
          "1.9 / 0.6 = 3.17, which rounds to 3. (With all numbers that round to the "
          "printed ones the ratio lies between 2.85 and 3.55.)"),
      .checks = check("2.5 * 6 <= 19 <= 3.5 * 6 (tenths of M tokens per second)",
                      between("2.5 DAPEv2", "CABLE", "3.5 DAPEv2"),
                      {{{"2.5 DAPEv2", 15}, {"CABLE", 19}, {"3.5 DAPEv2", 21}}}),
      .mutant = {"About 4 times.",
                 check("3.5 * 6 <= 19 <= 4.5 * 6", between("3.5 DAPEv2", "CABLE", "4.5 DAPEv2"),
                       {{{"3.5 DAPEv2", 21}, {"CABLE", 19}, {"4.5 DAPEv2", 27}}})},
  });

  // H T additions of the cumulative sums against all else that CABLE computes: 2 T C H
  // multiplications of the two linear maps and H T^2 of the weight.
  const auto rest = []<class R>(const R& T, const R& C, const R& H) {
    return R(2.0) * T * C * H + H * T * T;
  };
  // An addition of the running sum takes `ratio` times as long as any other operation.
  const auto sums_take_most = at_least_zero<"T", "C", "H", "ratio">(
      [=]<class R>(R T, R C, R H, R ratio) { return ratio * H * T - rest(T, C, H); });
  const auto sums_are_at_most = at_least_zero<"T", "C", "H">(
      [=]<class R>(R T, R C, R H, double share) { return rest(T, C, H) * R(share) - H * T; });
  claims["cable/cumulative_sum_cost"] = Claim({
      .title = "The overhead is primarily that of the cumulative sum",
      .source = source("Section 5.2"),
      .statement = "\"The overhead of our method is primarily related to the cumulative sum "
                   "operation in our computations\": of the time that CABLE adds to a layer, the "
                   "cumulative sum takes the larger part.",
      .hypotheses = {"Two linear maps C -> H, cumulative sums for H heads, T tokens."},
      .implicit = {"The overhead is time, as the section \"Runtime and Memory Overhead\" measures "
                   "it.",
                   "The differences S_i - S_j and their addition to the scores are left out, which "
                   "ALiBi has as well.",
                   "An addition of the running sum takes 1 to 2^16 times as long as another "
                   "operation: it runs along the tokens, the others run side by side."},
      .correction = "As operations the sums are less than a thousandth of the rest: 1/(2 C + T) of "
                    "it.",
      .proof = {"The paper prints no time of any part. H T additions stand against 2 T C H "
                "multiplications of the maps and H T^2 of the weight, 1 against 2 C + T: 2,560 for "
                "Small at T = 1024, 9,728 at T = 8192. So the sentence is true if such an addition "
                "takes 2 C + T times as long as another operation, or longer. In memory it is the "
                "same: the sums are H T numbers, the biases H T^2. A count refutes it only if all "
                "operations take the same time. Missing: the times of the parts on the paper's "
                "machines.",
                Verdict::undecided},
      .checks = {check("ratio H T - (2 T C H + H T^2) >= 0", sums_take_most,
                       with(sizes({1024, 1, 8192}), {{within("ratio", 1, 0x1p16)}})),
                 correction("(2 T C H + H T^2)/1024 - H T >= 0", sums_are_at_most(0x1p-10),
                            sizes({1024, 1, 8192}))},
      .mutant = {"Also if an addition takes no longer than another operation.",
                 check("H T - (2 T C H + H T^2) >= 0", sums_take_most,
                       with(sizes({1024, 1, 8192}), {{{"ratio", 1}}}))},
  });

  claims_of_settings(claims);
  claims_of_costs(claims);
}

}  // namespace plumbline::proofs_checks::cable
