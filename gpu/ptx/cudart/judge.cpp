// SPDX-License-Identifier: Apache-2.0
// What a judge of kernels asks of the library that it has loaded in place of CUDA's runtime: a few
// functions of the driver's interface (cuda.h), under their names, and some that CUDA has not. Who
// calls them declares them: verdict/process/host/software_device.cpp does.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cudart;

namespace {

void say(char* into, std::size_t size, const std::string& text) {
  if (into && size > 0) std::snprintf(into, size, "%s", text.c_str());
}

}  // namespace

PLUMBLINE_CUDART Error cuInit(unsigned) {
  return run([](Runtime& runtime) { runtime.device(); });
}

PLUMBLINE_CUDART Error cuDeviceGet(int* device, int ordinal) {
  return run([&](Runtime&) {
    expect(device != nullptr);
    expect(ordinal == 0, Error::invalid_device);
    *device = 0;
  });
}

PLUMBLINE_CUDART Error cuDevicePrimaryCtxRetain(void** context, int) {
  return run([&](Runtime& runtime) { *context = &runtime; });
}

PLUMBLINE_CUDART Error cuCtxSetCurrent(void*) {
  return run([](Runtime&) {});
}

PLUMBLINE_CUDART Error cuCtxSynchronize() {
  return run([](Runtime&) {});
}

PLUMBLINE_CUDART Error cuMemAlloc_v2(Address* address, std::size_t bytes) {
  return run([&](Runtime& runtime) {
    expect(address != nullptr && bytes > 0);
    *address = runtime.allocate(bytes, MemoryType::device);
  });
}

PLUMBLINE_CUDART Error cuMemFree_v2(Address address) {
  return run([&](Runtime& runtime) {
    const auto* found = runtime.allocation_with(address);
    expect(found != nullptr);
    runtime.release(address, found->second.origin);
  });
}

PLUMBLINE_CUDART Error cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return run([&](Runtime& runtime) { runtime.device().write(to, from, bytes); });
}

PLUMBLINE_CUDART Error cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  return run([&](Runtime& runtime) { runtime.device().read(to, from, bytes); });
}

PLUMBLINE_CUDART Error cuGetErrorString(Error error, const char** words) {
  *words = words_of(error);
  return Error::success;
}

/// Device memory with these bytes, which kernels cannot change; cuMemFree_v2 frees it.
PLUMBLINE_CUDART Error plumbline_device_input(Address* address, const void* from,
                                              std::size_t bytes) {
  return run([&](Runtime& runtime) { *address = runtime.allocate_input(from, bytes); });
}

/// What has gone wrong, as its Trouble::Kind and text: a fault for good, another once. From here on
/// faults are told to who asks, and not printed.
PLUMBLINE_CUDART int plumbline_device_trouble(char* text, std::size_t size) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.tell_no_faults();
  const Trouble trouble = runtime.take_trouble();
  say(text, size, trouble.text);
  return trouble.kind;
}

/// How many fat binaries the program has registered; -1 where the device cannot run one of them, -2
/// where its options are none, with the reason as text.
PLUMBLINE_CUDART int plumbline_device_binaries(char* text, std::size_t size) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  try {
    for (const auto& module : runtime.modules()) runtime.choose(*module);
  } catch (const BadFatBinary& bad) {
    say(text, size, bad.what());
    return -1;
  } catch (const Failure&) {
    say(text, size, runtime.take_trouble().text);
    return -2;
  }
  return static_cast<int>(runtime.modules().size());
}

/// Of the devices that a verdict is asked of: launches run on the `number`-th from now on. Its name
/// as text. -1: there are no more.
PLUMBLINE_CUDART int plumbline_device_variation(int number, char* text, std::size_t size) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  static const auto all = variations_from([](const char* name) { return std::getenv(name); });
  if (number < 0 || number >= static_cast<int>(all.size())) return -1;
  const NamedVariation& chosen = all[static_cast<std::size_t>(number)];
  runtime.device().vary(chosen.variation);
  say(text, size, chosen.name);
  return number;
}

/// "software device, compute capability 9.0"
PLUMBLINE_CUDART Error plumbline_device_name(char* text, std::size_t size) {
  return run([&](Runtime& runtime) {
    const Properties& device = runtime.properties();
    say(text, size,
        "software device, compute capability " + std::to_string(device.compute_major) + "." +
            std::to_string(device.compute_minor));
  });
}
