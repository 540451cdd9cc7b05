// SPDX-License-Identifier: Apache-2.0
#include "python/native/native.hpp"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/cuda/machine_code.hpp"
#include "ptx/cuda/options.hpp"
#include "ptx/device.hpp"
#include "ptx/profile.hpp"
#include "support/error.hpp"

namespace plumbline::python {
namespace {

using Axes = std::array<std::uint32_t, 3>;
/// Memory of the caller: address, bytes, whether it may be written, and what is left of its address
/// on the device when 256 divides it.
using Range = std::tuple<std::uint64_t, std::size_t, bool, std::size_t>;
/// A parameter that points into a range: its offset among the parameters, the range's number, the
/// byte of the range.
using Pointer = std::tuple<std::size_t, std::size_t, std::size_t>;

ptx::Extent extent(const Axes& axes) { return {axes[0], axes[1], axes[2]}; }
Json axes(const ptx::Extent& e) { return {e.x, e.y, e.z}; }

const char* name(ptx::Fault::Kind kind) {
  using Kind = ptx::Fault::Kind;
  switch (kind) {
    case Kind::out_of_bounds:
      return "out_of_bounds";
    case Kind::freed_memory:
      return "freed_memory";
    case Kind::read_only:
      return "read_only";
    case Kind::misaligned:
      return "misaligned";
    case Kind::uninitialised_global:
      return "uninitialised_global";
    case Kind::uninitialised_shared:
      return "uninitialised_shared";
    case Kind::race:
      return "race";
    case Kind::copy_in_flight:
      return "copy_in_flight";
    case Kind::registers_in_flight:
      return "registers_in_flight";
    case Kind::proxy_fence:
      return "proxy_fence";
    case Kind::barrier:
      return "barrier";
    case Kind::deadlock:
      return "deadlock";
    case Kind::divergent:
      return "divergent";
    case Kind::absent_lane:
      return "absent_lane";
    case Kind::trap:
      return "trap";
    case Kind::assertion:
      return "assertion";
    case Kind::timeout:
      return "timeout";
    case Kind::bad_instruction:
      return "bad_instruction";
  }
  return "";
}

const char* name(ptx::Refused::Reason reason) {
  using Reason = ptx::Refused::Reason;
  switch (reason) {
    case Reason::invalid_value:
      return "invalid_value";
    case Reason::invalid_configuration:
      return "invalid_configuration";
    case Reason::invalid_cluster:
      return "invalid_cluster";
    case Reason::out_of_resources:
      return "out_of_resources";
    case Reason::out_of_memory:
      return "out_of_memory";
    case Reason::no_such_name:
      return "no_such_name";
    case Reason::not_supported:
      return "not_supported";
  }
  return "";
}

/// The caller's memory on the device, for one launch: copies at addresses that are aligned as
/// cudaMalloc aligns them and so far apart that a kernel that leaves one array does not land in
/// the next.
class Copies {
 public:
  Copies(ptx::Device& device, const std::vector<Range>& ranges) : device_(device), ranges_(ranges) {
    for (const auto& [address, bytes, writable, skew] : ranges) {
      size_ += gap;
      at_.push_back(size_ + skew);
      size_ += (skew + bytes + alignment - 1) / alignment * alignment;
    }
    if (ranges.empty()) return;
    size_ += gap;
    void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(mapped);
    for (; adopted_ < ranges.size(); ++adopted_) {
      const auto& [address, bytes, writable, skew] = ranges[adopted_];
      std::memcpy(memory_ + at_[adopted_], reinterpret_cast<const void*>(address), bytes);
      device.adopt(memory_ + at_[adopted_], bytes, writable);
    }
  }
  ~Copies() {
    if (memory_ == nullptr) return;
    for (std::size_t n = 0; n < adopted_; ++n) device_.forget(memory_ + at_[n]);
    munmap(memory_, size_);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  ptx::Address operator[](std::size_t range) const {
    return reinterpret_cast<ptx::Address>(memory_ + at_.at(range));
  }
  /// To the caller what the kernel has left.
  void copy_back() const {
    for (std::size_t n = 0; n < ranges_.size(); ++n) {
      const auto& [address, bytes, writable, skew] = ranges_[n];
      if (writable) std::memcpy(reinterpret_cast<void*>(address), memory_ + at_[n], bytes);
    }
  }

 private:
  static constexpr std::size_t alignment = 256, gap = std::size_t{1} << 20;

  ptx::Device& device_;
  const std::vector<Range>& ranges_;
  std::vector<std::size_t> at_;
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0, adopted_ = 0;
};

/// The device that `device` made.
std::shared_ptr<ptx::Device> device_of(const Json& arguments) {
  const auto* kept =
      reinterpret_cast<std::shared_ptr<void>*>(argument<std::uint64_t>(arguments, "device"));
  if (kept == nullptr) throw BadInput("device", "0", "one that has not been freed");
  return std::static_pointer_cast<ptx::Device>(*kept);
}

std::uint64_t module_of(const Json& arguments) {
  return argument<std::uint64_t>(arguments, "module");
}

std::string kernel_of(const Json& arguments) { return argument<std::string>(arguments, "kernel"); }

std::span<const std::byte> bytes_of(const Json& arguments, const char* name) {
  const auto memory = argument<Json>(arguments, name);
  return {address_of<std::byte>(memory), argument<std::size_t>(memory, "bytes")};
}

/// Launches by `run(device, kernel, launch, parameters)`. @returns and @throws what that does;
/// after a Fault the caller's memory is as the kernel left it.
template <class Run>
auto launched(const Json& arguments, const Run& run) {
  const auto device = device_of(arguments);
  const ptx::Launch launch{extent(argument<Axes>(arguments, "grid")),
                           extent(argument<Axes>(arguments, "block")),
                           {},
                           argument<std::size_t>(arguments, "shared"),
                           false};
  const auto given = bytes_of(arguments, "parameters");
  std::vector<std::byte> parameters(given.begin(), given.end());
  const auto ranges = argument<std::vector<Range>>(arguments, "ranges");
  const ptx::Kernel& kernel = device->kernel(module_of(arguments), kernel_of(arguments));
  const Copies copies(*device, ranges);
  for (const auto& [offset, range, byte] : argument<std::vector<Pointer>>(arguments, "pointers")) {
    const ptx::Address address = copies[range] + byte;
    if (offset + sizeof address > parameters.size()) throw std::out_of_range("pointers");
    std::memcpy(parameters.data() + offset, &address, sizeof address);
  }
  try {
    auto result = run(*device, kernel, launch, parameters);
    copies.copy_back();
    return result;
  } catch (const ptx::Fault&) {
    copies.copy_back();
    throw;
  }
}

/// @returns the instructions that warps and that threads executed.
Json launch(const Json& arguments, plumbline_native_ask) {
  const ptx::Counts counts = launched(
      arguments, [](auto& device, const auto&... given) { return device.launch(given...); });
  return {counts.warp_instructions, counts.thread_instructions};
}

/// registers: of a thread, as ptxas gives them; 0: an estimate.
/// @returns the profile as JSON, and its record.
Json profile(const Json& arguments, plumbline_native_ask) {
  const auto registers = argument<std::uint32_t>(arguments, "registers");
  const ptx::Profile counted = launched(arguments, [&](auto& device, const auto&... given) {
    return device.profile(given..., registers);
  });
  return {ptx::json(counted), ptx::record(counted)};
}

Json info(const Json& arguments, plumbline_native_ask) {
  const auto device = device_of(arguments);
  const ptx::KernelInfo& of =
      device->info(device->kernel(module_of(arguments), kernel_of(arguments)));
  Json parameters = Json::array();
  for (const ptx::Parameter& parameter : of.parameters) {
    parameters.push_back({parameter.offset, parameter.size});
  }
  return {{"parameters", parameters},
          {"parameter_bytes", of.parameter_bytes},
          {"static_shared_bytes", of.static_shared_bytes},
          {"local_bytes", of.local_bytes},
          {"registers", of.registers},
          {"max_threads", of.max_threads},
          {"missing", of.missing}};
}

Json make_device(const Json& arguments, plumbline_native_ask) {
  const auto settings = argument<std::map<std::string, std::string>>(arguments, "settings");
  const auto value_of = [&](const char* variable) {
    const auto found = settings.find(variable);
    return found == settings.end() ? nullptr : found->second.c_str();
  };
  return owner(std::make_shared<ptx::Device>(ptx::cuda::options_from(value_of)));
}

Json vary(const Json& arguments, plumbline_native_ask) {
  const auto number = argument<std::size_t>(arguments, "number");
  device_of(arguments)->vary(ptx::cuda::named_variations().at(number).variation);
  return nullptr;
}

/// Bytes on the device, as NumPy sees memory; not initialised.
Json allocate(const Json& arguments, plumbline_native_ask) {
  const auto bytes = argument<std::size_t>(arguments, "bytes");
  const auto device = device_of(arguments);
  const ptx::Address address = device->allocate(bytes);
  void* memory = reinterpret_cast<void*>(address);
  const std::shared_ptr<void> kept(memory, [=](void*) { device->release(address); });
  return array(kept, memory, "|u1", std::array{bytes});
}

Json has(const Json& arguments, plumbline_native_ask) {
  return device_of(arguments)->has(argument<std::uint64_t>(arguments, "address"),
                                   argument<std::size_t>(arguments, "bytes"));
}

Json load(const Json& arguments, plumbline_native_ask) {
  return device_of(arguments)->load(argument<std::string>(arguments, "ptx"));
}

Json unload(const Json& arguments, plumbline_native_ask) {
  device_of(arguments)->unload(module_of(arguments));
  return nullptr;
}

Json kernel_names(const Json& arguments, plumbline_native_ask) {
  return device_of(arguments)->kernel_names(module_of(arguments));
}

Json variations(const Json&, plumbline_native_ask) {
  Json names;
  for (const auto& variation : ptx::cuda::named_variations()) names.push_back(variation.name);
  return names;
}

Json profile_report(const Json& arguments, plumbline_native_ask) {
  return ptx::report(ptx::profile_from(argument<std::string>(arguments, "record")),
                     argument<std::size_t>(arguments, "lines"));
}

Json registers_in(const Json& arguments, plumbline_native_ask) {
  const auto cubin = bytes_of(arguments, "cubin");
  return ptx::cuda::registers_in({reinterpret_cast<const char*>(cubin.data()), cubin.size()});
}

}  // namespace

Json device_error(const std::exception& error) {
  if (const auto* fault = dynamic_cast<const ptx::Fault*>(&error)) {
    const ptx::Fault::Where& where = fault->where;
    return {{"type", "Fault"},
            {"arguments",
             {fault->what(), name(fault->kind), where.kernel, where.instruction, where.ptx_line,
              where.source, axes(where.block), axes(where.thread),
              where.address ? Json(*where.address) : Json()}}};
  }
  if (const auto* refused = dynamic_cast<const ptx::Refused*>(&error)) {
    return {{"type", "Refused"},
            {"arguments", Json::array({refused->what(), name(refused->reason)})}};
  }
  if (const auto* bad = dynamic_cast<const ptx::BadPtx*>(&error)) {
    return {{"type", "BadPtx"}, {"arguments", Json::array({bad->what(), bad->line})}};
  }
  return nullptr;
}

Functions device_functions() {
  return {{"device", &make_device},
          {"vary", &vary},
          {"allocate", &allocate},
          {"has", &has},
          {"load", &load},
          {"unload", &unload},
          {"kernel_names", &kernel_names},
          {"info", &info},
          {"launch", &launch},
          {"profile", &profile},
          {"variations", &variations},
          {"profile_report", &profile_report},
          {"registers_in", &registers_in}};
}

}  // namespace plumbline::python
