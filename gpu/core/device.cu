// SPDX-License-Identifier: Apache-2.0
#include "core/device.hpp"

#include <string>

#include "core/launch.cuh"
#include "support/error.hpp"

namespace plumbline::gpu {

namespace {

cudaError_t count_devices(int& seen) {
  const cudaError_t error = cudaGetDeviceCount(&seen);
  if (error != cudaSuccess) seen = 0;
  return error;
}

}  // namespace

int devices_seen() {
  int seen = 0;
  count_devices(seen);
  return seen;
}

void expect_devices(int count) {
  int seen = 0;
  const cudaError_t error = count_devices(seen);
  if (seen >= count) return;
  std::string message = "this machine has " + std::to_string(seen) + " GPUs for CUDA; expected " +
                        std::to_string(count);
  if (error != cudaSuccess) message += std::string(" (") + cudaGetErrorString(error) + ")";
  throw MachineLacks(message);
}

void use_device(int number) { check(cudaSetDevice(number)); }

std::string device_name() {
  int number = 0;
  check(cudaGetDevice(&number));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, number));
  return properties.name;
}

}  // namespace plumbline::gpu
