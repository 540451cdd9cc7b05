// SPDX-License-Identifier: Apache-2.0
// GPT-2 with the methods of the tokens' content: CABLE and its forms, FoX.
#include "reference/position/context_position.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_context_test)

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(gpt2_with_cable) {
  check_gpt2("cable", CablePosition(), false, true);
  check_gpt2("cable_nw", CableNwPosition());
}

BOOST_AUTO_TEST_CASE(gpt2_with_kernelised_cable) {
  check_gpt2("k_cable", KCablePosition());
  check_gpt2("k_cable_nw", KCableNwPosition());
}

BOOST_AUTO_TEST_CASE(gpt2_with_cable_as_printed) {
  check_gpt2("cable_paper", ContextPosition<CablePaper, ReluIncrements, true>());
  check_gpt2("cable_nw_paper", ContextPosition<CableNwPaper, ReluIncrements, false>());
  check_gpt2("k_cable_paper", ContextPosition<KCablePaper, ReluIncrements, true>());
}

BOOST_AUTO_TEST_CASE(gpt2_with_forget_gates) { check_gpt2("fox", FoxPosition(), true, true); }

BOOST_AUTO_TEST_SUITE_END()
