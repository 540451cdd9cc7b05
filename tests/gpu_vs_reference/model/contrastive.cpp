// SPDX-License-Identifier: Apache-2.0
// The contrastive loss on a BERT's embeddings, and every parameter's gradient, against the oracle:
// two queries, their positives and a hard negative of several lengths, in two parts.
#include "models/training/contrastive_loss.hpp"

#include "model/model.cuh"
#include "model/upload.cuh"
#include "reference/model/bert_grad.hpp"
#include "reference/model/contrastive_loss.hpp"
#include "reference/model/pooling.hpp"
#include "reference/position/context_position.hpp"
#include "tests/gpu_vs_reference/model/step_check.hpp"

BOOST_AUTO_TEST_SUITE(contrastive_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

constexpr int kQueries = 2, kTexts = 5, kLength = 5, kWidth = 64;
constexpr double kTemperature = 0.2;

const gpu::ModelConfiguration kModel{.architecture = gpu::Architecture::bert,
                                     .layers = 2,
                                     .heads = 2,
                                     .kv_heads = 2,
                                     .width = kWidth,
                                     .hidden = 96,
                                     .vocabulary = 19,
                                     .context = 9,
                                     .epsilon = 1e-12,
                                     .position = "cable"};

StepBatch texts() {
  StepBatch batch{.batch = kTexts, .length = kLength, .lengths = {3, 2, 5, 4, 5}};
  for (int n = 0; n < kTexts * kLength; ++n) batch.ids.push_back((7 * n + n / 6) % 19);
  return batch;
}

/// Rows first to first + count - 1.
StepBatch rows_of(const StepBatch& all, int first, int count) {
  const auto part = [&](const std::vector<int>& v, int of_row) {
    const auto begin = v.begin() + static_cast<long>(first) * of_row;
    return std::vector<int>(begin, begin + static_cast<long>(count) * of_row);
  };
  return {.batch = count,
          .length = all.length,
          .ids = part(all.ids, all.length),
          .lengths = part(all.lengths, 1)};
}

/// `wrong_grad` is added to one derivative by an embedding, to see whether that is seen.
StepResult on_device(const StepBatch& batch, gpu::Pooling pooling, float wrong_grad = 0) {
  const gpu::Stream stream;
  const auto model = gpu::make_model(stream, kModel, {.batch = 3, .length = kLength});
  std::vector<float> values(model->layout().size());
  for (const gpu::Parameter& p : model->layout().all())
    set_test_values(p, std::span(values).subspan(p.offset, p.size()));
  gpu::upload(stream, values, model->parameters());
  model->parameters_changed();

  const StepBatch parts[] = {rows_of(batch, 0, 3), rows_of(batch, 3, 2)};
  std::vector<float> embeddings;
  for (const StepBatch& part : parts) {
    const std::vector<float> some = model->embeddings(part.view(), pooling);
    embeddings.insert(embeddings.end(), some.begin(), some.end());
  }
  training::ContrastiveLoss loss =
      training::contrastive_loss(embeddings, kQueries, kWidth, kTemperature);
  loss.grad[7] += wrong_grad;
  const auto middle = loss.grad.begin() + 3 * kWidth;
  model->add_embedding_gradients(parts[0].view(), pooling, {loss.grad.begin(), middle});
  model->add_embedding_gradients(parts[1].view(), pooling, {middle, loss.grad.end()});

  std::vector<float> gradients(values.size());
  gpu::download(stream, model->gradients(), gradients.size(), gradients.data());
  StepResult result{.loss = loss.mean};
  for (const gpu::Parameter& p : model->layout().all()) {
    const auto begin = gradients.begin() + static_cast<long>(p.offset);
    result.gradients[p.name] = {begin, begin + static_cast<long>(p.size())};
  }
  return result;
}

/// The loss and the gradients, of every parameter but the MLM head's, that embeddings do not see.
auto of_oracle(const StepBatch& batch, reference::Pooling pooling) {
  using Parameters = BertParameters<Traced, CablePosition>;
  const BertConfiguration<CablePosition> c{.layers = 2,
                                           .heads = 2,
                                           .width = kWidth,
                                           .intermediate = 96,
                                           .vocabulary = 19,
                                           .positions = 9,
                                           .embedding = {.kind = EmbeddedPositions::none},
                                           .position = CablePosition()};
  Traced::tape.clear();
  auto parameters = Parameters::zero(c), gradients = Parameters::zero(c);
  set_oracle_parameters(gpu::ParameterLayout(kModel), parameters);
  const auto forward = [&](int b) {
    const std::vector<int> ids = batch.of(batch.ids, b);
    return bert_forward<TracedTier>(c, parameters, ids, std::vector<int>(ids.size(), 0));
  };
  const auto visible = [&](int b) {
    std::vector<int> all(batch.lengths[b]);
    for (std::size_t t = 0; t < all.size(); ++t) all[t] = static_cast<int>(t);
    return all;
  };
  std::vector<decltype(forward(0))> states;
  Matrix<Traced> embeddings(kTexts, kWidth);
  for (int b = 0; b < kTexts; ++b) {
    states.push_back(forward(b));
    embeddings.row(b) = pooled(states[b].hidden, visible(b), pooling).transpose();
  }
  const ContrastiveBatch<Traced> compared{embeddings.topRows(kQueries),
                                          embeddings.middleRows(kQueries, kQueries),
                                          embeddings.bottomRows(kTexts - 2 * kQueries)};
  const Traced loss = contrastive_loss(compared, Traced(kTemperature), Similarity::cosine);
  const auto grad =
      contrastive_loss_grad(compared, Traced(kTemperature), Similarity::cosine, Traced(1.0));
  Matrix<Traced> by_embedding(kTexts, kWidth);
  by_embedding << grad.embeddings.queries, grad.embeddings.positives,
      grad.embeddings.hard_negatives;
  for (int b = 0; b < kTexts; ++b) {
    const std::vector<int> ids = batch.of(batch.ids, b);
    const Vector<Traced> own = by_embedding.row(b).transpose();
    bert_grad<TracedTier>(c, parameters, ids, std::vector<int>(ids.size(), 0), states[b],
                          pooled_grad(batch.lengths[b], visible(b), pooling, own), gradients);
  }
  return std::pair(loss, gradients);
}

}  // namespace

BOOST_AUTO_TEST_CASE(mean_of_the_tokens) {
  const auto [loss, gradients] = of_oracle(texts(), reference::Pooling::mean);
  check_step("mean", functionals(on_device(texts(), gpu::Pooling::mean), loss, gradients));
  // The bounds see one of 320 derivatives by embeddings off by 0.001.
  BOOST_TEST(beyond(functionals(on_device(texts(), gpu::Pooling::mean, 1e-3f), loss, gradients)) >
             0);
}

BOOST_AUTO_TEST_CASE(first_token) {
  const auto [loss, gradients] = of_oracle(texts(), reference::Pooling::cls);
  check_step("cls", functionals(on_device(texts(), gpu::Pooling::cls), loss, gradients));
}

BOOST_AUTO_TEST_SUITE_END()
