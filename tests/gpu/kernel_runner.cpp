// SPDX-License-Identifier: Apache-2.0
// kernel_runner [kernel [bias [format]]]: runs every kernel, bias and format that match on a few
// small cases and prints a checksum of each. It holds the kernels themselves, not the shared
// library, so that it can be built under a sanitizer: silence on standard error means that none
// found anything. Status 0, or 1 when a kernel failed. It judges no numbers.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "plumbline_kernel.h"

namespace {

/// Knuth's MMIX generator: enough for inputs that nobody judges.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}

  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(bits()) / 2147483648.0f;
  }
  std::vector<float> many(std::size_t count, float low, float high) {
    std::vector<float> values(count);
    for (float& x : values) x = between(low, high);
    return values;
  }

 private:
  std::uint64_t state_;
};

struct Shape {
  const char* name;
  int batch, heads, kv_heads, queries, keys, head_dim;
  bool causal;
  int window;
  bool ragged, documents, ssmax;
};

// Lengths around the tiles of 32, a decode step of several chunks of the prefix sum, every kind of
// mask, grouped-query heads.
constexpr Shape kShapes[] = {
    {"one", 1, 1, 1, 1, 1, 32, true, -1, false, false, false},
    {"causal", 1, 2, 1, 70, 70, 64, true, -1, false, false, false},
    {"window", 2, 1, 1, 33, 65, 32, true, 7, true, false, true},
    {"documents", 1, 2, 2, 40, 40, 128, false, -1, false, true, true},
    {"decode", 1, 2, 1, 1, 1100, 64, true, -1, false, false, false},
};

constexpr const char* kBiases[PLUMBLINE_BIAS_COUNT] = {"nope",
                                                       "alibi",
                                                       "cable",
                                                       "cable_nw",
                                                       "k_cable",
                                                       "k_cable_nw",
                                                       "ggd",
                                                       "kerple_log",
                                                       "kerple_power",
                                                       "t5",
                                                       "t5_bidirectional",
                                                       "t5_clipped",
                                                       "t5_clipped_offset",
                                                       "fire",
                                                       "fox",
                                                       "rope_interleaved",
                                                       "rope_half_split"};
constexpr const char* kFormats[PLUMBLINE_FORMAT_COUNT] = {"fp32", "bf16", "fp16", "tf32"};
constexpr int kBuckets = 8, kHidden = 5;

/// The numbers' upper 16 bits: any bf16 or fp16 will do.
std::vector<std::uint16_t> truncated(const std::vector<float>& values) {
  std::vector<std::uint16_t> upper(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::uint32_t bits;
    std::memcpy(&bits, &values[n], sizeof bits);
    upper[n] = static_cast<std::uint16_t>(bits >> 16);
  }
  return upper;
}

/// FNV-1a.
std::uint64_t checksum(std::uint64_t hash, const void* data, std::size_t bytes) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::size_t n = 0; n < bytes; ++n) hash = (hash ^ byte[n]) * 1099511628211u;
  return hash;
}

/// Parameters of all methods for a shape, in ranges that suit each.
struct Parameters {
  Parameters(Numbers& numbers, const Shape& s) {
    const auto heads = static_cast<std::size_t>(s.heads);
    const auto fill = [&](plumbline_parameter parameter, std::size_t count, float low, float high) {
      values[parameter] = numbers.many(count, low, high);
    };
    fill(PLUMBLINE_SSMAX_SCALE, heads, 0.5f, 1.5f);
    fill(PLUMBLINE_SLOPES, heads, 0.0f, 0.5f);
    fill(PLUMBLINE_INCREMENTS, heads * s.batch * s.keys, 0.0f, 0.3f);
    fill(PLUMBLINE_GAIN, heads * s.batch * s.queries, 0.0f, 2.0f);
    fill(PLUMBLINE_THETA_ALPHA, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_THETA_BETA, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_THETA_MU, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_P, heads, 0.1f, 1.0f);
    fill(PLUMBLINE_A, heads, 0.1f, 1.0f);
    fill(PLUMBLINE_TABLE, heads * (2 * kBuckets + 1), -1.0f, 1.0f);
    fill(PLUMBLINE_HIDDEN_WEIGHT, kHidden, -1.0f, 1.0f);
    fill(PLUMBLINE_HIDDEN_BIAS, kHidden, -1.0f, 1.0f);
    fill(PLUMBLINE_OUTPUT_WEIGHT, heads * kHidden, -1.0f, 1.0f);
    fill(PLUMBLINE_OUTPUT_BIAS, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_C, 1, 0.1f, 0.2f);
    fill(PLUMBLINE_L, 1, 0.5f, 1.0f);
    fill(PLUMBLINE_LOG_FORGET, heads * s.batch * s.keys, -0.3f, 0.0f);
  }
  std::vector<float> values[PLUMBLINE_PARAMETER_COUNT];
};

/// The arrays of one run and the problem that points at them.
struct Case {
  Case(const Shape& shape, int bias, int format) : s(shape) {
    problem.struct_size = sizeof problem;
    problem.batch = s.batch;
    problem.heads = s.heads;
    problem.kv_heads = s.kv_heads;
    problem.queries = s.queries;
    problem.keys = s.keys;
    problem.head_dim = s.head_dim;
    problem.query_offset = s.keys - s.queries;
    problem.format = format;
    problem.bias = bias;
    problem.ssmax = s.ssmax ? 1 : 0;
    problem.causal = s.causal || bias == PLUMBLINE_FOX ? 1 : 0;
    problem.window = s.window;
    problem.scale = 0.125;
    problem.options[PLUMBLINE_EPSILON] = 1e-5;
    problem.options[PLUMBLINE_BUCKETS] = kBuckets;
    problem.options[PLUMBLINE_MAX_DISTANCE] = 20;
    problem.options[PLUMBLINE_LARGEST] = kBuckets;
    problem.options[PLUMBLINE_HIDDEN] = kHidden;
    problem.options[PLUMBLINE_L0] = 30;
    problem.options[PLUMBLINE_BASE] = 10000;
    problem.q = of_format(q, q16);
    problem.k = of_format(k, k16);
    problem.v = of_format(v, v16);
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n)
      problem.parameters[n] = parameters.values[n].data();
    if (!s.ssmax) problem.parameters[PLUMBLINE_SSMAX_SCALE] = nullptr;
    for (int b = 0; b < s.batch; ++b) lengths[b] = b == 0 ? s.keys : s.keys / 2;
    for (std::size_t n = 0; n < documents.size(); ++n) documents[n] = static_cast<int>(n) / 13;
    problem.lengths = s.ragged ? lengths.data() : nullptr;
    problem.documents = s.documents ? documents.data() : nullptr;
  }

  bool short_format() const {
    return problem.format == PLUMBLINE_BF16 || problem.format == PLUMBLINE_FP16;
  }
  const void* of_format(const std::vector<float>& wide,
                        const std::vector<std::uint16_t>& narrow) const {
    return short_format() ? static_cast<const void*>(narrow.data()) : wide.data();
  }

  Shape s;
  Numbers numbers{7};
  std::size_t rows = static_cast<std::size_t>(s.batch) * s.heads * s.queries;
  std::size_t keys = static_cast<std::size_t>(s.batch) * s.kv_heads * s.keys;
  std::vector<float> q = numbers.many(rows * s.head_dim, -2.0f, 2.0f);
  std::vector<float> k = numbers.many(keys * s.head_dim, -2.0f, 2.0f);
  std::vector<float> v = numbers.many(keys * s.head_dim, -1.0f, 1.0f);
  std::vector<std::uint16_t> q16 = truncated(q), k16 = truncated(k), v16 = truncated(v);
  Parameters parameters{numbers, s};
  std::vector<std::int32_t> lengths = std::vector<std::int32_t>(s.batch);
  std::vector<std::int32_t> documents =
      std::vector<std::int32_t>(static_cast<std::size_t>(s.batch) * s.keys);
  plumbline_problem problem{};
};

bool run(const plumbline_kernel& kernel, const Shape& s, int bias, int format) {
  Case made(s, bias, format);
  std::vector<float> o(made.rows * s.head_dim), lse(made.rows);
  const plumbline_outputs outputs{o.data(), lse.data()};
  char message[512] = "";
  if (kernel.supports(&made.problem, PLUMBLINE_FORWARD) != 1 ||
      kernel.forward(&made.problem, &outputs, message, sizeof message) != 0) {
    std::fprintf(stderr, "%s %s %s %s: %s\n", kernel.name, kBiases[bias], kFormats[format], s.name,
                 *message ? message : "not supported");
    return false;
  }
  std::uint64_t hash = 14695981039346656037u;
  hash = checksum(hash, o.data(), o.size() * (made.short_format() ? 2 : 4));
  hash = checksum(hash, lse.data(), lse.size() * sizeof lse[0]);
  std::printf("%s %s %s %s %016llx\n", kernel.name, kBiases[bias], kFormats[format], s.name,
              static_cast<unsigned long long>(hash));
  return true;
}

bool matches(int argc, char** argv, int index, const char* name) {
  return argc <= index || std::strcmp(argv[index], name) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const plumbline_library* library = plumbline_kernel_library();
  if (!library) {
    std::fprintf(stderr, "the kernels cannot run on this machine\n");
    return 1;
  }
  bool good = true;
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    if (!kernel.forward || !matches(argc, argv, 1, kernel.name)) continue;
    for (int bias = PLUMBLINE_NOPE; bias < PLUMBLINE_BIAS_COUNT; ++bias) {
      if (!matches(argc, argv, 2, kBiases[bias])) continue;
      for (int format = PLUMBLINE_FP32; format < PLUMBLINE_FORMAT_COUNT; ++format) {
        if (!matches(argc, argv, 3, kFormats[format])) continue;
        for (const Shape& shape : kShapes) {
          good = run(kernel, shape, bias, format) && good;
          ++runs;
        }
      }
    }
  }
  if (runs == 0) std::fprintf(stderr, "no such kernel, bias or format\n");
  return good && runs > 0 ? 0 : 1;
}
