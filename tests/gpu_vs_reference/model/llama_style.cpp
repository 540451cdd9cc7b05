// SPDX-License-Identifier: Apache-2.0
// One training step of BAM's LLaMA-style decoder in fp32 against the oracle: key heads that query
// heads share, documents.
#include "reference/model/llama_style_grad.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "tests/gpu_vs_reference/model/element_check.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"

BOOST_AUTO_TEST_SUITE(llama_style_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

template <class Position>
void check_llama_style(const char* name, Position position, bool ssmax,
                       gpu::PositionOptions options = {}) {
  const gpu::ModelConfiguration c{.architecture = gpu::Architecture::llama_style,
                                  .layers = 2,
                                  .heads = 2,
                                  .kv_heads = 1,
                                  .width = 64,
                                  .hidden = 96,
                                  .vocabulary = 19,
                                  .context = 9,
                                  .position = name,
                                  .options = options,
                                  .ssmax = ssmax};
  const LlamaStyleConfiguration<Position> oracle{.layers = 2,
                                                 .heads = 2,
                                                 .kv_heads = 1,
                                                 .width = 64,
                                                 .hidden = 96,
                                                 .vocabulary = 19,
                                                 .position = position,
                                                 .ssmax = ssmax};
  StepBatch batch;
  for (int n = 0; n < batch.batch * batch.length; ++n) {
    batch.ids.push_back((7 * n + 3) % 19);
    batch.targets.push_back(n % 5 == 4 ? -100 : (5 * n + 1) % 19);
    batch.documents.push_back(n % batch.length / 5);
  }
  const StepResult device = step_on_device(c, batch);
  Traced::tape.clear();
  using Parameters = LlamaStyleParameters<Traced, Position>;
  auto parameters = Parameters::zero(oracle), gradients = Parameters::zero(oracle);
  set_oracle_parameters(gpu::ParameterLayout(c), parameters);
  Traced loss(0.0);
  for (int b = 0; b < batch.batch; ++b) {
    const Traced share(batch.share_of(b));
    const std::vector<int> ids = batch.of(batch.ids, b);
    const auto state = llama_style_forward<TracedTier>(oracle, parameters, ids, batch.mask_of(b));
    const Matrix<Traced> logits = llama_style_logits<TracedTier>(parameters, state.hidden);
    loss += share * cross_entropy(logits, batch.targets_of(b));
    const Matrix<Traced> grad_logits = cross_entropy_grad(logits, batch.targets_of(b), share);
    llama_style_grad<TracedTier>(
        oracle, parameters, ids, state,
        llama_style_logits_grad<TracedTier>(parameters, state.hidden, grad_logits, gradients),
        gradients);
  }
  check_step(name, device, oracle_step(loss, parameters, gradients));
}

}  // namespace

BOOST_AUTO_TEST_CASE(llama_style_with_bams_prior) {
  check_llama_style("ggd", GgdPosition(), true, {.trains_mu = true});
}

BOOST_AUTO_TEST_CASE(llama_style_with_local_rope) {
  check_llama_style("local_rope", RopePosition{.base = 500000, .window = 2}, false,
                    {.base = 500000, .window = 2});
}

BOOST_AUTO_TEST_SUITE_END()
