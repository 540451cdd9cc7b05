// SPDX-License-Identifier: Apache-2.0
// What the first version of CABLE says and the second does not, and what the one page with
// equations 2 to 7 draws. The first version's tables have the numbers of tables.hpp: its Table 2 is
// table_3 there, its Table 3 is table_4, its Table 4 is table_5.
#include <algorithm>

#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/kerple.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// A place on the one page.
Source page_with_equations(const std::string& place) {
  Source of_page = source(place);
  of_page.version = "one page with equations 2 to 7";
  return of_page;
}

/// Sentences on perplexities, which are those of Tables 1, 3 and 4.
void first_claims_of_perplexities(Claims& claims) {
  const std::vector<Table> all_six = {table_1_fineweb, table_1_wikitext, table_4_small,
                                      table_4_tiny,    table_5_medium,   table_5_small};
  claims["cable/first_version_fire_inferior"] = Claim({
      .title = "FIRE does worse than ALiBi and Kerple",
      .source = first_version("Section 2, Fire; Tables 1, 3 and 4"),
      .statement =
          "FIRE can give distant pairs more attention; \"as our experiments demonstrate, this "
          "behavior was not beneficial in our settings, leading to inferior performance compared "
          "to ALiBi and Kerple\": in each of the 36 rows of Tables 1, 3 and 4 its perplexity is "
          "above both.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Inferior: a higher perplexity. Whether the behavior is the cause is "
                              "not examined.",
                              "It says what is compared.")},
      .proof = holds("Read off the six halves of the three tables. The smallest difference is 0.16 "
                     "(ALiBi 22.74 and FIRE 22.90, WikiText-103, T = 1024)."),
      .checks = check("FIRE is above ALiBi and Kerple in Tables 1, 3, 4 (hundredths)",
                      above("Fire", {"ALiBi", "Kerple"}), rows(all_six)),
      .mutant = {"It is above T5-bias as well.",
                 check("FIRE is above T5-bias in Tables 1, 3, 4 (hundredths)",
                       above("Fire", {"T5-bias"}), rows(all_six))},
  });

  const auto is_lowest = below("CABLE", baselines);
  claims["cable/first_version_longer_sequences"] = Claim({
      .title = "On sequences longer than in training CABLE consistently outperforms the others",
      .source = first_version("Section 6; Tables 1, 3 and 4"),
      .statement =
          "\"Results on the edu-fineweb10B and wikitext-103 datasets revealed that CABLE "
          "effectively extrapolates on sequences longer than those seen during training, "
          "consistently outperforming other approaches\": its perplexity is the lowest in each of "
          "the 24 rows of Tables 1, 3 and 4 with T > 1024.",
      .implicit = {printed_numbers_are_rounded,
                   "The other approaches are the seven baselines; Learnable has no number beyond "
                   "1024."},
      .correction = "In 23 of the 24 rows; for GPT-2 Tiny on FineWeb-Edu-10B at T = 8192 ALiBi is "
                    "lower.",
      .proof = refuted("Table 3, lower, T = 8192: CABLE 26.97, ALiBi 26.80 (cable/"
                       "table_4_every_length). In the 23 other rows CABLE is the lowest; the "
                       "smallest difference is 0.24 (Kerple, WikiText-103, Tiny, T = 2048)."),
      .checks = {check("CABLE is below every baseline in Table 3, Tiny, T > 1024 (hundredths)",
                       is_lowest, rows(table_4_tiny, 1025)),
                 correction("CABLE is below every baseline in the other halves, T > 1024",
                            is_lowest,
                            rows({table_1_fineweb, table_1_wikitext, table_4_small, table_5_medium,
                                  table_5_small},
                                 1025)),
                 correction("CABLE is below every baseline in Table 3, Tiny, T = 2048, 4096",
                            is_lowest, rows(table_4_tiny, 2048, 4096)),
                 correction("CABLE is below every baseline in Table 3, Tiny, T = 15360", is_lowest,
                            rows(table_4_tiny, 15360)),
                 correction("ALiBi is below CABLE in Table 3, Tiny, T = 8192",
                            below("ALiBi", {"CABLE"}), rows(table_4_tiny, 8192, 8192))},
      .mutant = {"CABLE_NW is below ALiBi in each of these rows.",
                 check("CABLE_NW is below ALiBi, T > 1024 (hundredths)",
                       below("CABLE_NW", {"ALiBi"}), rows(all_six, 1025))},
  });

  // A model by its number of layers (6, 12 or 24), on WikiText-103 (1) or FineWeb-Edu-10B (0).
  const auto halves = [](double wikitext, const std::vector<double>& layers) {
    return grid({{"WikiText-103", wikitext}, {"layers", layers}});
  };
  const auto as_in_settings =
      at_least_zero<"WikiText-103", "layers">([]<class R>(R wikitext, R layers) {
        return (R(1.0) - wikitext) * (layers - R(12.0)) + wikitext * (R(6.0) - layers);
      });
  claims["cable/first_version_models_and_data"] = Claim({
      .title = "Small and Medium are used on FineWeb-Edu-10B, Tiny on WikiText-103",
      .source = first_version("Section 4.2, against Tables 3 and 4"),
      .statement =
          "\"For the FineWeb-Edu-10B dataset, we use its small version [...] and its medium "
          "version [...]. We also incorporate a tiny version [...] for the WikiText-103 dataset, "
          "as it is a relatively small dataset\": a model on FineWeb-Edu-10B has at least the 12 "
          "layers of Small, one on WikiText-103 at most the 6 of Tiny.",
      .implicit = {"The sentences say of each data set which models are used with it.",
                   "The tables have the results of all that were used."},
      .correction = "All three models are used on both data sets, one half of Tables 1, 3 and 4 "
                    "for each pair: 3 x 2 = 6.",
      .proof = refuted(
          "Table 3 has Tiny on FineWeb-Edu-10B, Table 4 Medium and Small on WikiText-103. The same "
          "section gives the batch size of Tiny on FineWeb-Edu-10B, and the steps of Small and "
          "Medium on WikiText-103. Table 1 (Medium, and Tiny) and Table 3, upper, agree."),
      .checks = {check("layers - 12 >= 0 on FineWeb-Edu-10B, Table 3", as_in_settings,
                       halves(0, {12, 6})),
                 check("6 - layers >= 0 on WikiText-103, Table 4", as_in_settings,
                       halves(1, {24, 12})),
                 correction("3 x 2 = 6", product({"models", "data sets"}, "halves of tables"),
                            {{{"models", 3}, {"data sets", 2}, {"halves of tables", 6}}}),
                 correction("layers - 12 >= 0 on FineWeb-Edu-10B, Table 1, Table 3 (upper)",
                            as_in_settings, halves(0, {24, 12})),
                 correction("6 - layers >= 0 on WikiText-103, Table 1", as_in_settings,
                            halves(1, {6}))},
      .mutant = {"Small alone is used, on both data sets.",
                 check("1 x 2 - 6 = 0, halves of tables",
                       product({"models", "data sets"}, "halves of tables"),
                       {{{"models", 1}, {"data sets", 2}, {"halves of tables", 6}}})},
  });

  const auto at_1024 =
      equals_zero<"trained at">([]<class R>(R trained) { return trained - R(1024.0); });
  const auto trained = [](double length, const std::vector<double>& numbers,
                          const std::string& what) {
    return grid({{what, numbers}, {"trained at", length}});
  };
  claims["cable/first_version_training_length"] = Claim({
      .title = "The models for next-token prediction are trained with a sequence length of 1024",
      .source = first_version("Section 4.2, against captions and section 5.1"),
      .statement = "\"For all next-token prediction tasks\": \"we train the models with sequence "
                   "length of 1024\". The captions of Tables 1, 3, 4 and of Figures 1, 4 say so.",
      .implicit = {definition("Table 2 is about retrieval with BERT, not about the next token.",
                              "It says which models are meant.")},
      .proof = holds("Each of the five captions has \"a sequence length of 1024\". (The second "
                     "version has models trained at 512 beside them, cable/training_length.)"),
      .checks = {check("the training length - 1024 = 0, Tables 1, 3, 4", at_1024,
                       trained(1024, {1, 3, 4}, "table")),
                 check("the training length - 1024 = 0, Figures 1, 4", at_1024,
                       trained(1024, {1, 4}, "figure"))},
      .mutant = {"So are those of Table 2.", check("the training length - 1024 = 0, Table 2",
                                                   at_1024, trained(512, {2}, "table"))},
  });
}

/// Sentences on the retrieval of Table 2.
void first_claims_of_retrieval(Claims& claims) {
  const auto fifths_of_rope =
      above_zero([]<class R>(const Inputs<R>& in, const std::vector<std::string>& methods) {
        std::vector<Placed<R>> residuals;
        for (const std::string& method : methods) {
          residuals.push_back({R(5.0) * in.number(method) - R(4.0) * in.number("RoPE"), method});
        }
        return residuals;
      });
  const Samples at_512 = rows(table_3, 0, 512);
  claims["cable/first_version_competitive_methods"] = Claim({
      .title = "The methods of the retrieval table are competitive",
      .source = first_version("Section 5.2; Table 2"),
      .statement = "\"Table 2 presents the results for several competitive positional encoding "
                   "methods\": at 512 tokens, where all five have a number, each has more than "
                   "four fifths of the best nDCG@10.",
      .implicit = {printed_numbers_are_rounded,
                   "\"Competitive\" is read as more than four fifths of the best, RoPE's 15.16."},
      .correction = "Four of the five are: CABLE, ALiBi, RoPE and Sinusoidal.",
      .proof = refuted("Learnable has 10.42, 69 percent of 15.16; the same section says that it "
                       "performs \"not competitively even at 512 tokens\". The others have 14.96, "
                       "14.02 and 13.57: 99, 92 and 90 percent."),
      .checks = {check("5 Learnable - 4 RoPE > 0, T = 512 (hundredths)",
                       fifths_of_rope(std::vector<std::string>{"Learnable"}), at_512),
                 correction(
                     "5 method - 4 RoPE > 0, T = 512: CABLE, ALiBi, Sinusoidal",
                     fifths_of_rope(std::vector<std::string>{"CABLE", "ALiBi", "Sinusoidal"}),
                     at_512)},
      .mutant = {"At 2048 tokens Sinusoidal is competitive as well.",
                 check("5 Sinusoidal - 4 RoPE > 0, T = 2048 (hundredths)",
                       fifths_of_rope(std::vector<std::string>{"Sinusoidal"}),
                       rows(table_3, 2048, 2048))},
  });

  const auto ahead_by = above_zero([]<class R>(const Inputs<R>& in, double points) {
    std::vector<Placed<R>> residuals;
    for (const std::string& other : baselines) {
      if (in.has(other)) {
        residuals.push_back({in.number("CABLE") - in.number(other) - R(points), other});
      }
    }
    return residuals;
  });
  claims["cable/first_version_retrieval_gains"] = Claim({
      .title = "On retrieval CABLE has notable gains beyond 1024 tokens",
      .source = first_version("Section 5.2; Table 2"),
      .statement = "\"As sequence length increases, CABLE consistently outperforms all baselines, "
                   "showing notable gains beyond 1024 tokens\": it is ahead of each from 1024 "
                   "tokens on, and beyond 1024 by more than 1.5 points of nDCG@10.",
      .implicit = {definition_of_printed_numbers(),
                   definition("\"Notable\" is read as 1.5 points.",
                              "Without a number there is nothing to check.")},
      .proof = holds("Ahead of the best baseline by 0.74 at 1024 (RoPE), then of ALiBi by 2.47, "
                     "2.65, 1.73 and 1.66. At 512 RoPE is ahead by 0.20. The gain is largest at "
                     "4096 tokens and falls after that."),
      .checks = {check("CABLE - baseline > 0, T >= 1024 (hundredths)", ahead_by(0),
                       rows(table_3, 1024)),
                 check("CABLE - baseline - 150 > 0, T > 1024 (hundredths)", ahead_by(150),
                       rows(table_3, 1025))},
      .mutant = {"It is ahead by more than 2 points beyond 1024.",
                 check("CABLE - baseline - 200 > 0, T > 1024 (hundredths)", ahead_by(200),
                       rows(table_3, 1025))},
  });

  const auto longer_than =
      at_least_zero<"T">([]<class R>(R T, double times) { return T - R(times * 512) - R(1.0); });
  claims["cable/first_version_retrieval_lengths"] = Claim({
      .title = "BERT is trained at 512 and evaluated on longer inputs",
      .source = first_version("Caption of Table 2"),
      .statement = "Table 2 is about models \"trained at sequence length 512 and evaluated on "
                   "longer inputs\": each of its six lengths is above 512.",
      .implicit = {"The training length is that of the pre-training, 512; no other one is given."},
      .correction = "Five of the six are; the first is the training length itself.",
      .proof = refuted("The first row is 512, the training length itself. The others are 2, 4, 8, "
                       "16 and 32 times as long."),
      .checks = {check("T - 512 - 1 >= 0 in Table 2", longer_than(1), rows(table_3)),
                 correction("T - 512 - 1 >= 0 in Table 2, from the second row on", longer_than(1),
                            rows(table_3, 1024))},
      .mutant = {"From the second row on they are more than twice as long.",
                 check("T - 2 x 512 - 1 >= 0 in Table 2, from the second row on", longer_than(2),
                       rows(table_3, 1024))},
  });

  // The columns of Table 2 but the paper's own method: additive (1) or not (0).
  const std::vector<std::string> additive = {"ALiBi", "T5-bias", "Kerple", "Fire"};
  Sample existing_columns;
  std::vector<std::string> names_of_columns;
  for (const auto& [method, numbers] : table_3.columns) {
    if (method == "CABLE") continue;
    existing_columns.with({method, 1.0 * std::ranges::count(additive, method)});
    names_of_columns.push_back(method);
  }
  existing_columns.with({"reported", 1});
  claims["cable/first_version_only_additive"] = Claim({
      .title = "ALiBi is the only additive encoding that is reported for BERT",
      .source = first_version("Footnote 2; Table 2"),
      .statement = "\"We report only ALiBi among additive RPEs for BERT, as it outperformed other "
                   "variants in our experiments\": one column of Table 2 is of an additive "
                   "encoding, ALiBi's.",
      .implicit = {definition("Additive: a bias is added to the scores (section 2). The columns "
                              "are CABLE, ALiBi, RoPE, Learnable and Sinusoidal.",
                              "It says what is counted."),
                   definition("\"Additive RPEs\" are the existing ones, with which the paper "
                              "compares its own.",
                              "It says which ones are meant: CABLE is \"an additive RPE\" as well "
                              "(abstract), and the table is about it.")},
      .proof = holds("Of the four columns beside CABLE only ALiBi's is of an additive encoding. "
                     "How the other variants did is not printed."),
      .checks = check("additive columns of Table 2 beside CABLE - 1 = 0",
                      total(names_of_columns, "reported"), {existing_columns}),
      .mutant = {"ALiBi outperforms all additive encodings of Table 2.",
                 check("ALiBi is above CABLE in Table 2 (hundredths)", above("ALiBi", {"CABLE"}),
                       rows(table_3))},
  });
}

/// What depends on the input, and what inference costs.
void first_claims_of_method(Claims& claims) {
  // The same pair in two sequences: their pre-activations are z and y.
  const auto fox_is_static =
      equals_zero<"z", "y">([]<class R>(const Vector<R>& z, const Vector<R>& y) {
        std::vector<Placed<R>> residuals;
        R difference(0.0);
        const int last = last_of(z);
        for (int j = last - 1; j >= 0; --j) {
          difference += log(logistic(z[j + 1])) - log(logistic(y[j + 1]));
          residuals.push_back({difference, "j = " + std::to_string(j)});
        }
        return residuals;
      });
  const auto others_are_static = equals_zero<"z", "y", "c", "r">(
      []<class R>(const Vector<R>& z, const Vector<R>& y, R c, const Vector<R>& r) {
        // A bias of the positions alone: of a sequence it takes nothing but the place of its last
        // token, which is the query.
        const Vector<R> one = Vector<R>::Constant(1, R(1.0)), zero = zeros<R>(1);
        const reference::Alibi<R> alibi{c};
        const reference::KerpleLog<R> kerple(c, c);
        const reference::Fire<R> fire({one, zero, one, R(0.0), c, R(1.0)}, R(4.0));
        const auto t5 = [&](int i, int j) {
          return r[std::min(i - j, static_cast<int>(r.size()) - 1)];
        };
        std::vector<Placed<R>> residuals;
        const int i = last_of(z), k = last_of(y);
        for (int j = 0; j <= i; ++j) {
          const std::string place = ", j = " + std::to_string(j);
          residuals.push_back({alibi(i, j) - alibi(k, j), "ALiBi" + place});
          residuals.push_back({kerple(i, j) - kerple(k, j), "Kerple" + place});
          residuals.push_back({fire(i, j) - fire(k, j), "FIRE" + place});
          residuals.push_back({t5(i, j) - t5(k, j), "T5-bias" + place});
        }
        return residuals;
      });
  const auto cable_is_static =
      equals_zero<"z", "y">([]<class R>(const Vector<R>& z, const Vector<R>& y) {
        Vector<R> f = z, h = y;
        for (int k = 0; k < z.size(); ++k) {
          f[k] = relu(z[k]);
          h[k] = relu(y[k]);
        }
        const int last = last_of(z);
        return at_each("j", 0, last, [&](int j) {
          return published_bias<R>(f, R(1.0))(last, j) - published_bias<R>(h, R(1.0))(last, j);
        });
      });
  const Samples two_sequences = {{{"z", {0, 1}}, {"y", {0, 2}}},
                                 {{"z", {1, -2, 0.5, 3}}, {"y", {1, 2, -0.5, -3}}}};
  claims["cable/first_version_static_biases"] = Claim({
      .title = "The existing additive encodings are static",
      .source = first_version("Section 2, last paragraph; abstract; section 1, contributions"),
      .statement =
          "\"Examining existing additive RPEs, we observe that their bias functions are static, "
          "dependent only on token positions and entirely independent of the input context\": the "
          "bias of a pair is the same in two sequences of the same length.",
      .implicit = {definition("The existing encodings are those of the section that add a bias to "
                              "the scores: ALiBi, T5-bias, Kerple, Fire, and FoX.",
                              "It says which ones are meant.")},
      .condition = "FoX is not counted, which the section calls concurrent work.",
      .proof = holds_under_condition(
          "The formulas of ALiBi, T5-bias, Kerple and Fire have i and j and learned numbers in "
          "them and nothing of the tokens. FoX adds sum_{k=j+1..i} ln logistic(z_k), which depends "
          "on the tokens: it is CABLE_NW with other increments (cable/fox)."),
      .checks = {check("FoX: bias in one sequence - bias in the other = 0", fox_is_static,
                       two_sequences),
                 condition("ALiBi, Kerple, FIRE, T5-bias: bias in one - bias in the other = 0",
                           others_are_static,
                           with(two_sequences, {{{"c", 0.125}, {"r", {0, -1, -1.5}}},
                                                {{"c", 1}, {"r", {0, -0.5, -3}}}}))},
      .mutant = {"CABLE_NW is static as well.",
                 check("CABLE_NW: bias in one sequence - bias in the other = 0", cable_is_static,
                       two_sequences)},
  });

  // Multiplications for one new token with T keys: those of a layer, less so many times CABLE's.
  const auto within_share = above_zero<"T", "C", "H", "recomputed">(
      []<class R>(R T, R C, R H, R recomputed, double times) {
        const R layer = R(12.0) * C * C + R(2.0) * C * T;
        const R cable = R(2.0) * C * H + H * T + recomputed * (T - R(1.0)) * C * H;
        return layer - R(times) * cable;
      });
  const auto new_token = [](const std::vector<double>& lengths, double recomputed) {
    return with({{{"C", 768}, {"H", 12}}, {{"C", 1024}, {"H", 16}}, {{"C", 512}, {"H", 8}}},
                grid({{"T", lengths}, {"recomputed", recomputed}}));
  };
  claims["cable/first_version_inference_increase"] = Claim({
      .title = "In inference CABLE adds a negligible number of operations",
      .source = first_version("Section 6; section 5.3; Limitation (\"negligible in inference\")"),
      .statement =
          "\"The increase in inference time was only negligible\". Examined in operations: for a "
          "new "
          "token with T keys CABLE's multiplications are less than a hundredth of the layer's, at "
          "every T.",
      .hypotheses = {needed(
          {"\"We cache the cumulative sums\" (section 5.3): those of earlier tokens are kept.",
           "recomputed", exactly(0)},
          "Computing the increments of all earlier tokens anew takes C H (T - 1) further ones.",
          check("layer - 100 (CABLE and all increments) > 0, T = 1024", within_share(100),
                new_token({1024}, 1)))},
      .implicit = {definition("Multiplications of one layer for one token: 12 C^2 + 2 C T, and 2 C "
                              "H + H T for CABLE (two maps and the weight). Time on an accelerator "
                              "is another matter.",
                              "It says what is counted."),
                   definition("The heads have dimension 64: C = 64 H, as in GPT-2 "
                              "(cable/ten_heads).",
                              "It says which models are meant."),
                   definition("\"Negligible\" is read as less than a hundredth.",
                              "Without a number there is nothing to check.")},
      .proof = holds("(12 C^2 + 2 C T) - 100 (2 C H + H T) = 36,352 H^2 + 28 H T > 0 for C = 64 H. "
                     "Without the sums that are kept it is C H (T - 1) more: for Small at T = 1024 "
                     "9.4 million beside the layer's 8.7 million."),
      .checks = check("layer - 100 CABLE > 0", within_share(100),
                      new_token({1, 2, 512, 1024, 15360, 1e6}, 0)),
      .mutant = {"They are less than half a hundredth at 15,360 keys.",
                 check("layer - 200 CABLE > 0, T = 15360", within_share(200),
                       new_token({15360}, 0))},
  });
}

/// The two matrices of Figure 2 on the one page.
void claims_of_page(Claims& claims) {
  // The drawn numbers row by row, on and below the diagonal, times the slope; less the formula.
  const auto is_drawn =
      equals_zero<"drawn", "m">([]<class R>(const Vector<R>& drawn, R m, double increment) {
        const Vector<R> increments = Vector<R>::Constant(4, R(increment));
        const auto cable = printed_bias<R>(increments, m);
        const reference::Alibi<R> alibi{m};
        std::vector<Placed<R>> residuals;
        for (int i = 0, k = 0; i < 4; ++i) {
          for (int j = 0; j <= i; ++j, ++k) {
            const std::string place = "i = " + std::to_string(i) + ", j = " + std::to_string(j);
            residuals.push_back({m * drawn[k] - alibi(i, j), "ALiBi, " + place});
            residuals.push_back({m * drawn[k] - cable(i, j), "equations 3 to 7, " + place});
          }
        }
        return residuals;
      });
  const Samples drawn_and_slopes = with({{{"drawn", {0, -1, 0, -2, -1, 0, -3, -2, -1, 0}}}},
                                        {{{"m", 1}}, {{"m", 0.5}}, {{"m", 0x1p-8}}});
  claims["cable/page_alibi_matrix"] = Claim({
      .title = "Figure 2 draws ALiBi's biases as 0, -1, -2, -3",
      .source = page_with_equations("Figure 2, left, and its caption; equations 3, 4, 5 and 7"),
      .statement =
          "The rows 0; -1, 0; -2, -1, 0; -3, -2, -1, 0 are ALiBi's \"constant linear biases\" up "
          "to the \"head-specific slopes\": m times them is -m (i - j), and also g_i (S_i - S_j) "
          "of equations 3 to 7 with the increment -1 and the weight m.",
      .hypotheses = {needed_as_the_mutant_shows(
          "The increment of every token is -1, put in by hand.",
          "With a positive one, as a ReLU has, equation 7 has the opposite sign.")},
      .implicit = {definition(
          "Rows are queries, columns keys, i = 0..3, and the circled dot stands "
          "for the product with the slope m.",
          "It says how the drawing is read.")},
      .proof =
          holds("Row i has -(i - j) at column j <= i. With f = -1 the sums are S_i = -(i + 1), "
                "and m (S_i - S_j) = -m (i - j)."),
      .checks = check("m drawn - formula = 0, ALiBi and equations 3 to 7 with f = -1", is_drawn(-1),
                      drawn_and_slopes),
      .mutant = {"Equations 3 to 7 give it with the increment 1.",
                 check("m drawn - formula = 0, ALiBi and equations 3 to 7 with f = 1", is_drawn(1),
                       drawn_and_slopes)},
  });

  // The numbers drawn at four keys, of ALiBi's matrix and of CABLE's, less the formulas there: at
  // each query's own key, or at the first key.
  const auto drawn_at = equals_zero<"drawn for ALiBi", "drawn for CABLE", "f", "g">(
      []<class R>(const Vector<R>& for_alibi, const Vector<R>& for_cable, const Vector<R>& f,
                  const R& g, bool own_key) {
        const auto cable = printed_bias<R>(f, g);
        const reference::Alibi<R> alibi{g};
        std::vector<Placed<R>> residuals;
        for (int i = 0; i < 4; ++i) {
          const int j = own_key ? i : 0;
          const std::string place = "i = " + std::to_string(i) + ", j = " + std::to_string(j);
          residuals.push_back({g * for_alibi[i] - alibi(i, j), "ALiBi, " + place});
          residuals.push_back({for_cable[i] - cable(i, j), "CABLE, " + place});
        }
        return residuals;
      });
  const Samples drawn_zeros =
      with({{{"drawn for ALiBi", {0, 0, 0, 0}}, {"drawn for CABLE", {0, 0, 0, 0}}}},
           with({{{"f", {1, 1, 1, 1}}}, {{"f", {0.5, 0, 2, 1.25}}}, {{"f", {0, 3, 0.25, 7}}}},
                {{{"g", 1}}, {{"g", 0.25}}, {{"g", 3}}}));
  claims["cable/page_zero_diagonal"] = Claim({
      .title = "Figure 2 draws both matrices with 0 on the diagonal",
      .source = page_with_equations("Figure 2; equations 5 and 7"),
      .statement = "ALiBi's and CABLE's matrix have 0 at each of the four own keys: by equation 7 "
                   "B_ii = g_i (S_i - S_i) = 0, whatever the increments and the weight are.",
      .hypotheses = {definition("B_ij = g_i (S_i - S_j), equation 7; without g_i, equation 5.",
                                "It is the bias.")},
      .implicit = {definition("The last number of a row is that of the query's own key.",
                              "It says how the drawing is read.")},
      .proof = holds("S_i - S_i = 0. A query neither gains nor loses at its own key; the other "
                     "numbers of CABLE's matrix are drawn and not printed."),
      .checks = check("drawn - formula = 0 at the four own keys", drawn_at(true), drawn_zeros),
      .mutant = {"They have 0 in the whole first column.",
                 check("drawn - formula = 0 at the first key", drawn_at(false), drawn_zeros)},
  });
}

}  // namespace

void claims_of_first_version(Claims& claims) {
  first_claims_of_perplexities(claims);
  first_claims_of_retrieval(claims);
  first_claims_of_method(claims);
  claims_of_page(claims);
}

}  // namespace plumbline::proofs_checks::cable
