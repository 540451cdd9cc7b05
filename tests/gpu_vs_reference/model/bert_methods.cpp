// SPDX-License-Identifier: Apache-2.0
// BERT of one layer with each of the other position methods that have both directions.
#include "methods.hpp"
#include "reference/bias/all.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/cope_position.hpp"
#include "reference/position/dape_position.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "tests/gpu_vs_reference/model/bert_step.hpp"

BOOST_AUTO_TEST_SUITE(bert_methods_test)

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

template <class Position>
void check(const char* name, Position position,
           PositionEmbedding embedding = {.kind = EmbeddedPositions::none}) {
  check_bert(small_bert(name, 1), masked_batch({7, 4}), std::move(position), embedding);
}

template <class Base, int version>
void check_dape(const char* name) {
  auto c = small_bert(name, 1);
  c.options.hidden = 5;
  DapePosition<Base, version> position;
  position.hidden = c.options.hidden;
  // Version 2 reads the key after a query's, in a padded batch also that of a padding token.
  check_bert(c, masked_batch({7, version == 1 ? 4 : 7}), position);
}

}  // namespace

BOOST_AUTO_TEST_CASE(bert_without_positions_in_its_layers) {
  check("nope", NopePosition());
  check("sinusoidal", NopePosition(), {.kind = EmbeddedPositions::sinusoidal});
  check("sinusoidal_own_frequency", NopePosition(),
        {.kind = EmbeddedPositions::sinusoidal, .cosine = SinusoidalCosine::own_frequency});
}

BOOST_AUTO_TEST_CASE(bert_with_functions_of_the_distance) {
  check("alibi", AlibiPosition());
#define PLUMBLINE_CHECK(number, Form) check(Form<double>::name, PositionOfHeads<Form>());
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_CHECK)
#undef PLUMBLINE_CHECK
  check("t5_clipped_offset", TablePosition<ClippedOffset>{{}, {ClippedOffset(256)}});
  check("fire", FirePosition());
}

BOOST_AUTO_TEST_CASE(bert_with_the_tokens_content) {
  check("cable_nw", CableNwPosition());
  check("k_cable", KCablePosition());
  check("k_cable_nw", KCableNwPosition());
  check("cable_paper", ContextPosition<CablePaper, ReluIncrements, true>());
  check("cable_nw_paper", ContextPosition<CableNwPaper, ReluIncrements, false>());
  check("k_cable_paper", ContextPosition<KCablePaper, ReluIncrements, true>());
}

BOOST_AUTO_TEST_CASE(bert_with_rotated_queries_and_keys) {
  check("rope_interleaved", RopePosition());
  RopePosition halves, window;
  halves.pairs = RopePairs::half_split;
  check("rope_half_split", halves);
  auto c = small_bert("local_rope", 1);
  c.options.window = 2;
  window.window = 2;
  check_bert(c, masked_batch({7, 4}), window);
}

BOOST_AUTO_TEST_CASE(bert_with_other_scores) {
  auto c = small_bert("cope", 1);
  c.options.positions = 3;
  CopePosition cope;
  cope.positions = c.options.positions;
  check_bert(c, masked_batch({7, 4}), cope);
  check_dape<AlibiPosition, 1>("dape_v1_alibi");
  check_dape<KerpleLogPosition, 1>("dape_v1_kerple_log");
  check_dape<CablePosition, 1>("dape_v1_cable");
  check_dape<AlibiPosition, 2>("dape_v2_alibi");
  check_dape<KerpleLogPosition, 2>("dape_v2_kerple_log");
  check_dape<CablePosition, 2>("dape_v2_cable");
}

BOOST_AUTO_TEST_SUITE_END()
