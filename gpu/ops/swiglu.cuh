// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_SWIGLU_CUH
#define PLUMBLINE_GPU_OPS_SWIGLU_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// SwiGLU, y[n] = a[n] s(a[n]) b[n] with the logistic function s. Source: Shazeer, "GLU Variants
/// Improve Transformer", arXiv:2002.05202, equation 5, with beta = 1: a = x W, b = x V.
/// Element is float, bfloat16 or float16, the arithmetic fp32; all [count] in device memory; y may
/// be the same array as a or b. Domain: finite a, b. Error: docs/bounds-ops.md.
/// Throws std::invalid_argument for a null array.
template <class Element>
void swiglu(const Stream& stream, const Element* a, const Element* b, Element* y,
            std::size_t count);

/// grad_a = grad_y b s(a) (1 + a s(-a)), grad_b = grad_y a s(a), element by element. All [count];
/// grad_a may be the same array as a, grad_b as b. The rest as above.
template <class Element>
void swiglu_backward(const Stream& stream, const Element* a, const Element* b,
                     const Element* grad_y, Element* grad_a, Element* grad_b, std::size_t count);

}  // namespace plumbline::gpu

#endif
