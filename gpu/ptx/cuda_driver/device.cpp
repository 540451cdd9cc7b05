// SPDX-License-Identifier: Apache-2.0
// Initialisation, the one device, and errors.
#include <cstdio>
#include <cstring>

#include "ptx/cuda/device_info.hpp"
#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::Needs;
using plumbline::ptx::cuda_driver::run;

namespace {

constexpr const char* pci_bus_id = "0000:00:00.0";

/// As much of the text as there is room for, and a 0.
void say(char* into, int room, const char* text) {
  expect(into != nullptr && room > 0);
  std::snprintf(into, static_cast<std::size_t>(room), "%s", text);
}

}  // namespace

PLUMBLINE_CUDA Error cuInit(unsigned flags) {
  return cuda_driver::driver_error(guarded([&](Process& process) {
    expect(flags == 0);
    process.device();
    process.initialised = true;
  }));
}

PLUMBLINE_CUDA Error cuDriverGetVersion(int* version) {
  if (version == nullptr) return Error::invalid_value;
  *version = driver_version;
  return Error::success;
}

PLUMBLINE_CUDA Error cuGetErrorName(Error error, const char** name) {
  if (name == nullptr) return Error::invalid_value;
  *name = driver_name_of(error);
  return *name ? Error::success : Error::invalid_value;
}

PLUMBLINE_CUDA Error cuGetErrorString(Error error, const char** words) {
  if (words == nullptr) return Error::invalid_value;
  *words = driver_name_of(error) ? words_of(error) : nullptr;
  return *words ? Error::success : Error::invalid_value;
}

PLUMBLINE_CUDA Error cuDeviceGet(int* device, int ordinal) {
  return run(Needs::init, [&](Process&) {
    expect(device != nullptr);
    expect_device(ordinal);
    *device = 0;
  });
}

PLUMBLINE_CUDA Error cuDeviceGetCount(int* count) {
  return run(Needs::init, [&](Process&) {
    expect(count != nullptr);
    *count = 1;
  });
}

PLUMBLINE_CUDA Error cuDeviceGetName(char* name, int room, int device) {
  return run(Needs::init, [&](Process& process) {
    expect_device(device);
    say(name, room, name_of(process.properties()).c_str());
  });
}

PLUMBLINE_CUDA Error cuDeviceGetUuid_v2(void* into, int device) {
  return run(Needs::init, [&](Process&) {
    expect(into != nullptr);
    expect_device(device);
    std::memcpy(into, uuid, sizeof uuid);
  });
}

PLUMBLINE_CUDA Error cuDeviceGetUuid(void* into, int device) {
  return cuDeviceGetUuid_v2(into, device);
}

PLUMBLINE_CUDA Error cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return run(Needs::init, [&](Process& process) {
    expect(bytes != nullptr);
    expect_device(device);
    *bytes = process.properties().global_bytes;
  });
}

PLUMBLINE_CUDA Error cuDeviceGetAttribute(int* value, DeviceAttribute attribute, int device) {
  return run(Needs::init, [&](Process& process) {
    expect(value != nullptr && attribute > DeviceAttribute{} && attribute < DeviceAttribute::end);
    expect_device(device);
    *value = value_of(attribute, process.properties());
  });
}

PLUMBLINE_CUDA Error cuDeviceComputeCapability(int* major, int* minor, int device) {
  return run(Needs::init, [&](Process& process) {
    expect(major != nullptr && minor != nullptr);
    expect_device(device);
    *major = process.properties().compute_major;
    *minor = process.properties().compute_minor;
  });
}

PLUMBLINE_CUDA Error cuDeviceGetPCIBusId(char* name, int room, int device) {
  return run(Needs::init, [&](Process&) {
    expect_device(device);
    say(name, room, pci_bus_id);
  });
}

PLUMBLINE_CUDA Error cuDeviceGetByPCIBusId(int* device, const char* name) {
  return run(Needs::init, [&](Process&) {
    expect(device != nullptr && name != nullptr);
    expect(std::strcmp(name, pci_bus_id) == 0, Error::invalid_device);
    *device = 0;
  });
}

/// There is no other device.
PLUMBLINE_CUDA Error cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return run(Needs::init, [&](Process&) {
    expect(can != nullptr);
    expect_device(device);
    expect_device(peer);
    *can = 0;
  });
}
