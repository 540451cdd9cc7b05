// SPDX-License-Identifier: Apache-2.0
// How the perplexities of Tables 1, 4 and 5 change with the length.
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_extrapolation(Claims& claims) {
  const auto falls = below("here", {"before"}), rises = above("here", {"before"});

  const std::vector<std::string> with_numbers = {"ALiBi",  "Fire", "T5-bias",
                                                 "Kerple", "RoPE", "Sinusoidal"};
  claims["cable/existing_degrade"] = Claim({
      .title = "The existing encodings degrade as the sequence grows",
      .source = source("Section 1, text on Figure 1; abstract; Table 1 (upper)"),
      .statement =
          "\"The performance of existing positional encodings degrades with increasing "
          "sequence length\" (Figure 1: GPT-2 Medium on FineWeb-Edu-10B): the perplexity of "
          "each baseline rises from step to step beyond the training length of 1024.",
      .implicit = {definition_of_printed_numbers(),
                   definition("The numbers of Figure 1 are those of Table 1 (upper); Learnable has "
                              "none beyond 1024.",
                              "It says which numbers are read.")},
      .condition = "T > 2048, beyond twice the training length.",
      .proof = holds_under_condition(
          "From 1024 to 2048 two of the six improve: ALiBi from 16.79 to 16.56, Kerple from 16.70 "
          "to "
          "16.28. From 2048 on each rises in every step. At T = 15360 all six are above their own "
          "number at 1024; CABLE and CABLE_NW are below theirs."),
      .checks = {check(
                     "ALiBi, Fire, T5-bias, Kerple, RoPE, Sinusoidal rise in every step, T > 1024 "
                     "(hundredths)",
                     rises, pairs_of({table_1_fineweb}, with_numbers, 1025, 15360)),
                 condition("they rise in every step, T > 2048 (hundredths)", rises,
                           pairs_of({table_1_fineweb}, with_numbers, 2049, 15360))},
      .mutant = {"So does CABLE, T > 2048.",
                 check("CABLE rises in every step, T > 2048 (hundredths)", rises,
                       pairs(table_1_fineweb, "CABLE", 2049, 15360))},
  });

  claims["cable/sinusoidal_drop"] = Claim({
      .title = "Sinusoidal drops sharply even with slight increases in length",
      .source = source("Section 5.1, first paragraph; appendix A.2; Tables 1, 4 and 5"),
      .statement =
          "\"The sinusoidal method suffers a sharp performance drop even with slight "
          "increases in sequence length\": from T = 1024 to 2048 its perplexity grows more "
          "than sixfold.",
      .implicit = {definition_of_printed_numbers(),
                   definition(
                       "A slight increase is the smallest that the tables have, to twice the "
                       "training length; a sharp drop is a sixfold perplexity.",
                       "Without numbers there is nothing to check.")},
      .proof = holds("The factors in the six blocks are 12.6 and 7.3 (Table 1), 9.5 and 9.2 (Table "
                     "4), 6.3 and 7.5 (Table 5)."),
      .checks = check("Sinusoidal at 2048 - 6 Sinusoidal at 1024 > 0 (hundredths)", exceeds(1, 6),
                      pairs_of(perplexity_tables, {"Sinusoidal"}, 2048, 2048)),
      .mutant = {"The perplexity of RoPE grows sixfold as well.",
                 check("RoPE at 2048 - 6 RoPE at 1024 > 0 (hundredths)", exceeds(1, 6),
                       pairs_of(perplexity_tables, {"RoPE"}, 2048, 2048))},
  });

  // Whether Learnable has a number (1) or a dash (0) at each length.
  const auto learnable_of = [](const Table& table, double trained) {
    Samples samples;
    for (const auto& [name, numbers] : table.columns) {
      if (name != "Learnable") continue;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        samples.push_back({{"T", static_cast<double>(table.lengths[k])},
                           {"trained at", trained},
                           {"printed", numbers[k] == Table::missing ? 0.0 : 1.0}});
      }
    }
    return samples;
  };
  const auto ends_with_training =
      at_least_zero<"T", "trained at", "printed">([]<class R>(R T, R trained, R has_number) {
        return std::vector<Placed<R>>{
            {has_number * (trained - T), "printed"},
            {(R(1.0) - has_number) * (T - trained - R(1.0)), "not printed"}};
      });
  Samples learnable_to_1024;
  for (const Table& table : perplexity_tables) {
    for (Sample& row : learnable_of(table, 1024)) learnable_to_1024.push_back(std::move(row));
  }
  claims["cable/learnable_ends"] = Claim({
      .title = "Learnable has nothing beyond the training length",
      .source = source("Section 5.1, first paragraph; section 4.3; section 5.5; Tables 1, 3, 4, 5"),
      .statement =
          "Learnable has a fixed, predefined number of positions and \"lacks extrapolation "
          "ability beyond the training length\": the tables have a number at each length "
          "up to that of training and a dash at each longer one.",
      .implicit = {definition("A dash says that the model cannot be applied at this length.",
                              "It says what the sign means.")},
      .proof = holds("Tables 1, 4 and 5: numbers at 512 and 1024, the training length, and dashes "
                     "beyond. Table 3: a number at 512, the training length, and dashes beyond."),
      .checks = {check("Tables 1, 4, 5: a number where T <= 1024, a dash where T > 1024",
                       ends_with_training, learnable_to_1024),
                 check("Table 3: a number where T <= 512, a dash where T > 512", ends_with_training,
                       learnable_of(table_3, 512))},
      .mutant = {"Table 1 has numbers up to 512 only.",
                 check("Table 1: a number where T <= 512, a dash where T > 512", ends_with_training,
                       learnable_of(table_1_fineweb, 512))},
  });

  claims["cable/t5_slightly_longer"] = Claim({
      .title = "T5-bias extrapolates well to slightly longer sequences",
      .source = source("Section 5.1, first paragraph; Table 1"),
      .statement = "T5-bias \"initially extrapolates well to sequences slightly longer than those "
                   "seen during training\": at T = 2048 its perplexity is at most a tenth above "
                   "that at 1024.",
      .implicit =
          {printed_numbers_are_rounded,
           "Slightly longer is the smallest increase that Table 1 has, to twice the training "
           "length; \"well\" is at most a tenth above."},
      .correction =
          "At twice the training length its perplexity is 2.2 times as high on "
          "FineWeb-Edu-10B and 1.17 times on WikiText-103. ALiBi's and Kerple's are lower "
          "than at 1024.",
      .proof =
          refuted("17.26 at 1024 and 38.32 at 2048 (upper), 23.60 and 27.64 (lower). Whether it "
                  "does well at a length between 1024 and 2048 is not measured."),
      .checks = {check("10 (1.1 T5-bias at 1024 - T5-bias at 2048) > 0 (hundredths)",
                       undercuts(11, 10), pairs_of(fineweb_and_wikitext, {"T5-bias"}, 2048, 2048)),
                 correction("10 (T5-bias at 2048 - 1.1 T5-bias at 1024) > 0 (hundredths)",
                            exceeds(10, 11),
                            pairs_of(fineweb_and_wikitext, {"T5-bias"}, 2048, 2048)),
                 correction("10 (2.3 T5-bias at 1024 - T5-bias at 2048) > 0 (hundredths)",
                            undercuts(23, 10),
                            pairs_of(fineweb_and_wikitext, {"T5-bias"}, 2048, 2048)),
                 correction("ALiBi and Kerple at 2048 are below themselves at 1024", falls,
                            pairs_of(fineweb_and_wikitext, {"ALiBi", "Kerple"}, 2048, 2048))},
      .mutant = {"RoPE does well at T = 2048.",
                 check("10 (1.1 RoPE at 1024 - RoPE at 2048) > 0 (hundredths)", undercuts(11, 10),
                       pairs_of(fineweb_and_wikitext, {"RoPE"}, 2048, 2048))},
  });

  // Against the number at the training length, 1024.
  const auto beyond_training = [](const std::vector<std::string>& columns) {
    return pairs_of(fineweb_and_wikitext, columns, 1025, 15360, 1024);
  };
  claims["cable/additive_capable"] = Claim({
      .title = "The additive encodings of section 2 are capable of extrapolating",
      .source = source("Section 2, before ALiBi; Table 1"),
      .statement =
          "\"Below are a few examples of additive RPEs that are capable of extrapolating\": "
          "ALiBi, T5-bias, Kerple and Fire. At each T > 1024 of Table 1 the perplexity of "
          "each is less than twice that at 1024, the training length.",
      .implicit = {printed_numbers_are_rounded,
                   "\"Capable of extrapolating\" is read as less than twice the perplexity. That "
                   "they can be applied at any length is true of all four."},
      .correction = "Two of the four are: ALiBi and Kerple.",
      .proof = refuted(
          "At T = 15360 the perplexity is, in terms of that at 1024, on FineWeb-Edu-10B and "
          "WikiText-103: ALiBi 1.04 and 0.94, Kerple 1.56 and 0.96, Fire 49 and 4.6, T5-bias 84 "
          "and 17. Of T5-bias the section says that it \"allows some extrapolation\": at T = 2048 "
          "it has 2.2 and 1.17 times."),
      .checks = {check("2 T5-bias at 1024 - T5-bias > 0, T > 1024 (hundredths)", undercuts(2, 1),
                       beyond_training({"T5-bias"})),
                 check("2 Fire at 1024 - Fire > 0, T > 1024 (hundredths)", undercuts(2, 1),
                       beyond_training({"Fire"})),
                 correction("2 baseline at 1024 - baseline > 0, T > 1024: ALiBi, Kerple",
                            undercuts(2, 1), beyond_training({"ALiBi", "Kerple"}))},
      .mutant = {"Of Kerple it is less than one and a half times.",
                 check("3 Kerple at 1024 - 2 Kerple > 0, T > 1024", undercuts(3, 2),
                       beyond_training({"Kerple"}))},
  });

  claims["cable/alibi_begins_to_degrade"] = Claim({
      .title = "On FineWeb-Edu-10B ALiBi does well at 2048 and degrades beyond",
      .source = source("Section 5.1, third paragraph; Tables 1 (upper) and 4"),
      .statement = "\"On the FineWeb-Edu-10B dataset [...] a model trained with ALiBi on T=1024 "
                   "performs well on T=2048 but begins to degrade with longer sequences\": its "
                   "perplexity is lower at 2048 than at 1024 and rises in every step after that.",
      .implicit = {definition_of_printed_numbers()},
      .condition = "The model is GPT-2 Medium or Small.",
      .proof = holds_under_condition(
          "Medium: 16.79, 16.56, then 16.67, 17.23, 17.46. Small: 20.99, 20.67, then 21.23, 22.42, "
          "22.89. Tiny: 29.25, 28.82, then 28.28, 26.80 and 28.52, still below the training "
          "length's at every length (26.80 may be a slip of the pen, cable/table_4_every_length)."),
      .checks =
          {check("ALiBi at 2048 is below ALiBi at 1024, all three models (hundredths)", falls,
                 pairs_of({table_1_fineweb, table_4_small, table_4_tiny}, {"ALiBi"}, 2048, 2048)),
           check("ALiBi rises in every step, T > 2048, Tiny (hundredths)", rises,
                 pairs(table_4_tiny, "ALiBi", 2049, 15360)),
           condition("ALiBi rises in every step, T > 2048, Medium and Small (hundredths)", rises,
                     pairs_of({table_1_fineweb, table_4_small}, {"ALiBi"}, 2049, 15360)),
           condition("ALiBi at 2048 is below ALiBi at 1024, Medium and Small (hundredths)", falls,
                     pairs_of({table_1_fineweb, table_4_small}, {"ALiBi"}, 2048, 2048))},
      .mutant = {"In GPT-2 Small it rises in every step beyond T = 1024.",
                 check("ALiBi rises in every step, T > 1024, Small (hundredths)", rises,
                       pairs(table_4_small, "ALiBi", 1025, 15360))},
  });

  claims["cable/stable_beyond_training"] = Claim({
      .title = "CABLE is better on longer sequences than at its training length",
      .source =
          source("Section 5.1, third paragraph; appendix A.2 (\"stable\"); Tables 1, 4 and 5"),
      .statement = "CABLE \"achieves a better PPL than it does on T=1024, the sequence length seen "
                   "during training\", and \"maintains stable [...] performance\": in all six "
                   "blocks of Tables 1, 4 and 5 its perplexity at every T > 1024 is below that at "
                   "1024.",
      .implicit = {definition_of_printed_numbers()},
      .proof =
          holds("Twenty-four numbers; the smallest difference is 0.55 (Table 1, upper, 16.52 and "
                "15.97)."),
      .checks = check("CABLE is below CABLE at 1024, T > 1024 (hundredths)", falls,
                      pairs_of(perplexity_tables, {"CABLE"}, 1025, 15360, 1024)),
      .mutant = {"So is Kerple.",
                 check("Kerple is below Kerple at 1024, T > 1024 (hundredths)", falls,
                       pairs_of(perplexity_tables, {"Kerple"}, 1025, 15360, 1024))},
  });

  claims["cable/learnable_degrades"] = Claim({
      .title = "Learnable degrades sharply at longer lengths",
      .source = source("Appendix A.2; Tables 4 and 5"),
      .statement =
          "\"Standard methods such as sinusoidal or learnable encodings degrade sharply at "
          "longer lengths\": the perplexity of Learnable beyond T = 1024 is much above "
          "that at 1024.",
      .implicit = {printed_numbers_are_rounded},
      .proof =
          {"What is missing: a number. All tables have a dash for Learnable beyond the training "
           "length (cable/learnable_ends), where it has no vector to give to a position. Of "
           "Sinusoidal the sentence is true (cable/sinusoidal_drop).",
           Verdict::undecided},
      .mutant = {"Sinusoidal does not degrade.",
                 check("Sinusoidal is below Sinusoidal at 1024, T > 1024, Table 4", falls,
                       pairs_of({table_4_small, table_4_tiny}, {"Sinusoidal"}, 1025, 15360, 1024))},
  });

  const auto so_many_times = product({"times as long", "training length"}, "longest tested");
  const auto lengths = numbers_of({"times as long", "training length", "longest tested"});
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
          "In Table 1 ALiBi performs well on longer contexts "
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
      .proof = holds_under_condition(
          "Table 1, upper: factors 2.2, 14.1, 46.3, 84.1 against 12.6, 60.6, 142, 192; "
          "lower: 1.2, 3.1, 8.4, 17.4 against 7.3, 25.6, 56.8, 85.0. Only relative to T "
          "= 1024: from 2048 to 4096 T5-bias grows by 6.4 (upper) and Sinusoidal by "
          "4.8, so \"more gradually\" from one length to the next would be false."),
      .checks = check("T5(1024) Sinusoidal(T) - T5(T) Sinusoidal(1024) > 0, Table 1, T > 1024",
                      smaller_factor, growth(1024)),
      .mutant = {"From one length to the next T5-bias grows by the smaller factor.",
                 check("T5(before) Sinusoidal(T) - T5(T) Sinusoidal(before) > 0, T > 1024",
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
}

}  // namespace plumbline::proofs_checks::cable
