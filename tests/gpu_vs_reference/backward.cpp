// SPDX-License-Identifier: Apache-2.0
// Gradients of every input and parameter against the oracle's backward pass, in fp32.
//
// The tolerance: read with a running error, the oracle tells what its own operations, each rounded
// with 2^-53, can do to a result. The kernel evaluates the same formulas with 2^-24, sums in
// another order, and takes P from a rounded LSE and D from rounded o: four times that error, in its
// unit.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "emulation/grid.hpp"
#include "tests/gpu_vs_reference/gradient_oracle.hpp"

BOOST_AUTO_TEST_SUITE(backward_test)

namespace {

using namespace plumbline::gpu_tests;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The kernel's arrays for a case.
struct Run {
  Run(const plumbline_kernel& kernel, Case& made)
      : o(made.rows * made.s.head_dim, kNan), lse(made.rows, kNan), grad_o(made.v_like_o()) {
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    BOOST_REQUIRE_EQUAL(kernel.supports(&made.problem, PLUMBLINE_BACKWARD), 1);
    BOOST_REQUIRE_MESSAGE(kernel.forward(&made.problem, &outputs, message, sizeof message) == 0,
                          message);
    q.assign(o.size(), kNan);
    k.assign(made.k.size(), kNan);
    v = k;
    plumbline_gradients gradients{o.data(), lse.data(), grad_o.data(), q.data(), k.data(),
                                  v.data(), {}};
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      parameters[n].assign(made.parameters.values[n].size(), kNan);
      gradients.grad_parameters[n] = parameters[n].data();
    }
    BOOST_REQUIRE_MESSAGE(kernel.backward(&made.problem, &gradients, message, sizeof message) == 0,
                          message);
  }

  std::vector<float> o, lse, grad_o, q, k, v, parameters[PLUMBLINE_PARAMETER_COUNT];
};

constexpr double kUnits = 4 * 0x1p29;

void compare(const std::string& name, const std::vector<float>& actual, const Expected& expected) {
  BOOST_REQUIRE_EQUAL(actual.size(), expected.size());
  double worst = 0.0;
  std::size_t where = 0;
  for (std::size_t n = 0; n < actual.size(); ++n) {
    const double error = std::abs(actual[n] - expected[n].value());
    const double bound = kUnits * expected[n].error() + 0x1p-149;
    const double ratio = error <= bound ? error / bound : INFINITY;
    if (ratio > worst) worst = ratio, where = n;
  }
  BOOST_TEST(worst <= 1.0, name << "[" << where << "] is " << actual[where] << ", not "
                                << expected[where].value() << " +- "
                                << kUnits * expected[where].error());
}

// Every kind of mask, tiles cut by the end, grouped-query heads, an offset of the queries.
constexpr Shape kShapes[] = {
    {"causal", 1, 2, 1, 40, 40, 32, true, -1, false, false, false},
    {"window", 2, 2, 2, 34, 45, 32, true, 9, true, false, true},
    {"documents", 1, 1, 1, 36, 36, 48, false, -1, false, true, true},
};
// Half of the usual score: the slope is far from 1.
constexpr Shape kCapped{"softcap", 2, 2, 1, 34, 45, 32, true, -1, true, false, true, 0.5};
constexpr Shape kSinks{"sinks", 2, 4, 2, 34, 45, 32, true, 9, true, false, true, 0, true};

/// The parameters that the method's backward pass writes.
std::vector<int> written(const Case& made) {
  std::vector<int> all;
  for (const auto& parameter :
       plumbline::methods::of(plumbline::methods::bias_of(made.problem)).parameters)
    if (parameter.id != PLUMBLINE_SLOPES) all.push_back(parameter.id);
  if (made.problem.ssmax) all.push_back(PLUMBLINE_SSMAX_SCALE);
  if (made.problem.sinks) all.push_back(PLUMBLINE_SINKS);
  return all;
}

void check(const char* kernel_name, std::vector<Shape> shapes) {
  const plumbline_library* library = plumbline_kernel_library();
  const auto* kernel =
      std::find_if(library->kernels, library->kernels + library->kernel_count,
                   [&](const auto& k) { return k.name == std::string(kernel_name); });
  for (const Shape& shape : shapes) {
    for (const Bias bias : fused_biases()) {
      BOOST_TEST_CONTEXT(kernel_name << " " << name_of(bias) << " " << shape.name) {
        Case made(shape, bias, PLUMBLINE_FP32);
        // A table of exactly as many rows as the method names.
        const int rows = bias.method == PLUMBLINE_T5_CLIPPED          ? kBuckets + 1
                         : bias.method == PLUMBLINE_T5_CLIPPED_OFFSET ? 2 * kBuckets + 1
                                                                      : kBuckets;
        made.parameters.values[PLUMBLINE_TABLE].resize(static_cast<std::size_t>(rows) *
                                                       shape.heads);
        const Run run(*kernel, made);
        const Oracle oracle = oracle_of(made, run.grad_o);
        compare("grad_q", run.q, oracle.q);
        compare("grad_k", run.k, oracle.k);
        compare("grad_v", run.v, oracle.v);
        for (const int n : written(made))
          compare("grad of parameter " + std::to_string(n), run.parameters[n],
                  oracle.parameters[n]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_deterministic_backward_pass_gives_the_oracles_gradients) {
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  shapes.insert(shapes.end(), {kCapped, kSinks});
  check("fused", shapes);
}

BOOST_AUTO_TEST_CASE(so_does_the_one_with_atomics) {
  check("fused_atomic", {std::begin(kShapes), std::end(kShapes)});
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit_of_a_gradient) {
  const plumbline_library* library = plumbline_kernel_library();
  const auto* kernel = std::find_if(library->kernels, library->kernels + library->kernel_count,
                                    [](const auto& k) { return k.name == std::string("fused"); });
  BOOST_TEST(kernel->deterministic == 1);
  for (const Bias bias : fused_biases()) {
    const auto gradients = [&](std::uint64_t seed) {
      plumbline::emulation::set_thread_order_seed(seed);
      plumbline::emulation::set_workers(static_cast<unsigned>(seed));
      Case made(kShapes[1], bias, PLUMBLINE_FP32);
      const Run run(*kernel, made);
      std::vector<float> all;
      for (const auto* part : {&run.q, &run.k, &run.v})
        all.insert(all.end(), part->begin(), part->end());
      for (const int n : written(made))
        all.insert(all.end(), run.parameters[n].begin(), run.parameters[n].end());
      return all;
    };
    const auto bits = [](const std::vector<float>& x) {
      return std::string(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
    };
    BOOST_TEST_INFO(name_of(bias));
    const std::string first = bits(gradients(1));
    BOOST_TEST((first == bits(gradients(2))));
    BOOST_TEST((first == bits(gradients(3))));
  }
  plumbline::emulation::set_thread_order_seed(1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
