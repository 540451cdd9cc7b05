// SPDX-License-Identifier: Apache-2.0
// A CUDA device in software: it loads PTX, holds device memory and runs kernels on the CPU, with
// checks that no hardware makes. It needs nothing else of Plumbline and nothing of CUDA.
#ifndef PLUMBLINE_GPU_PTX_DEVICE_HPP
#define PLUMBLINE_GPU_PTX_DEVICE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::ptx {

/// An address as kernels see it. Global memory is memory of this process: the address is the
/// pointer's value.
using Address = std::uint64_t;

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Extent&) const = default;
};

/// What the device says of itself. A launch beyond these limits is refused as CUDA refuses it.
struct Properties {
  int compute_major = 9, compute_minor = 0;
  std::size_t shared_per_block = 49152;  ///< without being asked for
  std::size_t shared_per_block_optin =
      232448;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize, at most
  std::uint32_t threads_per_block = 1024;
  std::uint32_t registers_per_block = 65536;
  std::uint32_t multiprocessors = 132;
  // Of one multiprocessor.
  std::uint32_t threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
  std::size_t shared_per_multiprocessor = 233472;
  std::size_t shared_reserved_per_block = 1024;     ///< by the system
  std::size_t global_bytes = std::size_t{8} << 30;  ///< allocate() beyond it is out of memory
};

/// What hardware leaves open, each within what the PTX ISA documents. A right kernel passes
/// whatever is chosen.
struct Variation {
  /// Results of ex2, lg2, rcp, rsqrt, sqrt, tanh, sin and cos with .approx: the nearest number, or
  /// displaced down, up or to either side by as much as the documented maximal error allows.
  enum class Approximate { nearest, down, up, either } approximate = Approximate::nearest;
  /// Sums of mma and wgmma: every addition rounded to nearest; or aligned to the largest exponent
  /// of a group of products and truncated, as measured on Ampere and on Hopper.
  enum class Sums { nearest, ampere, hopper } sums = Sums::nearest;
  /// f32 and f64 mul and add (or sub) without a rounding mode become one fma where they follow each
  /// other within a basic block, as the ISA lets ptxas do.
  bool fuse = false;
  /// Of the blocks of a kernel whose results may depend on it, by atomics or strong accesses of
  /// global memory; of the warps of a block; and of the lanes of an atomic instruction. 0: that of
  /// their numbers; else drawn from this seed.
  std::uint64_t order_seed = 0;
  /// What a program asks of its streams is done when it waits for them, and not before: who reads
  /// results without a wait gets what was there. The streams do not wait for one another, either,
  /// but where an event or the default stream makes them. Of programs that use CUDA alone.
  bool late = false;

  bool operator==(const Variation&) const = default;
};

struct Options {
  Properties properties;
  Variation variation;
  bool check = true;     ///< false: only the bounds of memory are checked
  unsigned threads = 0;  ///< of the CPU; 0: as many as there are. The results are the same bits.
  std::uint64_t time_limit_ms = 0;  ///< of one launch; 0: none
  /// What a kernel reads of shared and global memory that nothing has written. stop: a Fault. ones:
  /// it gets bits that are all set, NaN in every format of floats, so that an output which depends
  /// on it shows: for kernels that read more than they use.
  enum class Uninitialised { stop, ones } uninitialised = Uninitialised::stop;
};

/// PTX that cannot be read. `line` counts from 1.
class BadPtx : public std::runtime_error {
 public:
  BadPtx(std::size_t line, const std::string& text);
  std::size_t line;
};

/// A launch or an allocation that CUDA would refuse, or an instruction that this device does not
/// have.
class Refused : public std::runtime_error {
 public:
  enum class Reason {
    invalid_value,
    invalid_configuration,
    invalid_cluster,
    out_of_resources,
    out_of_memory,
    no_such_name,
    not_supported
  };
  Refused(Reason reason, const std::string& text);
  Reason reason;
};

/// What a kernel did wrong. what() has all of it in one sentence a line.
class Fault : public std::runtime_error {
 public:
  enum class Kind {
    out_of_bounds,  ///< no allocation has these bytes
    freed_memory,
    read_only,
    misaligned,
    uninitialised_global,
    uninitialised_shared,
    race,                 ///< two threads, one of which writes, no barrier between them
    copy_in_flight,       ///< bytes of an asynchronous copy touched before the wait for it
    registers_in_flight,  ///< of wgmma: touched before its wait, or after its fence
    proxy_fence,          ///< the asynchronous proxy reads what ordinary stores wrote, without
                          ///< fence.proxy.async
    barrier,              ///< part of a block has left, or waits elsewhere
    deadlock,
    divergent,    ///< an .aligned instruction that part of a warp reached
    absent_lane,  ///< shfl, vote, ... with a lane that is not there
    trap,
    assertion,  ///< an assert() that does not hold
    timeout,
    bad_instruction  ///< an operand without a meaning: a shared-memory descriptor, a barrier's
                     ///< number, ...
  };
  struct Where {
    std::string kernel;       ///< as in the PTX: mangled; what() has it readable
    std::string instruction;  ///< as it stands in the PTX
    std::size_t ptx_line = 0;
    std::string source;                   ///< FILE:LINE of the last .loc, where there is one
    std::vector<std::string> inlined_at;  ///< likewise of the calls around it, the innermost first
    Extent block{0, 0, 0}, thread{0, 0, 0};
    std::optional<Address> address{};  ///< generic, of the access that what() names, if any
  };
  Fault(Kind kind, Where where, const std::string& text);
  Kind kind;
  Where where;
};

struct Parameter {
  std::size_t offset = 0, size = 0;
};

struct Kernel;  ///< of a module; it lives as long as the module is loaded

struct KernelInfo {
  std::string name;  ///< as in the PTX: mangled
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::size_t static_shared_bytes = 0;
  std::size_t local_bytes = 0;    ///< of a thread
  std::uint32_t registers = 0;    ///< of 32 bits, live at once: an estimate of ptxas's number
  std::uint32_t max_threads = 0;  ///< .maxntid or .reqntid, or 0
  std::uint32_t max_registers = 0, min_blocks = 0;  ///< .maxnreg and .minnctapersm, or 0
  std::string missing;  ///< not empty: the first instruction that this device lacks, with its line
};

struct Launch {
  Extent grid, block, cluster;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  /// Whether the kernel allows clusters of more than 8 blocks, as CUDA's runtime must be told
  /// (cudaFuncAttributeNonPortableClusterSizeAllowed).
  bool non_portable_cluster = true;
};

struct Profile;  // profile.hpp

/// What a launch did.
struct Counts {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// One device. Calls from several threads take turns.
class Device {
 public:
  explicit Device(const Options& options = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Options& options() const;
  /// Of the launches from now on.
  void vary(const Variation& variation);
  void limit_time(std::uint64_t milliseconds);  ///< 0: none

  /// Device memory, aligned to 256 bytes, not initialised. Throws Refused (out_of_memory).
  Address allocate(std::size_t bytes);
  /// Throws Refused (invalid_value) for an address that allocate() did not return.
  void release(Address address);
  /// Memory of the host as device memory, initialised; `writable` false makes a write a Fault. It
  /// must stay until forget().
  void adopt(void* memory, std::size_t bytes, bool writable = true);
  void forget(void* memory);
  /// cudaMemcpy and cudaMemset. Throw Refused (invalid_value) where no allocation has all the
  /// bytes.
  void write(Address to, const void* from, std::size_t bytes);
  void read(void* to, Address from, std::size_t bytes) const;
  void copy(Address to, Address from, std::size_t bytes);
  void set(Address to, std::uint8_t value, std::size_t bytes);
  /// Whether an allocation has these bytes.
  bool has(Address address, std::size_t bytes) const;

  /// Loads PTX text. Throws BadPtx. An instruction that the device lacks refuses the launch of its
  /// kernel, not the module.
  std::uint64_t load(std::string_view ptx, std::string_view name = "");
  void unload(std::uint64_t module);
  std::vector<std::string> kernel_names(std::uint64_t module) const;
  /// Throws Refused (no_such_name).
  const Kernel& kernel(std::uint64_t module, std::string_view name) const;
  const KernelInfo& info(const Kernel& kernel) const;
  /// A variable of the module (.global, .const) and its size. Throws Refused (no_such_name).
  std::pair<Address, std::size_t> variable(std::uint64_t module, std::string_view name) const;

  /// Throws Refused, as launch() would.
  void expect_launch(const Kernel& kernel, const Launch& launch, std::size_t parameter_bytes);
  /// Runs to the end. `parameters` has info(kernel).parameter_bytes bytes, laid out as `parameters`
  /// says. Throws Refused before anything runs, Fault after which memory is as the kernel left it.
  Counts launch(const Kernel& kernel, const Launch& launch, std::span<const std::byte> parameters);
  /// The same, and counts what decides the kernel's speed (profile.hpp). It takes several times as
  /// long. The figures do not depend on the threads of the CPU. `registers`: of a thread, as ptxas
  /// gives them; 0: an estimate.
  Profile profile(const Kernel& kernel, const Launch& launch, std::span<const std::byte> parameters,
                  std::uint32_t registers = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plumbline::ptx

#endif
