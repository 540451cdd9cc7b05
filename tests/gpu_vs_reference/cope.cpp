// SPDX-License-Identifier: Apache-2.0
// CoPE's logits and their gradients against the oracle.
//
// The oracle takes q, K and the table. With unit vectors for the keys and the table's rows, and
// scale 1, the components of q are the scores and the z_n themselves, and so are their gradients.
//
// The tolerance: read with a running error, the oracle tells what its own operations, each rounded
// with 2^-53, can do to a result. The kernels evaluate the same formulas with 2^-24: four times
// that error, in its unit. No p_j of these numbers is so close to a whole number that the
// derivative's jump there would count.
#include "attention/cope.cuh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/device_buffer.cuh"
#include "reference/attention/cope.hpp"
#include "reference/core/mask.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(cope_test)

namespace {

using namespace plumbline;
namespace ref = plumbline::reference;
using gpu_tests::Numbers;
using R = ref::RunningError;

constexpr double kUnits = 4 * 0x1p29;

template <class T>
gpu::DeviceBuffer<T> on_device(const gpu::Stream& stream, const std::vector<T>& host) {
  gpu::DeviceBuffer<T> buffer(stream, host.size());
  buffer.copy_from_host(stream, host.data(), 0, host.size());
  return buffer;
}

std::vector<float> fetched(const gpu::Stream& stream, const gpu::DeviceBuffer<float>& buffer) {
  std::vector<float> host(buffer.size());
  buffer.copy_to_host(stream, host.data());
  stream.wait();
  return host;
}

struct Results {
  std::vector<float> logits, grad_scores, grad_by_row;
};

struct Problem {
  gpu::CopeShape s;
  ref::Mask mask;
  std::size_t rows = static_cast<std::size_t>(s.batch) * s.heads * s.queries;
  Numbers numbers{9};
  std::vector<float> scores = numbers.many(rows * s.keys, -3, 3);
  std::vector<float> by_row = numbers.many(rows * s.rows, -2, 2);
  std::vector<float> grad_logits = numbers.many(rows * s.keys, -1, 1);

  Results run() const {
    const gpu::Stream stream;
    const auto lengths = on_device(stream, mask.lengths);
    const auto documents = on_device(stream, mask.documents);
    const gpu::Mask on_gpu{s.keys,         mask.causal,     mask.window.left, mask.window.right,
                           lengths.data(), documents.data()};
    const auto scores_ = on_device(stream, scores), by_row_ = on_device(stream, by_row),
               grad_logits_ = on_device(stream, grad_logits);
    const gpu::DeviceBuffer<float> counts(stream, scores.size()), logits(stream, scores.size()),
        grad_scores(stream, scores.size()), grad_by_row(stream, by_row.size());
    gpu::cope_forward(stream, s, on_gpu, scores_.data(), by_row_.data(), counts.data(),
                      logits.data());
    gpu::cope_backward(stream, s, scores_.data(), by_row_.data(), counts.data(),
                       grad_logits_.data(), grad_scores.data(), grad_by_row.data());
    return {fetched(stream, logits), fetched(stream, grad_scores), fetched(stream, grad_by_row)};
  }
};

struct Comparison {
  std::size_t wrong = 0, compared = 0;
  void add(float actual, const R& expected) {
    ++compared;
    if (!(std::abs(actual - expected.value()) <= kUnits * expected.error() + 0x1p-149)) ++wrong;
  }
};

void check(const Problem& p) {
  const auto& s = p.s;
  const Results got = p.run();
  const int width = s.keys + s.rows;
  ref::Matrix<R> K = ref::zeros<R>(s.keys, width), table = ref::zeros<R>(s.rows, width);
  for (int j = 0; j < s.keys; ++j) K(j, j) = R(1.0);
  for (int n = 0; n < s.rows; ++n) table(n, s.keys + n) = R(1.0);
  Comparison logits, grad_scores, grad_by_row;
  for (std::size_t row = 0; row < p.rows; ++row) {
    const int b = static_cast<int>(row / s.queries / s.heads);
    const int position = static_cast<int>(row % s.queries) + s.query_offset;
    const std::vector<int> visible = ref::visible_keys(p.mask, b, position, s.keys);
    ref::Vector<R> q(width);
    for (int j = 0; j < s.keys; ++j) q[j] = R(p.scores[row * s.keys + j]);
    for (int n = 0; n < s.rows; ++n) q[s.keys + n] = R(p.by_row[row * s.rows + n]);
    ref::Vector<R> grad(static_cast<Eigen::Index>(visible.size()));
    for (std::size_t n = 0; n < visible.size(); ++n)
      grad[n] = R(p.grad_logits[row * s.keys + visible[n]]);
    const auto expected = ref::cope_row(q, K, visible, R(1.0), table);
    const auto expected_grad = ref::cope_row_grad(q, K, visible, R(1.0), table, grad);
    std::vector<bool> sees(s.keys);
    for (std::size_t n = 0; n < visible.size(); ++n) {
      sees[visible[n]] = true;
      logits.add(got.logits[row * s.keys + visible[n]], expected.logits[n]);
    }
    for (int j = 0; j < s.keys; ++j) {
      if (!sees[j]) BOOST_TEST(got.logits[row * s.keys + j] == -INFINITY);
      grad_scores.add(got.grad_scores[row * s.keys + j], expected_grad.q[j]);
    }
    for (int n = 0; n < s.rows; ++n)
      grad_by_row.add(got.grad_by_row[row * s.rows + n], expected_grad.q[s.keys + n]);
  }
  BOOST_TEST(logits.compared > 0u);
  BOOST_TEST(logits.wrong == 0u);
  BOOST_TEST(grad_scores.wrong == 0u);
  BOOST_TEST(grad_by_row.wrong == 0u);
}

BOOST_AUTO_TEST_CASE(a_causal_row_counts_from_its_own_key_back) {
  ref::Mask causal;
  causal.causal = true;
  check({{2, 2, 9, 11, 2, 4}, causal});
  check({{1, 1, 1, 1, 0, 1}, causal});
  // Chunks of 32 keys, positions short of the table's end and beyond it.
  check({{1, 1, 3, 70, 67, 64}, causal});
  check({{1, 2, 2, 65, 63, 8}, causal});
}

BOOST_AUTO_TEST_CASE(only_visible_keys_count) {
  ref::Mask mask;
  mask.window = 20;
  mask.lengths = {50, 31};
  mask.documents.resize(100);
  for (int n = 0; n < 100; ++n) mask.documents[n] = n / 13 % 2;
  check({{2, 1, 50, 50, 0, 6}, mask});
}

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_are_refused) {
  const gpu::Stream stream;
  const auto run = [&](const gpu::CopeShape& shape, int keys) {
    gpu::cope_forward(stream, shape, {keys, true, -1, -1, nullptr, nullptr}, nullptr, nullptr,
                      nullptr, nullptr);
  };
  BOOST_CHECK_THROW(run({1, 1, 1, 0, 0, 1}, 0), std::invalid_argument);
  BOOST_CHECK_THROW(run({1, 1, 2, 2, 1, 1}, 2), std::invalid_argument);
  BOOST_CHECK_THROW(run({1, 1, 1, 2, 1, 0}, 2), std::invalid_argument);
  BOOST_CHECK_THROW(run({1, 1, 1, 2, 1, 1}, 3), std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
