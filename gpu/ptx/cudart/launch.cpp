// SPDX-License-Identifier: Apache-2.0
// Launches, and what a program asks about kernels before them.
#include "ptx/cuda/launches.hpp"
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;

namespace {

Extent extent_of(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

Launch launch_of(const Dim3& grid, const Dim3& block, std::size_t shared) {
  Launch launch;
  launch.grid = extent_of(grid);
  launch.block = extent_of(block);
  launch.dynamic_shared_bytes = shared;
  return launch;
}

Error launched(const void* host, const Launch& how, void* const* arguments, Stream* stream) {
  const Asynchronous call;
  return run([&](Process& process) {
    process.streams.of(stream);
    Function* function = nullptr;
    const KernelInfo* info = nullptr;
    refusals_are_told([&] {
      function = &process.modules.function(host);
      info = &process.modules.info(*function);
    });
    launch(process, stream, *function, how, packed(*info, arguments));
  });
}

}  // namespace

PLUMBLINE_CUDA Error cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                      std::size_t shared, Stream* stream) {
  return launched(host, launch_of(grid, block, shared), arguments, stream);
}

/// Of programs compiled by nvcc 13: by what __cudaGetKernel gave.
PLUMBLINE_CUDA Error __cudaLaunchKernel(Function* kernel, Dim3 grid, Dim3 block, void** arguments,
                                        std::size_t shared, Stream* stream) {
  return launched(kernel, launch_of(grid, block, shared), arguments, stream);
}

PLUMBLINE_CUDA Error cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block,
                                                 void** arguments, std::size_t shared,
                                                 Stream* stream) {
  Launch cooperative = launch_of(grid, block, shared);
  cooperative.cooperative = true;
  return launched(host, cooperative, arguments, stream);
}

PLUMBLINE_CUDA Error cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* host,
                                         void** arguments) {
  if (configuration == nullptr) return run([](Process&) { expect(false); });
  Launch asked =
      launch_of(configuration->grid, configuration->block, configuration->dynamic_shared);
  const bool records = apply(asked, {configuration->attributes, configuration->attribute_count});
  const Error error = launched(host, asked, arguments, configuration->stream);
  return error == Error::success && records ? run([](Process&) {}) : error;
}

PLUMBLINE_CUDA Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host) {
  return run([&](Process& process) {
    expect(attributes != nullptr);
    Function& function = process.modules.function(host);
    const auto get = [&](FunctionAttribute attribute) {
      return attribute_of(process, function, attribute);
    };
    *attributes = {};
    attributes->shared_bytes = static_cast<std::size_t>(get(FunctionAttribute::shared_bytes));
    attributes->local_bytes = static_cast<std::size_t>(get(FunctionAttribute::local_bytes));
    attributes->threads_per_block = get(FunctionAttribute::max_threads);
    attributes->registers = get(FunctionAttribute::registers);
    attributes->ptx_version = get(FunctionAttribute::ptx_version);
    attributes->binary_version = get(FunctionAttribute::binary_version);
    attributes->dynamic_shared_bytes = get(FunctionAttribute::max_dynamic_shared);
    attributes->shared_carveout = get(FunctionAttribute::preferred_carveout);
    attributes->cluster_non_portable = get(FunctionAttribute::non_portable_cluster);
  });
}

PLUMBLINE_CUDA Error cudaFuncSetAttribute(const void* host, FunctionAttribute attribute,
                                          int value) {
  const Asynchronous call;
  return run([&](Process& process) {
    set_attribute(process, process.modules.function(host), attribute, value);
  });
}

PLUMBLINE_CUDA Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host, int threads, std::size_t shared, unsigned) {
  return run([&](Process& process) {
    expect(blocks != nullptr && threads > 0);
    *blocks = blocks_at_once(process, process.modules.function(host),
                             static_cast<std::size_t>(threads), shared);
  });
}

PLUMBLINE_CUDA Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                                   int threads,
                                                                   std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
