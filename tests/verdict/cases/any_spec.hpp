// SPDX-License-Identifier: Apache-2.0
// Any small valid spec, for properties.
#pragma once

#include <rapidcheck.h>

#include "verdict/cases/spec.hpp"

namespace plumbline::cases {

/// Every field drawn, but no pass that files do not hold; `family` and the mask's pattern among
/// those that are generated.
inline rc::Gen<Spec> any_spec() {
  return rc::gen::exec([] {
    const auto size = [](int highest) { return *rc::gen::inRange(1, highest + 1); };
    Spec s;
    s.pass = *rc::gen::element(Pass::forward, Pass::backward);
    s.bias = *rc::gen::elementOf(all_biases());
    auto with_rope = s.bias;
    with_rope.rope = *rc::gen::element(PLUMBLINE_ROPE_INTERLEAVED, PLUMBLINE_ROPE_HALF_SPLIT);
    if (methods::is_bias(with_rope) && *rc::gen::arbitrary<bool>()) s.bias = with_rope;
    s.format = *rc::gen::elementOf(all_formats());
    s.ssmax = *rc::gen::arbitrary<bool>();
    if (!needs_scores(s.bias)) s.softcap = *rc::gen::element(0.0, 50.0, 0.3);
    if (!needs_scores(s.bias)) s.sinks = *rc::gen::arbitrary<bool>();
    s.batch = size(3);
    s.kv_heads = size(3);
    s.heads = s.kv_heads * size(3);
    s.keys = size(12);
    s.queries = size(s.keys);
    s.query_offset = *rc::gen::inRange(0, s.keys - s.queries + 1);
    s.head_dim = size(9);
    if (s.bias.has_rope()) s.head_dim += s.head_dim % 2;
    if (s.bias.has_rope() && *rc::gen::arbitrary<bool>()) s.rotary_dim = 2 * size(s.head_dim / 2);
    if (!needs_scores(s.bias)) s.dropout = *rc::gen::element(0.0F, 0.1F, 0.5F);
    if (*rc::gen::arbitrary<bool>()) s.value_dim = size(12);
    if (s.pass == Pass::forward && s.value_width() <= s.head_dim) {
      s.values_in_keys = *rc::gen::arbitrary<bool>();
    }
    if (s.pass == Pass::backward) s.lse_gradient = *rc::gen::arbitrary<bool>();
    s.mask.causal = *rc::gen::arbitrary<bool>() || s.bias.method == PLUMBLINE_FOX;
    const auto side = [] { return *rc::gen::inRange(-1, 12); };
    if (*rc::gen::arbitrary<bool>()) s.mask.window = {side(), side()};
    s.mask.ragged = *rc::gen::arbitrary<bool>();
    s.mask.documents = *rc::gen::arbitrary<bool>();
    if (!needs_scores(s.bias) && *rc::gen::arbitrary<bool>()) {
      s.mask.pattern = *rc::gen::element(Pattern::prefix, Pattern::chunks, Pattern::blocks,
                                         Pattern::tree, Pattern::scattered, Pattern::sink_tokens);
      s.mask.per_batch = *rc::gen::arbitrary<bool>();
      s.mask.per_head = *rc::gen::arbitrary<bool>();
    }
    if (s.mask.ragged && !needs_scores(s.bias) && *rc::gen::arbitrary<bool>()) {
      s.queries_at_end = true;
      s.query_offset = s.keys - s.queries;
    } else if (!has_rows_at_keys(s) && *rc::gen::arbitrary<bool>()) {
      s.query_offset = *rc::gen::inRange(1 - s.queries, 5);
    }
    s.family = *rc::gen::element(Family::generic, Family::peaked, Family::diffuse, Family::tied,
                                 Family::huge, Family::subnormal, Family::level);
    s.seed = *rc::gen::arbitrary<std::uint64_t>();
    return s;
  });
}

}  // namespace plumbline::cases

namespace rc {
inline void showValue(const plumbline::cases::Spec& spec, std::ostream& os) {
  os << plumbline::cases::to_line(spec);
}
}  // namespace rc
