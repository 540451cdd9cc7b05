// SPDX-License-Identifier: Apache-2.0
// The bounds of gradients against kernels that are as unlucky as their contract lets them be, and
// against kernels with a fault.
#include "verdict/bounds/backward.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "head_problem.hpp"
#include "unlucky_backward.hpp"

BOOST_AUTO_TEST_SUITE(backward_bounds_test)

using namespace plumbline;
using cases::Format;
using test::BackwardFaults;
using test::HeadProblem;
using test::Target;
using test::UnluckyBackward;
using test::Weights;

namespace {

verdict::Contract exact_fp32() {
  verdict::Contract contract{};
  contract.unit_roundoff = 0x1p-24;
  contract.probability_format = PLUMBLINE_FP32;
  contract.exp_error = 0x1p-20;
  contract.splits = 1;
  return contract;
}

Target random_target(std::mt19937& random, int output, const HeadProblem& x) {
  Target t;
  t.output = static_cast<decltype(t.output)>(output);
  t.row = static_cast<int>(random() % x.rows);
  t.key = static_cast<int>(random() % x.keys);
  t.component = static_cast<int>(random() % x.dim);
  return t;
}

void give_gradient_of_lse(HeadProblem& x, std::mt19937& random, double size) {
  std::normal_distribution<double> normal;
  for (int i = 0; i < x.rows; ++i) x.grad_lse.push_back(static_cast<float>(size * normal(random)));
}

constexpr const char* names[] = {"dQ", "dK", "dV", "a query's parameter", "a head's parameter"};

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_at_the_edge_of_their_contract_stay_within_the_bound_and_come_near_it) {
  std::mt19937 random(11);
  struct Numerics {
    const char* name;
    verdict::Contract contract;
    Format format;
  };
  auto fp32 = exact_fp32(), truncating = fp32, bf16 = fp32, fp16 = fp32, tf32 = fp32, cut = fp32,
       skipping = fp32, summing = fp32, coarse = fp32;
  truncating.unit_roundoff = 0x1p-23;
  truncating.exp_error = 0x1p-10;
  bf16.probability_format = PLUMBLINE_BF16;
  fp16.probability_format = PLUMBLINE_FP16;
  tf32.probability_format = PLUMBLINE_TF32;
  tf32.operand_roundoff = 0x1p-11;
  cut.operand_roundoff = 0x1p-10;
  skipping.skipped_mass = 0x1p-10;
  summing.probability_format = PLUMBLINE_BF16;
  summing.sums_rounded_p = 1;
  coarse.unit_roundoff = 0x1p-20;  // sums alone
  coarse.exp_error = 0;
  const std::vector<Numerics> all{
      {"fp32", fp32, Format::fp32},         {"truncating", truncating, Format::fp32},
      {"bf16", bf16, Format::bf16},         {"fp16", fp16, Format::fp16},
      {"tf32", tf32, Format::tf32},         {"cut to tf32", cut, Format::tf32},
      {"skipping", skipping, Format::fp32}, {"summing rounded P", summing, Format::bf16},
      {"coarse sums", coarse, Format::fp32}};
  for (const auto& [name, contract, format] : all) {
    for (int output = 0; output < 5; ++output) {
      double worst[2] = {};  // by Weights
      for (int n = 0; n < 250; ++n) {
        constexpr double spreads[] = {0.02, 1.0, 3.0, 12.0}, sigmas[] = {1e-7, 1e-5, 1e-2, 1.5};
        HeadProblem x(random, 1 + n % 9, 1 + n % 23, 1 + n % 7, spreads[n % 4], sigmas[n / 4 % 4]);
        if (n % 5 == 0) x.factor = 0.3 + n % 3;
        if (n % 3 == 0) give_gradient_of_lse(x, random, n % 2 == 0 ? 1.0 : 30.0);
        const Target target = random_target(random, output, x);
        for (const auto weights : {Weights::of_saved_output, Weights::recomputed}) {
          x.weights = weights;
          const auto bounds = test::gradient_bounds(x, contract, format);
          const auto exact = test::exact_gradients(x);
          for (int sources : {511, 1, 2, 4, 8, 16, 32, 64, 128, 256}) {
            const double got = UnluckyBackward(x, contract, format, sources, target).run();
            const double bound = bounds.at(target, x.dim);
            const double ratio = std::abs(got - exact.at(target, x.dim)) / bound;
            if (!(ratio <= 1.0)) {
              BOOST_ERROR(name << ", " << names[output] << ", problem " << n << ", sources "
                               << sources << ", weights " << static_cast<int>(weights) << ": "
                               << ratio);
            }
            auto& largest = worst[weights == Weights::recomputed];
            if (std::isfinite(bound)) largest = std::max(largest, ratio);
          }
        }
      }
      BOOST_TEST_MESSAGE(name << ", " << names[output] << ": worst " << worst[0] << ", recomputed "
                              << worst[1]);
      BOOST_TEST_CONTEXT(name << ", " << names[output]) {
        BOOST_TEST(worst[0] > 0.3);
        BOOST_TEST(worst[1] > 0.3);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fault_in_the_backward_pass_exceeds_the_bound) {
  auto bf16 = exact_fp32();
  bf16.probability_format = PLUMBLINE_BF16;
  struct Planted {
    const char* name;
    BackwardFaults faults;
    int caught_fp32, caught_bf16;  ///< of 100 problems
  };
  BackwardFaults slope, scale, scale_more, common, base, dropped;
  slope.slope = 1.01;
  scale.scale = 1.002;  // bf16 itself, u = 2^-8, is off by more
  scale_more.scale = 1.03;
  common.no_common = true;
  base.lse_base_2 = true;
  dropped.dropped_key = 3;
  const Planted planted[] = {
      {"a slope off by 1 %", slope, 100, 100},      {"a scale off by 0.2 %", scale, 100, 0},
      {"a scale off by 3 %", scale_more, 100, 100}, {"no D", common, 100, 100},
      {"the LSE in base 2", base, 100, 100},        {"a key dropped", dropped, 100, 100}};
  for (const auto& [name, faults, caught_fp32, caught_bf16] : planted) {
    for (const Format format : {Format::fp32, Format::bf16}) {
      const auto contract = format == Format::fp32 ? exact_fp32() : bf16;
      std::mt19937 random(5);
      int caught = 0;
      for (int n = 0; n < 100; ++n) {
        const HeadProblem x(random, 12, 20, 8, 1.0, 1e-6);
        const auto bounds = test::gradient_bounds(x, contract, format);
        const auto exact = test::exact_gradients(x);
        bool exceeded = false;
        for (int element = 0; element < 100 && !exceeded; ++element) {
          const Target target = random_target(random, element % 3, x);
          const double got = UnluckyBackward(x, contract, format, 0, target, faults).run();
          exceeded = !(std::abs(got - exact.at(target, x.dim)) <= bounds.at(target, x.dim));
        }
        caught += exceeded;
      }
      BOOST_TEST_CONTEXT(name << (format == Format::fp32 ? ", fp32" : ", bf16")) {
        BOOST_TEST(caught == (format == Format::fp32 ? caught_fp32 : caught_bf16));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
