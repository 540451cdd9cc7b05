// SPDX-License-Identifier: Apache-2.0
// The conversions of core/element.cuh for code of the host, where nvcc does not let it call the
// device's.
#ifndef PLUMBLINE_GPU_CORE_HOST_ELEMENT_CUH
#define PLUMBLINE_GPU_CORE_HOST_ELEMENT_CUH

#include "core/bfloat16.cuh"
#include "core/float16.cuh"

namespace plumbline::gpu {

inline float float_on_host(float x) { return x; }
#if PLUMBLINE_ON_GPU
inline float float_on_host(bfloat16 x) { return __bfloat162float(x); }
inline float float_on_host(float16 x) { return __half2float(x); }
#else
inline float float_on_host(bfloat16 x) { return to_float(x); }
inline float float_on_host(float16 x) { return to_float(x); }
#endif

template <class Element>
Element element_on_host(float x) {
#if PLUMBLINE_ON_GPU
  return Element(x);
#else
  return from_float<Element>(x);
#endif
}

}  // namespace plumbline::gpu

#endif
