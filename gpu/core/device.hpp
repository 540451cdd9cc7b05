// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine. Host code.
#pragma once

namespace plumbline::gpu {

/// How many GPUs CUDA shows this process; 0 where it does not work.
int devices_seen();

/// @throws MachineLacks naming how many GPUs CUDA sees, where that is fewer, and what it says.
void expect_devices(int count);

/// From now on this thread works on the GPU of that number.
void use_device(int number);

}  // namespace plumbline::gpu
