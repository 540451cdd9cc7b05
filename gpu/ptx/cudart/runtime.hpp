// SPDX-License-Identifier: Apache-2.0
// What stands behind the functions of CUDA's runtime: one device, the fat binaries that the program
// has registered, its memory, and its errors.
#ifndef PLUMBLINE_GPU_PTX_CUDART_RUNTIME_HPP
#define PLUMBLINE_GPU_PTX_CUDART_RUNTIME_HPP

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/cudart/errors.hpp"
#include "ptx/cudart/options.hpp"
#include "ptx/cudart/targets.hpp"

namespace plumbline::ptx::cudart {

/// A fat binary that the program has registered. Its PTX is loaded when something of it is first
/// used.
struct Module {
  const void* wrapper = nullptr;
  std::string file;  ///< that it is a part of
  std::optional<ChosenPtx> chosen;
  std::optional<std::uint64_t> loaded;
};

/// A kernel, known to the program by the address of its stand-in on the host.
struct Function {
  Module* module = nullptr;
  std::string name;
  const Kernel* kernel = nullptr;                 ///< once it has been used
  std::optional<std::size_t> max_dynamic_shared;  ///< where the program has set it
};

/// A variable, known to the program by the address of its shadow on the host.
struct Variable {
  Module* module = nullptr;
  std::string name;
};

/// Memory that the program has asked for.
struct Allocation {
  std::size_t bytes = 0;
  MemoryType type = MemoryType::device;
  enum class Origin { device, host, registered } origin = Origin::device;
};

/// Why a call failed, in more words than CUDA's.
struct Trouble {
  enum Kind : int {
    none = 0,
    fault = 1,        ///< what a kernel did wrong; every later call fails
    refused = 2,      ///< what CUDA would refuse, too
    device_lacks = 3  ///< what this device cannot do, and others can
  } kind = none;
  std::string text;
};

class Runtime {
 public:
  /// The process's. Never destroyed: programs call CUDA while they end.
  static Runtime& get();

  /// Made when it is first needed. Throws Refused for options that are none.
  Device& device();
  const Properties& properties() { return device().options().properties; }

  Module& add_module(const void* wrapper);
  void remove_module(Module& module);
  /// Throws BadFatBinary.
  void choose(Module& module);
  /// Throws Failure, BadFatBinary, BadPtx.
  std::uint64_t load(Module& module);
  const std::vector<std::unique_ptr<Module>>& modules() const { return modules_; }

  void add_function(Module& module, const void* host, const char* name);
  /// By the host's address, or by what __cudaGetKernel gave for it. Throws Failure.
  Function& function(const void* host);
  const Kernel& kernel(Function& function);
  void add_variable(Module& module, const void* host, const char* name);
  /// Its address and size. Throws Failure.
  std::pair<Address, std::size_t> variable(const void* host);
  std::pair<Address, std::size_t> variable(Module& module, const std::string& name);

  /// Host memory is the device's, too, under the same address.
  Address allocate(std::size_t bytes, MemoryType type);
  /// A copy that kernels can read and not change.
  Address allocate_input(const void* from, std::size_t bytes);
  void adopt(void* memory, std::size_t bytes, bool writable);
  /// Throws Failure for what was not allocated so.
  void release(Address address, Allocation::Origin origin);
  /// The allocation that has this byte.
  const std::pair<const Address, Allocation>* allocation_with(Address address) const;
  std::size_t bytes_in_use() const { return bytes_in_use_; }

  std::set<const Stream*> streams;

  /// Keeps it, and prints it, but a fault that a judge tells.
  void note(Trouble trouble);
  /// The first fault, else the latest trouble, which is forgotten then.
  Trouble take_trouble();
  void tell_no_faults() { tells_faults_ = false; }
  /// Error::success as long as no kernel did anything wrong.
  Error sticky() const { return sticky_; }
  void set_sticky(Error error) { sticky_ = error; }

  std::recursive_mutex mutex;

 private:
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::unordered_map<const void*, std::unique_ptr<Function>> functions_;  ///< by the host's address
  std::set<const void*> handles_;                                         ///< of functions_
  std::unordered_map<const void*, Variable> variables_;
  std::map<Address, Allocation> allocations_;
  std::size_t bytes_in_use_ = 0;
  std::atomic<Error> sticky_ = Error::success;
  Trouble trouble_;
  std::string printed_;
  bool tells_faults_ = true;
};

/// The last error of this thread.
Error& last_error();

/// The error of what is being thrown; what has words is noted.
Error caught(Runtime& runtime);

/// The body of every function: one at a time, nothing after a fault, and what it throws becomes
/// CUDA's error, returned and kept as this thread's last.
template <class Body>
Error run(const Body& body) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  Error error = runtime.sticky();
  if (error == Error::success) {
    try {
      body(runtime);
    } catch (...) {
      error = caught(runtime);
    }
  }
  if (error != Error::success) last_error() = error;
  return error;
}

/// Throws Failure unless it holds.
inline void expect(bool holds, Error otherwise = Error::invalid_value) {
  if (!holds) throw Failure{otherwise};
}

/// A stream of the program's, or the default one: null, cudaStreamLegacy or cudaStreamPerThread.
/// Throws Failure for others.
inline void expect_stream(const Runtime& runtime, const Stream* stream) {
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
  expect(is_default || runtime.streams.contains(stream), Error::invalid_resource_handle);
}

}  // namespace plumbline::ptx::cudart

#endif
