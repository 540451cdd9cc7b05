// SPDX-License-Identifier: Apache-2.0
// Attention of one query over keys whose content scores are equal, under ALiBi.
#pragma once

#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {

/// The weight of the key at each distance 0..keys-1.
template <class R>
reference::Vector<R> weights_by_distance(const R& slope, int keys) {
  const reference::Alibi<R> bias{slope};
  reference::Vector<R> logits(keys);
  for (int d = 0; d < keys; ++d) logits[d] = bias(d, 0);
  return reference::softmax(logits).probability;
}

}  // namespace plumbline::proofs_checks::alibi
