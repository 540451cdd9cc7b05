// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/software_device.hpp"

#include <dlfcn.h>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::kernel_process {
namespace {

constexpr std::size_t longest_text = 4096;

template <class Function>
Function* found(void* library, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw MachineLacks(std::string("the software device has no ") + name +
                       ": its library is of another version than this program");
  }
  return function;
}

// gpu/ptx/cuda/judge.cpp defines them.
using TextFunction = int(char*, std::size_t);
using TroubleFunction = int(char*, std::size_t, DeviceAddress*);
using Listener = void(int, const char*, DeviceAddress);
using VariationFunction = int(int, char*, std::size_t);
constexpr const char *binaries = "plumbline_device_binaries",
                     *troubles = "plumbline_device_trouble", *listens = "plumbline_device_listen",
                     *names = "plumbline_device_name", *inputs = "plumbline_device_input",
                     *variation = "plumbline_device_variation",
                     *time_limit = "plumbline_device_time_limit";

constexpr int no_such_option = -2;

/// Of a sentence as BadInput makes them.
BadInput bad_option(const std::string& sentence) {
  const auto is = sentence.find(" is "), expected = sentence.find("; expected ");
  if (is == sentence.npos || expected == sentence.npos) {
    return BadInput("the environment", sentence, "options of the software device");
  }
  return BadInput(sentence.substr(0, is), sentence.substr(is + 4, expected - is - 4),
                  sentence.substr(expected + 11));
}

/// Of the device's sentences, which have a line each.
std::string on_one_line(const char* text) {
  std::string line;
  bool blank = false;
  for (const char* c = text; *c; ++c) {
    if (*c == '\n' && !line.ends_with(';')) line += ';';
    const bool is_blank = *c == '\n' || *c == ' ';
    if (!is_blank) line += *c;
    if (is_blank && !blank) line += ' ';
    blank = is_blank;
  }
  return line;
}

bool takes_device_memory(const plumbline_library& library) {
  for (int n = 0; n < library.kernel_count; ++n) {
    if (library.kernels[n].memory == PLUMBLINE_CUDA_MEMORY) return true;
  }
  return false;
}

}  // namespace

SoftwareDevice::SoftwareDevice(const std::filesystem::path& folder) {
  for (const char* name : {"libcudart.so.13", "libcudart.so.12"}) {
    void* runtime = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (runtime == nullptr) {
      const char* reason = dlerror();
      throw MachineLacks(
          "the software device cannot be loaded; the target software_device builds "
          "it (the loader says: " +
          showable(reason ? reason : "nothing") + ")");
    }
    runtimes_.push_back(runtime);
  }
}

void SoftwareDevice::expect_used_by(const plumbline_library& library,
                                    const std::filesystem::path& path) {
  char text[longest_text] = "";
  for (void* runtime : runtimes_) {
    const int count = found<TextFunction>(runtime, binaries)(text, sizeof text);
    if (count == no_such_option) throw bad_option(text);
    if (count < 0) {
      throw BadInput("--kernel", path_in_quotes(path) + ": " + text,
                     "a library with PTX that --device software can run");
    }
    if (count > 0) runtime_ = runtime;
  }
  if (runtime_) {
    // Of loading there is nothing to tell.
    found<TroubleFunction>(runtime_, troubles)(nullptr, 0, nullptr);
    return;
  }
  if (!takes_device_memory(library)) {
    throw BadInput("--device",
                   "software, and " + path_in_quotes(path) + " has no kernel for a device",
                   "no --device for a library that computes on the host");
  }
  throw BadInput("--kernel", path_in_quotes(path) + ", which does not use the shared CUDA runtime",
                 "a library that nvcc has linked with -cudart shared, so that --device software "
                 "can stand in for the GPU");
}

std::string SoftwareDevice::name() const {
  char text[longest_text] = "";
  found<TextFunction>(runtime_, names)(text, sizeof text);
  return text;
}

std::vector<std::string> SoftwareDevice::variations() const {
  auto* choose = found<VariationFunction>(runtime_, variation);
  std::vector<std::string> names;
  char text[longest_text] = "";
  while (choose(static_cast<int>(names.size()), text, sizeof text) >= 0) names.emplace_back(text);
  vary(0);
  return names;
}

void SoftwareDevice::vary(int number) const {
  found<VariationFunction>(runtime_, variation)(number, nullptr, 0);
}

DeviceAddress SoftwareDevice::input(const void* from, std::size_t bytes) const {
  using Function = CudaResult(DeviceAddress*, const void*, std::size_t);
  DeviceAddress address = 0;
  if (found<Function>(runtime_, inputs)(&address, from, bytes) != 0) {
    throw CudaError("an input of " + std::to_string(bytes) + " bytes: out of memory");
  }
  return address;
}

SoftwareDevice::Trouble SoftwareDevice::trouble() const {
  char text[longest_text] = "";
  DeviceAddress address = 0;
  const int kind = found<TroubleFunction>(runtime_, troubles)(text, sizeof text, &address);
  return {static_cast<DeviceTrouble>(kind), on_one_line(text), address};
}

void SoftwareDevice::listen(void (*hear)(const Trouble&)) const {
  static void (*known)(const Trouble&) = nullptr;
  known = hear;
  found<void(Listener*)>(runtime_, listens)([](int kind, const char* text, DeviceAddress address) {
    known({static_cast<DeviceTrouble>(kind), on_one_line(text), address});
  });
}

void SoftwareDevice::limit_time(double seconds) const {
  found<void(double)>(runtime_, time_limit)(seconds);
}

}  // namespace plumbline::kernel_process
