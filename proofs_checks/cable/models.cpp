// SPDX-License-Identifier: Apache-2.0
// The models: their sizes, and what CABLE adds to them.
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

void claims_of_models(Claims& claims) {
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
                            between("lower bound", "parameters", "upper bound"),
                            {{{"lower bound", 123.5e6},
                              {"parameters", 123689472 + 18432},
                              {"upper bound", 124.5e6}}})),
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
                             between("lower bound", "parameters", "upper bound"),
                             {{{"lower bound", 44e6},
                               {"parameters", 44670976 + 6144},
                               {"upper bound", 45e6 - 1}}})),
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
      .checks = check("1000 (0.003 parameters - 2 L (C H + H)) > 0, and with 2 L C", share(3),
                      {small_with(0, 1), medium_with(0, 1), tiny_with(0, 1)}),
      .mutant = {"Less than 0.2 percent.", check("1000 (0.002 parameters - 2 L (C H + H)) > 0",
                                                 share(2), {medium_with(0, 1)})},
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

  const auto all_in_decoders = equals_zero<"layers with CABLE", "decoder layers">(
      []<class R>(R with_cable, R decoders) { return with_cable - decoders; });
  const auto layers = numbers_of({"layers with CABLE", "decoder layers"});
  claims["cable/every_decoder_layer"] = Claim({
      .title = "CABLE's biases are those of decoder layers",
      .source = source("Section 6, first sentence, against section 5.5"),
      .statement =
          "CABLE learns its biases \"by injecting them into the attention matrix at every "
          "decoder layer\": the layers with CABLE are the decoder layers, as many as these.",
      .implicit = {definition("BERT is bert-base-uncased (section 5.5), an encoder of 12 layers.",
                              "It says which layers are counted.")},
      .condition = "The model is GPT-2.",
      .proof = holds_under_condition(
          "Small has 12 layers, Medium 24 and Tiny 6, all of them decoder layers. In BERT, which "
          "section 5.5 gives CABLE in place of its own positions, 12 layers have CABLE and none is "
          "a decoder layer; section 6 itself goes on to speak of encoder-only models."),
      .checks = {check("12 - 0 = 0 for BERT", all_in_decoders, {layers(12, 0)}),
                 condition("12 - 12 = 0, 24 - 24 = 0, 6 - 6 = 0 for GPT-2", all_in_decoders,
                           {layers(12, 12), layers(24, 24), layers(6, 6)})},
      .mutant = {"GPT-2 Medium has CABLE in the layers of Small only.",
                 check("12 - 24 = 0", all_in_decoders, {layers(12, 24)})},
  });

  const auto not_older = at_least_zero<"year of the model", "year of the encoding">(
      []<class R>(R model, R encoding) { return model - encoding; });
  const auto years = numbers_of({"year of the model", "year of the encoding"});
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
}

}  // namespace plumbline::proofs_checks::cable
