// SPDX-License-Identifier: Apache-2.0
// What a judge of kernels asks of the device beyond the functions of CUDA. Who calls them declares
// them: verdict/process/host/software_device.cpp does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ptx/cuda/process.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;

namespace {

void say(char* into, std::size_t size, const std::string& text) {
  if (into && size > 0) std::snprintf(into, size, "%s", text.c_str());
}

}  // namespace

/// Device memory with these bytes, which kernels cannot change; cuMemFree_v2 frees it.
PLUMBLINE_CUDA Error plumbline_device_input(Address* address, const void* from, std::size_t bytes) {
  return guarded([&](Process& process) { *address = process.allocate_input(from, bytes); });
}

/// What has gone wrong, as its Trouble::Kind, text and address (0: of none): a fault for good,
/// another once. From here on faults are told to who asks, and not printed.
PLUMBLINE_CUDA int plumbline_device_trouble(char* text, std::size_t size, Address* address) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  process.tell_no_faults();
  end_all();
  const Trouble trouble = process.take_trouble();
  say(text, size, trouble.text);
  if (address) *address = trouble.address.value_or(0);
  return trouble.kind;
}

/// The same at once, whenever something goes wrong: the program may end before anybody asks. It is
/// called in the thread that has the trouble, which may be any.
PLUMBLINE_CUDA void plumbline_device_listen(Process::Listener listener) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  process.listen(listener);
}

/// Seconds that a launch may take from now on, unless the environment says how many.
PLUMBLINE_CUDA void plumbline_device_time_limit(double seconds) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  const char* chosen = std::getenv("PLUMBLINE_DEVICE_TIME_LIMIT");
  if (chosen && *chosen) return;
  const auto milliseconds = static_cast<std::uint64_t>(std::llround(seconds * 1000));
  process.device().limit_time(std::max(milliseconds, std::uint64_t{1}));
}

/// How many fat binaries the program has registered; -1 where the device cannot run one of them, -2
/// where its options are none, with the reason as text.
PLUMBLINE_CUDA int plumbline_device_binaries(char* text, std::size_t size) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  try {
    for (Module* module : process.modules.registered()) process.modules.choose(*module);
  } catch (const BadFatBinary& bad) {
    say(text, size, bad.what());
    return -1;
  } catch (const Failure&) {
    say(text, size, process.take_trouble().text);
    return -2;
  }
  return static_cast<int>(process.modules.registered().size());
}

/// Of the devices that a verdict is asked of: launches run on the `number`-th from now on. Its name
/// as text. -1: there are no more.
PLUMBLINE_CUDA int plumbline_device_variation(int number, char* text, std::size_t size) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  end_all();  // on the device that it was asked of
  static const auto all = variations_from([](const char* name) { return std::getenv(name); });
  if (number < 0 || number >= static_cast<int>(all.size())) return -1;
  const NamedVariation& chosen = all[static_cast<std::size_t>(number)];
  process.device().vary(chosen.variation);
  say(text, size, chosen.name);
  return number;
}

/// "software device, compute capability 9.0"
PLUMBLINE_CUDA Error plumbline_device_name(char* text, std::size_t size) {
  return guarded([&](Process& process) {
    const Properties& device = process.properties();
    say(text, size,
        "software device, compute capability " + std::to_string(device.compute_major) + "." +
            std::to_string(device.compute_minor));
  });
}
