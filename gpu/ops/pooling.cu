// SPDX-License-Identifier: Apache-2.0
#include "ops/pooling.cuh"

#include <cstddef>

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/reduce.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kPoolingThreads = 256;
constexpr int kPoolingWarps = kPoolingThreads / static_cast<int>(kWarpSize);

/// Tokens that the block's sequence is the mean of.
__device__ int tokens_of(const PoolingShape& shape, const int* lengths) {
  if (shape.pooling == Pooling::cls) return 1;
  return lengths ? lengths[blockIdx.x] : shape.length;
}

/// A block a sequence, its threads kPoolingThreads columns apart.
template <class Element>
__global__ void __launch_bounds__(kPoolingThreads)
    pooled_forward_kernel(PoolingShape shape, const Element* x, const int* lengths, float* e,
                          float* norms) {
  SharedMemory shared;
  float* per_warp = shared.take<float>(kPoolingWarps);
  const int tokens = tokens_of(shape, lengths);
  const std::size_t width = shape.width, sequence = blockIdx.x;
  const Element* own_x = x + sequence * shape.length * width;
  float* own_e = e + sequence * width;
  float squares = 0.0f;
  for (std::size_t c = threadIdx.x; c < width; c += kPoolingThreads) {
    float sum = 0.0f;
    for (int t = 0; t < tokens; ++t) sum += to_float(own_x[t * width + c]);
    const float mean = sum / static_cast<float>(tokens);
    own_e[c] = mean;
    squares += mean * mean;
  }
  const float norm = Larger()(sqrtf(block_reduce(squares, per_warp, Plus())), kLeastLength);
  for (std::size_t c = threadIdx.x; c < width; c += kPoolingThreads) own_e[c] /= norm;
  if (threadIdx.x == 0) norms[sequence] = norm;
}

template <class Element>
__global__ void __launch_bounds__(kPoolingThreads)
    pooled_backward_kernel(PoolingShape shape, const int* lengths, const float* e,
                           const float* norms, const float* grad_e, Element* grad_x) {
  SharedMemory shared;
  float* per_warp = shared.take<float>(kPoolingWarps);
  const int tokens = tokens_of(shape, lengths);
  const std::size_t width = shape.width, sequence = blockIdx.x;
  const float *own_e = e + sequence * width, *own_grad = grad_e + sequence * width;
  Element* own_grad_x = grad_x + sequence * shape.length * width;
  const float norm = norms[sequence];
  float along = 0.0f;
  for (std::size_t c = threadIdx.x; c < width; c += kPoolingThreads)
    along += own_e[c] * own_grad[c];
  along = block_reduce(along, per_warp, Plus());
  if (norm <= kLeastLength) along = 0.0f;
  for (std::size_t c = threadIdx.x; c < width; c += kPoolingThreads) {
    const float mean = (own_grad[c] - own_e[c] * along) / norm;
    const Element of_token = from_float<Element>(mean / static_cast<float>(tokens));
    for (int t = 0; t < shape.length; ++t)
      own_grad_x[t * width + c] = t < tokens ? of_token : from_float<Element>(0.0f);
  }
}

LaunchShape launch_shape(const PoolingShape& shape,
                         std::source_location where = std::source_location::current()) {
  require(shape.batch >= 1, "batch", shape.batch, "at least 1");
  require(shape.length >= 1, "length", shape.length, "at least 1");
  require(shape.width >= 1, "width", shape.width, "at least 1");
  return {dim3{static_cast<unsigned>(shape.batch)}, dim3{kPoolingThreads},
          shared_bytes<float>(kPoolingWarps), where};
}

}  // namespace

template <class Element>
void pooled_forward(const Stream& stream, const PoolingShape& shape, const Element* x,
                    const int* lengths, float* e, float* norms) {
  launch(stream, launch_shape(shape), pooled_forward_kernel<Element>, shape, x, lengths, e, norms);
}

template <class Element>
void pooled_backward(const Stream& stream, const PoolingShape& shape, const int* lengths,
                     const float* e, const float* norms, const float* grad_e, Element* grad_x) {
  launch(stream, launch_shape(shape), pooled_backward_kernel<Element>, shape, lengths, e, norms,
         grad_e, grad_x);
}

template void pooled_forward(const Stream&, const PoolingShape&, const float*, const int*, float*,
                             float*);
template void pooled_forward(const Stream&, const PoolingShape&, const bfloat16*, const int*,
                             float*, float*);
template void pooled_forward(const Stream&, const PoolingShape&, const float16*, const int*, float*,
                             float*);
template void pooled_backward(const Stream&, const PoolingShape&, const int*, const float*,
                              const float*, const float*, float*);
template void pooled_backward(const Stream&, const PoolingShape&, const int*, const float*,
                              const float*, const float*, bfloat16*);
template void pooled_backward(const Stream&, const PoolingShape&, const int*, const float*,
                              const float*, const float*, float16*);

}  // namespace plumbline::gpu
