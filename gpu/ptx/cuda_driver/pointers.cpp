// SPDX-License-Identifier: Apache-2.0
// What a program asks about a pointer.
#include <cstring>

#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

/// CUpointer_attribute; those that the device knows of.
enum class PointerAttribute : int {
  context = 1,
  memory_type = 2,
  device_pointer = 3,
  host_pointer = 4,
  sync_memops = 6,
  buffer_id = 7,
  is_managed = 8,
  device_ordinal = 9,
  is_ipc_capable = 10,
  range_start = 11,
  range_size = 12,
  mapped = 13,
  handle_types = 14,
  is_rdma_capable = 15,
  access_flags = 16,
  pool = 17
};

template <class Value>
void put(void* into, Value value) {
  std::memcpy(into, &value, sizeof value);
}

/// CUmemorytype: managed memory is the device's.
unsigned type_of(const Allocation& allocation) {
  return allocation.type == MemoryType::host ? 1 : 2;
}

void ask(Process& process, void* into, PointerAttribute attribute, Address address) {
  expect(into != nullptr);
  const auto* found = process.allocation_with(address);
  if (attribute == PointerAttribute::mapped) return put<unsigned>(into, found != nullptr);
  expect(found != nullptr);
  const Allocation& allocation = found->second;
  switch (attribute) {
    case PointerAttribute::context:
      return put(into, allocation.context);
    case PointerAttribute::memory_type:
      return put(into, type_of(allocation));
    case PointerAttribute::device_pointer:
      return put(into, address);
    case PointerAttribute::host_pointer:
      expect(allocation.type != MemoryType::device);
      return put(into, address);
    case PointerAttribute::sync_memops:
    case PointerAttribute::is_ipc_capable:
    case PointerAttribute::is_rdma_capable:
      return put<unsigned>(into, 0);
    case PointerAttribute::buffer_id:
      return put<unsigned long long>(into, allocation.number);
    case PointerAttribute::is_managed:
      return put<unsigned>(into, allocation.type == MemoryType::managed);
    case PointerAttribute::device_ordinal:
      return put<int>(into, 0);
    case PointerAttribute::range_start:
      return put(into, found->first);
    case PointerAttribute::range_size:
      return put(into, allocation.bytes);
    case PointerAttribute::mapped:
      break;  // above
    case PointerAttribute::handle_types:
      return put<std::uint64_t>(into, 0);
    case PointerAttribute::access_flags:
      return put<unsigned>(into, 3);  // to read and to write
    case PointerAttribute::pool:
      return put<void*>(into, nullptr);
  }
  throw Refused(Refused::Reason::not_supported, "cuPointerGetAttribute: attribute " +
                                                    std::to_string(static_cast<int>(attribute)) +
                                                    ", which this device lacks");
}

/// CUpointer_attribute has 21 of them.
bool is_attribute(PointerAttribute attribute) {
  return attribute >= PointerAttribute::context && static_cast<int>(attribute) <= 21;
}

}  // namespace

PLUMBLINE_CUDA Error cuPointerGetAttribute(void* into, PointerAttribute attribute,
                                           Address address) {
  return run([&](Process& process) {
    expect(is_attribute(attribute));
    ask(process, into, attribute, address);
  });
}

/// For memory that CUDA does not know, every value is 0, and this is no error.
PLUMBLINE_CUDA Error cuPointerGetAttributes(unsigned count, const PointerAttribute* attributes,
                                            void** into, Address address) {
  return run([&](Process& process) {
    expect(count > 0 && attributes != nullptr && into != nullptr);
    for (unsigned n = 0; n < count; ++n) {
      expect(into[n] != nullptr && is_attribute(attributes[n]));
      if (process.allocation_with(address)) {
        const bool none = attributes[n] == PointerAttribute::host_pointer &&
                          process.allocation_with(address)->second.type == MemoryType::device;
        if (none) put<void*>(into[n], nullptr);
        if (!none) ask(process, into[n], attributes[n], address);
        continue;
      }
      switch (attributes[n]) {
        case PointerAttribute::context:
        case PointerAttribute::device_pointer:
        case PointerAttribute::host_pointer:
        case PointerAttribute::buffer_id:
        case PointerAttribute::range_start:
        case PointerAttribute::range_size:
        case PointerAttribute::handle_types:
        case PointerAttribute::pool:
          put<std::uint64_t>(into[n], 0);
          break;
        case PointerAttribute::device_ordinal:
          put<int>(into[n], -2);
          break;
        default:
          put<unsigned>(into[n], 0);
      }
    }
  });
}

/// What it asks of synchronous copies holds anyway: nothing is left to do when they return.
PLUMBLINE_CUDA Error cuPointerSetAttribute(const void* value, PointerAttribute attribute,
                                           Address address) {
  return run([&](Process& process) {
    expect(value != nullptr && attribute == PointerAttribute::sync_memops);
    expect(process.allocation_with(address) != nullptr);
  });
}
