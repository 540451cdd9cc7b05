// SPDX-License-Identifier: Apache-2.0
#include "reference/model/gpt2_grad.hpp"
#include "tests/gpu_vs_reference/model/model_oracles.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"

namespace plumbline::gpu_tests {

namespace {

template <bool own>
OracleStep step(const gpu::ModelConfiguration& c, const StepBatch& batch, const AnyMethod& position,
                const reference::PositionEmbedding& embedding) {
  using Position = AnyPosition<own>;
  auto oracle = reference::gpt2(c.layers, c.heads, c.width, Position{position});
  oracle.vocabulary = c.vocabulary;
  oracle.positions = c.context;
  oracle.ssmax = c.ssmax;
  oracle.embedding = embedding;
  Traced::tape.clear();
  using Parameters = reference::Gpt2Parameters<Traced, Position>;
  auto parameters = Parameters::zero(oracle), gradients = Parameters::zero(oracle);
  set_oracle_parameters(gpu::ParameterLayout(c), parameters);
  Traced loss(0.0);
  for (int b = 0; b < batch.batch; ++b) {
    const Traced share(batch.share_of(b));
    loss += share * reference::gpt2_loss_grad<reference::TracedTier>(
                        oracle, parameters, batch.of(batch.ids, b), batch.targets_of(b),
                        batch.mask_of(b), share, gradients);
  }
  return oracle_step(loss, parameters, gradients);
}

}  // namespace

OracleStep gpt2_oracle(const gpu::ModelConfiguration& c, const StepBatch& batch,
                       const AnyMethod& position, const reference::PositionEmbedding& embedding) {
  return (position->own_logits() ? step<true> : step<false>)(c, batch, position, embedding);
}

}  // namespace plumbline::gpu_tests
