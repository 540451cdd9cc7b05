// SPDX-License-Identifier: Apache-2.0
// Attention with the matrix of scores in memory, for methods whose logits are more than a product
// and a bias of two positions: CoPE and DAPE.
#ifndef PLUMBLINE_GPU_ATTENTION_UNFUSED_CUH
#define PLUMBLINE_GPU_ATTENTION_UNFUSED_CUH

#include "attention/cope.cuh"
#include "attention/dape.cuh"
#include "attention/decode.cuh"
#include "core/device_buffer.cuh"
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

/// What the passes leave in device memory on their way: [batch, heads, queries, keys] unless it
/// says otherwise, null where the method has no such thing.
struct ScoreArrays {
  float* products;     // A = scale q.k, of all keys
  float* bias;         // DAPE: B
  float* hidden;       // DAPE: [batch, hidden, queries, keys], what enters LeakyReLU
  float* by_position;  // CoPE: [batch, heads, queries, positions], q.E_n
  float* counts;       // CoPE: the gates' sums
  float* logits;       // z, before SSMax's factor
  float* probability;  // P, not yet divided by its sum in the forward pass; -1: not visible
  float* row_sum;      // [batch, heads, queries], of P
};

/// Owns them, for the task and smaller ones of the same method.
class ScoreBuffers {
 public:
  ScoreBuffers(const Stream& stream, const Task& largest);
  const ScoreArrays& arrays() const { return arrays_; }

 private:
  DeviceBuffer<float> products_, bias_, hidden_, by_position_, counts_, logits_, probability_,
      row_sum_;
  ScoreArrays arrays_;
};

/// CoPE as the task has it; DAPE's network. @throws std::invalid_argument for other methods.
CopeShape cope_shape(const Task& task);
DapeShape dape_shape(const Task& task);
DapeLayers dape_layers(const Task& task);

/// products, bias, hidden, by_position, counts and logits.
void unfused_logits(const Stream& stream, const Task& task, const Cache& cache,
                    const ScoreArrays& scores);

/// The forward pass, and decoding where `cache` has pages: o and lse, and all of `scores`.
void unfused_forward(const Stream& stream, const Task& task, const Cache& cache,
                     const ScoreArrays& scores, const Outputs& outputs);

/// What the backward pass needs beside them, shaped like the scores unless it says otherwise.
struct ScoreGradArrays {
  float* delta;             // [batch, heads, queries]
  float* logits;            // dz
  float* products;          // dA
  float* bias;              // DAPE: dB
  float* hidden;            // DAPE: [batch, hidden, queries, keys]
  float* by_position;       // CoPE: [batch, heads, queries, positions]
  double* ssmax;            // [batch, heads, queries], with SSMax only
  double *by_query, *sums;  // [batch, heads, queries], [batch, heads, keys], of DAPE's CABLE only
};

class ScoreGradBuffers {
 public:
  ScoreGradBuffers(const Stream& stream, const Task& largest, bool ssmax);
  const ScoreGradArrays& arrays() const { return arrays_; }

 private:
  DeviceBuffer<float> delta_, logits_, products_, bias_, hidden_, by_position_;
  DeviceBuffer<double> ssmax_, by_query_, sums_;
  ScoreGradArrays arrays_;
};

/// All pointers of `gradients` in device memory. Every sum is taken in a fixed order: the same bits
/// every run. Fills `scores` anew. `mode` is for the parameters that all batches share.
void unfused_backward(const Stream& stream, const Task& task, const ScoreArrays& scores,
                      const ScoreGradArrays& arrays, const plumbline_gradients& gradients,
                      Gradient mode);

}  // namespace plumbline::gpu

#endif
