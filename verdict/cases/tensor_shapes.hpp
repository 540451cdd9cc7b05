// SPDX-License-Identifier: Apache-2.0
// The shapes of a case's tensors, from its spec.
#pragma once

#include <cstdint>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::cases {

using Shape = std::vector<std::int64_t>;

inline Shape query_shape(const Spec& s) { return {s.batch, s.heads, s.queries, s.head_dim}; }
inline Shape key_shape(const Spec& s) { return {s.batch, s.kv_heads, s.keys, s.head_dim}; }
inline Shape value_shape(const Spec& s) { return {s.batch, s.kv_heads, s.keys, s.value_width()}; }
inline Shape output_shape(const Spec& s) { return {s.batch, s.heads, s.queries, s.value_width()}; }
/// Of a mask tensor.
inline Shape mask_shape(const Spec& s) {
  return {s.mask.per_batch ? s.batch : 1, s.mask.per_head ? s.heads : 1, s.queries, s.keys};
}
inline Shape keep_shape(const Spec& s) { return {s.batch, s.heads, s.queries, s.keys}; }
inline Shape per_key_head(const Spec& s) { return {s.batch, s.kv_heads}; }
/// Of the scales of a cache of 8 bits.
inline Shape per_cached(const Spec& s) {
  return s.scale_per_key ? Shape{s.batch, s.kv_heads, s.keys} : per_key_head(s);
}
inline Shape per_query(const Spec& s) { return {s.batch, s.heads, s.queries}; }

/// The product of the sizes.
inline std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace plumbline::cases
