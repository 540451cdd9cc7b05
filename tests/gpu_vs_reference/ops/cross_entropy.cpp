// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/cross_entropy.hpp"

#include <boost/mpl/list.hpp>
#include <optional>

#include "ops/chunked_cross_entropy.cuh"
#include "reference/model/mlm_loss.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/logistic.hpp"

BOOST_AUTO_TEST_SUITE(cross_entropy_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::RunningError;
using Elements = boost::mpl::list<float, gpu::bfloat16, gpu::float16>;

struct Problem {
  int rows, vocabulary, stride, chunk_rows;
  std::vector<double> logits;  // [rows, vocabulary]
  std::vector<int> labels;
  std::vector<unsigned char> selected;  // empty: all
  double grad_loss;
  std::int64_t denominator;

  reference::Targets targets() const {
    reference::Targets all = reference::targets_from_labels(labels);
    for (std::size_t t = 0; t < selected.size(); ++t)
      if (selected[t] == 0) all[t] = std::nullopt;
    return all;
  }
};

/// Narrow and wide spreads of logits, far from 0, one that takes everything, equal ones.
template <class Element>
Problem problem(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  Problem p{};
  p.rows = numbers.whole(1, 12);
  constexpr int sizes[] = {1, 2, 31, 33, 100, 255, 256, 257, 700};
  p.vocabulary = sizes[numbers.whole(0, 8)];
  p.stride = p.vocabulary + (numbers.whole(0, 1) ? numbers.whole(0, 63) : 0);
  p.chunk_rows = numbers.whole(1, p.rows + 2);
  for (int t = 0; t < p.rows; ++t) {
    const int kind = numbers.whole(0, 5);
    const double spread = std::exp2(numbers.between(-6, 6));
    const double centre = kind == 1 ? 500.0 : 0.0;
    const int winner = numbers.whole(0, p.vocabulary - 1);
    for (int v = 0; v < p.vocabulary; ++v) {
      double z = centre + spread * numbers.between(-1, 1);
      if (kind == 2 && v == winner) z = 80.0;
      if (kind == 3) z = -3.25;
      if (kind == 4) z *= 0x1p-130;
      p.logits.push_back(z);
    }
    p.labels.push_back(kind == 2 && numbers.whole(0, 1) ? winner
                                                        : numbers.whole(0, p.vocabulary - 1));
    if (numbers.whole(0, 4) == 0) p.labels.back() = reference::pytorch_ignore_index;
  }
  p.logits = representable<Element>(p.logits);
  if (seed % 3 == 0)
    for (int t = 0; t < p.rows; ++t) p.selected.push_back(numbers.whole(0, 1) ? 255 : 0);
  p.grad_loss = std::is_same_v<Element, gpu::float16> ? 1024.0 : numbers.between(0.1, 3);
  bool none = true;
  for (const auto& target : p.targets()) none = none && !target;
  p.denominator = none || seed % 4 == 0 ? 37 : 0;
  return p;
}

struct Results {
  std::vector<double> losses, grad_logits;  // [rows], [rows, stride]
  gpu::ChunkedLoss loss{};
};

/// The driver, with a classifier that copies the logits in and the gradients out.
template <class Element>
Results run(const Problem& p) {
  const gpu::Stream stream;
  Results results;
  const Device<int> labels(p.labels);
  const Device<unsigned char> selected(p.selected);
  const Device<Element> logits(static_cast<std::size_t>(p.chunk_rows) * p.stride);
  const Device<float> losses(p.rows);
  const auto place = [&](int row, int v) { return static_cast<std::size_t>(row) * p.stride + v; };
  gpu::Classifier<Element> classifier;
  classifier.forward = [&](int first, int rows, Element* chunk) {
    std::vector<Element> values;
    for (int row = first; row < first + rows; ++row) {
      for (int v = 0; v < p.stride; ++v) {
        const auto from = static_cast<std::size_t>(row) * p.vocabulary + v;
        values.push_back(
            narrowed<Element>(v < p.vocabulary ? p.logits[from] : 60000.0));  // padding is not read
      }
    }
    write_to(chunk, values);
  };
  classifier.backward = [&](int first, int rows, const Element* chunk) {
    BOOST_TEST(results.grad_logits.size() == place(first, 0));
    for (const Element x : read_from(chunk, place(rows, 0)))
      results.grad_logits.push_back(widened(x));
  };
  results.loss = gpu::chunked_cross_entropy<Element>(
      stream, {p.rows, p.vocabulary, p.stride},
      {labels.data(), reference::pytorch_ignore_index,
       p.selected.empty() ? nullptr : selected.data()},
      classifier, p.chunk_rows, logits.data(), losses.data(), p.grad_loss, p.denominator);
  results.losses = losses.numbers();
  return results;
}

BOOST_AUTO_TEST_CASE_TEMPLATE(losses_and_gradients_are_within_their_derived_limits, Element,
                              Elements) {
  Comparison loss("loss"), mean("mean"), gradient("gradient");
  for_seeds(80, [&](std::uint64_t seed) {
    const Problem p = problem<Element>(seed);
    const Results got = run<Element>(p);
    const reference::Targets targets = p.targets();
    const auto counted = std::count_if(targets.begin(), targets.end(),
                                       [](const auto& target) { return target.has_value(); });
    const double n = p.denominator > 0 ? static_cast<double>(p.denominator) : counted;
    BOOST_TEST(got.loss.counted == counted);
    const op_bounds::CrossEntropyContract contract{storage<Element>(),
                                                   gpu::cross_entropy_chain(p.vocabulary),
                                                   op_bounds::exp_error, op_bounds::exp_error / 2};
    std::vector<op_bounds::Computed> losses;
    RunningError total(0.0);
    for (int t = 0; t < p.rows; ++t) {
      const auto begin = p.logits.begin() + static_cast<std::ptrdiff_t>(t) * p.vocabulary;
      const std::vector<double> row(begin, begin + p.vocabulary);
      if (!targets[t]) {
        BOOST_TEST(got.losses[t] == 0.0);
        for (int v = 0; v < p.stride; ++v) BOOST_TEST(got.grad_logits[t * p.stride + v] == 0.0);
        continue;
      }
      // One token alone: its mean is its loss, and its share of the gradient 1 / n.
      const auto z = matrix(row, 1, p.vocabulary);
      const RunningError exact = reference::cross_entropy(z, {targets[t]});
      const auto exact_grad = reference::cross_entropy_grad(
          z, {targets[t]}, RunningError(p.grad_loss) / RunningError(n));
      std::vector<op_bounds::Computed> stored;
      for (const double logit : row) stored.push_back({logit, 0.0});
      const auto bounds =
          op_bounds::cross_entropy_bounds(stored, *targets[t], p.grad_loss / n, contract);
      loss.element(t, got.losses[t], exact, bounds.loss);
      losses.push_back({exact.value(), bounds.loss});
      total += exact;
      for (int v = 0; v < p.vocabulary; ++v)
        gradient.element(v, got.grad_logits[t * p.stride + v], exact_grad(0, v),
                         bounds.grad_logits[v]);
      for (int v = p.vocabulary; v < p.stride; ++v)
        BOOST_TEST(got.grad_logits[t * p.stride + v] == 0.0);
    }
    mean.element(seed, got.loss.mean, total / RunningError(n),
                 op_bounds::mean_loss_limit(losses, n));
  });
  for (const auto* result : {&loss, &mean, &gradient}) result->finish();
}

BOOST_AUTO_TEST_CASE(the_whole_batch_is_the_oracles_mean) {
  const Problem p = problem<float>(11);
  const auto z = matrix(p.logits, p.rows, p.vocabulary);
  const RunningError exact = reference::cross_entropy(z, p.targets());
  BOOST_TEST(p.denominator == 0);
  BOOST_TEST(run<float>(p).loss.mean == exact.value(), boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(the_size_of_the_chunks_changes_no_bit) {
  Problem p = problem<float>(6);
  p.chunk_rows = p.rows;
  const Results whole = run<float>(p);
  for (int rows = 1; rows < p.rows; ++rows) {
    p.chunk_rows = rows;
    const Results cut = run<float>(p);
    BOOST_TEST(cut.losses == whole.losses);
    BOOST_TEST(cut.grad_logits == whole.grad_logits);
    BOOST_TEST(cut.loss.mean == whole.loss.mean);
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  const Problem p = problem<float>(8);
  expect_same_bits([&] {
    Results results = run<float>(p);
    results.grad_logits.insert(results.grad_logits.end(), results.losses.begin(),
                               results.losses.end());
    results.grad_logits.push_back(results.loss.mean);
    return results.grad_logits;
  });
}

BOOST_AUTO_TEST_CASE(targets_beyond_the_vocabulary_and_batches_without_any_are_refused) {
  Problem p = problem<float>(1);
  p.denominator = 0;
  p.labels.assign(p.rows, reference::pytorch_ignore_index);
  BOOST_CHECK_EXCEPTION(run<float>(p), std::invalid_argument, says("the number of targets is 0"));
  p.denominator = 5;
  BOOST_TEST(run<float>(p).loss.mean == 0.0);
  p.labels.back() = p.vocabulary;
  const std::string last = "targets[" + std::to_string(p.rows - 1) + "] is ";
  BOOST_CHECK_EXCEPTION(run<float>(p), std::invalid_argument,
                        says(last + std::to_string(p.vocabulary)));
  p.selected.assign(p.rows, 0);  // a target that does not count may be anything
  BOOST_TEST(run<float>(p).loss.mean == 0.0);
  p.selected.clear();
  p.labels.back() = -1;
  BOOST_CHECK_EXCEPTION(run<float>(p), std::invalid_argument, says(last + "-1, must be 0 to"));
  p.labels.back() = 0;
  p.chunk_rows = 0;
  BOOST_CHECK_EXCEPTION(run<float>(p), std::invalid_argument, says("chunk_rows is 0"));
  const gpu::Stream stream;
  const Device<float> logits(8), losses(8);
  const Device<int> labels(std::vector<int>{0});
  BOOST_CHECK_EXCEPTION(gpu::cross_entropy_rows(stream, {1, 8, 7}, {labels.data()}, 1.0f,
                                                logits.data(), losses.data()),
                        std::invalid_argument, says("stride is 7"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
