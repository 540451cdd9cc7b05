// SPDX-License-Identifier: Apache-2.0
// Memory.
#include "ptx/cuda/copies.hpp"
#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

Error allocate(Address* address, std::size_t bytes, MemoryType type, unsigned flags = 0) {
  return run([&](Process& process) {
    expect(address != nullptr && bytes > 0);
    process.streams.expect_no_capture();
    *address = process.allocate(bytes, type, flags);
  });
}

}  // namespace

PLUMBLINE_CUDA Error cuMemAlloc_v2(Address* address, std::size_t bytes) {
  return allocate(address, bytes, MemoryType::device);
}

PLUMBLINE_CUDA Error cuMemAllocPitch_v2(Address* address, std::size_t* pitch, std::size_t width,
                                        std::size_t height, unsigned element) {
  return run([&](Process& process) {
    expect(address != nullptr && pitch != nullptr && width > 0 && height > 0);
    expect(element == 4 || element == 8 || element == 16);
    process.streams.expect_no_capture();
    expect(height <= SIZE_MAX / pitch_of(width), Error::memory_allocation);
    *address = process.allocate(pitch_of(width) * height, MemoryType::device);
    *pitch = pitch_of(width);
  });
}

PLUMBLINE_CUDA Error cuMemAllocManaged(Address* address, std::size_t bytes, unsigned flags) {
  if (flags != 1 && flags != 2) return run([](Process&) { expect(false); });
  return allocate(address, bytes, MemoryType::managed, flags);
}

PLUMBLINE_CUDA Error cuMemFree_v2(Address address) {
  return run([&](Process& process) {
    process.streams.expect_no_capture();
    if (address) process.release_device(address);
  });
}

PLUMBLINE_CUDA Error cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  if (flags > 7) return run([](Process&) { expect(false); });
  return allocate(reinterpret_cast<Address*>(pointer), bytes, MemoryType::host, flags);
}

PLUMBLINE_CUDA Error cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}

PLUMBLINE_CUDA Error cuMemFreeHost(void* pointer) {
  return run(
      [&](Process& process) { process.release(address_of(pointer), Allocation::Origin::host); });
}

PLUMBLINE_CUDA Error cuMemHostGetDevicePointer_v2(Address* address, void* pointer, unsigned flags) {
  return run([&](Process& process) {
    expect(address != nullptr && flags == 0 && process.allocation_with(address_of(pointer)));
    *address = address_of(pointer);
  });
}

PLUMBLINE_CUDA Error cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return run([&](Process& process) {
    const auto* found = process.allocation_with(address_of(pointer));
    expect(flags != nullptr && found && found->second.type == MemoryType::host);
    *flags = found->second.flags;
  });
}

PLUMBLINE_CUDA Error cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned read_only = 8;
  return run([&](Process& process) {
    expect(pointer != nullptr && bytes > 0 && flags <= 15);
    process.adopt(pointer, bytes, (flags & read_only) == 0, flags);
  });
}

PLUMBLINE_CUDA Error cuMemHostUnregister(void* pointer) {
  return run([&](Process& process) {
    process.release(address_of(pointer), Allocation::Origin::registered);
  });
}

PLUMBLINE_CUDA Error cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return run([&](Process& process) {
    expect(free != nullptr && total != nullptr);
    *total = process.properties().global_bytes;
    *free = *total - process.bytes_in_use();
  });
}

PLUMBLINE_CUDA Error cuMemGetAddressRange_v2(Address* begin, std::size_t* bytes, Address address) {
  return run([&](Process& process) {
    const auto* found = process.allocation_with(address);
    expect(found != nullptr, Error::symbol_not_found);
    if (begin) *begin = found->first;
    if (bytes) *bytes = found->second.bytes;
  });
}

/// Hints on where managed memory should lie: it lies in one place.
PLUMBLINE_CUDA Error cuMemAdvise(Address address, std::size_t bytes, int, int) {
  return run([&](Process& process) {
    const auto* found = process.allocation_with(address);
    expect(found && bytes <= found->second.bytes - (address - found->first));
  });
}

PLUMBLINE_CUDA Error cuMemPrefetchAsync(Address address, std::size_t bytes, int, Stream* stream) {
  const Error error = run([&](Process& process) { process.streams.of(stream); });
  return error == Error::success ? cuMemAdvise(address, bytes, 0, 0) : error;
}

/// CUmemLocation: two numbers of 32 bits, passed as one of 64.
PLUMBLINE_CUDA Error cuMemAdvise_v2(Address address, std::size_t bytes, int, std::uint64_t) {
  return cuMemAdvise(address, bytes, 0, 0);
}

PLUMBLINE_CUDA Error cuMemPrefetchAsync_v2(Address address, std::size_t bytes, std::uint64_t,
                                           unsigned, Stream* stream) {
  return cuMemPrefetchAsync(address, bytes, 0, stream);
}
