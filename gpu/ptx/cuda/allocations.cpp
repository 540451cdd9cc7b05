// SPDX-License-Identifier: Apache-2.0
// Memory that the program asks for.
#include <cstdlib>
#include <cstring>

#include "ptx/cuda/process.hpp"

namespace plumbline::ptx::cuda {
namespace {

constexpr std::size_t host_alignment = 4096, device_alignment = 256;

void* aligned_memory(std::size_t bytes, std::size_t alignment) {
  expect(bytes <= SIZE_MAX - alignment, Error::memory_allocation);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  expect(memory != nullptr, Error::memory_allocation);
  return memory;
}

/// That which memory belongs to: the one in use, or the primary one of programs that have none.
const Context* owner(Process& process) {
  const auto& stack = process.stack();
  const bool has = !stack.empty() && process.is_context(stack.back());
  return has ? stack.back() : &process.primary();
}

}  // namespace

Address Process::allocate(std::size_t bytes, MemoryType type, unsigned flags) {
  Address address = 0;
  Allocation made{bytes, type, Allocation::Origin::device, flags, owner(*this), next_allocation_++};
  if (type == MemoryType::device) {
    address = device().allocate(bytes);
    bytes_in_use_ += bytes;
  } else {
    expect(bytes <= properties().global_bytes, Error::memory_allocation);
    void* memory = aligned_memory(bytes, host_alignment);
    std::memset(memory, 0, bytes);
    device().adopt(memory, bytes);
    address = reinterpret_cast<Address>(memory);
    made.origin = Allocation::Origin::host;
  }
  allocations_[address] = made;
  return address;
}

Address Process::allocate_input(const void* from, std::size_t bytes) {
  void* memory = aligned_memory(bytes, device_alignment);
  std::memcpy(memory, from, bytes);
  device().adopt(memory, bytes, false);
  const auto address = reinterpret_cast<Address>(memory);
  allocations_[address] = {bytes, MemoryType::device, Allocation::Origin::host,
                           0,     owner(*this),       next_allocation_++};
  return address;
}

void Process::adopt(void* memory, std::size_t bytes, bool writable, unsigned flags) {
  const auto begin = reinterpret_cast<Address>(memory);
  expect(bytes <= UINTPTR_MAX - begin);
  const auto next = allocations_.lower_bound(begin + bytes);
  if (next != allocations_.begin()) {
    const auto& [address, allocation] = *std::prev(next);
    expect(address + allocation.bytes <= begin, Error::host_memory_already_registered);
  }
  device().adopt(memory, bytes, writable);
  allocations_[begin] = {bytes, MemoryType::host, Allocation::Origin::registered,
                         flags, owner(*this),     next_allocation_++};
}

void Process::free(Address address, const Allocation& allocation) {
  auto* memory = reinterpret_cast<void*>(address);
  if (allocation.origin == Allocation::Origin::device) {
    bytes_in_use_ -= allocation.bytes;
    device().release(address);
  } else {
    device().forget(memory);
    if (allocation.origin == Allocation::Origin::host) std::free(memory);
  }
}

void Process::release(Address address, Allocation::Origin origin) {
  const auto found = allocations_.find(address);
  const bool known = found != allocations_.end() && found->second.origin == origin;
  if (origin == Allocation::Origin::registered) expect(known, Error::host_memory_not_registered);
  expect(known);
  free(address, found->second);
  allocations_.erase(found);
}

void Process::release_device(Address address) {
  const auto found = allocations_.find(address);
  expect(found != allocations_.end() && found->second.type != MemoryType::host);
  release(address, found->second.origin);
}

const std::pair<const Address, Allocation>* Process::allocation_with(Address address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const auto& found = *--next;
  return address - found.first < found.second.bytes ? &found : nullptr;
}

}  // namespace plumbline::ptx::cuda
