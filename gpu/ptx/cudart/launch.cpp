// SPDX-License-Identifier: Apache-2.0
// Launches, and what a program asks about kernels before them. A launch has ended when it returns,
// and returns the error of its kernel, as with CUDA_LAUNCH_BLOCKING=1.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ptx/cudart/runtime.hpp"
#include "ptx/cudart/sanitize.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cudart;

namespace {

Extent extent_of(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

/// What a launch may ask for.
std::size_t most_dynamic_shared(Runtime& runtime, Function& function) {
  if (function.max_dynamic_shared) return *function.max_dynamic_shared;
  const std::size_t fixed = runtime.device().info(runtime.kernel(function)).static_shared_bytes;
  const std::size_t all = runtime.properties().shared_per_block;
  return all - std::min(fixed, all);
}

int most_threads(Runtime& runtime, const KernelInfo& info) {
  std::uint32_t threads = runtime.properties().threads_per_block;
  if (info.max_threads > 0) threads = std::min(threads, info.max_threads);
  if (info.registers > 0) {
    threads =
        std::min(threads, runtime.properties().registers_per_block / info.registers / 32 * 32);
  }
  return static_cast<int>(threads);
}

/// Blocks of this size that a multiprocessor has room for.
int blocks_at_once(Runtime& runtime, Function& function, std::size_t threads,
                   std::size_t dynamic_shared) {
  const Properties& device = runtime.properties();
  const Multiprocessor room = multiprocessor_of(device);
  const KernelInfo& info = runtime.device().info(runtime.kernel(function));
  if (threads == 0 || threads > device.threads_per_block) return 0;
  const std::size_t warps = (threads + 31) / 32;
  std::size_t blocks = std::min<std::size_t>(room.blocks, room.threads / 32 / warps);
  const std::size_t shared = info.static_shared_bytes + dynamic_shared + room.reserved_per_block;
  if (shared > 0) blocks = std::min(blocks, room.shared_bytes / shared);
  // A warp gets registers in pieces of 256.
  const std::size_t registers = (info.registers * 32 + 255) / 256 * 256 * warps;
  if (registers > 0) blocks = std::min(blocks, device.registers_per_block / registers);
  return static_cast<int>(blocks);
}

std::vector<std::byte> packed(const KernelInfo& info, void* const* arguments) {
  std::vector<std::byte> bytes(info.parameter_bytes);
  expect(info.parameters.empty() || arguments != nullptr);
  for (std::size_t n = 0; n < info.parameters.size(); ++n) {
    const Parameter& parameter = info.parameters[n];
    if (parameter.size > 0) {
      std::memcpy(bytes.data() + parameter.offset, arguments[n], parameter.size);
    }
  }
  return bytes;
}

/// Beyond what the device itself looks at.
void expect_room(Runtime& runtime, Function& function, const Launch& launch) {
  const std::size_t most = most_dynamic_shared(runtime, function);
  if (launch.dynamic_shared_bytes > most) {
    throw Refused(Refused::Reason::invalid_value,
                  function.name + ": a launch with " + std::to_string(launch.dynamic_shared_bytes) +
                      " bytes of dynamic shared memory; it may have " + std::to_string(most) +
                      ", more after cudaFuncSetAttribute with "
                      "cudaFuncAttributeMaxDynamicSharedMemorySize");
  }
  if (!launch.cooperative) return;
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const int at_once = blocks_at_once(runtime, function, threads, launch.dynamic_shared_bytes);
  expect(blocks <= std::uint64_t{runtime.properties().multiprocessors} * at_once,
         Error::cooperative_launch_too_large);
}

Error launch(const void* host, const Launch& launch, void* const* arguments, Stream* stream) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    Function& function = runtime.function(host);
    const Kernel& kernel = runtime.kernel(function);
    expect_room(runtime, function, launch);
    const auto parameters = packed(runtime.device().info(kernel), arguments);
    runtime.device().launch(kernel, launch, parameters);
    count_launch(function.name);
  });
}

Launch launch_of(const Dim3& grid, const Dim3& block, std::size_t shared) {
  Launch launch;
  launch.grid = extent_of(grid);
  launch.block = extent_of(block);
  launch.dynamic_shared_bytes = shared;
  return launch;
}

}  // namespace

PLUMBLINE_CUDART Error cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                        std::size_t shared, Stream* stream) {
  return launch(host, launch_of(grid, block, shared), arguments, stream);
}

/// Of programs compiled by nvcc 13: by what __cudaGetKernel gave.
PLUMBLINE_CUDART Error __cudaLaunchKernel(Function* kernel, Dim3 grid, Dim3 block, void** arguments,
                                          std::size_t shared, Stream* stream) {
  return launch(kernel, launch_of(grid, block, shared), arguments, stream);
}

PLUMBLINE_CUDART Error cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block,
                                                   void** arguments, std::size_t shared,
                                                   Stream* stream) {
  Launch cooperative = launch_of(grid, block, shared);
  cooperative.cooperative = true;
  return launch(host, cooperative, arguments, stream);
}

/// Attributes other than those two are hints, or order launches that are in order here anyway.
PLUMBLINE_CUDART Error cudaLaunchKernelExC(const LaunchConfiguration* configuration,
                                           const void* host, void** arguments) {
  if (configuration == nullptr) return run([](Runtime&) { expect(false); });
  Launch asked =
      launch_of(configuration->grid, configuration->block, configuration->dynamic_shared);
  for (unsigned n = 0; n < configuration->attribute_count; ++n) {
    const LaunchAttribute& attribute = configuration->attributes[n];
    if (attribute.id == attribute_cluster) asked.cluster = extent_of(attribute.cluster);
    if (attribute.id == attribute_cooperative) asked.cooperative = attribute.flag != 0;
  }
  return launch(host, asked, arguments, configuration->stream);
}

PLUMBLINE_CUDART Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host) {
  return run([&](Runtime& runtime) {
    expect(attributes != nullptr);
    Function& function = runtime.function(host);
    const KernelInfo& info = runtime.device().info(runtime.kernel(function));
    const Properties& device = runtime.properties();
    *attributes = {};
    attributes->shared_bytes = info.static_shared_bytes;
    attributes->local_bytes = info.local_bytes;
    attributes->threads_per_block = most_threads(runtime, info);
    attributes->registers = static_cast<int>(info.registers);
    attributes->ptx_version = function.module->chosen->target.number;
    attributes->binary_version = 10 * device.compute_major + device.compute_minor;
    attributes->dynamic_shared_bytes = static_cast<int>(most_dynamic_shared(runtime, function));
    attributes->shared_carveout = -1;
  });
}

PLUMBLINE_CUDART Error cudaFuncSetAttribute(const void* host, FunctionAttribute attribute,
                                            int value) {
  return run([&](Runtime& runtime) {
    Function& function = runtime.function(host);
    if (attribute == FunctionAttribute::max_dynamic_shared) {
      const KernelInfo& info = runtime.device().info(runtime.kernel(function));
      expect(value >= 0 && info.static_shared_bytes + static_cast<std::size_t>(value) <=
                               runtime.properties().shared_per_block_optin);
      function.max_dynamic_shared = static_cast<std::size_t>(value);
    } else {  // hints
      expect(attribute == FunctionAttribute::preferred_carveout ||
             attribute == FunctionAttribute::non_portable_cluster ||
             attribute == FunctionAttribute::cluster_scheduling_policy);
    }
  });
}

PLUMBLINE_CUDART Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host, int threads, std::size_t shared, unsigned) {
  return run([&](Runtime& runtime) {
    expect(blocks != nullptr && threads > 0);
    *blocks =
        blocks_at_once(runtime, runtime.function(host), static_cast<std::size_t>(threads), shared);
  });
}

PLUMBLINE_CUDART Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                                     int threads,
                                                                     std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
