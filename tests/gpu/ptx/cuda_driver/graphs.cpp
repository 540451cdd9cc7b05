// SPDX-License-Identifier: Apache-2.0
// CUDA's driver on the software device: streams, events, and graphs that are captured.
#include "tests/gpu/ptx/cuda_driver/on_driver.hpp"

using namespace plumbline::test;

namespace {

struct OnStreams : Loaded {
  OnStreams() {
    BOOST_TEST_REQUIRE(cuStreamCreate(&first, 1) == success);
    BOOST_TEST_REQUIRE(cuStreamCreate(&second, 1) == success);
    BOOST_TEST_REQUIRE(cuEventCreate(&event, 0) == success);
  }
  ~OnStreams() {
    cuStreamDestroy_v2(first);
    cuStreamDestroy_v2(second);
    cuEventDestroy_v2(event);
  }

  /// 100 numbers at `memory` times 2.
  Error doubled(Stream* stream) {
    Address pointer = memory.at;
    float by = 2;
    unsigned n = 100;
    void* arguments[] = {&pointer, &by, &n};
    return cuLaunchKernel(function("scale"), 4, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
  }

  Stream *first = nullptr, *second = nullptr;
  Event* event = nullptr;
  OnDevice memory{400};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(streams_and_events_are_looked_up, OnStreams) {
  BOOST_TEST(cuStreamSynchronize(first) == success);
  BOOST_TEST(cuStreamSynchronize(nullptr) == success);
  BOOST_TEST(cuStreamSynchronize(reinterpret_cast<Stream*>(2)) == success);
  BOOST_TEST(cuStreamSynchronize(reinterpret_cast<Stream*>(event)) ==
             Error::invalid_resource_handle);
  BOOST_TEST(cuStreamCreate(&second, 7) == Error::invalid_value);
  BOOST_TEST(cuStreamCreate(nullptr, 0) == Error::invalid_value);
  Event* later = nullptr;
  float milliseconds = -1;
  BOOST_TEST(cuEventCreate(&later, 0) == success);
  BOOST_TEST(cuEventElapsedTime_v2(&milliseconds, event, later) == Error::invalid_resource_handle);
  BOOST_TEST(cuEventRecord(event, first) == success);
  BOOST_TEST(cuEventRecord(later, first) == success);
  BOOST_TEST(cuEventQuery(later) == success);
  BOOST_TEST(cuEventElapsedTime_v2(&milliseconds, event, later) == success);
  BOOST_TEST(milliseconds >= 0);
  BOOST_TEST(cuEventDestroy_v2(later) == success);
  BOOST_TEST(cuEventRecord(later, first) == Error::invalid_resource_handle);
  BOOST_TEST(cuEventRecord(nullptr, first) == Error::invalid_resource_handle);
}

BOOST_FIXTURE_TEST_CASE(what_is_captured_runs_when_the_graph_is_launched, OnStreams) {
  auto values = counted(100);
  std::vector<float> back(100, -1);
  int calls = 0;
  BOOST_TEST(cuStreamBeginCapture_v2(first, CaptureMode::global) == success);
  BOOST_TEST(cuStreamBeginCapture_v2(first, CaptureMode::global) == Error::invalid_value);
  CaptureStatus status{};
  BOOST_TEST(cuStreamIsCapturing(first, &status) == success);
  BOOST_TEST((status == CaptureStatus::active));
  BOOST_TEST(cuMemcpyHtoDAsync_v2(memory.at, values.data(), 400, first) == success);
  BOOST_TEST(cuMemsetD32Async(memory.at, 0x40400000, 1, first) == success);  // 3
  BOOST_TEST(doubled(first) == success);
  BOOST_TEST(cuMemcpyDtoHAsync_v2(back.data(), memory.at, 400, first) == success);
  BOOST_TEST(cuLaunchHostFunc(
                 first, [](void* n) { ++*static_cast<int*>(n); }, &calls) == success);
  Graph* graph = nullptr;
  BOOST_TEST(cuStreamEndCapture(first, &graph) == success);
  BOOST_TEST(back[0] == -1);  // nothing ran yet
  BOOST_TEST(calls == 0);
  std::size_t count = 0;
  BOOST_TEST(cuGraphGetNodes(graph, nullptr, &count) == success);
  BOOST_TEST(count == 5U);
  const Node* nodes[5];
  BOOST_TEST(cuGraphGetNodes(graph, nodes, &count) == success);
  NodeType type{};
  BOOST_TEST(cuGraphNodeGetType(nodes[2], &type) == success);
  BOOST_TEST((type == NodeType::kernel));
  GraphExec* exec = nullptr;
  BOOST_TEST(cuGraphInstantiateWithFlags(&exec, graph, 0) == success);
  BOOST_TEST(cuGraphDestroy(graph) == success);
  BOOST_TEST(cuGraphDestroy(graph) == Error::invalid_value);
  for (int n = 1; n <= 2; ++n) {
    values[1] = static_cast<float>(10 * n);  // read anew by each launch
    BOOST_TEST(cuGraphLaunch(exec, second) == success);
    auto expected = values;
    expected[0] = 3;
    for (float& value : expected) value *= 2;
    BOOST_TEST(back == expected, boost::test_tools::per_element());
    BOOST_TEST(calls == n);
  }
  BOOST_TEST(cuGraphExecDestroy(exec) == success);
  BOOST_TEST(cuGraphLaunch(exec, second) == Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(a_capture_goes_over_to_streams_that_wait_for_it, OnStreams) {
  const auto values = counted(100);
  BOOST_TEST(cuMemcpyHtoD_v2(memory.at, values.data(), 400) == success);
  BOOST_TEST(cuStreamBeginCapture_v2(first, CaptureMode::relaxed) == success);
  BOOST_TEST(doubled(first) == success);
  BOOST_TEST(cuEventRecord(event, first) == success);
  BOOST_TEST(cuStreamWaitEvent(second, event, 0) == success);
  BOOST_TEST(doubled(second) == success);
  Graph* graph = nullptr;
  BOOST_TEST(cuStreamEndCapture(second, &graph) == Error::capture_unmatched);
  BOOST_TEST(cuEventRecord(event, second) == success);
  BOOST_TEST(cuStreamWaitEvent(first, event, 0) == success);
  BOOST_TEST(cuStreamEndCapture(first, &graph) == success);
  BOOST_TEST(read<float>(memory.at, 2)[1] == 2);
  GraphExec* exec = nullptr;
  BOOST_TEST(cuGraphInstantiateWithFlags(&exec, graph, 0) == success);
  BOOST_TEST(cuGraphLaunch(exec, nullptr) == success);
  BOOST_TEST(read<float>(memory.at, 2)[1] == 8);
  BOOST_TEST(doubled(second) == success);  // no longer captured
  BOOST_TEST(read<float>(memory.at, 2)[1] == 16);

  BOOST_TEST(cuStreamBeginCapture_v2(first, CaptureMode::relaxed) == success);
  BOOST_TEST(cuEventRecord(event, first) == success);
  BOOST_TEST(cuStreamWaitEvent(second, event, 0) == success);
  BOOST_TEST(doubled(second) == success);
  BOOST_TEST(cuStreamEndCapture(first, &graph) == Error::capture_unjoined);
  BOOST_TEST(cuGraphExecDestroy(exec) == success);
}

BOOST_FIXTURE_TEST_CASE(what_may_not_be_done_in_a_capture_ends_it, OnStreams) {
  Graph* graph = nullptr;
  Address at = 0;
  const auto begin = [&] {
    BOOST_TEST(cuStreamBeginCapture_v2(first, CaptureMode::global) == success);
  };
  const auto end = [&] { return cuStreamEndCapture(first, &graph); };
  begin();
  BOOST_TEST(cuStreamSynchronize(first) == Error::capture_unsupported);
  BOOST_TEST(doubled(first) == Error::capture_invalidated);
  BOOST_TEST(end() == Error::capture_invalidated);
  begin();
  BOOST_TEST(cuMemAlloc_v2(&at, 4) == Error::capture_unsupported);
  BOOST_TEST(end() == Error::capture_invalidated);
  begin();
  BOOST_TEST(cuCtxSynchronize() == Error::capture_unsupported);
  BOOST_TEST(end() == Error::capture_invalidated);
  BOOST_TEST(cuStreamBeginCapture_v2(first, CaptureMode::relaxed) == success);
  BOOST_TEST(cuMemAlloc_v2(&at, 4) == success);
  BOOST_TEST(cuMemFree_v2(at) == success);
  BOOST_TEST(end() == success);
  BOOST_TEST(cuGraphDestroy(graph) == success);
  // A stream that waits for the default one.
  Stream* blocking = nullptr;
  BOOST_TEST(cuStreamCreate(&blocking, 0) == success);
  BOOST_TEST(cuStreamBeginCapture_v2(blocking, CaptureMode::relaxed) == success);
  BOOST_TEST(doubled(nullptr) == Error::capture_implicit);
  BOOST_TEST(cuStreamEndCapture(blocking, &graph) == Error::capture_invalidated);
  BOOST_TEST(cuStreamDestroy_v2(blocking) == success);
  BOOST_TEST(cuStreamBeginCapture_v2(nullptr, CaptureMode::global) == Error::capture_unsupported);
  BOOST_TEST(end() == Error::invalid_value);
}
