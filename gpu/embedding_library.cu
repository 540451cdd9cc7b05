// SPDX-License-Identifier: Apache-2.0
// Embeddings with their positions, from the host's arrays to the host's: what `plumbline methods`
// checks.
#include <cstdio>
#include <exception>
#include <string>

#include "attention/host_arrays.cuh"
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/embedding.cuh"
#include "ops/sinusoidal.cuh"
#include "plumbline_embedding.h"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

namespace {

std::vector<float> sinusoidal(const plumbline_embedding& e) {
  return sinusoidal_table(
      e.position_rows, e.width, e.base,
      e.positions == PLUMBLINE_SINUSOIDAL ? CosineFrequency::shared : CosineFrequency::own,
      e.amplitude);
}

std::size_t numbers(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

TokenBatch tokens_of(const plumbline_embedding& e, const Input<int>& ids) {
  return {ids.data(), nullptr, e.batch, e.length, e.position_offset};
}

template <class Element>
void forward(const plumbline_embedding& e, void* host_x) {
  const Stream stream;
  const bool learnable = e.positions == PLUMBLINE_LEARNABLE;
  const std::vector<float> table = learnable ? std::vector<float>() : sinusoidal(e);
  const Input<int> ids(stream, e.ids, numbers(e.batch, e.length));
  const Input<float> word(stream, e.word, numbers(e.words, e.width));
  const Input<float> position(stream, learnable ? e.position : table.data(),
                              numbers(e.position_rows, e.width));
  Output<Element> x(stream, host_x, numbers(e.batch * e.length, e.width), "x");
  embedding_forward(stream,
                    {{word.data(), e.words}, {position.data(), e.position_rows}, {}, e.width},
                    tokens_of(e, ids), x.data());
  x.fetch();
  stream.wait();
  x.deliver();
}

template <class Element>
void backward(const plumbline_embedding& e, const void* host_grad_x, float* grad_word,
              float* grad_position) {
  const Stream stream;
  const int tokens = e.batch * e.length;
  const Input<int> ids(stream, e.ids, numbers(e.batch, e.length));
  const Input<Element> grad_x(stream, host_grad_x, numbers(tokens, e.width));
  Output<float> word(stream, grad_word, numbers(e.words, e.width), "grad_word");
  Output<float> position(stream, grad_position, numbers(e.position_rows, e.width), "grad_position");
  const EmbeddingWorkspace workspace = embedding_workspace(tokens, e.width);
  const DeviceBuffer<int> ints(stream, workspace.ints);
  const DeviceBuffer<float> floats(stream, workspace.floats);
  embedding_backward(
      stream,
      {{word.data(), e.words}, {position.data(), grad_position ? e.position_rows : 0}, {}, e.width},
      tokens_of(e, ids), grad_x.data(), Gradient::overwrite, ints.data(), floats.data());
  word.fetch();
  position.fetch();
  stream.wait();
  word.deliver();
  position.deliver();
}

/// Calls run(Element{}) for the format, and tells what it throws.
template <class Run>
int in_format(const plumbline_embedding* e, char* message, size_t message_size, Run run) {
  try {
    if (!e || e->struct_size != sizeof(plumbline_embedding))
      throw std::invalid_argument("struct_size is not this library's");
    if (!e->ids || (e->positions == PLUMBLINE_LEARNABLE) != (e->position != nullptr))
      throw std::invalid_argument("ids, or the table of positions, is missing or not wanted");
    if (e->positions < PLUMBLINE_LEARNABLE || e->positions > PLUMBLINE_SINUSOIDAL_OWN_FREQUENCY)
      throw std::invalid_argument("positions is " + std::to_string(e->positions) +
                                  ", must be 0..2");
    switch (e->format) {
      case PLUMBLINE_FP32:
        run(float{});
        return 0;
      case PLUMBLINE_BF16:
        run(bfloat16{});
        return 0;
      case PLUMBLINE_FP16:
        run(float16{});
        return 0;
      default:
        throw std::invalid_argument("format must be fp32, bf16 or fp16");
    }
  } catch (const std::exception& error) {
    if (message && message_size > 0) std::snprintf(message, message_size, "%s", error.what());
    return 1;
  }
}

}  // namespace

}  // namespace plumbline::gpu

extern "C" int plumbline_embedding_forward(const plumbline_embedding* embedding, void* x,
                                           char* message, size_t message_size) {
  using namespace plumbline::gpu;
  return in_format(embedding, message, message_size,
                   [&](auto element) { forward<decltype(element)>(*embedding, x); });
}

extern "C" int plumbline_embedding_backward(const plumbline_embedding* embedding,
                                            const void* grad_x, float* grad_word,
                                            float* grad_position, char* message,
                                            size_t message_size) {
  using namespace plumbline::gpu;
  return in_format(embedding, message, message_size, [&](auto element) {
    backward<decltype(element)>(*embedding, grad_x, grad_word, grad_position);
  });
}
