// SPDX-License-Identifier: Apache-2.0
// Libraries: modules that belong to no context. A library's kernel is that of its module.
#include "ptx/cuda/launches.hpp"
#include "ptx/cuda_driver/driver.hpp"
#include "ptx/cuda_driver/jit_options.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::Needs;
using plumbline::ptx::cuda_driver::run;

namespace {

/// A library, by the address that is its module's, too.
Module& library_of(Process& process, const Module* library) {
  Module& module = process.modules.of(library);
  expect(module.context == nullptr && module.wrapper == nullptr, Error::invalid_resource_handle);
  return module;
}

}  // namespace

/// The options of libraries say when to load, which is at once here, and whether the program keeps
/// the image, which is copied.
PLUMBLINE_CUDA Error cuLibraryLoadData(Module** library, const void* image, const int* options,
                                       void** values, unsigned count, const int*, void**,
                                       unsigned) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(library != nullptr && image != nullptr);
    *library = &cuda_driver::load_image(process, image, nullptr, {count, options, values});
  });
}

PLUMBLINE_CUDA Error cuLibraryLoadFromFile(Module** library, const char* path, const int* options,
                                           void** values, unsigned count, const int*, void**,
                                           unsigned) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(library != nullptr && path != nullptr);
    process.streams.expect_no_capture();
    const cuda_driver::JitOptions jit(count, options, values);
    *library = &process.modules.load_file(path, nullptr);
  });
}

PLUMBLINE_CUDA Error cuLibraryUnload(Module* library) {
  return run(Needs::no_fault,
             [&](Process& process) { process.modules.remove(library_of(process, library)); });
}

PLUMBLINE_CUDA Error cuLibraryGetKernel(Function** kernel, Module* library, const char* name) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(kernel != nullptr && name != nullptr);
    *kernel = &process.modules.function(library_of(process, library), name);
  });
}

PLUMBLINE_CUDA Error cuLibraryGetKernelCount(unsigned* count, Module* library) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(count != nullptr);
    const auto loaded = process.modules.load(library_of(process, library));
    *count = static_cast<unsigned>(process.device().kernel_names(loaded).size());
  });
}

PLUMBLINE_CUDA Error cuLibraryEnumerateKernels(Function** kernels, unsigned count,
                                               Module* library) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(kernels != nullptr || count == 0);
    Module& module = library_of(process, library);
    const auto names = process.device().kernel_names(process.modules.load(module));
    for (unsigned n = 0; n < count && n < names.size(); ++n) {
      kernels[n] = &process.modules.function(module, names[n]);
    }
  });
}

PLUMBLINE_CUDA Error cuLibraryGetModule(Module** module, Module* library) {
  return run([&](Process& process) {
    expect(module != nullptr);
    *module = &library_of(process, library);
  });
}

PLUMBLINE_CUDA Error cuLibraryGetGlobal(Address* address, std::size_t* bytes, Module* library,
                                        const char* name) {
  return run([&](Process& process) {
    expect(name != nullptr && (address != nullptr || bytes != nullptr));
    const auto [at, size] = process.modules.variable(library_of(process, library), name);
    if (address) *address = at;
    if (bytes) *bytes = size;
  });
}

PLUMBLINE_CUDA Error cuLibraryGetManaged(Address* address, std::size_t* bytes, Module* library,
                                         const char* name) {
  return cuLibraryGetGlobal(address, bytes, library, name);
}

PLUMBLINE_CUDA Error cuKernelGetFunction(Function** function, Function* kernel) {
  return run([&](Process& process) {
    expect(function != nullptr);
    *function = &process.modules.function(kernel);
  });
}

PLUMBLINE_CUDA Error cuKernelGetLibrary(Module** library, Function* kernel) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(library != nullptr);
    *library = process.modules.function(kernel).module;
  });
}

PLUMBLINE_CUDA Error cuKernelGetName(const char** name, Function* kernel) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(name != nullptr);
    *name = process.modules.function(kernel).name.c_str();
  });
}

PLUMBLINE_CUDA Error cuKernelGetParamInfo(Function* kernel, std::size_t index, std::size_t* offset,
                                          std::size_t* bytes) {
  return run(Needs::no_fault, [&](Process& process) {
    const auto& all = process.modules.info(process.modules.function(kernel)).parameters;
    expect(offset != nullptr && index < all.size());
    *offset = all[index].offset;
    if (bytes) *bytes = all[index].size;
  });
}

PLUMBLINE_CUDA Error cuKernelGetAttribute(int* value, FunctionAttribute attribute, Function* kernel,
                                          int device) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(value != nullptr);
    expect_device(device);
    *value = attribute_of(process, process.modules.function(kernel), attribute);
  });
}

PLUMBLINE_CUDA Error cuKernelSetAttribute(FunctionAttribute attribute, int value, Function* kernel,
                                          int device) {
  return run(Needs::no_fault, [&](Process& process) {
    expect_device(device);
    set_attribute(process, process.modules.function(kernel), attribute, value);
  });
}

/// A hint.
PLUMBLINE_CUDA Error cuKernelSetCacheConfig(Function* kernel, int configuration, int device) {
  return run(Needs::no_fault, [&](Process& process) {
    process.modules.function(kernel);
    expect_device(device);
    expect(configuration >= 0 && configuration <= 3);
  });
}
