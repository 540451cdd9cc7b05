// SPDX-License-Identifier: Apache-2.0
// What a program compiled by nvcc calls before main and for <<<...>>>.
#include <vector>

#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;

namespace {

struct Configuration {
  Dim3 grid, block;
  std::size_t shared;
  Stream* stream;
};

std::vector<Configuration>& configurations() {
  // Never destroyed: what destroys static objects may launch kernels when those of the thread have
  // gone.
  static thread_local auto* pushed = new std::vector<Configuration>;
  return *pushed;
}

Module& module_of(void** handle) { return *reinterpret_cast<Module*>(handle); }

/// As run(), of what is done whatever has failed before.
template <class Body>
void always(const Body& body) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  body(process);
}

}  // namespace

PLUMBLINE_CUDA void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  always([&](Process& process) {
    handle = reinterpret_cast<void**>(&process.modules.add_registered(wrapper));
  });
  return handle;
}

PLUMBLINE_CUDA void __cudaRegisterFatBinaryEnd(void**) {}

PLUMBLINE_CUDA void __cudaUnregisterFatBinary(void** handle) {
  if (!handle) return;
  end_all();
  always([&](Process& process) { process.modules.remove(module_of(handle)); });
}

PLUMBLINE_CUDA void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name,
                                           int, void*, void*, void*, void*, int*) {
  always([&](Process& process) { process.modules.add_stand_in(module_of(handle), host, name); });
}

PLUMBLINE_CUDA void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                      std::size_t, int, int) {
  always([&](Process& process) { process.modules.add_shadow(module_of(handle), host, name); });
}

/// `host` is a pointer of the program, which finds the variable through it.
PLUMBLINE_CUDA void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name,
                                             int, std::size_t, int, int) {
  run([&](Process& process) {
    *host = reinterpret_cast<void*>(process.modules.variable(module_of(handle), name).first);
    process.modules.add_shadow(module_of(handle), *host, name);
  });
}

PLUMBLINE_CUDA char __cudaInitModule(void** handle) {
  return run([&](Process& process) { process.modules.load(module_of(handle)); }) == Error::success;
}

PLUMBLINE_CUDA unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared,
                                                    Stream* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

PLUMBLINE_CUDA Error __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared,
                                                Stream** stream) {
  const Asynchronous call;
  return run([&](Process&) {
    expect(!configurations().empty(), Error::missing_configuration);
    const Configuration last = configurations().back();
    configurations().pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared = last.shared;
    *stream = last.stream;
  });
}

PLUMBLINE_CUDA Error __cudaGetKernel(Function** kernel, const void* host) {
  return run([&](Process& process) {
    expect(kernel != nullptr);
    *kernel = &process.modules.function(host);
  });
}
