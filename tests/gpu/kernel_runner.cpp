// SPDX-License-Identifier: Apache-2.0
// kernel_runner [kernel [bias [format]]]: runs every kernel, bias and format that match on a few
// small cases and prints a checksum of each. It holds the kernels themselves, not the shared
// library, so that it can be built under a sanitizer: silence on standard error means that none
// found anything. Status 0, or 1 when a kernel failed. It judges no numbers.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "launched_kernels.hpp"
#include "paged_case.hpp"
#include "plumbline_kernel.h"

namespace {

using namespace plumbline::gpu_tests;

// Lengths around the tiles of 32, a decode step of several chunks of the prefix sum, every kind of
// mask, grouped-query heads, narrow values, wide heads, dropout, partial RoPE.
constexpr Shape kShapes[] = {
    {"one", 1, 1, 1, 1, 1, 32, true, -1, false, false, false},
    {"causal", 1, 2, 1, 70, 70, 64, true, -1, false, false, false},
    {"window", 2, 1, 1, 33, 65, 32, true, 7, true, false, true, 0, true},
    {"documents", 1, 2, 2, 40, 40, 128, false, -1, false, true, true},
    {"wide", 1, 1, 1, 70, 140, 128, true, -1, false, false, false},
    {"decode", 1, 2, 1, 1, 1100, 64, true, -1, false, false, false},
    Shape{"tensor", 2, 4, 2, 33, 40, 32, true, -1, true, false, false, 0, true}
        .with_mask(true, true)
        .with_values(21)
        .with_rotary_dim(12),
    Shape{"dropout", 1, 2, 1, 40, 70, 32, true, -1, false, false, false}.with_dropout(0.3f),
};

/// FNV-1a.
std::uint64_t checksum(std::uint64_t hash, const void* data, std::size_t bytes) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::size_t n = 0; n < bytes; ++n) hash = (hash ^ byte[n]) * 1099511628211u;
  return hash;
}

/// A gradient's arrays, as the kernel writes them.
struct Gradients {
  Gradients(const Case& made, const std::vector<float>& o, const std::vector<float>& lse)
      : grad_o(made.v_like_o()),
        grad_o16(truncated(grad_o)),
        grad_lse(made.v_like_lse()),
        q(made.q.size()),
        k(made.k.size()),
        v(made.v.size()) {
    arrays.o = o.data();
    arrays.lse = lse.data();
    arrays.grad_o = made.of_format(grad_o, grad_o16);
    arrays.grad_lse = made.problem.lse_gradient == 1 ? grad_lse.data() : nullptr;
    arrays.grad_q = q.data();
    arrays.grad_k = k.data();
    arrays.grad_v = v.data();
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      parameters[n].resize(made.parameters.values[n].size());
      arrays.grad_parameters[n] = parameters[n].data();
    }
  }

  std::vector<float> grad_o;
  std::vector<std::uint16_t> grad_o16;
  std::vector<float> grad_lse, q, k, v, parameters[PLUMBLINE_PARAMETER_COUNT];
  plumbline_gradients arrays{};
};

/// Decoding from a cache of each format.
constexpr const char* kDecode[] = {"decode", "decode_e4m3", "decode_e5m2", "decode_int8"};

void print(const plumbline_kernel& kernel, const Case& made, const char* pass, std::uint64_t hash) {
  std::printf("%s %s %s %s %s %016llx\n", kernel.name,
              plumbline::methods::name_of(plumbline::methods::bias_of(made.problem)).c_str(),
              kFormats[made.problem.format], made.s.name, pass,
              static_cast<unsigned long long>(hash));
}

/// Whether it has what some kernels leave out.
bool not_of_all(const Shape& s) { return s.mask || s.dropout > 0; }

/// From pages of 16 keys.
bool decode(const plumbline_kernel& kernel, const Case& made, const plumbline_problem& of) {
  const Shape& s = made.s;
  const PagedCase paged(made, of, 16);
  std::vector<float> o(made.rows * s.value_width()), lse(made.rows);
  const plumbline_outputs outputs{o.data(), lse.data()};
  char message[512] = "";
  if (kernel.supports(&paged.problem, PLUMBLINE_DECODE) != 1)
    return s.queries > 64 || not_of_all(s);
  if (kernel.decode(&paged.problem, &outputs, message, sizeof message) != 0) {
    std::fprintf(stderr, "%s %s %s %s %s: %s\n", kernel.name,
                 name_of(plumbline::methods::bias_of(of)).c_str(), kFormats[of.format], s.name,
                 kDecode[of.cache_format], message);
    return false;
  }
  const std::uint64_t hash = checksum(14695981039346656037u, o.data(), o.size() * sizeof o[0]);
  print(kernel, made, kDecode[of.cache_format],
        checksum(hash, lse.data(), lse.size() * sizeof lse[0]));
  return true;
}

bool decode(const plumbline_kernel& kernel, const Shape& s, Bias bias, int format) {
  const Case made(s, bias, format);
  bool good = decode(kernel, made, made.problem);
  for (int cache = 1; bias == PLUMBLINE_NOPE && cache < PLUMBLINE_CACHE_FORMAT_COUNT; ++cache)
    good = decode(kernel, made, CachedCase(made, cache, cache != PLUMBLINE_CACHE_E4M3).problem) &&
           good;
  return good;
}

bool run(const plumbline_kernel& kernel, const Shape& s, Bias bias, int format) {
  if (!kernel.forward) return decode(kernel, s, bias, format);
  Case made(s, bias, format);
  const std::size_t width = made.short_format() && kernel.contracts[format].float_o == 0 ? 2 : 4;
  std::vector<float> o(made.rows * s.value_width()), lse(made.rows);
  const plumbline_outputs outputs{o.data(), lse.data()};
  char message[512] = "";
  const auto fail = [&](const char* pass) {
    std::fprintf(stderr, "%s %s %s %s %s: %s\n", kernel.name, name_of(bias).c_str(),
                 kFormats[format], s.name, pass, *message ? message : "not supported");
    return false;
  };
  constexpr std::uint64_t begin = 14695981039346656037u;
  if (not_of_all(s) && kernel.supports(&made.problem, PLUMBLINE_FORWARD) != 1) return true;
  made.problem.lse_gradient = s.mask ? 1 : 0;
  if (kernel.supports(&made.problem, PLUMBLINE_FORWARD) != 1 ||
      kernel.forward(&made.problem, &outputs, message, sizeof message) != 0)
    return fail("forward");
  std::uint64_t hash = checksum(begin, o.data(), o.size() * width);
  print(kernel, made, "forward", checksum(hash, lse.data(), lse.size() * sizeof lse[0]));

  if (!kernel.backward) return true;
  Gradients grad(made, o, lse);
  if (kernel.supports(&made.problem, PLUMBLINE_BACKWARD) != 1 ||
      kernel.backward(&made.problem, &grad.arrays, message, sizeof message) != 0)
    return fail("backward");
  if (!kernel.deterministic) return true;
  hash = begin;
  for (const auto* tensor : {&grad.q, &grad.k, &grad.v})
    hash = checksum(hash, tensor->data(), tensor->size() * width);
  for (const auto& parameter : grad.parameters)
    hash = checksum(hash, parameter.data(), parameter.size() * sizeof(float));
  print(kernel, made, "backward", hash);
  return true;
}

/// Tensor-core kernels have no fp32, and RoPE in a kernel of its own.
bool supported(const plumbline_kernel& kernel, Bias bias, int format) {
  const Case made(kShapes[0], bias, format);
  return kernel.supports(&made.problem, kernel.forward ? PLUMBLINE_FORWARD : PLUMBLINE_DECODE) == 1;
}

int plain_format(const plumbline_kernel& kernel, Bias bias) {
  int format = PLUMBLINE_FP32;
  while (format <= PLUMBLINE_TF32 && !supported(kernel, bias, format)) ++format;
  return format;
}

bool matches(int argc, char** argv, int index, const char* name) {
  return argc <= index || std::strcmp(argv[index], name) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const LaunchedKernels launched;
  const plumbline_library* library = plumbline_kernel_library();
  if (!library) {
    std::fprintf(stderr, "the kernels cannot run on this machine\n");
    return 1;
  }
  bool good = true;
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    if (!matches(argc, argv, 1, kernel.name)) continue;
    for (const Bias bias : every_bias()) {
      if (!matches(argc, argv, 2, name_of(bias).c_str())) continue;
      for (int format = PLUMBLINE_FP32; format <= PLUMBLINE_TF32; ++format) {
        if (!matches(argc, argv, 3, kFormats[format])) continue;
        if (!supported(kernel, bias, format)) continue;
        // Formats differ in loads and stores alone: unless asked for, the others run without bias.
        if (argc <= 3 && format != plain_format(kernel, bias) && bias != PLUMBLINE_NOPE) continue;
        for (Shape shape : kShapes) {
          // What is added to a score knows nothing of the head dimension; for gradients of heads'
          // parameters wide heads have a kernel of their own.
          const bool own_width = bias == PLUMBLINE_NOPE || bias == PLUMBLINE_T5 || bias.has_rope();
          if (argc <= 1 && !own_width) shape.head_dim = 32;
          shape.sinks = shape.sinks && !plumbline::methods::of(bias).needs_scores();
          good = run(kernel, shape, bias, format) && good;
          if (kernel.forward && kernel.decode) good = decode(kernel, shape, bias, format) && good;
          ++runs;
        }
      }
    }
  }
  if (runs == 0) std::fprintf(stderr, "no such kernel, bias or format\n");
  return good && runs > 0 ? 0 : 1;
}
