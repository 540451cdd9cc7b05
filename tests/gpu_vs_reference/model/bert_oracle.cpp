// SPDX-License-Identifier: Apache-2.0
#include "reference/model/bert_grad.hpp"
#include "tests/gpu_vs_reference/model/model_oracles.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"

namespace plumbline::gpu_tests {

namespace {

template <bool own>
OracleStep step(const gpu::ModelConfiguration& c, const StepBatch& batch, const AnyMethod& position,
                const reference::PositionEmbedding& embedding) {
  using Position = AnyPosition<own>;
  using reference::TracedTier;
  const reference::BertConfiguration<Position> oracle{.layers = c.layers,
                                                      .heads = c.heads,
                                                      .width = c.width,
                                                      .intermediate = c.hidden,
                                                      .vocabulary = c.vocabulary,
                                                      .positions = c.context,
                                                      .epsilon = c.epsilon,
                                                      .embedding = embedding,
                                                      .position = {position},
                                                      .ssmax = c.ssmax};
  Traced::tape.clear();
  using Parameters = reference::BertParameters<Traced, Position>;
  auto parameters = Parameters::zero(oracle), gradients = Parameters::zero(oracle);
  set_oracle_parameters(gpu::ParameterLayout(c), parameters);
  Traced loss(0.0);
  for (int b = 0; b < batch.batch; ++b) {
    const Traced share(batch.share_of(b));
    const std::vector<int> ids = batch.of(batch.ids, b), types = batch.of(batch.types, b);
    const auto state = reference::bert_forward<TracedTier>(oracle, parameters, ids, types, {});
    const auto head = reference::bert_mlm<TracedTier>(oracle, parameters, state.hidden);
    loss += share * reference::cross_entropy(head.logits, batch.targets_of(b));
    const Matrix<Traced> grad_logits =
        reference::cross_entropy_grad(head.logits, batch.targets_of(b), share);
    reference::bert_grad<TracedTier>(
        oracle, parameters, ids, types, state,
        reference::bert_mlm_grad<TracedTier>(oracle, parameters, state.hidden, head, grad_logits,
                                             gradients),
        gradients);
  }
  return oracle_step(loss, parameters, gradients);
}

}  // namespace

OracleStep bert_oracle(const gpu::ModelConfiguration& c, const StepBatch& batch,
                       const AnyMethod& position, const reference::PositionEmbedding& embedding) {
  return (position->own_logits() ? step<true> : step<false>)(c, batch, position, embedding);
}

}  // namespace plumbline::gpu_tests
