// SPDX-License-Identifier: Apache-2.0
// Functions by their names.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "ptx/cuda/device_info.hpp"
#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;

extern "C" Error cuDriverGetVersion(int*);

namespace {

/// What a version of CUDA calls by a name, where versions differ in the arguments, the latest
/// first; since which one. 32-bit sizes of before CUDA 3.2 are not there.
struct Version {
  const char *name, *exported;
  int since;
};
constexpr Version versions[] = {
    {"cuCtxCreate", "cuCtxCreate_v4", 12050},
    {"cuCtxCreate", "cuCtxCreate_v3", 11040},
    {"cuCtxCreate", "cuCtxCreate_v2", 3020},
    {"cuCtxGetDevice", "cuCtxGetDevice_v2", 13000},
    {"cuCtxGetDevice", "cuCtxGetDevice", 2000},
    {"cuCtxSynchronize", "cuCtxSynchronize_v2", 13000},
    {"cuCtxSynchronize", "cuCtxSynchronize", 2000},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
    {"cuGetProcAddress", "cuGetProcAddress", 11030},
    {"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 12000},
    {"cuMemAdvise", "cuMemAdvise_v2", 12020},
    {"cuMemAdvise", "cuMemAdvise", 8000},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 12020},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync", 8000},
};

/// CUdriverProcAddressQueryResult
enum Status : int { found = 0, no_such_name = 1, version_too_low = 2 };

/// A function of this library.
void* exported(const std::string& name) {
  static void* const library = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(&cuDriverGetVersion), &info)
               ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
               : nullptr;
  }();
  return library ? dlsym(library, name.c_str()) : nullptr;
}

void* function_named(const std::string& name, int version, Status& status) {
  status = no_such_name;
  for (const Version& known : versions) {
    if (name != known.name) continue;
    status = known.since <= version ? found : version_too_low;
    if (status == found) return exported(known.exported);
  }
  if (status != no_such_name || !name.starts_with("cu")) return nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    if (void* function = exported(name + suffix)) {
      status = found;
      return function;
    }
  }
  return nullptr;
}

}  // namespace

/// Streams are all alike here: the flags, which choose the default one, change nothing.
PLUMBLINE_CUDA Error cuGetProcAddress_v2(const char* name, void** function, int version,
                                         std::uint64_t flags, int* status) {
  if (name == nullptr || function == nullptr || flags > 2 || version > driver_version) {
    return Error::invalid_value;
  }
  Status result;
  *function = function_named(name, version, result);
  if (status) *status = result;
  return *function || status ? Error::success : Error::symbol_not_found;
}

PLUMBLINE_CUDA Error cuGetProcAddress(const char* name, void** function, int version,
                                      std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// Functions that CUDA does not document. Its static runtime asks for them.
PLUMBLINE_CUDA Error cuGetExportTable(const void** table, const void* id) {
  if (table == nullptr || id == nullptr) return Error::invalid_value;
  *table = nullptr;
  return cuda_driver::driver_error(attempted([](Process&) {
    throw Refused(
        Refused::Reason::not_supported,
        "cuGetExportTable: the program, or a library of it, has CUDA's runtime linked into "
        "it, which asks for functions that CUDA does not document: link it with the option "
        "-cudart shared of nvcc");
  }));
}
