// SPDX-License-Identifier: Apache-2.0
#include "attention/dape.cuh"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "attention/score_index.cuh"
#include "ops/reduce.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kDapeThreads = 128;

/// A score's place: one thread has it in all channels.
struct Score {
  int b, row, key;

  __device__ Score(int sequence, int query_row, int of_key)
      : b(sequence), row(query_row), key(of_key) {}
  __device__ Score(const DapeShape& s, std::size_t n)
      : b(static_cast<int>(n / s.keys / s.queries)),
        row(static_cast<int>(n / s.keys % s.queries)),
        key(static_cast<int>(n % s.keys)) {}
};

__host__ __device__ std::size_t scores(const DapeShape& s) {
  return static_cast<std::size_t>(s.batch) * s.queries * s.keys;
}

__device__ std::size_t index(const DapeShape& s, int channels, int channel, const Score& at,
                             int key) {
  const std::size_t plane = static_cast<std::size_t>(at.b) * channels + channel;
  return (plane * s.queries + at.row) * s.keys + key;
}

__device__ float leaky_relu(float x) { return x > 0.0f ? x : x / 100.0f; }

/// Keys that f sees of a row.
__device__ int seen(const DapeShape& s, int row) {
  return s.hides_later_keys ? min(row + s.query_offset + 1, s.keys) : s.keys;
}

/// What the first convolution reads: [A; B].
struct Features {
  const float *A, *B;

  __host__ __device__ static int channels(const DapeShape& s) { return 2 * s.heads; }
  __device__ float at(const DapeShape& s, int channel, const Score& score, int key) const {
    if (key < 0 || key >= seen(s, score.row)) return 0.0f;
    const bool product = channel < s.heads;
    const int head = product ? channel : channel - s.heads;
    return (product ? A : B)[index(s, s.heads, head, score, key)];
  }
};

/// What the second one reads.
struct Hidden {
  const float* before;

  __host__ __device__ static int channels(const DapeShape& s) { return s.hidden; }
  __device__ float at(const DapeShape& s, int channel, const Score& score, int key) const {
    return key < 0 || key >= s.keys ? 0.0f
                                    : leaky_relu(before[index(s, s.hidden, channel, score, key)]);
  }
};

/// Channel `out` of a convolution, without its bias.
template <class Input>
__device__ float convolved(const DapeShape& s, const Input& input, const float* weight, int out,
                           const Score& at) {
  const int channels = Input::channels(s);
  const float* w = weight + static_cast<std::size_t>(out) * channels * s.width;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c)
    for (int d = 0; d < s.width; ++d)
      sum += w[c * s.width + d] * input.at(s, c, at, at.key + d - s.width / 2);
  return sum;
}

/// Its adjoint in the input's channel `in`, for grad_y of `outs` channels.
__device__ float convolved_back(const DapeShape& s, const float* grad_y, int outs,
                                const float* weight, int ins, int in, const Score& at) {
  float sum = 0.0f;
  for (int o = 0; o < outs; ++o) {
    for (int d = 0; d < s.width; ++d) {
      const int key = at.key - d + s.width / 2;
      if (key < 0 || key >= s.keys) continue;
      sum += grad_y[index(s, outs, o, at, key)] *
             weight[(static_cast<std::size_t>(o) * ins + in) * s.width + d];
    }
  }
  return sum;
}

__device__ std::size_t thread_index() {
  return static_cast<std::size_t>(blockIdx.x) * kDapeThreads + threadIdx.x;
}

__global__ void first_kernel(DapeShape s, DapeLayers layers, Features features, float* before) {
  if (thread_index() >= scores(s)) return;
  const Score at(s, thread_index());
  for (int o = 0; o < s.hidden; ++o)
    before[index(s, s.hidden, o, at, at.key)] =
        convolved(s, features, layers.first_weight, o, at) + layers.first_bias[o];
}

__global__ void second_kernel(DapeShape s, DapeLayers layers, Features features, Hidden hidden,
                              float* logits) {
  if (thread_index() >= scores(s)) return;
  const Score at(s, thread_index());
  for (int h = 0; h < s.heads; ++h) {
    const std::size_t n = index(s, s.heads, h, at, at.key);
    const float corrected =
        convolved(s, hidden, layers.second_weight, h, at) + layers.second_bias[h];
    logits[n] = features.A[n] + features.B[n] + corrected;
  }
}

/// grad_before: through the second convolution and LeakyReLU.
__global__ void second_back_kernel(DapeShape s, DapeLayers layers, const float* before,
                                   const float* grad_logits, float* grad_before) {
  if (thread_index() >= scores(s)) return;
  const Score at(s, thread_index());
  for (int c = 0; c < s.hidden; ++c) {
    const std::size_t n = index(s, s.hidden, c, at, at.key);
    const float grad =
        convolved_back(s, grad_logits, s.heads, layers.second_weight, s.hidden, c, at);
    grad_before[n] = before[n] > 0.0f ? grad : grad / 100.0f;
  }
}

__global__ void first_back_kernel(DapeShape s, DapeLayers layers, const float* grad_before,
                                  const float* grad_logits, float* grad_A, float* grad_B) {
  if (thread_index() >= scores(s)) return;
  const Score at(s, thread_index());
  const bool corrects = at.key < seen(s, at.row);
  for (int h = 0; h < s.heads; ++h) {
    const std::size_t n = index(s, s.heads, h, at, at.key);
    const auto through = [&](int channel) {
      return corrects ? convolved_back(s, grad_before, s.hidden, layers.first_weight, 2 * s.heads,
                                       channel, at)
                      : 0.0f;
    };
    grad_A[n] = grad_logits[n] + through(h);
    grad_B[n] = grad_logits[n] + through(s.heads + h);
  }
}

/// A block for each weight and, after them, for each bias of a convolution. All rows one after the
/// other, of each all sequences.
template <class Input>
__global__ void weight_kernel(DapeShape s, Input input, const float* grad_y, int outs,
                              float* grad_weight, float* grad_bias, Gradient mode, DapePart part) {
  SharedMemory shared;
  auto* per_warp = shared.take<double>(kDapeThreads / kWarpSize);
  const int of_out = Input::channels(s) * s.width;
  const int entry = static_cast<int>(blockIdx.x), weights = outs * of_out;
  const bool is_weight = entry < weights;
  const int out = is_weight ? entry / of_out : entry - weights;
  const int channel = entry % of_out / s.width, d = entry % s.width;
  double* const so_far =
      part.sums ? part.sums + static_cast<std::size_t>(blockIdx.x) * kDapeThreads + threadIdx.x
                : nullptr;
  double sum = so_far && part.first_row > 0 ? *so_far : 0.0;
  const std::size_t of_row = static_cast<std::size_t>(s.batch) * s.keys;
  const std::size_t begin = part.first_row * of_row, end = begin + s.queries * of_row;
  for (std::size_t n = first_of_thread(begin, kDapeThreads); n < end; n += kDapeThreads) {
    const Score at(static_cast<int>(n % of_row / s.keys),
                   static_cast<int>(n / of_row) - part.first_row, static_cast<int>(n % s.keys));
    const double grad = grad_y[index(s, outs, out, at, at.key)];
    sum += is_weight ? grad * input.at(s, channel, at, at.key + d - s.width / 2) : grad;
  }
  if (so_far) *so_far = sum;
  if (!part.last) return;
  sum = block_reduce(sum, per_warp, Plus());
  float* to = is_weight ? grad_weight : grad_bias;
  if (threadIdx.x != 0 || !to) return;
  to += is_weight ? entry : out;
  if (mode == Gradient::accumulate) sum += *to;
  *to = static_cast<float>(sum);
}

/// Weights and biases of a convolution.
template <class Input>
std::size_t entries(const DapeShape& s, int outs) {
  return static_cast<std::size_t>(outs) * (Input::channels(s) * s.width + 1);
}

template <class Input>
void weight_gradients(const Stream& stream, const DapeShape& s, const Input& input,
                      const float* grad_y, int outs, float* grad_weight, float* grad_bias,
                      Gradient mode, const DapePart& part) {
  if (!grad_weight && !grad_bias) return;
  const auto blocks = static_cast<unsigned>(entries<Input>(s, outs));
  launch(stream, {dim3{blocks}, dim3{kDapeThreads}, shared_bytes<double>(kDapeThreads / kWarpSize)},
         weight_kernel<Input>, s, input, grad_y, outs, grad_weight, grad_bias, mode, part);
}

LaunchShape over_scores(const DapeShape& s,
                        std::source_location where = std::source_location::current()) {
  return {dim3{static_cast<unsigned>((scores(s) - 1) / kDapeThreads + 1)}, dim3{kDapeThreads}, 0,
          where};
}

void check_shape(const DapeShape& s) {
  require(s.batch >= 1, "batch", s.batch, "at least 1");
  require(s.heads >= 1 && s.heads <= 4096, "heads", s.heads, "1 .. 4096");
  require(s.hidden >= 1 && s.hidden <= 4096, "hidden", s.hidden, "1 .. 4096");
  require(s.queries >= 1, "queries", s.queries, "at least 1");
  require(s.keys >= 1, "keys", s.keys, "at least 1");
  require(s.query_offset >= 0 && s.query_offset <= s.keys - s.queries, "query_offset",
          s.query_offset, "0 .. keys - queries");
  require(s.width >= 1 && s.width % 2 == 1 && s.width <= 15, "width", s.width, "odd, 1 .. 15");
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  require(std::int64_t{s.queries} * s.keys <= most &&
              s.batch * (std::int64_t{s.queries} * s.keys) <= most,
          "batch x queries x keys", "too large", "below 2^31");
}

}  // namespace

void dape_forward(const Stream& stream, const DapeShape& shape, const DapeLayers& layers,
                  const float* A, const float* B, float* before, float* logits) {
  check_shape(shape);
  const Features features{A, B};
  launch(stream, over_scores(shape), first_kernel, shape, layers, features, before);
  launch(stream, over_scores(shape), second_kernel, shape, layers, features, Hidden{before},
         logits);
}

std::size_t dape_sums(const DapeShape& s) {
  return kDapeThreads * (entries<Hidden>(s, s.heads) + entries<Features>(s, s.hidden));
}

void dape_backward(const Stream& stream, const DapeShape& shape, const DapeLayers& layers,
                   const float* A, const float* B, const float* before, const float* grad_logits,
                   const DapeGradients& gradients, float* workspace, Gradient mode,
                   const DapePart& part) {
  check_shape(shape);
  DapePart of_first = part;
  if (part.sums) of_first.sums += kDapeThreads * entries<Hidden>(shape, shape.heads);
  launch(stream, over_scores(shape), second_back_kernel, shape, layers, before, grad_logits,
         workspace);
  launch(stream, over_scores(shape), first_back_kernel, shape, layers,
         static_cast<const float*>(workspace), grad_logits, gradients.A, gradients.B);
  weight_gradients(stream, shape, Hidden{before}, grad_logits, shape.heads, gradients.second_weight,
                   gradients.second_bias, mode, part);
  weight_gradients(stream, shape, Features{A, B}, workspace, shape.hidden, gradients.first_weight,
                   gradients.first_bias, mode, of_first);
}

}  // namespace plumbline::gpu
