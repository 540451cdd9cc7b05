// SPDX-License-Identifier: Apache-2.0
// Memory and copies.
#include "ptx/cuda/copies.hpp"
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;

namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

Error allocate(void** pointer, std::size_t bytes, MemoryType type, unsigned flags = 0) {
  const Asynchronous call;
  return run([&](Process& process) {
    expect(pointer != nullptr);
    process.streams.expect_no_capture();
    *pointer = nullptr;
    if (bytes > 0) *pointer = reinterpret_cast<void*>(process.allocate(bytes, type, flags));
  });
}

/// What its caller waits for. CUDA forbids it while a stream is captured.
enum class Waits { no, yes };

Error copied(void* to, const void* from, const Box& box, CopyKind kind, Waits waits,
             const Stream* stream = nullptr) {
  const Asynchronous call(waits == Waits::no);
  return run([&](Process& process) {
    if (waits == Waits::yes) process.streams.expect_no_capture();
    copy(process, stream, to, from, box, kind);
  });
}

Error filled(void* to, int value, std::size_t pitch, std::size_t width, std::size_t height,
             Waits waits, const Stream* stream = nullptr) {
  const Asynchronous call(waits == Waits::no);
  return run([&](Process& process) {
    if (waits == Waits::yes) process.streams.expect_no_capture();
    set(process, stream, address_of(to),
        {static_cast<std::uint8_t>(value), 1, width, height, pitch});
  });
}

/// The bytes of a variable from an offset on.
Address part_of_variable(Process& process, const void* symbol, std::size_t offset,
                         std::size_t bytes) {
  const auto [address, size] = process.modules.variable(symbol);
  expect(offset <= size && bytes <= size - offset);
  return address + offset;
}

Error to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                CopyKind kind, const Stream* stream = nullptr) {
  return run([&](Process& process) {
    const Address to = part_of_variable(process, symbol, offset, bytes);
    expect(kind != CopyKind::device_to_host && kind != CopyKind::host_to_host,
           Error::invalid_memcpy_direction);
    copy(process, stream, reinterpret_cast<void*>(to), from, {bytes}, kind);
  });
}

Error from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                  CopyKind kind, const Stream* stream = nullptr) {
  return run([&](Process& process) {
    const Address from = part_of_variable(process, symbol, offset, bytes);
    expect(kind != CopyKind::host_to_device && kind != CopyKind::host_to_host,
           Error::invalid_memcpy_direction);
    copy(process, stream, to, reinterpret_cast<const void*>(from), {bytes}, kind);
  });
}

}  // namespace

PLUMBLINE_CUDA Error cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryType::device);
}

/// While the stream is captured it would be a node of the graph, which this device has not.
PLUMBLINE_CUDA Error cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream) {
  return run([&](Process& process) {
    expect(pointer != nullptr);
    process.streams.expect_not_captured(process.streams.of(stream).point);
    *pointer = nullptr;
    if (bytes == 0) return;
    *pointer = reinterpret_cast<void*>(process.allocate(bytes, MemoryType::device));
  });
}

PLUMBLINE_CUDA Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                     std::size_t height) {
  if (pitch == nullptr) return run([](Process&) { expect(false); });
  *pitch = pitch_of(width);
  return cudaMalloc(pointer, *pitch * height);
}

PLUMBLINE_CUDA Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryType::managed);
}

PLUMBLINE_CUDA Error cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryType::host);
}

PLUMBLINE_CUDA Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate(pointer, bytes, MemoryType::host, flags);
}

PLUMBLINE_CUDA Error cudaFree(void* pointer) {
  return run([&](Process& process) {
    process.streams.expect_no_capture();
    if (pointer) process.release_device(address_of(pointer));
  });
}

PLUMBLINE_CUDA Error cudaFreeAsync(void* pointer, Stream* stream) {
  return run([&](Process& process) {
    process.streams.expect_not_captured(process.streams.of(stream).point);
    if (pointer) process.release_device(address_of(pointer));
  });
}

PLUMBLINE_CUDA Error cudaFreeHost(void* pointer) {
  return run([&](Process& process) {
    if (pointer) process.release(address_of(pointer), Allocation::Origin::host);
  });
}

PLUMBLINE_CUDA Error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned read_only = 8;
  return run([&](Process& process) {
    expect(pointer != nullptr && bytes > 0);
    process.adopt(pointer, bytes, (flags & read_only) == 0, flags);
  });
}

PLUMBLINE_CUDA Error cudaHostUnregister(void* pointer) {
  return run([&](Process& process) {
    if (pointer) process.release(address_of(pointer), Allocation::Origin::registered);
  });
}

PLUMBLINE_CUDA Error cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return run([&](Process& process) {
    expect(device != nullptr && process.allocation_with(address_of(host)));
    *device = host;
  });
}

PLUMBLINE_CUDA Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return run([&](Process& process) {
    expect(free != nullptr && total != nullptr);
    *total = process.properties().global_bytes;
    *free = *total - process.bytes_in_use();
  });
}

PLUMBLINE_CUDA Error cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return copied(to, from, {bytes}, kind, Waits::yes);
}

PLUMBLINE_CUDA Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind,
                                     Stream* stream) {
  return copied(to, from, {bytes}, kind, Waits::no, stream);
}

PLUMBLINE_CUDA Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                  std::size_t from_pitch, std::size_t width, std::size_t height,
                                  CopyKind kind) {
  return copied(to, from, {width, height, 1, to_pitch, from_pitch}, kind, Waits::yes);
}

PLUMBLINE_CUDA Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                       std::size_t from_pitch, std::size_t width,
                                       std::size_t height, CopyKind kind, Stream* stream) {
  return copied(to, from, {width, height, 1, to_pitch, from_pitch}, kind, Waits::no, stream);
}

PLUMBLINE_CUDA Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                        std::size_t offset, CopyKind kind) {
  return to_symbol(symbol, from, bytes, offset, kind);
}

PLUMBLINE_CUDA Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                             std::size_t bytes, std::size_t offset, CopyKind kind,
                                             Stream* stream) {
  return to_symbol(symbol, from, bytes, offset, kind, stream);
}

PLUMBLINE_CUDA Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                          std::size_t offset, CopyKind kind) {
  return from_symbol(to, symbol, bytes, offset, kind);
}

PLUMBLINE_CUDA Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                               std::size_t offset, CopyKind kind, Stream* stream) {
  return from_symbol(to, symbol, bytes, offset, kind, stream);
}

PLUMBLINE_CUDA Error cudaGetSymbolAddress(void** address, const void* symbol) {
  return run([&](Process& process) {
    expect(address != nullptr);
    *address = reinterpret_cast<void*>(process.modules.variable(symbol).first);
  });
}

PLUMBLINE_CUDA Error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return run([&](Process& process) {
    expect(bytes != nullptr);
    *bytes = process.modules.variable(symbol).second;
  });
}

PLUMBLINE_CUDA Error cudaMemset(void* to, int value, std::size_t bytes) {
  return filled(to, value, 0, bytes, 1, Waits::yes);
}

PLUMBLINE_CUDA Error cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream* stream) {
  return filled(to, value, 0, bytes, 1, Waits::no, stream);
}

PLUMBLINE_CUDA Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                  std::size_t height) {
  return filled(to, value, pitch, width, height, Waits::yes);
}

PLUMBLINE_CUDA Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                       std::size_t height, Stream* stream) {
  return filled(to, value, pitch, width, height, Waits::no, stream);
}
