// SPDX-License-Identifier: Apache-2.0
// Attention with scores in memory, for methods whose logits are more than a product and a bias of
// two positions: CoPE and DAPE. A row's scores need no other row's, so that they are there a few
// rows at a time.
#ifndef PLUMBLINE_GPU_ATTENTION_UNFUSED_CUH
#define PLUMBLINE_GPU_ATTENTION_UNFUSED_CUH

#include "attention/cope.cuh"
#include "attention/dape.cuh"
#include "attention/decode.cuh"
#include "attention/score_index.cuh"
#include "core/device_buffer.cuh"
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

/// Numbers that a matrix of scores has at most, [batch, heads, rows, keys] and what is as wide: 256
/// MiB in fp32, of which there are four to a dozen. Enough rows to keep a large GPU busy at any
/// length.
inline constexpr std::size_t kMostScores = std::size_t{1} << 26;

/// What the passes leave in device memory on their way, for a chunk of rows: [batch, heads, rows,
/// keys] unless it says otherwise, null where the method has no such thing.
struct ScoreArrays {
  float* products;     // A = scale q.k, of all keys
  float* bias;         // DAPE: B
  float* hidden;       // DAPE: [batch, hidden, rows, keys], what enters LeakyReLU
  float* by_position;  // CoPE: [batch, heads, rows, positions], q.E_n
  float* counts;       // CoPE: the gates' sums
  float* logits;       // z, before SSMax's factor
  float* probability;  // P, not yet divided by its sum in the forward pass; -1: not visible
  float* row_sum;      // [batch, heads, rows], of P
};

/// Owns them, for the task and smaller ones of the same method: as many rows as have `most_scores`
/// scores, at least one of every sequence and head.
class ScoreBuffers {
 public:
  ScoreBuffers(const Stream& stream, const Task& largest, std::size_t most_scores);
  const ScoreArrays& arrays() const { return arrays_; }
  std::size_t rows() const { return rows_; }      ///< of all sequences and heads
  std::size_t scores() const { return scores_; }  ///< of them
  /// The task's rows from `first` on that there is room for.
  RowChunk chunk(const Task& task, int first) const;

 private:
  std::size_t rows_, scores_;
  DeviceBuffer<float> products_, bias_, hidden_, by_position_, counts_, logits_, probability_,
      row_sum_;
  ScoreArrays arrays_;
};

/// A chunk of the task's rows to CoPE and DAPE; DAPE's network.
/// @throws std::invalid_argument for other methods.
CopeShape cope_shape(const Task& task, const RowChunk& chunk);
DapeShape dape_shape(const Task& task, const RowChunk& chunk);
DapeLayers dape_layers(const Task& task);

/// products, bias, hidden, by_position, counts and logits of the chunk's rows.
void unfused_logits(const Stream& stream, const Task& task, const RowChunk& chunk,
                    const Cache& cache, const ScoreArrays& scores);

/// The forward pass, and decoding where `cache` has pages: o and lse. The same bits, however many
/// rows `scores` holds at once.
void unfused_forward(const Stream& stream, const Task& task, const Cache& cache,
                     const ScoreBuffers& scores, const Outputs& outputs);

/// What the backward pass needs beside them, shaped like the scores unless it says otherwise. Sums
/// over rows are carried from chunk to chunk.
struct ScoreGradArrays {
  float* delta;             // [batch, heads, queries]
  float* logits;            // dz
  float* products;          // dA
  float* bias;              // DAPE: dB
  float* hidden;            // DAPE: [batch, hidden, rows, keys]
  float* by_position;       // CoPE: [batch, heads, rows, positions]
  double* ssmax;            // [batch, heads, queries], with SSMax only
  double *by_query, *sums;  // [batch, heads, queries], [batch, heads, keys], of DAPE's CABLE only
  float *k, *v;             // [batch, kv_heads, keys, head_dim or value_dim], sums so far
  double* embedding;        // CoPE: [heads, positions, head_dim], sums so far
  double* network;          // DAPE: sums so far of its weights' and biases' gradients
  double* of_head;          // DAPE's base: [parameters, heads, kScoreThreads], sums so far
};

class ScoreGradBuffers {
 public:
  /// Beside `scores`, for the same task.
  ScoreGradBuffers(const Stream& stream, const Task& largest, const ScoreBuffers& scores,
                   bool ssmax);
  const ScoreGradArrays& arrays() const { return arrays_; }

 private:
  DeviceBuffer<float> delta_, logits_, products_, bias_, hidden_, by_position_, k_, v_;
  DeviceBuffer<double> ssmax_, by_query_, sums_, embedding_, network_, of_head_;
  ScoreGradArrays arrays_;
};

/// All pointers of `gradients` in device memory; grad_lse may be null. Every sum is taken in a
/// fixed order: the same bits every run, and however many rows `scores` holds at once. Fills
/// `scores` anew. `mode` is for the parameters that all batches share.
void unfused_backward(const Stream& stream, const Task& task, const ScoreBuffers& scores,
                      const ScoreGradArrays& arrays, const plumbline_gradients& gradients,
                      Gradient mode);

}  // namespace plumbline::gpu

#endif
