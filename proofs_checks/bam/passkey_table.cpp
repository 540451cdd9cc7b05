// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_passkey_table(Claims& claims) {
  // Thousands of tokens: the head of column k of Table 7 against k x 51.2.
  const auto cut_off =
      at_least_zero<"k", "head", "cut off at most">([]<class R>(R k, R head, R up_to) {
        const R ten(10.0), exact = R(512.0) * k;
        return std::vector<Placed<R>>{{exact - ten * head, "k x 51.2 - head"},
                                      {ten * (head + up_to) - exact, "head + 1 - k x 51.2"}};
      });
  const auto heads = [](double up_to) {
    const std::vector<double> thousands = {51, 102, 153, 204, 256, 307, 358, 409, 460, 512};
    Samples heads;
    for (int k = 1; k <= 10; ++k) {
      heads.push_back({{"k", double(k)}, {"head", thousands[k - 1]}, {"cut off at most", up_to}});
    }
    return heads;
  };
  claims["bam/table_7_lengths"] = Claim({
      .title = "The lengths of Table 7 are the tenths of 512,000 tokens",
      .source = source("Table 7, heads of the columns"),
      .statement = "51K, 102K, ..., 512K are k times 51,200 tokens, k = 1, ..., 10.",
      .implicit = {definition("K is a thousand tokens.", "It says what the letter means."),
                   definition("The heads are cut off, not rounded.",
                              "It says what is printed; 153.6 stands there as 153.")},
      .proof = holds("51.2, 102.4, 153.6, 204.8, 256, 307.2, 358.4, 409.6, 460.8, 512. The last is "
                     "1000 times the training context, the fifth 500 times."),
      .checks = check("head <= k x 51.2 <= head + 1 (thousands)", cut_off, heads(1)),
      .mutant = {"They are rounded.", check("head <= k x 51.2 <= head + 1/2", cut_off, heads(0.5))},
  });

  const Sample totals = sums(table_7);
  const auto gain = [&](const std::string& model) {
    return Quantity{model, totals.find(model + " Ext.")->lower[0] - totals.find(model)->lower[0]};
  };
  const Samples gains = {{gain("120M"), gain("431M"), gain("1.1B")}};
  // The sum of a column whose numbers are all so many tenths from the printed ones, where they can.
  const auto moved = [](const std::string& model, double tenths) {
    double sum = 0;
    for (const auto& [name, numbers] : table_7.columns) {
      if (name != model) continue;
      for (int number : numbers) sum += std::clamp(number + tenths, 0.0, 10.0);
    }
    return sum;
  };
  const Samples gains_within_roundings = {
      {{"431M", moved("431M Ext.", 0.4) - moved("431M", -0.4)},
       {"1.1B", moved("1.1B Ext.", -0.4) - moved("1.1B", 0.4)}}};
  claims["bam/table_7_extension"] = Claim({
      .title = "All model sizes benefit from context extension, the largest most",
      .source = source("Appendix H.5, last paragraphs; Table 7"),
      .statement = "\"All model-scales benefit from this procedure. The 1.1B parameter model has "
                   "most improvement\", and bigger models benefit more than smaller ones: the mean "
                   "accuracy rises for each, and by more the bigger the model.",
      .implicit = {definition("Improvement is the difference of the means over the printed "
                              "lengths.",
                              "It says what the word means."),
                   needed("The printed tenths are exact.",
                          "With numbers that round to them, 0.04 from them, the 431M model gains "
                          "8.70 and the 1.1B model 8.02.",
                          check("within the roundings: gain of 1.1B above that of 431M",
                                above("1.1B", {"431M"}), gains_within_roundings))},
      .proof = holds_under_condition(
          "Sums over the eleven lengths: 8.7 to 11.0, 2.7 to 11.0, 1.1 to 10.0: gains 2.3, 8.3 and "
          "8.9. Only the order of the last two depends on the roundings: no accuracy is above 1.0, "
          "so the gains lie in 1.3 to 2.85, 7.25 to 8.8 and 7.8 to 9.3."),
      .checks = {check("sum over the lengths: 10 (extended - not extended) > 0",
                       above("120M Ext.", {"120M"}), {totals}),
                 check("the same for 431M", above("431M Ext.", {"431M"}), {totals}),
                 check("the same for 1.1B", above("1.1B Ext.", {"1.1B"}), {totals}),
                 check("gain of 1.1B above that of 431M", above("1.1B", {"431M"}), gains),
                 check("gain of 431M above that of 120M", above("431M", {"120M"}), gains)},
      .mutant = {"The gain of 120M is the largest.",
                 check("gain of 120M above that of 431M", above("120M", {"431M"}), gains)},
  });

  const auto last_row = [](double least, double most) {
    return with(rows(table_7, 10), {{{"lower end", least}, {"upper end", most}}});
  };
  claims["bam/table_7_forty_percent"] = Claim({
      .title = "The model trained on 512 tokens has 40% accuracy at 512k",
      .source = source("Appendix H.3, bold sentences, against Table 7"),
      .statement =
          "\"The model trained with context length of 512 achieves 40% accuracy on 512k.\"",
      .implicit = {definition_of_printed_numbers(),
                   needed("The model is the one with 120M parameters.", "The 431M model has less.",
                          check("35% <= accuracy of 431M at 512,000 <= 45% (tenths)",
                                between("lower end", "431M", "upper end"), last_row(3.5, 4.5)))},
      .proof = holds_under_condition("Table 7, row 120M, last column: 0.4."),
      .checks = check("35% <= accuracy at 512,000 <= 45% (tenths)",
                      between("lower end", "120M", "upper end"), last_row(3.5, 4.5)),
      .mutant = {"It has 60%.",
                 check("55% <= accuracy at 512,000 <= 65%",
                       between("lower end", "120M", "upper end"), last_row(5.5, 6.5))},
  });

  const auto against_a_half = with(rows(table_7), {{{"threshold", 5}}});
  claims["bam/table_7_large_model"] = Claim({
      .title = "The 1.1B model trained on 512 tokens retrieves accurately at all lengths",
      .source = source("Appendix H.6, against Table 7"),
      .statement = "\"Models were trained with context length 512 and prompted with up to 512,000 "
                   "tokens. BAM SSMax dominates RoPE SSMax across all evaluated lengths, "
                   "performing accurate Passkey retrieval in all contexts\": an accuracy of at "
                   "least 0.5 at every length of Table 7.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Accurate means right in more than half of the cases.",
                              "It says what the word means.")},
      .condition = "The model was extended with a context of 1024 (appendix H.5).",
      .proof = holds_under_condition(
          "Table 7 prints 0.0 or 0.1 for the 1.1B model at every length from 51,200 tokens; after "
          "256 steps with a context of 1024 it has 0.7 to 1.0. Figure 16 can only show the "
          "extended model, which is not one trained with context length 512."),
      .checks = {check("1.1B: 10 (accuracy - 0.5) > 0 (T in 51,200 tokens)",
                       above("1.1B", {"threshold"}), against_a_half),
                 condition("1.1B extended: 10 (accuracy - 0.5) > 0",
                           above("1.1B Ext.", {"threshold"}), against_a_half)},
      .mutant = {"The 431M model does without extension.",
                 check("431M: 10 (accuracy - 0.5) > 0", above("431M", {"threshold"}),
                       against_a_half)},
  });

  // At 512k tokens, in tenths.
  const auto at_512k = [](int more) {
    return Samples{{within("trained on 2,048", 9, 10),
                    printed("trained on 512, extended with 1024", table_7.columns[1].second.back()),
                    printed("trained on 512", table_7.columns[0].second.back() + more)}};
  };
  claims["bam/longer_training_context"] = Claim({
      .title = "A longer training context goes with a higher accuracy at 512k tokens",
      .source = source("Appendix H.3, bold sentences, against Table 7"),
      .statement = "\"The model trained with context length of 2,048 tokens\" has \"accuracy above "
                   "90%\", that of 512 has 40% on 512k, \"showing a correlation between trained "
                   "context length and retrieval accuracy at 512k tokens\".",
      .implicit = {definition_of_printed_numbers(),
                   definition("A correlation of two is that the longer context has the higher "
                              "accuracy.",
                              "It says what the word means."),
                   definition("Table 7's 120M model, extended with 1024 tokens, stands for the "
                              "middle one.",
                              "The accuracy of the model trained on 1,024 is not printed.")},
      .proof = holds("0.4 for 512 and more than 0.9 for 2,048; with the extension, 1.0. (Two or "
                     "three models are a difference, and no measure of a correlation.)"),
      .checks = {check("512k: 2,048 is above 512 (tenths)",
                       above("trained on 2,048", {"trained on 512"}), at_512k(0)),
                 check("512k: the extended model is above 512",
                       above("trained on 512, extended with 1024", {"trained on 512"}),
                       at_512k(0))},
      .mutant = {"The difference is 0.7.",
                 check("512k: 2,048 is above 512 + 0.7",
                       above("trained on 2,048", {"trained on 512"}), at_512k(7))},
  });

  claims["bam/smaller_extrapolate_better"] = Claim({
      .title = "Smaller models generalise better to longer contexts",
      .source = source("Appendix H.5, first and last paragraph, against Table 7"),
      .statement = "\"Smaller models generalized better to longer context\"; \"bigger models "
                   "struggle in much shorter sequences\" than the 120M model.",
      .hypotheses = {definition("Models before the context extension.",
                                "It says which rows are read.")},
      .implicit = {definition("Better means a higher mean accuracy over the lengths.",
                              "It says what the word means."),
                   definition_of_printed_numbers(),
                   definition("To struggle is an accuracy below 0.6.",
                              "It says what the word means.")},
      .proof = holds("Sums over the eleven lengths: 8.7, 2.7, 1.1, each within 0.55 for the "
                     "roundings. At 51K tokens the accuracies "
                     "are 1.0, 0.5 and 0.0; the 120M model falls to 0.6 at 460K. (At 256K and 409K "
                     "the two bigger models are equal.)"),
      .checks = {check("sum over the lengths: 120M above 431M and 1.1B (tenths)",
                       above("120M", {"431M", "1.1B"}), {rounded_sums(table_7)}),
                 check("sum over the lengths: 431M above 1.1B", above("431M", {"1.1B"}),
                       {rounded_sums(table_7)}),
                 check("51K: 431M and 1.1B are below 0.6", above("threshold", {"431M", "1.1B"}),
                       with(rows(table_7, 1, 1), {{{"threshold", 6}}}))},
      .mutant = {"The 1.1B model is second.",
                 check("sum over the lengths: 1.1B above 431M", above("1.1B", {"431M"}),
                       {rounded_sums(table_7)})},
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
      .checks = check("10 (accuracy - 0.8) > 0 at T = 0 to 5 times 51,200 tokens",
                      above("120M", {"threshold"}), against(8, 5)),
      .mutant = {"It keeps it up to 307,200 tokens, 600 times.",
                 check("10 (accuracy - 0.8) > 0 up to 6 x 51,200 tokens",
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
      .checks = {check(
                     "trained on 1,024: 10 (accuracy - 0.8) > 0 between 32,000 and 300,000 tokens "
                     "(no number is printed)",
                     above("accuracy", {"threshold"}),
                     {{within("accuracy", 0, 10), {"threshold", 8}}}),
                 check("trained on 512: 10 (accuracy - 0.8) > 0 at T = 0 to 5 times 51,200 tokens",
                       above("120M", {"threshold"}), against(8, 5))},
      .mutant = {"The model trained on 512 keeps it up to 307,200 tokens.",
                 check("trained on 512: 10 (accuracy - 0.8) > 0 up to 6 x 51,200 tokens",
                       above("120M", {"threshold"}), against(8, 6))},
  });

  const auto at_most_limit =
      at_least_zero<"tokens", "limit">([]<class R>(R tokens, R limit) { return limit - tokens; });
  Samples lengths_of_table_7;
  for (int length : table_7.lengths) lengths_of_table_7.push_back({{"tokens", 51200.0 * length}});
  const auto none_beyond = [=](double limit) {
    return with(lengths_of_table_7, {{{"limit", limit}}});
  };
  claims["bam/longest_context"] = Claim({
      .title = "No longer context was tested",
      .source = source("Section 3.1, text on Figure 3, against Table 7 and appendix H.3"),
      .statement = "\"Although accuracy is above 80% for 500x the training length, it appears that "
                   "the model will degrade to zero eventually, however we did not have enough vram "
                   "to test for longer context\": no length of Table 7 exceeds 500 x 512 tokens.",
      .implicit = {definition("\"Longer\" means longer than the 500 times of the same sentence.",
                              "The condition replaces it."),
                   definition("The lengths that were tested are those of Table 7, whose 120M model "
                              "is the one in question.",
                              "The lengths of Figure 3 are drawn only.")},
      .condition = "\"Longer\" means longer than 512,000 tokens, 1000 times the training context, "
                   "where Table 7 ends.",
      .proof = holds_under_condition(
          "500 x 512 = 256,000. Table 7 goes on with 307, 358, 409, 460 and 512 thousand tokens, "
          "where the accuracy is 0.4, and in appendix H.3 memory is short beyond 512,000 = 1000 x "
          "512."),
      .checks = {check("500 x 512 - length >= 0 at each length of Table 7", at_most_limit,
                       none_beyond(256000)),
                 condition("1000 x 512 - length >= 0 at each length of Table 7", at_most_limit,
                           none_beyond(512000))},
      .mutant = {"Nothing longer than 600 times.",
                 check("600 x 512 - length >= 0", at_most_limit, none_beyond(307200))},
  });

  const auto make_tokens = product({"factor", "context"}, "tokens");
  const auto tokens = numbers_of({"factor", "context", "tokens"});
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
      .checks = {check("10 (accuracy - 1) = 0 at every length (T = 0 for below 1K)", is_perfect,
                       up_to_length(10)),
                 condition("up to 51,200 tokens: 10 (accuracy - 1) = 0", is_perfect,
                           up_to_length(1)),
                 condition("100 x 512 = 51,200", make_tokens, {tokens(100, 512, 51200)})},
      .mutant = {"Up to 102,400 tokens.",
                 check("up to 102,400 tokens: 10 (accuracy - 1) = 0", is_perfect, up_to_length(2))},
  });
}

}  // namespace plumbline::proofs_checks::bam
