// SPDX-License-Identifier: Apache-2.0
// Gradients of every input and parameter against the oracle's backward pass, in fp32.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "emulation/grid.hpp"
#include "tests/gpu_vs_reference/compare.hpp"
#include "tests/gpu_vs_reference/gradient_oracle.hpp"

BOOST_AUTO_TEST_SUITE(backward_test)

namespace {

using namespace plumbline::gpu_tests;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The kernel's arrays for a case.
struct Run {
  Run(const plumbline_kernel& kernel, Case& made)
      : o(made.rows * made.s.value_width(), kNan), lse(made.rows, kNan), upstream{made.v_like_o()} {
    if (made.problem.lse_gradient == 1) upstream.grad_lse = made.v_like_lse();
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    BOOST_REQUIRE_EQUAL(kernel.supports(&made.problem, PLUMBLINE_BACKWARD), 1);
    BOOST_REQUIRE_MESSAGE(kernel.forward(&made.problem, &outputs, message, sizeof message) == 0,
                          message);
    q.assign(made.q.size(), kNan);
    k.assign(made.k.size(), kNan);
    v.assign(made.v.size(), kNan);
    plumbline_gradients gradients{
        o.data(), lse.data(), upstream.grad_o.data(), upstream.grad_lse.data(), q.data(), k.data(),
        v.data(), {}};
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      parameters[n].assign(made.parameters.values[n].size(), kNan);
      gradients.grad_parameters[n] = parameters[n].data();
    }
    BOOST_REQUIRE_MESSAGE(kernel.backward(&made.problem, &gradients, message, sizeof message) == 0,
                          message);
  }

  std::vector<float> o, lse;
  Upstream upstream;
  std::vector<float> q, k, v, parameters[PLUMBLINE_PARAMETER_COUNT];
};

// Every kind of mask, tiles cut by the end, grouped-query heads, an offset of the queries.
constexpr Shape kShapes[] = {
    {"causal", 1, 2, 1, 40, 40, 32, true, -1, false, false, false},
    {"window", 2, 2, 2, 34, 45, 32, true, 9, true, false, true},
    {"documents", 1, 1, 1, 36, 36, 48, false, -1, false, true, true},
};
// Half of the usual score: the slope is far from 1.
constexpr Shape kCapped{"softcap", 2, 2, 1, 34, 45, 32, true, -1, true, false, true, 0.5};
constexpr Shape kSinks{"sinks", 2, 4, 2, 34, 45, 32, true, 9, true, false, true, 0, true};
constexpr Shape kSinksAndTensor =
    Shape{"sinks and tensor", 2, 4, 2, 34, 45, 32, true, 9, true, false, false, 0, true}.with_mask(
        true, true);

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

void check(const char* kernel_name, std::vector<Shape> shapes, bool lse_gradient = false) {
  const plumbline_library* library = plumbline_kernel_library();
  const auto* kernel =
      std::find_if(library->kernels, library->kernels + library->kernel_count,
                   [&](const auto& k) { return k.name == std::string(kernel_name); });
  for (const Shape& shape : shapes) {
    for (const Bias bias : fused_biases()) {
      BOOST_TEST_CONTEXT(kernel_name << " " << name_of(bias) << " " << shape.name) {
        Case made(shape, bias, PLUMBLINE_FP32);
        made.problem.lse_gradient = lse_gradient ? 1 : 0;
        // A table of exactly as many rows as the method names.
        const int rows = bias.method == PLUMBLINE_T5_CLIPPED          ? kBuckets + 1
                         : bias.method == PLUMBLINE_T5_CLIPPED_OFFSET ? 2 * kBuckets + 1
                                                                      : kBuckets;
        made.parameters.values[PLUMBLINE_TABLE].resize(static_cast<std::size_t>(rows) *
                                                       shape.heads);
        const Run run(*kernel, made);
        const Oracle oracle = oracle_of(made, run.upstream);
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

// A mask tensor has rows that see nothing.
constexpr Shape kTensor{"tensor", 2, 4, 2, 34, 45, 32, false, -1, false, false, false};

BOOST_AUTO_TEST_CASE(so_it_is_with_a_mask_tensor_narrow_values_and_a_gradient_through_lse) {
  check("fused", {kTensor.with_mask(true, true).with_values(21)});
  check("fused_atomic", {kTensor.with_mask(false, true).with_values(1)});
  check("fused", {kTensor.with_mask(true, false), kSinksAndTensor, kShapes[1]}, true);
  check("fused_atomic", {kSinksAndTensor, kShapes[2].with_values(47)}, true);
}

BOOST_AUTO_TEST_CASE(dropout_and_partial_rope_are_in_the_oracles_gradients) {
  check("fused", {kSinks.with_dropout(0.3f).with_rotary_dim(12)});
  check("fused_atomic", {kTensor.with_mask(true, true).with_dropout(0.6f).with_rotary_dim(2)},
        true);
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
