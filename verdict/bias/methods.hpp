// SPDX-License-Identifier: Apache-2.0
// Every method by its number.
#pragma once

#include <stdexcept>

#include "verdict/bias/all.hpp"

namespace plumbline::verdict::bias {

/// use(M{}) of the method; of CoPE before there are scores.
template <class Use>
auto visit(plumbline_bias method, const Use& use) {
  switch (method) {
    case PLUMBLINE_NOPE:
      return use(Nope{});
    case PLUMBLINE_ALIBI:
      return use(Alibi{});
    case PLUMBLINE_CABLE:
      return use(Cable{});
    case PLUMBLINE_CABLE_NW:
      return use(CableNw{});
    case PLUMBLINE_K_CABLE:
      return use(KCable{});
    case PLUMBLINE_K_CABLE_NW:
      return use(KCableNw{});
#define PLUMBLINE_USE(number, Form) \
  case PLUMBLINE_##number:          \
    return use(Form{});
      PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_USE)
#undef PLUMBLINE_USE
    case PLUMBLINE_T5:
      return use(T5{});
    case PLUMBLINE_T5_BIDIRECTIONAL:
      return use(T5{});
    case PLUMBLINE_T5_CLIPPED:
      return use(T5Clipped{});
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      return use(T5ClippedOffset{});
    case PLUMBLINE_FIRE:
      return use(Fire{});
    case PLUMBLINE_FOX:
      return use(Fox{});
    case PLUMBLINE_CABLE_PAPER:
      return use(CablePaper{});
    case PLUMBLINE_CABLE_NW_PAPER:
      return use(CableNwPaper{});
    case PLUMBLINE_K_CABLE_PAPER:
      return use(KCablePaper{});
    case PLUMBLINE_COPE:
      return use(Cope{});
    case PLUMBLINE_BIAS_TENSOR:
      return use(BiasTensor{});
    case PLUMBLINE_CUSTOM:
      return use(Custom{});
  }
  throw std::logic_error("no such method");
}

}  // namespace plumbline::verdict::bias
