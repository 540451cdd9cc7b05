// SPDX-License-Identifier: Apache-2.0
#include "cli/builtin_kernels.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "cli/installation.hpp"
#include "support/error.hpp"
#include "support/files_in_use.hpp"

namespace plumbline::cli {
namespace {
std::filesystem::path builtin_library(const std::string& backend) {
  return program_prefix() / "lib" / ("libplumbline_kernels_" + backend + ".so");
}

/// On the emulation the operations beside attention are in a library of their own.
std::filesystem::path operations_library(const std::string& backend) {
  return backend == "emulated" ? program_prefix() / "lib/libplumbline_operations_emulated.so"
                               : builtin_library(backend);
}

void* symbol_of(const std::string& backend, const std::filesystem::path& path, const char* name) {
  load_backend(backend);  // it stays loaded, and says what is wrong where something is
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* symbol = library != nullptr ? dlsym(library, name) : nullptr;
  if (symbol == nullptr) {
    throw BadInput(path.string(), "no " + std::string(name), "the kernels of this version");
  }
  return symbol;
}
}  // namespace

bool has_backend(const std::string& backend) {
  return std::filesystem::exists(builtin_library(backend));
}

bool has_gpu_driver() { return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr; }

verdict::KernelLibrary load_backend(const std::string& backend) {
  if (!has_backend(backend)) {
    throw MachineLacks("the " + backend + " kernels were not built" +
                       (backend == "cuda" ? ": CMake found no nvcc 13, or no GPU; the target "
                                            "plumbline_kernels_cuda makes them without one"
                                          : ""));
  }
  will_read("the built-in kernels", builtin_library(backend));
  return verdict::load_kernel_library(builtin_library(backend));
}

void* builtin_symbol(const std::string& backend, const char* name) {
  return symbol_of(backend, builtin_library(backend), name);
}

EmbeddingKernels load_embedding_kernels(const std::string& backend) {
  const auto load = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol_of(backend, operations_library(backend), name));
  };
  EmbeddingKernels kernels{};
  load(kernels.forward, "plumbline_embedding_forward");
  load(kernels.backward, "plumbline_embedding_backward");
  return kernels;
}

}  // namespace plumbline::cli
