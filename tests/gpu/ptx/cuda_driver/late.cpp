// SPDX-License-Identifier: Apache-2.0
// The software device that does what streams are asked for when the host waits, and not before.
#include <algorithm>
#include <cstdlib>

#include "tests/gpu/ptx/cuda_driver/on_driver.hpp"

using namespace plumbline::test;

namespace {

/// The device reads its options when it is first used.
struct IsLate {
  IsLate() { setenv("PLUMBLINE_DEVICE_LATE", "1", 1); }
};
BOOST_TEST_GLOBAL_FIXTURE(IsLate);

/// Two streams that do not wait for the default one, and 100 ones that the host can read at any
/// time.
struct OnStreams : Loaded {
  OnStreams() {
    BOOST_TEST_REQUIRE(cuStreamCreate(&first, 1) == success);
    BOOST_TEST_REQUIRE(cuStreamCreate(&second, 1) == success);
    BOOST_TEST_REQUIRE(cuStreamCreate(&blocking, 0) == success);
    BOOST_TEST_REQUIRE(cuEventCreate(&event, 0) == success);
    BOOST_TEST_REQUIRE(cuMemAllocManaged(&memory, 400, 1) == success);
    std::fill_n(reinterpret_cast<float*>(memory), 100, 1.0F);
  }
  ~OnStreams() {
    cuMemFree_v2(memory);
    cuStreamDestroy_v2(first);
    cuStreamDestroy_v2(second);
    cuStreamDestroy_v2(blocking);
    cuEventDestroy_v2(event);
  }

  /// As it is now.
  float number(int n) const { return reinterpret_cast<const volatile float*>(memory)[n]; }

  Error multiplied(Stream* stream, float by, unsigned n = 100) {
    void* arguments[] = {&memory, &by, &n};
    return cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
  }

  Stream *first = nullptr, *second = nullptr, *blocking = nullptr;
  Event* event = nullptr;
  Function* scale = function("scale");
  Address memory = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_launch_is_done_when_its_stream_is_waited_for, OnStreams) {
  BOOST_TEST(multiplied(first, 2) == success);
  BOOST_TEST(multiplied(second, 3) == success);
  BOOST_TEST(number(99) == 1);
  BOOST_TEST(cuStreamSynchronize(second) == success);
  BOOST_TEST(number(99) == 3);
  BOOST_TEST(cuStreamSynchronize(first) == success);
  BOOST_TEST(number(99) == 6);
}

BOOST_FIXTURE_TEST_CASE(a_stream_comes_after_an_event_of_another, OnStreams) {
  BOOST_TEST(multiplied(first, 2) == success);
  BOOST_TEST(cuEventRecord(event, first) == success);
  BOOST_TEST(multiplied(first, 5) == success);
  BOOST_TEST(cuStreamWaitEvent(second, event, 0) == success);
  BOOST_TEST(multiplied(second, 3) == success);
  BOOST_TEST(number(0) == 1);
  BOOST_TEST(cuStreamSynchronize(second) == success);
  BOOST_TEST(number(0) == 6);  // not what the first stream had after the event
  BOOST_TEST(cuStreamSynchronize(first) == success);
  BOOST_TEST(number(0) == 30);
  BOOST_TEST(cuEventRecord(event, first) == success);
  BOOST_TEST(multiplied(first, 2) == success);
  BOOST_TEST(cuEventQuery(event) == success);
  BOOST_TEST(number(0) == 30);
}

BOOST_FIXTURE_TEST_CASE(the_default_stream_and_blocking_ones_keep_their_order, OnStreams) {
  BOOST_TEST(multiplied(blocking, 2) == success);
  BOOST_TEST(multiplied(nullptr, 3) == success);
  BOOST_TEST(number(0) == 1);
  BOOST_TEST(cuStreamSynchronize(nullptr) == success);
  BOOST_TEST(number(0) == 6);
}

BOOST_FIXTURE_TEST_CASE(copies_that_cuda_ends_at_once_come_after_their_stream, OnStreams) {
  float copy = 0;
  BOOST_TEST(multiplied(first, 2) == success);
  // To memory that CUDA does not know, which it has ended when it returns.
  BOOST_TEST(cuMemcpyDtoHAsync_v2(&copy, memory, sizeof copy, first) == success);
  BOOST_TEST(copy == 2);
  void* pinned = nullptr;
  BOOST_TEST(cuMemHostAlloc(&pinned, 400, 0) == success);
  const auto there = [&] { return *static_cast<const volatile float*>(pinned); };
  *static_cast<float*>(pinned) = 0;
  BOOST_TEST(cuMemcpyDtoHAsync_v2(pinned, memory, 400, first) == success);
  BOOST_TEST(there() == 0);
  BOOST_TEST(cuStreamSynchronize(first) == success);
  BOOST_TEST(there() == 2);
  BOOST_TEST(cuMemFreeHost(pinned) == success);
}

BOOST_FIXTURE_TEST_CASE(what_waits_for_the_device_leaves_nothing_to_do, OnStreams) {
  BOOST_TEST(multiplied(first, 2) == success);
  BOOST_TEST(multiplied(second, 2) == success);
  BOOST_TEST(cuMemsetD8_v2(memory, 0, 4) == success);
  BOOST_TEST(number(0) == 0);
  BOOST_TEST(number(1) == 4);
  BOOST_TEST(cuMemsetD32Async(memory, 0, 100, first) == success);
  BOOST_TEST(number(1) == 4);
  OnDevice other(4);  // cudaMalloc may wait, and need not
  BOOST_TEST(cuStreamDestroy_v2(first) == success);
  BOOST_TEST(number(1) == 0);
  BOOST_TEST_REQUIRE(cuStreamCreate(&first, 1) == success);
}

BOOST_FIXTURE_TEST_CASE(what_cuda_refuses_is_refused_at_once, OnStreams) {
  unsigned n = 100;
  float by = 2;
  void* arguments[] = {&memory, &by, &n};
  BOOST_TEST(cuLaunchKernel(scale, 1, 1, 1, 2000, 1, 1, 0, first, arguments, nullptr) != success);
  BOOST_TEST(multiplied(first, 2) == success);
  BOOST_TEST(cuStreamSynchronize(first) == success);
  BOOST_TEST(number(0) == 2);
}

BOOST_FIXTURE_TEST_CASE(events_tell_when_they_were_reached, OnStreams) {
  Event* last = nullptr;
  BOOST_TEST(cuEventCreate(&last, 0) == success);
  BOOST_TEST(cuEventRecord(event, first) == success);
  for (int n = 0; n < 20; ++n) BOOST_TEST(multiplied(first, 1) == success);
  BOOST_TEST(cuEventRecord(last, first) == success);
  float milliseconds = 0;
  BOOST_TEST(cuEventElapsedTime_v2(&milliseconds, event, last) == success);
  BOOST_TEST(milliseconds > 0);
  BOOST_TEST(cuEventDestroy_v2(last) == success);
}

BOOST_FIXTURE_TEST_CASE(a_fault_is_told_by_the_call_that_waits, OnStreams) {
  BOOST_TEST(multiplied(first, 2, 128) == success);  // beyond the end
  BOOST_TEST(multiplied(first, 2) == success);
  BOOST_TEST(cuStreamSynchronize(first) != success);
  BOOST_TEST(cuStreamSynchronize(second) != success);  // the context has ended
}
