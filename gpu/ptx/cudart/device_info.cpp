// SPDX-License-Identifier: Apache-2.0
// What a program asks about the device, and its errors.
#include "ptx/cuda/device_info.hpp"

#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::last_error;
using plumbline::ptx::cudart::run;

PLUMBLINE_CUDA Error cudaDeviceGetAttribute(int* value, DeviceAttribute attribute, int device) {
  const Asynchronous call;
  return run([&](Process& process) {
    expect(value != nullptr && attribute > DeviceAttribute{} && attribute < DeviceAttribute::end);
    expect(device == 0, Error::invalid_device);
    *value = value_of(attribute, process.properties());
  });
}

PLUMBLINE_CUDA Error cudaGetDeviceCount(int* count) {
  return run([&](Process&) {
    expect(count != nullptr);
    *count = 1;
  });
}

PLUMBLINE_CUDA Error cudaGetDevice(int* device) {
  const Asynchronous call;
  return run([&](Process&) {
    expect(device != nullptr);
    *device = 0;
  });
}

PLUMBLINE_CUDA Error cudaSetDevice(int device) {
  return run([&](Process&) { expect(device == 0, Error::invalid_device); });
}

PLUMBLINE_CUDA Error cudaDriverGetVersion(int* version) {
  return run([&](Process&) {
    expect(version != nullptr);
    *version = driver_version;
  });
}

PLUMBLINE_CUDA Error cudaGetLastError() {
  const Error error = last_error();
  last_error() = Error::success;
  // After a fault there is no other.
  const Error sticky = Process::get().sticky();
  return sticky == Error::success ? error : sticky;
}

PLUMBLINE_CUDA Error cudaPeekAtLastError() {
  const Error sticky = Process::get().sticky();
  return sticky == Error::success ? last_error() : sticky;
}

PLUMBLINE_CUDA const char* cudaGetErrorName(Error error) { return name_of(error); }

PLUMBLINE_CUDA const char* cudaGetErrorString(Error error) { return words_of(error); }

/// Frees all that the runtime's context has: memory, streams, events, and what its modules keep. A
/// fault stays.
PLUMBLINE_CUDA Error cudaDeviceReset() {
  return run([](Process& process) {
    process.streams.expect_no_capture();
    process.clear(process.current());
  });
}
