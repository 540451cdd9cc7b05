// SPDX-License-Identifier: Apache-2.0
#include "core/cp_async.cuh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/launch.cuh"
#include "core/shared_memory.cuh"

BOOST_AUTO_TEST_SUITE(cp_async_test)

namespace {

using namespace plumbline::gpu;

constexpr int kThreads = 32;
constexpr int kStages = 3;

/// Every thread copies four floats a stage, two stages ahead, and sums those of its neighbour.
template <int pending>
__global__ void pipeline(const float* in, float* sums, int stages) {
  SharedMemory shared;
  float* buffer = shared.take<float>(kStages * 4 * kThreads);
  const int thread = static_cast<int>(threadIdx.x);
  const auto issue = [&](int stage) {
    if (stage < stages)
      cp_async_16(buffer + (stage % kStages * kThreads + thread) * 4,
                  in + (stage * kThreads + thread) * 4);
    cp_async_commit();
  };
  issue(0);
  issue(1);
  float sum = 0.0f;
  for (int stage = 0; stage < stages; ++stage) {
    cp_async_wait<pending>();
    __syncthreads();
    const float* mine = buffer + (stage % kStages * kThreads + (thread + 1) % kThreads) * 4;
    for (int n = 0; n < 4; ++n) sum += mine[n];
    issue(stage + 2);
  }
  sums[thread] = sum;
}

std::vector<float> sums_of_pipeline(void (*kernel)(const float*, float*, int)) {
  const int stages = 7;
  std::vector<float> in(stages * 4 * kThreads), sums(kThreads);
  std::iota(in.begin(), in.end(), 0.0f);
  const Stream stream;
  launch(stream, {dim3{1}, dim3{kThreads}, shared_bytes<float>(kStages * 4 * kThreads)}, kernel,
         in.data(), sums.data(), stages);
  return sums;
}

BOOST_AUTO_TEST_CASE(a_pipeline_of_three_stages_reads_every_copy) {
  const std::vector<float> sums = sums_of_pipeline(pipeline<1>);
  for (int thread = 0; thread < kThreads; ++thread) {
    float expected = 0.0f;
    for (int stage = 0; stage < 7; ++stage)
      for (int n = 0; n < 4; ++n)
        expected += static_cast<float>((stage * kThreads + (thread + 1) % kThreads) * 4 + n);
    BOOST_TEST(sums[thread] == expected);
  }
}

BOOST_AUTO_TEST_CASE(a_wait_for_too_few_groups_is_seen_as_nan) {
  for (const float sum : sums_of_pipeline(pipeline<2>)) BOOST_TEST(std::isnan(sum));
}

__global__ void zero_fill(const float* in, float* out, int bytes, bool wait) {
  SharedMemory shared;
  float* buffer = shared.take<float>(4);
  for (int n = 0; n < 4; ++n) buffer[n] = 7.0f;
  cp_async_16(buffer, in, bytes);
  cp_async_commit();
  if (wait) cp_async_wait<0>();
  for (int n = 0; n < 4; ++n) out[n] = buffer[n];
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_read_are_zero) {
  const Stream stream;
  alignas(16) const float in[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  for (int values = 0; values <= 4; ++values) {
    float out[4];
    launch(stream, {dim3{1}, dim3{1}, 16}, zero_fill, &in[0], &out[0], 4 * values, true);
    for (int n = 0; n < 4; ++n) BOOST_TEST(out[n] == (n < values ? in[n] : 0.0f));
  }
}

BOOST_AUTO_TEST_CASE(a_missing_wait_is_seen_as_nan) {
  const Stream stream;
  alignas(16) const float in[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  float out[4];
  launch(stream, {dim3{1}, dim3{1}, 16}, zero_fill, &in[0], &out[0], 16, false);
  for (const float x : out) BOOST_TEST(std::isnan(x));
}

BOOST_AUTO_TEST_CASE(a_copy_off_the_boundary_is_reported) {
  const Stream stream;
  alignas(16) const float in[8] = {};
  float out[4];
  std::string message;
  try {
    launch(stream, {dim3{1}, dim3{1}, 16}, zero_fill, in + 1, &out[0], 12, true);
  } catch (const plumbline::emulation::Error& error) {
    message = error.what();
  }
  BOOST_TEST(message.find("16-byte boundary") != std::string::npos);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
