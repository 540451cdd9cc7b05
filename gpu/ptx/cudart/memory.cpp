// SPDX-License-Identifier: Apache-2.0
// Memory and copies. All have ended when they return: an asynchronous copy is one at once.
#include <cstring>

#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cudart;

namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

Error allocate(void** pointer, std::size_t bytes, MemoryType type) {
  return run([&](Runtime& runtime) {
    expect(pointer != nullptr);
    *pointer = nullptr;
    if (bytes > 0) *pointer = reinterpret_cast<void*>(runtime.allocate(bytes, type));
  });
}

Error release(void* pointer, Allocation::Origin origin) {
  return run([&](Runtime& runtime) {
    if (pointer) runtime.release(address_of(pointer), origin);
  });
}

/// One row of a copy; device memory as `kind` says, or as the addresses do.
void copy_row(Runtime& runtime, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  Device& device = runtime.device();
  bool to_device = kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
  bool from_device = kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
  if (kind == CopyKind::by_address) {
    to_device = device.has(address_of(to), 1);
    from_device = device.has(address_of(from), 1);
  }
  if (to_device && from_device) {
    device.copy(address_of(to), address_of(from), bytes);
  } else if (to_device) {
    device.write(address_of(to), from, bytes);
  } else if (from_device) {
    device.read(to, address_of(from), bytes);
  } else {
    std::memmove(to, from, bytes);
  }
}

struct Rectangle {
  std::size_t width, height = 1;  ///< bytes of a row, rows
  std::size_t to_pitch = 0, from_pitch = 0;
};

Error copy(void* to, const void* from, const Rectangle& size, CopyKind kind,
           const Stream* stream = nullptr) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    expect(kind >= CopyKind::host_to_host && kind <= CopyKind::by_address,
           Error::invalid_memcpy_direction);
    if (size.width == 0 || size.height == 0) return;
    expect(to != nullptr && from != nullptr);
    expect(size.height == 1 || (size.width <= size.to_pitch && size.width <= size.from_pitch));
    for (std::size_t row = 0; row < size.height; ++row) {
      copy_row(runtime, static_cast<char*>(to) + row * size.to_pitch,
               static_cast<const char*>(from) + row * size.from_pitch, size.width, kind);
    }
  });
}

Error set(void* to, int value, std::size_t pitch, std::size_t width, std::size_t height,
          const Stream* stream = nullptr) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    if (width == 0 || height == 0) return;
    expect(height == 1 || width <= pitch);
    for (std::size_t row = 0; row < height; ++row) {
      runtime.device().set(address_of(to) + row * pitch, static_cast<std::uint8_t>(value), width);
    }
  });
}

/// The bytes of a variable from an offset on.
Address part_of_variable(Runtime& runtime, const void* symbol, std::size_t offset,
                         std::size_t bytes) {
  const auto [address, size] = runtime.variable(symbol);
  expect(offset <= size && bytes <= size - offset);
  return address + offset;
}

Error to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                CopyKind kind, const Stream* stream = nullptr) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    const Address to = part_of_variable(runtime, symbol, offset, bytes);
    expect(kind != CopyKind::device_to_host && kind != CopyKind::host_to_host,
           Error::invalid_memcpy_direction);
    if (bytes > 0) copy_row(runtime, reinterpret_cast<void*>(to), from, bytes, kind);
  });
}

Error from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                  CopyKind kind, const Stream* stream = nullptr) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    const Address from = part_of_variable(runtime, symbol, offset, bytes);
    expect(kind != CopyKind::host_to_device && kind != CopyKind::host_to_host,
           Error::invalid_memcpy_direction);
    if (bytes > 0) copy_row(runtime, to, reinterpret_cast<const void*>(from), bytes, kind);
  });
}

}  // namespace

PLUMBLINE_CUDART Error cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryType::device);
}

PLUMBLINE_CUDART Error cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream) {
  const Error error = run([&](Runtime& runtime) { expect_stream(runtime, stream); });
  return error == Error::success ? cudaMalloc(pointer, bytes) : error;
}

PLUMBLINE_CUDART Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                       std::size_t height) {
  constexpr std::size_t row_alignment = 512;
  if (pitch == nullptr) return run([](Runtime&) { expect(false); });
  *pitch = (width + row_alignment - 1) / row_alignment * row_alignment;
  return cudaMalloc(pointer, *pitch * height);
}

PLUMBLINE_CUDART Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes, MemoryType::managed);
}

PLUMBLINE_CUDART Error cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, MemoryType::host);
}

PLUMBLINE_CUDART Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return cudaMallocHost(pointer, bytes);
}

PLUMBLINE_CUDART Error cudaFree(void* pointer) {
  return run([&](Runtime& runtime) {
    if (pointer == nullptr) return;
    const auto* found = runtime.allocation_with(address_of(pointer));
    const bool managed = found && found->second.type == MemoryType::managed;
    runtime.release(address_of(pointer),
                    managed ? Allocation::Origin::host : Allocation::Origin::device);
  });
}

PLUMBLINE_CUDART Error cudaFreeAsync(void* pointer, Stream* stream) {
  const Error error = run([&](Runtime& runtime) { expect_stream(runtime, stream); });
  return error == Error::success ? cudaFree(pointer) : error;
}

PLUMBLINE_CUDART Error cudaFreeHost(void* pointer) {
  return release(pointer, Allocation::Origin::host);
}

PLUMBLINE_CUDART Error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned read_only = 8;
  return run([&](Runtime& runtime) {
    expect(pointer != nullptr && bytes > 0);
    runtime.adopt(pointer, bytes, (flags & read_only) == 0);
  });
}

PLUMBLINE_CUDART Error cudaHostUnregister(void* pointer) {
  return release(pointer, Allocation::Origin::registered);
}

PLUMBLINE_CUDART Error cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return run([&](Runtime& runtime) {
    expect(device != nullptr && runtime.allocation_with(address_of(host)));
    *device = host;
  });
}

PLUMBLINE_CUDART Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return run([&](Runtime& runtime) {
    expect(free != nullptr && total != nullptr);
    *total = runtime.properties().global_bytes;
    *free = *total - runtime.bytes_in_use();
  });
}

PLUMBLINE_CUDART Error cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return copy(to, from, {bytes}, kind);
}

PLUMBLINE_CUDART Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind,
                                       Stream* stream) {
  return copy(to, from, {bytes}, kind, stream);
}

PLUMBLINE_CUDART Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                    std::size_t from_pitch, std::size_t width, std::size_t height,
                                    CopyKind kind) {
  return copy(to, from, {width, height, to_pitch, from_pitch}, kind);
}

PLUMBLINE_CUDART Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                         std::size_t from_pitch, std::size_t width,
                                         std::size_t height, CopyKind kind, Stream* stream) {
  return copy(to, from, {width, height, to_pitch, from_pitch}, kind, stream);
}

PLUMBLINE_CUDART Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                          std::size_t offset, CopyKind kind) {
  return to_symbol(symbol, from, bytes, offset, kind);
}

PLUMBLINE_CUDART Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                               std::size_t bytes, std::size_t offset, CopyKind kind,
                                               Stream* stream) {
  return to_symbol(symbol, from, bytes, offset, kind, stream);
}

PLUMBLINE_CUDART Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                            std::size_t offset, CopyKind kind) {
  return from_symbol(to, symbol, bytes, offset, kind);
}

PLUMBLINE_CUDART Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                 std::size_t offset, CopyKind kind,
                                                 Stream* stream) {
  return from_symbol(to, symbol, bytes, offset, kind, stream);
}

PLUMBLINE_CUDART Error cudaGetSymbolAddress(void** address, const void* symbol) {
  return run([&](Runtime& runtime) {
    expect(address != nullptr);
    *address = reinterpret_cast<void*>(runtime.variable(symbol).first);
  });
}

PLUMBLINE_CUDART Error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return run([&](Runtime& runtime) {
    expect(bytes != nullptr);
    *bytes = runtime.variable(symbol).second;
  });
}

PLUMBLINE_CUDART Error cudaMemset(void* to, int value, std::size_t bytes) {
  return set(to, value, 0, bytes, 1);
}

PLUMBLINE_CUDART Error cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream* stream) {
  return set(to, value, 0, bytes, 1, stream);
}

PLUMBLINE_CUDART Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                    std::size_t height) {
  return set(to, value, pitch, width, height);
}
