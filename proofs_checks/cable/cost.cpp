// SPDX-License-Identifier: Apache-2.0
// What CABLE costs in operations, memory and time.
#include <algorithm>

#include "proofs_checks/cable/source.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_cost(Claims& claims) {
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
  claims["cable/negligible_operations"] = Claim({
      .title = "CABLE adds a negligible number of operations",
      .source = source("Section 1 (\"negligible time and memory burden\"); section 3, last "
                       "paragraph; section 6; Limitation (\"computational overhead, though "
                       "minimal\")"),
      .statement = "CABLE \"adds negligible time [...] burden to the conventional transformer\". "
                   "Examined in operations: less than a hundredth of a layer's multiplications, at "
                   "every length.",
      .implicit = {layer_counted, heads_of_64,
                   definition("\"Negligible\" is read as less than a hundredth.",
                              "Without a number there is nothing to check.")},
      .proof = holds("(12 C^2 T + 2 C T^2) - 100 (2 C H T + H T^2) = (12 C^2 - 200 C H) T + (2 C - "
                     "100 H) T^2, and with C = 64 H both brackets are positive: 36,352 H^2 and 28 "
                     "H. The share rises from 1/384 to 1/128 as T grows."),
      .checks = check("12 C^2 - 200 C H > 0, 2 C - 100 H > 0", shares(100), models({1})),
      .mutant = {"It is less than half a hundredth.",
                 check("12 C^2 - 400 C H > 0, 2 C - 200 H > 0", shares(200), models({1}))},
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
      .checks = {check("(share at T - share at 15360) x both layers > 0", share_grows(1),
                       beyond_100k),
                 check("layer - 128 CABLE > 0", share_is_minimal, beyond_100k)},
      .mutant = {"It is more than twice that at 15,360 tokens.",
                 check("(share at T - 2 share at 15360) x both layers > 0", share_grows(2),
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
      .title = "With the sums kept CABLE takes no more operations in inference than ALiBi",
      .source = source("Section 5.2, last two sentences; section 6"),
      .statement =
          "\"For inference, we cache the cumulative sums [...] This optimization helps CABLE "
          "achieving superior inference time to other methods, such as ALiBi\". Examined in "
          "operations: with the sums kept, the bias of a new token takes no more of them than "
          "ALiBi's.",
      .hypotheses = {"S_0, ..., S_(T-2) are kept; the new token is the last of T."},
      .implicit = {"Operations are counted, not time, which the paper draws in Figure 3 and prints "
                   "nowhere.",
                   "ALiBi multiplies its slope by each of T distances, for each head. All else is "
                   "the same in both methods."},
      .correction =
          "CABLE takes more than twice as many. Keeping the sums saves CABLE its own T - 1 "
          "earlier sums; it takes nothing from what it does beside ALiBi.",
      .proof =
          refuted("CABLE: two maps C -> H, 2 C H; one addition for each head, H; for each key a "
                  "difference S_i - S_j and a product with g_i, 2 H T. ALiBi: H T products. "
                  "For every T the first is larger, by 2 C H + H + H T. Which of the two takes "
                  "longer on an accelerator is not settled by that."),
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

  const auto costs = above_zero<"T", "C", "H">([]<class R>(R T, R C, R H) {
    const R places = H * T * T;
    const R cable = R(2.0) * T * C * H + places;
    return std::vector<Placed<R>>{{R(96.0) * places - cable, "DAPE"},
                                  {R(288.0) * places - cable, "DAPEv2"}};
  });
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
                       costs, models({512, 64, 8, 1, 8192})),
                 condition("the same for T >= C/32", costs, models({32, 64, 512, 1024, 8192}))},
      .mutant = {"The same for T >= C/128.",
                 check("DAPE - CABLE > 0 for T >= C/128", costs, models({8}))},
  });

  // What the first sentence makes slower than CABLE, what the second makes faster, and the figure.
  const std::vector<std::string> slower = {"RoPE", "Kerple", "Fire", "T5-bias", "ALiBi"};
  const std::vector<std::string> faster = {"Sinusoidal", "Learnable"};
  const std::vector<std::string> in_figure_3 = {"Sinusoidal", "RoPE",  "Kerple", "Fire",
                                                "T5-bias",    "ALiBi", "CABLE",  "Learnable"};
  // How many of the methods of the figure each sentence has on its side.
  const auto counted = [=](const std::vector<std::string>& slower_ones) {
    Samples samples;
    for (const std::string& method : in_figure_3) {
      samples.push_back({{"slower than CABLE", 1.0 * std::ranges::count(slower_ones, method)},
                         {"faster than CABLE", 1.0 * std::ranges::count(faster, method)},
                         {"CABLE itself", method == "CABLE" ? 1.0 : 0.0},
                         {"sides of the method", 1}});
    }
    return samples;
  };
  const auto one_side =
      total({"slower than CABLE", "faster than CABLE", "CABLE itself"}, "sides of the method");
  claims["cable/third_fastest"] = Claim({
      .title = "The two sentences on CABLE's place agree",
      .source = source("Section 5.2; caption of Figure 3; section 4.3"),
      .statement = "In inference CABLE is \"faster [...] than other RPEs\" and \"the third fastest "
                   "overall, trailing only Sinusoidal and Learnable\": the methods that the first "
                   "sentence has slower and those that the second has faster are all of Figure 3 "
                   "but CABLE, none of them in both. Which are faster is not examined.",
      .implicit = {definition("The other relative encodings of Figure 3 are RoPE, Kerple, Fire, "
                              "T5-bias and ALiBi, as section 4.3 calls them.",
                              "It says which methods are counted.")},
      .proof = holds(
          "Five slower, two faster and CABLE are the eight methods of the figure, so CABLE is "
          "the third by the first sentence as well. The seven others are the baselines of "
          "section 4.3. The times are drawn, not printed: neither sentence can be settled by "
          "a number."),
      .checks = check("slower + faster + CABLE itself - 1 = 0 for each method of Figure 3",
                      one_side, counted(slower)),
      .mutant = {"They agree if ALiBi is not one of the relative encodings.",
                 check("slower + faster + CABLE itself - 1 = 0 without ALiBi", one_side,
                       counted({"RoPE", "Kerple", "Fire", "T5-bias"}))},
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
                       with(models({1024, 1, 8192}), {{within("ratio", 1, 0x1p16)}})),
                 correction("(2 T C H + H T^2)/1024 - H T >= 0", sums_are_at_most(0x1p-10),
                            models({1024, 1, 8192}))},
      .mutant = {"Also if an addition takes no longer than another operation.",
                 check("H T - (2 T C H + H T^2) >= 0", sums_take_most,
                       with(models({1024, 1, 8192}), {{{"ratio", 1}}}))},
  });
}

}  // namespace plumbline::proofs_checks::cable
