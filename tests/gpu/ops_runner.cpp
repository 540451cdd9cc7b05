// SPDX-License-Identifier: Apache-2.0
// ops_runner [operation]: runs every operation of a training step, or the one that is named, on a
// few small shapes and prints a checksum of its results. It holds the kernels themselves, so that
// it can be built under a sanitizer, and its arrays end where their last element does. It judges no
// numbers. One source for the emulation and for nvcc (tests/gpu/cuda).
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <vector>

#include "attention/cache.cuh"
#include "attention/fp8_arrays.cuh"
#include "attention/fp8_inputs.cuh"
#include "core/bfloat16.cuh"
#include "core/device_buffer.cuh"
#include "core/float16.cuh"
#include "model/upload.cuh"
#include "ops/cast.cuh"
#include "ops/clamp.cuh"
#include "ops/dropout.cuh"
#include "ops/gelu.cuh"
#include "ops/global_norm.cuh"
#include "ops/heads.cuh"
#include "ops/linear.cuh"
#include "ops/optimizer.cuh"
#include "ops/residual.cuh"
#include "ops/row_products.cuh"
#include "ops/swiglu.cuh"
#include "tests/gpu/ops_runner.hpp"
#if !PLUMBLINE_ON_GPU
#include "tests/gpu/launched_kernels.hpp"
#endif

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
    const Array<float> master(count), mean(count), square(count, true), grad(count), factor(1);
    const Array<Element> copy(count);
    const AdamTensor<Element> tensor{master, mean, square, grad, copy, count};
    DeviceBuffer<AdamNumbers> numbers(stream(), 1);
    for (const AdamNumbers& step :
         {adamw_numbers({1e-3}, 3), radam_numbers({1e-3}, RadamThreshold::pytorch, 100)}) {
      numbers.copy_from_host(stream(), &step, 0, 1);
      adam_step(stream(), numbers.data(), factor, tensor);
    }
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

void run_clamp() {
  for (const std::size_t count : kCounts) {
    const Array<float> x(count);
    clamp(stream(), x, count, -0.5f, 0.5f);
  }
}

/// Of q | k | v side by side, the keys.
template <class Element>
void run_heads(Format format) {
  const HeadColumns shape{2, 35, 3, 40, 3 * 120};
  const std::size_t rows = 2 * 35;
  const Array<Element> columns(rows * 360), split(rows * 120);
  split_heads(stream(), format, shape, columns + 120, split);
  merge_heads(stream(), format, shape, split, columns + 240);
}

/// A cache of nine tokens that gets four, and four more.
template <class Element>
void run_cache(Format format) {
  const Array<Element> columns(4 * 280), queries(3 * 4 * 40), k(2 * 9 * 40), v(2 * 9 * 40);
  const Array<float> increments(3 * 4), angles(9 * 20);
  const DeviceBuffer<double> sums(stream(), 3 * 9);
  DeviceBuffer<int> before(stream(), 1);
  const HeadRows q_rows{columns, 280}, k_rows{columns + 120, 280}, v_rows{columns + 200, 280};
  for (const int tokens : {0, 4}) {
    before.copy_from_host(stream(), &tokens, 0, 1);
    append_tokens(stream(), {3, 2, 40, 9, 4, before.data()},
                  {format, q_rows, k_rows, v_rows, Rotation{angles, angles, tokens == 0, 40},
                   queries, k, v, increments, sums.data()});
  }
  std::vector<std::uint64_t> bits(sums.size());
  sums.copy_to_host(stream(), bits.data());
  stream().wait();
  for (const std::uint64_t sum : bits) hash = (hash ^ sum) * 1099511628211u;
}

void hash_bytes(const void* device, std::size_t count) {
  std::vector<unsigned char> bytes(count);
  download(stream(), static_cast<const unsigned char*>(device), count, bytes.data());
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
}

/// Two sequences of 37 keys, the last five of them queries.
void run_fp8() {
  constexpr int kBatch = 2, kHeads = 4, kKvHeads = 2, kQueries = 5, kKeys = 37, kDim = 128;
  constexpr std::size_t kQueryNumbers = kBatch * kHeads * kQueries * kDim;
  constexpr std::size_t kKeyNumbers = kBatch * kKvHeads * kKeys * kDim;
  const Array<float> numbers(kKeyNumbers / 4);  // any bytes
  const Array<float> scales(kBatch * kKvHeads);
  for (const int format : {PLUMBLINE_E4M3, PLUMBLINE_E5M2}) {
    plumbline_problem p{};
    p.batch = kBatch, p.heads = kHeads, p.kv_heads = kKvHeads;
    p.queries = kQueries, p.keys = kKeys, p.head_dim = p.value_dim = kDim;
    p.format = format;
    p.q = p.k = p.v = static_cast<const float*>(numbers);
    p.q_scale = p.k_scale = p.v_scale = scales;
    const Fp8Inputs inputs(stream(), p);
    hash_bytes(inputs.problem().q, 2 * kQueryNumbers);
    hash_bytes(inputs.problem().k, 2 * kKeyNumbers);
    hash_bytes(inputs.problem().v, 2 * kKeyNumbers);
  }
  Problem problem{};
  problem.batch = kBatch, problem.kv_heads = kKvHeads;
  problem.queries = kQueries, problem.keys = kKeys;
  // Documents that begin at the keys 10 and 34.
  std::vector<int> all;
  for (int n = 0; n < kBatch * kKeys; ++n) all.push_back((n % kKeys >= 10) + (n % kKeys >= 34));
  DeviceBuffer<int> documents(stream(), all.size());
  documents.copy_from_host(stream(), all.data(), 0, all.size());
  const Array<float> values(kBatch * kKvHeads * kDim * padded_keys(kKeys) / 4);
  for (const int* of_keys : {static_cast<int*>(nullptr), documents.data()}) {
    problem.mask = {kKeys, true, 7, -1, nullptr, of_keys, kKeys - kQueries, false, nullptr};
    for (const int dim : {64, kDim}) {
      problem.value_dim = dim;
      transpose_fp8_values(stream(), problem, static_cast<const float*>(numbers),
                           static_cast<float*>(values));
    }
  }
}

/// Every function, with LayerNorm, RMSNorm and without; rows of weights on boundaries and not.
template <class Element>
void run_row_products(Format format) {
  for (const int in : {33, 2056}) {
    const Array<Element> x(in), w(7 * in), b(7), y(7), sum(7);
    const Array<float> gate_w(7 * in), gate_y(7), gamma(in);
    const float* const gammas[] = {gamma, gamma, nullptr};
    const float* const betas[] = {gamma, nullptr, nullptr};
    for (int norm = 0; norm < 3; ++norm)
      for (int n = 0; n < 6; ++n) {
        const auto function = static_cast<RowFunction>(n);
        const bool gate = n > static_cast<int>(RowFunction::swiglu);
        const RowMap map{7,
                         gate ? Format::fp32 : format,
                         gate ? static_cast<const void*>(gate_w) : w,
                         nullptr,
                         gate ? static_cast<void*>(gate_y) : y,
                         nullptr,
                         function,
                         w};
        const RowMap other{7, format, w, b, sum, sum, RowFunction::identity};
        row_products(stream(), {in, format, x, gammas[norm], betas[norm], 1e-5f}, {map, other});
      }
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
    {"clamp", run_clamp},
    {"heads", [] { run_heads<float>(Format::fp32), run_heads<bfloat16>(Format::bf16); }},
    {"cache", [] { run_cache<float>(Format::fp32), run_cache<bfloat16>(Format::bf16); }},
    {"fp8", run_fp8},
    {"row_products",
     [] { run_row_products<float>(Format::fp32), run_row_products<bfloat16>(Format::bf16); }},
    {"linear",
     [] {
       run_linear<float>(Format::fp32), run_linear<float>(Format::tf32);
       run_linear<bfloat16>(Format::bf16), run_linear<float16>(Format::fp16);
     }},
};

}  // namespace

int main(int argc, char** argv) {
#if !PLUMBLINE_ON_GPU
  const plumbline::gpu_tests::LaunchedKernels launched;
#endif
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
