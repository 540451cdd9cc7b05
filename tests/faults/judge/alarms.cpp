// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/alarms.hpp"

#include <algorithm>
#include <mutex>

#include "support/draw.hpp"
#include "tests/faults/judge/campaign.hpp"
#include "tests/faults/judge/features.hpp"
#include "verdict/oracle/rows.hpp"
#include "verdict/property/property.hpp"
#include "verdict/report/cover.hpp"

namespace plumbline::bench {

AlarmResult false_alarms(long runs, std::uint64_t seed, long products, int threads,
                         const std::function<void(long)>& done) {
  const auto& biases = cases::every_bias();
  const auto& formats = kernel_formats;
  const auto& passes = cases::all_passes();
  AlarmResult result;
  std::mutex adding;
  verdict::for_each_index(static_cast<std::size_t>(runs), threads, [&](std::size_t n) {
    // Passes in turn, then formats, then biases: any few hundred runs have something of all.
    const auto pass = passes[n % passes.size()];
    const auto format = formats[n / passes.size() % std::size(formats)];
    auto bias = biases[n / passes.size() / std::size(formats) % biases.size()];
    const Draw draw(seed, 5 + n);
    // 41 has no divisor in common with the turns above.
    if (n % 41 == 40) {
      bias = custom_biases()[draw.below(5, static_cast<std::uint32_t>(custom_biases().size()))];
      if (draw.below(6, 4) == 0) bias.rope = PLUMBLINE_ROPE_HALF_SPLIT;
    }
    // Every fiftieth over more than 8192 keys: of a bias that leaves attention diffuse, which
    // decoding and the score methods' oracles, made for short rows, are not asked for.
    const bool diffuse = n % 50 == 49;
    // One in ten may be large, for what only long sums show; many small ones find more.
    const long largest = n % 10 == 0 ? products : std::min(products, 1L << 16);
    const auto spec =
        diffuse ? case_of(n / 50 % 2 == 0 ? cases::Pass::forward : cases::Pass::backward,
                          n / 100 % 2 == 0 ? PLUMBLINE_NOPE : PLUMBLINE_T5, format, true,
                          draw.word(0), largest)
                : with_some_features(case_of(pass, bias, format, false, draw.word(0), largest),
                                     draw.word(4));
    Variant variant = drawn_variant(static_cast<int>(format), draw.word(1));
    // Half of them, whatever the pass, format and bias.
    if (draw.word(2) & 1) variant = laxer_variant(variant, static_cast<int>(format), draw.word(3));
    const auto judged =
        verdict::check_spec(kernel_of({variant, {}, built_in_formula(spec.bias)}), spec, 1);
    const std::scoped_lock lock(adding);
    ++result.by_cell[{spec.pass, format}];
    result.packed += spec.is_packed();
    result.strided += spec.is_strided();
    result.capped += spec.softcap != 0;
    result.with_sinks += spec.sinks;
    result.more_queries += spec.queries > spec.keys;
    result.latent += verdict::has_latent_widths(spec);
    result.custom += spec.bias.method == PLUMBLINE_CUSTOM;
    result.undecided += judged.outcome == verdict::Outcome::undecided;
    if (judged.outcome == verdict::Outcome::fail) {
      std::string why;
      for (const auto& gate : gates_of(judged.counterexample->judgement)) {
        why += (why.empty() ? "" : ", ") + gate;
      }
      result.alarms.push_back(cases::to_line(spec) + "; " + describe(variant) + "; " + why);
    } else {
      for (const auto& [name, output] : judged.outputs) {
        double& worst = result.worst[{name, format}];
        // An undecided element has no bound.
        if (judged.outcome == verdict::Outcome::pass) worst = std::max(worst, output.worst);
      }
    }
    ++result.runs;
    if (done) done(result.runs);
  });
  std::sort(result.alarms.begin(), result.alarms.end());
  return result;
}

}  // namespace plumbline::bench
