// SPDX-License-Identifier: Apache-2.0
#include "ptx/device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "ptx/execute/state.hpp"
#include "ptx/memory/allocation.hpp"
#include "ptx/profile.hpp"
#include "ptx/read/module.hpp"
#include "ptx/translate/program.hpp"

namespace plumbline::ptx {

struct Loaded;

struct Kernel {
  const Loaded* module = nullptr;
  const Function* function = nullptr;
  /// For each variation; `profiled`: with probes.
  mutable std::vector<std::pair<Variation, std::unique_ptr<KernelProgram>>> programs, profiled;
  mutable KernelInfo info;
};

struct Loaded {
  std::string name;
  std::unique_ptr<Module> module;
  Layout layout;
  std::map<std::string, Kernel, std::less<>> kernels;
};

namespace {

std::size_t up(std::size_t value, std::size_t align) { return (value + align - 1) / align * align; }

[[noreturn]] void refuse(Refused::Reason reason, const std::string& text) {
  throw Refused(reason, text);
}

}  // namespace

struct Device::State {
  Options options;
  mutable std::recursive_mutex mutex;
  Allocations memory;
  std::map<std::uint64_t, Loaded> modules;
  std::uint64_t next_module = 1;

  /// Translates the kernel when it is first asked for, for each variation.
  const KernelProgram& program(const Kernel& kernel, bool profiled = false) const;
  void run(const Kernel& kernel, const KernelProgram& program, const Launch& launch,
           std::span<const std::byte> parameters, LaunchState& state);
  void place_variables(Loaded& loaded);
  void initialise(Loaded& loaded);
  void remove(Loaded& loaded);
};

Device::Device(const Options& options) : state_(std::make_unique<State>()) {
  state_->options = options;
}
Device::~Device() = default;

const Options& Device::options() const { return state_->options; }

void Device::vary(const Variation& variation) {
  const std::scoped_lock lock(state_->mutex);
  state_->options.variation = variation;
}

void Device::limit_time(std::uint64_t milliseconds) {
  const std::scoped_lock lock(state_->mutex);
  state_->options.time_limit_ms = milliseconds;
}

Address Device::allocate(std::size_t bytes) {
  const std::scoped_lock lock(state_->mutex);
  const Address address = state_->memory.allocate(bytes, state_->options.properties.global_bytes);
  if (state_->options.uninitialised == Options::Uninitialised::ones) {
    std::memset(reinterpret_cast<void*>(address), 0xff, bytes);
    state_->memory.initialise(address, bytes);
  }
  return address;
}
void Device::release(Address address) {
  const std::scoped_lock lock(state_->mutex);
  state_->memory.release(address);
}
void Device::adopt(void* memory, std::size_t bytes, bool writable) {
  const std::scoped_lock lock(state_->mutex);
  state_->memory.adopt(memory, bytes, writable);
}
void Device::forget(void* memory) {
  const std::scoped_lock lock(state_->mutex);
  state_->memory.forget(memory);
}
void Device::write(Address to, const void* from, std::size_t bytes) {
  const std::scoped_lock lock(state_->mutex);
  if (bytes == 0) return;
  state_->memory.require(to, bytes);
  std::memmove(reinterpret_cast<void*>(to), from, bytes);
  state_->memory.initialise(to, bytes);
}
void Device::read(void* to, Address from, std::size_t bytes) const {
  const std::scoped_lock lock(state_->mutex);
  if (bytes == 0) return;
  state_->memory.require(from, bytes);
  std::memmove(to, reinterpret_cast<const void*>(from), bytes);
}
void Device::copy(Address to, Address from, std::size_t bytes) {
  const std::scoped_lock lock(state_->mutex);
  if (bytes == 0) return;
  state_->memory.require(from, bytes);
  state_->memory.require(to, bytes);
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  state_->memory.copy_initialised(to, from, bytes);
}
void Device::set(Address to, std::uint8_t value, std::size_t bytes) {
  const std::scoped_lock lock(state_->mutex);
  if (bytes == 0) return;
  state_->memory.require(to, bytes);
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  state_->memory.initialise(to, bytes);
}
bool Device::has(Address address, std::size_t bytes) const {
  const std::scoped_lock lock(state_->mutex);
  const Allocation* a = state_->memory.find(address);
  return a && a->end - address >= bytes;
}

void Device::State::place_variables(Loaded& loaded) {
  for (const Variable& variable : loaded.module->variables) {
    const bool global = variable.space == Space::global || variable.space == Space::constant;
    const bool defined = global && !variable.is_extern && variable.type != Type::opaque;
    loaded.layout.variables.push_back(
        defined ? memory.allocate(
                      variable.bytes, options.properties.global_bytes, std::string(variable.name),
                      variable.space == Space::constant ? Window::constant : Window::global)
                : 0);
  }
}

void Device::State::initialise(Loaded& loaded) {
  const Module& module = *loaded.module;
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    const Address address = loaded.layout.variables[i];
    if (address == 0) continue;
    const Variable& variable = module.variables[i];
    // Without initial values a variable is 0.
    memory.clear(address);
    for (const Piece& piece : variable.pieces) {
      std::uint64_t bits = piece.bits;
      if (!piece.symbol.empty()) {
        const auto of_variable = module.variable_of.find(piece.symbol);
        bits += of_variable != module.variable_of.end()
                    ? loaded.layout.variables[of_variable->second]
                    : module.function_of.at(piece.symbol) + 1;
      }
      const std::size_t bytes = std::min<std::size_t>(piece.bytes, sizeof bits);
      if (piece.offset + bytes <= variable.bytes)
        std::memcpy(reinterpret_cast<std::byte*>(address) + piece.offset, &bits, bytes);
    }
  }
}

void Device::State::remove(Loaded& loaded) {
  for (const Address address : loaded.layout.variables)
    if (address) memory.release(address);
}

std::uint64_t Device::load(std::string_view ptx, std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  Loaded loaded;
  loaded.name = name;
  loaded.module = read_module(std::string(ptx));
  try {
    state_->place_variables(loaded);
  } catch (...) {
    state_->remove(loaded);
    throw;
  }
  state_->initialise(loaded);
  const std::uint64_t number = state_->next_module++;
  Loaded& kept = state_->modules[number];
  kept.name = std::move(loaded.name);
  kept.module = std::move(loaded.module);
  kept.layout = std::move(loaded.layout);
  for (const Function& function : kept.module->functions) {
    if (!function.entry || !function.defined) continue;
    Kernel& kernel = kept.kernels[std::string(function.name)];
    kernel.module = &kept;
    kernel.function = &function;
    KernelInfo& info = kernel.info;
    info.name = function.name;
    std::size_t at = 0;
    for (const Variable& parameter : function.parameters) {
      at = up(at, parameter.align);
      info.parameters.push_back({at, parameter.bytes});
      at += parameter.bytes;
    }
    info.parameter_bytes = at;
    const std::uint32_t* threads =
        function.required_threads[0] ? function.required_threads : function.max_threads;
    const std::uint64_t most = std::uint64_t{threads[0]} * threads[1] * threads[2];
    info.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 0xffffffffu));
    info.max_registers = function.max_registers;
    info.min_blocks = function.min_blocks;
  }
  return number;
}

void Device::unload(std::uint64_t module) {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->modules.find(module);
  if (found == state_->modules.end())
    refuse(Refused::Reason::invalid_value, "a module that is not loaded");
  state_->remove(found->second);
  state_->modules.erase(found);
}

std::vector<std::string> Device::kernel_names(std::uint64_t module) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->modules.find(module);
  if (found == state_->modules.end())
    refuse(Refused::Reason::invalid_value, "a module that is not loaded");
  std::vector<std::string> names;
  for (const Function& function : found->second.module->functions)
    if (function.entry && function.defined) names.emplace_back(function.name);
  return names;
}

const Kernel& Device::kernel(std::uint64_t module, std::string_view name) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->modules.find(module);
  if (found == state_->modules.end())
    refuse(Refused::Reason::invalid_value, "a module that is not loaded");
  const auto kernel = found->second.kernels.find(name);
  if (kernel == found->second.kernels.end())
    refuse(Refused::Reason::no_such_name, "no kernel " + std::string(name));
  return kernel->second;
}

const KernelProgram& Device::State::program(const Kernel& kernel, bool profiled) const {
  auto& programs = profiled ? kernel.profiled : kernel.programs;
  // Not the translation's concern.
  Variation variation = options.variation;
  variation.order_seed = 0;
  variation.late = false;
  for (const auto& [known, program] : programs)
    if (known == variation) return *program;
  Layout layout = kernel.module->layout;
  layout.variation = variation;
  auto program = translate(*kernel.module->module, *kernel.function, layout, profiled);
  if (!profiled && programs.empty()) {
    KernelInfo& info = kernel.info;
    info.static_shared_bytes = program->static_shared;
    info.local_bytes = program->entry->local_bytes;
    info.missing = program->missing;
    for (const auto& [function, of_function] : program->programs)
      info.registers = std::max(info.registers, of_function->registers);
  }
  return *programs.emplace_back(variation, std::move(program)).second;
}

const KernelInfo& Device::info(const Kernel& kernel) const {
  const std::scoped_lock lock(state_->mutex);
  state_->program(kernel);
  return kernel.info;
}

std::pair<Address, std::size_t> Device::variable(std::uint64_t module,
                                                 std::string_view name) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->modules.find(module);
  if (found == state_->modules.end())
    refuse(Refused::Reason::invalid_value, "a module that is not loaded");
  const Loaded& loaded = found->second;
  const auto at = loaded.module->variable_of.find(name);
  if (at == loaded.module->variable_of.end() || loaded.layout.variables[at->second] == 0)
    refuse(Refused::Reason::no_such_name, "no variable " + std::string(name));
  return {loaded.layout.variables[at->second], loaded.module->variables[at->second].bytes};
}

namespace {

/// Blocks of a cluster on compute capability 9.0, and on every later device.
constexpr std::uint32_t most_in_cluster = 16, most_in_portable_cluster = 8;

/// That of .reqnctapercluster, or else of the launch.
Extent cluster_of(const Function& function, const Launch& launch) {
  if (function.cluster[0] == 0) return launch.cluster;
  return {function.cluster[0], function.cluster[1], function.cluster[2]};
}

void check_limits(const Kernel& kernel, const KernelInfo& info, const KernelProgram& program,
                  const Launch& launch, const Properties& properties, std::size_t given) {
  using Reason = Refused::Reason;
  const auto say = [&](Reason reason, const std::string& text) {
    refuse(reason, info.name + ": " + text);
  };
  if (!info.missing.empty())
    say(Reason::not_supported, "an instruction that this device lacks, " + info.missing);
  if (given != info.parameter_bytes)
    say(Reason::invalid_value, std::to_string(given) + " bytes of parameters, not " +
                                   std::to_string(info.parameter_bytes));
  const Extent &grid = launch.grid, &block = launch.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    say(Reason::invalid_configuration, "a grid or block of no size");
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    say(Reason::invalid_configuration, "a grid beyond (2^31 - 1, 65535, 65535)");
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > properties.threads_per_block)
    say(Reason::invalid_configuration, "a block of " + std::to_string(threads) +
                                           " threads, beyond (1024, 1024, 64) or " +
                                           std::to_string(properties.threads_per_block));
  const Function& function = *kernel.function;
  if (info.max_threads && threads > info.max_threads)
    say(Reason::invalid_value, "a block of " + std::to_string(threads) +
                                   " threads; its .maxntid allows " +
                                   std::to_string(info.max_threads));
  if (function.required_threads[0] &&
      (block.x != function.required_threads[0] || block.y != function.required_threads[1] ||
       block.z != function.required_threads[2]))
    say(Reason::invalid_value, "a block that is not the one of its .reqntid");
  const std::size_t shared = program.dynamic_shared + launch.dynamic_shared_bytes;
  if (program.static_shared > properties.shared_per_block)
    say(Reason::out_of_resources, std::to_string(program.static_shared) +
                                      " bytes of static shared memory, beyond " +
                                      std::to_string(properties.shared_per_block));
  if (launch.dynamic_shared_bytes > properties.shared_per_block_optin ||
      shared > properties.shared_per_block_optin)
    say(Reason::invalid_value, std::to_string(shared) + " bytes of shared memory, beyond " +
                                   std::to_string(properties.shared_per_block_optin));
  const Extent cluster = cluster_of(function, launch);
  if (function.cluster[0] &&
      (launch.cluster.x != 1 || launch.cluster.y != 1 || launch.cluster.z != 1) &&
      (cluster.x != launch.cluster.x || cluster.y != launch.cluster.y ||
       cluster.z != launch.cluster.z))
    say(Reason::invalid_configuration, "a cluster that is not the one of its .reqnctapercluster");
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0)
    say(Reason::invalid_configuration, "a cluster of no size");
  const std::uint64_t in_cluster = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  if (in_cluster == 1) return;
  if (properties.compute_major < 9)
    say(Reason::invalid_configuration, "clusters, before compute capability 9.0");
  if (cluster.x > most_in_cluster || cluster.y > most_in_cluster || cluster.z > most_in_cluster ||
      in_cluster > most_in_cluster)
    say(Reason::invalid_configuration,
        "a cluster of more than " + std::to_string(most_in_cluster) + " blocks");
  if (in_cluster > most_in_portable_cluster && !launch.non_portable_cluster)
    say(Reason::invalid_cluster,
        "a cluster of " + std::to_string(in_cluster) + " blocks; it may have " +
            std::to_string(most_in_portable_cluster) + ", " + std::to_string(most_in_cluster) +
            " after cudaFuncSetAttribute with cudaFuncAttributeNonPortableClusterSizeAllowed");
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    say(Reason::invalid_configuration, "a grid that is no multiple of its cluster");
}

}  // namespace

/// `program`: the kernel's, with probes or without.
void Device::State::run(const Kernel& kernel, const KernelProgram& program, const Launch& launch,
                        std::span<const std::byte> parameters, LaunchState& state) {
  check_limits(kernel, kernel.info, program, launch, options.properties, parameters.size());

  // Kernels may take the address of their parameters: they are memory like any other, to read.
  // Tensor maps among them are aligned to 64 bytes.
  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<Line> kept(parameters.size() / sizeof(Line) + 1);
  if (!parameters.empty()) std::memcpy(kept.data(), parameters.data(), parameters.size());
  if (!parameters.empty())
    memory.adopt(kept.data(), parameters.size(), false, "the kernel's parameters",
                 Window::parameters);
  // As cooperative groups know it: its size in bytes, and what grid.sync() counts in.
  alignas(8) std::array<std::uint32_t, 2> workspace{8, 0};
  if (launch.cooperative) {
    memory.adopt(workspace.data(), sizeof workspace, true, "the grid's barrier");
    state.grid_workspace = reinterpret_cast<Address>(workspace.data());
  }
  struct Forget {
    Allocations& memory;
    std::array<void*, 2> adopted;
    ~Forget() {
      for (void* one : adopted)
        if (one) memory.forget(one);
    }
  } forget{memory,
           {parameters.empty() ? nullptr : kept.data(),
            launch.cooperative ? workspace.data() : nullptr}};

  state.kernel = &program;
  state.launch = launch;
  state.options = options;
  state.memory = &memory;
  state.parameters = reinterpret_cast<const std::byte*>(kept.data());
  state.parameter_bytes = static_cast<std::uint32_t>(parameters.size());
  state.shared_bytes =
      static_cast<std::uint32_t>(program.dynamic_shared + launch.dynamic_shared_bytes);
  state.cluster = cluster_of(*kernel.function, launch);
  const Extent& cluster = state.cluster;
  state.explicit_cluster = kernel.function->cluster[0] != 0 || launch.cluster.x != 1 ||
                           launch.cluster.y != 1 || launch.cluster.z != 1;
  state.clusters = std::uint64_t{launch.grid.x / cluster.x} * (launch.grid.y / cluster.y) *
                   (launch.grid.z / cluster.z);
  state.deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options.time_limit_ms);
  run_grid(state);
}

void Device::expect_launch(const Kernel& kernel, const Launch& launch,
                           std::size_t parameter_bytes) {
  const std::scoped_lock lock(state_->mutex);
  check_limits(kernel, kernel.info, state_->program(kernel), launch, state_->options.properties,
               parameter_bytes);
}

Counts Device::launch(const Kernel& kernel, const Launch& launch,
                      std::span<const std::byte> parameters) {
  const std::scoped_lock lock(state_->mutex);
  LaunchState state;
  state_->run(kernel, state_->program(kernel), launch, parameters, state);
  return state.counts;
}

Profile Device::profile(const Kernel& kernel, const Launch& launch,
                        std::span<const std::byte> parameters, std::uint32_t registers) {
  const std::scoped_lock lock(state_->mutex);
  const KernelInfo& given = info(kernel);
  const KernelProgram& program = state_->program(kernel, true);
  LaunchState state;
  state_->run(kernel, program, launch, parameters, state);

  Profile profile;
  const Properties& properties = state_->options.properties;
  profile.kernel = given.name;
  profile.compute_major = properties.compute_major;
  profile.compute_minor = properties.compute_minor;
  profile.instructions = program.profiled;
  for (std::size_t i = 0; i < state.tallies.size(); ++i)
    profile.instructions[i].tally = state.tallies[i];
  std::stable_sort(profile.instructions.begin(), profile.instructions.end(),
                   [](const auto& a, const auto& b) { return a.ptx_line < b.ptx_line; });
  const std::uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  Occupancy occupancy =
      occupancy_of(properties, threads, registers ? registers : registers_of(given, properties),
                   state.shared_bytes);
  occupancy.estimated = registers == 0;
  profile.shapes.push_back(
      {launch.grid, launch.block, launch.dynamic_shared_bytes, occupancy, 1, profile.total()});
  return profile;
}

}  // namespace plumbline::ptx
