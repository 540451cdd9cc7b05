// SPDX-License-Identifier: Apache-2.0
// What a program can ask about the device.
#ifndef PLUMBLINE_GPU_PTX_CUDA_DEVICE_INFO_HPP
#define PLUMBLINE_GPU_PTX_CUDA_DEVICE_INFO_HPP

#include <string>

#include "ptx/cuda/abi.hpp"
#include "ptx/device.hpp"

namespace plumbline::ptx::cuda {

/// What both versions of the runtime and the driver say that the driver is.
inline constexpr int driver_version = 13000;

/// 0: the device has no such thing, or nothing is known of it.
int value_of(DeviceAttribute attribute, const Properties& device);

/// "Plumbline software device, compute capability 9.0"
std::string name_of(const Properties& device);

/// cudaDeviceProp::uuid and cuDeviceGetUuid.
inline constexpr char uuid[16] = {'P', 'l', 'u', 'm', 'b', 'l', 'i', 'n',
                                  'e', ' ', 'd', 'e', 'v', 'i', 'c', 'e'};

}  // namespace plumbline::ptx::cuda

#endif
