// SPDX-License-Identifier: Apache-2.0
// What stands behind the functions of CUDA's runtime and of its driver: one device, and what the
// program has on it: contexts, modules, memory, streams, and its errors.
#ifndef PLUMBLINE_GPU_PTX_CUDA_PROCESS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_PROCESS_HPP

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ptx/cuda/errors.hpp"
#include "ptx/cuda/handles.hpp"
#include "ptx/cuda/modules.hpp"
#include "ptx/cuda/options.hpp"
#include "ptx/cuda/streams.hpp"

namespace plumbline::ptx::cuda {

/// Modules, memory, streams and events belong to the context that was current when they were made,
/// and end with it. All contexts share the one device.
struct Context {
  unsigned flags = 0;
  std::map<int, std::size_t> limits;  ///< those that the program has set
};

/// Memory that the program has asked for.
struct Allocation {
  std::size_t bytes = 0;
  MemoryType type = MemoryType::device;
  enum class Origin { device, host, registered } origin = Origin::device;
  unsigned flags = 0;  ///< of cuMemHostAlloc, cuMemHostRegister
  const Context* context = nullptr;
  std::uint64_t number = 0;  ///< no other allocation of the process has it
};

/// A memory pool: its allocations are as all others.
struct Pool {
  std::map<int, std::uint64_t> attributes;
};

/// Why a call failed, in more words than CUDA's.
struct Trouble {
  enum Kind : int {
    none = 0,
    fault = 1,         ///< what a kernel did wrong; every later call fails
    refused = 2,       ///< what CUDA would refuse, too
    device_lacks = 3,  ///< what this device cannot do, and others can
    timeout = 4        ///< a fault: the launch took longer than it may
  } kind = none;
  bool is_fault() const { return kind == fault || kind == timeout; }
  std::string text;
  std::optional<Address> address{};  ///< of the access that the fault is, if it is one
};

class Process {
 public:
  /// This one. Never destroyed: programs call CUDA while they end.
  static Process& get();

  /// Made when it is first needed. Throws Failure for options that are none.
  Device& device();
  const Properties& properties() { return device().options().properties; }

  bool initialised = false;  ///< by cuInit, or by the runtime

  Handles<Context> contexts;
  Context& primary() { return primary_; }
  unsigned primary_retained = 0;      ///< by cuDevicePrimaryCtxRetain
  bool runtime_uses_primary = false;  ///< CUDA's runtime never releases it
  bool is_context(const Context* context) const {
    const bool has_primary = primary_retained > 0 || runtime_uses_primary;
    return context == &primary_ ? has_primary : contexts.has(context);
  }
  /// The contexts that this thread has made current; the last is the one in use, null for none.
  std::vector<Context*>& stack();
  /// That of this thread. Throws Failure (invalid_context) where there is none.
  Context& current();
  /// Ends all that belongs to it. The modules that a program has registered are loaded anew when
  /// they are next used.
  void clear(const Context& context);

  Modules modules{*this};

  /// Host memory is the device's, too, under the same address.
  Address allocate(std::size_t bytes, MemoryType type, unsigned flags = 0);
  /// A copy that kernels can read and not change.
  Address allocate_input(const void* from, std::size_t bytes);
  void adopt(void* memory, std::size_t bytes, bool writable, unsigned flags = 0);
  /// Throws Failure for what was not allocated so.
  void release(Address address, Allocation::Origin origin);
  /// What cudaFree frees: device and managed memory.
  void release_device(Address address);
  /// The allocation that has this byte.
  const std::pair<const Address, Allocation>* allocation_with(Address address) const;
  std::size_t bytes_in_use() const { return bytes_in_use_; }
  Handles<Pool> pools;
  Pool& default_pool() { return default_pool_; }
  Pool* current_pool = &default_pool_;

  Streams streams{*this};

  /// Keeps it, hands it to the listener, and prints it, but a fault that a judge tells.
  void note(Trouble trouble);
  /// The first fault, else the latest trouble, which is forgotten then.
  Trouble take_trouble();
  void tell_no_faults() { tells_faults_ = false; }
  /// Is called with each trouble from now on: kind, text and address (0: of none).
  using Listener = void (*)(int, const char*, Address);
  void listen(Listener listener) { listener_ = listener; }
  /// Error::success as long as no kernel did anything wrong.
  Error sticky() const { return sticky_; }
  void set_sticky(Error error) { sticky_ = error; }
  /// The words of this thread's latest call that failed with some; empty where it had none.
  std::string& words();

  std::recursive_mutex mutex;

 private:
  void free(Address address, const Allocation& allocation);

  Context primary_;
  Pool default_pool_;
  std::unique_ptr<Device> device_;
  std::map<Address, Allocation> allocations_;
  std::size_t bytes_in_use_ = 0;
  std::uint64_t next_allocation_ = 1;
  std::atomic<Error> sticky_ = Error::success;
  Trouble trouble_;
  std::string printed_;
  bool tells_faults_ = true;
  Listener listener_ = nullptr;
};

/// Says which function the device lacks. Gives Error::not_supported.
Error lacks(const char* function);

/// The error of what is being thrown; what has words is noted.
Error caught(Process& process);

/// While one lives, functions of its thread wait for nothing: what streams have still to do stays
/// to be done. All others begin and end with none of that left.
class Asynchronous {
 public:
  explicit Asynchronous(bool is = true) : is_(is) { count() += is; }
  ~Asynchronous() { count() -= is_; }
  Asynchronous(const Asynchronous&) = delete;
  Asynchronous& operator=(const Asynchronous&) = delete;
  static bool here() { return count() > 0; }

 private:
  static int& count();

  bool is_;
};

/// What every function does: one at a time, and what the body throws becomes CUDA's error.
template <class Body>
Error attempted(const Body& body) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  try {
    if (!Asynchronous::here()) process.streams.catch_up();
    body(process);
    if (!Asynchronous::here()) process.streams.catch_up();
  } catch (...) {
    return caught(process);
  }
  return Error::success;
}

/// Nothing is left to do.
inline Error end_all() {
  return attempted([](Process&) {});
}

/// Not after a fault, whose error it gives then.
template <class Body>
Error guarded(const Body& body) {
  return attempted([&](Process& process) {
    expect(process.sticky() == Error::success, process.sticky());
    body(process);
  });
}

}  // namespace plumbline::ptx::cuda

#endif
