// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_lengths(Claims& claims) {
  const auto make_tokens = product({"factor", "context"}, "tokens");
  const auto tokens = [](double factor, double count) {
    return std::vector<Sample>{{{"factor", factor}, {"context", 512}, {"tokens", count}}};
  };
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
      .checks = {check("500 x 512 = 250,000", make_tokens, tokens(500, 250000)),
                 correction("500 x 512 = 256,000", make_tokens, tokens(500, 256000))},
      .mutant = {"It is 512 times.",
                 check("512 x 512 = 250,000", make_tokens, tokens(512, 250000))},
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
      .checks = {check("64 x 512 = 32,000", make_tokens, tokens(64, 32000)),
                 correction("62.5 x 512 = 32,000", make_tokens, tokens(62.5, 32000))},
      .mutant = {"It is 60 times.", check("60 x 512 = 32,000", make_tokens, tokens(60, 32000))},
  });

  // The lengths up to `longest` x 51,200 tokens, with the threshold in tenths.
  const auto against = [](double threshold, int longest) {
    return with(rows(table_7, 0, longest), {"threshold", threshold});
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
      .source = source("Appendix H.3, first sentences after Figure 11, against Table 7"),
      .statement = "\"It maintained accuracy above 80% until 300,000 and did not drop to zero\": "
                   "at every length of Table 7 up to 300,000 tokens, for the model trained on 512.",
      .implicit = {printed_numbers_are_rounded,
                   "The model is the one with 120M parameters of Table 7."},
      .proof = {"Table 7 prints 0.8 at 256,000 tokens, which may stand for more than 0.8 or for "
                "less, and 0.7 at 307,200; there is no number at 300,000. Missing: the accuracies "
                "with two digits. (It does not drop to zero: 0.4 at 512,000.)",
                Verdict::undecided},
      .checks = check("accuracy - 0.8 > 0 at T = 0 to 5 times 51,200 tokens (tenths)",
                      above("120M", {"threshold"}), against(8, 5)),
      .mutant = {"It stays above 60% at every length.",
                 check("accuracy - 0.6 > 0 at every length (tenths)", above("120M", {"threshold"}),
                       against(6, 10))},
  });

  const auto prompt = [](double length) {
    return Sample{
        {"task", 32}, {"passkey", 25}, {"filler", 768}, {"answer", 16}, {"length", length}};
  };
  claims["bam/prompt_length"] = Claim({
      .title = "The passkey prompt has 841 = 825 + 16 tokens",
      .source = source("Section 3.2, second paragraph"),
      .statement = "A prompt of length 841 (825 + 16): 32 tokens of task prompt, 25 of passkey, "
                   "768 of filler text, 16 of prompt answer.",
      .implicit = {definition("The four parts are all of the prompt.", "It says what is counted.")},
      .proof = holds("32 + 25 + 768 = 825 and 825 + 16 = 841."),
      .checks =
          check("32 + 25 + 768 + 16 = 841 and 825 + 16 = 841",
                total({"task", "passkey", "filler", "answer"}, "length"),
                {prompt(841),
                 {{"task", 825}, {"passkey", 0}, {"filler", 0}, {"answer", 16}, {"length", 841}}}),
      .mutant = {"It has 840 tokens.",
                 check("32 + 25 + 768 + 16 = 840",
                       total({"task", "passkey", "filler", "answer"}, "length"), {prompt(840)})},
  });

  // k L / gaps for k = 0..19: the steps less L/gaps, and the last position less L.
  const auto positions = equals_zero<"L", "gaps">([]<class R>(R L, R gaps) {
    const auto position = [&](int k) { return R(k) * L / gaps; };
    std::vector<R> residuals;
    for (int k = 1; k < 20; ++k) residuals.push_back(position(k) - position(k - 1) - L / gaps);
    residuals.push_back(position(19) - L);
    return residuals;
  });
  const auto lengths = [](double gaps) {
    return grid({{"L", {512, 2048, 32000}}, {"gaps", gaps}});
  };
  claims["bam/passkey_depths"] = Claim({
      .title = "The passkey stands at 20 uniformly spaced positions",
      .source = source("Section 3.2, first paragraph"),
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
                 condition("steps of L/19, the last position is L", positions, lengths(19))},
      .mutant = {"The positions 0 L/20, ..., 19 L/20 reach L.",
                 check("steps of L/20, the last position is L", positions, lengths(20))},
  });

  const auto cells_are_depths_times_lengths = equals_zero<"depths", "lengths", "cells">(
      []<class R>(R depths, R lengths, R cells) { return depths * lengths - cells; });
  const auto cells = [](double depths, double lower, double upper) {
    return Sample{{"depths", depths}, {"cells", 55}, within("lengths", lower, upper)};
  };
  claims["bam/heatmap_cells"] = Claim({
      .title = "Figure 3 has 55 cells and shows all possible depths",
      .source = source("Section 3.2, text on Figure 3"),
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
}

}  // namespace plumbline::proofs_checks::bam
