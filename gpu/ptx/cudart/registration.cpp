// SPDX-License-Identifier: Apache-2.0
// What a program compiled by nvcc calls before main and for <<<...>>>.
#include <vector>

#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx::cudart;

namespace {

struct Configuration {
  Dim3 grid, block;
  std::size_t shared;
  Stream* stream;
};

std::vector<Configuration>& configurations() {
  static thread_local std::vector<Configuration> pushed;
  return pushed;
}

Module& module_of(void** handle) { return *reinterpret_cast<Module*>(handle); }

/// As run(), of what is done whatever has failed before.
template <class Body>
void always(const Body& body) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  body(runtime);
}

}  // namespace

PLUMBLINE_CUDART void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  always(
      [&](Runtime& runtime) { handle = reinterpret_cast<void**>(&runtime.add_module(wrapper)); });
  return handle;
}

PLUMBLINE_CUDART void __cudaRegisterFatBinaryEnd(void**) {}

PLUMBLINE_CUDART void __cudaUnregisterFatBinary(void** handle) {
  if (handle) always([&](Runtime& runtime) { runtime.remove_module(module_of(handle)); });
}

PLUMBLINE_CUDART void __cudaRegisterFunction(void** handle, const char* host, char*,
                                             const char* name, int, void*, void*, void*, void*,
                                             int*) {
  always([&](Runtime& runtime) { runtime.add_function(module_of(handle), host, name); });
}

PLUMBLINE_CUDART void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                        std::size_t, int, int) {
  always([&](Runtime& runtime) { runtime.add_variable(module_of(handle), host, name); });
}

/// `host` is a pointer of the program, which finds the variable through it.
PLUMBLINE_CUDART void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name,
                                               int, std::size_t, int, int) {
  run([&](Runtime& runtime) {
    *host = reinterpret_cast<void*>(runtime.variable(module_of(handle), name).first);
    runtime.add_variable(module_of(handle), *host, name);
  });
}

PLUMBLINE_CUDART char __cudaInitModule(void** handle) {
  return run([&](Runtime& runtime) { runtime.load(module_of(handle)); }) == Error::success;
}

PLUMBLINE_CUDART unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared,
                                                      Stream* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

PLUMBLINE_CUDART Error __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared,
                                                  Stream** stream) {
  return run([&](Runtime&) {
    expect(!configurations().empty(), Error::missing_configuration);
    const Configuration last = configurations().back();
    configurations().pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared = last.shared;
    *stream = last.stream;
  });
}

PLUMBLINE_CUDART Error __cudaGetKernel(Function** kernel, const void* host) {
  return run([&](Runtime& runtime) {
    expect(kernel != nullptr);
    *kernel = &runtime.function(host);
  });
}
