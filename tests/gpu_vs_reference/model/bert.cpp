// SPDX-License-Identifier: Apache-2.0
// One training step of BERT with its masked-language head in fp32 against the oracle: padded
// sequences, two token types, few targets.
#include "reference/model/bert_grad.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/learned_position.hpp"
#include "tests/gpu_vs_reference/model/element_check.hpp"

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

StepBatch padded_batch() {
  StepBatch batch;
  batch.lengths = {7, 4};
  for (int n = 0; n < batch.batch * batch.length; ++n) {
    const bool padding = n % batch.length >= batch.lengths[n / batch.length];
    batch.ids.push_back((7 * n + 3) % 19);
    batch.types.push_back(n % batch.length / 3 % 2);
    batch.targets.push_back(padding || n % 3 != 1 ? -100 : (5 * n + 1) % 19);
  }
  return batch;
}

template <class Position>
void check_bert(const char* name, Position position, bool ssmax, EmbeddedPositions embedded) {
  const gpu::ModelConfiguration c{.architecture = gpu::Architecture::bert,
                                  .layers = 2,
                                  .heads = 2,
                                  .kv_heads = 2,
                                  .width = 64,
                                  .hidden = 96,
                                  .vocabulary = 19,
                                  .context = 9,
                                  .epsilon = 1e-12,
                                  .position = name,
                                  .ssmax = ssmax};
  const BertConfiguration<Position> oracle{.layers = 2,
                                           .heads = 2,
                                           .width = 64,
                                           .intermediate = 96,
                                           .vocabulary = 19,
                                           .positions = 9,
                                           .embedding = {.kind = embedded},
                                           .position = position,
                                           .ssmax = ssmax};
  const StepBatch batch = padded_batch();
  const StepResult device = step_on_device(c, batch);
  Traced::tape.clear();
  using Parameters = BertParameters<Traced, Position>;
  auto parameters = Parameters::zero(oracle), gradients = Parameters::zero(oracle);
  set_oracle_parameters(gpu::ParameterLayout(c), parameters);
  Traced loss(0.0);
  for (int b = 0; b < batch.batch; ++b) {
    const Traced share(batch.share_of(b));
    const std::vector<int> ids = batch.of(batch.ids, b), types = batch.of(batch.types, b);
    const auto state = bert_forward<TracedTier>(oracle, parameters, ids, types, Mask{});
    const auto head = bert_mlm<TracedTier>(oracle, parameters, state.hidden);
    loss += share * cross_entropy(head.logits, batch.targets_of(b));
    const Matrix<Traced> grad_logits = cross_entropy_grad(head.logits, batch.targets_of(b), share);
    bert_grad<TracedTier>(
        oracle, parameters, ids, types, state,
        bert_mlm_grad<TracedTier>(oracle, parameters, state.hidden, head, grad_logits, gradients),
        gradients);
  }
  check_step(name, device, oracle_step(loss, parameters, gradients));
}

}  // namespace

BOOST_AUTO_TEST_CASE(bert_itself) {
  check_bert("learnable", NopePosition(), false, EmbeddedPositions::learnable);
}

BOOST_AUTO_TEST_CASE(bert_with_cable) {
  check_bert("cable", CablePosition(), true, EmbeddedPositions::none);
}

BOOST_AUTO_TEST_CASE(bert_with_buckets_of_both_sides) {
  check_bert("t5_bidirectional", t5_position(true), false, EmbeddedPositions::none);
}
