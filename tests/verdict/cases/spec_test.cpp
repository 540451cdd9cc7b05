// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/spec.hpp"

#include <rapidcheck.h>

#include <boost/test/unit_test.hpp>

#include "tests/verdict/cases/any_spec.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(spec_test)

BOOST_AUTO_TEST_CASE(a_line_reads_back_as_the_spec_it_was_written_from) {
  BOOST_TEST(rc::check([] {
    const Spec written = *any_spec();
    RC_ASSERT(from_line(to_line(written)) == written);
  }));
}

BOOST_AUTO_TEST_CASE(the_line_is_spelt_as_documented) {
  Spec s;
  s.bias = PLUMBLINE_K_CABLE_NW;
  s.format = Format::bf16;
  s.mask.window = 3;
  s.seed = 18446744073709551615u;
  BOOST_TEST(to_line(s) ==
             "pass=forward,bias=k_cable_nw,dtype=bf16,ssmax=0,batch=1,heads=1,kv_heads=1,queries=1,"
             "keys=1,head_dim=64,query_offset=0,page_size=0,causal=1,window=3,ragged=0,documents=0,"
             "family=generic,seed=18446744073709551615");
  BOOST_TEST(to_line(from_line("softcap=50")).ends_with(",seed=0,softcap=50"));
  BOOST_TEST(to_line(from_line("sinks=1")).ends_with(",seed=0,sinks=1"));
  BOOST_TEST(to_line(from_line("ragged=1,queries_at_end=1")).ends_with(",queries_at_end=1"));
  BOOST_TEST(to_line(from_line("mask_per_head=1,values_in_keys=1,mask_per_batch=1,mask=tree,"
                               "value_dim=8,sinks=1"))
                 .ends_with(",seed=0,sinks=1,value_dim=8,mask=tree,mask_per_batch=1,"
                            "mask_per_head=1,values_in_keys=1"));
  BOOST_TEST(
      to_line(from_line("lse_gradient=1,pass=backward")).ends_with(",seed=0,lse_gradient=1"));
  for (const char* mask :
       {"prefix", "chunks", "blocks", "tree", "scattered", "sink_tokens", "file"}) {
    const std::string field = std::string("mask=") + mask;
    BOOST_TEST(to_line(from_line(field)).ends_with(",seed=0," + field), mask);
  }
  BOOST_TEST(to_line(from_line("mask=none")).ends_with(",seed=0"));
  BOOST_TEST(to_line(from_line("dropout=0.1,bias=rope_half_split,rotary_dim=16"))
                 .ends_with(",seed=0,rotary_dim=16,dropout=0.1"));
  BOOST_TEST(from_line("dropout=0.1").dropout == 0.1F);
  BOOST_TEST(to_line(from_line("pass=decode,scale_per_key=1,cache=int8"))
                 .ends_with(",seed=0,cache=int8,scale_per_key=1"));
  for (const std::string layout : {"tokens_first", "spaced", "packed_qkv"}) {
    BOOST_TEST(to_line(from_line("layout=" + layout)).ends_with(",seed=0,layout=" + layout));
  }
  BOOST_TEST(to_line(from_line("layout=packed_sequences,ragged=1,queries_at_end=1"))
                 .ends_with(",queries_at_end=1,layout=packed_sequences"));
  for (const char* window : {"none", "4", "3:0", "none:5", "7:none"}) {
    const std::string field = std::string("window=") + window + ",";
    BOOST_TEST(to_line(from_line(field + "keys=9")).find(field) != std::string::npos, window);
  }
  BOOST_TEST((from_line("window=3:0").mask.window == Window{3, 0}));
  BOOST_TEST((from_line("window=none:5").mask.window == Window{-1, 5}));
}

BOOST_AUTO_TEST_CASE(a_line_may_leave_keys_out) {
  BOOST_CHECK(from_line("keys=5").keys == 5);
  BOOST_CHECK(from_line("keys=5").head_dim == Spec{}.head_dim);
}

BOOST_AUTO_TEST_CASE(values_are_as_wide_as_keys_unless_a_line_says_otherwise) {
  BOOST_TEST(from_line("head_dim=8").value_width() == 8);
  BOOST_TEST(from_line("head_dim=8,value_dim=3").value_width() == 3);
  BOOST_TEST(from_line("head_dim=8,value_dim=12").value_width() == 12);
  BOOST_TEST(from_line("head_dim=8,value_dim=8,values_in_keys=1").values_in_keys);
  BOOST_TEST(from_line("pass=decode,value_dim=1,values_in_keys=1").values_in_keys);
}

BOOST_AUTO_TEST_CASE(lines_that_are_refused) {
  expect_bad_input([] { from_line(""); }, {"case line", "key=value"});
  expect_bad_input([] { from_line("heads"); }, {"\"heads\"", "key=value"});
  expect_bad_input([] { from_line("head=1"); }, {"\"head\"", "kv_heads"});
  expect_bad_input([] { from_line("keys=2,keys=2"); }, {"\"keys\"", "second time"});
  expect_bad_input([] { from_line("keys=2x"); }, {"keys is \"2x\"", "whole number"});
  expect_bad_input([] { from_line("keys=99999999999999999999"); }, {"keys", "whole number"});
  expect_bad_input([] { from_line("seed=-1"); }, {"seed is \"-1\""});
  expect_bad_input([] { from_line("causal=yes"); }, {"causal is \"yes\"", "0 or 1"});
  expect_bad_input([] { from_line("bias=rope"); }, {"bias is \"rope\"", "k_cable_nw, ggd"});
  expect_bad_input([] { from_line("dtype=fp8"); }, {"dtype is \"fp8\"", "fp32, bf16, fp16"});
  expect_bad_input([] { from_line("pass=training"); }, {"pass is \"training\"", "decode"});
  expect_bad_input([] { from_line("family=odd"); }, {"family is \"odd\"", "subnormal"});
  expect_bad_input([] { from_line("value_dim=0"); }, {"value_dim is 0", "a number above 0"});
  expect_bad_input([] { from_line("value_dim=wide"); }, {"value_dim is \"wide\"", "whole number"});
  expect_bad_input([] { from_line("mask=foo"); },
                   {"mask is \"foo\"",
                    "one of none, prefix, chunks, blocks, tree, scattered, sink_tokens, file"});
  for (const std::string flag :
       {"mask_per_batch", "mask_per_head", "values_in_keys", "lse_gradient"}) {
    const std::string message = flag + " is \"2\"";
    expect_bad_input([&] { from_line(flag + "=2"); }, {message.c_str(), "0 or 1"});
  }
  expect_bad_input([] { from_line("masks=tree"); },
                   {"\"masks\"", "value_dim, mask, mask_per_batch, mask_per_head, lse_gradient"});
}

BOOST_AUTO_TEST_CASE(specs_that_are_refused) {
  expect_bad_input([] { from_line("page_size=16"); }, {"page_size is 16", "expected 0"});
  BOOST_TEST(from_line("pass=decode,page_size=16").page_size == 16);
  expect_bad_input([] { from_line("bias=fox,causal=0"); }, {"causal is 0 with bias fox"});
  expect_bad_input([] { from_line("bias=rope_half_split,head_dim=3"); }, {"head_dim is 3", "even"});
  expect_bad_input([] { from_line("softcap=0"); }, {"softcap is \"0\"", "above 0"});
  expect_bad_input([] { from_line("softcap=1e300"); }, {"softcap is 1e+300", "2^127"});
  expect_bad_input([] { from_line("bias=cope,sinks=1"); }, {"sinks is 1 with bias cope", "0"});
  for (const char* line : {"bias=cope,softcap=2", "bias=dape_v1_alibi,softcap=2"}) {
    expect_bad_input([&] { from_line(line); }, {"softcap is 2 with bias ", "product alone"});
  }
  expect_bad_input([] { from_line("batch=0"); }, {"batch is 0", "from 1 to 16777216"});
  expect_bad_input([] { from_line("heads=0"); }, {"heads is 0"});
  expect_bad_input([] { from_line("kv_heads=-1"); }, {"kv_heads is -1"});
  expect_bad_input([] { from_line("queries=0"); }, {"queries is 0"});
  expect_bad_input([] { from_line("keys=0"); }, {"keys is 0"});
  expect_bad_input([] { from_line("head_dim=16777217"); }, {"head_dim is 16777217"});
  expect_bad_input([] { from_line("heads=6,kv_heads=4"); },
                   {"heads is 6 with kv_heads 4", "multiple"});
  BOOST_TEST(from_line("bias=alibi,queries=4,keys=3").queries == 4);
  BOOST_TEST(from_line("bias=cable,queries=4,keys=3,query_offset=-1").query_offset == -1);
  for (const char* of_keys :
       {"bias=cable", "bias=fox", "bias=nope,documents=1", "bias=cope", "bias=nope,pass=decode"}) {
    const std::string line = std::string(of_keys) + ",queries=2,keys=3,query_offset=2";
    expect_bad_input([&] { from_line(line); }, {"query_offset is 2 with 2 queries and 3 keys"});
  }
  for (const char* from_zero : {"bias=cope", "bias=dape_v2_alibi", "bias=nope,pass=decode"}) {
    const std::string line = std::string(from_zero) + ",queries=4,keys=3,query_offset=-1";
    expect_bad_input([&] { from_line(line); }, {"query_offset is -1 with 4", "at least 0"});
  }
  expect_bad_input([] { from_line("query_offset=-1"); }, {"query_offset is -1", "from 0"});
  expect_bad_input([] { from_line("window=-1"); }, {"window is \"-1\"", "at least 0"});
  expect_bad_input([] { from_line("window=1:2:3"); }, {"window is \"2:3\"", "whole number"});
  expect_bad_input([] { from_line("queries_at_end=1"); }, {"queries_at_end is 1", "lengths"});
  expect_bad_input([] { from_line("ragged=1,queries_at_end=1,keys=3"); },
                   {"query_offset is 0 with 1 queries and 3 keys", "keys - queries"});
  expect_bad_input([] { from_line("ragged=1,queries_at_end=1,bias=cope"); },
                   {"queries_at_end is 1 with bias cope"});
  expect_bad_input([] { from_line("value_dim=-1"); }, {"value_dim is -1", "whole number"});
  expect_bad_input([] { from_line("value_dim=16777217"); }, {"value_dim is 16777217", "16777216"});
  expect_bad_input([] { from_line("mask_per_batch=1"); },
                   {"mask_per_batch is 1 without a mask tensor", "expected 0"});
  expect_bad_input([] { from_line("mask=none,mask_per_head=1"); },
                   {"mask_per_head is 1 without a mask tensor", "expected 0"});
  for (const std::string of_scores : {"cope", "dape_v1_alibi", "dape_v2_cable"}) {
    const std::string message = "mask is blocks with bias " + of_scores;
    expect_bad_input([&] { from_line("mask=blocks,bias=" + of_scores); },
                     {message.c_str(), "expected none"});
  }
  expect_bad_input([] { from_line("values_in_keys=1,pass=backward"); },
                   {"values_in_keys is 1 with pass backward and value_dim 64", "expected 0"});
  expect_bad_input([] { from_line("values_in_keys=1,value_dim=65"); },
                   {"values_in_keys is 1 with pass forward and value_dim 65", "above head_dim"});
  for (const std::string pass : {"forward", "decode"}) {
    const std::string message = "lse_gradient is 1 with pass " + pass;
    expect_bad_input([&] { from_line("lse_gradient=1,pass=" + pass); },
                     {message.c_str(), "backward pass"});
  }
  expect_bad_input([] { from_line("dropout=1"); }, {"dropout is 1", "from 2^-24 to 1 - 2^-10"});
  expect_bad_input([] { from_line("dropout=0"); }, {"dropout is \"0\"", "above 0"});
  expect_bad_input([] { from_line("dropout=nan"); }, {"dropout is \"nan\"", "above 0"});
  for (const std::string other : {"pass=decode", "bias=cope", "bias=dape_v1_alibi"}) {
    expect_bad_input([&] { from_line("dropout=0.5," + other); }, {"dropout is 0.5 with pass "});
  }
  for (const std::string other : {"pass=forward", "pass=decode,dtype=e5m2",
                                  "pass=decode,family=level", "pass=decode,family=subnormal"}) {
    expect_bad_input([&] { from_line("cache=int8," + other); }, {"cache is int8 with pass "});
  }
  expect_bad_input([] { from_line("pass=decode,cache=int4"); },
                   {"cache is \"int4\"", "in_format, e4m3, e5m2, int8"});
  expect_bad_input([] { from_line("pass=decode,scale_per_key=1"); },
                   {"scale_per_key is 1 with cache in_format"});
  expect_bad_input([] { from_line("layout=packed_sequences"); },
                   {"queries_at_end is 0 with layout packed_sequences", "1, and ragged 1"});
  expect_bad_input([] { from_line("layout=rows_first"); },
                   {"layout is \"rows_first\"", "contiguous, tokens_first, spaced"});
  expect_bad_input([] { from_line("keep_given=1"); }, {"keep is given without dropout"});
  expect_bad_input([] { from_line("dropout=0.5,queries=131072,keys=131072,head_dim=1"); },
                   {"shape of keep is [1, 1, 131072, 131072]", "8589934592 elements"});
  expect_bad_input([] { from_line("rotary_dim=16"); },
                   {"rotary_dim is 16 with bias nope", "without RoPE"});
  expect_bad_input([] { from_line("rotary_dim=0"); }, {"rotary_dim is 0", "above 0"});
  expect_bad_input([] { from_line("bias=rope_interleaved,rotary_dim=66"); },
                   {"rotary_dim is 66", "from 2 to 64"});
  expect_bad_input([] { from_line("bias=rope_interleaved,rotary_dim=7"); },
                   {"rotary_dim is 7", "an even number"});
  BOOST_TEST(from_line("bias=rope_interleaved,head_dim=7,rotary_dim=6").rotary_width() == 6);
  BOOST_TEST(from_line("bias=rope_interleaved").rotary_width() == 64);
  BOOST_TEST(from_line("bias=nope").rotary_width() == 0);
  expect_bad_input([] { from_line("mask=blocks,queries=131072,keys=131072,head_dim=1"); },
                   {"shape of mask is [1, 1, 131072, 131072]", "8589934592 elements"});
  expect_bad_input([] { from_line("batch=4,keys=16777216,head_dim=1,value_dim=256"); },
                   {"shape of v is [4, 1, 16777216, 256]", "8589934592 elements"});
  expect_bad_input([] { from_line("batch=4,queries=16777216,head_dim=1,value_dim=256"); },
                   {"shape of o is [4, 1, 16777216, 256]", "8589934592 elements"});
  expect_bad_input([] { from_line("batch=16777216,heads=16777216,keys=16777216"); },
                   {"shape of q", "8589934592 elements"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
