// SPDX-License-Identifier: Apache-2.0
// ops_runner [operation]: runs every operation of a training step, or the one that is named, on a
// few small shapes and prints a checksum of its results. It holds the kernels themselves, so that
// it can be built under a sanitizer, and its arrays end where their last element does. It judges no
// numbers.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <vector>

#include "core/bfloat16.cuh"
#include "core/device_buffer.cuh"
#include "core/float16.cuh"
#include "ops/cast.cuh"
#include "ops/dropout.cuh"
#include "ops/gelu.cuh"
#include "ops/global_norm.cuh"
#include "ops/linear.cuh"
#include "ops/optimizer.cuh"
#include "ops/residual.cuh"
#include "ops/swiglu.cuh"
#include "tests/gpu/ops_runner.hpp"

namespace {

using namespace plumbline::gpu;
using namespace plumbline::ops_runner;

/// Around the elements of a thread and of a block.
constexpr std::size_t kCounts[] = {1, 255, 1023, 1025};

template <class Element>
void run_gelu() {
  for (const std::size_t count : kCounts)
    for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
      const Array<Element> x(count), y(count), grad_x(count);
      gelu<Element>(stream(), form, x, y, count);
      gelu_backward<Element>(stream(), form, x, y, grad_x, count);
    }
}

template <class Element>
void run_swiglu() {
  for (const std::size_t count : kCounts) {
    const Array<Element> a(count), b(count), y(count), grad_a(count), grad_b(count);
    swiglu<Element>(stream(), a, b, y, count);
    swiglu_backward<Element>(stream(), a, b, y, grad_a, grad_b, count);
  }
}

template <class Element>
void run_small() {
  for (const std::size_t count : kCounts) {
    const Array<Element> x(count), y(count), sum(count);
    dropout<Element>(stream(), {0.3, 1, 2}, x, y, count);
    add<Element>(stream(), x, y, sum, count);
  }
}

template <class Element>
void run_cast() {
  for (const std::size_t count : kCounts) {
    const Array<float> x(count), back(count);
    const Array<Element> y(count);
    cast<float, Element>(stream(), x, y, count);
    cast<Element, float>(stream(), y, back, count);
  }
}

template <class Element>
void run_optimizer() {
  for (const std::size_t count : kCounts) {
    const Array<float> master(count), mean(count), square(count), grad(count), factor(1);
    const Array<Element> copy(count);
    for (float* v = square; v < square + count; ++v) *v *= *v;
    const AdamTensor<Element> tensor{master, mean, square, grad, copy, count};
    adamw_step(stream(), {1e-3}, 3, factor, tensor);
    radam_step(stream(), {1e-3}, RadamThreshold::pytorch, 100, factor, tensor);
  }
}

void run_global_norm() {
  const Array<float> a(5000), b(1), c(8192), factor(1);
  const GradientArray tensors[] = {{a, 5000}, {b, 1}, {nullptr, 0}, {c, 8192}};
  const DeviceBuffer<double> parts(stream(), global_norm_parts(tensors)), norm(stream(), 1);
  global_norm(stream(), {1.0}, tensors, parts.data(), norm.data(), factor);
}

template <class Element>
void run_linear(Format format) {
  Linear linear(stream());
  for (const LinearShape shape : {LinearShape{1, 1, 1}, {70, 33, 40}, {130, 8, 3}}) {
    const std::size_t inputs = static_cast<std::size_t>(shape.rows) * shape.in;
    const std::size_t outputs = static_cast<std::size_t>(shape.rows) * shape.out;
    const std::size_t weights = static_cast<std::size_t>(shape.out) * shape.in;
    const Array<Element> x(inputs), w(weights), b(shape.out), pre(outputs), y(outputs);
    const Array<Element> grad_x(inputs), grad_pre(inputs);
    const Array<float> grad_w(weights), grad_b(shape.out), grad_bias(shape.in);
    Element* no_bias = nullptr;
    linear.forward(shape, format, x, w, b, y);
    linear.forward(shape, format, x, w, no_bias, y);
    for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
      linear.forward_gelu(shape, format, form, x, w, b, pre, y);
      linear.backward_input_gelu(shape, format, form, y, w, x, grad_pre, grad_bias,
                                 Gradient::accumulate);
    }
    linear.backward_input(shape, format, y, w, grad_x);
    linear.backward_weight(shape, format, x, y, grad_w, grad_b, Gradient::overwrite);
    linear.backward_weight(shape, format, x, y, grad_w, grad_b, Gradient::accumulate);
  }
}

constexpr Operation kOperations[] = {
    {"gelu", [] { run_gelu<float>(), run_gelu<bfloat16>(), run_gelu<float16>(); }},
    {"swiglu", [] { run_swiglu<float>(), run_swiglu<bfloat16>(), run_swiglu<float16>(); }},
    {"dropout_and_residual",
     [] { run_small<float>(), run_small<bfloat16>(), run_small<float16>(); }},
    {"cast", [] { run_cast<bfloat16>(), run_cast<float16>(); }},
    {"optimizer",
     [] { run_optimizer<float>(), run_optimizer<bfloat16>(), run_optimizer<float16>(); }},
    {"global_norm", run_global_norm},
    {"linear",
     [] {
       run_linear<float>(Format::fp32), run_linear<float>(Format::tf32);
       run_linear<bfloat16>(Format::bf16), run_linear<float16>(Format::fp16);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<Operation> operations = row_operations();
  operations.insert(operations.begin(), std::begin(kOperations), std::end(kOperations));
  int runs = 0;
  for (const Operation& operation : operations) {
    if (argc > 1 && std::strcmp(argv[1], operation.name) != 0) continue;
    hash = 14695981039346656037u;
    operation.run();
    std::printf("%s %016llx\n", operation.name, static_cast<unsigned long long>(hash));
    ++runs;
  }
  if (runs == 0) std::fprintf(stderr, "no such operation\n");
  return runs > 0 ? 0 : 1;
}
