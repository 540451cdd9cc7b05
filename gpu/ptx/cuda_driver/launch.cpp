// SPDX-License-Identifier: Apache-2.0
// Launches, and what a program asks about kernels before them.
#include "ptx/cuda/launches.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

/// CUlaunchConfig
struct Configuration {
  Dim3 grid, block;
  unsigned dynamic_shared;
  Stream* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// CU_LAUNCH_PARAM_END, ..._BUFFER_POINTER and ..._BUFFER_SIZE
enum Extra : std::uintptr_t { extra_end = 0, extra_pointer = 1, extra_size = 2 };

/// The parameters, as one block of bytes that `extra` names.
std::vector<std::byte> block_of(const KernelInfo& info, void** extra) {
  const void* from = nullptr;
  std::size_t bytes = 0;
  bool has_size = false;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != extra_end; extra += 2) {
    const auto name = reinterpret_cast<std::uintptr_t>(*extra);
    expect((name == extra_pointer || name == extra_size) && extra[1] != nullptr);
    if (name == extra_pointer) from = extra[1];
    if (name == extra_size) std::memcpy(&bytes, extra[1], sizeof bytes), has_size = true;
  }
  expect(has_size && (from != nullptr || bytes == 0));
  // Some count the bytes that would fill the block up to a multiple of its alignment.
  expect(bytes >= info.parameter_bytes && bytes - info.parameter_bytes < 16);
  std::vector<std::byte> parameters(info.parameter_bytes);
  if (!parameters.empty()) std::memcpy(parameters.data(), from, parameters.size());
  return parameters;
}

Error launched(Function* handle, const Launch& how, Stream* stream, void** arguments,
               void** extra) {
  const Asynchronous call;
  return run([&](Process& process) {
    process.streams.of(stream);
    Function& function = process.modules.function(handle);
    const KernelInfo* info = nullptr;
    refusals_are_told([&] { info = &process.modules.info(function); });
    expect(arguments == nullptr || extra == nullptr);
    launch(process, stream, function, how,
           extra ? block_of(*info, extra) : packed(*info, arguments));
  });
}

Launch launch_of(const Dim3& grid, const Dim3& block, unsigned shared) {
  Launch launch;
  launch.grid = {grid.x, grid.y, grid.z};
  launch.block = {block.x, block.y, block.z};
  launch.dynamic_shared_bytes = shared;
  return launch;
}

}  // namespace

PLUMBLINE_CUDA Error cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned shared, Stream* stream,
                                    void** arguments, void** extra) {
  const Launch how = launch_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared);
  return launched(function, how, stream, arguments, extra);
}

PLUMBLINE_CUDA Error cuLaunchKernelEx(const Configuration* configuration, Function* function,
                                      void** arguments, void** extra) {
  if (configuration == nullptr ||
      (configuration->attribute_count > 0 && !configuration->attributes))
    return run([](Process&) { expect(false); });
  Launch how = launch_of(configuration->grid, configuration->block, configuration->dynamic_shared);
  const bool records = apply(how, {configuration->attributes, configuration->attribute_count});
  const Error error = launched(function, how, configuration->stream, arguments, extra);
  return error == Error::success && records ? run([](Process&) {}) : error;
}

PLUMBLINE_CUDA Error cuLaunchCooperativeKernel(Function* function, unsigned grid_x, unsigned grid_y,
                                               unsigned grid_z, unsigned block_x, unsigned block_y,
                                               unsigned block_z, unsigned shared, Stream* stream,
                                               void** arguments) {
  Launch how = launch_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared);
  how.cooperative = true;
  return launched(function, how, stream, arguments, nullptr);
}

PLUMBLINE_CUDA Error cuFuncGetAttribute(int* value, FunctionAttribute attribute,
                                        Function* function) {
  return run([&](Process& process) {
    expect(value != nullptr);
    *value = attribute_of(process, process.modules.function(function), attribute);
  });
}

PLUMBLINE_CUDA Error cuFuncSetAttribute(Function* function, FunctionAttribute attribute,
                                        int value) {
  return run([&](Process& process) {
    set_attribute(process, process.modules.function(function), attribute, value);
  });
}

/// Hints.
PLUMBLINE_CUDA Error cuFuncSetCacheConfig(Function* function, int configuration) {
  return run([&](Process& process) {
    process.modules.function(function);
    expect(configuration >= 0 && configuration <= 3);
  });
}

PLUMBLINE_CUDA Error cuFuncSetSharedMemConfig(Function* function, int configuration) {
  return cuFuncSetCacheConfig(function, configuration);
}

PLUMBLINE_CUDA Error cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Function* function, int threads, std::size_t shared, unsigned) {
  return run([&](Process& process) {
    expect(blocks != nullptr && threads > 0);
    *blocks = blocks_at_once(process, process.modules.function(function),
                             static_cast<std::size_t>(threads), shared);
  });
}

PLUMBLINE_CUDA Error cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function,
                                                                 int threads, std::size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/// The largest block with which a multiprocessor has as many threads as with any.
PLUMBLINE_CUDA Error cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block,
                                                               Function* function,
                                                               std::size_t (*shared_of)(int),
                                                               std::size_t shared, int limit,
                                                               unsigned) {
  return run([&](Process& process) {
    expect(grid != nullptr && block != nullptr && limit >= 0);
    Function& known = process.modules.function(function);
    int most = most_threads(process, known), best = 0;
    if (limit > 0) most = std::min(most, limit);
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
      const std::size_t bytes = shared_of ? shared_of(threads) : shared;
      const int blocks = blocks_at_once(process, known, static_cast<std::size_t>(threads), bytes);
      if (blocks * threads <= best) continue;
      best = blocks * threads;
      *block = threads;
      *grid = blocks * static_cast<int>(process.properties().multiprocessors);
    }
    expect(best > 0);
  });
}

PLUMBLINE_CUDA Error cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* function,
                                                      std::size_t (*shared_of)(int),
                                                      std::size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit,
                                                   0);
}

PLUMBLINE_CUDA Error cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Function* function,
                                                             int blocks, int threads) {
  return run([&](Process& process) {
    expect(bytes != nullptr && blocks > 0 && threads > 0);
    Function& known = process.modules.function(function);
    const auto size = static_cast<std::size_t>(threads);
    expect(blocks_at_once(process, known, size, 0) >= blocks);
    std::size_t most = process.properties().shared_per_block_optin;
    while (most > 0 && blocks_at_once(process, known, size, most) < blocks) --most;
    *bytes = most;
  });
}
