// SPDX-License-Identifier: Apache-2.0
// GPT-2 with the methods whose logits depend on other scores: CoPE, DAPE.
#include "reference/position/cope_position.hpp"
#include "reference/position/dape_position.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_scores_test)

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

template <class Base, int version>
void check_dape(const char* name, bool ssmax, bool documents) {
  auto c = small_gpt2(name);
  c.options.hidden = 5;
  c.ssmax = ssmax;
  DapePosition<Base, version> position;
  position.hidden = c.options.hidden;
  check_gpt2(c, position, documents);
}

}  // namespace

// Fewer positions than half of the keys, so that some are clamped.
BOOST_AUTO_TEST_CASE(gpt2_with_counted_positions) {
  auto c = small_gpt2("cope");
  c.options.positions = 3;
  CopePosition position;
  position.positions = c.options.positions;
  check_gpt2(c, position, true);
}

BOOST_AUTO_TEST_CASE(gpt2_with_corrected_biases) {
  check_dape<AlibiPosition, 1>("dape_v1_alibi", true, false);
  check_dape<KerpleLogPosition, 1>("dape_v1_kerple_log", false, true);
  check_dape<CablePosition, 1>("dape_v1_cable", false, false);
}

BOOST_AUTO_TEST_CASE(gpt2_with_biases_corrected_by_their_neighbours) {
  check_dape<AlibiPosition, 2>("dape_v2_alibi", false, true);
  check_dape<KerpleLogPosition, 2>("dape_v2_kerple_log", true, false);
  check_dape<CablePosition, 2>("dape_v2_cable", false, true);
}

BOOST_AUTO_TEST_SUITE_END()
