// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_perplexity(Claims& claims) {
  // A column of Table 2 in units of 10^-4, and ALiBi's number with 0.1 added.
  const auto column = [](int Perplexity::*data) {
    Sample column;
    for (const Perplexity& row : table_2) {
      column.with(printed(row.method, row.*data));
      if (row.method == "ALiBi") column.with(printed("ALiBi + 0.1", row.*data + 1000));
    }
    return Samples{column};
  };
  const auto wikipedia = column(&Perplexity::wikipedia);
  const auto fineweb = column(&Perplexity::fineweb);
  const std::vector<std::string> others = {"Sinusoidal", "NoPE", "RoPE"};
  claims["bam/table_2_only_exception"] = Claim({
      .title = "Only ALiBi has a lower perplexity than BAM, by less than 0.1",
      .source = source("Appendix D.1, first paragraph after Table 2"),
      .statement = "\"BAM outperforms almost all the compared baselines. The only exception is "
                   "ALiBi, which outperforms BAM by less than 0.1 points in perplexity.\"",
      .hypotheses = {definition("Table 2, models without scalable softmax.",
                                "It says which numbers are read.")},
      .implicit = {definition_of_printed_numbers(),
                   definition("Both columns of Table 2 are meant.", "The condition replaces it.")},
      .condition = "The data set is FineWeb.",
      .proof = holds_under_condition(
          "Wikipedia: RoPE 18.3599 and ALiBi 18.5452 against 18.9281 for BAM: two exceptions, by "
          "0.57 and 0.38. FineWeb: ALiBi 22.1771 against 22.2640, 0.087; the others are above "
          "22.35. With scalable softmax on Wikipedia, ALiBi is ahead by 0.193."),
      .checks = {check("Wikipedia: BAM is below Sinusoidal, NoPE and RoPE (10^-4)",
                       below("BAM", others), wikipedia),
                 check("Wikipedia: ALiBi + 0.1 is above BAM (10^-4)", above("ALiBi + 0.1", {"BAM"}),
                       wikipedia),
                 condition("FineWeb: BAM is below Sinusoidal, NoPE and RoPE (10^-4)",
                           below("BAM", others), fineweb),
                 condition("FineWeb: ALiBi + 0.1 is above BAM (10^-4)",
                           above("ALiBi + 0.1", {"BAM"}), fineweb),
                 correction("FineWeb: BAM is above ALiBi (10^-4)", above("BAM", {"ALiBi"}),
                            fineweb)},
      .mutant = {"On FineWeb ALiBi is not an exception.",
                 check("FineWeb: BAM is below ALiBi", below("BAM", {"ALiBi"}), fineweb)},
  });

  const auto benchmarks = [](int lead) {
    return Samples{{printed("BAM", 3716), printed("RoPE", 3573 + lead)},
                   {printed("BAM", 5770), printed("RoPE", 5715 + lead)},
                   {printed("BAM", 4132), printed("RoPE", 4123 + lead)}};
  };
  claims["bam/table_3_all"] = Claim({
      .title = "BAM is ahead of RoPE on MMLU and ARC",
      .source = source("Appendix E, Table 3"),
      .statement =
          "\"Table 3 shows that BAM SSMax is superior to RoPE in all the evaluated benchmarks.\"",
      .implicit = {definition_of_printed_numbers(),
                   definition("Superior means a higher accuracy, not a significant difference.",
                              "It says what the word means.")},
      .proof = holds(
          "0.3716 > 0.3573, 0.5770 > 0.5715, 0.4132 > 0.4123. (The last is about one question "
          "of 1,172 apart, which no test of significance separates.)"),
      .checks = check("10^4 (BAM - RoPE) > 0", above("BAM", {"RoPE"}), benchmarks(0)),
      .mutant = {"By a hundredth everywhere.",
                 check("10^4 (BAM - RoPE - 0.01) > 0", above("BAM", {"RoPE"}), benchmarks(100))},
  });

  // By how much scalable softmax lowers the perplexity in Table 2, in 10^-4.
  const auto lowered = [](int Perplexity::*data) {
    std::map<std::string, int> of;
    for (const Perplexity& row : table_2) of[row.method] = row.*data;
    Sample lowered{{"nothing", 0}};
    for (const char* method : {"BAM", "ALiBi", "NoPE", "RoPE", "Sinusoidal"}) {
      lowered.with(printed(method, of[method] - of[std::string(method) + " SSMax"], 2));
    }
    return lowered;
  };
  const Samples both = {lowered(&Perplexity::wikipedia), lowered(&Perplexity::fineweb)};
  claims["bam/ssmax_lowers_bam_most"] = Claim({
      .title = "Scalable softmax lowers BAM's perplexity most",
      .source = source("Appendix D.2, paragraph on Figure 7, against Table 2"),
      .statement = "\"SSMax has more impact in lowering BAMs perplexity when compared to other "
                   "PEs\": in both columns of Table 2 it lowers BAM's more than any other.",
      .implicit = {definition_of_printed_numbers(),
                   definition("At the lengths of Table 2, up to 512 tokens.",
                              "The numbers of Figure 7 are not printed.")},
      .proof = holds(
          "Lowered by scalable softmax, Wikipedia and FineWeb: BAM 0.238 and 0.128; ALiBi 0.049 "
          "and -0.035; Sinusoidal -0.216 and 0.042; NoPE -0.529 and 0.032; RoPE -1.826 and "
          "-2.008. So it lowers both columns for BAM alone, and raises RoPE's by about two."),
      .checks = check("BAM's difference is above those of ALiBi, NoPE, RoPE, Sinusoidal (10^-4)",
                      above("BAM", {"ALiBi", "NoPE", "RoPE", "Sinusoidal"}), both),
      .mutant = {"It lowers RoPE's as well.",
                 check("RoPE's difference is above 0", above("RoPE", {"nothing"}), both)},
  });

  const auto perplexities = [](int Perplexity::*data) {
    Sample column;
    for (const Perplexity& row : table_2) column.with(printed(row.method, row.*data));
    return column;
  };
  const Sample on_wikipedia = perplexities(&Perplexity::wikipedia),
               on_fineweb = perplexities(&Perplexity::fineweb);
  const Samples needle_tasks = {rounded_sums(table_4[0]), rounded_sums(table_4[1]),
                                rounded_sums(table_4[2])};
  claims["bam/perplexity_not_retrieval"] = Claim({
      .title = "A lower perplexity does not mean a better retrieval",
      .source = source("Appendix D.2, \"perplexity should not be taken as the sole measure of "
                       "effective context length extrapolation\", against Tables 2 and 4"),
      .statement = "\"Models can make accurate next-token predictions without integrating "
                   "information from earlier parts of the sequence\": some encoding has a lower "
                   "perplexity than another on both data sets of Table 2 and a lower accuracy on "
                   "all three needle tasks of Table 4. Examined at Sinusoidal SSMax and RoPE "
                   "SSMax.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Perplexity up to 512 tokens, accuracy from 1K to 12K tokens.",
                              "It says which numbers are read; those of Figures 6 and 7 are drawn "
                              "only."),
                   definition("Accuracy is the mean over the lengths.",
                              "It says what the word means.")},
      .proof = holds("Sinusoidal SSMax and RoPE SSMax: 19.15 against 20.19 on Wikipedia, 22.32 "
                     "against 24.45 on FineWeb; summed over the nine lengths 0.00 against 4.64, "
                     "0.70 against 4.24 and 0.08 against 0.74, each within 0.045 for the "
                     "roundings. (At similar perplexities, 22.14 for "
                     "BAM SSMax and 22.21 for ALiBi SSMax, the sums over all three are 15.00 and "
                     "4.00.)"),
      .checks = {check("Sinusoidal SSMax is below RoPE SSMax (perplexity, 10^-4)",
                       below("Sinusoidal SSMax", {"RoPE SSMax"}), {on_wikipedia, on_fineweb}),
                 check("sum over the lengths: Sinusoidal SSMax is below RoPE SSMax (hundredths)",
                       below("Sinusoidal SSMax", {"RoPE SSMax"}), needle_tasks)},
      .mutant = {"Of BAM and RoPE as well.", check("sum over the lengths: BAM is below RoPE SSMax",
                                                   below("BAM", {"RoPE SSMax"}), needle_tasks)},
  });

  const auto no_higher = at_least_zero<"RoPE", "RoPE SSMax">(
      []<class R>(R rope, R with_ssmax) { return rope - with_ssmax; });
  claims["bam/rope_ssmax_baseline"] = Claim({
      .title = "RoPE with scalable softmax is as strong a baseline as RoPE",
      .source =
          source("Appendices E, F.2 and G, \"superior to RoPE\", against Tables 2, 3, 5 and 6"),
      .statement =
          "\"BAM SSMax is superior to RoPE in all the evaluated benchmarks\", as RoPE "
          "SSMax shows, the only RoPE of Tables 3, 5 and 6: in Table 2 its perplexity is no "
          "higher than that of RoPE.",
      .implicit = {printed_numbers_are_rounded,
                   "The 120M models of Table 2, up to 512 tokens, stand for the 1B models, whose "
                   "RoPE without scalable softmax is not printed."},
      .correction = "It has the higher perplexity on both data sets. RoPE without scalable softmax "
                    "is ahead of BAM SSMax on Wikipedia.",
      .proof = refuted("Wikipedia: RoPE 18.3599, RoPE SSMax 20.1854, BAM SSMax 18.6897. FineWeb: "
                       "22.4428, 24.4507 and 22.1363. (In long contexts the order may be another: "
                       "no table has RoPE without scalable softmax there.)"),
      .checks = {check("10^4 (RoPE - RoPE SSMax) >= 0", no_higher, {on_wikipedia, on_fineweb}),
                 correction("RoPE is below RoPE SSMax", below("RoPE", {"RoPE SSMax"}),
                            {on_wikipedia, on_fineweb}),
                 correction("Wikipedia: RoPE is below BAM SSMax", below("RoPE", {"BAM SSMax"}),
                            {on_wikipedia})},
      .mutant = {"On FineWeb RoPE is ahead of BAM SSMax.",
                 check("FineWeb: RoPE is below BAM SSMax", below("RoPE", {"BAM SSMax"}),
                       {on_fineweb})},
  });

  const auto gained = above_zero<"RoPE SSMax", "RoPE">(
      []<class R>(R with_ssmax, R rope) { return with_ssmax - rope; });
  const auto on_par = equals_zero<"RoPE SSMax", "RoPE">(
      []<class R>(R with_ssmax, R rope) { return with_ssmax - rope; });
  const auto reach = [](double with_ssmax) {
    return Sample{{"RoPE SSMax", with_ssmax}, {"RoPE", 1}};
  };
  claims["bam/ssmax_improves_rope"] = Claim({
      .title = "Scalable softmax by itself improves RoPE's generalisation to longer contexts",
      .source = source("Appendix H.4, paragraph after Figure 13, against appendix H.3"),
      .statement = "\"The fact that Scalable Softmax improves context length generalization both "
                   "for BAM and for RoPE shows that good PE is necessary but not sufficient\": "
                   "RoPE SSMax goes farther than RoPE.",
      .hypotheses = {"For RoPE SSMax the angles were changed after training, by 100x in place of "
                     "50x; \"without this RoPE SSMax would perform on par with standard RoPE\" "
                     "(appendix H.3)."},
      .implicit = {"By itself means with the angles of the training.",
                   "What appendix H.3 says of the models trained on 1,024 holds of those of "
                   "appendix H.4.",
                   "On par means equally far, in units of RoPE's reach."},
      .correction =
          "By itself it leaves RoPE where it is; with the angles changed after training as "
          "well RoPE goes farther.",
      .proof =
          refuted("If both are on par without the change, the gain is that of the change, or of "
                  "the two together. (Table 2, up to 512 tokens: RoPE SSMax has the higher "
                  "perplexity, bam/rope_ssmax_baseline.)"),
      .checks = {check("RoPE SSMax - RoPE > 0 without the change", gained, {reach(1)}),
                 correction("RoPE SSMax - RoPE = 0 without the change", on_par, {reach(1)})},
      .mutant = {"Without the change it reaches three quarters as far.",
                 check("RoPE SSMax - RoPE = 0 at 3/4 of its reach", on_par, {reach(0.75)})},
  });

  const auto named_in_both = total({"encodings in both"}, "encodings named");
  const auto encodings = numbers_of({"encodings in both", "encodings named"});
  claims["bam/figure_7_rope"] = Claim({
      .title = "On Wikipedia BAM, RoPE and ALiBi keep a low perplexity",
      .source = source("Appendix D.2, paragraph on Figure 7, against its caption"),
      .statement = "\"BAM, RoPE and ALiBi are able to maintain low perplexity across all the "
                   "evaluated context lengths\", a \"similar trend to Fineweb 10B\": they are the "
                   "three of the caption, \"BAM, RoPE Local and ALiBi\".",
      .implicit = {definition("Text and caption name the same encodings.",
                              "The numbers of Figure 7 are drawn only.")},
      .condition = "\"RoPE\" stands for RoPE Local.",
      .proof = holds_under_condition(
          "BAM and ALiBi are in both lists. On FineWeb, in the paragraph before, RoPE is one of "
          "those that \"fail to extrapolate\", and RoPE Local one of the four that do not."),
      .checks = {check("2 in both = 3 named", named_in_both, {encodings(2, 3)}),
                 condition("with RoPE Local, 3 in both = 3 named", named_in_both,
                           {encodings(3, 3)})},
      .mutant = {"ALiBi alone is in both.",
                 check("1 in both = 3 named", named_in_both, {encodings(1, 3)})},
  });

  // Right answers k of n, against a score in 10^-4.
  const auto score = [](double n, double ten_thousandths, double lower, double upper) {
    return Sample{
        {"questions", n}, within("right", lower, upper), printed("score", ten_thousandths)};
  };
  const auto counts = equals_zero<"questions", "right", "score">(
      []<class R>(R n, R right, R score) { return R(10000.0) * right - n * score; });
  const auto of_challenge = [&](double ten_thousandths, double below) {
    return Samples{score(1172, ten_thousandths, 0, below),
                   score(1172, ten_thousandths, below + 1, 1172)};
  };
  const auto rounds = between("lower end", "10^4 x points", "upper end");
  const auto fraction = [](double right, double n, double least, double most) {
    return Sample{
        {"lower end", least * n}, {"10^4 x points", 10000 * right}, {"upper end", most * n}};
  };
  claims["bam/table_3_counts"] = Claim({
      .title = "The scores of Table 3 on ARC are points over the number of its questions",
      .source = source("Appendix E, Table 3"),
      .statement = "The scores on ARC, 0.5770 and 0.5715 on the easy and 0.4132 and 0.4123 on the "
                   "challenging questions, are points over the number of questions.",
      .implicit = {definition_of_printed_numbers(),
                   definition(
                       "The questions are those of the benchmark's test sets, 2,376 easy and "
                       "1,172 challenging ones, as its authors count them.",
                       "It says how many there are; the manuscript does not."),
                   needed("A question where the right answer ties with others counts in part, 1/k "
                          "of a point for k answers, as the benchmark's authors have it; the "
                          "manuscript does not say what a point is.",
                          "No whole number of points prints 0.4132.",
                          exists("some whole number k of 1172: k / 1172 = 0.4132, k <= 484 or >= "
                                 "485",
                                 counts, of_challenge(4132, 484)))},
      .proof = holds_under_condition(
          "Easy questions: 1371 and 1358 of 2,376, without ties. Challenging ones: 484/1172 = "
          "0.4130 and 485/1172 = 0.4138, 483/1172 = 0.4121, so neither 0.4132 nor 0.4123 is "
          "printed for a whole number of points. One tie of four makes them 484 1/4 and 483 1/4: "
          "0.41318 and 0.41233. (Nor is either printed for a whole number of the development set's "
          "299 questions or of all sets' 2,590. Ties, an average over several runs or another set "
          "of questions are not mentioned. The two differ by 0.0009, one question of 1,172.)"),
      .checks =
          {check("1371 and 1358 of 2376 are 0.5770 and 0.5715", rounds,
                 {fraction(1371, 2376, 5769.5, 5770.5), fraction(1358, 2376, 5714.5, 5715.5)}),
           check("484 + 1/4 and 483 + 1/4 of 1172 are 0.4132 and 0.4123", rounds,
                 {fraction(484.25, 1172, 4131.5, 4132.5), fraction(483.25, 1172, 4122.5, 4123.5)})},
      .mutant = {"Of 299 questions.",
                 exists("some whole number k of 299: k / 299 = 0.4132, k <= 123 or >= 124", counts,
                        {score(299, 4132, 0, 123), score(299, 4132, 124, 299)})},
  });

  // `share` in thousandths.
  const auto similar = at_least_zero<"BAM", "ALiBi">([]<class R>(R bam, R alibi, int share) {
    const R slack = alibi * R(share) / R(1000);
    return std::vector<Placed<R>>{{alibi + slack - bam, "above"}, {bam - alibi + slack, "below"}};
  });
  Samples beside_alibi;
  for (const std::string& variant : {std::string(), std::string(" SSMax")}) {
    for (const auto data : {&Perplexity::wikipedia, &Perplexity::fineweb}) {
      Sample pair;
      for (const Perplexity& row : table_2) {
        if (row.method == "BAM" + variant) pair.with(printed("BAM", row.*data));
        if (row.method == "ALiBi" + variant) pair.with(printed("ALiBi", row.*data));
      }
      beside_alibi.push_back(pair);
    }
  }
  claims["bam/similar_perplexity"] = Claim({
      .title = "BAM has a perplexity similar to ALiBi's",
      .source = source("Section 3.2, last paragraph; abstract (\"comparable perplexity\"); section "
                       "5 (\"low perplexity\")"),
      .statement = "\"BAM has similar perplexity to ALiBi\": in Table 2, on both data sets, with "
                   "and without scalable softmax, within 2.5% of it.",
      .hypotheses = {definition("Table 2: 120M models, at most 512 tokens.",
                                "It says which numbers are read; those of Figures 6 and 7 are "
                                "drawn only.")},
      .implicit = {definition_of_printed_numbers(),
                   definition("2.5% stands for any bound that makes two perplexities similar.",
                              "Without a number there is nothing to check.")},
      .proof = holds("BAM over ALiBi: 18.9281/18.5452 = 1.0206 and 22.2640/22.1771 = 1.0039, with "
                     "scalable softmax 18.6897/18.4967 = 1.0104 and 22.1363/22.2125 = 0.9966."),
      .checks = check("|BAM - ALiBi| <= 0.025 ALiBi", similar(25), beside_alibi),
      .mutant = {"Within 1%.", check("|BAM - ALiBi| <= 0.01 ALiBi", similar(10), beside_alibi)},
  });
}

}  // namespace plumbline::proofs_checks::bam
