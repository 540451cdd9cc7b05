// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The sums of the columns of Table 7.
Sample sums_of_table_7_extension() {
  Sample sample;
  for (const auto& [name, numbers] : table_7.columns) {
    double total = 0;
    for (int number : numbers) total += number;
    sample.with(name, {total});
  }
  return sample;
}

/// Extended less not extended, by model.
Sample gains() {
  const Sample all = sums_of_table_7_extension();
  Sample sample;
  for (std::size_t k = 0; k < all.quantities.size(); k += 2) {
    sample.with(all.quantities[k].name,
                {all.quantities[k + 1].lower[0] - all.quantities[k].lower[0]});
  }
  return sample;
}

}  // namespace

Claim table_7_extension() {
  Claim claim;
  claim.id = "bam/table_7_extension";
  claim.title = "All model sizes benefit from context extension, the largest most";
  claim.source = source("Appendix H.5, last paragraphs; Table 7");
  claim.statement =
      "\"All model-scales benefit from this procedure. The 1.1B parameter model has most "
      "improvement\", and bigger models benefit more than smaller ones: the mean accuracy rises "
      "for each, and by more the bigger the model.";
  claim.derivation =
      "Sums over the eleven lengths: 8.7 to 11.0, 2.7 to 11.0, 1.1 to 10.0: gains 2.3, 8.3 and "
      "8.9.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {above(Role::statement, "sum over the lengths: extended - not extended > 0 (tenths)",
               {sums_of_table_7_extension()}, "120M Ext.", {"120M"}),
         above(Role::statement, "the same for 431M", {sums_of_table_7_extension()}, "431M Ext.",
               {"431M"}),
         above(Role::statement, "the same for 1.1B", {sums_of_table_7_extension()}, "1.1B Ext.",
               {"1.1B"}),
         above(Role::statement, "gain of 1.1B above that of 431M", {gains()}, "1.1B", {"431M"}),
         above(Role::statement, "gain of 431M above that of 120M", {gains()}, "431M", {"120M"})});
  };
  claim.mutant = "The gain of 120M is the largest.";
  claim.mutant_checks = [] {
    return above(Role::statement, "gain of 120M above that of 431M", {gains()}, "120M", {"431M"});
  };
  claim.implicit = {
      definition("Improvement is the difference of the means over the printed lengths; the printed "
                 "tenths are taken as they are.",
                 "It says what the word means.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
