// SPDX-License-Identifier: Apache-2.0
#include "model/configuration.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "model/attention_problem.hpp"
#include "model/position_method.hpp"
#include "support/error.hpp"

namespace plumbline::gpu {

BOOST_AUTO_TEST_SUITE(configuration_test)

namespace {

/// What `validate` says of it; empty if nothing.
std::string complaint(const ModelConfiguration& configuration) {
  try {
    validate(configuration);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

ModelConfiguration with_position(ModelConfiguration c, const char* position) {
  c.position = position;
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_preset_is_valid) {
  BOOST_TEST(preset_names().size() == 8u);
  for (const auto name : preset_names()) BOOST_TEST(complaint(preset(name)) == "");
}

BOOST_AUTO_TEST_CASE(every_method_is_valid_in_a_causal_model) {
  for (const PositionMethod& method : position_methods())
    BOOST_TEST(complaint(with_position(preset("nano"), method.name.data())) == "");
}

BOOST_AUTO_TEST_CASE(names_that_are_not_known_are_refused_with_a_list) {
  BOOST_CHECK_THROW(preset("gpt2_huge"), BadInput);
  BOOST_TEST(complaint(with_position(preset("nano"), "alibii"))
                 .starts_with("position is \"alibii\"; expected one of nope, alibi"));
  BOOST_TEST(position_method("rope").name == "rope_interleaved");
  BOOST_TEST(position_method("kerple").name == "kerple_log");
}

BOOST_AUTO_TEST_CASE(methods_of_one_direction_are_refused_in_bert) {
  for (const char* name : {"fox", "t5", "t5_clipped"})
    BOOST_TEST(complaint(with_position(preset("bert_base"), name)).find("both directions") !=
               std::string::npos);
  for (const char* name : {"cable", "t5_bidirectional", "alibi", "rope", "t5_clipped_offset"})
    BOOST_TEST(complaint(with_position(preset("bert_base"), name)) == "");
}

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_are_named) {
  const auto changed = [](const auto& change) {
    ModelConfiguration c = preset("nano");
    change(c);
    return complaint(c);
  };
  BOOST_TEST(changed([](auto& c) { c.layers = 0; }) ==
             "layers is 0; expected at least 1 and at most 16777216");
  BOOST_TEST(changed([](auto& c) { c.heads = c.kv_heads = 3; }) ==
             "heads is 3; expected a divisor of width, 64");
  BOOST_TEST(changed([](auto& c) { c.heads = c.kv_heads = 4; }) ==
             "width / heads is 16; expected one of 32, 48, 64, 80, 96, 128");
  BOOST_TEST(changed([](auto& c) { c.kv_heads = 1; }) == "kv_heads is 1; expected heads, 2");
  BOOST_TEST(changed([](auto& c) { c.dropout = 1.0; }) ==
             "dropout is 1; expected at least 0 and below 1");
  BOOST_TEST(changed([](auto& c) {
               c.position = "t5_bidirectional";
               c.options.buckets = 7;
             }) == "buckets is 7; expected an even number, for both directions");
  BOOST_TEST(changed([](auto& c) {
               c.position = "t5";
               c.options.max_distance = 16;
             }) == "max_distance is 16; expected above 16, where the buckets of one distance end");
  BOOST_TEST(changed([](auto& c) {
               c.position = "local_rope_keys";
               c.options.window = 0;
             }) == "window is 0; expected at least 1");
  BOOST_TEST(changed([](auto& c) {
               c.position = "cope";
               c.options.positions = 0;
             }) == "positions of cope is 0; expected 1 .. 2^20");
  BOOST_TEST(changed([](auto& c) {
               c.position = "dape_v1_alibi";
               c.options.hidden = 4097;
             }) == "hidden of dape is 4097; expected 1 .. 4096");

  ModelConfiguration grouped = preset("bam_120m");
  grouped.kv_heads = 3;
  BOOST_TEST(complaint(grouped) == "kv_heads is 3; expected a divisor of heads, 16");
  grouped.kv_heads = 4;
  BOOST_TEST(complaint(grouped) == "");
}

// Only the scores of some queries lie in memory at once. GPT-2 small has 12 x 15,360^2 of them,
// more than 2^31; of a single query 128 rows x 2 heads x 2^23 are 2^31.
BOOST_AUTO_TEST_CASE(scores_of_a_query_that_the_kernels_cannot_count_are_refused) {
  for (const char* name : {"cope", "dape_v2_cable"}) {
    BOOST_CHECK_NO_THROW(attention_problem(with_position(preset("gpt2_small"), name), 1, 15360));
    auto c = with_position(preset("nano"), name);
    c.options.hidden = 1;
    BOOST_CHECK_NO_THROW(attention_problem(c, 127, 1 << 23));
    BOOST_CHECK_THROW(attention_problem(c, 128, 1 << 23), BadInput);
    BOOST_CHECK_NO_THROW(attention_problem(c, 1, 1 << 24));
    BOOST_CHECK_THROW(attention_problem(c, 1, (1 << 24) + 1), BadInput);
  }
  auto wide = with_position(preset("nano"), "dape_v1_alibi");
  wide.options.hidden = 2048;
  BOOST_CHECK_THROW(attention_problem(wide, 1, 1 << 20), BadInput);
  wide.options.hidden = 2047;
  BOOST_CHECK_NO_THROW(attention_problem(wide, 1, 1 << 20));
  BOOST_CHECK_NO_THROW(attention_problem(with_position(preset("nano"), "cable"), 128, 1 << 23));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::gpu
