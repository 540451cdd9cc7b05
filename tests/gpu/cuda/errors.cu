// SPDX-License-Identifier: Apache-2.0
// What becomes of errors on a GPU. Status 77 (ctest: skipped) where there is none. The last check
// loses the device, so all are in one program and in this order.
#include <cstdio>
#include <new>
#include <string>

#include "core/device_buffer.cuh"

namespace {

using namespace plumbline::gpu;

int failures = 0;

void expect(bool holds, const std::string& what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what.c_str());
  if (!holds) ++failures;
}

__global__ void nothing() {}

__global__ void trap() { __trap(); }

/// The message with which a launch fails, or an empty string.
std::string failure(const Stream& stream, const LaunchShape& shape, void (*kernel)()) {
  try {
    launch(stream, shape, kernel);
  } catch (const CudaError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  const Stream stream;

  std::string lacks;
  try {
    const DeviceBuffer<char> too_large(stream, std::size_t{1} << 50);
  } catch (const std::bad_alloc& error) {
    lacks = error.what();
  }
  expect(lacks.find("1125899906842624 bytes more were asked for, ") != std::string::npos,
         "a PiB cannot be allocated: " + lacks);
  expect(failure(stream, {dim3{1}, dim3{1}}, nothing).empty(),
         "the next launch does not report that");

  const LaunchShape shape{dim3{1}, dim3{1}};
  const std::string line = "errors.cu:" + std::to_string(__LINE__ - 1) + ": ";
  const std::string message = failure(stream, shape, trap);
  expect(message.find(line) != std::string::npos,
         "a kernel's fault has the launch's line: " + message);
  expect(cudaDeviceSynchronize() != cudaSuccess, "the device is lost");
  return failures == 0 ? 0 : 1;
}
