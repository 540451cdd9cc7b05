// SPDX-License-Identifier: Apache-2.0
#include "ptx/cudart/runtime.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ptx/cudart/sanitize.hpp"

namespace plumbline::ptx::cudart {
namespace {

constexpr std::size_t host_alignment = 4096, device_alignment = 256;

/// The file that has this address, without its folder.
std::string file_with(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

void* aligned_memory(std::size_t bytes, std::size_t alignment) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  expect(memory != nullptr, Error::memory_allocation);
  return memory;
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime& runtime = *new Runtime;
  return runtime;
}

Device& Runtime::device() {
  if (!device_) {
    try {
      device_ =
          std::make_unique<Device>(options_from([](const char* name) { return getenv(name); }));
    } catch (const Refused& refused) {
      note({Trouble::refused, refused.what()});
      throw Failure{Error::initialization_error};
    }
  }
  return *device_;
}

Module& Runtime::add_module(const void* wrapper) {
  auto module = std::make_unique<Module>();
  module->wrapper = wrapper;
  module->file = file_with(wrapper);
  return *modules_.emplace_back(std::move(module));
}

void Runtime::remove_module(Module& module) {
  std::erase_if(functions_, [&](const auto& entry) {
    if (entry.second->module != &module) return false;
    handles_.erase(entry.second.get());
    return true;
  });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == &module; });
  if (module.loaded) device_->unload(*module.loaded);
  std::erase_if(modules_, [&](const auto& known) { return known.get() == &module; });
}

void Runtime::choose(Module& module) {
  if (module.chosen || module.loaded) return;
  const Properties& device = properties();
  module.chosen = choose_ptx(read_fat_binary(registered_container(module.wrapper)),
                             device.compute_major, device.compute_minor);
}

std::uint64_t Runtime::load(Module& module) {
  if (!module.loaded) {
    choose(module);
    module.loaded = device().load(module.chosen->text, module.file);
    module.chosen->text = {};
  }
  return *module.loaded;
}

void Runtime::add_function(Module& module, const void* host, const char* name) {
  auto function = std::make_unique<Function>();
  function->module = &module;
  function->name = name;
  auto& place = functions_[host];
  if (place) handles_.erase(place.get());
  place = std::move(function);
  handles_.insert(place.get());
}

Function& Runtime::function(const void* host) {
  if (const auto found = functions_.find(host); found != functions_.end()) return *found->second;
  expect(handles_.contains(host), Error::invalid_device_function);
  return *static_cast<Function*>(const_cast<void*>(host));
}

const Kernel& Runtime::kernel(Function& function) {
  if (function.kernel == nullptr) {
    function.kernel = &device().kernel(load(*function.module), function.name);
  }
  return *function.kernel;
}

void Runtime::add_variable(Module& module, const void* host, const char* name) {
  variables_[host] = {&module, name};
}

std::pair<Address, std::size_t> Runtime::variable(const void* host) {
  const auto found = variables_.find(host);
  expect(found != variables_.end(), Error::invalid_symbol);
  return variable(*found->second.module, found->second.name);
}

std::pair<Address, std::size_t> Runtime::variable(Module& module, const std::string& name) {
  return device().variable(load(module), name);
}

Address Runtime::allocate(std::size_t bytes, MemoryType type) {
  Address address = 0;
  if (type == MemoryType::device) {
    address = device().allocate(bytes);
    allocations_[address] = {bytes, type, Allocation::Origin::device};
    bytes_in_use_ += bytes;
  } else {
    void* memory = aligned_memory(bytes, host_alignment);
    std::memset(memory, 0, bytes);
    device().adopt(memory, bytes);
    address = reinterpret_cast<Address>(memory);
    allocations_[address] = {bytes, type, Allocation::Origin::host};
  }
  return address;
}

Address Runtime::allocate_input(const void* from, std::size_t bytes) {
  void* memory = aligned_memory(bytes, device_alignment);
  std::memcpy(memory, from, bytes);
  device().adopt(memory, bytes, false);
  const auto address = reinterpret_cast<Address>(memory);
  allocations_[address] = {bytes, MemoryType::device, Allocation::Origin::host};
  return address;
}

void Runtime::adopt(void* memory, std::size_t bytes, bool writable) {
  const auto begin = reinterpret_cast<Address>(memory);
  const auto next = allocations_.lower_bound(begin + bytes);
  if (next != allocations_.begin()) {
    const auto& [address, allocation] = *std::prev(next);
    expect(address + allocation.bytes <= begin, Error::host_memory_already_registered);
  }
  device().adopt(memory, bytes, writable);
  allocations_[begin] = {bytes, MemoryType::host, Allocation::Origin::registered};
}

void Runtime::release(Address address, Allocation::Origin origin) {
  const auto found = allocations_.find(address);
  const bool known = found != allocations_.end() && found->second.origin == origin;
  if (origin == Allocation::Origin::registered) expect(known, Error::host_memory_not_registered);
  expect(known);
  auto* memory = reinterpret_cast<void*>(address);
  if (origin == Allocation::Origin::device) {
    bytes_in_use_ -= found->second.bytes;
    device().release(address);
  } else {
    device().forget(memory);
    if (origin == Allocation::Origin::host) std::free(memory);
  }
  allocations_.erase(found);
}

const std::pair<const Address, Allocation>* Runtime::allocation_with(Address address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const auto& found = *--next;
  return address - found.first < found.second.bytes ? &found : nullptr;
}

void Runtime::note(Trouble trouble) {
  const bool tells = trouble.kind != Trouble::fault || tells_faults_;
  if (tells && trouble.text != printed_) {
    std::fprintf(stderr, "plumbline: software device: %s\n", trouble.text.c_str());
    printed_ = trouble.text;
  }
  if (trouble_.kind != Trouble::fault) trouble_ = std::move(trouble);
}

Trouble Runtime::take_trouble() {
  if (trouble_.kind == Trouble::fault) return trouble_;
  return std::exchange(trouble_, {});
}

Error& last_error() {
  static thread_local Error error = Error::success;
  return error;
}

Error caught(Runtime& runtime) {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.error;
  } catch (const Fault& fault) {
    runtime.note({Trouble::fault, fault.what()});
    tell_fault();
    runtime.set_sticky(error_of(fault.kind));
    return runtime.sticky();
  } catch (const Refused& refused) {
    const bool lacks = refused.reason == Refused::Reason::not_supported;
    runtime.note({lacks ? Trouble::device_lacks : Trouble::refused, refused.what()});
    return error_of(refused.reason);
  } catch (const BadFatBinary& bad) {
    runtime.note({Trouble::device_lacks, bad.what()});
    return Error::no_kernel_image_for_device;
  } catch (const BadPtx& bad) {
    runtime.note({Trouble::device_lacks, bad.what()});
    return Error::invalid_ptx;
  } catch (const std::bad_alloc&) {
    return Error::memory_allocation;
  } catch (const std::exception& error) {
    runtime.note({Trouble::device_lacks, std::string("an error of its own: ") + error.what()});
    return Error::unknown;
  }
}

}  // namespace plumbline::ptx::cudart
