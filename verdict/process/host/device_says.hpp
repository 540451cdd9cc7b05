// SPDX-License-Identifier: Apache-2.0
// What the software device notices goes to the judge at once: a library whose host code calls
// exit() or abort() after an error would take it with it.
#pragma once

#include <cstdint>

#include "verdict/process/host/device_arrays.hpp"
#include "verdict/process/host/software_device.hpp"

namespace plumbline::kernel_process {

/// From here on. @param arrays where the address of a fault is looked for, or null; they must stay.
void pass_on_what_it_says(const SoftwareDevice& device, const DeviceArrays* arrays);

/// The request that it belongs to, from here on.
void note_request(std::uint64_t number);

}  // namespace plumbline::kernel_process
