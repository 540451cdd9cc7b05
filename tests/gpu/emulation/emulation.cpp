// SPDX-License-Identifier: Apache-2.0
// The emulator does what CUDA does, and tells where CUDA would hang or stay silent.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/launch.cuh"
#include "core/shared_memory.cuh"
#include "core/warp.cuh"

BOOST_AUTO_TEST_SUITE(emulation_test)

namespace {

using namespace plumbline::gpu;
using plumbline::emulation::Error;

/// The message with which a launch fails, or an empty string.
template <class... Parameters, class... Arguments>
std::string failure(const LaunchShape& shape, void (*kernel)(Parameters...),
                    Arguments... arguments) {
  const Stream stream;
  try {
    launch(stream, shape, kernel, arguments...);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

__global__ void reverse(const int* in, int* out) {
  SharedMemory shared;
  int* values = shared.take<int>(blockDim.x);
  values[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

BOOST_AUTO_TEST_CASE(a_block_reverses_its_values_through_shared_memory) {
  std::vector<int> in(5 * 96), out(in.size(), -1);
  std::iota(in.begin(), in.end(), 0);
  const Stream stream;
  launch(stream, {dim3{5}, dim3{96}, shared_bytes<int>(96)}, reverse, in.data(), out.data());
  for (int block = 0; block < 5; ++block)
    for (int n = 0; n < 96; ++n) BOOST_TEST(out[block * 96 + n] == block * 96 + 95 - n);
}

__global__ void indices(int* out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  ++out[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

BOOST_AUTO_TEST_CASE(every_thread_of_every_block_runs_once) {
  std::vector<int> out(2 * 3 * 4 * 2 * 3 * 4);
  const Stream stream;
  launch(stream, {dim3{2, 3, 4}, dim3{4, 3, 2}, 0}, indices, out.data());
  for (const int count : out) BOOST_TEST(count == 1);
}

BOOST_AUTO_TEST_CASE(launches_of_several_host_threads_each_end_with_all_their_blocks) {
  std::atomic<int> short_launches{0};
  std::vector<std::thread> hosts;
  for (int host = 0; host < 4; ++host)
    hosts.emplace_back([&] {
      const Stream stream;
      for (int n = 0; n < 300; ++n) {
        std::vector<int> out(8 * 32);
        launch(stream, {dim3{8}, dim3{32}, 0}, indices, out.data());
        if (std::count(out.begin(), out.end(), 1) != 8 * 32) ++short_launches;
      }
    });
  for (std::thread& host : hosts) host.join();
  BOOST_TEST(short_launches == 0);
}

__global__ void shuffles(int* exchanged, double* lower) {
  const int thread = static_cast<int>(threadIdx.x);
  exchanged[thread] = shuffle_xor(100 + thread, 5);
  lower[thread] = shuffle_up(0.5 + thread, 3);
}

BOOST_AUTO_TEST_CASE(shuffles_exchange_values_within_a_warp_only) {
  std::vector<int> exchanged(64);
  std::vector<double> lower(64);
  const Stream stream;
  launch(stream, {dim3{1}, dim3{64}, 0}, shuffles, exchanged.data(), lower.data());
  for (int n = 0; n < 64; ++n) {
    BOOST_TEST(exchanged[n] == 100 + (n ^ 5));
    BOOST_TEST(lower[n] == 0.5 + (n % 32 < 3 ? n : n - 3));
  }
}

struct Difference {  // which side a value is on matters
  float operator()(float a, float b) const { return a - b / 3.0f; }
};

__global__ void meetings_and_shuffles(float* met, float* shuffled, double* scan,
                                      double* shuffled_scan) {
  const unsigned thread = threadIdx.x, lane = lane_index();
  const float own = 1.0f / static_cast<float>(thread + 3);
  met[thread] = butterfly<4, 1, 16>(own, Difference());
  float value = own;
  for (const unsigned mask : {4u, 1u, 16u}) value = Difference()(value, shuffle_xor(value, mask));
  shuffled[thread] = value;
  scan[thread] = lanes_scan(1.0 / (thread + 3));
  double sum = 1.0 / (thread + 3);
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    const double lower = shuffle_up(sum, delta);
    if (lane >= delta) sum += lower;
  }
  shuffled_scan[thread] = sum;
}

BOOST_AUTO_TEST_CASE(lanes_that_meet_once_compute_the_bits_of_their_shuffles) {
  const Stream stream;
  std::vector<float> met(64), shuffled(64);
  std::vector<double> scan(64), shuffled_scan(64);
  launch(stream, {dim3{1}, dim3{64}, 0}, meetings_and_shuffles, met.data(), shuffled.data(),
         scan.data(), shuffled_scan.data());
  BOOST_TEST(met == shuffled);
  BOOST_TEST(scan == shuffled_scan);
  BOOST_TEST(met[0] != met[1]);
}

__global__ void shuffle_in_a_plane(unsigned* lower) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  lower[thread] = shuffle_up(thread, 3);
}

BOOST_AUTO_TEST_CASE(lanes_are_counted_along_the_whole_block) {
  std::vector<unsigned> lower(64);
  const Stream stream;
  launch(stream, {dim3{1}, dim3{8, 4, 2}, 0}, shuffle_in_a_plane, lower.data());
  for (unsigned n = 0; n < 64; ++n) BOOST_TEST(lower[n] == (n % 32 < 3 ? n : n - 3));
}

constexpr int kFirstBarrier = __LINE__ + 5;
constexpr int kSecondBarrier = __LINE__ + 6;

__global__ void two_barriers() {
  if (threadIdx.x < 40)
    __syncthreads();
  else
    __syncthreads();
}

BOOST_AUTO_TEST_CASE(a_barrier_reached_at_two_lines_is_reported_with_both) {
  const std::string message = failure({dim3{2}, dim3{64}, 0}, two_barriers);
  BOOST_TEST_CONTEXT(message) {
    BOOST_TEST(contains(message, "divergent barrier in block (0,0,0)"));
    BOOST_TEST(contains(message, "thread (0,0,0) waits at"));
    BOOST_TEST(contains(message, "thread (40,0,0) waits at"));
    BOOST_TEST(contains(message, "emulation.cpp:" + std::to_string(kFirstBarrier)));
    BOOST_TEST(contains(message, "emulation.cpp:" + std::to_string(kSecondBarrier)));
  }
}

__global__ void early_return() {
  if (threadIdx.x == 7) return;
  __syncthreads();
}

BOOST_AUTO_TEST_CASE(a_thread_that_returned_before_the_barrier_is_reported) {
  const std::string message = failure({dim3{1}, dim3{64}, 0}, early_return);
  BOOST_TEST_CONTEXT(message) {
    BOOST_TEST(contains(message, "divergent barrier"));
    BOOST_TEST(contains(message, "thread (7,0,0) has returned"));
  }
}

__global__ void shuffle_by_half_a_warp(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = shuffle_xor(1, 1);
}

BOOST_AUTO_TEST_CASE(a_shuffle_without_the_whole_warp_is_reported) {
  std::vector<int> out(16);
  const std::string message = failure({dim3{1}, dim3{32}, 0}, shuffle_by_half_a_warp, out.data());
  BOOST_TEST_CONTEXT(message) {
    BOOST_TEST(contains(message, "divergent warp collective"));
    BOOST_TEST(contains(message, "thread (16,0,0) has returned"));
  }
}

__global__ void write_then_read_unwritten(float* out, bool write) {
  SharedMemory shared;
  float* values = shared.take<float>(32);
  if (write) values[threadIdx.x] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = values[31 - threadIdx.x];
}

BOOST_AUTO_TEST_CASE(unwritten_shared_memory_is_nan_in_every_block) {
  const Stream stream;
  std::vector<float> out(32);
  const LaunchShape shape{dim3{1}, dim3{32}, shared_bytes<float>(32)};
  launch(stream, shape, write_then_read_unwritten, out.data(), true);
  for (const float x : out) BOOST_TEST(x == 1.0f);
  // What the block before left there must not shine through.
  launch(stream, shape, write_then_read_unwritten, out.data(), false);
  for (const float x : out) BOOST_TEST(std::isnan(x));
}

__global__ void take_too_much(float* out) {
  SharedMemory shared;
  shared.take<float>(32);
  *out = static_cast<float>(shared.take<double>(3) != nullptr);
}

BOOST_AUTO_TEST_CASE(more_shared_memory_than_the_launch_gave_is_reported) {
  float out = 0.0f;
  const std::string message =
      failure({dim3{1}, dim3{1}, shared_bytes<float>(32) + 16}, take_too_much, &out);
  BOOST_TEST_CONTEXT(message) {
    BOOST_TEST(contains(message, "need 160 bytes, the launch gave 144"));
  }
}

__global__ void nothing() {}

BOOST_AUTO_TEST_CASE(launches_beyond_the_limits_are_refused) {
  BOOST_TEST(failure({dim3{1}, dim3{1024}, 0}, nothing) == "");
  BOOST_TEST(contains(failure({dim3{1}, dim3{1025}, 0}, nothing), "1024 threads"));
  BOOST_TEST(contains(failure({dim3{1}, dim3{32, 33}, 0}, nothing), "1024 threads"));
  BOOST_TEST(contains(failure({dim3{0}, dim3{1}, 0}, nothing), "no threads"));
  BOOST_TEST(contains(failure({dim3{1, 65536}, dim3{1}, 0}, nothing), "grid is too large"));
  BOOST_TEST(contains(failure({dim3{1}, dim3{1}, 166913}, nothing), "shared memory"));
}

/// Writes the order in which the threads ran: a race on purpose.
__global__ void record_order(int* order, int* next) { order[(*next)++] = threadIdx.x; }

std::vector<int> order_of(std::uint64_t seed) {
  const std::uint64_t before = plumbline::emulation::thread_order_seed();
  plumbline::emulation::set_thread_order_seed(seed);
  std::vector<int> order(128);
  int next = 0;
  const Stream stream;
  launch(stream, {dim3{1}, dim3{128}, 0}, record_order, order.data(), &next);
  plumbline::emulation::set_thread_order_seed(before);
  return order;
}

BOOST_AUTO_TEST_CASE(the_seed_decides_the_order_of_the_threads) {
  const std::vector<int> order = order_of(5);
  BOOST_TEST(order == order_of(5));
  BOOST_TEST(order != order_of(6));
  std::vector<int> sorted = order, all(128);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  BOOST_TEST(sorted == all);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
