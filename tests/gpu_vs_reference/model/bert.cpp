// SPDX-License-Identifier: Apache-2.0
// One training step of BERT with its masked-language head in fp32 against the oracle: padded
// sequences, two layers.
#include "reference/position/context_position.hpp"
#include "reference/position/learned_position.hpp"
#include "tests/gpu_vs_reference/model/bert_step.hpp"

BOOST_AUTO_TEST_SUITE(bert_test)

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(bert_itself) {
  check_bert(small_bert("learnable", 2), masked_batch({7, 4}), NopePosition(),
             {.kind = EmbeddedPositions::learnable});
}

BOOST_AUTO_TEST_CASE(bert_with_cable) {
  auto c = small_bert("cable", 2);
  c.ssmax = true;
  check_bert(c, masked_batch({7, 4}), CablePosition());
}

BOOST_AUTO_TEST_CASE(bert_with_buckets_of_both_sides) {
  check_bert(small_bert("t5_bidirectional", 2), masked_batch({7, 4}), t5_position(true));
}

BOOST_AUTO_TEST_SUITE_END()
