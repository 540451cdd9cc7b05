// SPDX-License-Identifier: Apache-2.0
// The occupancy of every architecture that the device plays, compared with cuda_occupancy.h of the
// toolkit.
#include <cuda_occupancy.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "ptx/cuda/options.hpp"
#include "ptx/profile.hpp"

using namespace plumbline::ptx;

namespace {

/// Blocks on a multiprocessor with all the shared memory that it can have; -1 where the header
/// knows no such device.
int of_the_toolkit(const Properties& device, int threads, int registers,
                   std::size_t dynamic_shared) {
  cudaOccDeviceProp of_device{};
  of_device.computeMajor = device.compute_major;
  of_device.computeMinor = device.compute_minor;
  of_device.maxThreadsPerBlock = static_cast<int>(device.threads_per_block);
  of_device.maxThreadsPerMultiprocessor = static_cast<int>(device.threads_per_multiprocessor);
  of_device.regsPerBlock = of_device.regsPerMultiprocessor =
      static_cast<int>(device.registers_per_block);
  of_device.warpSize = 32;
  of_device.sharedMemPerBlock = device.shared_per_block;
  of_device.sharedMemPerMultiprocessor = device.shared_per_multiprocessor;
  of_device.numSms = static_cast<int>(device.multiprocessors);
  of_device.sharedMemPerBlockOptin = device.shared_per_block_optin;
  of_device.reservedSharedMemPerBlock = device.shared_reserved_per_block;
  cudaOccFuncAttributes of_kernel{};
  of_kernel.maxThreadsPerBlock = 1024;
  of_kernel.numRegs = registers;
  of_kernel.maxDynamicSharedSizeBytes = dynamic_shared;
  of_kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  cudaOccDeviceState state{};
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &of_device, &of_kernel, &state, threads, dynamic_shared);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(occupancy_is_that_of_the_toolkit) {
  int compared = 0;
  for (const std::string compute : {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"}) {
    const auto value_of = [&](const char* name) {
      return std::string(name) == "PLUMBLINE_DEVICE_COMPUTE" ? compute.c_str() : nullptr;
    };
    const Properties device = cuda::options_from(value_of).properties;
    for (int threads = 1; threads <= 1024; threads += threads < 130 ? 31 : 97)
      for (int registers = 8; registers <= 255; registers += 13)
        for (std::size_t shared = 0; shared <= device.shared_per_block_optin; shared += 3333) {
          const int expected = of_the_toolkit(device, threads, registers, shared);
          if (expected < 0) continue;
          const auto blocks =
              static_cast<int>(occupancy_of(device, static_cast<std::uint32_t>(threads),
                                            static_cast<std::uint32_t>(registers), shared)
                                   .blocks);
          if (blocks != expected)
            BOOST_TEST(blocks == expected, compute << ", " << threads << " threads, " << registers
                                                   << " registers, " << shared
                                                   << " bytes: " << blocks << ", not " << expected);
          ++compared;
        }
  }
  BOOST_TEST(compared > 10'000);
}
