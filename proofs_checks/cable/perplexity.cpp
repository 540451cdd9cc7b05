// SPDX-License-Identifier: Apache-2.0
// Which method has the lower perplexity in a row of Tables 1, 4 and 5.
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_perplexity(Claims& claims) {
  const std::vector<std::string> all_but_cable = {"CABLE_NW", "ALiBi", "Fire",      "T5-bias",
                                                  "Kerple",   "RoPE",  "Learnable", "Sinusoidal"};
  const std::vector<std::string> all_but_rope = {"CABLE",   "CABLE_NW", "ALiBi",     "Fire",
                                                 "T5-bias", "Kerple",   "Learnable", "Sinusoidal"};
  const auto cable_is_best = below("CABLE", all_but_cable);
  claims["cable/bold_is_best"] = Claim({
      .title = "The number in bold is the best of its row",
      .source = source("Tables 1 to 5"),
      .statement = "In each of the 47 rows of Tables 1 to 5 the number in bold is the best: the "
                   "lowest perplexity, or in Table 3 the highest nDCG@10.",
      .implicit = {"Bold type stands for the best of a row, as no caption says.",
                   printed_numbers_are_rounded},
      .correction = "In 46 of the 47 rows; for GPT-2 Tiny at T = 8192 (Table 4) the bold number is "
                    "the second lowest.",
      .proof =
          refuted("Table 4, Tiny, T = 8192: 26.97 (CABLE) is bold, ALiBi has 26.80 "
                  "(cable/table_4_every_length). Read off the others: Table 1 has RoPE in bold "
                  "at 512 and 1024 on WikiText-103, else CABLE; Table 2 DAPEv2+CABLE; Table 3 "
                  "RoPE at 512, else CABLE; Tables 4 and 5 CABLE."),
      .checks =
          {check("CABLE is below all others in Table 4, Tiny (hundredths)", cable_is_best,
                 rows(table_4_tiny)),
           correction("CABLE is below all others, Table 1 (upper), 4 (upper) and 5", cable_is_best,
                      rows({table_1_fineweb, table_4_small, table_5_medium, table_5_small})),
           correction("RoPE is below all others, Table 1 (lower), T <= 1024",
                      below("RoPE", all_but_rope), rows(table_1_wikitext, 0, 1024)),
           correction("CABLE is below all others, Table 1 (lower), T > 1024", cable_is_best,
                      rows(table_1_wikitext, 1025)),
           correction("DAPEv2+CABLE is below all others, Table 2",
                      below("DAPEv2+CABLE", {"CABLE", "Kerple", "DAPEv2+Kerple"}), rows(table_2)),
           correction("RoPE is above all others, Table 3, T = 512",
                      above("RoPE", {"CABLE", "ALiBi", "Learnable", "Sinusoidal"}),
                      rows(table_3, 0, 512)),
           correction("CABLE is above all others, Table 3, T > 512",
                      above("CABLE", {"ALiBi", "RoPE", "Sinusoidal"}), rows(table_3, 513)),
           correction("CABLE is below all others, Table 4 (lower), T <= 4096", cable_is_best,
                      rows(table_4_tiny, 0, 4096)),
           correction("CABLE is below all others, Table 4 (lower), T = 15360", cable_is_best,
                      rows(table_4_tiny, 15360)),
           correction(
               "CABLE is below all but ALiBi, Table 4 (lower), T = 8192",
               below("CABLE", {"CABLE_NW", "Fire", "T5-bias", "Kerple", "RoPE", "Sinusoidal"}),
               rows(table_4_tiny, 8192, 8192))},
      .mutant = {"CABLE_NW is the best of each row of Table 5.",
                 check("CABLE_NW is below CABLE in Table 5", below("CABLE_NW", {"CABLE"}),
                       rows({table_5_medium, table_5_small}))},
  });

  const std::vector<std::string> all_but_learnable = {"CABLE",   "CABLE_NW", "ALiBi", "Fire",
                                                      "T5-bias", "Kerple",   "RoPE",  "Sinusoidal"};
  claims["cable/learnable_competitive"] = Claim({
      .title = "Learnable is competitive at 512 and 1024 tokens",
      .source = source("Section 5.1, first paragraph; Table 1"),
      .statement = "\"The learnable method performs competitively at 512 and 1024 tokens\": its "
                   "perplexity is not far above the lowest of the row.",
      .implicit = {definition_of_printed_numbers(),
                   needed_as_the_mutant_shows(
                       "Competitive means less than 10 percent above the lowest of the row.",
                       "It is more than 5 percent above; the paper names no bound.")},
      .proof = holds_under_condition(
          "5.8, 5.8, 5.4 and 5.7 percent above the lowest. In rank it is last and last "
          "but one of nine on FineWeb-Edu-10B, third from the end on WikiText-103."),
      .checks = check("10 (1.1 other - Learnable) > 0, T <= 1024 (hundredths)",
                      scaled_below("Learnable", 10, all_but_learnable, 11),
                      rows(fineweb_and_wikitext, 0, 1024)),
      .mutant = {"It is less than a twentieth above the best.",
                 check("20 (1.05 other - Learnable) > 0, T <= 1024 (hundredths)",
                       scaled_below("Learnable", 20, all_but_learnable, 21),
                       rows(fineweb_and_wikitext, 0, 1024))},
  });

  // ALiBi and CABLE at each T from `shortest` on and at the length before.
  const auto gaps = [](const std::vector<Table>& tables, int shortest) {
    Samples samples;
    for (const Table& table : tables) {
      const Samples alibi = pairs(table, "ALiBi", shortest, 15360);
      const Samples cable = pairs(table, "CABLE", shortest, 15360);
      for (std::size_t k = 0; k < alibi.size(); ++k) {
        samples.push_back({*alibi[k].find("T"), renamed(alibi[k], "here", "ALiBi"),
                           renamed(cable[k], "here", "CABLE"),
                           renamed(alibi[k], "before", "ALiBi before"),
                           renamed(cable[k], "before", "CABLE before")});
      }
    }
    return samples;
  };
  const auto gap_grows = above_zero<"ALiBi", "CABLE", "ALiBi before", "CABLE before">(
      []<class R>(R alibi, R cable, R alibi_before, R cable_before) {
        return (alibi - cable) - (alibi_before - cable_before);
      });
  const std::vector<Table> small = {table_4_small, table_5_small};
  claims["cable/gap_to_alibi"] = Claim({
      .title = "CABLE extrapolates better than ALiBi, especially on very long sequences",
      .source = source("Section 5.1, last paragraph; Tables 1, 4 and 5"),
      .statement =
          "CABLE's biases lead \"to superior length extrapolation, especially on very long "
          "sequences\", compared with ALiBi: CABLE's perplexity is below "
          "ALiBi's, and the difference grows from step to step beyond T = 1024.",
      .implicit = {definition_of_printed_numbers(),
                   definition("It is measured by the difference of the perplexities.",
                              "Another measure has other differences.")},
      .condition = "The model is GPT-2 Small.",
      .proof = holds_under_condition(
          "Small: 0.36 at 1024, then 0.65, 1.99, 3.11, 3.61 (Table 4), and 0.51, then 0.67, 0.92, "
          "1.09, 1.14 (Table 5). In Table 1 it is so too: Medium 0.27, then 0.59, 1.33, 1.82, "
          "2.05, Tiny 0.42, then 0.57, 0.79, 0.93, 0.97. Tiny in Table 4: 1.38 at 4096, -0.17 "
          "at 8192, where ALiBi is lower (cable/table_4_every_length), and 1.72 at 15360. Medium "
          "in Table 5: it falls in the last step, from 1.31 to 1.24."),
      .checks = {check("CABLE is below ALiBi in Table 4 (lower) (hundredths)",
                       below("CABLE", {"ALiBi"}), rows(table_4_tiny)),
                 check("ALiBi - CABLE - (ALiBi before - CABLE before) > 0, Table 4 (lower), T > "
                       "1024 (hundredths)",
                       gap_grows, gaps({table_4_tiny}, 1025)),
                 check("the same in Table 5 (upper)", gap_grows, gaps({table_5_medium}, 1025)),
                 check("the same in Table 1", gap_grows, gaps(fineweb_and_wikitext, 1025)),
                 condition("CABLE is below ALiBi in GPT-2 Small (hundredths)",
                           below("CABLE", {"ALiBi"}), rows(small)),
                 condition("ALiBi - CABLE - (ALiBi before - CABLE before) > 0, GPT-2 Small, T > "
                           "1024 (hundredths)",
                           gap_grows, gaps(small, 1025))},
      .mutant = {"In Table 1 it grows from 512 to 1024 as well.",
                 check("ALiBi - CABLE - (ALiBi before - CABLE before) > 0, Table 1, T > 512",
                       gap_grows, gaps(fineweb_and_wikitext, 513))},
  });

  const auto percent_below = scaled_below("CABLE", 100, baselines, 99);
  claims["cable/table_4_significantly"] = Claim({
      .title = "In Table 4 CABLE's perplexity is significantly lower than the baselines'",
      .source = source("Appendix A.2, third sentence; Table 4"),
      .statement =
          "\"Both GPT-2 Small and GPT-2 Tiny models trained with CABLE achieve "
          "significantly lower perplexity than those using ALiBi, RoPE, T5-bias, and other "
          "baselines\": it is lower by one percent or more.",
      .implicit = {definition_of_printed_numbers(),
                   definition("\"Significantly\" is read as one percent, since no deviation of the "
                              "numbers is printed.",
                              "Without a number there is nothing to check.")},
      .condition = "1024 < T <= 4096: the sequence is two or four times as long as in training.",
      .proof = holds_under_condition(
          "Tiny: CABLE 29.37 and RoPE 29.44 at T = 512 (0.2 percent), 28.73 and 28.81 at 1024 (0.3 "
          "percent), and at 8192 ALiBi is lower; at 2048 and 4096 the least is 1.3 percent (Kerple "
          "28.32 and CABLE 27.96). Small: the least is 1.1 percent, at 512 and 1024 (RoPE 21.43 "
          "and CABLE 21.19, Kerple 20.86 and CABLE 20.63), and 1.8 percent at 2048."),
      .checks = {check("100 (0.99 baseline - CABLE) > 0 in Table 4, Tiny (hundredths)",
                       percent_below, rows(table_4_tiny)),
                 condition("100 (0.99 baseline - CABLE) > 0 in Table 4, Small and Tiny, 1024 < T "
                           "<= 4096 (hundredths)",
                           percent_below, rows({table_4_small, table_4_tiny}, 1025, 4096))},
      .mutant = {"At T = 2048 it is lower by two percent.",
                 check("100 (0.98 baseline - CABLE) > 0 in Table 4, T = 2048 (hundredths)",
                       scaled_below("CABLE", 100, baselines, 98),
                       rows({table_4_small, table_4_tiny}, 2048, 2048))},
  });

  claims["cable/rope_at_base"] = Claim({
      .title = "CABLE occasionally underperforms RoPE at base sequence lengths",
      .source = source("Limitation; Tables 1, 4 and 5"),
      .statement = "\"CABLE occasionally underperforms RoPE at base sequence lengths (e.g., 1024 "
                   "tokens in our experiments)\": at T <= 1024 its perplexity is the higher one in "
                   "Table 1 on WikiText-103, and the lower one in the other five blocks.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Base lengths are those up to the training length, 1024.",
                              "It says which rows are meant.")},
      .proof =
          holds("Two rows of twelve: 23.70 and 23.66 at T = 512, 22.32 and 22.26 at 1024 (GPT-2 "
                "Tiny on WikiText-103)."),
      .checks = {check("CABLE is above RoPE in Table 1 (lower), T <= 1024 (hundredths)",
                       above("CABLE", {"RoPE"}), rows(table_1_wikitext, 0, 1024)),
                 check("CABLE is below RoPE in the other blocks, T <= 1024 (hundredths)",
                       below("CABLE", {"RoPE"}),
                       rows({table_1_fineweb, table_4_small, table_4_tiny, table_5_medium,
                             table_5_small},
                            0, 1024))},
      .mutant = {"It does so on FineWeb-Edu-10B as well.",
                 check("CABLE is above RoPE in Table 1 (upper), T <= 1024",
                       above("CABLE", {"RoPE"}), rows(table_1_fineweb, 0, 1024))},
  });

  const auto cable_is_lowest = below("CABLE", baselines);
  const auto medium_beyond_1024 = rows({table_1_fineweb, table_5_medium}, 1025);
  claims["cable/abstract_medium"] = Claim({
      .title = "GPT-2 Medium with CABLE has a lower perplexity beyond its training length",
      .source = source("Abstract; Table 1 (upper) and Table 5 (upper)"),
      .statement =
          "Evaluated on sequences longer than it was trained with (1024), GPT-2 Medium with CABLE "
          "has a lower perplexity than with every other positional encoding of the tables.",
      .hypotheses = {definition("Trained with T = 1024; FineWeb-Edu-10B and WikiText-103.",
                                "It says which tables are read.")},
      .implicit = {definition_of_printed_numbers(),
                   definition("Learnable has no number beyond 1024 and is not compared.",
                              "The tables have none.")},
      .proof = holds("Read off the tables: in each of the eight rows the printed perplexity of "
                     "CABLE is below that of ALiBi, Fire, T5-bias, Kerple, RoPE and Sinusoidal, "
                     "and the intervals of half a hundredth do not meet."),
      .checks = check("CABLE is below every baseline, Medium, T > 1024 (hundredths)",
                      cable_is_lowest, medium_beyond_1024),
      .mutant = {"Kerple has a lower perplexity than every other method of the tables.",
                 check("Kerple is below ALiBi and CABLE, Medium, T > 1024",
                       below("Kerple", {"ALiBi", "CABLE"}), medium_beyond_1024)},
  });

  const std::vector<Table> table_1 = {table_1_wikitext, table_1_fineweb};
  claims["cable/consistently_outperforms"] = Claim({
      .title = "CABLE consistently outperforms existing positional encodings",
      .source = source("Section 1, contributions; section 6; Table 1"),
      .statement = "CABLE consistently outperforms the existing positional encoding methods: "
                   "its perplexity is the lowest in Table 1.",
      .implicit = {definition_of_printed_numbers()},
      .condition = "The sequence is longer than in training, T > 1024.",
      .proof = holds_under_condition(
          "WikiText-103 at T = 512: RoPE 23.66, CABLE 23.70; at T = 1024: RoPE 22.26, CABLE 22.32. "
          "In the ten other rows CABLE is below all seven baselines. The section on limitations "
          "says the same (\"occasionally underperforms RoPE at base sequence lengths\")."),
      .checks = {check("CABLE is below every baseline in Table 1 (hundredths)", cable_is_lowest,
                       rows(table_1)),
                 condition("CABLE is below every baseline in Table 1, T > 1024", cable_is_lowest,
                           rows(table_1, 1025))},
      .mutant = {"ALiBi is below the other baselines for T > 1024.",
                 check("ALiBi is below Kerple in Table 1, T > 1024", below("ALiBi", {"Kerple"}),
                       rows(table_1, 1025))},
  });

  claims["cable/table_4_every_length"] = Claim({
      .title = "CABLE outperforms the other methods across all sequence lengths of Table 4",
      .source = source("Appendix A.2; Table 4"),
      .statement = "As shown in Table 4, CABLE consistently outperforms the other positional "
                   "encoding methods across all sequence lengths, particularly beyond 1024 tokens, "
                   "for GPT-2 Small and GPT-2 Tiny.",
      .implicit = {printed_numbers_are_rounded},
      .correction = "In eleven of the twelve rows; for GPT-2 Tiny at T = 8192 the printed "
                    "perplexity of ALiBi is the lowest.",
      .proof = refuted(
          "GPT-2 Tiny at T = 8192: ALiBi 26.80, CABLE 26.97, which is printed in bold as the best. "
          "Every other row agrees with the sentence. ALiBi's neighbours are 28.28 (T = 4096) and "
          "28.52 (T = 15360), so 26.80 may be a slip of the pen; as printed it contradicts the "
          "text and the bold type. Both versions of the paper print it."),
      .checks = {check("CABLE is below every baseline in Table 4 (hundredths)", cable_is_lowest,
                       rows({table_4_small, table_4_tiny})),
                 correction("GPT-2 Small: CABLE is below every baseline", cable_is_lowest,
                            rows(table_4_small)),
                 correction("GPT-2 Tiny, T <= 4096: CABLE is below every baseline", cable_is_lowest,
                            rows(table_4_tiny, 0, 4096)),
                 correction("GPT-2 Tiny, T = 15360: CABLE is below every baseline", cable_is_lowest,
                            rows(table_4_tiny, 15360)),
                 correction("GPT-2 Tiny, T = 8192: CABLE is above ALiBi", above("CABLE", {"ALiBi"}),
                            rows(table_4_tiny, 8192, 8192))},
      .mutant = {"Kerple is below ALiBi at every length of Table 4.",
                 check("Kerple is below ALiBi in Table 4", below("Kerple", {"ALiBi"}),
                       rows({table_4_small, table_4_tiny}))},
  });

  // Each number is the other's, up to the rounding of both: |difference| <= 1.
  const auto same_number = at_least_zero<"Table 4", "Table 5">(
      []<class R>(R in_4, R in_5) { return R(1.0) - absolute(R(in_4 - in_5)); });
  // GPT-2 Small in both tables at two lengths, in hundredths.
  const auto in_both_tables = [=](const std::vector<std::string>& methods) {
    const auto table_4 = rows(table_4_small), table_5 = rows(table_5_small);
    Samples samples;
    for (const std::string& method : methods) {
      for (std::size_t row : {0, 1}) {
        samples.push_back({*table_4[row].find("T"), renamed(table_4[row], method, "Table 4"),
                           renamed(table_5[row], method, "Table 5")});
      }
    }
    return samples;
  };
  claims["cable/table_5_data"] = Claim({
      .title = "Tables 4 and 5 are about Small and Tiny models on FineWeb-Edu-10B",
      .source = source("Appendix A.2, first sentence, against the caption of Table 5"),
      .statement =
          "\"Tables 4 and 5 present the extrapolation results for GPT-2 Small and GPT-2 Tiny "
          "models evaluated on the FineWeb-Edu-10B dataset.\" Checked through a consequence: GPT-2 "
          "Small with the same encoding has one perplexity for each length.",
      .hypotheses = {"Both tables have rows for GPT-2 Small."},
      .implicit = {printed_numbers_are_rounded},
      .correction = "Table 4 is about Small and Tiny on FineWeb-Edu-10B, Table 5 about Medium and "
                    "Small on WikiText-103, as their captions say: the numbers for Small differ.",
      .proof = refuted(
          "CABLE in GPT-2 Small at T = 512 has 21.19 in Table 4 and 20.93 in Table 5. The caption "
          "of Table 5 names the other data set, and its upper half the other model."),
      .checks = {check("1 - |CABLE in Table 4 - CABLE in Table 5| >= 0 (hundredths), GPT-2 Small, "
                       "T = 512, 1024",
                       same_number, in_both_tables({"CABLE"})),
                 correction("|Table 4 - Table 5| - 1 > 0 for CABLE and ALiBi",
                            above_zero<"Table 4", "Table 5">([]<class R>(R in_4, R in_5) {
                              return absolute(R(in_4 - in_5)) - R(1.0);
                            }),
                            in_both_tables({"CABLE", "ALiBi"}))},
      .mutant = {"ALiBi's numbers are the same in both.",
                 check("1 - |ALiBi in Table 4 - ALiBi in Table 5| >= 0", same_number,
                       in_both_tables({"ALiBi"}))},
  });

  const auto nw_is_below_alibi = below("CABLE_NW", {"ALiBi"});
  claims["cable/nw_outperforms_alibi"] = Claim({
      .title = "Even CABLE_NW outperforms ALiBi",
      .source = source("Section 5.1, last paragraph; Tables 1 and 4"),
      .statement = "Even CABLE_NW, without weights, outperforms ALiBi: its perplexity is lower.",
      .implicit = {definition_of_printed_numbers()},
      .condition = "The data are FineWeb-Edu-10B and the model is GPT-2 Small or Medium.",
      .proof = holds_under_condition(
          "Tiny on WikiText-103: 24.32 against 24.09 at T = 512, 23.01 against 22.74 at 1024, "
          "22.19 against 22.05 at 2048; from 4096 on CABLE_NW is lower. Tiny on FineWeb-Edu-10B: "
          "27.92 against 26.80 at 8192, and up to 2048 ALiBi is lower as well. Medium and Small on "
          "FineWeb-Edu-10B: CABLE_NW is lower in every row. (Table 5: "
          "cable/nw_outperforms_alibi_in_appendix.)"),
      .checks = {check("CABLE_NW is below ALiBi in Table 1 (lower) (hundredths)", nw_is_below_alibi,
                       rows(table_1_wikitext)),
                 check("CABLE_NW is below ALiBi in Table 4 (lower), T >= 4096 (hundredths)",
                       nw_is_below_alibi, rows(table_4_tiny, 4096)),
                 condition("CABLE_NW is below ALiBi in Tables 1 and 4 (upper)", nw_is_below_alibi,
                           rows({table_1_fineweb, table_4_small}))},
      .mutant = {"In Table 1 CABLE_NW is below ALiBi from T = 2048 on.",
                 check("CABLE_NW is below ALiBi in Table 1, T >= 2048", nw_is_below_alibi,
                       rows(table_1, 2048))},
  });

  claims["cable/nw_outperforms_alibi_in_appendix"] = Claim({
      .title = "CABLE_NW outperforms ALiBi in the tables of the appendix as well",
      .source = source("Section 5.1, last paragraph, against Tables 4 and 5"),
      .statement = "\"Notably, even CABLE_NW outperforms ALiBi\": its perplexity is lower in "
                   "the tables of the appendix too.",
      .implicit = {definition_of_printed_numbers()},
      .condition = "The model is GPT-2 Small.",
      .proof = holds_under_condition(
          "Tiny (Table 4, lower): ALiBi is lower at T = 512, 1024 and 2048 (29.88 against 30.12, "
          "29.25 against 29.57, 28.82 against 28.88) and at 8192 (26.80 against 27.92). Medium "
          "(Table 5, upper): both have 20.80 at 512, and ALiBi is lower by 0.01 at 1024. Small: "
          "CABLE_NW is lower in all twelve rows."),
      .checks = {check(
                     "CABLE_NW is below ALiBi in Table 4 (lower) and Table 5 (upper) (hundredths)",
                     below("CABLE_NW", {"ALiBi"}), rows({table_4_tiny, table_5_medium})),
                 condition("CABLE_NW is below ALiBi in Table 4 (upper) and Table 5 (lower)",
                           below("CABLE_NW", {"ALiBi"}), rows({table_4_small, table_5_small}))},
      .mutant = {"It is so of GPT-2 Tiny for T >= 4096.",
                 check("CABLE_NW is below ALiBi in Table 4 (lower), T >= 4096",
                       below("CABLE_NW", {"ALiBi"}), rows(table_4_tiny, 4096))},
  });

  claims["cable/full_outperforms_nw"] = Claim({
      .title = "The weights improve CABLE",
      .source = source("Section 5.1, last sentence; Tables 1, 4 and 5"),
      .statement = "Full CABLE performs better than CABLE_NW: a lower perplexity in every row.",
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("Read off the six blocks of the three tables: 36 rows, the smallest "
                     "difference is 0.21 (Table 1, FineWeb-Edu-10B, T = 1024)."),
      .checks = check("CABLE is below CABLE_NW in Tables 1, 4, 5 (hundredths)",
                      below("CABLE", {"CABLE_NW"}),
                      rows({table_1_fineweb, table_1_wikitext, table_4_small, table_4_tiny,
                            table_5_medium, table_5_small})),
      .mutant = {"CABLE_NW is below CABLE for T > 1024.",
                 check("CABLE_NW is below CABLE in Table 1, T > 1024", below("CABLE_NW", {"CABLE"}),
                       rows(table_1, 1025))},
  });

  claims["cable/sinusoidal_trained_at_8192"] = Claim({
      .title = "CABLE trained on 1024 outperforms Sinusoidal trained on 8192",
      .source = first_version("Section 6"),
      .statement =
          "Ablation studies show that a model trained with CABLE on sequences of length 1024 can "
          "outperform a sinusoidal model trained and tested on sequences of length 8192.",
      .implicit = {"The sentence reports a measurement; only its presence in the tables can be "
                   "checked here."},
      .proof = {"What is missing: no table of either version has a model trained at 8192, and the "
                "section on ablations studies only K-CABLE. The second version has dropped the "
                "sentence. Every Sinusoidal number printed is of a model trained at 512 or 1024.",
                Verdict::undecided},

      .mutant = {"Sinusoidal, trained at 1024, is below CABLE at T = 8192.",
                 check("Sinusoidal is below CABLE in Table 1, T = 8192",
                       below("Sinusoidal", {"CABLE"}),
                       rows({table_1_fineweb, table_1_wikitext}, 8192, 8192))},
  });
}

}  // namespace plumbline::proofs_checks::cable
