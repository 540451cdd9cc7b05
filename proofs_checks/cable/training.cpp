// SPDX-License-Identifier: Apache-2.0
// Tokens, steps, epochs and settings of training.
#include "proofs_checks/cable/source.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_training(Claims& claims) {
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
      equals_zero<"CABLE", "GPT-2">([]<class R>(R here, R gpt2) { return here - gpt2; });
  claims["cable/gpt2_training_settings"] = Claim({
      .title = "The training settings are those of GPT-2",
      .source = source("Section 4.2"),
      .statement = "\"Training settings are the same as those used for GPT-2 (Radford et al., "
                   "2019). Gradients are updated after processing 524,288 tokens and vocab size is "
                   "50304\": GPT-2 has the same vocabulary, and an update of as many tokens.",
      .implicit = {definition("GPT-2 has a vocabulary of 50,257 and updates after 512 sequences of "
                              "1024 (Radford et al., 2019).",
                              "It says with what the settings are compared.")},
      .condition =
          "The vocabulary, which the next sentence names, is not counted among the settings.",
      .correction = "The tokens of an update are the same, 512 x 1024 = 524,288; the vocabulary is "
                    "GPT-2's rounded up to a multiple of 128, 50,304 = 393 x 128.",
      .proof = holds_under_condition(
          "50,257 is not 50,304. The larger one has 47 tokens that the tokenizer never makes, and "
          "a size that suits the hardware: 392 x 128 = 50,176 < 50,257 <= 50,304 = 393 x 128. Of "
          "the settings that both papers print the tokens of an update are the same."),
      .checks =
          {check("50304 - 50257 = 0", equal_vocabularies, {{{"CABLE", 50304}, {"GPT-2", 50257}}}),
           condition("512 x 1024 - 524288 = 0", makes_tokens, {batch_of(512, 1024, 524288)}),
           correction(
               "392 x 128 + 1 <= 50257 <= 393 x 128",
               between("392 x 128 + 1", "GPT-2", "393 x 128"),
               {{{"392 x 128 + 1", 392 * 128 + 1}, {"GPT-2", 50257}, {"393 x 128", 393 * 128}}}),
           correction("50304 - 393 x 128 = 0", equal_vocabularies,
                      {{{"CABLE", 50304}, {"GPT-2", 393 * 128}}})},
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
}

}  // namespace plumbline::proofs_checks::cable
