// SPDX-License-Identifier: Apache-2.0
// usage: plumbline_bench_limits KERNEL METHOD HEAD_DIM KEYS
// What the host hands to a built-in attention kernel for a causal problem of one sequence with two
// heads: one object of JSON with the bytes of the kernel's parameters in order, the grid, the
// shared memory of a block, and the bias family, which some kernels are compiled for. limits.py
// runs the kernel's machine code with them. KERNEL is mma_forward, mma_skipping,
// mma_backward_keys, mma_backward_queries, mma_backward_split, mma_backward_split_heads, the last
// three also with _atomic at their end, wgmma_forward, wgmma_backward_keys, wgmma_backward_queries,
// wgmma_backward_heads (all bf16), wgmma_fp8_forward, fused_forward (fp32) or decode (bf16).
// Nothing is launched.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/attention.cuh"
#include "attention/decode.cuh"
#include "attention/dispatch.cuh"
#include "attention/mma_skipping.cuh"
#include "attention/variants.cuh"
#include "attention/wgmma_backward_keys.cuh"
#include "attention/wgmma_backward_queries.cuh"
#include "attention/wgmma_forward.cuh"
#include "attention/wgmma_fp8_forward.cuh"

namespace {

using namespace plumbline::gpu;
namespace methods = plumbline::methods;

constexpr int kHeads = 2;

/// The parameters as a kernel finds them: each at a multiple of its alignment in the bank of
/// constants, where they begin at 0x210 (compute capability 9.0; elsewhere a multiple of 16, too).
template <class... Parameters>
std::vector<unsigned char> packed(const Parameters&... parameters) {
  std::vector<unsigned char> bytes;
  const auto add = [&](const auto& parameter) {
    constexpr std::size_t alignment = alignof(std::remove_cvref_t<decltype(parameter)>);
    constexpr std::size_t begin = 0x210;
    const std::size_t at = (begin + bytes.size() + alignment - 1) / alignment * alignment - begin;
    bytes.resize(at + sizeof parameter);
    std::memcpy(bytes.data() + at, &parameter, sizeof parameter);
  };
  (add(parameters), ...);
  return bytes;
}

/// What the kernels would have been launched with.
struct Noted {
  std::vector<unsigned char> parameters;
  std::size_t shared_bytes = 0;
  dim3 grid;
};

/// In place of a CUtensorMap.
struct alignas(128) TensorMap {
  unsigned char bytes[128];
};

/// The kernel that is asked for, and where its launch goes; for functions that an Attention calls.
std::string kernel;
Noted* noted = nullptr;

template <class Launch, class... Parameters>
void note(const std::string& name, Launch launch, const Parameters&... parameters) {
  if (!noted || kernel != name) return;
  NotedLaunches& launches = *NotedLaunches::of_thread;
  launches.shared_bytes = 0;
  launch();
  *noted = {packed(parameters...), launches.shared_bytes, launches.grid};
}

/// What a kernel for Hopper is launched with, none of which is compiled here.
template <template <int, class> class Memory, class Bias, class... Params>
void note_wgmma(const Task& task, int rows, int heads, const Params&... params) {
  NotedLaunches& launches = *NotedLaunches::of_thread;
  with_head_dim(task.head_dim, [&]<int D>() {
    if constexpr (D % 64 == 0) launches.shared_bytes = Memory<D, Bias>::bytes(params...);
  });
  launches.grid = dim3((rows + wgmma_kernels::kRows - 1) / wgmma_kernels::kRows, heads, 1);
}

/// For `dispatch_bias`: a kernel of one family.
struct OfFamily {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    const float* const no_norms = nullptr;
    note(
        "fused_forward", [&] { fused_forward(stream, task, outputs); }, task.problem, outputs,
        Bias::params(task.bias), no_norms);
    note(
        "mma_forward", [&] { mma_forward(stream, task, outputs); }, task.problem, outputs,
        Bias::params(task.bias));
    const int width = task.head_dim <= 64 ? 64 : 32, tiles = task.problem.keys / width;
    double place = 0;
    const auto* const entries = reinterpret_cast<const float*>(&place);
    note(
        "mma_skipping", [&] { mma_forward(stream, task, outputs); }, task.problem, outputs,
        Bias::params(task.bias),
        TileBounds{entries, entries, &place, &place, tiles, 2 * tiles, 1 - task.problem.keys});
    const TensorMap map{};
    note(
        "wgmma_forward",
        [&] { note_wgmma<wgmma_kernels::ForwardShared, Bias>(task, task.problem.queries, kHeads); },
        map, map, map, task.problem, outputs, Bias::params(task.bias));
    const float scale = 1.0f;
    note(
        "wgmma_fp8_forward",
        [&] { note_wgmma<wgmma_kernels::Fp8Shared, Bias>(task, task.problem.queries, kHeads); },
        map, map, map, task.problem, Fp8Scales{&scale, &scale, &scale}, outputs,
        Bias::params(task.bias));
  }
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs,
                  const Cache& cache, const Partials& partials) {
    note(
        "decode", [&] { split_kv_decode(stream, task, cache, partials, outputs); }, task.problem,
        cache, partials, Bias::params(task.bias), true, true);
  }
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    const AttentionKernels kernels = attention_kernels(Format::bf16, true, true);
    note(
        "mma_backward_keys", [&] { kernels.backward_keys(stream, task, arrays); }, task.problem,
        arrays, Bias::params(task.bias));
    for (const char* const name :
         {"mma_backward_queries", "mma_backward_split", "mma_backward_split_heads"})
      note(
          std::string(name) + (arrays.atomic ? "_atomic" : ""),
          [&] { kernels.backward_queries(stream, task, arrays); }, task.problem, arrays,
          Bias::params(task.bias));
    const TensorMap map{};
    note(
        "wgmma_backward_keys",
        [&] { note_wgmma<wgmma_kernels::KeysShared, Bias>(task, task.problem.keys, kHeads); }, map,
        map, map, map, task.problem, arrays, Bias::params(task.bias));
    note(
        "wgmma_backward_queries",
        [&] {
          note_wgmma<wgmma_kernels::QueriesShared, Bias>(task, task.problem.queries, kHeads,
                                                         Bias::params(task.bias));
        },
        map, map, map, map, task.problem, arrays, Bias::params(task.bias));
    if constexpr (HeadGrad<Bias>::kUsed)
      note(
          "wgmma_backward_heads",
          [&] {
            note_wgmma<wgmma_kernels::HeadsShared, Bias>(task, task.problem.queries, kHeads,
                                                         Bias::params(task.bias));
          },
          map, map, map, map, task.problem, arrays, Bias::params(task.bias));
  }
};

void forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch_bias<OfFamily, 0>(stream, task, outputs);
}

void backward(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  dispatch_bias<OfFamily, 0>(stream, task, arrays);
}

/// @param place a pointer that nobody follows.
plumbline_problem problem_of(const methods::Method& method, int head_dim, int queries, int keys,
                             Format format, float* place) {
  plumbline_problem p{};
  p.struct_size = sizeof p;
  p.batch = 1;
  p.heads = p.kv_heads = kHeads;
  p.queries = queries;
  p.keys = keys;
  p.query_offset = keys - queries;
  p.head_dim = p.value_dim = head_dim;
  p.format = static_cast<int>(format);
  p.bias = method.bias;
  p.causal = 1;
  p.window_left = p.window_right = -1;
  p.scale = 0.125;
  for (int option = 0; option < PLUMBLINE_OPTION_COUNT; ++option)
    p.options[option] = methods::option_infos[static_cast<std::size_t>(option)].otherwise;
  p.options[PLUMBLINE_EPSILON] = method.epsilon;
  for (const methods::Parameter& parameter : method.parameters) p.parameters[parameter.id] = place;
  p.q = p.k = p.v = place;
  return p;
}

Noted noted_launch(const methods::Method& method, int head_dim, int keys) {
  float place = 0;
  const bool decodes = kernel == "decode";
  const Format format = kernel == "fused_forward" ? Format::fp32 : Format::bf16;
  const plumbline_problem problem =
      problem_of(method, head_dim, decodes ? 1 : keys, keys, format, &place);
  const bool backwards = kernel.find("backward") != std::string::npos;
  const Stream stream;
  const Attention attention(stream, problem,
                            {forward, backward, backward, kernel.ends_with("_atomic")},
                            {.backward = backwards, .decode = decodes});
  Noted launch;
  noted = &launch;
  const NotedLaunches nothing_runs;
  if (decodes) {
    dispatch_bias<OfFamily, 0>(stream, attention.task(problem), Outputs{&place, &place}, Cache{},
                               Partials{&place, &place, &place, split_count(problem)});
  } else if (backwards) {
    plumbline_gradients gradients{};
    gradients.o = gradients.grad_o = gradients.grad_q = gradients.grad_k = gradients.grad_v =
        &place;
    gradients.lse = &place;
    for (const methods::Parameter& parameter : method.parameters)
      gradients.grad_parameters[parameter.id] = &place;
    attention.backward(problem, gradients);
  } else {
    attention.forward(problem, {&place, &place});
  }
  return launch;
}

const char* family_of(methods::Kind kind) {
  switch (kind) {
    case methods::Kind::none:
      return "Nope";
    case methods::Kind::distance:
      return "Distance";
    case methods::Kind::prefix_sums:
      return "Prefix";
    case methods::Kind::positions:
      return "Fire";
    case methods::Kind::pairs:
      return "Pairs";
    case methods::Kind::other_scores:
      break;
  }
  throw std::invalid_argument("a bias without a family of fused kernels");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  if (argc != 5)
    throw std::invalid_argument("usage: plumbline_bench_limits KERNEL METHOD HEAD_DIM KEYS");
  kernel = arguments[1];
  const std::string name = arguments[2];
  const auto* method =
      std::ranges::find_if(methods::all, [&](const auto& m) { return m.name == name; });
  if (method == methods::all.end())
    throw std::invalid_argument("there is no method '" + name + "'");
  const Noted launch = noted_launch(*method, std::stoi(arguments[3]), std::stoi(arguments[4]));
  if (launch.parameters.empty()) throw std::invalid_argument("there is no kernel '" + kernel + "'");
  std::string hex;
  for (const unsigned char byte : launch.parameters) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  std::printf("%s\n", nlohmann::json{{"parameters", hex},
                                     {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                                     {"shared_bytes", launch.shared_bytes},
                                     {"family", family_of(method->kind)}}
                          .dump()
                          .c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "plumbline_bench_limits: %s\n", error.what());
  return 2;
}
