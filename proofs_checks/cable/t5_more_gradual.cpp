// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// T5(before) Sinusoidal(T) - T5(T) Sinusoidal(before).
struct SmallerFactor {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("T5 before") * in.number("Sinusoidal") -
            in.number("T5") * in.number("Sinusoidal before")};
  }
};

/// Both columns at each T > 1024 and at the length `against`, or the one before (0).
std::vector<Sample> growth(int against) {
  std::vector<Sample> samples;
  for (const Table& table : {table_1_fineweb, table_1_wikitext}) {
    const auto t5 = pairs(table, "T5-bias", 1025, 15360, against);
    const auto sinusoidal = pairs(table, "Sinusoidal", 1025, 15360, against);
    for (std::size_t k = 0; k < t5.size(); ++k) {
      Sample sample = t5[k];
      sample.quantities[1].name = "T5 before";
      sample.quantities[3].name = "T5";
      for (Quantity quantity : {sinusoidal[k].quantities[1], sinusoidal[k].quantities[3]}) {
        quantity.name = quantity.name == "here" ? "Sinusoidal" : "Sinusoidal before";
        sample.quantities.push_back(quantity);
      }
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

}  // namespace

Claim t5_more_gradual() {
  Claim claim;
  claim.id = "cable/t5_more_gradual";
  claim.title = "T5-bias degrades more gradually than Sinusoidal";
  claim.source = source("Section 5.1, first paragraph; Table 1");
  claim.statement =
      "Beyond the training length the perplexity of T5-bias degrades more gradually than that of "
      "Sinusoidal: relative to T = 1024 it grows by a smaller factor at every longer T.";
  claim.derivation =
      "Table 1, upper: factors 2.2, 14.1, 46.3, 84.1 against 12.6, 60.6, 142, 192; lower: 1.2, "
      "3.1, 8.4, 17.4 against 7.3, 25.6, 56.8, 85.0. Only relative to T = 1024: from 2048 to 4096 "
      "T5-bias grows by 6.4 (upper) and Sinusoidal by 4.8, so \"more gradually\" from one length "
      "to the next would be false.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "T5(T) / T5(1024) < Sinusoidal(T) / Sinusoidal(1024), Table 1, T > 1024",
                   SmallerFactor{}, growth(1024));
  };
  claim.mutant = "From one length to the next T5-bias grows by the smaller factor.";
  claim.mutant_checks = [] {
    return for_all(Role::statement,
                   "T5(T) / T5(before) < Sinusoidal(T) / Sinusoidal(before), T > 1024",
                   SmallerFactor{}, growth(0));
  };
  claim.implicit = {definition_of_printed_numbers(),
                    needed("\"Gradually\" is measured by the factor against the training length.",
                           "From one length to the next T5-bias grows by the larger factor.",
                           claim.mutant_checks)};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
