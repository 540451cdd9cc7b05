// SPDX-License-Identifier: Apache-2.0
// Single tokens of a decoder as CUDA graphs: how many nodes one has, that the host waits for
// nothing but the logits, and that the graph of a sequence computes what its launches do one by
// one, bit by bit, whatever its length. Exit status 77 without a device.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "inference/decoder.hpp"
#include "model/initial_values.hpp"
#include "tests/gpu/cuda/graphs.hpp"

namespace {

using namespace plumbline::gpu_tests;

// Layers of seven launches, with SSMax eight, an embedding and a head.
constexpr int kLayers = 12;  // as many as GPT-2 small has
constexpr std::size_t kNodes = kLayers * 7 + 2, kNodesWithSsmax = kLayers * 8 + 2;

/// Two sequences token by token up to the capacity, of which one is shortened and becomes a copy of
/// the other; `alone` of them wait for their logits. `nodes`: of the second one's graph.
std::vector<float> logits(const ModelConfiguration& c, const std::vector<float>& parameters,
                          int prompt, std::size_t* nodes) {
  Decoder decoder(c, {.batch = 2, .capacity = prompt + 6}, parameters);
  std::vector<std::vector<int>> prompts(2);
  for (int n = 0; n < prompt; ++n) prompts[n % 2].push_back(n % c.vocabulary);
  for (int n = 0; n < prompt; ++n) prompts[(n + 1) % 2].push_back((3 * n + 1) % c.vocabulary);
  std::vector<float> all = decoder.append(prompts);
  const auto append = [&](const std::vector<std::vector<int>>& tokens, int alone) {
    const long before = Stream::waits;
    const auto& got = decoder.append(tokens);
    expect(LaunchClock::running || Stream::waits == before + alone, c,
           "the host waits for more than the logits");
    all.insert(all.end(), got.begin(), got.end());
  };
  append({{9}, {2}}, 2);
  append({{6}, {}}, 1);
  append({{}, {5}}, 1);
  append({{3}, {5}}, 2);
  decoder.truncate(0, 2);
  append({{8}, {9}}, 2);
  append({{7}, {9}}, 2);
  decoder.copy(1, 0);
  append({{11}, {12}}, 2);  // the last place
  *nodes = decoder.graph_nodes(1);
  return all;
}

void check(ModelConfiguration c, bool ssmax, int prompt = 3) {
  c.ssmax = ssmax;
  const ParameterLayout layout(c);
  std::vector<float> parameters(layout.size());
  set_initial_values(layout, 5, parameters);
  std::size_t nodes = 0, none = 0;
  const std::vector<float> by_graph = logits(c, parameters, prompt, &nodes);
  LaunchClock::take();  // from here on launches are timed one by one
  const std::vector<float> by_launch = logits(c, parameters, prompt, &none);
  LaunchClock::running = false;
  std::printf("%s%s: %zu nodes\n", c.position.c_str(), c.ssmax ? " with SSMax" : "", nodes);
  expect(nodes == (c.ssmax ? kNodesWithSsmax : kNodes), c, "a graph of another size is expected");
  expect(none == 0, c, "timed launches must not be in a graph");
  expect(by_graph.size() == by_launch.size() &&
             std::memcmp(by_graph.data(), by_launch.data(), by_graph.size() * sizeof(float)) == 0,
         c, "the graph's logits are not those of its launches");
  const auto last = by_graph.end() - c.vocabulary;
  expect(!std::equal(last, by_graph.end(), last - 2 * c.vocabulary), c,
         "another position changed nothing");
}

}  // namespace

int main() {
  return run_on_device([] {
    for (const char* position :
         {"learnable", "sinusoidal", "alibi", "rope_half_split", "ggd", "t5", "fire"})
      check(small_model(kLayers, position, Architecture::gpt2, Format::fp32), false);
    // Several ranges of keys, of which some are empty.
    check(small_model(kLayers, "alibi", Architecture::gpt2, Format::bf16), false, 130);
    check(small_model(kLayers, "cable", Architecture::gpt2, Format::bf16), true);
    check(small_model(kLayers, "fox", Architecture::gpt2, Format::fp16), false);
    check(small_model(kLayers, "local_rope", Architecture::llama_style, Format::bf16), true);
  });
}
