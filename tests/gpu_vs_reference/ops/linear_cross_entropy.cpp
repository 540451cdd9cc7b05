// SPDX-License-Identifier: Apache-2.0
// From hidden states to the loss and back, chunk by chunk.
#include "ops/linear_cross_entropy.cuh"

#include <boost/mpl/list.hpp>

#include "reference/model/linear_layer.hpp"
#include "reference/model/loss.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/cross_entropy.hpp"
#include "verdict/bounds/ops/logistic.hpp"

BOOST_AUTO_TEST_SUITE(linear_cross_entropy_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using op_bounds::Computed;
using reference::RunningError;
using Elements = boost::mpl::list<float, gpu::bfloat16, gpu::float16>;

struct Problem {
  int rows, width, vocabulary, chunk_rows;
  std::vector<double> hidden, W, b, previous_W, previous_b;
  reference::Targets targets;
  double grad_loss;
};

template <class Element>
Problem problem(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  Problem p{};
  p.rows = numbers.whole(1, 20);
  p.width = numbers.whole(1, 40);
  p.vocabulary = numbers.whole(1, 90);
  p.chunk_rows = numbers.whole(1, 21);
  p.hidden = representable<Element>(numbers.between(-1, 1, p.rows * p.width));
  p.W = representable<Element>(numbers.between(-1, 1, p.vocabulary * p.width));
  if (seed % 2 == 0) p.b = representable<Element>(numbers.between(-1, 1, p.vocabulary));
  if (seed % 3 == 0) {
    p.previous_W = representable<float>(numbers.between(-1, 1, p.W.size()));
    p.previous_b = representable<float>(numbers.between(-1, 1, p.b.size()));
  }
  for (int t = 0; t < p.rows; ++t) {
    if (t > 0 && numbers.whole(0, 4) == 0)
      p.targets.push_back(std::nullopt);
    else
      p.targets.push_back(numbers.whole(0, p.vocabulary - 1));
  }
  p.grad_loss = std::is_same_v<Element, gpu::float16> ? 256.0 : 1.0;
  return p;
}

struct Results {
  double loss = 0.0;
  std::vector<double> grad_hidden, grad_W, grad_b;
};

template <class Element>
Results run(const Problem& p) {
  const gpu::Stream stream;
  gpu::Linear linear(stream);
  const auto hidden = on_device<Element>(p.hidden), W = on_device<Element>(p.W);
  const auto b = on_device<Element>(p.b);
  const Device<Element> grad_hidden(p.hidden.size());
  const Device<Element> logits(static_cast<std::size_t>(p.chunk_rows) * p.vocabulary);
  const auto grad_W =
      p.previous_W.empty() ? Device<float>(p.W.size()) : on_device<float>(p.previous_W);
  const auto grad_b =
      p.previous_b.empty() ? Device<float>(p.b.size()) : on_device<float>(p.previous_b);
  const Device<float> losses(p.rows);
  std::vector<int> labels;
  for (const auto& target : p.targets) labels.push_back(target.value_or(-100));
  const Device<int> targets(labels);
  Results results;
  const bool biased = !p.b.empty();
  const gpu::LinearClassifier<Element> layer{
      p.width,
      hidden.data(),
      W.data(),
      biased ? b.data() : nullptr,
      grad_hidden.data(),
      grad_W.data(),
      biased ? grad_b.data() : nullptr,
      p.previous_W.empty() ? gpu::Gradient::overwrite : gpu::Gradient::accumulate};
  results.loss = gpu::linear_cross_entropy<Element>(
                     stream, linear, {p.rows, p.vocabulary, p.vocabulary}, {targets.data()}, layer,
                     p.chunk_rows, logits.data(), losses.data(), p.grad_loss)
                     .mean;
  results.grad_hidden = grad_hidden.numbers();
  results.grad_W = grad_W.numbers();
  results.grad_b = grad_b.numbers();
  return results;
}

/// Limits of everything, with the logits' own errors carried through softmax and products; sums in
/// any order.
struct Limits {
  double loss;
  std::vector<double> grad_hidden, grad_W, grad_b;
};

template <class Element>
Limits limits(const Problem& p, const reference::Matrix<RunningError>& z,
              const reference::Matrix<RunningError>& dz) {
  const auto exact = [](double x) { return Computed{x, 0.0}; };
  const op_bounds::CrossEntropyContract contract{storage<Element>(),
                                                 gpu::cross_entropy_chain(p.vocabulary),
                                                 op_bounds::exp_error, op_bounds::exp_error / 2};
  const double counted = static_cast<double>(std::count_if(
      p.targets.begin(), p.targets.end(), [](const auto& target) { return target.has_value(); }));
  std::vector<std::vector<Computed>> gradients(p.rows);
  std::vector<Computed> losses;
  for (int t = 0; t < p.rows; ++t) {
    gradients[t].assign(p.vocabulary, Computed{});
    if (!p.targets[t]) continue;
    std::vector<Computed> logits;
    for (int v = 0; v < p.vocabulary; ++v) {
      std::vector<Computed> products;
      for (int c = 0; c < p.width; ++c)
        products.push_back(exact(p.hidden[t * p.width + c]) * exact(p.W[v * p.width + c]));
      if (!p.b.empty()) products.push_back(exact(p.b[v]));
      const Computed logit = op_bounds::sum(products, p.width + 1);
      logits.push_back({z(t, v).value(), op_bounds::stored_error(logit, storage<Element>())});
    }
    const auto bounds =
        op_bounds::cross_entropy_bounds(logits, *p.targets[t], p.grad_loss / counted, contract);
    const reference::Matrix<RunningError> own = z.row(t);
    losses.push_back({reference::cross_entropy(own, {p.targets[t]}).value(), bounds.loss});
    for (int v = 0; v < p.vocabulary; ++v)
      gradients[t][v] = {dz(t, v).value(), bounds.grad_logits[v]};
  }
  Limits all{op_bounds::mean_loss_limit(losses, counted), {}, {}, {}};
  for (int t = 0; t < p.rows; ++t) {
    for (int c = 0; c < p.width; ++c) {
      std::vector<Computed> terms;
      for (int v = 0; v < p.vocabulary; ++v)
        terms.push_back(gradients[t][v] * exact(p.W[v * p.width + c]));
      all.grad_hidden.push_back(
          op_bounds::stored_error(op_bounds::sum(terms, p.vocabulary), storage<Element>()));
    }
  }
  for (int v = 0; v < p.vocabulary; ++v) {
    std::vector<Computed> of_bias;
    for (int t = 0; t < p.rows; ++t) of_bias.push_back(gradients[t][v]);
    if (!p.previous_b.empty()) of_bias.push_back(exact(p.previous_b[v]));
    if (!p.b.empty())
      all.grad_b.push_back(
          op_bounds::stored_error(op_bounds::sum(of_bias, 2 * p.rows + 1), op_bounds::stored_fp32));
    for (int c = 0; c < p.width; ++c) {
      std::vector<Computed> terms;
      for (int t = 0; t < p.rows; ++t)
        terms.push_back(gradients[t][v] * exact(p.hidden[t * p.width + c]));
      if (!p.previous_W.empty()) terms.push_back(exact(p.previous_W[v * p.width + c]));
      // A chunk's product, and the chunks, at most as many as there are rows.
      all.grad_W.push_back(
          op_bounds::stored_error(op_bounds::sum(terms, 2 * p.rows + 1), op_bounds::stored_fp32));
    }
  }
  return all;
}

BOOST_AUTO_TEST_CASE_TEMPLATE(loss_and_gradients_are_within_their_derived_limits, Element,
                              Elements) {
  Comparison loss("loss"), grad_hidden("grad_hidden"), grad_W("grad_W"), grad_b("grad_b");
  for_seeds(40, [&](std::uint64_t seed) {
    const Problem p = problem<Element>(seed);
    const Results got = run<Element>(p);
    const auto hidden = matrix(p.hidden, p.rows, p.width), W = matrix(p.W, p.vocabulary, p.width);
    const auto z = reference::linear_layer(hidden, W, reference::lifted<RunningError>(p.b));
    const auto dz = reference::cross_entropy_grad(z, p.targets, RunningError(p.grad_loss));
    auto grad = reference::linear_layer_grad(hidden, W, dz);
    for (std::size_t n = 0; n < p.previous_W.size(); ++n)
      grad.w.data()[n] += RunningError(p.previous_W[n]);
    for (std::size_t n = 0; n < p.previous_b.size(); ++n)
      grad.b[n] += RunningError(p.previous_b[n]);
    const Limits limit = limits<Element>(p, z, dz);
    loss.element(seed, got.loss, reference::cross_entropy(z, p.targets), limit.loss);
    grad_hidden.check(got.grad_hidden, grad.x, limit.grad_hidden);
    grad_W.check(got.grad_W, grad.w, limit.grad_W);
    if (!p.b.empty()) grad_b.check(got.grad_b, grad.b, limit.grad_b);
  });
  for (const auto* result : {&loss, &grad_hidden, &grad_W, &grad_b}) result->finish(0.005);
}

BOOST_AUTO_TEST_CASE(the_logits_of_all_tokens_are_never_held_at_once) {
  // Chunks of 16 of the 512 tokens have a 32nd of the logits; the linear layer may work in floats.
  constexpr int rows = 512, width = 8, vocabulary = 600, chunk_rows = 16;
  const gpu::Stream stream;
  gpu::Linear linear(stream);
  const auto zeros = [](int count) { return on_device<gpu::bfloat16>(std::vector<double>(count)); };
  const auto hidden = zeros(rows * width), W = zeros(vocabulary * width);
  const Device<gpu::bfloat16> grad_hidden(rows * width);
  const Device<float> grad_W(vocabulary * width), losses(rows);
  const Device<int> targets(std::vector<int>(rows, 7));
  const gpu::LinearClassifier<gpu::bfloat16> layer{width,   hidden.data(),           W.data(),
                                                   nullptr, grad_hidden.data(),      grad_W.data(),
                                                   nullptr, gpu::Gradient::overwrite};
  const std::size_t before = gpu::DeviceMemory::used;
  gpu::DeviceMemory::peak = before;
  const Device<gpu::bfloat16> logits(chunk_rows * vocabulary);
  const auto loss = gpu::linear_cross_entropy<gpu::bfloat16>(
      stream, linear, {rows, vocabulary, vocabulary}, {targets.data()}, layer, chunk_rows,
      logits.data(), losses.data());
  BOOST_TEST(loss.mean == std::log(600.0), boost::test_tools::tolerance(1e-6));
  const std::size_t taken = gpu::DeviceMemory::peak - before;
  BOOST_TEST(taken >= sizeof(gpu::bfloat16) * chunk_rows * vocabulary);
  BOOST_TEST(taken < sizeof(gpu::bfloat16) * rows * vocabulary / 4);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
