// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/modules.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "ptx/cuda/fat_binary.hpp"
#include "ptx/cuda/machine_code.hpp"
#include "ptx/cuda/process.hpp"
#include "ptx/cuda/profiles.hpp"

namespace plumbline::ptx::cuda {
namespace {

/// The file that has this address, without its folder.
std::string file_with(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

/// The size of an image is not told: its bytes are looked at one after the other.
bool begins_with(const void* image, std::string_view bytes) {
  const auto* at = static_cast<const char*>(image);
  return std::all_of(bytes.begin(), bytes.end(), [&](char byte) { return *at++ == byte; });
}

constexpr std::string_view wrapper = "\xb1\x43\x62\x46", container = "\x50\xed\x55\xba",
                           machine_code =
                               "\x7f"
                               "ELF";

ChosenPtx text_of(const char* image, const Properties& device) {
  const std::string_view text(image, strnlen(image, most_ptx_bytes));
  const auto target = target_of(text);
  expect(target.has_value(), Error::invalid_image);
  if (!target->runs_on(device.compute_major, device.compute_minor)) {
    const auto before = text.substr(0, text.find(".target"));
    throw BadPtx(1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
                 "PTX for " + target->name() + ", and this device is sm_" +
                     std::to_string(10 * device.compute_major + device.compute_minor) +
                     ": compile for it, or choose another by PLUMBLINE_DEVICE_COMPUTE");
  }
  return {*target, std::string(text)};
}

/// Of the machine code for the device.
std::map<std::string, std::uint32_t> registers_of(const FatBinary& binary,
                                                  const Properties& device) {
  std::map<std::string, std::uint32_t> registers;
  const int number = 10 * device.compute_major + device.compute_minor;
  for (const PtxEntry& file : binary.machine_code_files) {
    if (file.architecture != static_cast<std::uint32_t>(number)) continue;
    try {
      registers.merge(registers_in(file.bytes()));
    } catch (const BadFatBinary&) {  // then they are estimated
    }
  }
  return registers;
}

void choose_from(Module& module, std::span<const std::byte> container, const Properties& device) {
  const FatBinary binary = read_fat_binary(container);
  module.chosen = choose_ptx(binary, device.compute_major, device.compute_minor);
  module.registers = registers_of(binary, device);
}

/// `bytes`: of a file, all that there are; null: the image says it.
void choose_of_image(Module& module, const void* image, const std::size_t* bytes,
                     const Properties& device) {
  if (begins_with(image, machine_code)) {
    throw BadFatBinary(
        "it is machine code (a cubin), and this device runs PTX: compile to PTX (nvcc -ptx, "
        "NVRTC's "
        "nvrtcGetPTX; docs/python.md has what CuPy and Numba need)");
  }
  const bool wrapped = begins_with(image, wrapper);
  if (!wrapped && !begins_with(image, container)) {
    module.chosen = text_of(static_cast<const char*>(image), device);
    return;
  }
  expect(bytes == nullptr || !wrapped, Error::invalid_image);  // it has a pointer
  try {
    const auto found = bytes     ? std::span(static_cast<const std::byte*>(image), *bytes)
                       : wrapped ? registered_container(image)
                                 : container_at(image);
    choose_from(module, found, device);
  } catch (const DamagedFatBinary&) {
    throw Failure{Error::invalid_image};
  }
}

}  // namespace

Module& Modules::add_registered(const void* wrapper) {
  auto module = std::make_unique<Module>();
  module->wrapper = wrapper;
  module->file = file_with(wrapper);
  return *all_.emplace_back(std::move(module));
}

Module& Modules::load_image(const void* image, const Context* context) {
  return load_bytes(image, nullptr, context, "");
}

Module& Modules::load_file(const char* path, const Context* context) {
  std::ifstream file(path, std::ios::binary);
  expect(file.good(), Error::file_not_found);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  expect(!file.bad() && !bytes.empty(), Error::invalid_image);
  const std::string name = path;
  const std::size_t size = bytes.size();
  return load_bytes(bytes.c_str(), &size, context, name.substr(name.rfind('/') + 1));
}

Module& Modules::load_bytes(const void* image, const std::size_t* bytes, const Context* context,
                            const std::string& file) {
  auto module = std::make_unique<Module>();
  module->context = context;
  module->file = file;
  choose_of_image(*module, image, bytes, process_.properties());
  load(*module);
  return *all_.emplace_back(std::move(module));
}

Module& Modules::of(const void* handle) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& module) { return module.get() == handle; });
  expect(found != all_.end(), Error::invalid_resource_handle);
  return **found;
}

void Modules::remove(Module& module) {
  std::erase_if(stand_ins_, [&](const auto& entry) { return entry.second->module == &module; });
  std::erase_if(shadows_, [&](const auto& entry) { return entry.second.module == &module; });
  functions_.remove_if([&](const Function& function) { return function.module == &module; });
  if (module.loaded) process_.device().unload(*module.loaded);
  std::erase_if(all_, [&](const auto& known) { return known.get() == &module; });
}

void Modules::clear(const Context& context, bool registered) {
  std::vector<Module*> theirs;
  for (const auto& module : all_) {
    if (module->context == &context) theirs.push_back(module.get());
    if (!registered || module->wrapper == nullptr || !module->loaded) continue;
    process_.device().unload(*module->loaded);
    module->loaded.reset();
    module->chosen.reset();
    for (const auto& [name, function] : module->functions) {
      function->kernel = nullptr;
      function->max_dynamic_shared.reset();
    }
  }
  for (Module* module : theirs) remove(*module);
}

void Modules::choose(Module& module) {
  if (module.chosen) return;
  choose_from(module, registered_container(module.wrapper), process_.properties());
}

std::uint64_t Modules::load(Module& module) {
  if (!module.loaded) {
    choose(module);
    module.loaded = process_.device().load(module.chosen->text, module.file);
    module.chosen->text = {};
  }
  return *module.loaded;
}

std::vector<Module*> Modules::registered() const {
  std::vector<Module*> found;
  for (const auto& module : all_) {
    if (module->wrapper) found.push_back(module.get());
  }
  return found;
}

Function& Modules::known(Module& module, const std::string& name) {
  Function*& place = module.functions[name];
  if (place == nullptr) {
    Function made;
    made.module = &module;
    made.name = name;
    place = &functions_.add(std::move(made));
  }
  return *place;
}

Function& Modules::function(Module& module, const std::string& name) {
  process_.device().kernel(load(module), name);
  return known(module, name);
}

void Modules::add_stand_in(Module& module, const void* host, const char* name) {
  stand_ins_[host] = &known(module, name);
}

Function& Modules::function(const void* handle, Error otherwise) const {
  if (const auto found = stand_ins_.find(handle); found != stand_ins_.end()) return *found->second;
  return functions_.of(handle, otherwise);
}

const Kernel& Modules::kernel(Function& function) {
  if (function.kernel == nullptr) {
    function.kernel = &process_.device().kernel(load(*function.module), function.name);
  }
  return *function.kernel;
}

const KernelInfo& Modules::info(Function& function) {
  return process_.device().info(kernel(function));
}

std::uint32_t Modules::registers(const Function& function) const {
  const auto found = function.module->registers.find(function.name);
  return found == function.module->registers.end() ? 0 : found->second;
}

void Modules::add_shadow(Module& module, const void* host, const char* name) {
  shadows_[host] = {&module, name};
}

std::pair<Address, std::size_t> Modules::variable(const void* host) {
  const auto found = shadows_.find(host);
  expect(found != shadows_.end(), Error::invalid_symbol);
  return variable(*found->second.module, found->second.name);
}

std::pair<Address, std::size_t> Modules::variable(Module& module, const std::string& name) {
  return process_.device().variable(load(module), name);
}

}  // namespace plumbline::ptx::cuda
