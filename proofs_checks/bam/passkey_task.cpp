// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_passkey_task(Claims& claims) {
  const auto prompt = numbers_of({"task", "passkey", "filler", "answer", "length"});
  claims["bam/prompt_length"] = Claim({
      .title = "The passkey prompt has 841 = 825 + 16 tokens",
      .source = source("Section 3.2, second paragraph"),
      .statement = "A prompt of length 841 (825 + 16): 32 tokens of task prompt, 25 of passkey, "
                   "768 of filler text, 16 of prompt answer.",
      .implicit = {definition("The four parts are all of the prompt.", "It says what is counted.")},
      .proof = holds("32 + 25 + 768 = 825 and 825 + 16 = 841."),
      .checks = check("32 + 25 + 768 + 16 = 841 and 825 + 16 = 841",
                      total({"task", "passkey", "filler", "answer"}, "length"),
                      {prompt(32, 25, 768, 16, 841), prompt(825, 0, 0, 16, 841)}),
      .mutant = {"It has 840 tokens.",
                 check("32 + 25 + 768 + 16 = 840",
                       total({"task", "passkey", "filler", "answer"}, "length"),
                       {prompt(32, 25, 768, 16, 840)})},
  });

  const auto in_tokens = product({"digits", "tokens per digit"}, "passkey");
  const auto digits = numbers_of({"digits", "tokens per digit", "passkey"});
  claims["bam/passkey_tokens"] = Claim({
      .title = "The passkey of five digits has 25 tokens",
      .source = source("Section 3.2, second paragraph, against section 3.1"),
      .statement =
          "\"The following 25 tokens are the passkey itself\" (section 3.2), a \"five digit "
          "number\" of which \"each digit is considered a distinct token\" (section 3.1).",
      .implicit = {"\"The passkey itself\" is the number, as section 3.1 defines it.",
                   "The prompt of section 3.2 is one of the task of section 3.1."},
      .correction = "It has five tokens. The 25 are those of the sentence that states it, with 20 "
                    "tokens of other text.",
      .proof = refuted("Five digits of one token each are five tokens, the \"next five tokens\" "
                       "that the model has to predict. 25 - 5 = 20."),
      .checks = {check("5 digits of one token = 25 tokens", in_tokens, {digits(5, 1, 25)}),
                 correction("5 digits of one token = 5 tokens", in_tokens, {digits(5, 1, 5)}),
                 correction("5 + 20 = 25", total({"digits", "other text"}, "sentence"),
                            {{{"digits", 5}, {"other text", 20}, {"sentence", 25}}})},
      .mutant = {"Each digit has two tokens.",
                 check("5 digits of two tokens = 25 tokens", in_tokens, {digits(5, 2, 25)})},
  });

  // k L / gaps for k = 0..19: the steps less L/gaps, and the last position less L.
  const auto positions = equals_zero<"L", "gaps">([]<class R>(R L, R gaps) {
    const auto position = [&](int k) { return R(k) * L / gaps; };
    std::vector<R> residuals;
    for (int k = 1; k < 20; ++k) residuals.push_back(position(k) - position(k - 1) - L / gaps);
    residuals.push_back(position(19) - L);
    return residuals;
  });
  const auto depths_of = [](double gaps) {
    return grid({{"L", {512, 2048, 32000}}, {"gaps", gaps}});
  };
  claims["bam/passkey_depths"] = Claim({
      .title = "The passkey stands at 20 uniformly spaced positions",
      .source = source("Section 3.1, first paragraph"),
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
                 condition("steps of L/19, the last position is L", positions, depths_of(19))},
      .mutant = {"The positions 0 L/20, ..., 19 L/20 reach L.",
                 check("steps of L/20, the last position is L", positions, depths_of(20))},
  });

  const auto cells_are_depths_times_lengths = equals_zero<"depths", "lengths", "cells">(
      []<class R>(R depths, R depths_of, R cells) { return depths * depths_of - cells; });
  const auto cells = [](double depths, double lower, double upper) {
    return Sample{{"depths", depths}, {"cells", 55}, within("lengths", lower, upper)};
  };
  claims["bam/heatmap_cells"] = Claim({
      .title = "Figure 3 has 55 cells and shows all possible depths",
      .source = source("Section 3.1, text on Figure 3"),
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

  const auto so_many = at_least_zero<"perfect cells", "cells needed">(
      []<class R>(R perfect, R at_least) { return perfect - at_least; });
  const auto perfect_cells = [](double at_least) {
    return Samples{{within("perfect cells", 0, 41), {"cells needed", at_least}}};
  };
  claims["bam/perfect_cells"] = Claim({
      .title = "BAM scores perfectly in most lengths and depths",
      .source = source("Section 3.1, text on Figure 3, against Table 7"),
      .statement = "\"BAM is able to score perfectly in most lengths and depths\" of the 55 of "
                   "Figure 3: in 28 cells or more.",
      .implicit = {printed_numbers_are_rounded,
                   "The cells are five depths at each of the eleven lengths of Table 7 "
                   "(bam/heatmap_cells), whose accuracies for 120M are their means.",
                   "Perfect means an accuracy of 1."},
      .proof =
          {"Where a mean of five cells is at most m, at most 5 m of them are perfect: 5, 5, 4, "
           "4, 4, 4, 3, 3, 4, 3 and 2 at the eleven lengths of Table 7, which are 41 in all. "
           "How many are, the means do not say: even 1.0 may stand for 0.95. Missing: the "
           "numbers of Figure 3. (Read as lengths it is false: perfect at every depth are at "
           "most two of the eleven.)",
           Verdict::undecided},
      .checks = check("perfect cells - 28 >= 0, of which there are between 0 and 41", so_many,
                      perfect_cells(28)),
      .mutant = {"In 42 cells or more.",
                 check("perfect cells - 42 >= 0", so_many, perfect_cells(42))},
  });

  const auto as_many_of_zero =
      equals_zero<"cells of 0", "said">([]<class R>(R cells, R said) { return cells - said; });
  const auto cells_of_zero = [](double said) {
    return Samples{{within("cells of 0", 0, 9), {"said", said}}};
  };
  claims["bam/zero_cells"] = Claim({
      .title = "BAM degrades to 0% in 3 of 55 lengths and depths",
      .source = source("Section 3.1, text on Figure 3, against Table 7"),
      .statement = "\"BAM only degrades to 0% accuracy in 3/55 of the evaluated lengths and "
                   "depths\": in three cells of Figure 3.",
      .implicit = {printed_numbers_are_rounded,
                   "The cells are five depths at each of the eleven lengths of Table 7 "
                   "(bam/heatmap_cells), whose accuracies for 120M are their means."},
      .proof =
          {"Where a mean of five cells is at least m, at most 5 (1 - m) of them are 0: none up "
           "to 204,800 tokens, then 1, 1, 1, 1, 2 and 3 at the lengths from 256,000 to 512,000, "
           "which are 9 in all. The three may all stand at 512,000, where the mean is 0.4; how "
           "many there are, the means do not say. Missing: the numbers of Figure 3.",
           Verdict::undecided},
      .checks = check("cells of 0 - 3 = 0, of which there are between 0 and 9", as_many_of_zero,
                      cells_of_zero(3)),
      .mutant = {"In 10 cells.", check("cells of 0 - 10 = 0", as_many_of_zero, cells_of_zero(10))},
  });

  const auto make_tokens = product({"factor", "context"}, "tokens");
  const auto tokens = numbers_of({"factor", "context", "tokens"});
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
      .checks = {check("500 x 512 = 250,000", make_tokens, {tokens(500, 512, 250000)}),
                 correction("500 x 512 = 256,000", make_tokens, {tokens(500, 512, 256000)})},
      .mutant = {"It is 512 times.",
                 check("512 x 512 = 250,000", make_tokens, {tokens(512, 512, 250000)})},
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
      .checks = {check("64 x 512 = 32,000", make_tokens, {tokens(64, 512, 32000)}),
                 correction("62.5 x 512 = 32,000", make_tokens, {tokens(62.5, 512, 32000)})},
      .mutant = {"It is 60 times.",
                 check("60 x 512 = 32,000", make_tokens, {tokens(60, 512, 32000)})},
  });

  claims["bam/factor_32"] = Claim({
      .title = "32,000 tokens are 32 times the training context of 1024",
      .source = source("Captions of Figures 10 and 11 (\"32x\"); appendix H.3 (\"up to 32,000\")"),
      .statement = "\"Figure 11 shows context lengths up to 32,000\", which its caption calls 32 "
                   "times the training context length of 1024.",
      .implicit = {"32,000 is exact and not rounded from 32,768."},
      .correction = "31.25 times; 32 times are 32,768 tokens.",
      .proof = refuted("32 x 1024 = 32,768."),
      .checks = {check("32 x 1024 = 32,000", make_tokens, {tokens(32, 1024, 32000)}),
                 correction("31.25 x 1024 = 32,000", make_tokens, {tokens(31.25, 1024, 32000)})},
      .mutant = {"It is 31 times.",
                 check("31 x 1024 = 32,000", make_tokens, {tokens(31, 1024, 32000)})},
  });
}

}  // namespace plumbline::proofs_checks::bam
