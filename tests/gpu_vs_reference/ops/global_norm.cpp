// SPDX-License-Identifier: Apache-2.0
#include "ops/global_norm.cuh"

#include <limits>

#include "reference/optimizer/clip.hpp"
#include "reference/scalars/mpreal.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/optimizer.hpp"

BOOST_AUTO_TEST_SUITE(global_norm_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::MpReal;

namespace {

using Tensors = std::vector<std::vector<double>>;

struct Result {
  double norm;
  float factor;
};

Result clip(const Tensors& tensors, const gpu::Clipping& clipping) {
  const gpu::Stream stream;
  std::vector<Device<float>> on;
  std::vector<gpu::GradientArray> arrays;
  for (const auto& tensor : tensors) on.push_back(on_device<float>(tensor));
  for (const auto& tensor : on) arrays.push_back({tensor.data(), tensor.values().size()});
  const Device<double> parts(gpu::global_norm_parts(arrays)), norm(1);
  const Device<float> factor(1);
  gpu::global_norm(stream, clipping, arrays, parts.data(), norm.data(), factor.data());
  return {norm.values()[0], factor.values()[0]};
}

MpReal exact_norm(const Tensors& tensors) {
  reference::GlobalNorm<MpReal> norm;
  for (const auto& tensor : tensors) norm.add(reference::lifted<MpReal>(tensor));
  return norm.value();
}

/// A thread's 16 elements of a chunk, a warp's lanes, the block's 8 warps; then the same over the
/// chunks.
double chain(const Tensors& tensors) {
  double parts = 0;
  for (const auto& tensor : tensors) parts += std::ceil(tensor.size() / 4096.0);
  return 16 + 5 + 8 + std::ceil(parts / 256) + 5 + 8;
}

Tensors random_tensors(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  constexpr int sizes[] = {1, 2, 255, 256, 257, 4095, 4096, 4097, 9000};
  Tensors tensors(static_cast<std::size_t>(numbers.between(1, 5.99)));
  const double scale = std::exp2(numbers.between(-100, 100));
  for (auto& tensor : tensors) {
    tensor = numbers.between(-1, 1, sizes[static_cast<int>(numbers.between(0, 8.99))]);
    for (double& x : tensor) x *= scale * std::exp2(numbers.between(-10, 0));
    tensor = representable<float>(tensor);
  }
  return tensors;
}

BOOST_AUTO_TEST_CASE(norm_and_factor_are_within_their_bounds) {
  Comparison factors("clip factor");
  double worst = 0;
  for_seeds(20, [&](std::uint64_t seed) {
    const Tensors tensors = random_tensors(seed);
    const MpReal norm = exact_norm(tensors);
    // Around the norm, where clipping begins, and far below.
    reference::Numbers numbers(seed + 1000);
    const gpu::Clipping clipping{norm.convert_to<double>() * std::exp2(numbers.between(-6, 1)),
                                 numbers.between(0, 1) < 0.5 ? 0.0 : 1e-6};
    const Result got = clip(tensors, clipping);
    const double bound = op_bounds::global_norm_error(chain(tensors));
    const double error = (abs(MpReal(got.norm) - norm) / norm).convert_to<double>();
    BOOST_TEST(error <= bound, "norm " << got.norm << " is off by " << error);
    worst = std::max(worst, error / bound);
    const MpReal exact =
        reference::clip_factor(norm, MpReal(clipping.max_norm), MpReal(clipping.epsilon));
    const double value = exact.convert_to<double>();
    factors.element(0, got.factor, {value, value * 0x1p-53},
                    value * op_bounds::clip_factor_error(chain(tensors)));
  });
  BOOST_TEST_MESSAGE("global norm: largest error / limit " << worst);
  if (!std::getenv("PLUMBLINE_OP_SEED")) BOOST_TEST(worst > 0.02);
  factors.finish(0.2);
}

BOOST_AUTO_TEST_CASE(numbers_whose_squares_fp32_does_not_have_count) {
  BOOST_TEST(clip({{3e30, 4e30}}, {1.0}).norm == std::hypot(double(3e30f), double(4e30f)),
             boost::test_tools::tolerance(1e-15));
  BOOST_TEST(clip({{0x1p-149, 0x1p-149, 0x1p-149, 0x1p-149}}, {1.0}).norm == 0x1p-148);
  BOOST_TEST(clip({{0x1p-149}}, {1.0}).factor == 1.0f);
}

BOOST_AUTO_TEST_CASE(a_norm_of_zero_clips_nothing) {
  for (const Tensors& tensors : {Tensors{}, Tensors{{}}, Tensors{{0.0, -0.0}, {}, {0.0}}}) {
    const Result got = clip(tensors, {1.0});
    BOOST_TEST(got.norm == 0.0);
    BOOST_TEST(got.factor == 1.0f);
  }
}

BOOST_AUTO_TEST_CASE(gradients_that_are_not_finite_do_not_pass_unnoticed) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(clip({{1.0, infinity}}, {1.0}).norm == infinity);
  BOOST_TEST(std::isnan(clip({{1.0, infinity}}, {1.0}).factor));
  BOOST_TEST(std::isnan(clip({{1.0, std::nan("")}}, {1.0}).factor));
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_and_workers) {
  const Tensors tensors = {reference::Numbers(1).between(-1, 1, 30000),
                           reference::Numbers(2).between(-9, 9, 5000)};
  expect_same_bits([&] { return std::vector<double>{clip(tensors, {1.0}).norm}; });
}

BOOST_AUTO_TEST_CASE(limits_that_are_none_are_refused) {
  for (const double most : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    BOOST_CHECK_EXCEPTION(clip({{1.0}}, {most}), std::invalid_argument, says("max_norm is"));
  BOOST_CHECK_EXCEPTION(clip({{1.0}}, {1.0, -1.0}), std::invalid_argument, says("epsilon is -1"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
