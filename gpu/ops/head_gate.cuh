// SPDX-License-Identifier: Apache-2.0
// One number a head and token from the layer's full-width input: CABLE's increments (equation 2)
// and gains (equation 6), FoX's log forget gates (Lin et al., arXiv:2503.02130, section 3).
//
// The output is laid out [batch, heads, T] in fp32, as the attention kernels and the prefix sum
// take it. W and b are fp32 master copies: bf16 would round increments that are summed over the
// whole sequence.
#ifndef PLUMBLINE_GPU_OPS_HEAD_GATE_CUH
#define PLUMBLINE_GPU_OPS_HEAD_GATE_CUH

#include <cstddef>

#include "core/launch.cuh"
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

/// What becomes of z_bht = x_bt . W_h + b_h.
enum class HeadGate {
  increment,   ///< max(z, 0); its derivative at 0 is taken as 0
  gain,        ///< softplus(z) = max(z, 0) + ln(1 + e^-|z|)
  log_forget,  ///< ln logistic(z) = min(z, 0) - ln(1 + e^-|z|)
};

struct HeadGateShape {
  int batch, length, width, heads;
};

/// values[b, h, t] = gate(x_bt . W_h + b_h). Shapes, all in device memory: x [batch, T, C] of
/// Element (float, bfloat16, float16), W [heads, C], b [heads] or null for none (the papers'
/// equations), values [batch, heads, T]. The stable forms: nothing overflows, and softplus and
/// -ln logistic keep a small relative error however small they are. Error: docs/bounds-ops.md.
/// @throws std::invalid_argument unless every number of the shape is at least 1 and batch x T below
/// 2^31.
template <class Element>
void head_gate_forward(const Stream& stream, HeadGate gate, const HeadGateShape& shape,
                       const Element* x, const float* W, const float* b, float* values);

/// Where the gradients go, shaped as what they are the gradient of.
template <class Element>
struct HeadGateGradients {
  Element* x;
  Gradient x_mode;  ///< accumulate: x has other uses, whose gradient is there already
  float *W, *b;     ///< b null where there is none
  Gradient parameter_mode;
};

/// The adjoint: dz = grad_values gate'(z), with gate' taken from forward's values ([v > 0], 1 -
/// e^-v, 1 - e^v), so that z need not be kept; dx_bt = sum_h dz_bht W_h, dW_h = sum_bt dz_bht x_bt,
/// db_h = sum_bt dz_bht. workspace: head_gate_workspace(shape) floats. The same bits every run.
/// @throws std::invalid_argument as forward.
template <class Element>
void head_gate_backward(const Stream& stream, HeadGate gate, const HeadGateShape& shape,
                        const Element* x, const float* W, const float* values,
                        const float* grad_values, const HeadGateGradients<Element>& grads,
                        float* workspace);

std::size_t head_gate_workspace(const HeadGateShape& shape);

/// The longest chains of additions in db, of `rows` = batch x T terms, with what was there before.
/// Those of z are warp_row_chain(C) + 1, of dW column_chain(rows), of dx heads.
int head_gate_bias_chain(int rows);

}  // namespace plumbline::gpu

#endif
