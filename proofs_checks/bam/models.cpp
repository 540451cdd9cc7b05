// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_models(Claims& claims) {
  // In millions: what the parts of a column of Table 1 add up to, and its name, with roundings.
  const auto parts_give_the_name =
      at_least_zero<"parts at least", "parts at most", "name at least", "name at most">(
          []<class R>(R parts_least, R parts_most, R name_least, R name_most) {
            return std::vector<Placed<R>>{{name_most - parts_least, "name - parts"},
                                          {parts_most - name_least, "parts - name"}};
          });
  const auto columns = [](std::vector<double> of_transformer) {
    const std::vector<double> of_name = {0.5, 0.5, 50};
    Samples columns;
    for (int k = 0; k < 3; ++k) {
      const Model& model = table_1[k];
      const double parts = model.embedding + model.transformer, rounding = 0.5 + of_transformer[k];
      columns.push_back({{"parts at least", parts - rounding},
                         {"parts at most", parts + rounding},
                         {"name at least", model.total - of_name[k]},
                         {"name at most", model.total + of_name[k]}});
    }
    return columns;
  };
  claims["bam/table_1_parts"] = Claim({
      .title = "Embedding and transformer make up the models of Table 1",
      .source = source("Table 1, the first two rows against the names of the columns"),
      .statement = "~25M + ~95M, ~50M + ~380M and ~67M + ~1B parameters make up the models of "
                   "120M, 432M and 1.1B.",
      .implicit = {definition_of_printed_numbers(),
                   definition("BAM's own parameters, at most 1440, do not count.",
                              "They are less than any rounding here.")},
      .condition = "~380M is rounded to tens of millions.",
      .proof = holds_under_condition(
          "25 + 95 = 120 and 67 + 1000 = 1067, which is 1.1 billion. 50 + 380 = 430, and with both "
          "roundings at most 431, below 431.5. (The model has 431.0M: bam/model_432m.)"),
      .checks = {check("the roundings of parts and name meet (millions)", parts_give_the_name,
                       columns({0.5, 0.5, 500})),
                 condition("the same, ~380M +- 5M", parts_give_the_name, columns({0.5, 5, 500}))},
      .mutant = {"~380M stands for 380.6M at most.",
                 check("the roundings meet, ~380M +- 0.6M", parts_give_the_name,
                       columns({0.5, 0.6, 500}))},
  });

  // As in bam/transformer_layers: so many tables of embeddings, feed-forward maps and width.
  const auto as_printed = between("lower end", "parameters", "upper end");
  const auto largest = [](int tables, double vocabulary, double maps, double feed_forward) {
    const Model& model = table_1.back();
    const double C = model.width;
    const double layer = (4 + maps * feed_forward) * C * C + 2 * C;
    return Sample{{"vocabulary", vocabulary},
                  {"feed-forward", feed_forward},
                  {"parameters", model.layers * layer + C + tables * vocabulary * C},
                  {"lower end", 1.05e9},
                  {"upper end", 1.15e9}};
  };
  claims["bam/model_1100m"] = Claim({
      .title = "The largest model has 1.1 billion parameters",
      .source = source("Appendix C, paragraph before Table 1; Table 1; appendix I"),
      .statement = "\"We trained LMs up to 1.1 billion learnable parameters\": the model of 15 "
                   "layers, width 2048 and feed-forward 4 x 2048 has 1.05 to 1.15 billion.",
      .hypotheses = {needed_as_the_mutant_shows(
                         {"Its feed-forward width is 4 x 2048 (Table 1).", "feed-forward",
                          exactly(4)},
                         "With 2 x 2048, as the others have it, there are 0.76 billion."),
                     needed("Layers of Llama 3: four maps of attention, three of feed-forward "
                            "(SwiGLU), no bias terms.",
                            "With two feed-forward maps there are 0.89 billion.",
                            check("two feed-forward maps: 1.05 to 1.15 billion", as_printed,
                                  {largest(2, 32768, 2, 4)})),
                     needed({"The tokenizer of Mistral-7B v0.3 (section 3, appendix C), which has "
                             "32,768 tokens.",
                             "vocabulary", exactly(32768)},
                            "That of GPT-2 gives 1.21 billion.",
                            check("50304 tokens: 1.05 to 1.15 billion", as_printed,
                                  {largest(2, 50304, 3, 4)}))},
      .implicit = {not_needed("The output head has its own table.",
                              "With one table less there "
                              "are 1.07 billion.",
                              check("one table: 1.05 to 1.15 billion", as_printed,
                                    {largest(1, 32768, 3, 4)})),
                   definition_of_printed_numbers()},
      .proof = holds(
          "15 layers of 16 C^2 + 2 C and a last norm: 1,006,696,448, the \"~1B\" of Table 1. Two "
          "tables of 32,768 C add 134,217,728: 1,140,914,176. (In the other two columns the "
          "transformer is counted with the head, bam/transformer_layers; here that is 1.07B.)"),
      .checks = check("1.05e9 <= parameters <= 1.15e9", as_printed, {largest(2, 32768, 3, 4)}),
      .mutant = {"A feed-forward width of 2 x 2048.",
                 check("2 x 2048: 1.05e9 <= parameters <= 1.15e9", as_printed,
                       {largest(2, 32768, 3, 2)})},
  });

  const auto shared_out = product({"heads", "width of a head"}, "hidden size");
  const auto head = numbers_of({"heads", "width of a head", "hidden size"});
  claims["bam/head_widths"] = Claim({
      .title = "The heads of Table 1 share the hidden size evenly",
      .source = source("Table 1, rows \"Attention heads\" and \"Hidden size\""),
      .statement = "16, 24 and 32 heads share the hidden sizes 768, 1536 and 2048: each head has a "
                   "whole and even width, as RoPE's pairs need it.",
      .implicit = {definition("A head's width is the hidden size over the number of heads, as in "
                              "Llama 3.",
                              "It says what is shared out.")},
      .proof = holds("16 x 48 = 768, 24 x 64 = 1536, 32 x 64 = 2048."),
      .checks = check("heads x width = hidden size for 48, 64, 64", shared_out,
                      {head(table_1[0].heads, 48, table_1[0].width),
                       head(table_1[1].heads, 64, table_1[1].width),
                       head(table_1[2].heads, 64, table_1[2].width)}),
      .mutant = {"The smallest model has heads of 64.",
                 check("16 x 64 = 768", shared_out, {head(16, 64, 768)})},
  });

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

  const auto percentage_as_printed = between("lower end", "added", "upper end");
  const auto of_120m = [](double added) {
    return Sample{{"added", added}, {"lower end", 378}, {"upper end", 390}};
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
                                  between("lower end", "added to the 1.1B model", "upper end"),
                                  {{{"added to the 1.1B model", 960},
                                    {"lower end", 3465},
                                    {"upper end", 3575}}}))},
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("384/120,000,000 = 3.2e-6 = 0.00032%."),
      .checks =
          check("0.000315% <= 384 / 120M <= 0.000325%", percentage_as_printed, {of_120m(384)}),
      .mutant = {"It is the percentage of three parameters per head, 576.",
                 check("0.000315% <= 576 / 120M <= 0.000325%", percentage_as_printed,
                       {of_120m(576)})},
  });

  const auto table = [](double width, double printed) {
    return Sample{{"parameters", 32768 * width},
                  {"lower end", printed - 0.5e6},
                  {"upper end", printed + 0.5e6}};
  };
  claims["bam/embedding_parameters"] = Claim({
      .title = "The embeddings have about 25M, 50M and 67M parameters",
      .source = source("Table 1, \"Parameters embedding\"; section 3"),
      .statement = "Embeddings of ~25M, ~50M and ~67M for widths 768, 1536 and 2048.",
      .hypotheses = {needed_as_the_mutant_shows(
          "The tokenizer of Mistral-7B v0.3 (section 3, appendix C), which has 32,768 tokens.",
          "That of GPT-2 gives other numbers.")},
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("32,768 x 768 = 25.2M, x 1536 = 50.3M, x 2048 = 67.1M."),
      .checks = check("24.5M to 25.5M, 49.5M to 50.5M, 66.5M to 67.5M", as_printed,
                      {table(768, 25e6), table(1536, 50e6), table(2048, 67e6)}),
      .mutant = {"A vocabulary of 50,304.", check("50304 x 768: 24.5M to 25.5M", as_printed,
                                                  {{{"parameters", 50304.0 * 768},
                                                    {"lower end", 24.5e6},
                                                    {"upper end", 25.5e6}}})},
  });

  // Without bias terms. In each layer attention, 4 C^2, feed-forward maps, `maps` times C^2, and
  // two RMSNorms; then the last RMSNorm and, of the embeddings and the untied head, so many tables.
  const auto model = [](int tables, double C, double layers, double maps, double lower,
                        double upper) {
    const double body = layers * ((4 + maps) * C * C + 2 * C) + C;
    return Sample{{"C", C},
                  {"layers", layers},
                  {"parameters", body + tables * 32768 * C},
                  {"lower end", lower},
                  {"upper end", upper}};
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
}

}  // namespace plumbline::proofs_checks::bam
