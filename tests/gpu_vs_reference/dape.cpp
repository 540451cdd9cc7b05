// SPDX-License-Identifier: Apache-2.0
// DAPE's correction of the logits and its gradients against the oracle.
//
// The tolerance: read with a running error, the oracle tells what its own operations, each rounded
// with 2^-53, can do to a result. The kernels evaluate the same formulas with 2^-24, some sums in
// another order: four times that error, in its unit.
#include "attention/dape.cuh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/device_buffer.cuh"
#include "reference/attention/dape.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(dape_test)

namespace {

using namespace plumbline;
namespace ref = plumbline::reference;
using gpu_tests::Numbers;
using R = ref::RunningError;

constexpr double kUnits = 4 * 0x1p29;

/// Device memory with the host's values, or with poison.
struct Array {
  explicit Array(std::vector<float> values)
      : host(std::move(values)), device(stream(), host.size()) {
    device.copy_from_host(stream(), host.data(), 0, host.size());
  }
  explicit Array(std::size_t count) : host(count), device(stream(), count) {}

  static const gpu::Stream& stream() {
    static const gpu::Stream the_stream;
    return the_stream;
  }
  float* data() const { return device.data(); }
  const std::vector<float>& fetch() {
    device.copy_to_host(stream(), host.data());
    stream().wait();
    return host;
  }

  std::vector<float> host;
  gpu::DeviceBuffer<float> device;
};

struct Problem {
  explicit Problem(const gpu::DapeShape& shape) : s(shape) {}

  std::size_t scores(int channels) const {
    return static_cast<std::size_t>(s.batch) * channels * s.queries * s.keys;
  }
  gpu::DapeLayers layers() const {
    return {first_weight.data(), first_bias.data(), second_weight.data(), second_bias.data()};
  }
  void forward() {
    gpu::dape_forward(Array::stream(), s, layers(), A.data(), B.data(), before.data(),
                      logits.data());
  }
  void backward() {
    gpu::dape_backward(Array::stream(), s, layers(), A.data(), B.data(), before.data(),
                       grad_logits.data(),
                       {grad_A.data(), grad_B.data(), grad_first_weight.data(),
                        grad_first_bias.data(), grad_second_weight.data(), grad_second_bias.data()},
                       workspace.data());
  }

  gpu::DapeShape s;
  Numbers numbers{5};
  Array A{numbers.many(scores(s.heads), -2, 2)}, B{numbers.many(scores(s.heads), -3, 0)};
  Array grad_logits{numbers.many(scores(s.heads), -1, 1)};
  Array first_weight{numbers.many(s.hidden * 2 * s.heads * s.width, -0.5f, 0.5f)};
  Array first_bias{numbers.many(s.hidden, -0.5f, 0.5f)};
  Array second_weight{numbers.many(s.heads * s.hidden * s.width, -0.5f, 0.5f)};
  Array second_bias{numbers.many(s.heads, -0.5f, 0.5f)};
  Array before{scores(s.hidden)}, workspace{scores(s.hidden)}, logits{scores(s.heads)};
  Array grad_A{scores(s.heads)}, grad_B{scores(s.heads)};
  Array grad_first_weight{first_weight.host.size()}, grad_first_bias{first_bias.host.size()};
  Array grad_second_weight{second_weight.host.size()}, grad_second_bias{second_bias.host.size()};
};

ref::Matrix<R> matrix(const std::vector<float>& values, int rows, int columns) {
  ref::Matrix<R> m(rows, columns);
  for (int n = 0; n < rows * columns; ++n) m(n / columns, n % columns) = R(values[n]);
  return m;
}

ref::Vector<R> vector(const std::vector<float>& values) {
  ref::Vector<R> v(static_cast<Eigen::Index>(values.size()));
  for (std::size_t n = 0; n < values.size(); ++n) v[n] = R(values[n]);
  return v;
}

/// All heads of a query row, [heads, keys], as the oracle takes them.
ref::Matrix<R> row_of(const Problem& p, const std::vector<float>& values, int b, int row) {
  ref::Matrix<R> m(p.s.heads, p.s.keys);
  for (int h = 0; h < p.s.heads; ++h)
    for (int j = 0; j < p.s.keys; ++j)
      m(h, j) =
          R(values[((static_cast<std::size_t>(b) * p.s.heads + h) * p.s.queries + row) * p.s.keys +
                   j]);
  return m;
}

void put_row(const Problem& p, std::vector<R>& values, int b, int row, const ref::Matrix<R>& m) {
  for (int h = 0; h < p.s.heads; ++h)
    for (int j = 0; j < p.s.keys; ++j)
      values[((static_cast<std::size_t>(b) * p.s.heads + h) * p.s.queries + row) * p.s.keys + j] =
          m(h, j);
}

template <class Values>
void add(std::vector<R>& sums, const Values& values) {
  for (Eigen::Index n = 0; n < values.size(); ++n) sums[n] += values.data()[n];
}

void compare(const char* name, Array& actual, const std::vector<R>& expected) {
  actual.fetch();
  BOOST_REQUIRE_EQUAL(actual.host.size(), expected.size());
  std::size_t wrong = 0, where = 0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const double bound = kUnits * expected[n].error() + 0x1p-149;
    if (!(std::abs(actual.host[n] - expected[n].value()) <= bound)) ++wrong, where = n;
  }
  BOOST_TEST(wrong == 0u, name << ": " << wrong << " of " << expected.size() << " are wrong, ["
                               << where << "] is " << actual.host[where] << ", not "
                               << expected[where].value());
}

void check(const gpu::DapeShape& shape) {
  Problem p(shape);
  const auto& s = p.s;
  p.forward();
  p.backward();
  const ref::DapeLayers<R> layers{{matrix(p.first_weight.host, s.hidden, 2 * s.heads * s.width),
                                   vector(p.first_bias.host), s.width},
                                  {matrix(p.second_weight.host, s.heads, s.hidden * s.width),
                                   vector(p.second_bias.host), s.width}};
  const R zero(0.0);
  std::vector<R> logits(p.scores(s.heads), zero), grad_A(logits), grad_B(logits);
  std::vector<R> first_weight(p.first_weight.host.size(), zero), first_bias(s.hidden, zero),
      second_weight(p.second_weight.host.size(), zero), second_bias(s.heads, zero);
  for (int b = 0; b < s.batch; ++b) {
    for (int row = 0; row < s.queries; ++row) {
      const int seen = s.hides_later_keys ? row + s.query_offset + 1 : s.keys;
      const auto A = row_of(p, p.A.host, b, row), B = row_of(p, p.B.host, b, row);
      put_row(p, logits, b, row, ref::dape_row(A, B, layers, seen));
      const auto grad =
          ref::dape_row_grad(A, B, layers, seen, row_of(p, p.grad_logits.host, b, row));
      put_row(p, grad_A, b, row, grad.A);
      put_row(p, grad_B, b, row, grad.B);
      add(first_weight, grad.first.weight);
      add(first_bias, grad.first.bias);
      add(second_weight, grad.second.weight);
      add(second_bias, grad.second.bias);
    }
  }
  compare("logits", p.logits, logits);
  compare("grad A", p.grad_A, grad_A);
  compare("grad B", p.grad_B, grad_B);
  compare("grad first weight", p.grad_first_weight, first_weight);
  compare("grad first bias", p.grad_first_bias, first_bias);
  compare("grad second weight", p.grad_second_weight, second_weight);
  compare("grad second bias", p.grad_second_bias, second_bias);
}

BOOST_AUTO_TEST_CASE(version_1_gives_the_oracles_logits_and_gradients) {
  check({2, 3, 5, 7, 11, 4, 1, false});
  check({1, 1, 1, 1, 1, 0, 1, false});
}

BOOST_AUTO_TEST_CASE(version_2_does_so_with_later_keys_hidden) {
  check({2, 3, 5, 9, 13, 2, 3, true});
  check({1, 2, 4, 40, 40, 0, 3, true});
}

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_are_refused) {
  for (const gpu::DapeShape& wrong :
       {gpu::DapeShape{0, 1, 1, 1, 1, 0, 1, false}, gpu::DapeShape{1, 1, 1, 2, 2, 1, 1, false},
        gpu::DapeShape{1, 1, 1, 1, 1, 0, 2, false}, gpu::DapeShape{1, 1, 0, 1, 1, 0, 1, false},
        gpu::DapeShape{2, 1, 1, 40000, 40000, 0, 1, false}})
    BOOST_CHECK_THROW(
        gpu::dape_forward(Array::stream(), wrong, {}, nullptr, nullptr, nullptr, nullptr),
        std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
