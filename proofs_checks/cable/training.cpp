// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/source.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_training(Claims& claims) {
  // lower <= steps * tokens / data <= upper: the number of epochs.
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
      .implicit =
          {needed({"A step is an update of the weights (\"Gradients are updated after processing "
                   "524,288 tokens\").",
                   "tokens per step", exactly(524288)},
                  "If it were a batch of 64 sequences of 1024 on one GPU, it would be an eighth.",
                  check("0.95 <= steps 65536 / data <= 1.05", epochs_lie_in(0.95, 1.05),
                        {fineweb(19e3, 65536)})),
           definition_of_printed_numbers()},
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
      .proof = holds("1.9 / 0.6 = 3.17, which rounds to 3. (With all numbers that round to the "
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
  const auto sums_are_most =
      at_least_zero<"T", "C", "H">([=]<class R>(R T, R C, R H) { return H * T - rest(T, C, H); });
  const auto sums_are_at_most = at_least_zero<"T", "C", "H">(
      [=]<class R>(R T, R C, R H, double share) { return rest(T, C, H) * R(share) - H * T; });
  std::vector<Sample> sizes;
  for (double T : {1024, 1, 8192}) {
    sizes.push_back({{"T", T}, {"C", 768}, {"H", 12}});
    sizes.push_back({{"T", T}, {"C", 1024}, {"H", 16}});
    sizes.push_back({{"T", T}, {"C", 512}, {"H", 8}});
  }
  claims["cable/cumulative_sum_cost"] = Claim({
      .title = "The overhead is primarily that of the cumulative sum",
      .source = source("Section 5.2"),
      .statement = "\"The overhead of our method is primarily related to the cumulative sum "
                   "operation in our computations\": of the operations that CABLE adds to a layer, "
                   "most are its additions.",
      .hypotheses = {"Two linear maps C -> H, cumulative sums for H heads, T tokens."},
      .implicit = {"The count of operations stands for the overhead; time on an accelerator is "
                   "another matter, as a cumulative sum runs along the tokens.",
                   "The differences S_i - S_j and their addition to the scores are left out, which "
                   "ALiBi has as well."},
      .correction = "The sums are less than a thousandth of the rest: 1/(2 C + T) of it.",
      .proof = refuted("H T additions against 2 T C H multiplications of the maps and H T^2 of the "
                       "weight: the quotient is 1/(2 C + T), 1/2560 for Small at T = 1024."),
      .checks = {check("H T - (2 T C H + H T^2) >= 0", sums_are_most, sizes),
                 correction("(2 T C H + H T^2)/1024 - H T >= 0", sums_are_at_most(0x1p-10), sizes)},
      .mutant = {"They are less than a hundred-thousandth.",
                 check("(2 T C H + H T^2)/2^17 - H T >= 0", sums_are_at_most(0x1p-17), sizes)},
  });
}

}  // namespace plumbline::proofs_checks::cable
