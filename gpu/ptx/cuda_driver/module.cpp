// SPDX-License-Identifier: Apache-2.0
// Modules of a context, their kernels and variables.
#include <cstring>

#include "ptx/cuda_driver/driver.hpp"
#include "ptx/cuda_driver/jit_options.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

void fill(Process& process, Module& module, Function** functions, unsigned count) {
  expect(functions != nullptr || count == 0);
  const auto names = process.device().kernel_names(process.modules.load(module));
  for (unsigned n = 0; n < count && n < names.size(); ++n) {
    functions[n] = &process.modules.function(module, names[n]);
  }
}

}  // namespace

PLUMBLINE_CUDA Error cuModuleLoad(Module** module, const char* path) {
  return run([&](Process& process) {
    expect(module != nullptr && path != nullptr);
    process.streams.expect_no_capture();
    *module = &process.modules.load_file(path, &process.current());
  });
}

PLUMBLINE_CUDA Error cuModuleLoadDataEx(Module** module, const void* image, unsigned count,
                                        const int* options, void** values) {
  return run([&](Process& process) {
    expect(module != nullptr && image != nullptr);
    *module =
        &cuda_driver::load_image(process, image, &process.current(), {count, options, values});
  });
}

PLUMBLINE_CUDA Error cuModuleLoadData(Module** module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

PLUMBLINE_CUDA Error cuModuleLoadFatBinary(Module** module, const void* binary) {
  return cuModuleLoadData(module, binary);
}

PLUMBLINE_CUDA Error cuModuleUnload(Module* module) {
  return run([&](Process& process) {
    Module& known = process.modules.of(module);
    expect(known.context != nullptr, Error::invalid_resource_handle);  // a library's
    process.modules.remove(known);
  });
}

PLUMBLINE_CUDA Error cuModuleGetFunction(Function** function, Module* module, const char* name) {
  return run([&](Process& process) {
    expect(function != nullptr && name != nullptr);
    *function = &process.modules.function(process.modules.of(module), name);
  });
}

PLUMBLINE_CUDA Error cuModuleGetFunctionCount(unsigned* count, Module* module) {
  return run([&](Process& process) {
    expect(count != nullptr);
    const auto loaded = process.modules.load(process.modules.of(module));
    *count = static_cast<unsigned>(process.device().kernel_names(loaded).size());
  });
}

PLUMBLINE_CUDA Error cuModuleEnumerateFunctions(Function** functions, unsigned count,
                                                Module* module) {
  return run(
      [&](Process& process) { fill(process, process.modules.of(module), functions, count); });
}

PLUMBLINE_CUDA Error cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, Module* module,
                                          const char* name) {
  return run([&](Process& process) {
    expect(name != nullptr && (address != nullptr || bytes != nullptr));
    const auto [at, size] = process.modules.variable(process.modules.of(module), name);
    if (address) *address = at;
    if (bytes) *bytes = size;
  });
}

PLUMBLINE_CUDA Error cuModuleGetLoadingMode(int* mode) {
  return run(cuda_driver::Needs::init, [&](Process&) {
    expect(mode != nullptr);
    *mode = 1;  // eager
  });
}

PLUMBLINE_CUDA Error cuFuncGetModule(Module** module, Function* function) {
  return run([&](Process& process) {
    expect(module != nullptr);
    *module = process.modules.function(function).module;
  });
}

PLUMBLINE_CUDA Error cuFuncGetName(const char** name, Function* function) {
  return run([&](Process& process) {
    expect(name != nullptr);
    *name = process.modules.function(function).name.c_str();
  });
}

PLUMBLINE_CUDA Error cuFuncGetParamInfo(Function* function, std::size_t index, std::size_t* offset,
                                        std::size_t* bytes) {
  return run([&](Process& process) {
    const auto& all = process.modules.info(process.modules.function(function)).parameters;
    expect(offset != nullptr && index < all.size());
    *offset = all[index].offset;
    if (bytes) *bytes = all[index].size;
  });
}

PLUMBLINE_CUDA Error cuFuncIsLoaded(int* loaded, Function* function) {
  return run([&](Process& process) {
    expect(loaded != nullptr);
    process.modules.function(function);
    *loaded = 1;
  });
}

PLUMBLINE_CUDA Error cuFuncLoad(Function* function) {
  return run([&](Process& process) { process.modules.function(function); });
}
