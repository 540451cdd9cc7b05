// SPDX-License-Identifier: Apache-2.0
// The launches of a training step as two CUDA graphs, the gradients' and the optimizer's: that
// there is one from the second of equal calls on, that the host waits for nothing but the loss, and
// that all they leave is that of the launches one by one, bit by bit. Gradients: with other tokens,
// targets and dropout in every call, and calls of other shapes between. Updates: with another rate
// in each, of other numbers of parts, and resumed. Exit status 77 without a device.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "model/initial_values.hpp"
#include "model/model.cuh"
#include "model/upload.cuh"
#include "tests/gpu/cuda/graphs.hpp"
#include "train/trainer.hpp"

namespace {

using namespace plumbline::gpu_tests;

constexpr int kLayers = 2, kBatch = 2, kLength = 40;

/// Two sequences, the tokens of which depend on the first one; some have no target.
struct Batch {
  std::vector<int> ids, targets;

  Batch(const ModelConfiguration& c, int length, int first_id, int ignored)
      : ids(kBatch * length), targets(ids.size()), length_(length) {
    for (std::size_t n = 0; n < ids.size(); ++n) {
      ids[n] = static_cast<int>((first_id + 5 * n + n * n) % c.vocabulary);
      targets[n] = static_cast<int>(n) < ignored ? -100 : (2 * ids[n] + 1) % c.vocabulary;
    }
  }
  SequenceBatch view(std::uint64_t draw) const {
    return {.batch = kBatch,
            .length = length_,
            .ids = ids.data(),
            .targets = targets.data(),
            .draw = draw};
  }

 private:
  int length_;
};

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
    const Batch batch(c, call.length, call.first_id, call.ignored);
    model->zero_gradients();
    const long before = Stream::waits;
    const ChunkedLoss loss = model->add_gradients(batch.view(call.draw));
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

/// What a checkpoint has.
struct State {
  std::vector<float> parameters, mean, mean_square;

  /// Bit by bit.
  bool operator==(const State& other) const {
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return same(parameters, other.parameters) && same(mean, other.mean) &&
           same(mean_square, other.mean_square);
  }
};

struct Update {
  int parts;
  double rate;
};

// Of the updates in a row whose gradients are added in the same place the first is run, the second
// captured, the others are graphs. Four parts need more room than one, and so another place.
const std::vector<Update> kUpdates{{1, 2e-3}, {1, 7e-3}, {1, 1e-3}, {1, 0.0},
                                   {4, 5e-3}, {4, 3e-3}, {4, 6e-3}, {1, 4e-3}};
constexpr std::size_t kAtRateZero = 3;

/// The state after each update from `first` on.
struct Trained {
  std::vector<State> states;
  std::size_t nodes = 0;
};

Trained trained(const ModelConfiguration& c, const OptimizerSettings& settings, const State& start,
                std::size_t first) {
  constexpr int kShort = 6;
  Trainer trainer(c, {.batch = kBatch, .length = kShort, .dropout_seed = 3}, settings);
  trainer.set_parameters(start.parameters);
  trainer.set_moments(start.mean, start.mean_square);
  Trained result;
  for (std::size_t n = first; n < kUpdates.size(); ++n) {
    const Update& update = kUpdates[n];
    const long before = Stream::waits;
    trainer.begin(update.parts);
    for (int part = 0; part < update.parts; ++part) {
      const std::uint64_t draw = 4 * n + part;
      const Batch batch(c, kShort, static_cast<int>(draw), 0);
      trainer.add(batch.view(draw), update.parts * kBatch * kShort);
    }
    trainer.update(static_cast<long>(n), update.rate);
    expect(LaunchClock::running || Stream::waits == before + update.parts, c,
           "the host waits for more than the losses of an update's parts");
    result.states.push_back({trainer.parameters(), trainer.mean(), trainer.mean_square()});
  }
  result.nodes = trainer.update_nodes();
  return result;
}

/// The norm in two launches, two steps, whatever is clamped, and 16-bit copies.
std::size_t nodes_of_update(const ParameterLayout& layout, Format format) {
  std::size_t nodes = format == Format::fp32 ? 4 : 5;
  for (const Parameter& p : layout.all())
    if (p.trained && (std::isfinite(p.least) || std::isfinite(p.most))) ++nodes;
  return nodes;
}

/// Whether update `n` moved each parameter as AdamW does with the update's own rate and number,
/// from the moments that it left, but for a dozen roundings to fp32.
bool is_adamw(const ParameterLayout& layout, const OptimizerSettings& s, std::size_t n,
              const State& before, const State& after) {
  const double rate = kUpdates[n].rate, t = static_cast<double>(n + 1);
  for (const ParameterRange range : {layout.decaying(), layout.not_decaying()}) {
    const double decay = range.begin == layout.decaying().begin ? s.weight_decay : 0.0;
    for (std::size_t k = range.begin; k < range.end; ++k) {
      const double m = after.mean[k] / (1 - std::pow(s.beta1, t));
      const double v = after.mean_square[k] / (1 - std::pow(s.beta2, t));
      const double move = rate * m / (std::sqrt(v) + s.epsilon);
      const double error = after.parameters[k] - (before.parameters[k] * (1 - rate * decay) - move);
      const double size = std::abs(before.parameters[k]) + std::abs(move);
      if (!(std::abs(error) <= 12 * 0x1p-24 * size)) return false;
    }
  }
  return true;
}

void check_updates(ModelConfiguration c, OptimizerKind kind) {
  c.dropout = 0.1;
  const OptimizerSettings settings{.kind = kind};
  const ParameterLayout layout(c);
  const std::vector<float> zeros(layout.size());
  State start{zeros, zeros, zeros};
  set_initial_values(layout, 5, start.parameters);
  const Trained by_graph = trained(c, settings, start, 0);
  constexpr std::size_t kResumed = kAtRateZero;
  const Trained resumed = trained(c, settings, by_graph.states[kResumed - 1], kResumed);
  LaunchClock::take();  // from here on launches are timed one by one
  const Trained by_launch = trained(c, settings, start, 0);
  LaunchClock::running = false;
  std::printf("%s: %zu nodes of an update\n", c.position.c_str(), by_graph.nodes);
  expect(by_graph.nodes == nodes_of_update(layout, c.format), c,
         "an update's graph of another size is expected");
  expect(by_launch.nodes == 0, c, "timed launches of an update must not be in a graph");
  for (std::size_t n = 0; n < kUpdates.size(); ++n) {
    const std::string name = "update " + std::to_string(n);
    expect(by_graph.states[n] == by_launch.states[n], c, name + " is not that of its launches");
    expect(kind != OptimizerKind::adamw ||
               is_adamw(layout, settings, n, n == 0 ? start : by_graph.states[n - 1],
                        by_graph.states[n]),
           c, name + " has another rate or number");
    if (n < kResumed) continue;
    expect(by_graph.states[n] == resumed.states[n - kResumed], c,
           name + " of a resumed run is another");
  }
  const State &before = by_graph.states[kAtRateZero - 1], &after = by_graph.states[kAtRateZero];
  expect(after.parameters == before.parameters, c, "the rate 0 moves parameters");
  expect(after.mean != before.mean, c, "the rate 0 stops the moments");
}

}  // namespace

int main() {
  return run_on_device([] {
    for (const char* position : {"learnable", "alibi", "fire", "cope", "dape_v1_alibi"})
      check(small_model(kLayers, position, Architecture::gpt2, Format::fp32));
    check(small_model(kLayers, "cable", Architecture::gpt2, Format::bf16));
    check(small_model(kLayers, "ggd", Architecture::bert, Format::bf16));
    check(small_model(kLayers, "local_rope", Architecture::llama_style, Format::bf16));
    check_updates(small_model(kLayers, "learnable", Architecture::gpt2, Format::fp32),
                  OptimizerKind::adamw);
    check_updates(small_model(kLayers, "kerple_power", Architecture::gpt2, Format::fp16),
                  OptimizerKind::adamw);
    check_updates(small_model(kLayers, "ggd", Architecture::bert, Format::bf16),
                  OptimizerKind::radam_pytorch);
  });
}
