// SPDX-License-Identifier: Apache-2.0
// One training step of GPT-2 in fp32 against the oracle: the loss and every parameter's gradient.
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_test)

namespace {

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;
using plumbline::gpu::Parameter;

}  // namespace

BOOST_AUTO_TEST_CASE(gpt2_without_positions) { check_gpt2("nope", NopePosition(), false, true); }

BOOST_AUTO_TEST_CASE(gpt2_with_learnable_positions) {
  check_gpt2("learnable", NopePosition(), true, false, {.kind = EmbeddedPositions::learnable});
}

BOOST_AUTO_TEST_CASE(gpt2_with_sinusoidal_positions) {
  check_gpt2("sinusoidal", NopePosition(), false, false, {.kind = EmbeddedPositions::sinusoidal});
}

BOOST_AUTO_TEST_CASE(gpt2_with_the_cosines_own_frequency) {
  auto c = small_gpt2("sinusoidal_own_frequency");
  c.options.amplitude = 0.1;
  check_gpt2(c, NopePosition(), false,
             {.kind = EmbeddedPositions::sinusoidal,
              .amplitude = 0.1,
              .cosine = SinusoidalCosine::own_frequency});
}

// The bounds see a branch that is off by a thousandth, one gradient that is missing, and a
// parameter that decays where it should not.
BOOST_AUTO_TEST_CASE(small_faults_are_seen) {
  const auto c = small_gpt2("nope");
  const StepBatch batch = causal_batch(false);
  const OracleStep oracle =
      gpt2_oracle(c, batch, functions_of(NopePosition()), {.kind = EmbeddedPositions::none});
  const auto scaled = step_on_device(c, batch, [](const Parameter& p, std::span<float> values) {
    if (p.name.find("h.1.mlp.c_proj.") == std::string::npos) return;
    for (float& value : values) value *= 1.001f;
  });
  const int seen = wrong_gradients(scaled, oracle);
  std::printf("a branch off by 1e-3: %d gradients beyond their bounds\n", seen);
  BOOST_TEST(seen >= 1000);

  StepResult device = step_on_device(c, batch);
  BOOST_TEST(wrong_gradients(device, oracle) == 0);
  const std::string name = "transformer.h.0.attn.c_attn.bias";
  device.gradients.at(name)[0] = 0;
  BOOST_TEST(wrong_gradients(device, oracle) == 1);

  const auto tensor = std::ranges::find(oracle.tensors, name, &StepTensor::name);
  std::vector<double> unused;
  BOOST_TEST(wrong_updates(device, *tensor, clip_factors(oracle), unused) == 0);
  std::vector<double>& biases = device.updated.at(name);
  for (double& bias : biases) bias *= 1 - kRate * kOptimizer.weight_decay;
  BOOST_TEST(wrong_updates(device, *tensor, clip_factors(oracle), unused) >= 100);
}

BOOST_AUTO_TEST_SUITE_END()
