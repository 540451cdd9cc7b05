// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// depths x lengths - cells.
struct CellsAreDepthsTimesLengths {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("depths") * in.number("lengths") - in.number("cells")};
  }
};

Sample cells(double depths, double lower, double upper) {
  return Sample{}.with("depths", {depths}).with("cells", {55}).within("lengths", lower, upper);
}

}  // namespace

Claim heatmap_cells() {
  Claim claim;
  claim.id = "bam/heatmap_cells";
  claim.title = "Figure 3 has 55 cells and shows all possible depths";
  claim.source = source("Section 3.2, text on Figure 3");
  claim.statement =
      "A heatmap \"considering all possible depths of the passkey\", the 20 of this section, has "
      "55 \"evaluated lengths and depths\": 20 depths at each of some whole number of lengths.";
  claim.implicit = {"Every length has every depth, as in a heatmap.",
                    "The figure itself is not in the text at hand."};
  claim.correction =
      "55 = 5 x 11: five depths, or groups of depths, at the eleven lengths of Table 7.";
  claim.derivation = "20 x 2 = 40 and 20 x 3 = 60; 55 is not a multiple of 20. 55 = 5 x 11.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {exists(Role::statement, "some whole number of lengths: 20 lengths - 55 = 0, <= 2 or >= 3",
                CellsAreDepthsTimesLengths{}, {cells(20, 0, 2), cells(20, 3, 55)}),
         products(Role::correction, "5 x 11 = 55",
                  {Sample{}.with("depths", {5}).with("lengths", {11}).with("cells", {55})},
                  {"depths", "lengths"}, "cells")});
  };
  claim.mutant = "There are 10 depths.";
  claim.mutant_checks = [] {
    return exists(Role::statement, "10 lengths - 55 = 0, <= 5 or >= 6",
                  CellsAreDepthsTimesLengths{}, {cells(10, 0, 5), cells(10, 6, 55)});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
