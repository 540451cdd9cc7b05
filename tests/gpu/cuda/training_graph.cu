// SPDX-License-Identifier: Apache-2.0
// The launches of a training step as a CUDA graph: that there is one from the second of equal calls
// on, that the host waits for nothing but the loss, and that losses and gradients are those of the
// launches one by one, bit by bit, with other tokens, targets and dropout in every call, and calls
// of other shapes between. Exit status 77 without a device.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "model/initial_values.hpp"
#include "model/model.cuh"
#include "model/upload.cuh"
#include "tests/gpu/cuda/graphs.hpp"

namespace {

using namespace plumbline::gpu_tests;

constexpr int kLayers = 2, kBatch = 2, kLength = 40;

struct Call {
  int length;
  std::uint64_t draw;
  int first_id;
  int ignored;  // tokens without a target
};

/// The loss and the gradients of each call, one after the other.
struct Results {
  std::vector<float> numbers;
  std::size_t of_call, nodes;

  const float* call(std::size_t n) const { return numbers.data() + n * of_call; }
};

Results results(const ModelConfiguration& c, const std::vector<float>& parameters,
                const std::vector<Call>& calls) {
  const Stream stream;
  const auto model = make_model(stream, c, {.batch = kBatch, .length = kLength, .dropout_seed = 3});
  upload(stream, parameters, model->parameters());
  model->parameters_changed();
  Results results{{}, model->layout().size() + 1, 0};
  for (const Call& call : calls) {
    std::vector<int> ids(kBatch * call.length), targets(ids.size());
    for (std::size_t n = 0; n < ids.size(); ++n) {
      ids[n] = static_cast<int>((call.first_id + 5 * n + n * n) % c.vocabulary);
      targets[n] = static_cast<int>(n) < call.ignored ? -100 : (2 * ids[n] + 1) % c.vocabulary;
    }
    model->zero_gradients();
    const long before = Stream::waits;
    const ChunkedLoss loss = model->add_gradients({.batch = kBatch,
                                                   .length = call.length,
                                                   .ids = ids.data(),
                                                   .targets = targets.data(),
                                                   .draw = call.draw});
    expect(LaunchClock::running || Stream::waits == before + 1, c,
           "the host waits for more than the loss");
    results.numbers.push_back(static_cast<float>(loss.mean));
    const std::size_t end = results.numbers.size();
    results.numbers.resize(end + model->layout().size());
    download(stream, model->gradients(), model->layout().size(), results.numbers.data() + end);
  }
  results.nodes = model->graph_nodes();
  return results;
}

void check(ModelConfiguration c) {
  const bool drops = c.architecture != Architecture::llama_style;
  c.dropout = drops ? 0.1 : 0.0;
  const ParameterLayout layout(c);
  std::vector<float> parameters(layout.size());
  set_initial_values(layout, 5, parameters);
  // Of the calls in a row with the same shapes the first is run, the second captured, the others
  // are graphs.
  const std::vector<Call> calls{{kLength, 1, 0, 0},  {kLength, 2, 3, 0}, {kLength, 3, 7, 0},
                                {kLength, 4, 7, 0},  {24, 5, 1, 0},      {kLength, 6, 2, 9},
                                {kLength, 7, 11, 9}, {kLength, 8, 4, 9}};
  const Results by_graph = results(c, parameters, calls);
  LaunchClock::take();  // from here on launches are timed one by one
  const Results by_launch = results(c, parameters, calls);
  LaunchClock::running = false;
  std::printf("%s: %zu nodes\n", c.position.c_str(), by_graph.nodes);
  expect(by_graph.nodes > 0, c, "there is no graph");
  expect(by_launch.nodes == 0, c, "timed launches must not be in a graph");
  for (std::size_t n = 0; n < calls.size(); ++n)
    expect(std::memcmp(by_graph.call(n), by_launch.call(n), by_graph.of_call * sizeof(float)) == 0,
           c, "call " + std::to_string(n) + " is not that of its launches");
  expect(std::equal(by_graph.call(2), by_graph.call(3), by_graph.call(3)) != drops, c,
         "dropout must change with its draw, and nothing else");
  expect(!std::equal(by_graph.call(6), by_graph.call(7), by_graph.call(7)), c,
         "other tokens changed nothing");
}

}  // namespace

int main() {
  return run_on_device([] {
    for (const char* position : {"learnable", "alibi", "fire", "cope", "dape_v1_alibi"})
      check(small_model(kLayers, position, Architecture::gpt2, Format::fp32));
    check(small_model(kLayers, "cable", Architecture::gpt2, Format::bf16));
    check(small_model(kLayers, "ggd", Architecture::bert, Format::bf16));
    check(small_model(kLayers, "local_rope", Architecture::llama_style, Format::bf16));
  });
}
