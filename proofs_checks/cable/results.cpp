// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_results(Claims& claims) {
  const auto so_many_times = product({"factor", "trained"}, "longest");
  const auto lengths = numbers_of({"factor", "trained", "longest"});
  claims["cable/sixteen_times_longer"] = Claim({
      .title = "CABLE extrapolates to sequences 16 times longer",
      .source = source("Section 5.1 against its footnote"),
      .statement = "For models trained on sequences of length 1024, CABLE achieves a lower "
                   "perplexity even when extrapolating to sequences 16 times longer; the longest "
                   "tested are of 15,360 tokens.",
      .implicit = {"The tables are all that was tested."},
      .correction = "To sequences 15 times longer.",
      .proof = refuted(
          "15,360 / 1024 = 15. The footnote says that 15,360 took the place of 16,384 = 16 * 1024. "
          "Only retrieval (Table 3) goes to 16,384, which is 32 times its training length of 512."),
      .checks = {check("16 * 1024 - 15360 = 0", so_many_times, {lengths(16, 1024, 15360)}),
                 correction("15 * 1024 - 15360 = 0", so_many_times, {lengths(15, 1024, 15360)})},
      .mutant = {"For retrieval, 16,384 tokens are 16 times the training length of 512.",
                 check("16 * 512 - 16384 = 0", so_many_times, {lengths(16, 512, 16384)})},
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
      .statement = "CABLE consistently outperforms the existing positional encoding methods: in "
                   "every row of Table 1 its perplexity is the lowest.",
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
  const auto renamed = [](const Sample& sample, const std::string& name, const std::string& to) {
    Quantity quantity = *sample.find(name);
    quantity.name = to;
    return quantity;
  };
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
      .source = source("Section 5.1, last paragraph; Table 1"),
      .statement = "Even CABLE_NW, without weights, outperforms ALiBi: its perplexity is lower in "
                   "every row of Table 1.",
      .implicit = {definition_of_printed_numbers()},
      .condition =
          "T >= 4096, at least four times the length of training (on FineWeb-Edu-10B at every T).",
      .proof =
          holds_under_condition("WikiText-103: 24.32 against 24.09 at T = 512, 23.01 against 22.74 "
                                "at 1024, 22.19 against 22.05 at 2048; from 4096 on CABLE_NW is "
                                "lower. On FineWeb-Edu-10B it is lower in every row."),
      .checks = {check("CABLE_NW is below ALiBi in Table 1 (hundredths)", nw_is_below_alibi,
                       rows(table_1)),
                 condition("CABLE_NW is below ALiBi in Table 1, T >= 4096", nw_is_below_alibi,
                           rows(table_1, 4096))},
      .mutant = {"CABLE_NW is below ALiBi from T = 2048 on.",
                 check("CABLE_NW is below ALiBi in Table 1, T >= 2048", nw_is_below_alibi,
                       rows(table_1, 2048))},
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

  const auto falls = below("here", {"before"}), rises = above("here", {"before"});
  claims["cable/consistent_improvement"] = Claim({
      .title = "The perplexity of CABLE falls as the sequence grows",
      .source = source("Sections 1 and 5.1; Table 1 (upper), Figure 1"),
      .statement =
          "On FineWeb-Edu-10B CABLE (GPT-2 Medium) shows consistent improvement with length, even "
          "for T = 15360, and achieves a better perplexity there than at T = 1024.",
      .implicit = {printed_numbers_are_rounded, "Consistent: at every length that is printed."},
      .correction = "The perplexity falls up to T = 4096; beyond it rises by 0.07 and stays below "
                    "that of T = 1024. On WikiText-103 it falls throughout.",
      .proof =
          refuted("From T = 4096 to T = 8192 the perplexity rises from 15.34 to 15.41 and stays at "
                  "15.41 at 15360. Half a hundredth does not bridge 0.07. The second half is true: "
                  "15.41 < 16.52. On WikiText-103 (Table 1, lower) the fall is strict."),
      .checks = {check("the perplexity of CABLE falls in every step, 512 to 15360 (hundredths)",
                       falls, pairs(table_1_fineweb, "CABLE", 0, 15360)),
                 correction("it falls in every step up to T = 4096", falls,
                            pairs(table_1_fineweb, "CABLE", 0, 4096)),
                 correction("for every T > 1024 it is below that of T = 1024", falls,
                            pairs(table_1_fineweb, "CABLE", 1025, 15360, 1024)),
                 correction("on WikiText-103 it falls in every step", falls,
                            pairs(table_1_wikitext, "CABLE", 0, 15360))},
      .mutant = {"The perplexity of ALiBi falls in every step.",
                 check("the perplexity of ALiBi falls in every step", falls,
                       pairs(table_1_fineweb, "ALiBi", 0, 15360))},
  });

  claims["cable/alibi_degrades"] = Claim({
      .title = "ALiBi degrades slightly at extreme lengths",
      .source = source("Section 5.1, first paragraph; Table 1"),
      .statement =
          "In Table 1 (FineWeb-Edu-10B and WikiText-103) ALiBi performs well on longer contexts "
          "and degrades at extreme lengths: its perplexity rises in every step beyond T = 2048.",
      .implicit = {definition_of_printed_numbers()},
      .condition = "The data are FineWeb-Edu-10B (the next paragraph of the paper says so of its "
                   "own sentence).",
      .proof =
          holds_under_condition("On FineWeb-Edu-10B: 16.56, 16.67, 17.23, 17.46. On WikiText-103 "
                                "it falls to the end: 22.05, 21.73, 21.58, 21.30."),
      .checks = {check("ALiBi rises in every step, T > 2048, WikiText-103 (hundredths)", rises,
                       pairs(table_1_wikitext, "ALiBi", 2049, 15360)),
                 condition("ALiBi rises in every step, T > 2048, FineWeb-Edu-10B", rises,
                           pairs(table_1_fineweb, "ALiBi", 2049, 15360))},
      .mutant = {"On FineWeb-Edu-10B it rises in every step beyond T = 1024.",
                 check("ALiBi rises in every step, T > 1024, FineWeb-Edu-10B", rises,
                       pairs(table_1_fineweb, "ALiBi", 1025, 15360))},
  });

  const auto smaller_factor = above_zero<"T5 before", "Sinusoidal", "T5", "Sinusoidal before">(
      []<class R>(R t5_before, R sinusoidal, R t5, R sinusoidal_before) {
        return t5_before * sinusoidal - t5 * sinusoidal_before;
      });
  // Both columns at each T > 1024 and at the length `against`, or the one before (0).
  const auto growth = [=](int against) {
    Samples samples;
    for (const Table& table : {table_1_fineweb, table_1_wikitext}) {
      const auto t5 = pairs(table, "T5-bias", 1025, 15360, against);
      const auto sinusoidal = pairs(table, "Sinusoidal", 1025, 15360, against);
      for (std::size_t k = 0; k < t5.size(); ++k) {
        samples.push_back({*t5[k].find("T before"), renamed(t5[k], "before", "T5 before"),
                           *t5[k].find("T"), renamed(t5[k], "here", "T5"),
                           renamed(sinusoidal[k], "before", "Sinusoidal before"),
                           renamed(sinusoidal[k], "here", "Sinusoidal")});
      }
    }
    return samples;
  };
  claims["cable/t5_more_gradual"] = Claim({
      .title = "T5-bias degrades more gradually than Sinusoidal",
      .source = source("Section 5.1, first paragraph; Table 1"),
      .statement =
          "Beyond the training length the perplexity of T5-bias degrades more gradually than that "
          "of Sinusoidal: relative to T = 1024 it grows by a smaller factor at every longer T.",
      .implicit = {definition_of_printed_numbers(),
                   needed_as_the_mutant_shows(
                       "\"Gradually\" is measured by the factor against the training length.",
                       "From one length to the next T5-bias grows by the larger factor.")},
      .proof = holds("Table 1, upper: factors 2.2, 14.1, 46.3, 84.1 against 12.6, 60.6, 142, 192; "
                     "lower: 1.2, 3.1, 8.4, 17.4 against 7.3, 25.6, 56.8, 85.0. Only relative to T "
                     "= 1024: from 2048 to 4096 T5-bias grows by 6.4 (upper) and Sinusoidal by "
                     "4.8, so \"more gradually\" from one length to the next would be false."),
      .checks = check("T5(T) / T5(1024) < Sinusoidal(T) / Sinusoidal(1024), Table 1, T > 1024",
                      smaller_factor, growth(1024)),
      .mutant = {"From one length to the next T5-bias grows by the smaller factor.",
                 check("T5(T) / T5(before) < Sinusoidal(T) / Sinusoidal(before), T > 1024",
                       smaller_factor, growth(0))},
  });

  claims["cable/rope_trend"] = Claim({
      .title = "RoPE improves first and declines at longer lengths",
      .source = source("Section 5.1, first paragraph; Table 1"),
      .statement =
          "RoPE shows an initial improvement followed by a significant decline at longer lengths: "
          "its perplexity falls from T = 512 to 1024 and rises in every step after that.",
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("Table 1: 17.39, 16.89, 38.95, 146.72, 361.26, 691.90 and 23.66, 22.26, "
                     "41.40, 114.77, 220.56, 375.62. The improvement lies within the training "
                     "length: no length beyond 1024 is better than 1024."),
      .checks = {check("RoPE at 1024 is below RoPE at 512, FineWeb-Edu-10B (hundredths)", falls,
                       pairs(table_1_fineweb, "RoPE", 1024, 1024)),
                 check("the same on WikiText-103", falls,
                       pairs(table_1_wikitext, "RoPE", 1024, 1024)),
                 check("RoPE rises in every step, T > 1024, FineWeb-Edu-10B", rises,
                       pairs(table_1_fineweb, "RoPE", 1025, 15360)),
                 check("the same on WikiText-103", rises,
                       pairs(table_1_wikitext, "RoPE", 1025, 15360))},
      .mutant = {"It is still improving at T = 2048.",
                 check("RoPE at 2048 is below RoPE at 1024", falls,
                       pairs(table_1_fineweb, "RoPE", 2048, 2048))},
  });

  claims["cable/dape_ranking"] = Claim({
      .title = "DAPEv2 improves both methods and leaves their ranking",
      .source = source("Section 5.3; Table 2"),
      .statement = "DAPEv2 improves CABLE and Kerple, and the ranking remains: CABLE outperforms "
                   "Kerple with and without it, at every length.",
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("Twenty comparisons of printed numbers, all strict by more than half a "
                     "hundredth on both sides; the smallest difference is 0.15 (DAPEv2, T = 512)."),
      .checks = {check("CABLE < Kerple (hundredths)", below("CABLE", {"Kerple"}), rows(table_2)),
                 check("DAPEv2+CABLE < DAPEv2+Kerple and CABLE",
                       below("DAPEv2+CABLE", {"DAPEv2+Kerple", "CABLE"}), rows(table_2)),
                 check("DAPEv2+Kerple < Kerple", below("DAPEv2+Kerple", {"Kerple"}),
                       rows(table_2))},
      .mutant = {"CABLE alone is below DAPEv2+Kerple.",
                 check("CABLE < DAPEv2+Kerple", below("CABLE", {"DAPEv2+Kerple"}), rows(table_2))},
  });

  claims["cable/retrieval_ranking"] = Claim({
      .title = "On retrieval CABLE outperforms all baselines as sequences grow",
      .source = source("Section 5.5; Table 3"),
      .statement = "At 512 tokens RoPE performs slightly better than the other methods; from 1024 "
                   "on CABLE has the highest nDCG@10 of all.",
      .hypotheses = {definition("BERT, trained at 512, MLDR test set.",
                                "It says which table is read.")},
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("Read off Table 3: 15.16 against 14.96 at 512; in the five other rows CABLE "
                     "is the highest."),
      .checks = {check("T = 512: RoPE is above the others (hundredths)",
                       above("RoPE", {"CABLE", "ALiBi", "Learnable", "Sinusoidal"}),
                       rows(table_3, 0, 512)),
                 check("T >= 1024: CABLE is above the others",
                       above("CABLE", {"ALiBi", "RoPE", "Sinusoidal"}), rows(table_3, 1024))},
      .mutant = {"CABLE is the highest at 512 as well.",
                 check("CABLE is above RoPE at every length", above("CABLE", {"RoPE"}),
                       rows(table_3))},
  });

  const auto longest_against_512 = [](const std::string& method) {
    return pairs(table_3, method, 16384, 16384, 512);
  };
  claims["cable/retrieval_others_degrade"] = Claim({
      .title = "On retrieval the other methods degrade or become unusable",
      .source = source("Section 5.5, last sentence; Table 3"),
      .statement = "CABLE exhibits the strongest scalability to long sequences, while the others "
                   "either degrade significantly or become unusable: each of them scores lower at "
                   "its longest length than at 512.",
      .implicit = {printed_numbers_are_rounded,
                   "\"The others\" are the columns of Table 3: ALiBi, RoPE, Learnable, Sinusoidal; "
                   "Learnable has one number only."},
      .correction = "RoPE and Sinusoidal degrade or become unusable; ALiBi improves with length, "
                    "by less than CABLE.",
      .proof = refuted(
          "ALiBi rises from 14.02 at 512 to 23.44 at 16384, more than by half; the same section "
          "says that it \"maintains reasonable performance\". RoPE (15.16 to 0.12) and Sinusoidal "
          "(13.57 to 0.00) do fall. The first half is true: CABLE gains most, 10.14 against 9.42."),
      .checks = {check("ALiBi at 16384 is below ALiBi at 512 (hundredths)", falls,
                       longest_against_512("ALiBi")),
                 correction("RoPE at 16384 is below RoPE at 512", falls,
                            longest_against_512("RoPE")),
                 correction("Sinusoidal at 16384 is below Sinusoidal at 512", falls,
                            longest_against_512("Sinusoidal")),
                 correction("ALiBi at 16384 is above ALiBi at 512", above("here", {"before"}),
                            longest_against_512("ALiBi"))},
      .mutant = {"CABLE at 16384 is below CABLE at 512.",
                 check("CABLE at 16384 is below CABLE at 512", falls,
                       longest_against_512("CABLE"))},
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
