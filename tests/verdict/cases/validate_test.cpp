// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "tests/verdict/cases/bad_input.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(validate_test)

namespace {

Case of(cases::Bias bias) {
  Spec s;
  s.bias = bias;
  s.heads = 2;
  s.queries = 2;
  s.keys = 3;
  s.head_dim = 4;
  s.ssmax = true;
  s.mask.ragged = s.mask.documents = true;
  return generate(s);
}

/// The case with one thing spoilt must be refused in these words.
void expect_refusal(Case c, auto&& spoil, std::initializer_list<const char*> parts) {
  validate(c);  // it was right before
  spoil(c);
  expect_bad_input([&] { validate(c); }, parts);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_nan_is_named_with_its_tensor_and_index) {
  const float nan = std::nanf("");
  expect_refusal(of(PLUMBLINE_ALIBI), [&](Case& c) { c[PLUMBLINE_SLOPES][1] = nan; },
                 {"slopes[1] is nan", "finite"});
  expect_refusal(of(PLUMBLINE_ALIBI), [&](Case& c) { c.k[5] = nan; }, {"k[5] is nan"});
  expect_refusal(of(PLUMBLINE_GGD), [&](Case& c) { c[PLUMBLINE_THETA_MU][0] = nan; },
                 {"theta_mu[0]"});
  expect_refusal(of(PLUMBLINE_NOPE), [&](Case& c) { c[PLUMBLINE_SSMAX_SCALE][1] = nan; },
                 {"ssmax_scale[1]"});
}

BOOST_AUTO_TEST_CASE(an_infinity_is_refused) {
  const float infinity = std::numeric_limits<float>::infinity();
  expect_refusal(of(PLUMBLINE_NOPE), [&](Case& c) { c.v[0] = infinity; }, {"v[0] is inf"});
}

BOOST_AUTO_TEST_CASE(negative_increments_and_gains_are_refused) {
  expect_refusal(of(PLUMBLINE_CABLE), [](Case& c) { c[PLUMBLINE_INCREMENTS][4] = -1; },
                 {"increments[4] is -1", ">= 0"});
  expect_refusal(of(PLUMBLINE_K_CABLE), [](Case& c) { c[PLUMBLINE_GAIN][3] = -0.5f; },
                 {"gain[3] is -0.5"});
}

BOOST_AUTO_TEST_CASE(sizes_are_checked_of_tensors_that_are_used_and_of_those_that_are_not) {
  expect_refusal(of(PLUMBLINE_NOPE), [](Case& c) { c.q.pop_back(); },
                 {"elements of q is 15", "expected 16"});
  expect_refusal(of(PLUMBLINE_NOPE),
                 [](Case& c) {
                   c[PLUMBLINE_SLOPES] = {1, 1};
                 },
                 {"elements of slopes is 2", "expected 0"});
  expect_refusal(of(PLUMBLINE_NOPE), [](Case& c) { c.documents.pop_back(); },
                 {"elements of documents is 2"});
  expect_refusal(of(PLUMBLINE_CABLE_NW), [](Case& c) { c[PLUMBLINE_GAIN] = {1}; },
                 {"elements of gain is 1"});
}

BOOST_AUTO_TEST_CASE(numbers_outside_the_format_are_refused) {
  Case c = of(PLUMBLINE_NOPE);
  c.spec.format = Format::bf16;
  for (auto* values : {&c.q, &c.k, &c.v}) {
    for (float& x : *values) x = from_bf16(to_bf16(x));
  }
  expect_refusal(c, [](Case& spoilt) { spoilt.q[2] = 1.001f; }, {"q[2] is 1.001", "bf16"});
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_of_8_bits_times_their_scale_are_refused) {
  const Case c = generate(from_line("dtype=e4m3,heads=2,kv_heads=2,keys=3,head_dim=2"));
  validate(c);
  expect_refusal(c, [](Case& spoilt) { spoilt.k[7] *= 1.01f; },
                 {"k[7]", "a number of e4m3 times the scale"});
  expect_refusal(c, [](Case& spoilt) { spoilt.q_scale[1] = -1; }, {"q_scale[1] is -1", "2^-48"});
  expect_refusal(c, [](Case& spoilt) { spoilt.v_scale.clear(); }, {"elements of v_scale is 0"});
}

BOOST_AUTO_TEST_CASE(lengths_outside_the_keys_are_refused) {
  expect_refusal(of(PLUMBLINE_NOPE), [](Case& c) { c.lengths[0] = 4; },
                 {"lengths[0] is 4", "from 0 to 3"});
  expect_refusal(of(PLUMBLINE_NOPE), [](Case& c) { c.lengths[0] = -1; }, {"lengths[0] is -1"});
}

BOOST_AUTO_TEST_CASE(a_mask_tensor_holds_zeros_and_ones_and_is_there_only_where_it_is_used) {
  const Case c = generate(
      from_line("mask=scattered,mask_per_head=1,batch=2,heads=2,queries=2,keys=3,head_dim=4"));
  BOOST_TEST(c.mask.size() == 12u);
  expect_refusal(c, [](Case& spoilt) { spoilt.mask[4] = 2; }, {"mask[4] is 2", "0 or 1"});
  expect_refusal(c, [](Case& spoilt) { spoilt.mask.back() = 255; }, {"mask[11] is 255"});
  expect_refusal(c, [](Case& spoilt) { spoilt.mask.pop_back(); },
                 {"elements of mask is 11", "expected 12"});
  expect_refusal(c, [](Case& spoilt) { spoilt.mask.resize(24); }, {"elements of mask is 24"});
  expect_refusal(of(PLUMBLINE_NOPE), [](Case& spoilt) { spoilt.mask = {1}; },
                 {"elements of mask is 1", "expected 0"});
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_zeros_and_ones_and_is_there_only_with_dropout) {
  const Case c = generate(from_line("dropout=0.5,batch=2,heads=2,queries=2,keys=3,head_dim=4"));
  BOOST_TEST(c.keep.size() == 24u);
  expect_refusal(c, [](Case& spoilt) { spoilt.keep[4] = 2; }, {"keep[4] is 2", "0 or 1"});
  expect_refusal(c, [](Case& spoilt) { spoilt.keep.pop_back(); },
                 {"elements of keep is 23", "expected 24"});
  expect_refusal(of(PLUMBLINE_NOPE), [](Case& spoilt) { spoilt.keep = {1}; },
                 {"elements of keep is 1", "expected 0"});
}

BOOST_AUTO_TEST_CASE(keys_of_a_cache_are_numbers_of_8_bits_times_scales) {
  const Case c = generate(from_line(
      "pass=decode,cache=int8,scale_per_key=1,dtype=bf16,batch=2,heads=2,queries=1,keys=3"));
  BOOST_TEST((c.k_scale.size() == 6u && c.v_scale.size() == 6u && c.q_scale.empty()));
  expect_refusal(c, [](Case& spoilt) { spoilt.k[70] = 1.5F * spoilt.k_scale[1]; },
                 {"k[70] is ", "a number of int8 times the scale "});
  expect_refusal(c, [](Case& spoilt) { spoilt.v[0] = 128 * spoilt.v_scale[0]; },
                 {"v[0] is ", "a number of int8 times the scale "});
  expect_refusal(c, [](Case& spoilt) { spoilt.v_scale[5] = 0; }, {"v_scale[5] is 0", "2^-48"});
  expect_refusal(c, [](Case& spoilt) { spoilt.q_scale = {1}; },
                 {"elements of q_scale is 1", "expected 0"});
}

BOOST_AUTO_TEST_CASE(slopes_may_be_of_each_sequence) {
  Case c = generate(from_line("bias=alibi,batch=3,heads=2,kv_heads=2,keys=4,queries=4"));
  c.options[PLUMBLINE_SLOPES_PER_BATCH] = 1;
  c[PLUMBLINE_SLOPES] = {1, 2, 3, 4, 5, 6};
  validate(c);
  BOOST_TEST(c.of_head(PLUMBLINE_SLOPES, 1, 1) == 4);
  expect_refusal(c,
                 [](Case& spoilt) {
                   spoilt[PLUMBLINE_SLOPES] = {1, 2};
                 },
                 {"elements of slopes is 2", "expected 6"});
  c.options[PLUMBLINE_SLOPES_PER_BATCH] = 0;
  c[PLUMBLINE_SLOPES] = {7, 8};
  BOOST_TEST(c.of_head(PLUMBLINE_SLOPES, 2, 1) == 8);
}

BOOST_AUTO_TEST_CASE(a_gradient_of_lse_has_a_finite_number_for_each_query) {
  const Case c = generate(from_line("pass=backward,lse_gradient=1,heads=2,queries=2,keys=3"));
  expect_refusal(c, [](Case& spoilt) { spoilt.grad_lse[1] = std::nanf(""); },
                 {"grad_lse[1] is nan", "finite"});
  expect_refusal(c, [](Case& spoilt) { spoilt.grad_lse.pop_back(); },
                 {"elements of grad_lse is 3", "expected 4"});
  expect_refusal(generate(from_line("pass=backward")), [](Case& spoilt) { spoilt.grad_lse = {1}; },
                 {"elements of grad_lse is 1", "expected 0"});
}

BOOST_AUTO_TEST_CASE(values_and_gradients_of_outputs_have_their_own_width) {
  const Case c = generate(
      from_line("pass=backward,heads=2,kv_heads=2,queries=2,keys=3,head_dim=4,value_dim=2"));
  BOOST_TEST((c.q.size() == 16u && c.k.size() == 24u && c.v.size() == 12u));
  expect_refusal(c, [](Case& spoilt) { spoilt.v.resize(24); },
                 {"elements of v is 24", "expected 12"});
  expect_refusal(c, [](Case& spoilt) { spoilt.grad_o.resize(16); },
                 {"elements of grad_o is 16", "expected 8"});
}

BOOST_AUTO_TEST_CASE(scale_and_epsilon_must_be_positive_normal_numbers) {
  for (const double bad : {0.0, -1.0, 1e-40, 1e39, std::nan("")}) {
    expect_refusal(of(PLUMBLINE_NOPE), [&](Case& c) { c.scale = bad; }, {"scale is"});
    expect_refusal(of(PLUMBLINE_GGD), [&](Case& c) { c.options[PLUMBLINE_EPSILON] = bad; },
                   {"epsilon is"});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
