// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_training(Claims& claims) {
  const auto data_suffice = at_least_zero<"steps", "batch", "data", "passes">(
      []<class R>(R steps, R batch, R data, R passes) { return data * passes - steps * batch; });
  // 10 billion tokens by the count of the name are half to twice as many by that of the training.
  const auto training = [](double passes) {
    return Sample{
        {"steps", 19251}, {"batch", 589824}, within("data", 0.5e10, 2e10), {"passes", passes}};
  };
  claims["bam/training_tokens"] = Claim({
      .title = "The training goes through FineWeb 10B at most once",
      .source = source("Appendix C, \"Fineweb 10B\" against the paragraph after Table 1"),
      .statement = "\"We trained all our models on the Fineweb 10B dataset\", \"for approximately "
                   "19,251 steps with a global batch size of 589,824 tokens\": the data set, "
                   "whose name says 10 billion tokens, has as many as that.",
      .implicit = {"\"Trained on\" means that no token is read twice; the manuscript gives no "
                   "number of passes.",
                   "The 10 billion of the name are counted by some tokenizer. By the tokenizer of "
                   "the training, that of Mistral-7B v0.3, the same text has half to twice as "
                   "many."},
      .proof = {"19,251 x 589,824 = 11,354,701,824 tokens, 1.135 times 10 billion. If the name "
                "counts as the training does, 1.35 billion tokens are read twice; if the text has "
                "13.6% more tokens by the tokenizer of the training, once through it is enough. "
                "Missing: the number of tokens by that tokenizer.",
                Verdict::undecided},
      .checks =
          check("data - 19,251 x 589,824 >= 0, the data being 0.5 x 10^10 to 2 x 10^10 tokens",
                data_suffice, {training(1)}),
      .mutant = {"Half of the data set is enough.",
                 check("data / 2 - 19,251 x 589,824 >= 0", data_suffice, {training(0.5)})},
  });

  const auto lightweight = above_zero<"steps", "training", "share">(
      []<class R>(R steps, R training, R share) { return training - steps * share; });
  const auto make_tokens = product({"factor", "context"}, "tokens");
  const auto tokens = numbers_of({"factor", "context", "tokens"});
  claims["bam/lightweight_extension"] = Claim({
      .title = "The context extension is lightweight",
      .source = source("Appendix H.5, second paragraph; appendix C, after Table 1"),
      .statement = "\"A lightweight fine-tuning with context length 1024 for 256 steps (in "
                   "comparison to 512 during the beginning of the training)\": twice the context, "
                   "and less than a fiftieth of the training's 19,251 steps.",
      .implicit = {definition("Lightweight means less than a fiftieth of the steps, with the same "
                              "batch of tokens.",
                              "It says what the word means.")},
      .proof = holds("256/19,251 = 1.3%; 256 x 589,824 are 151 million tokens. Appendix C has the "
                     "same 256 steps and the same context of 1024, for the 1.1B models; Table 7 "
                     "has all three sizes."),
      .checks = {check("19,251 - 50 x 256 > 0", lightweight,
                       {{{"steps", 256}, {"training", 19251}, {"share", 50}}}),
                 check("2 x 512 = 1024", make_tokens, {tokens(2, 512, 1024)})},
      .mutant = {"It is less than a hundredth.",
                 check("19,251 - 100 x 256 > 0", lightweight,
                       {{{"steps", 256}, {"training", 19251}, {"share", 100}}})},
  });

  claims["bam/double_and_quadruple"] = Claim({
      .title = "1,024 and 2,048 are double and quadruple the training context of 512",
      .source = source("Appendix H.3, first sentence; appendix C, captions of Figures 12 and 17"),
      .statement = "\"Models trained on context length of 1,024 and 2,048, double and quadruple "
                   "the original context length of 512.\"",
      .implicit = {definition("The lengths are exact.", "It says what the numbers are.")},
      .proof = holds("2 x 512 = 1024 and 4 x 512 = 2048."),
      .checks = check("2 x 512 = 1024, 4 x 512 = 2048", make_tokens,
                      {tokens(2, 512, 1024), tokens(4, 512, 2048)}),
      .mutant = {"2,048 is three times 512.",
                 check("3 x 512 = 2048", make_tokens, {tokens(3, 512, 2048)})},
  });

  // Learning rates in units of 10^-4: Table 1's for a model, and the text's.
  const auto same_rate = total({"Table 1"}, "text");
  const auto rate = [](double value) { return Sample{{"Table 1", value}, {"text", 10}}; };
  claims["bam/learning_rate"] = Claim({
      .title = "All models were trained with an initial learning rate of 10^-3",
      .source = source("Appendix C, third paragraph, against Table 1"),
      .statement =
          "\"The models were optimized using RAdam with an initial learning rate of 1 x 10^-3.\"",
      .implicit = {definition("\"The models\" are those of Table 1.", "It says which models.")},
      .correction = "The model with 120M parameters was; the others have 5 x 10^-4 and 3 x 10^-4.",
      .proof = refuted("Table 1 has 10^-3, 5 x 10^-4 and 3 x 10^-4."),
      .checks = {check("learning rate of Table 1 = 10 x 10^-4", same_rate,
                       {rate(5), rate(3), rate(10)}),
                 correction("120M: 10 x 10^-4", same_rate, {rate(10)})},
      .mutant = {"The 432M model too.", check("432M: 5 = 10", same_rate, {rate(5)})},
  });

  const auto fills = product({"GPUs", "sequences", "context"}, "tokens");
  const auto batch = numbers_of({"GPUs", "sequences", "context", "tokens"});
  claims["bam/global_batch"] = Claim({
      .title = "The global batch has 589,824 tokens",
      .source = source("Appendix C, the paragraph after Table 1"),
      .statement = "A global batch of 589,824 tokens on six GPUs: a whole number of sequences on "
                   "each for all three training contexts, 512, 1024 and 2048.",
      .implicit = {not_needed({"All of the \"up to 6\" GPUs.", "GPUs", exactly(6)},
                              "2, 3 and 4 divide the batch as well.",
                              check("2, 3, 4 GPUs: GPUs sequences context = 589,824", fills,
                                    {batch(2, 576, 512, 589824), batch(3, 384, 512, 589824),
                                     batch(4, 288, 512, 589824)}))},
      .proof = holds("589,824 = 6 x 192 x 512 = 6 x 96 x 1024 = 6 x 48 x 2048."),
      .checks = check(
          "GPUs sequences context = 589,824", fills,
          {batch(6, 192, 512, 589824), batch(6, 96, 1024, 589824), batch(6, 48, 2048, 589824)}),
      .mutant = {"192 sequences of 1024 tokens on each.",
                 check("6 x 192 x 1024 = 589,824", fills, {batch(6, 192, 1024, 589824)})},
  });
}

}  // namespace plumbline::proofs_checks::bam
