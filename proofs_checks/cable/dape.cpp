// SPDX-License-Identifier: Apache-2.0
// CABLE, Kerple and DAPEv2 in Table 2.
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_dape(Claims& claims) {
  const auto falls = below("here", {"before"});

  const auto against_512 = [](const std::string& column, int shortest) {
    return pairs(table_2, column, shortest, 8192, 512);
  };
  claims["cable/kerple_degrades"] = Claim({
      .title = "Kerple degrades severely from 4096 on, CABLE does not",
      .source = source("Section 5.3; Table 2"),
      .statement =
          "\"Kerple suffers from severe degradation at longer sequence lengths (from 4096 "
          "onward), whereas CABLE maintains robust performance even without augmentation\", "
          "and DAPEv2 alleviates it: from 4096 on, and not before, Kerple is more than a "
          "quarter above its perplexity at 512; CABLE and DAPEv2+Kerple are below theirs.",
      .implicit = {definition_of_printed_numbers(),
                   definition("\"Severe\" is read as a quarter above the number at the training "
                              "length, 512; \"robust\" as not above it.",
                              "Without numbers there is nothing to check.")},
      .proof =
          holds("Kerple: 21.41, 21.12, 22.58 (5 percent above), 28.04 (31), 39.38 (84). CABLE: "
                "21.17, then 20.72, 20.23, 19.60, 19.87. DAPEv2+Kerple: 20.56, then 20.07, "
                "19.51, 18.79, 18.92."),
      .checks = {check("4 (Kerple - 1.25 Kerple at 512) > 0, T >= 4096 (hundredths)", exceeds(4, 5),
                       against_512("Kerple", 4096)),
                 check("4 (1.25 Kerple at 512 - Kerple) > 0, T = 1024, 2048 (hundredths)",
                       undercuts(5, 4), pairs(table_2, "Kerple", 1024, 2048, 512)),
                 check("CABLE is below CABLE at 512 (hundredths)", falls,
                       against_512("CABLE", 1024)),
                 check("DAPEv2+Kerple is below DAPEv2+Kerple at 512 (hundredths)", falls,
                       against_512("DAPEv2+Kerple", 1024))},
      .mutant = {"It degrades severely from 2048 on.",
                 check("4 (Kerple - 1.25 Kerple at 512) > 0, T >= 2048 (hundredths)", exceeds(4, 5),
                       against_512("Kerple", 2048))},
  });

  claims["cable/state_of_the_art"] = Claim({
      .title = "CABLE achieves state-of-the-art extrapolation quality",
      .source = source("Section 5.3, last sentence; Table 2"),
      .statement = "CABLE offers the best trade-off, \"achieving state-of-the-art extrapolation "
                   "quality\": no method of the section's Table 2 has a lower perplexity.",
      .implicit =
          {"CABLE means CABLE alone: DAPEv2+CABLE trains about three times slower, which is "
           "the other side of the trade-off.",
           printed_numbers_are_rounded},
      .correction =
          "CABLE is better than Kerple; with DAPEv2 both are better than CABLE alone, and "
          "DAPEv2+CABLE is the best.",
      .proof =
          refuted("DAPEv2+Kerple is below CABLE in every row, by 0.61 to 0.95 (at T = 512 20.56 "
                  "and 21.17). What CABLE has is the lower cost."),
      .checks = {check("CABLE is below DAPEv2+Kerple and DAPEv2+CABLE in Table 2 (hundredths)",
                       below("CABLE", {"DAPEv2+Kerple", "DAPEv2+CABLE"}), rows(table_2)),
                 correction("CABLE is below Kerple", below("CABLE", {"Kerple"}), rows(table_2)),
                 correction("CABLE is above DAPEv2+Kerple and DAPEv2+CABLE",
                            above("CABLE", {"DAPEv2+Kerple", "DAPEv2+CABLE"}), rows(table_2)),
                 correction("DAPEv2+CABLE is below DAPEv2+Kerple",
                            below("DAPEv2+CABLE", {"DAPEv2+Kerple"}), rows(table_2))},
      .mutant = {"Kerple alone has the lowest perplexity.",
                 check("Kerple is below CABLE in Table 2", below("Kerple", {"CABLE"}),
                       rows(table_2))},
  });

  // CABLE trained at 512 (Table 2) beside the methods trained at 1024 (Table 4), GPT-2 Small.
  Samples at_512_and_1024;
  {
    const Samples at_512 = rows(table_2), at_1024 = rows(table_4_small, 0, 8192);
    for (std::size_t k = 0; k < at_512.size(); ++k) {
      Sample row = {*at_512[k].find("T"), *at_512[k].find("CABLE"),
                    renamed(at_1024[k], "CABLE", "CABLE trained at 1024")};
      for (const std::string& method : baselines) {
        if (const Quantity* number = at_1024[k].find(method)) row.with(*number);
      }
      at_512_and_1024.push_back(std::move(row));
    }
  }
  claims["cable/trained_on_512"] = Claim({
      .title = "CABLE can be trained on shorter sequences and tested on much longer ones",
      .source = source("Section 5.2; Table 2 against Table 4 (upper)"),
      .statement =
          "CABLE \"can be trained on shorter sequence lengths and effectively tested on much "
          "longer sequences\": GPT-2 Small with CABLE, trained at 512, is at every length "
          "up to 8192 below all baselines trained at 1024, and at most three percent above "
          "CABLE trained at 1024.",
      .hypotheses = {definition(
          "Table 2 (trained at 512) and Table 4, upper (trained at 1024): GPT-2 "
          "Small on FineWeb-Edu-10B.",
          "It says which numbers are read.")},
      .implicit = {definition_of_printed_numbers(),
                   definition(
                       "\"Effectively\" is read so; the paper does not compare the two tables.",
                       "Without a measure there is nothing to check.")},
      .proof = holds("Trained at 512: 21.17, 20.72, 20.23, 19.60, 19.87. Trained at 1024: 21.19, "
                     "20.63, 20.02, 19.24, 19.31; the best baseline 21.43, 20.86, 20.38, 21.11, "
                     "22.42. The largest excess is 2.9 percent, at T = 8192."),
      .checks = {check("CABLE trained at 512 is below every baseline trained at 1024 (hundredths)",
                       below("CABLE", baselines), at_512_and_1024),
                 check("100 (1.03 CABLE trained at 1024 - CABLE trained at 512) > 0 (hundredths)",
                       scaled_below("CABLE", 100, {"CABLE trained at 1024"}, 103),
                       at_512_and_1024)},
      .mutant = {"It is at most one percent above.",
                 check("100 (1.01 CABLE trained at 1024 - CABLE trained at 512) > 0 (hundredths)",
                       scaled_below("CABLE", 100, {"CABLE trained at 1024"}, 101),
                       at_512_and_1024)},
  });

  claims["cable/dape_ranking"] = Claim({
      .title = "DAPEv2 improves both methods and leaves their ranking",
      .source = source("Section 5.3; Table 2"),
      .statement = "DAPEv2 improves CABLE and Kerple, and the ranking remains: CABLE outperforms "
                   "Kerple with and without it, at every length.",
      .implicit = {definition_of_printed_numbers()},
      .proof = holds("Twenty comparisons of printed numbers, all strict by more than half a "
                     "hundredth on both sides; the smallest difference is 0.15 (DAPEv2, T = 512)."),
      .checks = {check("CABLE < Kerple (hundredths)", below("CABLE", {"Kerple"}), rows(table_2)),
                 check("DAPEv2+CABLE < DAPEv2+Kerple and CABLE",
                       below("DAPEv2+CABLE", {"DAPEv2+Kerple", "CABLE"}), rows(table_2)),
                 check("DAPEv2+Kerple < Kerple", below("DAPEv2+Kerple", {"Kerple"}),
                       rows(table_2))},
      .mutant = {"CABLE alone is below DAPEv2+Kerple.",
                 check("CABLE < DAPEv2+Kerple", below("CABLE", {"DAPEv2+Kerple"}), rows(table_2))},
  });
}

}  // namespace plumbline::proofs_checks::cable
