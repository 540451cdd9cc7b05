// SPDX-License-Identifier: Apache-2.0
// A sum and a conversion are one rounding each: the expected bits come from double arithmetic and
// the definition of the formats.
#include <limits>

#include "ops/cast.cuh"
#include "ops/residual.cuh"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"

BOOST_AUTO_TEST_SUITE(residual_and_cast_test)

using namespace plumbline;
using namespace plumbline::op_tests;

namespace {

/// x rounded to `precision` bits, to nearest, ties to even, with no exponent below `lowest`.
double nearest(double x, int precision, int lowest, double largest) {
  if (x == 0.0 || std::isinf(x)) return x;
  const int exponent = std::max(std::ilogb(x), lowest);
  const double unit = std::ldexp(1.0, exponent - precision + 1);
  const double y = std::nearbyint(x / unit) * unit;
  return std::fabs(y) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : y;
}
double nearest_bf16(double x) { return nearest(x, 8, -126, 0x1.fep127); }
double nearest_fp16(double x) { return nearest(x, 11, -14, 65504); }
double nearest_fp32(double x) { return nearest(x, 24, -126, 0x1.fffffep127); }

/// Every magnitude, ties between neighbours of the formats, and what neither has.
std::vector<double> numbers_of_every_kind(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  std::vector<double> x;
  for (int n = 0; n < 1500; ++n) {
    double y = std::exp2(numbers.between(-149, 127.99));
    if (n % 3 == 0) y = std::exp2(numbers.between(-27, 17));
    if (n % 5 == 0) y = nearest_bf16(y) * (1 + 0x1p-8 * std::round(numbers.between(0, 3)));
    if (n % 7 == 0) y = nearest_fp16(y) * (1 + 0x1p-11 * std::round(numbers.between(0, 3)));
    x.push_back(numbers.between(0, 1) < 0.5 ? -y : y);
  }
  for (const double edge :
       {0.0, -0.0, 65504.0, 65519.0, 65520.0, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-133, 0x1p-134,
        0x1.8p-134, 0x1.ffp127, 0x1.fefffep127, 0x1p-149, std::numeric_limits<double>::infinity()})
    x.push_back(edge);
  return representable<float>(x);
}

template <class Element>
void check_cast(double (*expected)(double)) {
  for_seeds(3, [&](std::uint64_t seed) {
    const gpu::Stream stream;
    const std::vector<double> x = numbers_of_every_kind(seed);
    const auto dev_x = on_device<float>(x);
    const Device<Element> narrow(x.size());
    const Device<float> wide(x.size());
    gpu::cast(stream, dev_x.data(), narrow.data(), x.size());
    gpu::cast(stream, narrow.data(), wide.data(), x.size());
    const auto got = wide.numbers();
    for (std::size_t n = 0; n < x.size(); ++n)
      BOOST_TEST_REQUIRE(got[n] == expected(x[n]), "x = " << x[n] << " became " << got[n]);
  });
}

BOOST_AUTO_TEST_CASE(casts_round_to_nearest_and_widen_exactly) {
  check_cast<gpu::bfloat16>(nearest_bf16);
  check_cast<gpu::float16>(nearest_fp16);
}

template <class Element>
void check_add(double (*expected)(double)) {
  for_seeds(3, [&](std::uint64_t seed) {
    const gpu::Stream stream;
    const auto x = representable<Element>(numbers_of_every_kind(seed));
    auto update = representable<Element>(numbers_of_every_kind(seed + 50));
    for (std::size_t n = 0; n < x.size(); n += 2) update[n] = expected(x[n] * -0.75);  // cancels
    const auto dev_x = on_device<Element>(x), dev_update = on_device<Element>(update);
    const Device<Element> dev_y(x.size());
    gpu::add(stream, dev_x.data(), dev_update.data(), dev_y.data(), x.size());
    const auto y = dev_y.numbers();
    for (std::size_t n = 0; n < x.size(); ++n) {
      // The double holds the sum exactly, or closer than fp32's next rounding can tell.
      const double sum = expected(nearest_fp32(x[n] + update[n]));
      BOOST_TEST_REQUIRE((y[n] == sum || (std::isnan(y[n]) && std::isnan(sum))),
                         x[n] << " + " << update[n] << " became " << y[n]);
    }
  });
}

BOOST_AUTO_TEST_CASE(the_residual_sum_is_rounded_to_fp32_and_then_to_the_format) {
  check_add<float>(nearest_fp32);
  check_add<gpu::bfloat16>(nearest_bf16);
  check_add<gpu::float16>(nearest_fp16);
}

BOOST_AUTO_TEST_CASE(a_null_array_is_refused) {
  const gpu::Stream stream;
  const Device<float> x(4);
  const Device<gpu::bfloat16> narrow(4);
  const float* none = nullptr;
  BOOST_CHECK_EXCEPTION(gpu::add(stream, x.data(), none, x.data(), 4), std::invalid_argument,
                        says("update is null"));
  BOOST_CHECK_EXCEPTION(gpu::cast(stream, none, narrow.data(), 4), std::invalid_argument,
                        says("x is null"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
