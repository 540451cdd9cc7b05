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

/// The message with which `use` fails, or an empty string.
template <class Use>
std::string failure(const Use& use) {
  try {
    use();
  } catch (const CudaError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& message, int line) {
  return message.find("errors.cu:" + std::to_string(line)) != std::string::npos;
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
  const LaunchShape too_many{dim3{1}, dim3{4096}};
  const std::string refused = failure([&] { launch(stream, too_many, nothing); });
  expect(has(refused, __LINE__ - 2), "a launch that is refused says so at once: " + refused);
  const LaunchShape first{dim3{1}, dim3{1}};
  launch(stream, first, nothing);
  expect(failure([&] { stream.wait(); }).empty(), "what comes next does not report those");

  // Who waits tells the launches since the last wait; with PLUMBLINE_WAIT_AFTER_LAUNCH=1 the faulty
  // one alone.
  const LaunchShape second{dim3{1}, dim3{1}}, third{dim3{1}, dim3{1}};
  const int line = __LINE__ - 1;
  const LaunchShape faulty{dim3{1}, dim3{1}};
  launch(stream, second, nothing);
  const std::string message = failure([&] {
    launch(stream, faulty, trap);
    if (waits_after_launch()) return;
    launch(stream, third, nothing);
    stream.wait();
  });
  expect(has(message, line + 2), "a kernel's fault has the launch's line: " + message);
  expect(has(message, line) != waits_after_launch(), "and those of launches beside it");
  expect(cudaDeviceSynchronize() != cudaSuccess, "the device is lost");
  return failures == 0 ? 0 : 1;
}
