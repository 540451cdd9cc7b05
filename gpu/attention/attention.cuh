// SPDX-License-Identifier: Apache-2.0
// Attention on device memory: what a training step and decoding call, and what the kernel library
// puts between an upload and a download.
#ifndef PLUMBLINE_GPU_ATTENTION_ATTENTION_CUH
#define PLUMBLINE_GPU_ATTENTION_ATTENTION_CUH

#include <memory>
#include <string>

#include "attention/backward_arrays.cuh"
#include "attention/check_problem.cuh"
#include "attention/problem.cuh"
#include "attention/rotated_rows.cuh"
#include "attention/unfused.cuh"
#include "core/device_buffer.cuh"
#include "ops/column_sums.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// The kernels that an Attention launches.
struct AttentionKernels {
  void (*forward)(const Stream&, const Task&, const Outputs&);
  /// dK, dV and the keys' side of dS, in a fixed order; not called with `atomic`.
  void (*backward_keys)(const Stream&, const Task&, const BackwardArrays&);
  /// dQ and what belongs to queries and heads; with `atomic` all gradients.
  void (*backward_queries)(const Stream&, const Task&, const BackwardArrays&);
  bool atomic;  ///< dK and dV by atomic additions: their last bits may differ from run to run
  Widths widths = Widths::compiled;  ///< that `forward` takes
  bool float_outputs = false;  ///< o and the gradients of q, k and v are in fp32, lse to base 2
  bool has_lse = true;         ///< else `forward` leaves it out, and it may be missing
  bool rotated_rows = false;   ///< their q and k come rotated by RoPE, rounded to the format
};

/// The kernels on tensor cores for training, by mma.sync on any device; deterministic ones give the
/// same bits every run.
AttentionKernels kernels_by_mma(bool deterministic);
#if PLUMBLINE_ON_GPU
/// The same for a device that has wgmma, deterministic.
AttentionKernels kernels_by_wgmma();
#endif

/// The kernels for training: on tensor cores where they are wanted and the format is not fp32, else
/// in fp32 throughout; those for this thread's device.
AttentionKernels attention_kernels(Format format, bool tensor_cores, bool deterministic);

/// Why these kernels cannot run the problem on this thread's device, or "": their tiles, and the
/// sums of FIRE's hidden layer, stand in shared memory. The pointers are not read.
std::string lacks_shared_memory(const plumbline_problem& problem, const AttentionKernels& kernels,
                                bool backward);

/// What room an Attention shall have beside that of the forward pass, and for how many scores of
/// CoPE and DAPE at once. Fewer take longer; no bit of a result depends on it.
struct AttentionWorkspace {
  bool backward = false, decode = false;
  std::size_t most_scores = kMostScores;
};

/// Attention of one method, head layout and format. It holds what does not change from call to call
/// (rows of T5's table, RoPE's angles) and room for what a call needs, so that calls allocate
/// nothing; the layers of a model share one. Calls are for one thread, in the order of the stream.
///
/// Problems, outputs and gradients are those of kernel_abi/plumbline_kernel.h, with the formulas
/// and shapes there, but all their pointers lead to device memory (the comments there say host). A
/// call's problem has the method, options, ssmax, heads, kv_heads, head_dim, value_dim, rotary_dim
/// and format of `largest`, and at most its batch, queries and keys; scale, mask, offset, pages and
/// pointers are its own. Increments and gains may be outputs of head_gate_forward as they are;
/// prefix sums are taken here, unless the problem brings them (prefix_sums, in any pass).
///
/// Contents are not looked at: lengths beyond keys count as keys, a page that is not there is
/// undefined behaviour.
///
/// CoPE and DAPE run on the kernels of unfused.cuh, whatever `kernels` says, and take room for
/// the scores of as many query rows as workspace.most_scores are, at least of one of every
/// sequence.
class Attention {
 public:
  /// Allocates. The stream must outlive it. The pointers of `largest` are not read.
  /// @throws InvalidProblem if `largest` cannot be run, with `workspace.decode` also for more than
  /// 64 queries, with `workspace.backward` also for want of shared memory.
  Attention(const Stream& stream, const plumbline_problem& largest, const AttentionKernels& kernels,
            const AttentionWorkspace& workspace = {});

  /// o and lse. @throws InvalidProblem naming the field for a problem that does not fit (see above)
  /// or a missing pointer.
  void forward(const plumbline_problem& problem, const plumbline_outputs& outputs) const;

  /// Writes the gradients whose pointers are not null. `parameter_mode` says whether those of
  /// parameters that all batches share (all but increments, gain and log_forget, which are
  /// activations and always overwritten) are added to what is there; the sum over the batch is
  /// taken in double and rounded once, together with what was there.
  /// @throws InvalidProblem as forward, std::logic_error without room for it.
  void backward(const plumbline_problem& problem, const plumbline_gradients& gradients,
                Gradient parameter_mode = Gradient::overwrite) const;

  /// As forward, for at most 64 queries against a long cache. Keys and values lie in pages, or as
  /// in training: contiguous, so that a cache of a larger capacity C is one page of C keys a
  /// sequence. `prefix_stride` is the capacity of problem.prefix_sums, [batch, heads,
  /// prefix_stride]; 0: keys.
  /// @throws InvalidProblem as forward, std::logic_error without room for it.
  void decode(const plumbline_problem& problem, const plumbline_outputs& outputs,
              int prefix_stride = 0) const;

  /// The problem as kernels take it, for those that are not called through here. Launches what the
  /// passes share, prefix sums and numbers of visible keys, into memory of this object: good until
  /// the next call. @throws InvalidProblem as forward.
  Task task(const plumbline_problem& problem, int prefix_stride = 0) const;
  /// task(), and FIRE's table, which kernels for a few queries do without.
  Task task_of_tiles(const plumbline_problem& problem) const;

 private:
  void check(const plumbline_problem& problem) const;
  /// The task as kernels_ take it: with rotated rows, where they want them so.
  Task for_kernels(const Task& task) const;
  /// The gradients of parameters that belong to heads, from the sums of blocks.
  void head_gradients(const plumbline_problem& problem, const plumbline_gradients& gradients,
                      Gradient mode) const;

  struct BackwardWorkspace {
    DeviceBuffer<float> delta, dq, dk, dv;
    DeviceBuffer<double> sums, head_partial;
    DeviceBuffer<float> pairs;
    DeviceBuffer<double> ssmax_partial;
  };
  struct DecodeWorkspace {
    DeviceBuffer<float> o, maximum, sum;
  };

  const Stream& stream_;
  plumbline_problem largest_;
  AttentionKernels kernels_;
  int head_sums_;  // that a block leaves for the parameters of heads
  DeviceBuffer<double> prefix_sums_;
  DeviceBuffer<int> visible_counts_, table_row_;
  DeviceBuffer<float> distance_terms_;
  DeviceBuffer<float> fire_kinks_;  // of a FireTable
  DeviceBuffer<FireUnit> fire_units_;
  DeviceBuffer<FirePlace> fire_places_;
  DeviceBuffer<float> cosine_, sine_;
  std::unique_ptr<RotatedRows> rotated_rows_;
  std::unique_ptr<BackwardWorkspace> backward_workspace_;
  std::unique_ptr<DecodeWorkspace> decode_workspace_;
  std::unique_ptr<ScoreBuffers> scores_;  // of CoPE and DAPE
  std::unique_ptr<ScoreGradBuffers> score_grads_;
};

}  // namespace plumbline::gpu

#endif
