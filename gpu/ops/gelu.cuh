// SPDX-License-Identifier: Apache-2.0
// GELU, as GPT-2 (tanh) and BERT (erf) have it. Source: Hendrycks, Gimpel, "Gaussian Error Linear
// Units", arXiv:1606.08415, section 2.
#ifndef PLUMBLINE_GPU_OPS_GELU_CUH
#define PLUMBLINE_GPU_OPS_GELU_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). erf: x Phi(x) = x/2 erfc(-x/sqrt(2)).
enum class GeluForm { tanh, erf };

/// y[n] = gelu(x[n]). Element is float, bfloat16 or float16, the arithmetic fp32; x and y, [count]
/// in device memory, may be the same array. Domain: finite x. Error: docs/bounds-ops.md.
/// Throws std::invalid_argument for a null array.
template <class Element>
void gelu(const Stream& stream, GeluForm form, const Element* x, Element* y, std::size_t count);

/// grad_x[n] = grad_y[n] gelu'(x[n]), gelu' the derivative of the same form:
///   tanh: s(z) + x s(z) s(-z) z', s the logistic function, z = 2 sqrt(2/pi) (x + 0.044715 x^3);
///   erf:  Phi(x) + x phi(x), phi(x) = e^(-x^2/2) / sqrt(2 pi).
/// All [count]; grad_x may be the same array as grad_y. The rest as above.
template <class Element>
void gelu_backward(const Stream& stream, GeluForm form, const Element* x, const Element* grad_y,
                   Element* grad_x, std::size_t count);

}  // namespace plumbline::gpu

#endif
