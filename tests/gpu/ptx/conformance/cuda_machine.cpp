// SPDX-License-Identifier: Apache-2.0
// A GPU through the CUDA driver, opened when asked for: neither its headers nor its library are
// needed to build.
#include <dlfcn.h>
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/machine.hpp"

namespace plumbline::ptx::conformance {
namespace {

using State = Answer::State;
using Result = int;
using Pointer = unsigned long long;
constexpr Result success = 0, no_binary = 209, invalid_ptx = 218, launch_failed = 719,
                 illegal_instruction = 715;
constexpr int major_attribute = 75, minor_attribute = 76, dynamic_shared_attribute = 8;

struct alignas(64) OpaqueMap {
  unsigned long long words[16];
};

/// The functions of libcuda.so.1 that are used, under their names there.
struct Driver {
  Result (*cuInit)(unsigned);
  Result (*cuDeviceGet)(int*, int);
  Result (*cuDeviceGetName)(char*, int, int);
  Result (*cuDeviceGetAttribute)(int*, int, int);
  Result (*cuDevicePrimaryCtxRetain)(void**, int);
  Result (*cuDevicePrimaryCtxReset_v2)(int);
  Result (*cuCtxSetCurrent)(void*);
  Result (*cuCtxSynchronize)();
  Result (*cuModuleLoadData)(void**, const void*);
  Result (*cuModuleUnload)(void*);
  Result (*cuModuleGetFunction)(void**, void*, const char*);
  Result (*cuFuncSetAttribute)(void*, int, int);
  Result (*cuMemAlloc_v2)(Pointer*, std::size_t);
  Result (*cuMemFree_v2)(Pointer);
  Result (*cuMemcpyHtoD_v2)(Pointer, const void*, std::size_t);
  Result (*cuMemcpyDtoH_v2)(void*, Pointer, std::size_t);
  Result (*cuLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, void*, void**, void**);
  Result (*cuTensorMapEncodeTiled)(OpaqueMap*, std::uint32_t, std::uint32_t, void*,
                                   const std::uint64_t*, const std::uint64_t*, const std::uint32_t*,
                                   const std::uint32_t*, std::uint32_t, std::uint32_t,
                                   std::uint32_t, std::uint32_t);
  Result (*cuGetErrorString)(Result, const char**);
};

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Driver& d) {
  return find(library, "cuInit", d.cuInit) && find(library, "cuDeviceGet", d.cuDeviceGet) &&
         find(library, "cuDeviceGetName", d.cuDeviceGetName) &&
         find(library, "cuDeviceGetAttribute", d.cuDeviceGetAttribute) &&
         find(library, "cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain) &&
         find(library, "cuDevicePrimaryCtxReset_v2", d.cuDevicePrimaryCtxReset_v2) &&
         find(library, "cuCtxSetCurrent", d.cuCtxSetCurrent) &&
         find(library, "cuCtxSynchronize", d.cuCtxSynchronize) &&
         find(library, "cuModuleLoadData", d.cuModuleLoadData) &&
         find(library, "cuModuleUnload", d.cuModuleUnload) &&
         find(library, "cuModuleGetFunction", d.cuModuleGetFunction) &&
         find(library, "cuFuncSetAttribute", d.cuFuncSetAttribute) &&
         find(library, "cuMemAlloc_v2", d.cuMemAlloc_v2) &&
         find(library, "cuMemFree_v2", d.cuMemFree_v2) &&
         find(library, "cuMemcpyHtoD_v2", d.cuMemcpyHtoD_v2) &&
         find(library, "cuMemcpyDtoH_v2", d.cuMemcpyDtoH_v2) &&
         find(library, "cuLaunchKernel", d.cuLaunchKernel) &&
         find(library, "cuTensorMapEncodeTiled", d.cuTensorMapEncodeTiled) &&
         find(library, "cuGetErrorString", d.cuGetErrorString);
}

class CudaMachine : public Machine {
 public:
  CudaMachine(const Driver& driver, int device) : m_driver(driver), m_device(device) {
    char text[256] = "";
    m_driver.cuDeviceGetName(text, sizeof text, device);
    m_driver.cuDeviceGetAttribute(&m_major, major_attribute, device);
    m_driver.cuDeviceGetAttribute(&m_minor, minor_attribute, device);
    m_name = fmt::format("{} (sm_{}{})", text, m_major, m_minor);
    open();
  }

  std::string name() const override { return m_name; }

  Answer run(const Experiment& experiment) override {
    // sm_90a is for that architecture alone.
    if (experiment.target == Target::sm_90a ? m_major != 9 || m_minor != 0 : m_major < 8)
      return {State::skipped, "for another GPU", false, {}};
    void* module = nullptr;
    const std::string text = header(experiment) + named(experiment, "kernel");
    Result result = m_driver.cuModuleLoadData(&module, text.c_str());
    if (result != success)
      return {result == no_binary || result == invalid_ptx ? State::missing : State::failed,
              "cuModuleLoadData: " + said(result),
              false,
              {}};
    std::vector<Pointer> memory;
    Answer answer;
    result = launched(experiment, module, memory);
    if (result == success) {
      answer.state = State::ran;
      for (std::size_t i = 0; i < memory.size(); ++i) {
        Buffer& buffer = answer.buffers.emplace_back(experiment.buffers[i].size());
        if (!buffer.empty()) m_driver.cuMemcpyDtoH_v2(buffer.data(), memory[i], buffer.size());
      }
      for (const Pointer pointer : memory) m_driver.cuMemFree_v2(pointer);
      m_driver.cuModuleUnload(module);
    } else {
      answer = {State::failed,
                said(result),
                result == launch_failed || result == illegal_instruction,
                {}};
      // An error of a kernel stays with the context: a new one.
      m_driver.cuDevicePrimaryCtxReset_v2(m_device);
      open();
    }
    return answer;
  }

 private:
  void open() {
    void* context = nullptr;
    m_driver.cuDevicePrimaryCtxRetain(&context, m_device);
    m_driver.cuCtxSetCurrent(context);
  }

  std::string said(Result result) const {
    const char* text = nullptr;
    m_driver.cuGetErrorString(result, &text);
    return fmt::format("{} ({})", text ? text : "unknown error", result);
  }

  Result launched(const Experiment& experiment, void* module, std::vector<Pointer>& memory) {
    void* kernel = nullptr;
    Result result = m_driver.cuModuleGetFunction(&kernel, module, "kernel");
    for (const Buffer& buffer : experiment.buffers) {
      if (result != success) return result;
      result =
          m_driver.cuMemAlloc_v2(&memory.emplace_back(), std::max<std::size_t>(buffer.size(), 1));
      if (result == success && !buffer.empty())
        result = m_driver.cuMemcpyHtoD_v2(memory.back(), buffer.data(), buffer.size());
    }
    if (result == success && experiment.dynamic_shared > 49152)
      result = m_driver.cuFuncSetAttribute(kernel, dynamic_shared_attribute,
                                           static_cast<int>(experiment.dynamic_shared));
    if (result != success) return result;
    std::vector<void*> parameters;
    for (Pointer& pointer : memory) parameters.push_back(&pointer);
    std::vector<OpaqueMap> maps(experiment.maps.size());
    for (std::size_t i = 0; i < maps.size() && result == success; ++i) {
      const Map& map = experiment.maps[i];
      result = m_driver.cuTensorMapEncodeTiled(
          &maps[i], map.type, map.rank, reinterpret_cast<void*>(memory[map.buffer] + map.offset),
          map.size, map.strides, map.box, map.steps, 0, map.swizzle, 0, map.fill);
      parameters.push_back(&maps[i]);
    }
    if (result != success) return result;
    const auto& grid = experiment.grid;
    const auto& block = experiment.block;
    result = m_driver.cuLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0], block[1],
                                     block[2], static_cast<unsigned>(experiment.dynamic_shared),
                                     nullptr, parameters.data(), nullptr);
    return result == success ? m_driver.cuCtxSynchronize() : result;
  }

  Driver m_driver;
  int m_device, m_major = 0, m_minor = 0;
  std::string m_name;
};

}  // namespace

std::unique_ptr<Machine> cuda_machine(std::string& reason) {
  // The library stays until the process ends.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    reason = "no CUDA driver (libcuda.so.1)";
    return nullptr;
  }
  Driver driver;
  int device = 0;
  if (!find_all(library, driver))
    reason = "libcuda.so.1 lacks a function";
  else if (driver.cuInit(0) != success)
    reason = "the CUDA driver finds no GPU";
  else if (driver.cuDeviceGet(&device, 0) != success)
    reason = "no GPU";
  else
    return std::make_unique<CudaMachine>(driver, device);
  return nullptr;
}

}  // namespace plumbline::ptx::conformance
