// SPDX-License-Identifier: Apache-2.0
// CUDA's runtime and its driver in one process: they share the device, its memory and streams. And
// what the runtime does by the driver.
#include <thread>

#include "tests/gpu/ptx/cuda_driver/on_driver.hpp"
#include "tests/gpu/ptx/cudart/cuda_functions.hpp"

using namespace plumbline::test;

namespace {

struct Extent3 {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct Copy3Parameters {
  void* from_array;
  Position from_position;
  Pitched from;
  void* to_array;
  Position to_position;
  Pitched to;
  Extent3 extent;
  CopyKind kind;
};

extern "C" {
Error cudaDeviceGetDefaultMemPool(Pool**, int);
Error cudaMallocFromPoolAsync(void**, std::size_t, Pool*, Stream*);
Error cudaFreeAsync(void*, Stream*);
Error cudaMemsetAsync(void*, int, std::size_t, Stream*);
Error cudaMalloc3D(Pitched*, Extent3);
Error cudaMemcpy3D(const Copy3Parameters*);
Error cudaMemset3D(Pitched, int, Extent3);
Error cudaLaunchHostFunc(Stream*, void (*)(void*), void*);
Error cudaStreamAddCallback(Stream*, void (*)(Stream*, Error, void*), void*, unsigned);
Error cudaStreamBeginCapture(Stream*, CaptureMode);
Error cudaStreamEndCapture(Stream*, Graph**);
Error cudaStreamIsCapturing(Stream*, CaptureStatus*);
Error cudaGraphInstantiate(GraphExec**, Graph*, unsigned long long);
Error cudaGraphLaunch(GraphExec*, Stream*);
Error cudaGraphDestroy(Graph*);
Error cudaGraphExecDestroy(GraphExec*);
Error cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
Error cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
Error cudaCreateTextureObject(void*, const void*, const void*, const void*);
}

}  // namespace

// It runs first: the runtime has not been called.
BOOST_AUTO_TEST_CASE(the_runtime_makes_the_primary_context_current_and_keeps_it) {
  void* pointer = nullptr;
  BOOST_TEST(cuInit(0) == success);
  Context *current = nullptr, *primary = nullptr;
  BOOST_TEST(cuCtxGetCurrent(&current) == success);
  BOOST_TEST(current == nullptr);
  BOOST_TEST(cudaMalloc(&pointer, 4) == success);
  BOOST_TEST(cuCtxGetCurrent(&current) == success);
  BOOST_TEST(cuDevicePrimaryCtxRetain(&primary, 0) == success);
  BOOST_TEST(current == primary);
  BOOST_TEST(cuDevicePrimaryCtxRelease_v2(0) == success);
  BOOST_TEST(cudaFree(pointer) == success);
}

BOOST_AUTO_TEST_CASE(memory_streams_and_kernels_are_both_s) {
  void* pointer = nullptr;
  Stream* stream = nullptr;
  BOOST_TEST(cudaMalloc(&pointer, 400) == success);
  BOOST_TEST(cudaStreamCreate(&stream) == success);
  auto expected = counted(100);
  const auto at = reinterpret_cast<Address>(pointer);
  BOOST_TEST(cuMemcpyHtoDAsync_v2(at, expected.data(), 400, stream) == success);
  Module* module = nullptr;
  Function* scale = nullptr;
  BOOST_TEST(cuModuleLoadData(&module, kernels.c_str()) == success);
  BOOST_TEST(cuModuleGetFunction(&scale, module, "scale") == success);
  float by = 5;
  unsigned n = 100;
  void* arguments[] = {&pointer, &by, &n};
  // cudaLaunchKernel takes a CUfunction, too.
  BOOST_TEST(cudaLaunchKernel(scale, {4}, {32}, arguments, 0, stream) == success);
  for (float& value : expected) value *= 5;
  std::vector<float> back(100);
  BOOST_TEST(cudaMemcpy(back.data(), pointer, 400, CopyKind::device_to_host) == success);
  BOOST_TEST(back == expected, boost::test_tools::per_element());
  BOOST_TEST(cuStreamDestroy_v2(stream) == success);
  BOOST_TEST(cudaStreamSynchronize(stream) == Error::invalid_resource_handle);
  BOOST_TEST(cuMemFree_v2(at) == success);
  BOOST_TEST(cudaFree(pointer) == Error::invalid_value);
  BOOST_TEST(cuModuleUnload(module) == success);
  // The last error is the runtime's own.
  cudaGetLastError();
  BOOST_TEST(cuMemFree_v2(1) == Error::invalid_value);
  BOOST_TEST(cudaGetLastError() == success);
}

BOOST_AUTO_TEST_CASE(the_driver_s_functions_are_found_through_the_runtime) {
  void* function = nullptr;
  int status = -1;
  BOOST_TEST(cudaGetDriverEntryPoint("cuMemAlloc", &function, 0, &status) == success);
  BOOST_TEST(function == reinterpret_cast<void*>(&cuMemAlloc_v2));
  BOOST_TEST(status == 0);
  BOOST_TEST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, 0,
                                              &status) == success);
  BOOST_TEST_REQUIRE(function != nullptr);
  using Encode = Error(void*, unsigned, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                       const unsigned*, const unsigned*, unsigned, unsigned, unsigned, unsigned);
  auto* encode = reinterpret_cast<Encode*>(function);
  // 64 by 64 float16 (6) in boxes of 64 by 8, swizzled over 128 bytes (3).
  alignas(64) unsigned char map[128] = {};
  alignas(16) static char tensor[8192];
  const std::uint64_t sizes[] = {64, 64}, strides[] = {128};
  const unsigned box[] = {64, 8}, steps[] = {1, 1};
  BOOST_TEST(encode(map, 6, 2, tensor, sizes, strides, box, steps, 0, 3, 0, 0) == success);
  BOOST_TEST(encode(map, 6, 2, tensor + 1, sizes, strides, box, steps, 0, 3, 0, 0) ==
             Error::invalid_value);
  BOOST_TEST(encode(map, 6, 2, tensor, sizes, nullptr, box, steps, 0, 3, 0, 0) ==
             Error::invalid_value);
  BOOST_TEST(encode(map, 6, 3, tensor, sizes, strides, box, steps, 1, 0, 0, 0) !=
             Error::success);  // interleaved
  BOOST_TEST(cudaGetDriverEntryPoint("cuNoSuch", &function, 0, &status) == success);
  BOOST_TEST(status == 1);
  BOOST_TEST(function == nullptr);
  BOOST_TEST(cudaGetDriverEntryPoint("cuNoSuch", &function, 0, nullptr) == Error::symbol_not_found);
  BOOST_TEST(cudaGetDriverEntryPoint(nullptr, &function, 0, &status) == Error::invalid_value);
}

BOOST_AUTO_TEST_CASE(functions_of_the_host_are_called) {
  int calls = 0;
  const auto call = [](void* count) {
    ++*static_cast<int*>(count);
    // Another thread may ask for the device meanwhile.
    std::size_t free = 0, total = 0;
    std::thread([&] { BOOST_TEST(cudaMemGetInfo(&free, &total) == success); }).join();
  };
  BOOST_TEST(cudaLaunchHostFunc(nullptr, call, &calls) == success);
  BOOST_TEST(calls == 1);
  const auto callback = [](Stream*, Error error, void* count) {
    BOOST_TEST(error == success);
    ++*static_cast<int*>(count);
  };
  BOOST_TEST(cudaStreamAddCallback(nullptr, callback, &calls, 0) == success);
  BOOST_TEST(calls == 2);
  BOOST_TEST(cudaLaunchHostFunc(nullptr, nullptr, &calls) == Error::invalid_value);
  BOOST_TEST(cudaStreamAddCallback(nullptr, callback, &calls, 1) == Error::invalid_value);
}

BOOST_AUTO_TEST_CASE(a_stream_is_captured) {
  Stream* stream = nullptr;
  void* pointer = nullptr;
  BOOST_TEST(cudaStreamCreate(&stream) == success);
  BOOST_TEST(cudaMalloc(&pointer, 4) == success);
  unsigned back = 7;
  int calls = 0;
  BOOST_TEST(cudaStreamBeginCapture(stream, CaptureMode::global) == success);
  BOOST_TEST(cudaMemsetAsync(pointer, 1, 4, stream) == success);
  BOOST_TEST(cudaMemcpyAsync(&back, pointer, 4, CopyKind::device_to_host, stream) == success);
  BOOST_TEST(cudaLaunchHostFunc(
                 stream, [](void* n) { ++*static_cast<int*>(n); }, &calls) == success);
  Graph* graph = nullptr;
  GraphExec* exec = nullptr;
  BOOST_TEST(cudaStreamEndCapture(stream, &graph) == success);
  BOOST_TEST(back == 7U);
  BOOST_TEST(calls == 0);
  BOOST_TEST(cudaGraphInstantiate(&exec, graph, 0) == success);
  BOOST_TEST(cudaGraphLaunch(exec, stream) == success);
  BOOST_TEST(back == 0x01010101U);
  BOOST_TEST(calls == 1);
  BOOST_TEST(cudaGraphExecDestroy(exec) == success);
  BOOST_TEST(cudaGraphDestroy(graph) == success);
  BOOST_TEST(cudaGraphLaunch(exec, stream) == Error::invalid_value);
  BOOST_TEST(cudaStreamBeginCapture(stream, CaptureMode::global) == success);
  BOOST_TEST(cudaMemset(pointer, 1, 4) == Error::capture_unsupported);
  BOOST_TEST(cudaStreamEndCapture(stream, &graph) == Error::capture_invalidated);
  BOOST_TEST(cudaFree(pointer) == success);
  BOOST_TEST(cudaStreamDestroy(stream) == success);
}

BOOST_AUTO_TEST_CASE(memory_of_three_dimensions_is_copied_and_set) {
  Pitched memory{};
  BOOST_TEST(cudaMalloc3D(&memory, {8, 2, 2}) == success);
  BOOST_TEST(memory.pitch == 512U);
  BOOST_TEST(cudaMemset3D(memory, 0, {8, 2, 2}) == success);
  const auto values = counted(8);
  Copy3Parameters copy{};
  copy.from = {const_cast<float*>(values.data()), 8, 8, 2};
  copy.to = memory;
  copy.to_position = {4, 0, 0};
  copy.from_position = {0, 0, 0};
  copy.extent = {4, 2, 2};
  copy.kind = CopyKind::host_to_device;
  BOOST_TEST(cudaMemcpy3D(&copy) == success);
  std::vector<float> back(8);
  Copy3Parameters other{};
  other.from = memory;
  other.to = {back.data(), 8, 8, 2};
  other.extent = {8, 2, 2};
  other.kind = CopyKind::device_to_host;
  BOOST_TEST(cudaMemcpy3D(&other) == success);
  BOOST_TEST(back == (std::vector<float>{0, 1, 0, 3, 0, 5, 0, 7}),
             boost::test_tools::per_element());
  BOOST_TEST(cudaMemcpy3D(nullptr) == Error::invalid_value);
  other.to_array = &memory;
  BOOST_TEST(cudaMemcpy3D(&other) == Error::not_supported);
  BOOST_TEST(cudaFree(memory.pointer) == success);
}

BOOST_AUTO_TEST_CASE(pools_and_what_is_lacking) {
  Pool* pool = nullptr;
  void* pointer = nullptr;
  BOOST_TEST(cudaDeviceGetDefaultMemPool(&pool, 0) == success);
  BOOST_TEST(cudaMallocFromPoolAsync(&pointer, 16, pool, nullptr) == success);
  BOOST_TEST(cudaFreeAsync(pointer, nullptr) == success);
  cudaGetLastError();
  BOOST_TEST(cudaCreateTextureObject(nullptr, nullptr, nullptr, nullptr) == Error::not_supported);
  BOOST_TEST(cudaGetLastError() == Error::not_supported);
}

BOOST_AUTO_TEST_CASE(a_reset_frees_what_the_program_had) {
  std::size_t before = 0, after = 0, total = 0;
  void* pointer = nullptr;
  Stream* stream = nullptr;
  BOOST_TEST(cudaMemGetInfo(&before, &total) == success);
  BOOST_TEST(cudaMalloc(&pointer, 1000) == success);
  BOOST_TEST(cudaStreamCreate(&stream) == success);
  BOOST_TEST(cudaDeviceReset() == success);
  BOOST_TEST(cudaMemGetInfo(&after, &total) == success);
  BOOST_TEST(after == before);
  BOOST_TEST(cudaFree(pointer) == Error::invalid_value);
  BOOST_TEST(cudaStreamDestroy(stream) == Error::invalid_resource_handle);
}
