// SPDX-License-Identifier: Apache-2.0
// Decoding by GPT-2 with the methods whose logits depend on other scores: CoPE, DAPE.
#include "reference/position/cope_position.hpp"
#include "reference/position/dape_position.hpp"
#include "tests/gpu_vs_reference/inference/decoder_check.hpp"

BOOST_AUTO_TEST_SUITE(decoder_scores_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

/// Version 2 takes notice of a token that follows: the oracle has one more.
template <class Base, int version>
void check_dape(const char* name) {
  auto c = gpt2_to_decode(name);
  c.options.hidden = 5;
  const DapePosition<Base, version> position{.base = {}, .hidden = 5};
  check_decoder(
      c,
      [&](std::vector<int> ids) {
        if (version == 2) ids.push_back(0);
        return gpt2_oracle(c, position, {.kind = EmbeddedPositions::none}, ids);
      },
      true);
}

}  // namespace

// Fewer positions than half of the keys, so that some are clamped.
BOOST_AUTO_TEST_CASE(counted_positions_are_decoded) {
  auto c = gpt2_to_decode("cope");
  c.options.positions = 3;
  check_gpt2_decoder(c, CopePosition{.positions = 3});
}

BOOST_AUTO_TEST_CASE(corrected_biases_are_decoded) {
  check_dape<AlibiPosition, 1>("dape_v1_alibi");
  check_dape<KerpleLogPosition, 1>("dape_v1_kerple_log");
  check_dape<CablePosition, 1>("dape_v1_cable");
}

BOOST_AUTO_TEST_CASE(biases_corrected_by_their_neighbours_are_decoded) {
  check_dape<AlibiPosition, 2>("dape_v2_alibi");
  check_dape<KerpleLogPosition, 2>("dape_v2_kerple_log");
  check_dape<CablePosition, 2>("dape_v2_cable");
}

BOOST_AUTO_TEST_SUITE_END()
