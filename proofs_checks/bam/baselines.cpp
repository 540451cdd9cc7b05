// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_baselines(Claims& claims) {
  const auto times_farther = above_zero<"BAM", "others", "factor">(
      []<class R>(R bam, R others, R factor) { return bam - factor * others; });
  const auto reach = [](double factor) {
    return Samples{{{"factor", factor}, {"BAM", 500}, within("others", 1, 62.5)}};
  };
  claims["bam/factor_25"] = Claim({
      .title = "BAM extrapolates more than 25 times as far as other encodings",
      .source = source("Section 5, first paragraph"),
      .statement =
          "GGD-BAM \"significantly improves context length extrapolation in passkey "
          "retrieval task by more than 25x compared to other PEs\": it reaches 500 training "
          "contexts, and the others less than 20, which are 10,240 tokens.",
      .implicit = {"BAM reaches the 500 training contexts of the abstract; how high the accuracy "
                   "has to be is not said.",
                   "The others reach at least the training context, and at most the longest of "
                   "Figure 2, 32,000 tokens or 62.5 training contexts."},
      .proof =
          {"500 is more than 25 times r for r < 20, and r may lie anywhere from 1 to 62.5: no "
           "text or table says to which length another encoding retrieves a passkey. Missing: "
           "the numbers of Figure 2. (In Table 4, Single 1, RoPE has 1.00 up to 3072 tokens and "
           "BAM 0.88 at 12,288, the longest: a factor of 4.)",
           Verdict::undecided},
      .checks = check("500 - 25 r > 0, r in [1, 62.5] training contexts", times_farther, reach(25)),
      .mutant = {"More than 600 times.", check("500 - 600 r > 0", times_farther, reach(600))},
  });

  const auto in_rows = product({"encodings", "versions"}, "rows");
  const auto rows_of = [](double encodings, double versions, std::size_t count) {
    return Sample{
        {"encodings", encodings}, {"versions", versions}, {"rows", static_cast<double>(count)}};
  };
  claims["bam/baselines_compared"] = Claim({
      .title = "Six encodings are compared, each with and without scalable softmax",
      .source = source("Section 3, first paragraph, against Tables 2, 4 and 8"),
      .statement =
          "\"We compare BAM and its variant coupled with Scaled Softmax against Sinusoidal, "
          "NoPE, RoPE, Local RoPE, and ALiBi, as well as their versions coupled with "
          "Scaled Softmax\": 12 rows in each table of the 120M models.",
      .implicit = {"A comparison of these methods has a row for each."},
      .correction = "Tables 2 and 8 have five encodings in two versions, without RoPE Local; Table "
                    "4 has six in one version each, RoPE Local without scalable softmax.",
      .proof = refuted("6 x 2 = 12. Tables 2 and 8 have 10 rows, 5 x 2, and Table 4 has 6 for each "
                       "task. RoPE Local with scalable softmax is in no table."),
      .checks = {check("6 encodings in 2 versions = the rows of Tables 2, 4 and 8", in_rows,
                       {rows_of(6, 2, table_2.size()), rows_of(6, 2, table_8.size()),
                        rows_of(6, 2, table_4[0].columns.size())}),
                 correction("5 x 2 = the rows of Tables 2 and 8", in_rows,
                            {rows_of(5, 2, table_2.size()), rows_of(5, 2, table_8.size())}),
                 correction("6 x 1 = the rows of Table 4", in_rows,
                            {rows_of(6, 1, table_4[0].columns.size()),
                             rows_of(6, 1, table_4[1].columns.size()),
                             rows_of(6, 1, table_4[2].columns.size())})},
      .mutant = {"Table 2 has four encodings in two versions.",
                 check("4 x 2 = the rows of Table 2", in_rows, {rows_of(4, 2, table_2.size())})},
  });

  const auto fewer_than_t5 = above_zero<"heads", "layers", "distances", "tables", "per head">(
      []<class R>(R heads, R layers, R distances, R tables, R per_head) {
        return tables * distances * heads - per_head * heads * layers;
      });
  const auto of_t5 = numbers_of({"distances", "per head", "heads", "layers", "tables"});
  claims["bam/t5_parameters"] = Claim({
      .title = "A parametric prior has fewer parameters than T5's bias",
      .source = source("Section 4, \"T5 Relative Bias\", last sentence"),
      .statement = "T5 \"learns a bias b(i - j) for each relative distance\"; \"a parametric "
                   "distribution with fewer trainable parameters can achieve superior context "
                   "length extrapolation\": the three parameters of each head in each layer are "
                   "fewer than the biases for the 512 distances of the training context.",
      .hypotheses =
          {definition("The models of Table 1, trained on 512 tokens.", "It says which models."),
           needed({"A bias for each distance.", "distances", at_least(512)},
                  "In 32 buckets for each head, as T5 has them, they are 512 for 16 "
                  "heads, and BAM's are 576.",
                  check("32 x 16 - 3 x 16 x 12 > 0", fewer_than_t5, {of_t5(32, 3, 16, 12, 1)}))},
      .implicit = {definition("Every head has its own biases.", "As T5 has them."),
                   not_needed(
                       {"All layers share them, as T5's do.", "tables", exactly(1)},
                       "A table for each layer has more.",
                       check("tables x 512 x heads - 3 x heads x layers > 0, tables = layers",
                             fewer_than_t5,
                             {of_t5(512, 3, 16, 12, 12), of_t5(512, 3, 24, 14, 14),
                              of_t5(512, 3, 32, 15, 15)})),
                   definition("Only the numbers of parameters are examined.",
                              "T5's bias is in no experiment (appendix I).")},
      .proof =
          holds("3 x layers is 36, 42 or 45, below 512. Against 32 buckets only two parameters "
                "per head are fewer: 384 < 512, 672 < 768 and 960 < 1024. Of the extrapolation "
                "nothing is shown: \"we did not evaluate the T5 relative position bias\"."),
      .checks =
          check("512 x heads - 3 x heads x layers > 0", fewer_than_t5,
                {of_t5(512, 3, 16, 12, 1), of_t5(512, 3, 24, 14, 1), of_t5(512, 3, 32, 15, 1)}),
      .mutant = {"Fewer than 16 biases for each head.",
                 check("16 x heads - 3 x heads x layers > 0", fewer_than_t5,
                       {of_t5(16, 3, 16, 12, 1)})},
  });

  const auto in_enough_tables = at_least_zero<"tables with T5", "tables needed">(
      []<class R>(R tables, R at_least) { return tables - at_least; });
  const auto of_none = [](double at_least) {
    return Sample{{"tables with T5", 0}, {"tables needed", at_least}};
  };
  claims["bam/t5_experiments"] = Claim({
      .title = "The experiments show that a parametric prior extrapolates better than T5's bias",
      .source = source("Section 4, \"T5 Relative Bias\", last sentence, against appendix I"),
      .statement = "\"Both our theoretical grounding and experiments show that a parametric "
                   "distribution with fewer trainable parameters can achieve superior context "
                   "length extrapolation\" than T5's bias: at least one of the eight tables has a "
                   "row of T5's.",
      .implicit = {"Superior is said of T5's bias, the subject of the sentences before.",
                   "An experiment shows it only if it has both."},
      .correction = "No table has one: \"we did not evaluate the T5 relative position bias "
                    "approach\" (appendix I).",
      .proof = refuted("Tables 2, 4 and 8 have Sinusoidal, NoPE, RoPE, ALiBi and BAM, Table 4 RoPE "
                       "Local as well; Tables 3, 5 and 6 have BAM and RoPE, Tables 1 and 7 BAM "
                       "alone. (The numbers of parameters are those of bam/t5_parameters.)"),
      .checks = {check("tables with T5 - 1 >= 0", in_enough_tables, {of_none(1)}),
                 correction("0 tables with T5 + 8 without = 8",
                            total({"with", "without"}, "tables"),
                            {{{"with", 0}, {"without", 8}, {"tables", 8}}})},
      .mutant = {"Two tables have it.",
                 check("tables with T5 - 2 >= 0", in_enough_tables, {of_none(2)})},
  });
}

}  // namespace plumbline::proofs_checks::bam
