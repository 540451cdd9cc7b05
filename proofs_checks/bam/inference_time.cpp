// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>
#include <map>

#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The ends of all ranges mean +- deviation in Table 8. Each sums up two roundings.
Sample time_ranges(double millions, int size) {
  Sample ends{{"million parameters", millions}};
  for (const Timing& row : table_8) {
    ends.with(printed(row.method + ", lower end", row.mean[size] - row.deviation[size], 2));
    ends.with(printed(row.method + ", upper end", row.mean[size] + row.deviation[size], 2));
  }
  return ends;
}

void claims_of_the_timings(Claims& claims) {
  const Samples sizes = {time_ranges(120, 0), time_ranges(430, 1), time_ranges(1100, 2)};
  claims["bam/table_8_bam_time"] = Claim({
      .title = "BAM does not affect the inference time in comparison to other encodings",
      .source = source("Appendix H.7, last paragraph, against Table 8"),
      .statement = "\"BAM does not affect model inference time in comparison to other PEs\": "
                   "without scalable softmax its range mean +- deviation is not above that of any "
                   "other encoding.",
      .implicit = {printed_numbers_are_rounded,
                   "A difference counts if the two ranges do not meet."},
      .correction = "BAM takes longer than ALiBi at all three sizes, by 1.70, 0.61 and 0.97 ms, "
                    "more than both deviations together.",
      .proof = refuted(
          "BAM 33.13 +- 0.53, 52.85 +- 0.24 and 120.31 +- 0.38 ms; ALiBi 31.43 +- 0.73, 52.24 +- "
          "0.27 and 119.34 +- 0.39. It takes longer than Sinusoidal at 430M and 1.1B as well. "
          "(NoPE, which computes least, has the longest times of all without scalable softmax: "
          "the table does not show the cost of the encodings alone.)"),
      .checks = {check("BAM mean - deviation is below every other mean + deviation (hundredths of "
                       "ms)",
                       below("BAM, lower end", {"ALiBi, upper end", "Sinusoidal, upper end",
                                                "RoPE, upper end", "NoPE, upper end"}),
                       sizes),
                 correction("BAM mean - deviation is above ALiBi mean + deviation",
                            above("BAM, lower end", {"ALiBi, upper end"}), sizes)},
      .mutant = {"BAM and RoPE meet at 120M.",
                 check("120M: BAM mean + deviation is above RoPE mean - deviation",
                       above("BAM, upper end", {"RoPE, lower end"}), {sizes.front()})},
  });

  // What scalable softmax adds to each mean, and both deviations together.
  const auto added = [](std::initializer_list<int> sizes) {
    std::map<std::string, const Timing*> of;
    for (const Timing& row : table_8) of[row.method] = &row;
    Samples samples;
    for (int size : sizes) {
      for (const char* method : {"Sinusoidal", "RoPE", "ALiBi", "BAM", "NoPE"}) {
        const Timing &without = *of[method], &with = *of[std::string(method) + " SSMax"];
        samples.push_back(
            {printed("added", with.mean[size] - without.mean[size], 2),
             printed("deviations", with.deviation[size] + without.deviation[size], 2)});
      }
    }
    return samples;
  };
  claims["bam/table_8_deviation_only"] = Claim({
      .title = "In bigger models scalable softmax affects the standard deviation only",
      .source = source("Appendix H.7, second paragraph, against Table 8"),
      .statement = "\"For smaller models the cost of performing Scalable Softmax dominates the "
                   "results. This is imperceptible in bigger models, since the only impact of "
                   "Scalable Softmax appears to be in the standard deviation\": at 430M and 1.1B "
                   "it adds less to the mean than both deviations together.",
      .implicit = {printed_numbers_are_rounded, "The bigger models are those of 430M and 1.1B."},
      .correction = "At 430M and 1.1B it adds more than both deviations together to every "
                    "encoding's mean, at 120M less to every one's.",
      .proof = refuted(
          "Added, and both deviations, in ms. 430M: Sinusoidal 2.41 and 0.65, RoPE 2.23 and 0.55, "
          "ALiBi 1.98 and 0.48, BAM 6.65 and 0.42, NoPE 2.26 and 1.12. 1.1B: 3.65 and 0.97, 2.84 "
          "and 0.78, 2.75 and 0.72, 12.83 and 0.79, 3.61 and 1.40. 120M: -0.02, 0.27, 0.78, -0.12 "
          "and 0.34, all within the deviations, 0.82 and more: the opposite of the sentence."),
      .checks = {check("430M, 1.1B: added is below the deviations (hundredths of ms)",
                       below("added", {"deviations"}), added({1, 2})),
                 correction("430M, 1.1B: added is above the deviations, for every encoding",
                            above("added", {"deviations"}), added({1, 2})),
                 correction("120M: added is below the deviations, for every encoding",
                            below("added", {"deviations"}), added({0}))},
      .mutant = {"At 120M it adds more than the deviations.",
                 check("120M: added is above the deviations", above("added", {"deviations"}),
                       added({0}))},
  });

  const auto named = total({"in Table 8", "missing"}, "named");
  const auto baselines = numbers_of({"in Table 8", "missing", "named"});
  claims["bam/table_8_baselines"] = Claim({
      .title = "BAM and all the baselines were timed",
      .source = source("Appendix H.7, first paragraph, against Table 8; appendix I"),
      .statement = "\"We initialize BAM and all the baselines\": Table 8 has the five that section "
                   "3 names, Sinusoidal, NoPE, RoPE, Local RoPE and ALiBi.",
      .implicit = {"All that were timed are in the table.",
                   "Local RoPE counts, as in section 3 and Table 4."},
      .correction = "Four of five: RoPE Local is missing, as in Table 2.",
      .proof = refuted("Table 8 has ten rows: Sinusoidal, RoPE, ALiBi, BAM and NoPE, each with and "
                       "without scalable softmax. (Appendix I names four baselines.)"),
      .checks = {check("4 = 5", named, {baselines(4, 0, 5)}),
                 correction("4 + 1 = 5", named, {baselines(4, 1, 5)})},
      .mutant = {"Two are missing.", check("4 + 2 = 5", named, {baselines(4, 2, 5)})},
  });

  // Bytes for each parameter, against the memory of Table 8.
  const auto room = [](double bytes) {
    const std::vector<double> millions = {120, 430, 1100};
    Samples samples;
    for (int size = 0; size < 3; ++size) {
      for (const Timing& row : table_8) {
        samples.push_back(
            {printed("memory", row.memory[size]), {"needed", bytes * millions[size]}});
      }
    }
    return samples;
  };
  claims["bam/table_8_memory"] = Claim({
      .title = "The memory of Table 8 has room for a backward pass",
      .source = source("Caption of Table 8, \"vram (GB) during the backward pass\""),
      .statement = "\"Inference time (ms) and vram (GB) during the backward pass\": every printed "
                   "memory has room for the weights and their gradients.",
      .implicit = {definition_of_printed_numbers(),
                   definition("Four bytes for each weight and each gradient; a GB is 10^9 bytes.",
                              "It says what is stored."),
                   definition("The models have 120, 430 and 1100 million parameters, as Table 8 "
                              "names them.",
                              "It says what is counted.")},
      .proof = holds("8 bytes a parameter are 0.96, 3.44 and 8.8 GB; the least of the column are "
                     "1.734, 4.933 and 12.319. (Inference, which the text speaks of, needs no "
                     "gradients: weights alone are 0.48, 1.72 and 4.4 GB.)"),
      .checks = check("1000 (memory - 8 bytes a parameter) > 0 (GB)", above("memory", {"needed"}),
                      room(8)),
      .mutant = {"And for RAdam's two moments.",
                 check("1000 (memory - 16 bytes a parameter) > 0 (GB)", above("memory", {"needed"}),
                       room(16))},
  });
}

}  // namespace

void claims_of_inference_time(Claims& claims) {
  const Sample of_120m = time_ranges(120, 0), of_430m = time_ranges(430, 1),
               of_1100m = time_ranges(1100, 2);
  const std::vector<std::string> other_ends = {"Sinusoidal SSMax, upper end",
                                               "RoPE SSMax, upper end", "ALiBi SSMax, upper end",
                                               "NoPE SSMax, upper end"};
  // The ends of all ranges mean +- twice the deviation: three roundings each.
  const auto two_deviations = [](double millions, int size) {
    Sample ends{{"million parameters", millions}};
    for (const Timing& row : table_8) {
      const int twice = 2 * row.deviation[size];
      ends.with(printed(row.method + ", lower end", row.mean[size] - twice, 3));
      ends.with(printed(row.method + ", upper end", row.mean[size] + twice, 3));
    }
    return ends;
  };
  claims["bam/table_8_equivalent"] = Claim({
      .title = "Every encoding has the same inference time within the standard deviation",
      .source = source("Appendix H.7; section 3.2, \"no measurable impact on inference time\""),
      .statement = "\"When we account for the standard deviation, every model has equivalent "
                   "inference time\": the ranges mean +- deviation of any two of the ten rows of "
                   "Table 8 overlap, at every size. Examined at BAM's.",
      .implicit = {printed_numbers_are_rounded,
                   "Equivalent means that the two ranges overlap, of one deviation to both sides; "
                   "or of two."},
      .correction = "With scalable softmax BAM is the slowest of all at 430M (59.50 ms, others "
                    "53.39 to 58.36) and at 1.1B (133.14 ms, others 120.91 to 124.95), by more "
                    "than the deviations add up to. Without it, it is slower than ALiBi at all "
                    "three sizes, by more than the deviations.",
      .proof = refuted(
          "All readings fail. Of the 45 pairs of rows 27 are disjoint at 120M, 41 at 430M, 38 at "
          "1.1B; with two deviations 12, 34 and 30. Of the ten pairs without scalable softmax 8, "
          "9 and 7 (with two deviations 3, 6 and 4), of those with it 6, 10 and 10 (4, 8 and 7). "
          "BAM and ALiBi without it: 33.13 +- 0.53 and 31.43 +- 0.73 ms, 52.85 +- 0.24 and 52.24 "
          "+- 0.27, 120.31 +- 0.38 and 119.34 +- 0.39, differences of 1.70, 0.61 and 0.97 ms (5.4, "
          "1.2 and 0.8 percent) against deviations that add up to 1.26, 0.51 and 0.77: disjoint at "
          "all sizes, though not with two deviations. With it: 33.01 +- 0.81 and 32.21 +- 0.09 "
          "overlap; 59.50 +- 0.18 and 54.22 +- 0.21, 133.14 +- 0.41 and 122.09 +- 0.33 are 5.28 "
          "and 11.05 ms apart, 9.7 and 9.1 percent, 13.5 and 14.9 times both deviations. (Without "
          "scalable softmax NoPE, "
          "which leaves out the encoding, has the longest time at every size, 38.15, 56.10 and "
          "121.34 ms; so more than the encodings differs between the rows, and what BAM costs is "
          "another question. The caption says backward pass, the text inference.)"),
      .checks = {check("BAM SSMax mean - deviation is below every other mean + deviation "
                       "(hundredths of ms)",
                       below("BAM SSMax, lower end", other_ends), {of_430m, of_1100m, of_120m}),
                 check("BAM mean - deviation is below ALiBi mean + deviation, without scalable "
                       "softmax",
                       below("BAM, lower end", {"ALiBi, upper end"}), {of_120m, of_430m, of_1100m}),
                 check("430M, 1.1B: BAM SSMax mean - 2 deviations is below every other mean + 2 "
                       "deviations",
                       below("BAM SSMax, lower end", other_ends),
                       {two_deviations(430, 1), two_deviations(1100, 2)}),
                 correction(
                     "BAM mean - deviation is above ALiBi mean + deviation, without scalable "
                     "softmax",
                     above("BAM, lower end", {"ALiBi, upper end"}), {of_120m, of_430m, of_1100m}),
                 correction(
                     "430M, 1.1B: BAM SSMax mean - deviation is above every other mean + deviation",
                     above("BAM SSMax, lower end", other_ends), {of_430m, of_1100m})},
      .mutant = {"Without scalable softmax BAM and Sinusoidal overlap at 430M.",
                 check("430M: BAM mean - deviation is below Sinusoidal mean + deviation",
                       below("BAM, lower end", {"Sinusoidal, upper end"}), {of_430m})},
  });

  std::map<std::string, std::vector<int>> mean;
  for (const Timing& row : table_8) mean[row.method] = row.mean;
  const auto added = [&](const std::string& method) {
    const std::vector<int> with = mean.at(method + " SSMax"), without = mean.at(method);
    return Sample{printed("120M", with[0] - without[0], 2),
                  printed("430M", with[1] - without[1], 2),
                  printed("1.1B", with[2] - without[2], 2)};
  };
  claims["bam/table_8_ssmax_cost"] = Claim({
      .title = "Scalable softmax costs time in small models and none in bigger ones",
      .source = source("Appendix H.7, second paragraph"),
      .statement = "\"For smaller models the cost of performing Scalable Softmax dominates the "
                   "results. This is imperceptible in bigger models\": what it adds to BAM is "
                   "larger at 120M than at 430M and 1.1B.",
      .implicit = {printed_numbers_are_rounded},
      .correction = "What scalable softmax adds grows with the model: nothing measurable at 120M, "
                    "2 to 13 ms at 1.1B.",
      .proof = refuted("BAM: 33.13 to 33.01 ms at 120M (-0.12), 52.85 to 59.50 at 430M (+6.65), "
                       "120.31 to 133.14 at 1.1B (+12.83): the opposite order. The other encodings "
                       "gain 2.75 to 3.65 ms at 1.1B, several deviations."),
      .checks = {check("BAM: added at 120M above added at 430M and 1.1B (hundredths of ms)",
                       above("120M", {"430M", "1.1B"}), {added("BAM")}),
                 correction("BAM: added at 1.1B above added at 430M above added at 120M",
                            above("1.1B", {"430M", "120M"}), {added("BAM")}),
                 correction(
                     "NoPE, ALiBi, RoPE, Sinusoidal: added at 1.1B is more than 2 ms",
                     above("1.1B", {"threshold"}),
                     with({added("NoPE"), added("ALiBi"), added("RoPE"), added("Sinusoidal")},
                          {{{"threshold", 200}}}))},
      .mutant = {"It adds nothing to BAM at 1.1B.",
                 check("BAM at 1.1B: 0 is above what is added", above("nothing", {"1.1B"}),
                       {{{"nothing", 0}, {"1.1B", 13314 - 12031}}})},
  });

  const auto sizes_add_up = total({"120M", "430M", "1.1B"}, "claimed");
  const auto sizes = [](double claimed) {
    return Sample{{"120M", 1}, {"430M", 1}, {"1.1B", 1}, {"claimed", claimed}};
  };
  claims["bam/table_8_sizes"] = Claim({
      .title = "Four model sizes were timed",
      .source = source("Appendix H.7, first paragraph, against Table 8"),
      .statement = "\"We initialize BAM and all the baselines with trainable weights of four "
                   "distinct model sizes.\"",
      .implicit = {"All sizes that were timed are in the table."},
      .correction = "Three.",
      .proof = refuted("Table 8 has columns for 120M, 430M and 1.1B; Table 1 lists three models."),
      .checks = {check("sizes in Table 8 = 4", sizes_add_up, {sizes(4)}),
                 correction("sizes in Table 8 = 3", sizes_add_up, {sizes(3)})},
      .mutant = {"Table 8 has five.", check("sizes in Table 8 = 5", sizes_add_up, {sizes(5)})},
  });

  claims_of_the_timings(claims);
}

}  // namespace plumbline::proofs_checks::bam
