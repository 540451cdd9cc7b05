// SPDX-License-Identifier: Apache-2.0
// kernel_runner [kernel [bias [fp32|bf16]]]: runs every kernel, bias and format that match on a few
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

constexpr const char* kBiases[] = {"nope",    "alibi",      "cable", "cable_nw",
                                   "k_cable", "k_cable_nw", "ggd"};
constexpr const char* kFormats[] = {"fp32", "bf16"};

/// The numbers' upper 16 bits: any bf16 will do.
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

bool run(const plumbline_kernel& kernel, const Shape& s, int bias, int format) {
  Numbers numbers(7);
  const auto rows = static_cast<std::size_t>(s.batch) * s.heads * s.queries;
  const auto keys = static_cast<std::size_t>(s.batch) * s.kv_heads * s.keys;
  const auto q = numbers.many(rows * s.head_dim, -2.0f, 2.0f);
  const auto k = numbers.many(keys * s.head_dim, -2.0f, 2.0f);
  const auto v = numbers.many(keys * s.head_dim, -1.0f, 1.0f);
  const auto q16 = truncated(q), k16 = truncated(k), v16 = truncated(v);
  const auto slopes = numbers.many(s.heads, 0.0f, 0.5f);
  const auto increments =
      numbers.many(static_cast<std::size_t>(s.batch) * s.heads * s.keys, 0.0f, 0.3f);
  const auto gain = numbers.many(rows, 0.0f, 2.0f);
  const auto theta_alpha = numbers.many(s.heads, -1.0f, 1.0f);
  const auto theta_beta = numbers.many(s.heads, -1.0f, 1.0f);
  const auto theta_mu = numbers.many(s.heads, -1.0f, 1.0f);
  const auto ssmax = numbers.many(s.heads, 0.5f, 1.5f);
  std::vector<std::int32_t> lengths(s.batch), documents(static_cast<std::size_t>(s.batch) * s.keys);
  for (int b = 0; b < s.batch; ++b) lengths[b] = b == 0 ? s.keys : s.keys / 2;
  for (std::size_t n = 0; n < documents.size(); ++n) documents[n] = static_cast<int>(n) / 13;
  std::vector<float> o(rows * s.head_dim), lse(rows);
  std::vector<std::uint16_t> o16(rows * s.head_dim);

  plumbline_forward problem{};
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
  problem.causal = s.causal ? 1 : 0;
  problem.window = s.window;
  problem.scale = 0.125;
  problem.epsilon = 1e-5;
  const bool bf16 = format == PLUMBLINE_BF16;
  problem.q = bf16 ? static_cast<const void*>(q16.data()) : q.data();
  problem.k = bf16 ? static_cast<const void*>(k16.data()) : k.data();
  problem.v = bf16 ? static_cast<const void*>(v16.data()) : v.data();
  problem.o = bf16 ? static_cast<void*>(o16.data()) : o.data();
  problem.lse = lse.data();
  problem.slopes = slopes.data();
  problem.increments = increments.data();
  problem.gain = gain.data();
  problem.theta_alpha = theta_alpha.data();
  problem.theta_beta = theta_beta.data();
  problem.theta_mu = theta_mu.data();
  problem.ssmax_scale = s.ssmax ? ssmax.data() : nullptr;
  problem.lengths = s.ragged ? lengths.data() : nullptr;
  problem.documents = s.documents ? documents.data() : nullptr;

  char message[512] = "";
  if (kernel.supports(&problem) != 1 || kernel.forward(&problem, message, sizeof message) != 0) {
    std::fprintf(stderr, "%s %s %s %s: %s\n", kernel.name, kBiases[bias], kFormats[format], s.name,
                 *message ? message : "not supported");
    return false;
  }
  std::uint64_t hash = 14695981039346656037u;
  hash = bf16 ? checksum(hash, o16.data(), o16.size() * sizeof o16[0])
              : checksum(hash, o.data(), o.size() * sizeof o[0]);
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
    if (!matches(argc, argv, 1, kernel.name)) continue;
    for (int bias = PLUMBLINE_NOPE; bias <= PLUMBLINE_GGD; ++bias) {
      if (!matches(argc, argv, 2, kBiases[bias])) continue;
      for (int format = PLUMBLINE_FP32; format <= PLUMBLINE_BF16; ++format) {
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
