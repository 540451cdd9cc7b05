// SPDX-License-Identifier: Apache-2.0
#include "python/native/device.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/cuda/machine_code.hpp"
#include "ptx/cuda/options.hpp"
#include "ptx/device.hpp"
#include "ptx/profile.hpp"

namespace plumbline::python {
namespace {

namespace nb = nanobind;

using Axes = std::array<std::uint32_t, 3>;
/// Memory of the caller: address, bytes, whether it may be written, and what is left of its address
/// on the device when 256 divides it.
using Range = std::tuple<std::uint64_t, std::size_t, bool, std::size_t>;
/// A parameter that points into a range: its offset among the parameters, the range's number, the
/// byte of the range.
using Pointer = std::tuple<std::size_t, std::size_t, std::size_t>;

ptx::Extent extent(const Axes& axes) { return {axes[0], axes[1], axes[2]}; }
nb::tuple axes(const ptx::Extent& e) { return nb::make_tuple(e.x, e.y, e.z); }

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

template <class... Attributes>
void raise(const char* type_name, const char* message, Attributes&&... attributes) {
  const nb::object type = nb::module_::import_("plumbline.device").attr(type_name);
  const nb::object error = type(message, std::forward<Attributes>(attributes)...);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ptx::Fault& fault) {
    const ptx::Fault::Where& where = fault.where;
    raise("Fault", fault.what(), name(fault.kind), where.kernel, where.instruction, where.ptx_line,
          where.source, axes(where.block), axes(where.thread),
          where.address ? nb::cast(*where.address) : nb::none());
  } catch (const ptx::Refused& refused) {
    raise("Refused", refused.what(), name(refused.reason));
  } catch (const ptx::BadPtx& bad) {
    raise("BadPtx", bad.what(), bad.line);
  }
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

/// Launches by `launch`, which is given the kernel and its parameters. @returns and @throws what
/// that does; after a Fault the caller's memory is as the kernel left it.
template <class Launch>
auto run(const Launch& launch, ptx::Device& device, std::uint64_t module, const std::string& kernel,
         std::vector<std::byte> parameters, const std::vector<Range>& ranges,
         const std::vector<Pointer>& pointers) {
  const ptx::Kernel& loaded = device.kernel(module, kernel);
  const Copies copies(device, ranges);
  for (const auto& [offset, range, byte] : pointers) {
    const ptx::Address address = copies[range] + byte;
    if (offset + sizeof address > parameters.size()) throw std::out_of_range("pointers");
    std::memcpy(parameters.data() + offset, &address, sizeof address);
  }
  try {
    auto result = launch(loaded, parameters);
    copies.copy_back();
    return result;
  } catch (const ptx::Fault&) {
    copies.copy_back();
    throw;
  }
}

/// What Python gives of a launch.
struct Given {
  ptx::Launch launch;
  std::vector<std::byte> parameters;

  Given(const Axes& grid, const Axes& block, std::size_t shared, const nb::bytes& bytes)
      : launch{extent(grid), extent(block), {}, shared, false} {
    const auto* first = static_cast<const std::byte*>(bytes.data());
    parameters.assign(first, first + bytes.size());
  }
};

/// @returns the instructions that warps and that threads executed.
std::pair<std::uint64_t, std::uint64_t> launch(ptx::Device& device, std::uint64_t module,
                                               const std::string& kernel, const Axes& grid,
                                               const Axes& block, std::size_t shared,
                                               const nb::bytes& parameters,
                                               const std::vector<Range>& ranges,
                                               const std::vector<Pointer>& pointers) {
  Given given(grid, block, shared, parameters);
  const nb::gil_scoped_release others_may_run;
  const auto run_it = [&](const ptx::Kernel& loaded, const std::vector<std::byte>& bytes) {
    return device.launch(loaded, given.launch, bytes);
  };
  const ptx::Counts counts =
      run(run_it, device, module, kernel, std::move(given.parameters), ranges, pointers);
  return {counts.warp_instructions, counts.thread_instructions};
}

/// @param registers of a thread, as ptxas gives them; 0: an estimate
/// @returns the profile as JSON, and its record.
std::pair<std::string, std::string> profile(ptx::Device& device, std::uint64_t module,
                                            const std::string& kernel, const Axes& grid,
                                            const Axes& block, std::size_t shared,
                                            const nb::bytes& parameters,
                                            const std::vector<Range>& ranges,
                                            const std::vector<Pointer>& pointers,
                                            std::uint32_t registers) {
  Given given(grid, block, shared, parameters);
  const nb::gil_scoped_release others_may_run;
  const auto run_it = [&](const ptx::Kernel& loaded, const std::vector<std::byte>& bytes) {
    return device.profile(loaded, given.launch, bytes, registers);
  };
  const ptx::Profile counted =
      run(run_it, device, module, kernel, std::move(given.parameters), ranges, pointers);
  return {ptx::json(counted), ptx::record(counted)};
}

nb::dict info(const ptx::Device& device, std::uint64_t module, const std::string& kernel) {
  const ptx::KernelInfo& of = device.info(device.kernel(module, kernel));
  nb::list parameters;
  for (const ptx::Parameter& parameter : of.parameters) {
    parameters.append(nb::make_tuple(parameter.offset, parameter.size));
  }
  nb::dict result;
  result["parameters"] = parameters;
  result["parameter_bytes"] = of.parameter_bytes;
  result["static_shared_bytes"] = of.static_shared_bytes;
  result["local_bytes"] = of.local_bytes;
  result["registers"] = of.registers;
  result["max_threads"] = of.max_threads;
  result["missing"] = of.missing;
  return result;
}

/// An array of bytes on the device, as NumPy sees memory; not initialised.
nb::object allocate(const std::shared_ptr<ptx::Device>& device, std::size_t bytes) {
  struct Owned {
    std::shared_ptr<ptx::Device> device;
    ptx::Address address;
  };
  auto owned = std::make_unique<Owned>(Owned{device, device->allocate(bytes)});
  void* memory = reinterpret_cast<void*>(owned->address);
  const nb::capsule owner(owned.release(), [](void* p) noexcept {
    const std::unique_ptr<Owned> kept(static_cast<Owned*>(p));
    kept->device->release(kept->address);
  });
  const std::size_t shape[] = {bytes};
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(memory, 1, shape, owner));
}

}  // namespace

void bind_device(nb::module_& module) {
  nb::register_exception_translator(&translate);
  nb::class_<ptx::Device>(module, "Device")
      .def(nb::new_([](const std::map<std::string, std::string>& settings) {
             const auto value_of = [&](const char* variable) {
               const auto found = settings.find(variable);
               return found == settings.end() ? nullptr : found->second.c_str();
             };
             return std::make_shared<ptx::Device>(ptx::cuda::options_from(value_of));
           }),
           nb::arg("settings"))
      .def(
          "vary",
          [](ptx::Device& device, std::size_t number) {
            device.vary(ptx::cuda::named_variations().at(number).variation);
          },
          nb::arg("number"), nb::call_guard<nb::gil_scoped_release>())
      .def("allocate", &allocate, nb::arg("bytes"))
      .def("has", &ptx::Device::has, nb::arg("address"), nb::arg("bytes"))
      .def(
          "load", [](ptx::Device& device, const std::string& ptx) { return device.load(ptx); },
          nb::arg("ptx"), nb::call_guard<nb::gil_scoped_release>())
      .def("unload", &ptx::Device::unload, nb::arg("module"))
      .def("kernel_names", &ptx::Device::kernel_names, nb::arg("module"))
      .def("info", &info, nb::arg("module"), nb::arg("kernel"))
      .def("launch", &launch, nb::arg("module"), nb::arg("kernel"), nb::arg("grid"),
           nb::arg("block"), nb::arg("shared"), nb::arg("parameters"), nb::arg("ranges"),
           nb::arg("pointers"))
      .def("profile", &profile, nb::arg("module"), nb::arg("kernel"), nb::arg("grid"),
           nb::arg("block"), nb::arg("shared"), nb::arg("parameters"), nb::arg("ranges"),
           nb::arg("pointers"), nb::arg("registers"));
  module.def("variations", [] {
    std::vector<std::string> names;
    for (const auto& variation : ptx::cuda::named_variations()) names.push_back(variation.name);
    return names;
  });
  module.def(
      "profile_report",
      [](const std::string& record, std::size_t lines) {
        return ptx::report(ptx::profile_from(record), lines);
      },
      nb::arg("record"), nb::arg("lines"));
  module.def(
      "registers_in",
      [](const nb::bytes& cubin) {
        return ptx::cuda::registers_in({cubin.c_str(), cubin.size()});
      },
      nb::arg("cubin"));
}

}  // namespace plumbline::python
