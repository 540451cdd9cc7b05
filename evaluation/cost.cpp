// SPDX-License-Identifier: Apache-2.0
#include "evaluation/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "evaluation/refusal.hpp"
#include "inference/decoder.hpp"
#include "inference/device_memory.hpp"
#include "model/initial_values.hpp"
#include "model/position_method.hpp"
#include "support/error.hpp"

namespace plumbline::evaluation {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(const gpu::ModelConfiguration& model, const CostSettings& s) {
  if (model.architecture == gpu::Architecture::bert)
    throw BadInput("preset", "bert", "a causal model");
  if (s.positions.empty()) throw BadInput("positions", "missing", "one position method at least");
  if (s.lengths.empty()) throw BadInput("lengths", "missing", "one length at least");
  if (s.new_tokens < 1) throw BadInput("new_tokens", std::to_string(s.new_tokens), "at least 1");
  if (s.repeats < 1) throw BadInput("repeats", std::to_string(s.repeats), "at least 1");
  for (const int length : s.lengths)
    if (length <= s.new_tokens)
      throw BadInput("lengths", std::to_string(length),
                     fmt::format("above {}, the tokens that are timed one by one", s.new_tokens));
  for (const std::string& position : s.positions) gpu::position_method(position);
}

/// One method at one length.
struct Timed {
  Timed(gpu::ModelConfiguration model, const std::string& position, int length) : point{length} {
    model.position = position;
    point.refused = refusal(model, length);
    if (!point.refused.empty()) return;
    gpu::validate(model);
    const gpu::ParameterLayout layout(model);
    std::vector<float> parameters(layout.size());
    gpu::set_initial_values(layout, 1, parameters);
    const std::size_t before = gpu::device_memory_used();
    try {
      decoder = std::make_unique<gpu::Decoder>(
          model, gpu::DecoderRun{.batch = 1, .capacity = length}, parameters);
    } catch (const std::bad_alloc&) {
      point.refused = not_enough_memory;
      return;
    }
    point.bytes = gpu::device_memory_used() - before;
  }

  void run(int new_tokens) {
    if (!decoder) return;
    std::vector<int> prompt;
    for (int n = 0; n < point.length - new_tokens; ++n) prompt.push_back(n % decoder->vocabulary());
    decoder->truncate(0, 0);
    const auto start = Clock::now();
    decoder->append({prompt});
    prompts.push_back(seconds_since(start));
    const auto first_new = Clock::now();
    for (int n = 0; n < new_tokens; ++n) decoder->append({{n % decoder->vocabulary()}});
    tokens.push_back(seconds_since(first_new) / new_tokens);
  }

  void forget_times() {
    prompts.clear();
    tokens.clear();
  }

  CostPoint result() {
    if (decoder) {
      point.prompt_seconds = *std::ranges::min_element(prompts);
      point.token_seconds = *std::ranges::min_element(tokens);
    }
    return point;
  }

  CostPoint point;
  std::unique_ptr<gpu::Decoder> decoder;
  std::vector<double> prompts, tokens;
};

}  // namespace

std::vector<MethodCost> measure_cost(const gpu::ModelConfiguration& model,
                                     const CostSettings& settings,
                                     const std::function<void(const std::string&)>& progress) {
  check(model, settings);
  std::vector<MethodCost> all;
  for (const std::string& position : settings.positions) all.push_back({position, {}});
  for (const int length : settings.lengths) {
    std::vector<Timed> timed;
    for (const std::string& position : settings.positions)
      timed.emplace_back(model, position, length);
    for (int repeat = -1; repeat < settings.repeats; ++repeat) {
      for (std::size_t n = 0; n < timed.size(); ++n) {
        progress(fmt::format("{} at {}", settings.positions[n], length));
        timed[n].run(settings.new_tokens);
        if (repeat < 0) timed[n].forget_times();
      }
    }
    for (std::size_t n = 0; n < timed.size(); ++n) all[n].points.push_back(timed[n].result());
  }
  return all;
}

}  // namespace plumbline::evaluation
