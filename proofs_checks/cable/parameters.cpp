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

/// The number of parameters lies in [lower, upper].
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

void claims_of_parameters(Claims& claims) {
  const auto costs = above_zero<"T", "C", "H">([]<class R>(R T, R C, R H) {
    const R places = H * T * T;
    const R cable = R(2.0) * T * C * H + places;
    return std::vector<Placed<R>>{{R(96.0) * places - cable, "DAPE"},
                                  {R(288.0) * places - cable, "DAPEv2"}};
  });
  // The three models at each length.
  const auto sizes = [](const std::vector<double>& lengths) {
    std::vector<Sample> samples;
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

  const std::vector<Sample> medium_models = {medium_with(0, 0), medium_with(1024, 0),
                                             medium_with(0, 1)};
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
}

}  // namespace plumbline::proofs_checks::cable
