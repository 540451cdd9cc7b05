// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_DROPOUT_CUH
#define PLUMBLINE_GPU_OPS_DROPOUT_CUH

#include <cstddef>
#include <cstdint>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// Which elements are dropped: a function of these numbers and the element's index alone.
struct Dropout {
  double probability = 0.0;  ///< p of dropping an element, in [0, 1); 0, the default, is off
  std::uint64_t seed = 0;    ///< of the run
  std::uint64_t draw = 0;    ///< of the application: another one for every layer and step
  /// In device memory, added to draw: a CUDA graph keeps the arguments of its launches. Null: 0.
  const std::uint64_t* more = nullptr;
};

/// y[n] = x[n] / (1 - p) where the element is kept, else 0. Source: Srivastava et al., "Dropout",
/// JMLR 15 (2014), section 10, with the scaling in training. Element n is kept when word n mod 4 of
/// Philox4x32-10(counter = (n div 4, draw), key = seed), low words first, is at least p 2^32
/// (rounded to an integer: p is exact to 2^-33). With p = 0, y = x exactly. The gradient is the
/// same function of grad_y: nothing is stored, the backward pass calls this again with the same
/// `dropout`. Element is float, bfloat16 or float16; x, y [count] in device memory, or the same
/// array. Throws std::invalid_argument for p outside [0, 1) and for a null array.
template <class Element>
void dropout(const Stream& stream, const Dropout& dropout, const Element* x, Element* y,
             std::size_t count);

}  // namespace plumbline::gpu

#endif
