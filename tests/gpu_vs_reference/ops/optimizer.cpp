// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer.cuh"

#include <limits>

#include "reference/optimizer/adamw.hpp"
#include "reference/optimizer/radam.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/optimizer.hpp"

BOOST_AUTO_TEST_SUITE(optimizer_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::RunningError;

namespace {

enum class Rule { adamw, radam_paper, radam_pytorch };
constexpr Rule rules[] = {Rule::adamw, Rule::radam_paper, Rule::radam_pytorch};

reference::RadamThreshold threshold(Rule rule) {
  return rule == Rule::radam_paper ? reference::RadamThreshold::paper
                                   : reference::RadamThreshold::pytorch;
}

/// One tensor before a step.
struct Problem {
  gpu::AdamSettings settings;
  int step;
  double grad_factor;  ///< 1: no clipping
  std::vector<double> parameter, mean, mean_square, grad;
};

/// Gradients of every magnitude, zeros, moments that are 0 as before the first step.
Problem problem(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  constexpr int steps[] = {1, 2, 4, 5, 6, 7, 100, 5000};
  Problem p;
  p.step = steps[static_cast<int>(numbers.between(0, 7.999))];
  p.settings.learning_rate = std::exp2(numbers.between(-14, -6));
  p.settings.beta1 = numbers.between(0.8, 0.95);
  p.settings.beta2 = numbers.between(0, 1) < 0.5 ? 0.999 : 0.95;
  p.settings.epsilon = numbers.between(0, 1) < 0.5 ? 1e-8 : 1e-5;
  p.settings.weight_decay = numbers.between(0, 1) < 0.5 ? 0.0 : 0.1;
  p.grad_factor = numbers.between(0, 1) < 0.5 ? 1.0 : static_cast<float>(numbers.between(0, 1));
  const int count = static_cast<int>(numbers.between(200, 1300));
  p.parameter = representable<float>(numbers.between(-2, 2, count));
  for (int n = 0; n < count; ++n) {
    const double size =
        n % 10 == 0 ? std::exp2(numbers.between(-148, 40)) : std::exp2(numbers.between(-20, 0));
    p.grad.push_back(n % 17 == 3 ? 0.0 : size * numbers.between(-1, 1));
    p.mean.push_back(p.step == 1 ? 0.0 : size * numbers.between(-1, 1));
    p.mean_square.push_back(p.step == 1 ? 0.0 : std::pow(size * numbers.between(0.1, 1.5), 2));
    if (n % 17 == 3 && p.step > 1 && n % 2) p.mean.back() = p.mean_square.back() = 0.0;
  }
  p.grad = representable<float>(p.grad);
  p.mean = representable<float>(p.mean);
  p.mean_square = representable<float>(p.mean_square);
  return p;
}

gpu::AdamNumbers numbers_of(Rule rule, const Problem& p) {
  if (rule == Rule::adamw) return gpu::adamw_numbers(p.settings, p.step);
  return gpu::radam_numbers(
      p.settings,
      rule == Rule::radam_paper ? gpu::RadamThreshold::paper : gpu::RadamThreshold::pytorch,
      p.step);
}

/// A tensor on the device, and the step on it.
template <class Element>
struct OnDevice {
  Device<float> master, mean, mean_square, grad, factor;
  Device<Element> copy;

  explicit OnDevice(const Problem& p)
      : master(on_device<float>(p.parameter)),
        mean(on_device<float>(p.mean)),
        mean_square(on_device<float>(p.mean_square)),
        grad(on_device<float>(p.grad)),
        factor(on_device<float>({p.grad_factor})),
        copy(p.parameter.size()) {}

  void step(Rule rule, const Problem& p) const {
    const gpu::Stream stream;
    const gpu::AdamTensor<Element> tensor{master.data(), mean.data(), mean_square.data(),
                                          grad.data(),   copy.data(), p.parameter.size()};
    const float* clip = p.grad_factor == 1.0 ? nullptr : factor.data();
    const Device<gpu::AdamNumbers> numbers({numbers_of(rule, p)});
    gpu::adam_step(stream, numbers.data(), clip, tensor);
  }
};

template <reference::Real R>
reference::AdamSettings<R> settings_of(const gpu::AdamSettings& s) {
  return {R(s.learning_rate), R(s.beta1), R(s.beta2), R(s.epsilon), R(s.weight_decay)};
}

/// The oracle's step: parameter and moments after it.
struct Exact {
  reference::Vector<RunningError> parameter;
  reference::Moments<reference::Vector<RunningError>> moments;
};

Exact exact_step(Rule rule, const Problem& p) {
  Exact exact{reference::lifted<RunningError>(p.parameter),
              {reference::lifted<RunningError>(p.mean),
               reference::lifted<RunningError>(p.mean_square), p.step - 1}};
  auto grad = reference::lifted<RunningError>(p.grad);
  for (auto& g : grad) g = RunningError(p.grad_factor) * g;
  const auto settings = settings_of<RunningError>(p.settings);
  if (rule == Rule::adamw)
    reference::adamw_step(exact.parameter, grad, exact.moments, settings);
  else
    reference::radam_step(exact.parameter, grad, exact.moments, settings,
                          reference::WeightDecay::decoupled, threshold(rule));
  return exact;
}

template <class Element>
void check(Rule rule, const std::string& name) {
  Comparison parameters(name + " parameter"), means(name + " mean"), squares(name + " mean_square");
  for_seeds(12, [&](std::uint64_t seed) {
    const Problem p = problem(seed);
    const OnDevice<Element> device(p);
    device.step(rule, p);
    const Exact exact = exact_step(rule, p);
    const auto parameter = device.master.numbers(), mean = device.mean.numbers();
    const auto mean_square = device.mean_square.numbers(), copy = device.copy.numbers();
    const auto settings = settings_of<double>(p.settings);
    for (std::size_t n = 0; n < p.parameter.size(); ++n) {
      const op_bounds::StepInput in{p.parameter[n], p.mean[n], p.mean_square[n], p.grad[n],
                                    p.grad_factor};
      const op_bounds::SteppedElement bound =
          rule == Rule::adamw ? op_bounds::adamw(in, settings, p.step)
                              : op_bounds::radam(in, settings, threshold(rule), p.step);
      const op_bounds::Storage fp32 = op_bounds::stored_fp32;
      parameters.element(n, parameter[n], exact.parameter[n], stored_error(bound.parameter, fp32));
      means.element(n, mean[n], exact.moments.first[n], stored_error(bound.mean, fp32));
      squares.element(n, mean_square[n], exact.moments.second[n],
                      stored_error(bound.mean_square, fp32));
    }
    BOOST_TEST(copy == representable<Element>(parameter), "the copy is not the parameter rounded");
  });
  parameters.finish(0.1);
  means.finish(0.1);
  squares.finish(0.1);
}

BOOST_AUTO_TEST_CASE(adamw_is_within_its_bounds) {
  check<float>(Rule::adamw, "adamw fp32");
  check<gpu::bfloat16>(Rule::adamw, "adamw bf16");
}

BOOST_AUTO_TEST_CASE(radam_is_within_its_bounds_under_both_thresholds) {
  check<gpu::float16>(Rule::radam_paper, "radam (paper) fp16");
  check<gpu::bfloat16>(Rule::radam_pytorch, "radam (PyTorch) bf16");
}

BOOST_AUTO_TEST_CASE(the_first_steps_of_radam_are_not_rectified_and_the_next_ones_are) {
  // With beta2 = 0.999 the fifth step is rectified for the paper, the sixth for PyTorch; theta = 0,
  // m = 0, g = 1: an unrectified step moves by rate (1 - beta1)/(1 - beta1^t).
  for (const Rule rule : {Rule::radam_paper, Rule::radam_pytorch}) {
    for (const int step : {1, 4, 5, 6}) {
      Problem p{{0.5, 0.5, 0.999, 1e-8, 0.0}, step, 1.0, {0.0}, {0.0}, {0.0}, {1.0}};
      const OnDevice<float> device(p);
      device.step(rule, p);
      const double plain = 0.5 * 0.5 / (1 - std::exp2(-step));
      const bool rectified = step >= (rule == Rule::radam_paper ? 5 : 6);
      BOOST_TEST((std::fabs(device.master.numbers()[0] + plain) < 1e-6) == !rectified,
                 "step " << step << " moved to " << device.master.numbers()[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_moves_without_gradients_moments_and_decay) {
  for (const Rule rule : rules) {
    Problem p = problem(1);
    p.settings.weight_decay = 0.0;
    p.grad.assign(p.grad.size(), 0.0);
    p.mean = p.mean_square = p.grad;
    const OnDevice<float> device(p);
    device.step(rule, p);
    BOOST_TEST(device.master.numbers() == p.parameter);
  }
}

BOOST_AUTO_TEST_CASE(a_copy_is_optional_and_every_element_moves) {
  const gpu::Stream stream;
  for (const int count : {0, 1, 1025}) {
    const auto values = on_device<float>(reference::Numbers(1).between(0.5, 1, count));
    const Device<float> master(values.values()), mean(values.values()), square(values.values());
    const gpu::AdamTensor<gpu::float16> tensor{master.data(), mean.data(),
                                               square.data(), values.data(),
                                               nullptr,       static_cast<std::size_t>(count)};
    const Device<gpu::AdamNumbers> numbers({gpu::adamw_numbers({1e-3}, 3)});
    gpu::adam_step(stream, numbers.data(), nullptr, tensor);
    const auto before = values.values(), after = master.values();
    for (int n = 0; n < count; ++n) BOOST_TEST(after[n] < before[n]);
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_and_workers) {
  const Problem p = problem(9);
  expect_same_bits([&] {
    const OnDevice<float> device(p);
    device.step(Rule::adamw, p);
    return device.master.values();
  });
}

BOOST_AUTO_TEST_CASE(settings_outside_of_their_domains_are_refused) {
  const gpu::Stream stream;
  const Device<float> x(1);
  const gpu::AdamTensor<float> tensor{x.data(), x.data(), x.data(), x.data(), nullptr, 1};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::pair<gpu::AdamSettings, const char*> refused[] = {
      {{-1.0}, "learning_rate is -1"},
      {{infinity}, "learning_rate"},
      {{1.0, 0.0}, "beta1 is 0"},
      {{1.0, 0.9, 1.0}, "beta2 is 1"},
      {{1.0, 0.9, 0.95, 0.0}, "epsilon is 0"},
      {{1.0, 0.9, 0.95, 1e-60}, "epsilon"},  // 0 in fp32
      {{1.0, 0.9, 0.95, 1e-8, -0.1}, "weight_decay"},
  };
  for (const auto& [settings, text] : refused)
    BOOST_CHECK_EXCEPTION(gpu::adamw_numbers(settings, 1), std::invalid_argument, says(text));
  BOOST_CHECK_EXCEPTION(gpu::radam_numbers({1e-3}, gpu::RadamThreshold::paper, 0),
                        std::invalid_argument, says("step is 0"));
  const Device<gpu::AdamNumbers> numbers({gpu::adamw_numbers({1e-3}, 1)});
  gpu::AdamTensor<float> incomplete = tensor;
  incomplete.mean_square = nullptr;
  BOOST_CHECK_EXCEPTION(gpu::adam_step(stream, numbers.data(), nullptr, incomplete),
                        std::invalid_argument, says("mean_square is null"));
  BOOST_CHECK_EXCEPTION(gpu::adam_step<float>(stream, nullptr, nullptr, tensor),
                        std::invalid_argument, says("numbers is null"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
