// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include "inference/decoder.hpp"
#include "inference/device_memory.hpp"
#include "model/initial_values.hpp"
#include "model/position_method.hpp"
#include "models/evaluation/lengths.hpp"
#include "models/evaluation/refusal.hpp"
#include "support/error.hpp"

namespace plumbline::evaluation {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One sequence through a decoder, its last `new_tokens` one by one; what each part took, in
/// seconds.
struct Times {
  double prompt, token;
};

Times read_once(gpu::Decoder& decoder, int length, int new_tokens) {
  std::vector<int> prompt;
  for (int n = 0; n < length - new_tokens; ++n) prompt.push_back(n % decoder.vocabulary());
  decoder.truncate(0, 0);
  const auto start = Clock::now();
  decoder.append({prompt});
  const double of_prompt = seconds_since(start);
  const auto first_new = Clock::now();
  for (int n = 0; n < new_tokens; ++n) decoder.append({{n % decoder.vocabulary()}});
  return {of_prompt, seconds_since(first_new) / new_tokens};
}

/// One turn of a method at a length.
void measure(gpu::ModelConfiguration model, const std::string& position, int new_tokens,
             CostPoint& point) {
  model.position = position;
  gpu::validate(model);
  const gpu::ParameterLayout layout(model);
  std::vector<float> parameters(layout.size());
  gpu::set_initial_values(layout, 1, parameters);
  const std::size_t before = gpu::device_memory_used();
  try {
    gpu::Decoder decoder(model, {.batch = 1, .capacity = point.length}, parameters);
    point.bytes = gpu::device_memory_used() - before;
    read_once(decoder, point.length, new_tokens);  // touches the memory
    const Times times = read_once(decoder, point.length, new_tokens);
    point.prompt_seconds = std::min(point.prompt_seconds, times.prompt);
    point.token_seconds = std::min(point.token_seconds, times.token);
  } catch (const std::bad_alloc&) {
    point = {.length = point.length, .refused = not_enough_memory};
  }
}

}  // namespace

void validate(const gpu::ModelConfiguration& model, const CostSettings& s) {
  if (model.architecture == gpu::Architecture::bert)
    throw BadInput("preset", "bert", "a causal model");
  if (s.positions.empty()) throw BadInput("positions", "missing", "one position method at least");
  if (s.lengths.empty()) throw BadInput("lengths", "missing", "one length at least");
  if (s.new_tokens < 1) throw BadInput("new_tokens", std::to_string(s.new_tokens), "at least 1");
  if (s.repeats < 1) throw BadInput("repeats", std::to_string(s.repeats), "at least 1");
  for (const int length : s.lengths) {
    if (length <= s.new_tokens)
      throw BadInput("lengths", std::to_string(length),
                     fmt::format("above {}, the tokens that are timed one by one", s.new_tokens));
    expect_within(1, longest_length, "lengths", length);
  }
  for (const std::string& position : s.positions) gpu::position_method(position);
}

std::vector<MethodCost> measure_cost(const gpu::ModelConfiguration& model,
                                     const CostSettings& settings,
                                     const std::function<void(const std::string&)>& progress) {
  validate(model, settings);
  constexpr double not_yet = std::numeric_limits<double>::infinity();
  std::vector<MethodCost> all;
  for (const std::string& position : settings.positions) all.push_back({position, {}});
  for (const int length : settings.lengths) {
    for (MethodCost& method : all) {
      gpu::ModelConfiguration own = model;
      own.position = method.position;
      method.points.push_back({length, not_yet, not_yet, 0, refusal(own, length)});
    }
    for (int repeat = 0; repeat < settings.repeats; ++repeat) {
      for (MethodCost& method : all) {
        progress(fmt::format("{} at {}", method.position, length));
        CostPoint& point = method.points.back();
        if (point.refused.empty()) measure(model, method.position, settings.new_tokens, point);
      }
    }
  }
  return all;
}

}  // namespace plumbline::evaluation
