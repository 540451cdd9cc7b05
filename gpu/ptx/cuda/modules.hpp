// SPDX-License-Identifier: Apache-2.0
// Modules, their kernels and variables.
#ifndef PLUMBLINE_GPU_PTX_CUDA_MODULES_HPP
#define PLUMBLINE_GPU_PTX_CUDA_MODULES_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/cuda/abi.hpp"
#include "ptx/cuda/handles.hpp"
#include "ptx/cuda/targets.hpp"
#include "ptx/device.hpp"

namespace plumbline::ptx::cuda {

class Process;
struct Context;

/// A kernel, known to the program by this object's address, or by that of its stand-in on the host.
struct Function {
  Module* module = nullptr;
  std::string name;
  const Kernel* kernel = nullptr;                 ///< once it has been used
  std::optional<std::size_t> max_dynamic_shared;  ///< where the program has set it
  bool non_portable_cluster = false;
};

/// A fat binary that the program has registered, whose PTX is loaded when something of it is first
/// used; or PTX that it has loaded itself.
struct Module {
  const void* wrapper = nullptr;     ///< what it has registered, or null
  const Context* context = nullptr;  ///< it ends with; null: with none
  std::string file;                  ///< that it is a part of, or empty
  std::optional<ChosenPtx> chosen;
  std::optional<std::uint64_t> loaded;
  /// Of a thread of each kernel, as its machine code has them. Only for profiles.
  std::map<std::string, std::uint32_t> registers;
  std::map<std::string, Function*, std::less<>> functions;  ///< that have been asked for
};

class Modules {
 public:
  explicit Modules(Process& process) : process_(process) {}

  /// What __cudaRegisterFatBinary is given; the file is the one that has this address.
  Module& add_registered(const void* wrapper);
  /// An image as cuModuleLoadData takes it: PTX that ends with a 0, or a fat binary. Throws Failure
  /// (invalid_image), BadFatBinary, BadPtx.
  Module& load_image(const void* image, const Context* context);
  Module& load_file(const char* path, const Context* context);
  /// Throws Failure for what is none.
  Module& of(const void* handle) const;
  void remove(Module& module);
  /// Those of the context are removed; those that are registered are loaded anew when next used.
  void clear(const Context& context, bool registered);

  /// Throws BadFatBinary.
  void choose(Module& module);
  /// Throws Failure, BadFatBinary, BadPtx.
  std::uint64_t load(Module& module);
  std::vector<Module*> registered() const;

  /// Throws Refused (no_such_name).
  Function& function(Module& module, const std::string& name);
  void add_stand_in(Module& module, const void* host, const char* name);
  /// By the host's address, or by the Function's own. Throws Failure.
  Function& function(const void* handle, Error otherwise = Error::invalid_device_function) const;
  const Kernel& kernel(Function& function);
  const KernelInfo& info(Function& function);
  /// Of a thread, as ptxas gave them; 0 where there is no machine code for the device. Only where
  /// launches are profiled.
  std::uint32_t registers(const Function& function) const;

  void add_shadow(Module& module, const void* host, const char* name);
  /// Its address and size. Throws Failure.
  std::pair<Address, std::size_t> variable(const void* host);
  std::pair<Address, std::size_t> variable(Module& module, const std::string& name);

 private:
  struct Variable {
    Module* module = nullptr;
    std::string name;
  };
  Function& known(Module& module, const std::string& name);
  Module& load_bytes(const void* image, const std::size_t* bytes, const Context* context,
                     const std::string& file);

  Process& process_;
  std::vector<std::unique_ptr<Module>> all_;
  Handles<Function> functions_;
  std::unordered_map<const void*, Function*> stand_ins_;
  std::unordered_map<const void*, Variable> shadows_;
};

}  // namespace plumbline::ptx::cuda

#endif
