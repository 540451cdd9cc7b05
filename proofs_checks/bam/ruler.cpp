// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_ruler(Claims& claims) {
  const auto bam_is_ahead = above("BAM", {"RoPE"});
  const auto raised = [&](int hundredths, const std::vector<std::string>& names) {
    std::vector<Table> tasks;
    for (const std::string& name : names) {
      tasks.push_back(table_5.at(name));
      for (int& accuracy : tasks.back().columns[0].second) accuracy += hundredths;
    }
    return rows(tasks);
  };
  claims["bam/table_5_every_task"] = Claim({
      .title = "BAM is ahead of RoPE in every task of the Ruler benchmark",
      .source = source("Appendix F.2, first paragraph; section 3.2, last paragraph (\"across all "
                       "evaluated tasks\")"),
      .statement = "\"BAM achieves superior performance in comparison to RoPE in every evaluated "
                   "task in the Ruler benchmark\": at no length of Table 5 is RoPE ahead.",
      .implicit = {printed_numbers_are_rounded,
                   "A tie counts for BAM: 2/100, one answer of fifty, are added to its accuracy."},
      .correction =
          "On Single 1, 2 and 3, MultiKey 1 and MultiQuery RoPE is never ahead; on MultiKey 2, "
          "MultiKey 3 and MultiValue it is at short lengths.",
      .proof = refuted(
          "MultiKey 2 at 1024: 0.22 against 0.26. MultiKey 3 at 1024: 0.12 against 0.18, "
          "and 0.16 against 0.18 in the sum of the printed numbers. MultiValue at 1536 and 2048: "
          "0.94 and 0.92 against 1.00. On the other five tasks BAM is never behind."),
      .checks = {check("MultiKey 3: BAM, with 2/100 added, is above RoPE (hundredths)",
                       bam_is_ahead, raised(2, {"MultiKey 3"})),
                 check("MultiKey 2: the same", bam_is_ahead, raised(2, {"MultiKey 2"})),
                 check("MultiValue: the same", bam_is_ahead, raised(2, {"MultiValue"})),
                 correction(
                     "Single 1 to 3, MultiKey 1, MultiQuery: the same", bam_is_ahead,
                     raised(2, {"Single 1", "Single 2", "Single 3", "MultiKey 1", "MultiQuery"}))},
      .mutant = {"BAM is ahead by 2/100 on MultiQuery everywhere.",
                 check("MultiQuery: BAM - 2/100 is above RoPE", bam_is_ahead,
                       raised(-2, {"MultiQuery"}))},
  });

  const auto almost_perfect = above("BAM", {"threshold"});
  const auto against_99 = [&](const std::string& name) {
    return with(rows(table_5.at(name)), {{{"threshold", 99}}});
  };
  claims["bam/table_5_single_1"] = Claim({
      .title = "BAM is almost perfect on Single 1",
      .source = source("Appendix F.2, first paragraph"),
      .statement = "\"Almost perfect accuracy across tasks on the Single 1 subset\": above 0.99 at "
                   "every length to 32,768.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Almost perfect means above 0.99.", "It says what the words mean.")},
      .proof = holds("1.00 in all eleven columns."),
      .checks =
          check("Single 1: BAM is above 0.99 (hundredths)", almost_perfect, against_99("Single 1")),
      .mutant = {"On Single 2 as well.",
                 check("Single 2: BAM is above 0.99", almost_perfect, against_99("Single 2"))},
  });

  const auto six_tasks_from = [&](int shortest) {
    return rows({table_5.at("Single 1"), table_5.at("Single 2"), table_5.at("Single 3"),
                 table_5.at("MultiKey 1"), table_5.at("MultiQuery"), table_5.at("MultiValue")},
                shortest, 16384);
  };
  claims["bam/table_5_longer"] = Claim({
      .title = "BAM reaches longer contexts than RoPE in six tasks",
      .source = source("Appendix F.2, last sentence"),
      .statement =
          "\"GGD-BAM clearly achieves better longer context in Single 1, 2 and 3, MultiKey 1, "
          "MultiQuery and MultiValue\": ahead at every length from 3072 to 16384.",
      .implicit = {definition_of_printed_numbers(),
                   needed_as_the_mutant_shows(
                       {"Longer contexts are those from six times the training length (512) to "
                        "16384; beyond, some accuracies are 0 for both.",
                        "T", at_least(3072)},
                       "At 1024 RoPE is ahead in some of the tasks.")},
      .proof = holds_under_condition(
          "By inspection of Table 5; the smallest lead is 0.02, at 16384 on Single 3. "
          "Beyond 16384 both are 0 on Single 3, and both 0.00 on MultiValue at 32768."),
      .checks =
          check("100 (BAM - RoPE) > 0 from 3072 to 16384", bam_is_ahead, six_tasks_from(3072)),
      .mutant = {"At every length from 1024.",
                 check("100 (BAM - RoPE) > 0 from 1024", bam_is_ahead, six_tasks_from(1024))},
  });

  // By model, the sums over the lengths of Table 5 for each task, with all roundings.
  const auto by_task = [](const std::string& model) {
    Sample tasks;
    for (const auto& [name, task] : table_5) {
      Quantity sum = *rounded_sums(task).find(model);
      sum.name = name;
      tasks.with(sum);
    }
    return tasks;
  };
  const Samples both_models = {by_task("BAM"), by_task("RoPE")};
  const std::vector<std::string> six = {"Single 1",   "Single 2",   "Single 3",
                                        "MultiKey 1", "MultiQuery", "MultiValue"};
  claims["bam/multikey_harder"] = Claim({
      .title = "MultiKey 2 and 3 are harder for both models",
      .source = source("Appendix F.2, second paragraph, against Table 5"),
      .statement = "\"Other tasks such as Multikey 2 and Multikey 3 are harder for both models\": "
                   "than each of the other six.",
      .implicit = {definition("Harder means a lower mean accuracy over the lengths.",
                              "It says what the word means."),
                   definition_of_printed_numbers()},
      .proof =
          holds("Sums over the eleven lengths: BAM 0.62 and 0.16, RoPE 0.44 and 0.18; the "
                "lowest of the others are 5.38 and 1.28, on Single 3; each within 0.055 for the "
                "roundings."),
      .checks = {check("MultiKey 2 is below the other six (hundredths, BAM and RoPE)",
                       below("MultiKey 2", six), both_models),
                 check("MultiKey 3 is below the other six", below("MultiKey 3", six), both_models)},
      .mutant = {"MultiKey 1 is harder than Single 3.",
                 check("MultiKey 1 is below Single 3", below("MultiKey 1", {"Single 3"}),
                       both_models)},
  });
}

}  // namespace plumbline::proofs_checks::bam
