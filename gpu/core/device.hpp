// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine. Host code.
#pragma once

#include <string>

namespace plumbline::gpu {

/// How many GPUs CUDA shows this process; 0 where it does not work.
int devices_seen();

/// @throws MachineLacks naming how many GPUs CUDA sees, where that is fewer, and what it says.
void expect_devices(int count);

/// From now on this thread works on the GPU of that number.
void use_device(int number);

/// That of the GPU on which this thread works, as CUDA tells it.
std::string device_name();

}  // namespace plumbline::gpu
