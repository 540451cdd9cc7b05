// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_arithmetic(Claims& claims) {
  const auto counted = product({"per head", "heads", "layers"}, "printed");
  const auto heads_in_layers = numbers_of({"per head", "heads", "layers", "printed"});
  claims["bam/parameter_overhead"] = Claim({
      .title = "BAM adds 3 x Heads x Layers parameters",
      .source = source("Section 3; Table 1, row \"Parameters BAM\"; appendix H.2"),
      .statement = "The three parameters of each head in each layer amount to 3 x Heads x Layers: "
                   "576, 1008 and 1440 for the three models (Table 1); theta_alpha and theta_beta "
                   "alone to 384 in the 120M model, theta_beta alone to 192.",
      .implicit = {definition("Heads and layers as in Table 1.", "It says which models.")},
      .proof = holds("3 x 16 x 12 = 576, 3 x 24 x 14 = 1008, 3 x 32 x 15 = 1440, 2 x 16 x 12 = "
                     "384, 16 x 12 = 192."),
      .checks = {check("3 heads layers = 576, 1008, 1440", counted,
                       {heads_in_layers(3, 16, 12, 576), heads_in_layers(3, 24, 14, 1008),
                        heads_in_layers(3, 32, 15, 1440)}),
                 check("2 heads layers = 384 in the 120M model", counted,
                       {heads_in_layers(2, 16, 12, 384)}),
                 check("1 heads layers = 192 in the 120M model", counted,
                       {heads_in_layers(1, 16, 12, 192)})},
      .mutant = {"theta_alpha and theta_beta amount to 576.",
                 check("2 heads layers = 576", counted, {heads_in_layers(2, 16, 12, 576)})},
  });

  const auto below_the_limit = above("limit", {"parameters"});
  const auto counts = [](const std::vector<double>& values) {
    return grid({{"parameters", values}, {"limit", 1000}});
  };
  claims["bam/fewer_than_1000"] = Claim({
      .title = "The approach introduces fewer than 1,000 parameters",
      .source = source("Section 1 and Table 1"),
      .statement = "\"Our approach introduces fewer than 1,000 additional parameters.\"",
      .hypotheses = {definition("The models are the three of Table 1.", "It says which models.")},
      .implicit = {definition("The sentence does not say for which model.",
                              "The condition says it.")},
      .condition = "theta_mu is fixed (two parameters per head), or the model is the one with 120M "
                   "parameters.",
      .proof =
          holds_under_condition("Table 1 prints 1008 for the 432M and 1440 for the 1.1B model. Two "
                                "parameters per head give 2/3 of these, 672 and 960."),
      .checks = {check("1000 - 3 heads layers > 0 for the models of Table 1", below_the_limit,
                       counts({1008, 576, 1440})),
                 condition("1000 - 2 heads layers > 0", below_the_limit, counts({384, 672, 960}))},
      .mutant = {"It holds for three parameters per head in the 432M model.",
                 check("1000 - 1008 > 0", below_the_limit, counts({1008}))},
  });

  const auto percentage_as_printed = between("0.000315%", "added", "0.000325%");
  const auto of_120m = [](double added) {
    return Sample{{"added", added}, {"0.000315%", 378}, {"0.000325%", 390}};
  };
  claims["bam/percentage"] = Claim({
      .title = "BAM increases the parameters by 0.00032%",
      .source = source("Section 5"),
      .statement = "\"Increasing the parameter count of the model in negligible 0.00032% trainable "
                   "parameters.\"",
      .hypotheses = {needed_as_the_mutant_shows(
                         {"Two parameters per head (section 3): 384.", "added", exactly(384)},
                         "Three are 0.00048%."),
                     needed("The model has 120M parameters.",
                            "For the 1.1B model two parameters per head, 960, are 0.00009%.",
                            check("0.000315% <= 960 / 1.1B <= 0.000325%",
                                  between("0.000315%", "960", "0.000325%"),
                                  {{{"960", 960}, {"0.000315%", 3465}, {"0.000325%", 3575}}}))},
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("384/120,000,000 = 3.2e-6 = 0.00032%."),
      .checks =
          check("0.000315% <= 384 / 120M <= 0.000325%", percentage_as_printed, {of_120m(384)}),
      .mutant = {"It is the percentage of three parameters per head, 576.",
                 check("0.000315% <= 576 / 120M <= 0.000325%", percentage_as_printed,
                       {of_120m(576)})},
  });

  const auto as_printed = between("at least", "parameters", "at most");
  const auto table = [](double width, double printed) {
    return Sample{
        {"parameters", 32768 * width}, {"at least", printed - 0.5e6}, {"at most", printed + 0.5e6}};
  };
  claims["bam/embedding_parameters"] = Claim({
      .title = "The embeddings have about 25M, 50M and 67M parameters",
      .source = source("Table 1, \"Parameters embedding\"; section 3"),
      .statement = "Embeddings of ~25M, ~50M and ~67M for widths 768, 1536 and 2048.",
      .implicit = {needed_as_the_mutant_shows(
                       "The vocabulary of the Mistral-7B v0.3 tokenizer, 32,768 tokens.",
                       "That of GPT-2 gives other numbers."),
                   definition_of_printed_numbers()},
      .proof = holds_under_condition("32,768 x 768 = 25.2M, x 1536 = 50.3M, x 2048 = 67.1M."),
      .checks = check("24.5M to 25.5M, 49.5M to 50.5M, 66.5M to 67.5M", as_printed,
                      {table(768, 25e6), table(1536, 50e6), table(2048, 67e6)}),
      .mutant = {"A vocabulary of 50,304.",
                 check(
                     "50304 x 768: 24.5M to 25.5M", as_printed,
                     {{{"parameters", 50304.0 * 768}, {"at least", 24.5e6}, {"at most", 25.5e6}}})},
  });

  // Without bias terms. In each layer attention, 4 C^2, feed-forward maps, `maps` times C^2, and
  // two RMSNorms; then the last RMSNorm and, of the embeddings and the untied head, so many tables.
  const auto model = [](int tables, double C, double layers, double maps, double lower,
                        double upper) {
    const double body = layers * ((4 + maps) * C * C + 2 * C) + C;
    return Sample{{"C", C},
                  {"layers", layers},
                  {"parameters", body + tables * 32768 * C},
                  {"at least", lower},
                  {"at most", upper}};
  };
  claims["bam/transformer_layers"] = Claim({
      .title = "The transformer layers of the 120M model have about 95M parameters",
      .source = source("Section 3, second paragraph; Table 1, \"Parameters transformer\""),
      .statement = "\"Approximately 120M parameters, including ~25M for input embeddings and ~95M "
                   "for the transformer layers\"; Table 1 has ~380M for the 432M model.",
      .hypotheses = {needed_as_the_mutant_shows(
          "Table 1: C = 768, 12 layers, feed-forward 2 x 768; C = 1536, 14 layers, 2 x 1536.",
          "A hidden size of 4 C gives 138M.")},
      .implicit =
          {needed("Llama-style layers without bias terms, three feed-forward maps (SwiGLU), an "
                  "untied output head, the 32,768 tokens of the tokenizer: the published code.",
                  "With two maps a layer has 8 C^2, and layers and head 81.8M.",
                  check("two feed-forward maps: 92.5M to 97.5M", as_printed,
                        {model(1, 768, 12, 4, 92.5e6, 97.5e6)})),
           definition("\"~\" leaves 2.5M and 5M to each side.",
                      "Without a number there is nothing to check.")},
      .condition = "The output head is counted with the layers.",
      .proof = holds_under_condition(
          "A layer has 4 C^2 + 3 (2 C) C = 10 C^2 parameters and two RMSNorms. 12 layers of C = "
          "768: 70.8M; 14 of 1536: 330.3M. The head adds 25.2M and 50.3M: 96.0M and 380.7M."),
      .checks = {check("layers alone: 92.5M to 97.5M, 375M to 385M", as_printed,
                       {model(0, 768, 12, 6, 92.5e6, 97.5e6), model(0, 1536, 14, 6, 375e6, 385e6)}),
                 condition(
                     "layers and output head: 92.5M to 97.5M, 375M to 385M", as_printed,
                     {model(1, 768, 12, 6, 92.5e6, 97.5e6), model(1, 1536, 14, 6, 375e6, 385e6)})},
      .mutant = {"A feed-forward hidden size of 4 C gives about 95M with the head.",
                 check("h = 4: 92.5M to 97.5M", as_printed,
                       {model(1, 768, 12, 12, 92.5e6, 97.5e6)})},
  });

  const auto second_model = [&](double lower, double upper) {
    return Samples{model(2, 1536, 14, 6, lower, upper)};
  };
  claims["bam/model_432m"] = Claim({
      .title = "The second model has 432M parameters",
      .source = source("Table 1; Table 7 calls it 431M, Table 8 430M"),
      .statement =
          "The model of 14 layers, width 1536 and feed-forward 2 x 1536 has 432M parameters.",
      .implicit = {"The architecture of bam/transformer_layers.", printed_numbers_are_rounded},
      .correction = "It has 431.0M, as Table 7 says.",
      .proof = refuted("2 x 32768 x 1536 + 14 (10 x 1536^2 + 2 x 1536) + 1536 = 431,009,280; BAM "
                       "adds 1008 at most. Of the three names 431M is right."),
      .checks = {check("431.5M <= parameters <= 432.5M", as_printed,
                       second_model(431.5e6, 432.5e6)),
                 correction("430.5M <= parameters <= 431.5M", as_printed,
                            second_model(430.5e6, 431.5e6))},
      .mutant = {"It has 430M.", check("429.5M <= parameters <= 430.5M", as_printed,
                                       second_model(429.5e6, 430.5e6))},
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
      .condition = "The model is the one with 120M parameters.",
      .proof = holds_under_condition("Table 1 has 10^-3, 5 x 10^-4 and 3 x 10^-4."),
      .checks = {check("learning rate of Table 1 = 10 x 10^-4", same_rate,
                       {rate(5), rate(3), rate(10)}),
                 condition("120M: 10 x 10^-4", same_rate, {rate(10)})},
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

  const auto make_tokens = product({"factor", "context"}, "tokens");
  const auto tokens = numbers_of({"factor", "context", "tokens"});
  claims["bam/factor_500"] = Claim({
      .title = "250,000 tokens are 500 times the training context",
      .source = source("Abstract (\"500x the training context length\"), section 3.1 and section 5 "
                       "(\"250,000-token sequences\")"),
      .statement = "Information retrieval at 500x the training context length of 512 is retrieval "
                   "at 250,000 tokens.",
      .implicit = {"250,000 is exact and not rounded from 256,000."},
      .correction = "256,000 tokens; 250,000 are 488 training contexts.",
      .proof = refuted(
          "500 x 512 = 256,000, the column 256K of Table 7. 250,000 tokens are 488 times 512."),
      .checks = {check("500 x 512 = 250,000", make_tokens, {tokens(500, 512, 250000)}),
                 correction("500 x 512 = 256,000", make_tokens, {tokens(500, 512, 256000)})},
      .mutant = {"It is 512 times.",
                 check("512 x 512 = 250,000", make_tokens, {tokens(512, 512, 250000)})},
  });

  claims["bam/factor_64"] = Claim({
      .title = "32,000 tokens are 64 times the training context",
      .source = source("Captions of Figures 2 and 6 (\"64x\"); section 3.1 and appendix D.2 "
                       "(\"32,000 tokens\")"),
      .statement =
          "The evaluation up to 32,000 tokens reaches 64 times the training context length of 512.",
      .implicit = {"32,000 is exact and not rounded from 32,768."},
      .correction = "62.5 times; 64 times are 32,768 tokens.",
      .proof = refuted("64 x 512 = 32,768."),
      .checks = {check("64 x 512 = 32,000", make_tokens, {tokens(64, 512, 32000)}),
                 correction("62.5 x 512 = 32,000", make_tokens, {tokens(62.5, 512, 32000)})},
      .mutant = {"It is 60 times.",
                 check("60 x 512 = 32,000", make_tokens, {tokens(60, 512, 32000)})},
  });

  // The lengths up to `longest` x 51,200 tokens, with the threshold in tenths.
  const auto against = [](double threshold, int longest) {
    return with(rows(table_7, 0, longest), {{{"threshold", threshold}}});
  };
  claims["bam/factor_512"] = Claim({
      .title = "The 120M model keeps an accuracy above 0.8 up to 512 times the training context",
      .source = source("Appendix H.5, last paragraph; section 3.1 (\"above 80% for 500x\")"),
      .statement =
          "\"The 120M model generalizes up to 512x the trained context length with accuracy above "
          "0.8\": at every length of Table 7 up to 512 x 512 = 262,144 tokens.",
      .implicit = {printed_numbers_are_rounded},
      .proof = {"Table 7 has 0.8 at 256,000 tokens (500 times) and 0.7 at 307,200 (600 times): 0.8 "
                "with one digit may stand for more than 0.8 or for less, and there is no number at "
                "262,144. Missing: the accuracies with two digits.",
                Verdict::undecided},
      .checks = check("accuracy - 0.8 > 0 at T = 0 to 5 times 51,200 tokens (tenths)",
                      above("120M", {"threshold"}), against(8, 5)),
      .mutant = {"It keeps it up to 307,200 tokens, 600 times.",
                 check("accuracy - 0.8 > 0 up to 6 x 51,200 tokens (tenths)",
                       above("120M", {"threshold"}), against(8, 6))},
  });

  claims["bam/accuracy_300000"] = Claim({
      .title = "The accuracy stays above 80% until 300,000 tokens",
      .source = source("Appendix H.3, sentence around Figures 10 and 11, against Table 7"),
      .statement = "\"Although the Figure 11 shows context lengths up to 32,000, we evaluated BAM "
                   "SSMax until 512,000 context length and it maintained accuracy above 80% until "
                   "300,000 and did not drop to zero\": the model of Figure 11, trained on 1,024 "
                   "tokens, at every length up to 300,000.",
      .implicit =
          {printed_numbers_are_rounded,
           "Figure 11 shows models trained on 1,024 tokens: the section announces \"detailed "
           "results for training context length of 1,024\", Figure 10 has this length in its "
           "caption, and 32,000 tokens are the 32 training lengths of Figure 11's."},
      .proof =
          {"No accuracy of the model trained on 1,024 is printed beyond Figure 11, where it is "
           "perfect up to 32,000 tokens; up to 300,000 it may be anything. Neighbours do not "
           "decide: the 120M model trained on 512 has 0.8 at 256,000 and 0.7 at 307,200 (Table "
           "7), extended with 256 steps of 1,024 it has 1.0 throughout, and the one trained on "
           "2,048 is above 90% to 512k (text). If the model trained on 512 is meant, the "
           "sentence is undecided, too: 0.8 at 256,000 may stand for 0.75 to 0.85, and no "
           "length from there to 300,000 is printed. (That one does not drop to zero: 0.4 at "
           "512,000.) Missing: the accuracies of the model trained on 1,024.",
           Verdict::undecided},
      .checks = {check("trained on 1,024: accuracy - 0.8 > 0 between 32,000 and 300,000 tokens "
                       "(tenths; no number is printed)",
                       above("accuracy", {"threshold"}),
                       {{within("accuracy", 0, 10), {"threshold", 8}}}),
                 check("trained on 512: accuracy - 0.8 > 0 at T = 0 to 5 times 51,200 tokens "
                       "(tenths)",
                       above("120M", {"threshold"}), against(8, 5))},
      .mutant = {"The model trained on 512 keeps it up to 307,200 tokens.",
                 check("trained on 512: accuracy - 0.8 > 0 up to 6 x 51,200 tokens (tenths)",
                       above("120M", {"threshold"}), against(8, 6))},
  });

  const auto prompt = numbers_of({"task", "passkey", "filler", "answer", "length"});
  claims["bam/prompt_length"] = Claim({
      .title = "The passkey prompt has 841 = 825 + 16 tokens",
      .source = source("Section 3.2, second paragraph"),
      .statement = "A prompt of length 841 (825 + 16): 32 tokens of task prompt, 25 of passkey, "
                   "768 of filler text, 16 of prompt answer.",
      .implicit = {definition("The four parts are all of the prompt.", "It says what is counted.")},
      .proof = holds("32 + 25 + 768 = 825 and 825 + 16 = 841."),
      .checks = check("32 + 25 + 768 + 16 = 841 and 825 + 16 = 841",
                      total({"task", "passkey", "filler", "answer"}, "length"),
                      {prompt(32, 25, 768, 16, 841), prompt(825, 0, 0, 16, 841)}),
      .mutant = {"It has 840 tokens.",
                 check("32 + 25 + 768 + 16 = 840",
                       total({"task", "passkey", "filler", "answer"}, "length"),
                       {prompt(32, 25, 768, 16, 840)})},
  });

  // k L / gaps for k = 0..19: the steps less L/gaps, and the last position less L.
  const auto positions = equals_zero<"L", "gaps">([]<class R>(R L, R gaps) {
    const auto position = [&](int k) { return R(k) * L / gaps; };
    std::vector<R> residuals;
    for (int k = 1; k < 20; ++k) residuals.push_back(position(k) - position(k - 1) - L / gaps);
    residuals.push_back(position(19) - L);
    return residuals;
  });
  const auto depths_of = [](double gaps) {
    return grid({{"L", {512, 2048, 32000}}, {"gaps", gaps}});
  };
  claims["bam/passkey_depths"] = Claim({
      .title = "The passkey stands at 20 uniformly spaced positions",
      .source = source("Section 3.1, first paragraph"),
      .statement = "20 sequences have the passkey at the uniformly spaced positions 0 L/19, 1 "
                   "L/19, ..., L, which are positions of tokens.",
      .implicit = {definition("k runs over 0..19.", "It says what the dots stand for."),
                   definition("L = 512, the training context, is one of the lengths.",
                              "Figure 2 begins there.")},
      .condition = "The positions are real numbers, to be rounded to tokens.",
      .proof = holds_under_condition(
          "k L/19, k = 0..19, are 20 numbers from 0 to L in steps of L/19. As positions of tokens "
          "they are whole only where 19 divides L: 512 = 26 x 19 + 18."),
      .checks = {exists("some whole step s: 19 s - 512 = 0, s <= 26 or >= 27",
                        equals_zero<"gaps", "s", "L">(
                            []<class R>(R gaps, R s, R L) { return gaps * s - L; }),
                        {{{"L", 512}, {"gaps", 19}, within("s", 0, 26)},
                         {{"L", 512}, {"gaps", 19}, within("s", 27, 512)}}),
                 condition("steps of L/19, the last position is L", positions, depths_of(19))},
      .mutant = {"The positions 0 L/20, ..., 19 L/20 reach L.",
                 check("steps of L/20, the last position is L", positions, depths_of(20))},
  });

  const auto cells_are_depths_times_lengths = equals_zero<"depths", "lengths", "cells">(
      []<class R>(R depths, R depths_of, R cells) { return depths * depths_of - cells; });
  const auto cells = [](double depths, double lower, double upper) {
    return Sample{{"depths", depths}, {"cells", 55}, within("lengths", lower, upper)};
  };
  claims["bam/heatmap_cells"] = Claim({
      .title = "Figure 3 has 55 cells and shows all possible depths",
      .source = source("Section 3.1, text on Figure 3"),
      .statement = "A heatmap \"considering all possible depths of the passkey\", the 20 of this "
                   "section, has 55 \"evaluated lengths and depths\": 20 depths at each of some "
                   "whole number of lengths.",
      .implicit = {"Every length has every depth, as in a heatmap.",
                   "The figure itself is not in the text at hand."},
      .correction =
          "55 = 5 x 11: five depths, or groups of depths, at the eleven lengths of Table 7.",
      .proof = refuted("20 x 2 = 40 and 20 x 3 = 60; 55 is not a multiple of 20. 55 = 5 x 11."),
      .checks = {exists("some whole number of lengths: 20 lengths - 55 = 0, <= 2 or >= 3",
                        cells_are_depths_times_lengths, {cells(20, 0, 2), cells(20, 3, 55)}),
                 correction("5 x 11 = 55", product({"depths", "lengths"}, "cells"),
                            {{{"depths", 5}, {"lengths", 11}, {"cells", 55}}})},
      .mutant = {"There are 10 depths.",
                 exists("10 lengths - 55 = 0, <= 5 or >= 6", cells_are_depths_times_lengths,
                        {cells(10, 0, 5), cells(10, 6, 55)})},
  });

  // `share` in thousandths.
  const auto similar = at_least_zero<"BAM", "ALiBi">([]<class R>(R bam, R alibi, int share) {
    const R slack = alibi * R(share) / R(1000);
    return std::vector<Placed<R>>{{alibi + slack - bam, "above"}, {bam - alibi + slack, "below"}};
  });
  Samples beside_alibi;
  for (const std::string& variant : {std::string(), std::string(" SSMax")}) {
    for (const auto data : {&Perplexity::wikipedia, &Perplexity::fineweb}) {
      Sample pair;
      for (const Perplexity& row : table_2) {
        if (row.method == "BAM" + variant) pair.with(printed("BAM", row.*data));
        if (row.method == "ALiBi" + variant) pair.with(printed("ALiBi", row.*data));
      }
      beside_alibi.push_back(pair);
    }
  }
  claims["bam/similar_perplexity"] = Claim({
      .title = "BAM has a perplexity similar to ALiBi's",
      .source = source("Section 3.2, last paragraph; abstract (\"comparable perplexity\"); section "
                       "5 (\"low perplexity\")"),
      .statement = "\"BAM has similar perplexity to ALiBi\": in Table 2, on both data sets, with "
                   "and without scalable softmax, within 2.5% of it.",
      .hypotheses = {definition("Table 2: 120M models, at most 512 tokens.",
                                "It says which numbers are read; those of Figures 6 and 7 are "
                                "drawn only.")},
      .implicit = {definition_of_printed_numbers(),
                   definition("2.5% stands for any bound that makes two perplexities similar.",
                              "Without a number there is nothing to check.")},
      .proof = holds("BAM over ALiBi: 18.9281/18.5452 = 1.0206 and 22.2640/22.1771 = 1.0039, with "
                     "scalable softmax 18.6897/18.4967 = 1.0104 and 22.1363/22.2125 = 0.9966."),
      .checks = check("|BAM - ALiBi| <= 0.025 ALiBi", similar(25), beside_alibi),
      .mutant = {"Within 1%.", check("|BAM - ALiBi| <= 0.01 ALiBi", similar(10), beside_alibi)},
  });

  const auto in_tokens = product({"digits", "tokens per digit"}, "passkey");
  const auto digits = numbers_of({"digits", "tokens per digit", "passkey"});
  claims["bam/passkey_tokens"] = Claim({
      .title = "The passkey of five digits has 25 tokens",
      .source = source("Section 3.2, second paragraph, against section 3.1"),
      .statement =
          "\"The following 25 tokens are the passkey itself\" (section 3.2), a \"five digit "
          "number\" of which \"each digit is considered a distinct token\" (section 3.1).",
      .implicit = {"\"The passkey itself\" is the number, as section 3.1 defines it.",
                   "The prompt of section 3.2 is one of the task of section 3.1."},
      .correction = "It has five tokens. The 25 are those of the sentence that states it, with 20 "
                    "tokens of other text.",
      .proof = refuted("Five digits of one token each are five tokens, the \"next five tokens\" "
                       "that the model has to predict. 25 - 5 = 20."),
      .checks = {check("5 digits of one token = 25 tokens", in_tokens, {digits(5, 1, 25)}),
                 correction("5 digits of one token = 5 tokens", in_tokens, {digits(5, 1, 5)}),
                 correction("5 + 20 = 25", total({"digits", "other text"}, "sentence"),
                            {{{"digits", 5}, {"other text", 20}, {"sentence", 25}}})},
      .mutant = {"Each digit has two tokens.",
                 check("5 digits of two tokens = 25 tokens", in_tokens, {digits(5, 2, 25)})},
  });

  const auto at_most_limit =
      at_least_zero<"tokens", "limit">([]<class R>(R tokens, R limit) { return limit - tokens; });
  Samples lengths_of_table_7;
  for (int length : table_7.lengths) lengths_of_table_7.push_back({{"tokens", 51200.0 * length}});
  const auto none_beyond = [=](double limit) {
    return with(lengths_of_table_7, {{{"limit", limit}}});
  };
  claims["bam/longest_context"] = Claim({
      .title = "Nothing longer than 500 times the training context was tested",
      .source = source("Section 3.1, text on Figure 3, against Table 7 and appendix H.3"),
      .statement = "\"Although accuracy is above 80% for 500x the training length, it appears that "
                   "the model will degrade to zero eventually, however we did not have enough vram "
                   "to test for longer context\": no length of Table 7 exceeds 500 x 512 tokens.",
      .implicit = {"\"Longer\" means longer than the 500 times of the same sentence.",
                   "The model is the one with 120M parameters of Table 7."},
      .correction = "Nothing longer than 1000 times, 512,000 tokens; there the accuracy is 0.4.",
      .proof = refuted("500 x 512 = 256,000. Table 7 goes on with 307, 358, 409, 460 and 512 "
                       "thousand tokens, and in appendix H.3 memory is short beyond 512,000 = 1000 "
                       "x 512."),
      .checks = {check("500 x 512 - length >= 0 at each length of Table 7", at_most_limit,
                       none_beyond(256000)),
                 correction("1000 x 512 - length >= 0 at each length of Table 7", at_most_limit,
                            none_beyond(512000))},
      .mutant = {"Nothing longer than 600 times.",
                 check("600 x 512 - length >= 0", at_most_limit, none_beyond(307200))},
  });

  const auto so_many = at_least_zero<"perfect cells", "at least">(
      []<class R>(R perfect, R at_least) { return perfect - at_least; });
  const auto perfect_cells = [](double at_least) {
    return Samples{{within("perfect cells", 0, 41), {"at least", at_least}}};
  };
  claims["bam/perfect_cells"] = Claim({
      .title = "BAM scores perfectly in most lengths and depths",
      .source = source("Section 3.1, text on Figure 3, against Table 7"),
      .statement = "\"BAM is able to score perfectly in most lengths and depths\" of the 55 of "
                   "Figure 3: in 28 cells or more.",
      .implicit = {printed_numbers_are_rounded,
                   "The cells are five depths at each of the eleven lengths of Table 7 "
                   "(bam/heatmap_cells), whose accuracies for 120M are their means.",
                   "Perfect means an accuracy of 1."},
      .proof =
          {"Where a mean of five cells is at most m, at most 5 m of them are perfect: 5, 5, 4, "
           "4, 4, 4, 3, 3, 4, 3 and 2 at the eleven lengths of Table 7, which are 41 in all. "
           "How many are, the means do not say: even 1.0 may stand for 0.95. Missing: the "
           "numbers of Figure 3. (Read as lengths it is false: perfect at every depth are at "
           "most two of the eleven.)",
           Verdict::undecided},
      .checks = check("perfect cells - 28 >= 0, of which there are between 0 and 41", so_many,
                      perfect_cells(28)),
      .mutant = {"In 42 cells or more.",
                 check("perfect cells - 42 >= 0", so_many, perfect_cells(42))},
  });

  const auto times_farther = above_zero<"BAM", "others", "factor">(
      []<class R>(R bam, R others, R factor) { return bam - factor * others; });
  const auto reach = [](double factor) {
    return Samples{{{"factor", factor}, {"BAM", 500}, within("others", 1, 62.5)}};
  };
  claims["bam/factor_25"] = Claim({
      .title = "BAM extrapolates more than 25 times as far as other encodings",
      .source = source("Section 5, first paragraph"),
      .statement =
          "GGD-BAM \"significantly improves context length extrapolation in passkey "
          "retrieval task by more than 25x compared to other PEs\": it reaches 500 training "
          "contexts, and the others less than 20, which are 10,240 tokens.",
      .implicit = {"BAM reaches the 500 training contexts of the abstract; how high the accuracy "
                   "has to be is not said.",
                   "The others reach at least the training context, and at most the longest of "
                   "Figure 2, 32,000 tokens or 62.5 training contexts."},
      .proof =
          {"500 is more than 25 times r for r < 20, and r may lie anywhere from 1 to 62.5: no "
           "text or table says to which length another encoding retrieves a passkey. Missing: "
           "the numbers of Figure 2. (In Table 4, Single 1, RoPE has 1.00 up to 3072 tokens and "
           "BAM 0.88 at 12,288, the longest: a factor of 4.)",
           Verdict::undecided},
      .checks = check("500 - 25 r > 0, r in [1, 62.5] training contexts", times_farther, reach(25)),
      .mutant = {"More than 600 times.", check("500 - 600 r > 0", times_farther, reach(600))},
  });

  const auto in_rows = product({"encodings", "versions"}, "rows");
  const auto rows_of = [](double encodings, double versions, std::size_t count) {
    return Sample{
        {"encodings", encodings}, {"versions", versions}, {"rows", static_cast<double>(count)}};
  };
  claims["bam/baselines_compared"] = Claim({
      .title = "Six encodings are compared, each with and without scalable softmax",
      .source = source("Section 3, first paragraph, against Tables 2, 4 and 8"),
      .statement =
          "\"We compare BAM and its variant coupled with Scaled Softmax against Sinusoidal, "
          "NoPE, RoPE, Local RoPE, and ALiBi, as well as their versions coupled with "
          "Scaled Softmax\": 12 rows in each table of the 120M models.",
      .implicit = {"A comparison of these methods has a row for each."},
      .correction = "Tables 2 and 8 have five encodings in two versions, without RoPE Local; Table "
                    "4 has six in one version each, RoPE Local without scalable softmax.",
      .proof = refuted("6 x 2 = 12. Tables 2 and 8 have 10 rows, 5 x 2, and Table 4 has 6 for each "
                       "task. RoPE Local with scalable softmax is in no table."),
      .checks = {check("6 encodings in 2 versions = the rows of Tables 2, 4 and 8", in_rows,
                       {rows_of(6, 2, table_2.size()), rows_of(6, 2, table_8.size()),
                        rows_of(6, 2, table_4[0].columns.size())}),
                 correction("5 x 2 = the rows of Tables 2 and 8", in_rows,
                            {rows_of(5, 2, table_2.size()), rows_of(5, 2, table_8.size())}),
                 correction("6 x 1 = the rows of Table 4", in_rows,
                            {rows_of(6, 1, table_4[0].columns.size()),
                             rows_of(6, 1, table_4[1].columns.size()),
                             rows_of(6, 1, table_4[2].columns.size())})},
      .mutant = {"Table 2 has four encodings in two versions.",
                 check("4 x 2 = the rows of Table 2", in_rows, {rows_of(4, 2, table_2.size())})},
  });

  // Table 7's accuracies for 120M as they are printed, up to `longest` x 51,200 tokens.
  const auto is_perfect =
      equals_zero<"accuracy">([]<class R>(R accuracy) { return accuracy - R(10.0); });
  const auto up_to_length = [](int longest) {
    Samples accuracies;
    for (int k = 0; k <= longest; ++k) {
      accuracies.push_back({{"T", 51200.0 * table_7.lengths[k]},
                            {"accuracy", double(table_7.columns.front().second[k])}});
    }
    return accuracies;
  };
  claims["bam/perfect_accuracy"] = Claim({
      .title = "BAM SSMax keeps a perfect accuracy at all tested lengths",
      .source = source("Section 3.1, second paragraph, and caption of Figure 2, against Table 7"),
      .statement = "\"BAM SSMax maintained perfect accuracy across all tested lengths\" (section "
                   "3.1), \"for a context beyond 64x the training context length\" (Figure 2): 1.0 "
                   "at every length of Table 7 for the 120M model.",
      .implicit = {definition("Perfect means that the table has 1.0.",
                              "It has one digit after the point: 1.0 stands for 0.95 or more."),
                   definition("The model of Figure 2 is that of Table 7, BAM SSMax with 120M.",
                              "The numbers of the figure are drawn only.")},
      .condition =
          "The tested lengths are those up to 51,200 tokens, 100 training contexts (Figure "
          "2 ends at 32,000).",
      .proof =
          holds_under_condition("1.0 below 1K and at 51,200 tokens = 100 x 512, which is beyond "
                                "64 x 512 = 32,768; 0.9 at 102,400 to 204,800, 0.8 at 256,000 and "
                                "0.4 at 512,000."),
      .checks = {check("accuracy - 10 = 0 at every length (tenths; T = 0 for below 1K)", is_perfect,
                       up_to_length(10)),
                 condition("up to 51,200 tokens: accuracy - 10 = 0", is_perfect, up_to_length(1)),
                 condition("100 x 512 = 51,200", make_tokens, {tokens(100, 512, 51200)})},
      .mutant = {"Up to 102,400 tokens.",
                 check("up to 102,400 tokens: accuracy - 10 = 0", is_perfect, up_to_length(2))},
  });

  const std::vector<std::string> degrading = {"Sinusoidal SSMax", "RoPE SSMax", "NoPE SSMax"};
  const auto from_length = [](int shortest) {
    return with(rows(table_4[0], shortest), {{{"threshold", 5}}});
  };
  claims["bam/others_degrade"] = Claim({
      .title = "Sinusoidal, RoPE and NoPE degrade beyond their training horizon",
      .source =
          source("Section 3.1, third paragraph; section 5 (\"other methods collapse\"); against "
                 "Table 4"),
      .statement = "\"All other evaluated PE methods such as Sinusoidal, RoPE, and NoPE rapidly "
                   "degrade to near-random accuracy beyond their training horizon\": below 0.05 on "
                   "Single 1 of Table 4, all of whose lengths are beyond 512 tokens.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Single 1 stands for the passkey task: one number in filler text.",
                              "The accuracies on the passkey task itself are drawn only."),
                   definition("Near-random is an accuracy below 0.05.",
                              "Five random digits are right once in 100,000 times.")},
      .condition = "From 6K tokens on, 12 times the training context.",
      .proof = holds_under_condition(
          "RoPE SSMax has 1.00 at 1K to 3K, six times the training context, and 0.64 at 4K; from "
          "6K on all three have 0. Sinusoidal and NoPE degrade at once, 0.00 and 0.04 at 1K. ALiBi "
          "SSMax has 0.96 at 1K, 0.26 at 1.5K and 0.02 at 12K."),
      .checks = {check("Single 1: 0.05 is above Sinusoidal, RoPE and NoPE (hundredths)",
                       above("threshold", degrading), from_length(0)),
                 condition("from 6K on: 0.05 is above Sinusoidal, RoPE and NoPE",
                           above("threshold", degrading), from_length(6144))},
      .mutant = {"From 4K on.", check("from 4K on: 0.05 is above them",
                                      above("threshold", degrading), from_length(4096))},
  });

  const auto fewer_than_t5 = above_zero<"heads", "layers", "distances", "tables", "per head">(
      []<class R>(R heads, R layers, R distances, R tables, R per_head) {
        return tables * distances * heads - per_head * heads * layers;
      });
  const auto of_t5 = numbers_of({"distances", "per head", "heads", "layers", "tables"});
  claims["bam/t5_parameters"] = Claim({
      .title = "A parametric prior has fewer parameters than T5's bias",
      .source = source("Section 4, \"T5 Relative Bias\", last sentence"),
      .statement = "T5 \"learns a bias b(i - j) for each relative distance\"; \"a parametric "
                   "distribution with fewer trainable parameters can achieve superior context "
                   "length extrapolation\": the three parameters of each head in each layer are "
                   "fewer than the biases for the 512 distances of the training context.",
      .hypotheses =
          {definition("The models of Table 1, trained on 512 tokens.", "It says which models."),
           needed({"A bias for each distance.", "distances", at_least(512)},
                  "In 32 buckets for each head, as T5 has them, they are 512 for 16 "
                  "heads, and BAM's are 576.",
                  check("32 x 16 - 3 x 16 x 12 > 0", fewer_than_t5, {of_t5(32, 3, 16, 12, 1)}))},
      .implicit = {definition("Every head has its own biases.", "As T5 has them."),
                   not_needed(
                       {"All layers share them, as T5's do.", "tables", exactly(1)},
                       "A table for each layer has more.",
                       check("tables x 512 x heads - 3 x heads x layers > 0, tables = layers",
                             fewer_than_t5,
                             {of_t5(512, 3, 16, 12, 12), of_t5(512, 3, 24, 14, 14),
                              of_t5(512, 3, 32, 15, 15)})),
                   definition("Only the numbers of parameters are examined.",
                              "T5's bias is in no experiment (appendix I).")},
      .proof =
          holds("3 x layers is 36, 42 or 45, below 512. Against 32 buckets only two parameters "
                "per head are fewer: 384 < 512, 672 < 768 and 960 < 1024. Of the extrapolation "
                "nothing is shown: \"we did not evaluate the T5 relative position bias\"."),
      .checks =
          check("512 x heads - 3 x heads x layers > 0", fewer_than_t5,
                {of_t5(512, 3, 16, 12, 1), of_t5(512, 3, 24, 14, 1), of_t5(512, 3, 32, 15, 1)}),
      .mutant = {"Fewer than 16 biases for each head.",
                 check("16 x heads - 3 x heads x layers > 0", fewer_than_t5,
                       {of_t5(16, 3, 16, 12, 1)})},
  });
}

}  // namespace plumbline::proofs_checks::bam
