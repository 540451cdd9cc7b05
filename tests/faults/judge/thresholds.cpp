// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/draw.hpp"
#include "tests/faults/judge/kernel.hpp"
#include "verdict/oracle/rows.hpp"
#include "verdict/property/property.hpp"

namespace plumbline::bench {
namespace {

using F = FaultKind;

struct Question {
  const char* what;
  F fault;
  cases::Pass pass;
  cases::Bias bias;
};

using cases::Pass;
constexpr cases::Bias alibi = PLUMBLINE_ALIBI, cable = PLUMBLINE_CABLE,
                      kerple = PLUMBLINE_KERPLE_LOG;
constexpr Question questions[] = {
    {"the scale", F::scale_off, Pass::forward, alibi},
    {"the slopes", F::bias_off, Pass::forward, alibi},
    {"CABLE's bias", F::bias_off, Pass::forward, cable},
    {"every score, either sign (absolute)", F::score_noise, Pass::forward, alibi},
    {"the weight of one key in a row", F::key_weight_off, Pass::forward, alibi},
    {"P of one key where it meets V", F::p_off_one_key, Pass::forward, alibi},
    {"every P where it meets V, either sign", F::p_noise, Pass::forward, alibi},
    {"one element of o", F::one_element_off, Pass::forward, alibi},
    {"all of o", F::o_off, Pass::forward, alibi},
    {"LSE (absolute)", F::lse_off, Pass::forward, alibi},
    {"D", F::d_off, Pass::backward, alibi},
    {"the scale in the backward pass alone", F::backward_scale_off, Pass::backward, alibi},
    {"dQ", F::dq_off, Pass::backward, alibi},
    {"dK", F::dk_off, Pass::backward, alibi},
    {"dV", F::dv_off, Pass::backward, alibi},
    {"gradients of Kerple's p and a", F::parameter_gradient_off, Pass::backward, kerple},
    {"gradients of CABLE's increments and gain", F::parameter_gradient_off, Pass::backward, cable},
};

constexpr int first_step = -52, last_step = 6;  // of 2^(step / 2)

double smallest_in(const Question& question, const cases::Spec& spec) {
  const auto caught = [&](int step) {
    const Setting setting{plain_variant(static_cast<int>(spec.format)),
                          {question.fault, std::exp2(step / 2.0)}};
    return verdict::check_spec(kernel_of(setting), spec, 1).outcome == verdict::Outcome::fail;
  };
  if (!caught(last_step)) return std::numeric_limits<double>::infinity();
  int passes = first_step - 1, fails = last_step;
  while (fails - passes > 1) {
    const int middle = (fails + passes) / 2;
    (caught(middle) ? fails : passes) = middle;
  }
  return std::exp2(fails / 2.0);
}

}  // namespace

std::vector<Threshold> smallest_errors(std::uint64_t seed, int seeds, int threads) {
  std::vector<Threshold> thresholds;
  std::vector<const Question*> asked;
  for (const auto& question : questions) {
    for (const auto format : kernel_formats) {
      thresholds.push_back({question.what, format, 0, {}});
      asked.push_back(&question);
    }
  }
  verdict::for_each_index(thresholds.size(), threads, [&](std::size_t n) {
    Threshold& threshold = thresholds[n];
    cases::Spec spec;
    spec.pass = asked[n]->pass;
    spec.bias = asked[n]->bias;
    spec.format = threshold.format;
    spec.heads = spec.kv_heads = 2;
    spec.queries = spec.keys = 96;
    for (int m = 0; m < seeds; ++m) {
      spec.seed = Draw(seed, 4).word(m) >> 32;
      if (m == 0) threshold.spec = cases::to_line(spec);
      threshold.smallest = std::max(threshold.smallest, smallest_in(*asked[n], spec));
    }
  });
  return thresholds;
}

}  // namespace plumbline::bench
