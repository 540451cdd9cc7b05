// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_DISPATCH_CUH
#define PLUMBLINE_GPU_ATTENTION_DISPATCH_CUH

#include <stdexcept>

#include "attention/problem.cuh"
#include "bias/alibi.cuh"
#include "bias/cable.cuh"
#include "bias/ggd.cuh"
#include "bias/k_cable.cuh"
#include "bias/nope.cuh"

namespace plumbline::gpu {

/// Calls Rung::run<D, Bias>(stream, forward) for the head dimension and the bias of the problem.
/// A new bias gets its line here.
template <class Rung, int D, class Element>
void dispatch_bias(const Stream& stream, const Forward<Element>& forward) {
  switch (forward.bias) {
    case PLUMBLINE_NOPE:
      return Rung::template run<D, Nope>(stream, forward);
    case PLUMBLINE_ALIBI:
      return Rung::template run<D, Alibi>(stream, forward);
    case PLUMBLINE_CABLE:
      return Rung::template run<D, Cable>(stream, forward);
    case PLUMBLINE_CABLE_NW:
      return Rung::template run<D, CableNw>(stream, forward);
    case PLUMBLINE_K_CABLE:
      return Rung::template run<D, KCable>(stream, forward);
    case PLUMBLINE_K_CABLE_NW:
      return Rung::template run<D, KCableNw>(stream, forward);
    case PLUMBLINE_GGD:
      return Rung::template run<D, Ggd>(stream, forward);
  }
  throw std::invalid_argument("unknown bias");
}

template <class Rung, class Element>
void dispatch(const Stream& stream, const Forward<Element>& forward) {
  switch (forward.head_dim) {
    case 32:
      return dispatch_bias<Rung, 32>(stream, forward);
    case 64:
      return dispatch_bias<Rung, 64>(stream, forward);
    case 128:
      return dispatch_bias<Rung, 128>(stream, forward);
  }
  throw std::invalid_argument("head dimension must be 32, 64 or 128");
}

}  // namespace plumbline::gpu

#endif
