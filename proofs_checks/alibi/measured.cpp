// SPDX-License-Identifier: Apache-2.0
// Speed, memory and perplexity: what the article says of measurements.
#include <algorithm>

#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/cable/tables.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

/// The numbers of the original paper, which the article's two figures of measurements draw, on
/// WikiText-103. Appendix, Table 1: training and inference in hundreds of words per second, memory
/// of training in tenths of a gigabyte, by the training length.
struct Measured {
  std::string method;
  std::vector<int> training, inference, memory;
};
const std::vector<int> measured_lengths = {512, 1024, 3072};
const Measured measured_alibi = {"ALiBi", {283, 258, 155}, {858, 764, 422}, {153, 193, 152}};
const Measured measured_sinusoidal = {
    "Sinusoidal", {285, 260, 153}, {821, 778, 424}, {153, 192, 151}};
const Measured measured_rotary = {"Rotary", {200, 177, 115}, {434, 394, 295}, {178, 228, 178}};
const Measured measured_t5 = {"T5 bias", {144, 130, 43}, {218, 202, 49}, {169, 209, 159}};
/// Table 3: perplexities in hundredths, trained at 1024.
const Table original_perplexities = {
    {1024, 1124, 1524, 2024, 3024, 6024, 10024, 16024},
    {{"ALiBi", {1866, 1846, 1822, 1805, 1792, 1801, 1797, 1798}},
     {"Sinusoidal", {1934, 1926, 2982, 5109, 9646, 21402, 33748, 45332}},
     {"Rotary", {1933, 1918, 2259, 3117, 3567, 5478, 7770, 10699}},
     {"T5 bias", {1880, 1862, 1842, 1834, 1862, 2176, 2954, Table::missing}}}};
constexpr const char* numbers_of_the_figure =
    "The article prints no numbers; those that its figure draws are in the appendix of the "
    "original paper.";

/// "ALiBi" and "the other", at each length.
Samples side_by_side(std::vector<int> Measured::*what, const std::vector<Measured>& others) {
  Samples samples;
  for (const Measured& other : others) {
    for (std::size_t k = 0; k < measured_lengths.size(); ++k) {
      samples.push_back({{"L", static_cast<double>(measured_lengths[k])},
                         printed("ALiBi", (measured_alibi.*what)[k]),
                         printed("the other", (other.*what)[k])});
    }
  }
  return samples;
}

}  // namespace

void claims_of_measured(Claims& claims) {
  const auto within_percent =
      above_zero<"ALiBi", "the other">([]<class R>(const R& alibi, const R& other, double percent) {
        return R(percent) * other - R(100.0) * absolute(alibi - other);
      });
  const auto within_factor =
      above_zero<"ALiBi", "the other">([]<class R>(const R& alibi, const R& other, double factor) {
        return std::vector<Placed<R>>{{R(factor) * alibi - other, "ALiBi has less"},
                                      {R(factor) * other - alibi, "the other has less"}};
      });
  // Table 8 of BAM, in hundredths of a millisecond: with and without scalable softmax.
  Samples milliseconds;
  for (const std::string ssmax : {"", " SSMax"}) {
    const auto row = [&](const std::string& method) {
      return *std::ranges::find(bam::table_8, method + ssmax, &bam::Timing::method);
    };
    for (int size = 0; size < 3; ++size) {
      milliseconds.push_back(
          {{"million parameters", size == 0 ? 120.0 : (size == 1 ? 430.0 : 1100.0)},
           printed("ALiBi", row("ALiBi").mean[size]),
           printed("the other", row("Sinusoidal").mean[size])});
    }
  }
  claims["alibi/speed_against_sinusoidal"] = Claim({
      .title = "ALiBi is as fast as sinusoidal embeddings",
      .source = source("Why does this work so well, text after the figure of speed and memory"),
      .statement = "\"Speed differences between sinusoidal and ALiBi are negligible and do not "
                   "meaningfully affect training or inference\": they are below 5 percent.",
      .implicit = {definition("Negligible is less than 5 percent.",
                              "Without a number there is nothing to check."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .proof = holds("Words per second at 512, 1024 and 3072 tokens: training -0.7, -0.8 and +1.3 "
                     "percent, inference +4.5, -1.8 and -0.5. Milliseconds in Table 8 of the BAM "
                     "manuscript: -4.3 percent at 120M, +2.5 at 430M, +1.8 at 1.1B; with scalable "
                     "softmax -1.9, +1.6 and +1.0."),
      .checks = {check("training: 100 (0.05 Sinusoidal - |difference|) > 0", within_percent(5),
                       side_by_side(&Measured::training, {measured_sinusoidal})),
                 check("inference: the same", within_percent(5),
                       side_by_side(&Measured::inference, {measured_sinusoidal})),
                 check("time in Table 8 of BAM: the same", within_percent(5), milliseconds)},
      .mutant = {"Below 2 percent.",
                 check("inference: 100 (0.02 Sinusoidal - |difference|) > 0", within_percent(2),
                       side_by_side(&Measured::inference, {measured_sinusoidal}))},
  });

  const std::vector<Measured> three = {measured_sinusoidal, measured_rotary, measured_t5};
  claims["alibi/broadly_comparable"] = Claim({
      .title = "In speed and memory ALiBi is comparable to sinusoidal, rotary and T5 bias",
      .source = source("Why does this work so well, figure of speed and memory, and the text"),
      .statement = "\"Across batched training, inference speed, and memory use, ALiBi is broadly "
                   "comparable to sinusoidal, rotary, and T5 bias methods\": at every length "
                   "neither has 1.5 times the number of the other.",
      .implicit = {"Comparable is within a factor of 1.5.", numbers_of_the_figure,
                   printed_numbers_are_rounded},
      .correction =
          "It is so of memory with all three, of training with sinusoidal and rotary, and "
          "of inference with sinusoidal.",
      .proof = refuted(
          "ALiBi is much faster than two of the three. Against T5 bias it trains 2.0, 2.0 and 3.6 "
          "times as many words per second at 512, 1024 and 3072 tokens, and in inference 3.9, 3.8 "
          "and 8.6 times; against rotary 1.42, 1.46 and 1.35 times in training and 1.98, 1.94 and "
          "1.43 in inference. Memory differs by less than a fifth: 15.3, 19.3 and 15.2 GB against "
          "15.1 to 22.8."),
      .checks = {check("training: 1.5 times one - the other > 0", within_factor(1.5),
                       side_by_side(&Measured::training, three)),
                 check("inference: the same", within_factor(1.5),
                       side_by_side(&Measured::inference, three)),
                 correction("memory: 1.5 times one - the other > 0", within_factor(1.5),
                            side_by_side(&Measured::memory, three)),
                 correction(
                     "training, Sinusoidal and Rotary: the same", within_factor(1.5),
                     side_by_side(&Measured::training, {measured_sinusoidal, measured_rotary})),
                 correction("inference, Sinusoidal: the same", within_factor(1.5),
                            side_by_side(&Measured::inference, {measured_sinusoidal}))},
      .mutant = {"T5 bias trains at least at two thirds of ALiBi's speed.",
                 check("training, T5 bias: 1.5 times one - the other > 0", within_factor(1.5),
                       side_by_side(&Measured::training, {measured_t5}))},
  });

  const auto steps = [](const std::string& method, int shortest, int longest) {
    return pairs(original_perplexities, method, shortest, longest);
  };
  const auto rises = above("here", {"before"});
  claims["alibi/figure_rises"] = Claim({
      .title = "Beyond the training length sinusoidal, rotary and T5 rise in perplexity",
      .source = source("Why does this work so well, text after the figure of perplexities"),
      .statement =
          "\"Sinusoidal, rotary, and T5 positional methods show rising perplexity as "
          "sequences exceed training lengths\": it rises from step to step beyond 1024, the "
          "training length.",
      .implicit = {definition("The curves for models trained at 1024 tokens.",
                              "The figure has two panels, for 512 and 1024."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .condition = "T > 2024, about twice the training length.",
      .proof = holds_under_condition(
          "100 tokens beyond, all three are lower: 19.34 to 19.26, 19.33 to 19.18, 18.80 to 18.62. "
          "Then sinusoidal and rotary rise in every step, to 453 and 107; T5 bias falls to 18.34 "
          "at 2024 and rises after that, to 29.54 at 10,024. In Table 1 of CABLE all three rise "
          "from 1024 to 2048 and in every later step."),
      .checks = {check("Sinusoidal, T > 1024: here - before > 0 (hundredths)", rises,
                       steps("Sinusoidal", 1025, 16024)),
                 check("Rotary: the same", rises, steps("Rotary", 1025, 16024)),
                 check("T5 bias: the same", rises, steps("T5 bias", 1025, 10024)),
                 condition("Sinusoidal, steps from 2024 on", rises,
                           steps("Sinusoidal", 2025, 16024)),
                 condition("Rotary: the same", rises, steps("Rotary", 2025, 16024)),
                 condition("T5 bias: the same", rises, steps("T5 bias", 2025, 10024))},
      .mutant = {"So does ALiBi from 2024 on.",
                 check("ALiBi, steps from 2024 on: here - before > 0", rises,
                       steps("ALiBi", 2025, 16024))},
  });

  const auto lower_by_percent = above_zero([]<class R>(const Inputs<R>& in, double percent) {
    std::vector<Placed<R>> residuals;
    for (const char* other : {"Sinusoidal", "Rotary", "T5 bias", "RoPE", "T5-bias"}) {
      if (in.has(other)) {
        residuals.push_back(
            {R(100.0 - percent) * in.number(other) - R(100.0) * in.number("ALiBi"), other});
      }
    }
    return residuals;
  });
  const auto moves_less =
      above_zero<"before", "here">([]<class R>(const R& before, const R& here, double percent) {
        return R(percent) * before - R(100.0) * absolute(here - before);
      });
  const auto grows_by =
      above_zero<"before", "here">([]<class R>(const R& before, const R& here, double percent) {
        return R(100.0) * here - R(100.0 + percent) * before;
      });
  const auto since_training = [](const std::string& method, int shortest, int longest) {
    return pairs(original_perplexities, method, shortest, longest, 1024);
  };
  const std::vector<Table> cable_blocks = {cable::table_1_fineweb, cable::table_1_wikitext,
                                           cable::table_4_small,   cable::table_4_tiny,
                                           cable::table_5_medium,  cable::table_5_small};
  claims["alibi/lower_and_stable"] = Claim({
      .title = "Beyond the training length ALiBi's perplexity is markedly lower and stable",
      .source = source("Why does this work so well, text after the figure of perplexities"),
      .statement =
          "\"ALiBi's curve stays markedly lower and far more stable\": at lengths "
          "beyond 1024 it is 5 percent or more below the other three, and within 5 percent "
          "of its own value at 1024.",
      .implicit = {definition("Markedly lower is by 5 percent, stable is within 5 percent.",
                              "Without numbers there is nothing to check."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .condition = "T >= 6024, about six times the training length.",
      .proof = holds_under_condition(
          "ALiBi is lowest at every length, but at 1124 sinusoidal is 4.3 and rotary 3.9 percent "
          "above it, and T5 bias 0.9 percent at 1124, 1.6 at 2024, 3.9 at 3024. From 6024 on the "
          "next best, T5 bias, is 21 percent above. ALiBi goes from 18.66 at 1024 to 17.98 at "
          "16,024 and is never more than 4 percent away; the others grow by half and more. In the "
          "tables of CABLE ALiBi is more than 5 percent below all three at every T > 1024."),
      .checks = {check("T > 1024: 100 (0.95 other - ALiBi) > 0 (hundredths)", lower_by_percent(5),
                       rows(original_perplexities, 1025)),
                 check("100 (0.05 ALiBi at 1024 - |change|) > 0 (hundredths)", moves_less(5),
                       since_training("ALiBi", 1025, 16024)),
                 condition("T >= 6024: 100 (0.95 other - ALiBi) > 0 (hundredths)",
                           lower_by_percent(5), rows(original_perplexities, 6024)),
                 condition("100 (0.05 ALiBi at 1024 - |change|) > 0 (hundredths)", moves_less(5),
                           since_training("ALiBi", 1025, 16024)),
                 condition("CABLE, Tables 1, 4, 5, T > 1024: 100 (0.95 other - ALiBi) > 0",
                           lower_by_percent(5), rows(cable_blocks, 1025)),
                 condition("100 (T5 bias at 10,024 - 1.5 T5 bias at 1024) > 0 (hundredths)",
                           grows_by(50), since_training("T5 bias", 10024, 10024)),
                 condition("100 (Sinusoidal at 16,024 - 1.5 Sinusoidal at 1024) > 0", grows_by(50),
                           since_training("Sinusoidal", 16024, 16024)),
                 condition("100 (Rotary at 16,024 - 1.5 Rotary at 1024) > 0", grows_by(50),
                           since_training("Rotary", 16024, 16024))},
      .mutant = {"From 1524 on ALiBi is 5 percent below T5 bias.",
                 check("T >= 1524: 100 (0.95 other - ALiBi) > 0 (hundredths)", lower_by_percent(5),
                       rows(original_perplexities, 1524, 2024))},
  });

  const auto at_four_times = [&](const std::string& method) {
    Samples samples;
    for (const Table& block : cable_blocks) {
      for (Sample& one : pairs(block, method, 4096, 4096, 1024)) samples.push_back(std::move(one));
    }
    return samples;
  };
  claims["alibi/lost_at_four_times"] = Claim({
      .title = "Trained on 500 words, a model can be lost in 2,000",
      .source = source("Introduction, third paragraph"),
      .statement =
          "Methods that add positions to the word embeddings \"struggled when a sentence was "
          "longer "
          "than any sentence they had seen\"; trained on 500 words, a model \"can be completely "
          "lost "
          "trying to read a 2,000-word chapter\": at four times its training length the perplexity "
          "is at least ten times as high.",
      .hypotheses = {needed_as_the_mutant_shows("Positions are added to the word embeddings.",
                                                "ALiBi's perplexity hardly changes.")},
      .implicit = {definition("Completely lost is ten times the perplexity.",
                              "Without a number there is nothing to check."),
                   definition("The sinusoidal models of CABLE's Tables 1, 4 and 5, trained at 1024 "
                              "and read at 4096; 2,000 is four times 500 as well.",
                              "The article has no numbers."),
                   definition_of_printed_numbers()},
      .proof = holds("The six factors are 61, 26, 44, 39, 21 and 27. Learned positions cannot be "
                     "applied at all (cable/learnable_ends)."),
      .checks = check("100 (Sinusoidal at 4096 - 10 Sinusoidal at 1024) > 0 (hundredths)",
                      grows_by(900), at_four_times("Sinusoidal")),
      .mutant = {"So is ALiBi's.", check("100 (ALiBi at 4096 - 10 ALiBi at 1024) > 0 (hundredths)",
                                         grows_by(900), at_four_times("ALiBi"))},
  });

  // ALiBi and the encodings without a bias towards near tokens, at the training length.
  Samples trained_alike;
  for (int bam::Perplexity::*data : {&bam::Perplexity::wikipedia, &bam::Perplexity::fineweb}) {
    Sample column;
    for (const bam::Perplexity& row : bam::table_2) column.with(printed(row.method, row.*data));
    trained_alike.push_back(std::move(column));
  }
  for (Sample& row : rows(cable_blocks, 1024, 1024)) trained_alike.push_back(std::move(row));
  claims["alibi/learns_more"] = Claim({
      .title = "The bias helps the model learn more effectively",
      .source = source("Why does this work so well, 3"),
      .statement = "The bias towards near tokens \"helps the model learn faster and more "
                   "effectively\": after the same training, at the training length, ALiBi's "
                   "perplexity is below that of encodings without it: sinusoidal, learned, none, "
                   "rotary.",
      .implicit = {"More effectively is a lower perplexity after the same training. (How fast it "
                   "falls is printed nowhere.)",
                   "Table 2 of the BAM manuscript and T = 1024 in CABLE's Tables 1, 4 and 5; the "
                   "article has no numbers.",
                   printed_numbers_are_rounded},
      .correction = "It is below three of the four: sinusoidal, learned and none.",
      .proof = refuted(
          "Table 2: ALiBi 18.55 and 22.18, sinusoidal 18.93 and 22.36, none 19.86 and 23.79. In "
          "all six blocks of CABLE ALiBi is below sinusoidal and learned. Rotary is below ALiBi on "
          "Wikipedia (18.36) and in five of the six blocks, by 0.02 to 0.48; in GPT-2 Medium on "
          "FineWeb-Edu-10B it is above, 16.89 against 16.79."),
      .checks = {check("Sinusoidal, Learnable, NoPE, RoPE are above ALiBi",
                       below("ALiBi", {"Sinusoidal", "Learnable", "NoPE", "RoPE"}), trained_alike),
                 correction("Sinusoidal, Learnable, NoPE are above ALiBi",
                            below("ALiBi", {"Sinusoidal", "Learnable", "NoPE"}), trained_alike)},
      .mutant = {"It is the lowest of all in CABLE's tables.",
                 check("CABLE and Kerple are above ALiBi at T = 1024",
                       below("ALiBi", {"CABLE", "Kerple"}), rows(cable_blocks, 1024, 1024))},
  });

  const auto half_of_the_answers = [](int shortest) {
    return with(rows(bam::table_4, shortest), {{{"a half", 50}}});
  };
  const auto perplexity_since_1024 = [&] {
    Samples samples;
    for (const Table& block : cable_blocks) {
      for (Sample& one : pairs(block, "ALiBi", 1025, 15360, 1024))
        samples.push_back(std::move(one));
    }
    return samples;
  };
  claims["alibi/solves_extrapolation"] = Claim({
      .title = "ALiBi solves the problem of length extrapolation",
      .source = source("Conclusion; text after the figure of perplexities (\"robustness\")"),
      .statement = "A relative bias \"not only solves the critical problem of length "
                   "extrapolation\": what a model does at its training length it does at longer "
                   "ones. Examined at retrieval: of a needle in a text longer than the 512 tokens "
                   "of training, half of the answers are right.",
      .implicit = {"Table 4 of the BAM manuscript, ALiBi with scalable softmax, and CABLE's Tables "
                   "1, 4 and 5; the article has no numbers.",
                   printed_numbers_are_rounded},
      .correction = "The perplexity stays within a tenth of that at the training length, up to 15 "
                    "times as long; the retrieval does not.",
      .proof = refuted(
          "Single 1 of the needle tasks: 0.96 at 1024 tokens, 0.26 at 1536, 0.16 at 4096, 0.02 at "
          "8192; Single 2: 1.00, 0.46, 0.06, 0.00. Perplexity shows nothing of this: near words "
          "predict most of the next ones, and the slopes leave far ones little (alibi/gentle_head_"
          "reaches_far). In six blocks of CABLE it moves by at most 9 percent between 1024 and "
          "15,360 tokens."),
      .checks = {check("ALiBi is above a half from 1024 on (hundredths)",
                       above("ALiBi SSMax", {"a half"}), half_of_the_answers(1024)),
                 correction("T > 1024: 100 (0.1 ALiBi at 1024 - |change|) > 0 (hundredths)",
                            moves_less(10), perplexity_since_1024())},
      .mutant = {"From 2048 on it has half of the answers right.",
                 check("ALiBi is above a half from 2048 on", above("ALiBi SSMax", {"a half"}),
                       half_of_the_answers(2048))},
  });
}

}  // namespace plumbline::proofs_checks::alibi
