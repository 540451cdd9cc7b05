// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/load.hpp"

#include <dlfcn.h>

#include <string>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::kernel_process {
namespace {

/// What the library says of itself must be there before anything points to it.
void validate_library(const plumbline_library& library, const std::string& path) {
  const auto require = [&](bool good, const std::string& field, const std::string& value,
                           const char* expected) {
    if (!good) throw BadInput(path + ": " + field, value, expected);
  };
  require(library.name != nullptr, "name", "null", "a text");
  require(library.device != nullptr, "device", "null", "a text");
  require(is_kernel_count(library.kernel_count), "kernel_count",
          std::to_string(library.kernel_count), "from 1 to 1000");
  require(library.kernels != nullptr, "kernels", "null", "an array of kernel_count kernels");
  for (int n = 0; n < library.kernel_count; ++n) {
    const plumbline_kernel& kernel = library.kernels[n];
    const std::string at = "kernel " + std::to_string(n);
    require(kernel.name != nullptr, at + ": name", "null", "a text");
    const std::string name = kernel.name;
    require(is_kernel_name(name), at + ": name", in_quotes(name), "letters a-z, digits and _");
    for (int other = 0; other < n; ++other) {
      require(name != library.kernels[other].name, at + ": name",
              in_quotes(name) + ", as that of kernel " + std::to_string(other),
              "a name of its own");
    }
    require(kernel.deterministic == 0 || kernel.deterministic == 1, name + ": deterministic",
            std::to_string(kernel.deterministic), "0 or 1");
    require(kernel.ignores_hidden_keys == 0 || kernel.ignores_hidden_keys == 1,
            name + ": ignores_hidden_keys", std::to_string(kernel.ignores_hidden_keys), "0 or 1");
    require(kernel.supports != nullptr, name + ": supports", "null", "a function");
    require(kernel.forward || kernel.backward || kernel.decode,
            name + ": forward, backward or decode", "null in all three", "one function at least");
    require(kernel.memory == PLUMBLINE_HOST_MEMORY || kernel.memory == PLUMBLINE_CUDA_MEMORY,
            name + ": memory", std::to_string(kernel.memory),
            "PLUMBLINE_HOST_MEMORY or PLUMBLINE_CUDA_MEMORY");
  }
}

}  // namespace

bool is_kernel_count(int count) { return count >= 1 && count <= 1000; }

bool is_kernel_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
}

void require_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (is_regular_file(status)) return;
  const std::string what = !exists(status)        ? ", which is not there"
                           : is_directory(status) ? ", a folder"
                                                  : ", which is no regular file";
  throw BadInput("--kernel", path_in_quotes(path) + what, "the path of a shared library");
}

LoadedLibrary load_library(const std::filesystem::path& path) {
  require_file(path);
  // Never unloaded: a device context or a thread of the library may outlive the last kernel.
  // Absolute: dlopen searches the system's folders for a name without a slash.
  void* handle =
      dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw BadInput("--kernel", path_in_quotes(path),
                   std::string("a loadable shared library (the loader says: ") +
                       (reason ? showable(reason) : "nothing") + ")");
  }
  std::shared_ptr<void> keep(handle, [](void* library) { dlclose(library); });
  const auto entry = reinterpret_cast<decltype(&plumbline_kernel_library)>(
      dlsym(handle, "plumbline_kernel_library"));
  if (entry == nullptr) {
    throw BadInput("--kernel", path_in_quotes(path),
                   "a library that exports plumbline_kernel_library (plumbline_kernel.h)");
  }
  const plumbline_library* library = entry();
  if (library == nullptr) {
    throw MachineLacks(showable(path.filename().native()) +
                       ": plumbline_kernel_library() returned null: it says that it cannot run on "
                       "this machine");
  }
  if (library->abi_version != PLUMBLINE_ABI_VERSION) {
    throw BadInput(showable(path.native()) + ": abi_version", std::to_string(library->abi_version),
                   std::to_string(PLUMBLINE_ABI_VERSION));
  }
  validate_library(*library, showable(path.native()));
  return {keep, library};
}

}  // namespace plumbline::kernel_process
