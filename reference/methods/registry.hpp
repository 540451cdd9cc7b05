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

/// The same for those of DAPE in a version, over each bias that the table gives it.
template <int version, class Visit>
void for_each_dape(const Visit& visit) {
  visit(DapeMethod<AlibiMethod, version>{});
#define PLUMBLINE_VISIT(number, Form)                                    \
  if constexpr (plumbline::methods::row(PLUMBLINE_##number).with_dape) { \
    visit(DapeMethod<OfHeads<Form>, version>{});                         \
  }
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_VISIT)
#undef PLUMBLINE_VISIT
  visit(DapeMethod<CableMethod, version>{});
}

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
  for_each_dape<1>(visit);
  for_each_dape<2>(visit);
}

}  // namespace plumbline::reference::methods
