// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy.cuh"

#include <cstddef>

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/check_ids.cuh"
#include "ops/reduce.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kEntropyThreads = 256;
constexpr int kEntropyWarps = kEntropyThreads / static_cast<int>(kWarpSize);

/// Threads of a row's block: whole warps, at most kEntropyThreads, of 16 logits or more each where
/// that leaves a warp. A small vocabulary would leave most of a large block waiting at its
/// barriers.
constexpr int row_threads(int vocabulary) {
  constexpr int warp = static_cast<int>(kWarpSize), of_warp = 16 * warp;
  const int warps = (vocabulary - 1) / of_warp + 1;
  return warp * (warps < kEntropyWarps ? warps : kEntropyWarps);
}

/// A block a row, which it reads three times (for the maximum, the sum, the gradients) and writes
/// once. Few rows are at work at a time, so that memory sees it read once.
template <class Element>
__global__ void __launch_bounds__(kEntropyThreads)
    cross_entropy_rows_kernel(LogitShape shape, Targets targets, float share, Element* logits,
                              float* losses) {
  SharedMemory shared;
  float* per_warp = shared.take<float>(kEntropyWarps);
  const int row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  Element* z = logits + static_cast<std::size_t>(row) * shape.stride;
  const int target = targets.ids[row];
  const bool counts =
      (!targets.selected || targets.selected[row] != 0) && target != targets.ignored;
  if (!counts) {  // the whole block
    for (int v = thread; v < shape.stride; v += threads) z[v] = from_float<Element>(0.0f);
    if (thread == 0) losses[row] = 0.0f;
    return;
  }

  const float of_target = to_float(z[target]);  // before it becomes a gradient
  float largest = of_target;
  for (int v = thread; v < shape.vocabulary; v += threads)
    largest = Larger()(largest, to_float(z[v]));
  largest = block_reduce(largest, per_warp, Larger());
  float sum = 0.0f;
  for (int v = thread; v < shape.vocabulary; v += threads) sum += expf(to_float(z[v]) - largest);
  sum = block_reduce(sum, per_warp, Plus());
  if (thread == 0) losses[row] = logf(sum) - (of_target - largest);

  for (int v = thread; v < shape.stride; v += threads) {
    float gradient = 0.0f;
    if (v < shape.vocabulary) {
      const float probability = expf(to_float(z[v]) - largest) / sum;
      gradient = share * (v == target ? probability - 1.0f : probability);
    }
    z[v] = from_float<Element>(gradient);
  }
}

/// One block: each thread its own, one after the other, then the threads.
__global__ void sum_of_losses_kernel(const float* losses, int count, double* sum) {
  SharedMemory shared;
  double* per_warp = shared.take<double>(kEntropyWarps);
  double own = 0.0;
  for (int n = static_cast<int>(threadIdx.x); n < count; n += kEntropyThreads) own += losses[n];
  own = block_reduce(own, per_warp, Plus());
  if (threadIdx.x == 0) *sum = own;
}

}  // namespace

int count_targets(const Stream& stream, const Targets& targets, int rows, int vocabulary) {
  return check_ids(stream, "targets", targets.ids, rows, vocabulary,
                   {true, targets.ignored, targets.selected});
}

int cross_entropy_chain(int vocabulary) {
  const int threads = row_threads(vocabulary);
  return (vocabulary - 1) / threads + 5 + threads / static_cast<int>(kWarpSize);
}

template <class Element>
void cross_entropy_rows(const Stream& stream, const LogitShape& shape, const Targets& targets,
                        float share, Element* logits, float* losses) {
  require(shape.rows >= 1, "rows", shape.rows, "at least 1");
  require(shape.vocabulary >= 1, "vocabulary", shape.vocabulary, "at least 1");
  require(shape.stride >= shape.vocabulary, "stride", shape.stride, "at least the vocabulary");
  launch(stream,
         {dim3{static_cast<unsigned>(shape.rows)},
          dim3{static_cast<unsigned>(row_threads(shape.vocabulary))},
          shared_bytes<float>(kEntropyWarps)},
         cross_entropy_rows_kernel<Element>, shape, targets, share, logits, losses);
}

void sum_of_losses(const Stream& stream, const float* losses, int count, double* sum) {
  require(count >= 1, "the number of losses", count, "at least 1");
  launch(stream, {dim3{1}, dim3{kEntropyThreads}, shared_bytes<double>(kEntropyWarps)},
         sum_of_losses_kernel, losses, count, sum);
}

#define PLUMBLINE_INSTANTIATE(E)                                                                \
  template void cross_entropy_rows(const Stream&, const LogitShape&, const Targets&, float, E*, \
                                   float*);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
