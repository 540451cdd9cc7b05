// SPDX-License-Identifier: Apache-2.0
// The driver's functions by their names, as programs ask the runtime for them that are not linked
// with the driver.
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;

extern "C" Error cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*);
extern "C" Error cudaRuntimeGetVersion(int*);

/// `status` (cudaDriverEntryPointQueryResult): 0 found, 1 no such function, 2 not in that version.
PLUMBLINE_CUDA Error cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                      unsigned version, unsigned long long flags,
                                                      int* status) {
  return run([&](Process&) {
    int result = 0;
    const Error error =
        cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, &result);
    expect(error == Error::success, error);
    if (status) *status = result;
    expect(status != nullptr || result == 0, Error::symbol_not_found);
  });
}

PLUMBLINE_CUDA Error cudaGetDriverEntryPoint(const char* name, void** function,
                                             unsigned long long flags, int* status) {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return cudaGetDriverEntryPointByVersion(name, function, static_cast<unsigned>(version), flags,
                                          status);
}
