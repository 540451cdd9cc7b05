// SPDX-License-Identifier: Apache-2.0
// Atomic additions in global memory, as GPUs do them.
#include "core/atomic.cuh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "core/launch.cuh"

BOOST_AUTO_TEST_SUITE(atomic_test)

namespace {

using namespace plumbline::gpu;

constexpr float kLeastNormal = 0x1p-126f;

template <class T>
T sum_of(T first, T second) {
  atomic_add(&first, second);
  return first;
}

// PTX ISA, atom and red: additions of .f32 in global memory flush subnormal inputs and results to
// zero, which keeps its sign; those of .f64 do not.
BOOST_AUTO_TEST_CASE(floats_below_the_normal_numbers_count_as_zero) {
  const float subnormal = 0x1p-127f;
  BOOST_TEST(sum_of(0.0f, subnormal) == 0.0f);
  BOOST_TEST(sum_of(subnormal, 0.0f) == 0.0f);
  BOOST_TEST(sum_of(subnormal, subnormal) == 0.0f);  // though their sum is a normal number
  BOOST_TEST(sum_of(1.5f * kLeastNormal, -kLeastNormal) == 0.0f);
  BOOST_TEST(sum_of(kLeastNormal, -subnormal) == kLeastNormal);
  BOOST_TEST(sum_of(kLeastNormal, kLeastNormal) == 2 * kLeastNormal);
  BOOST_TEST(std::signbit(sum_of(-0.0f, -subnormal)));
  BOOST_TEST(std::signbit(sum_of(-1.5f * kLeastNormal, kLeastNormal)));
  BOOST_TEST(!std::signbit(sum_of(0.0f, -subnormal)));
  BOOST_TEST(std::isnan(sum_of(subnormal, std::nanf(""))));
  BOOST_TEST(sum_of(1.0f, 0x1p-24f) == 1.0f);  // a tie: to even
  BOOST_TEST(sum_of(0.0, 0x1p-1030) == 0x1p-1030);
}

__global__ void add_ones(float* sum) { atomic_add(sum, 1.0f); }

BOOST_AUTO_TEST_CASE(no_addition_of_any_block_is_lost) {
  const Stream stream;
  float sum = 0.0f;
  launch(stream, {dim3{100}, dim3{64}, 0}, add_ones, &sum);
  BOOST_TEST(sum == 6400.0f);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
