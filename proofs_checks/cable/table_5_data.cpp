// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// One method of GPT-2 Small in both tables at one length, in hundredths.
Sample both(std::size_t row, const std::string& method) {
  const auto number = [&](const Table& table) {
    for (const auto& [name, numbers] : table.columns) {
      if (name == method) return static_cast<double>(numbers.at(row));
    }
    throw std::out_of_range(method);
  };
  return Sample{}
      .with("T", {static_cast<double>(table_5_small.lengths.at(row))})
      .printed("Table 4", number(table_4_small), 1)
      .printed("Table 5", number(table_5_small), 1);
}

/// Each number is the other's, up to the rounding of both: |difference| <= 1.
struct SameNumber {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(1.0) - reference::absolute(R(in.number("Table 4") - in.number("Table 5")))};
  }
};

std::vector<Sample> rows_of(const std::string& method) {
  return {both(0, method), both(1, method)};
}

std::vector<Sample> rows_of_both() {
  std::vector<Sample> samples = rows_of("CABLE");
  for (Sample& sample : rows_of("ALiBi")) samples.push_back(std::move(sample));
  return samples;
}

/// The rows of Table 5 (lower) differ from those of Table 4 (upper) by more than rounding.
struct OtherNumber {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::absolute(R(in.number("Table 4") - in.number("Table 5"))) - R(1.0)};
  }
};

}  // namespace

Claim table_5_data() {
  Claim claim;
  claim.id = "cable/table_5_data";
  claim.title = "Tables 4 and 5 are about Small and Tiny models on FineWeb-Edu-10B";
  claim.source = source("Appendix A.2, first sentence, against the caption of Table 5");
  claim.statement =
      "\"Tables 4 and 5 present the extrapolation results for GPT-2 Small and GPT-2 Tiny models "
      "evaluated on the FineWeb-Edu-10B dataset.\" Checked through a consequence: GPT-2 Small with "
      "the same encoding has one perplexity for each length.";
  claim.hypotheses = {"Both tables have rows for GPT-2 Small."};
  claim.implicit = {printed_numbers_are_rounded};
  claim.correction =
      "Table 4 is about Small and Tiny on FineWeb-Edu-10B, Table 5 about Medium and Small on "
      "WikiText-103, as their captions say: the numbers for Small differ.";
  claim.derivation =
      "CABLE in GPT-2 Small at T = 512 has 21.19 in Table 4 and 20.93 in Table 5. The caption "
      "of "
      "Table 5 names the other data set, and its upper half the other model.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "1 - |CABLE in Table 4 - CABLE in Table 5| >= 0 "
                             "(hundredths), GPT-2 Small, T = 512, 1024",
                             SameNumber{}, rows_of("CABLE")),
                     for_all(Role::correction, "|Table 4 - Table 5| - 1 > 0 for CABLE and ALiBi",
                             OtherNumber{}, rows_of_both())});
  };
  claim.mutant = "ALiBi's numbers are the same in both.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "1 - |ALiBi in Table 4 - ALiBi in Table 5| >= 0", SameNumber{},
                   rows_of("ALiBi"));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
