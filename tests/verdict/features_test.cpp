// SPDX-License-Identifier: Apache-2.0
// plumbline_features(), by which a kernel declines what it does not compute.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "kernel_abi/plumbline_kernel.h"

BOOST_AUTO_TEST_SUITE(features_test)

namespace {

plumbline_problem plain() {
  plumbline_problem p{};
  p.struct_size = sizeof p;
  p.batch = 2;
  p.heads = p.kv_heads = 4;
  p.queries = p.keys = 16;
  p.head_dim = p.value_dim = 64;
  p.window_left = p.window_right = -1;
  p.causal = 1;
  p.scale = 0.125;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_plain_problem_has_none) {
  plumbline_problem p = plain();
  BOOST_TEST(plumbline_features(&p) == 0);
  p.causal = 0;
  p.format = PLUMBLINE_BF16;
  p.bias = PLUMBLINE_CABLE;
  BOOST_TEST(plumbline_features(&p) == 0);
}

BOOST_AUTO_TEST_CASE(each_has_a_bit) {
  static const std::int32_t there = 0;
  static const std::uint8_t mask = 0;
  struct Given {
    std::int32_t bits;
    std::function<void(plumbline_problem&)> give;
  };
  const Given all[] = {
      {PLUMBLINE_HAS_DAPE, [](auto& p) { p.dape = 2; }},
      {PLUMBLINE_HAS_ROPE, [](auto& p) { p.rope = PLUMBLINE_ROPE_HALF_SPLIT, p.rotary_dim = 64; }},
      {PLUMBLINE_HAS_SSMAX, [](auto& p) { p.ssmax = 1; }},
      {PLUMBLINE_HAS_SOFTCAP, [](auto& p) { p.softcap = 0.5; }},
      {PLUMBLINE_HAS_SINKS, [](auto& p) { p.sinks = 1; }},
      {PLUMBLINE_HAS_WINDOW, [](auto& p) { p.window_left = p.window_right = 0; }},
      {PLUMBLINE_HAS_WINDOW | PLUMBLINE_HAS_WINDOW_SIDES, [](auto& p) { p.window_right = 3; }},
      {PLUMBLINE_HAS_LENGTHS, [](auto& p) { p.lengths = &there; }},
      {PLUMBLINE_HAS_LENGTHS | PLUMBLINE_HAS_QUERIES_AT_END,
       [](auto& p) { p.lengths = &there, p.queries_at_end = 1; }},
      {PLUMBLINE_HAS_DOCUMENTS, [](auto& p) { p.documents = &there; }},
      {PLUMBLINE_HAS_MASK, [](auto& p) { p.mask = &mask; }},
      {PLUMBLINE_HAS_KEY_HEADS, [](auto& p) { p.kv_heads = 2; }},
      {PLUMBLINE_HAS_FEWER_QUERIES, [](auto& p) { p.queries = 1, p.query_offset = 15; }},
      {PLUMBLINE_HAS_MORE_QUERIES, [](auto& p) { p.queries = 17, p.query_offset = -1; }},
      {PLUMBLINE_HAS_FEWER_QUERIES | PLUMBLINE_HAS_OFFSET, [](auto& p) { p.queries = 1; }},
      {PLUMBLINE_HAS_VALUE_DIM, [](auto& p) { p.value_dim = 32; }},
      {PLUMBLINE_HAS_LSE_GRADIENT, [](auto& p) { p.lse_gradient = 1; }},
      {PLUMBLINE_HAS_PAGES, [](auto& p) { p.page_size = 16; }},
      {PLUMBLINE_HAS_CACHE_FORMAT, [](auto& p) { p.cache_format = PLUMBLINE_CACHE_INT8; }},
      {PLUMBLINE_HAS_SLOPES_PER_BATCH,
       [](auto& p) { p.bias = PLUMBLINE_ALIBI, p.options[PLUMBLINE_SLOPES_PER_BATCH] = 1; }},
      {PLUMBLINE_HAS_DROPOUT, [](auto& p) { p.dropout = 0.5F; }},
      {PLUMBLINE_HAS_ROPE | PLUMBLINE_HAS_PARTIAL_ROPE,
       [](auto& p) { p.rope = PLUMBLINE_ROPE_HALF_SPLIT, p.rotary_dim = 62; }},
      {PLUMBLINE_HAS_STRIDES, [](auto& p) { p.strided = 1; }},
      {PLUMBLINE_HAS_PACKED_SEQUENCES, [](auto& p) { p.cu_seqlens_q = &there; }},
  };
  std::int32_t seen = 0;
  for (const auto& [bits, give] : all) {
    plumbline_problem p = plain();
    give(p);
    BOOST_TEST(plumbline_features(&p) == bits);
    seen |= bits;
  }
  BOOST_TEST(seen == 2 * PLUMBLINE_HAS_PACKED_SEQUENCES - 1);
}

BOOST_AUTO_TEST_SUITE_END()
