// SPDX-License-Identifier: Apache-2.0
// The shapes of a case's tensors, from its spec.
#pragma once

#include "cases/spec.hpp"
#include "cases/tensor_io.hpp"

namespace plumbline::cases {

inline Shape query_shape(const Spec& s) { return {s.batch, s.heads, s.queries, s.head_dim}; }
inline Shape key_shape(const Spec& s) { return {s.batch, s.kv_heads, s.keys, s.head_dim}; }
inline Shape per_head(const Spec& s) { return {s.heads}; }
inline Shape per_key(const Spec& s) { return {s.batch, s.heads, s.keys}; }
inline Shape per_query(const Spec& s) { return {s.batch, s.heads, s.queries}; }

inline bool uses_gain(BiasMethod bias) {
  return bias == BiasMethod::cable || bias == BiasMethod::k_cable;
}
inline bool uses_increments(BiasMethod bias) {
  return uses_gain(bias) || bias == BiasMethod::cable_nw || bias == BiasMethod::k_cable_nw;
}

}  // namespace plumbline::cases
