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
      .checks = {check("H T - (2 T C H + H T^2) >= 0", sums_are_most, sizes({1024, 1, 8192})),
                 correction("(2 T C H + H T^2)/1024 - H T >= 0", sums_are_at_most(0x1p-10),
                            sizes({1024, 1, 8192}))},
      .mutant = {"They are less than a hundred-thousandth.",
                 check("(2 T C H + H T^2)/2^17 - H T >= 0", sums_are_at_most(0x1p-17),
                       sizes({1024, 1, 8192}))},
  });
}

}  // namespace plumbline::proofs_checks::cable
