// SPDX-License-Identifier: Apache-2.0
#include "attention/forward.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/visible_count.cuh"
#include "core/device_buffer.cuh"
#include "ops/prefix_sum.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kMaxGrid = 65535;         // gridDim.y and gridDim.z
constexpr int kMaxPositions = 1 << 30;  // for the sums of mask.cuh

bool uses_prefix_sum(int bias) {
  return bias == PLUMBLINE_CABLE || bias == PLUMBLINE_CABLE_NW || bias == PLUMBLINE_K_CABLE ||
         bias == PLUMBLINE_K_CABLE_NW;
}

bool uses_gain(int bias) { return bias == PLUMBLINE_CABLE || bias == PLUMBLINE_K_CABLE; }

void require(const void* pointer, const char* name) {
  if (!pointer) throw InvalidProblem(std::string(name) + " is missing");
}

void validate(const plumbline_forward& p) {
  const std::string reason = unsupported_reason(p);
  if (!reason.empty()) throw InvalidProblem(reason);
  require(p.q, "q");
  require(p.k, "k");
  require(p.v, "v");
  require(p.o, "o");
  require(p.lse, "lse");
  if (p.bias == PLUMBLINE_ALIBI) require(p.slopes, "slopes");
  if (uses_prefix_sum(p.bias)) require(p.increments, "increments");
  if (uses_gain(p.bias)) require(p.gain, "gain");
  if (p.bias == PLUMBLINE_GGD) {
    require(p.theta_alpha, "theta_alpha");
    require(p.theta_beta, "theta_beta");
    require(p.theta_mu, "theta_mu");
  }
  for (int b = 0; p.lengths && b < p.batch; ++b)
    if (p.lengths[b] < 0 || p.lengths[b] > p.keys)
      throw InvalidProblem("lengths[" + std::to_string(b) + "] = " + std::to_string(p.lengths[b]) +
                           " is not between 0 and " + std::to_string(p.keys));
}

/// An input on the device; null when the host has none. On a GPU, where no sanitizer watches, there
/// is NaN (or -1) before and after it, so that a read beyond an end shows in the result.
template <class T>
class Input {
 public:
  Input(const Stream& stream, const void* host, std::size_t count)
      : buffer_(stream, host ? count + 2 * kPadding : 0) {
    if (host) buffer_.copy_from_host(stream, host, kPadding, count);
  }
  const T* data() const { return buffer_.data() ? buffer_.data() + kPadding : nullptr; }

 private:
  static constexpr std::size_t kPadding = PLUMBLINE_ON_GPU ? 4096 : 0;  // elements

  DeviceBuffer<T> buffer_;
};

/// An output on the device between two canaries.
template <class T>
class Output {
 public:
  Output(const Stream& stream, T* host, std::size_t count, const char* name)
      : stream_(stream),
        host_(host),
        count_(count),
        name_(name),
        buffer_(stream, count + 2 * kCanary) {
    const std::vector<unsigned char> canary(kCanaryBytes, kCanaryByte);
    buffer_.copy_from_host(stream, canary.data(), 0, kCanary);
    buffer_.copy_from_host(stream, host, kCanary, count);
    buffer_.copy_from_host(stream, canary.data(), kCanary + count, kCanary);
    buffer_.forbid(0, kCanary);
    buffer_.forbid(kCanary + count, kCanary);
  }

  T* data() const { return buffer_.data() + kCanary; }

  /// Starts the copy back; when the stream has come to its end, `deliver` hands it to the caller.
  void fetch() {
    staged_.resize(buffer_.size() * sizeof(T));
    buffer_.permit();
    buffer_.copy_to_host(stream_, staged_.data());
  }

  void deliver() {
    const auto begin = staged_.begin() + kCanaryBytes, end = staged_.end() - kCanaryBytes;
    const auto whole = [](unsigned char byte) { return byte == kCanaryByte; };
    if (!std::all_of(staged_.begin(), begin, whole))
      throw DamagedCanary(std::string("the kernel wrote before the start of ") + name_);
    if (!std::all_of(end, staged_.end(), whole))
      throw DamagedCanary(std::string("the kernel wrote beyond the end of ") + name_);
    std::memcpy(static_cast<void*>(host_), &*begin, count_ * sizeof(T));
  }

 private:
  static constexpr std::size_t kCanary = 4096;  // elements: 32 rows of D = 128
  static constexpr std::size_t kCanaryBytes = kCanary * sizeof(T);
  static constexpr unsigned char kCanaryByte = 0xa5;

  const Stream& stream_;
  T* host_;
  std::size_t count_;
  const char* name_;
  std::vector<unsigned char> staged_;
  DeviceBuffer<T> buffer_;
};

}  // namespace

std::string unsupported_reason(const plumbline_forward& p) {
  const auto positive = [](int value, int largest) { return value >= 1 && value <= largest; };
  if (p.struct_size != sizeof(plumbline_forward))
    return "struct_size is " + std::to_string(p.struct_size) + ", this library's is " +
           std::to_string(sizeof(plumbline_forward));
  if (!positive(p.batch, kMaxGrid)) return "batch must be 1 .. 65535";
  if (!positive(p.heads, kMaxGrid)) return "heads must be 1 .. 65535";
  if (std::int64_t{p.batch} * p.heads > std::numeric_limits<int>::max())
    return "batch * heads must be below 2^31";
  if (!positive(p.kv_heads, p.heads) || p.heads % p.kv_heads != 0)
    return "kv_heads must divide heads";
  if (!positive(p.keys, kMaxPositions)) return "keys must be 1 .. 2^30";
  if (!positive(p.queries, kMaxPositions)) return "queries must be 1 .. 2^30";
  if (p.query_offset < 0 || p.query_offset > p.keys - p.queries)
    return "query_offset + queries must lie within keys";
  if (p.head_dim != 32 && p.head_dim != 64 && p.head_dim != 128)
    return "head_dim must be 32, 64 or 128";
  if (p.format != PLUMBLINE_FP32 && p.format != PLUMBLINE_BF16)
    return "format must be fp32 or bf16";
  if (p.bias < PLUMBLINE_NOPE || p.bias > PLUMBLINE_GGD) return "unknown bias";
  if (p.causal != 0 && p.causal != 1) return "causal must be 0 or 1";
  if (p.window < -1) return "window must be -1 or more";
  return {};
}

template <class Element>
void run_forward(const plumbline_forward& p, void (*rung)(const Stream&, const Forward<Element>&)) {
  validate(p);
  const auto size = [](auto... extents) { return (std::size_t{1} * ... * extents); };
  const Stream stream;

  const Input<Element> q(stream, p.q, size(p.batch, p.heads, p.queries, p.head_dim));
  const Input<Element> k(stream, p.k, size(p.batch, p.kv_heads, p.keys, p.head_dim));
  const Input<Element> v(stream, p.v, size(p.batch, p.kv_heads, p.keys, p.head_dim));
  const Input<float> slopes(stream, p.slopes, size(p.heads));
  const Input<float> gain(stream, p.gain, size(p.batch, p.heads, p.queries));
  const Input<float> theta_alpha(stream, p.theta_alpha, size(p.heads));
  const Input<float> theta_beta(stream, p.theta_beta, size(p.heads));
  const Input<float> theta_mu(stream, p.theta_mu, size(p.heads));
  const Input<float> ssmax_scale(stream, p.ssmax_scale, size(p.heads));
  const Input<int> lengths(stream, p.lengths, size(p.batch));
  const Input<int> documents(stream, p.documents, size(p.batch, p.keys));
  Output<Element> o(stream, static_cast<Element*>(p.o),
                    size(p.batch, p.heads, p.queries, p.head_dim), "o");
  Output<float> lse(stream, p.lse, size(p.batch, p.heads, p.queries), "lse");

  const Mask mask{p.keys, p.causal == 1, clamped_window(p.window, p.keys), lengths.data(),
                  documents.data()};

  const bool summed = uses_prefix_sum(p.bias);
  const Input<float> increments(stream, summed ? p.increments : nullptr,
                                size(p.batch, p.heads, p.keys));
  const DeviceBuffer<double> sums(stream, summed ? size(p.batch, p.heads, p.keys) : 0);
  if (summed) prefix_sum(stream, increments.data(), sums.data(), p.batch * p.heads, p.keys);

  const DeviceBuffer<int> counts(stream, p.ssmax_scale ? size(p.batch, p.queries) : 0);
  if (p.ssmax_scale) visible_count(stream, mask, p.batch, p.queries, p.query_offset, counts.data());

  Forward<Element> forward{};
  forward.problem = {p.batch,
                     p.heads,
                     p.kv_heads,
                     p.queries,
                     p.keys,
                     p.query_offset,
                     static_cast<float>(p.scale),
                     mask,
                     q.data(),
                     k.data(),
                     v.data(),
                     ssmax_scale.data(),
                     counts.data(),
                     o.data(),
                     lse.data()};
  forward.bias_inputs = {p.heads,
                         p.queries,
                         p.keys,
                         slopes.data(),
                         sums.data(),
                         gain.data(),
                         theta_alpha.data(),
                         theta_beta.data(),
                         theta_mu.data(),
                         static_cast<float>(p.epsilon)};
  forward.head_dim = p.head_dim;
  forward.bias = static_cast<plumbline_bias>(p.bias);
  rung(stream, forward);

  o.fetch();
  lse.fetch();
  stream.wait();
  o.deliver();
  lse.deliver();
}

template void run_forward(const plumbline_forward&, void (*)(const Stream&, const Forward<float>&));
template void run_forward(const plumbline_forward&,
                          void (*)(const Stream&, const Forward<bfloat16>&));

}  // namespace plumbline::gpu
