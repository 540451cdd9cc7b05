// SPDX-License-Identifier: Apache-2.0
// The one list of position methods.
#pragma once

#include "kernel_abi/methods.hpp"
#include "reference/bias/all.hpp"
#include "reference/methods/cable_methods.hpp"
#include "reference/methods/cope_method.hpp"
#include "reference/methods/dape_methods.hpp"
#include "reference/methods/distance_methods.hpp"
#include "reference/methods/learned_methods.hpp"
#include "reference/methods/method.hpp"
#include "reference/methods/position_methods.hpp"

namespace plumbline::reference::methods {

/// Calls `visit(Method{})` for the adaptor of every method, in the order of files and tables.
template <class Visit>
void for_each_method(const Visit& visit) {
  visit(NopeMethod{});
  visit(AlibiMethod{});
  visit(AlibiGeometricMethod{});
  visit(CableMethod{});
  visit(CablePaperMethod{});
  visit(CableNwMethod{});
  visit(CableNwPaperMethod{});
  visit(KCableMethod{});
  visit(KCablePaperMethod{});
  visit(KCableNwMethod{});
#define PLUMBLINE_VISIT(number, Form) visit(OfHeads<Form>{});
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_VISIT)
#undef PLUMBLINE_VISIT
  visit(FireMethod{});
  visit(T5Method{});
  visit(T5BidirectionalMethod{});
  visit(T5ClippedMethod{});
  visit(T5ClippedOffsetMethod{});
  visit(FoxMethod{});
  visit(BiasTensorMethod{});
  visit(RopeInterleavedMethod{});
  visit(RopeHalfSplitMethod{});
  visit(LocalRopeMethod{});
  visit(LocalRopeKeysMethod{});
  visit(SinusoidalMethod{});
  visit(SinusoidalOwnFrequencyMethod{});
  visit(LearnableMethod{});
  visit(CopeMethod{});
  visit(DapeV1AlibiMethod{});
  visit(DapeV1KerpleLogMethod{});
  visit(DapeV1CableMethod{});
  visit(DapeV2AlibiMethod{});
  visit(DapeV2KerpleLogMethod{});
  visit(DapeV2CableMethod{});
}

}  // namespace plumbline::reference::methods
