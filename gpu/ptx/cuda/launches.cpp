// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/launches.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/cuda/profiles.hpp"
#include "ptx/cuda/sanitize.hpp"
#include "ptx/profile.hpp"

namespace plumbline::ptx::cuda {
namespace {

/// The threads of a block that the registers leave room for, by ptxas's number, where the program
/// has machine code for the device; else nothing is known.
std::optional<std::uint32_t> threads_by_registers(Process& process, const Function& function) {
  const std::uint32_t registers = process.modules.registers(function);
  if (registers == 0) return std::nullopt;
  return 32 * occupancy_of(process.properties(), 32, registers, 0).by_registers;
}

/// Beyond what the device itself looks at.
void expect_room(Process& process, Function& function, const Launch& launch) {
  const std::size_t most = most_dynamic_shared(process, function);
  if (launch.dynamic_shared_bytes > most) {
    throw Refused(Refused::Reason::invalid_value,
                  function.name + ": a launch with " + std::to_string(launch.dynamic_shared_bytes) +
                      " bytes of dynamic shared memory; it may have " + std::to_string(most) +
                      ", more after cudaFuncSetAttribute with "
                      "cudaFuncAttributeMaxDynamicSharedMemorySize");
  }
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const auto of_registers = threads_by_registers(process, function);
  // More than any block may have is refused by the device.
  if (of_registers && threads > *of_registers &&
      threads <= process.properties().threads_per_block) {
    throw Refused(Refused::Reason::out_of_resources,
                  function.name + ": a block of " + std::to_string(threads) + " threads; its " +
                      std::to_string(process.modules.registers(function)) +
                      " registers a thread leave room for " + std::to_string(*of_registers));
  }
  if (!launch.cooperative) return;
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const int at_once = blocks_at_once(process, function, threads, launch.dynamic_shared_bytes);
  // Where not even one has room, the device itself tells what it is that has none.
  expect(at_once == 0 || blocks <= std::uint64_t{process.properties().multiprocessors} * at_once,
         Error::cooperative_launch_too_large);
}

}  // namespace

std::vector<std::byte> packed(const KernelInfo& info, void* const* arguments) {
  std::vector<std::byte> bytes(info.parameter_bytes);
  expect(info.parameters.empty() || arguments != nullptr);
  for (std::size_t n = 0; n < info.parameters.size(); ++n) {
    const Parameter& parameter = info.parameters[n];
    if (parameter.size == 0) continue;
    expect(arguments[n] != nullptr);
    std::memcpy(bytes.data() + parameter.offset, arguments[n], parameter.size);
  }
  return bytes;
}

void launch(Process& process, const Stream* stream, Function& function, Launch launch,
            std::vector<std::byte> parameters) {
  process.streams.of(stream);
  launch.non_portable_cluster = function.non_portable_cluster;
  refusals_are_told([&] {
    expect_room(process, function, launch);
    // What is done late is refused now, as CUDA does.
    if (process.device().options().variation.late)
      process.device().expect_launch(process.modules.kernel(function), launch, parameters.size());
  });
  process.streams.submit(
      stream, NodeType::kernel,
      [handle = &function, launch, parameters = std::move(parameters)](Process& here) {
        // Of a graph its module may have gone.
        Function& known = here.modules.function(handle, Error::invalid_resource_handle);
        const Kernel& kernel = here.modules.kernel(known);
        refusals_are_told([&] {
          if (profiles()) {
            const std::uint32_t registers = here.modules.registers(known);
            keep_profile(here.device().profile(kernel, launch, parameters, registers));
          } else {
            here.device().launch(kernel, launch, parameters);
          }
        });
        count_launch(known.name);
      });
}

bool apply(Launch& launch, std::span<const LaunchAttribute> attributes) {
  bool records = false;
  for (const LaunchAttribute& attribute : attributes) {
    if (attribute.id == attribute_cluster) {
      launch.cluster = {attribute.cluster.x, attribute.cluster.y, attribute.cluster.z};
    }
    if (attribute.id == attribute_cooperative) launch.cooperative = attribute.flag != 0;
    records |= attribute.id == attribute_programmatic_event ||
               attribute.id == attribute_launch_completion_event;
  }
  return records;
}

std::size_t most_dynamic_shared(Process& process, Function& function) {
  if (function.max_dynamic_shared) return *function.max_dynamic_shared;
  const std::size_t fixed = process.modules.info(function).static_shared_bytes;
  const std::size_t all = process.properties().shared_per_block;
  return all - std::min(fixed, all);
}

int most_threads(Process& process, Function& function) {
  const KernelInfo& info = process.modules.info(function);
  const Properties& device = process.properties();
  std::uint32_t threads = device.threads_per_block;
  if (info.max_threads > 0) threads = std::min(threads, info.max_threads);
  if (const auto of_registers = threads_by_registers(process, function)) {
    threads = std::min(threads, *of_registers);
  } else if (info.registers > 0) {  // an estimate
    threads = std::min(threads, device.registers_per_block / info.registers / 32 * 32);
  }
  return static_cast<int>(threads);
}

int blocks_at_once(Process& process, Function& function, std::size_t threads,
                   std::size_t dynamic_shared) {
  const Properties& device = process.properties();
  const KernelInfo& info = process.modules.info(function);
  if (threads == 0 || threads > device.threads_per_block) return 0;
  const Occupancy occupancy =
      occupancy_of(device, static_cast<std::uint32_t>(threads), registers_of(info, device),
                   info.static_shared_bytes + dynamic_shared);
  return static_cast<int>(occupancy.blocks);
}

int attribute_of(Process& process, Function& function, FunctionAttribute attribute) {
  const KernelInfo& info = process.modules.info(function);
  const Properties& device = process.properties();
  switch (attribute) {
    case FunctionAttribute::max_threads:
      return most_threads(process, function);
    case FunctionAttribute::shared_bytes:
      return static_cast<int>(info.static_shared_bytes);
    case FunctionAttribute::local_bytes:
      return static_cast<int>(info.local_bytes);
    case FunctionAttribute::registers:
      return static_cast<int>(info.registers);
    case FunctionAttribute::ptx_version:
      return function.module->chosen->target.number;
    case FunctionAttribute::binary_version:
      return 10 * device.compute_major + device.compute_minor;
    case FunctionAttribute::max_dynamic_shared:
      return static_cast<int>(most_dynamic_shared(process, function));
    case FunctionAttribute::preferred_carveout:
      return -1;
    case FunctionAttribute::non_portable_cluster:
      return function.non_portable_cluster;
    case FunctionAttribute::constant_bytes:
    case FunctionAttribute::cache_mode_ca:
    case FunctionAttribute::cluster_must_be_set:
    case FunctionAttribute::cluster_width:
    case FunctionAttribute::cluster_height:
    case FunctionAttribute::cluster_depth:
    case FunctionAttribute::cluster_scheduling_policy:
      return 0;
  }
  throw Failure{Error::invalid_value};
}

void set_attribute(Process& process, Function& function, FunctionAttribute attribute, int value) {
  if (attribute == FunctionAttribute::max_dynamic_shared) {
    const KernelInfo& info = process.modules.info(function);
    expect(value >= 0 && info.static_shared_bytes + static_cast<std::size_t>(value) <=
                             process.properties().shared_per_block_optin);
    function.max_dynamic_shared = static_cast<std::size_t>(value);
  } else if (attribute == FunctionAttribute::non_portable_cluster) {
    function.non_portable_cluster = value != 0;
  } else {  // hints
    expect(attribute == FunctionAttribute::preferred_carveout ||
           attribute == FunctionAttribute::cluster_scheduling_policy);
  }
}

}  // namespace plumbline::ptx::cuda
