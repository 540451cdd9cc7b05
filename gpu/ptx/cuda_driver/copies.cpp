// SPDX-License-Identifier: Apache-2.0
// Copies and settings of memory.
#include "ptx/cuda/copies.hpp"

#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

/// CUmemorytype
enum class Type : int { host = 1, device = 2, array = 3, unified = 4 };

/// One end of a copy, as CUDA_MEMCPY3D has it. CUDA_MEMCPY2D has neither z, lod, reserved nor
/// height.
struct End3 {
  std::size_t x, y, z, lod;
  Type type;
  void* host;
  Address device;
  void *array, *reserved;
  std::size_t pitch, height;
};
struct Copy3 {
  End3 from, to;
  std::size_t width, height, depth;
};
struct End2 {
  std::size_t x, y;
  Type type;
  void* host;
  Address device;
  void* array;
  std::size_t pitch;
};
struct Copy2 {
  End2 from, to;
  std::size_t width, height;
};
static_assert(sizeof(Copy2) == 128 && sizeof(Copy3) == 200);

End3 in_three(const End2& end) {
  return {end.x, end.y, 0, 0, end.type, end.host, end.device, end.array, nullptr, end.pitch, 0};
}

enum class Waits { no, yes };

const void* pointer_to(Address address) { return reinterpret_cast<const void*>(address); }
void* place_at(Address address) { return reinterpret_cast<void*>(address); }

Error copied(void* to, const void* from, std::size_t bytes, CopyKind kind, Waits waits,
             const Stream* stream = nullptr) {
  const Asynchronous call(waits == Waits::no);
  return run([&](Process& process) {
    if (waits == Waits::yes) process.streams.expect_no_capture();
    copy(process, stream, to, from, {bytes}, kind);
  });
}

/// Where the first byte lies.
char* begin_of(const End3& end, std::size_t pitch, std::size_t slice) {
  if (end.type == Type::array) {
    throw Refused(Refused::Reason::not_supported,
                  "a copy of a CUDA array, which this device lacks");
  }
  expect(end.type == Type::host || end.type == Type::device || end.type == Type::unified);
  expect(end.lod == 0);
  char* base =
      end.type == Type::host ? static_cast<char*>(end.host) : reinterpret_cast<char*>(end.device);
  expect(base != nullptr);
  return base + end.z * slice + end.y * pitch + end.x;
}

CopyKind kind_of(Type to, Type from) {
  if (to == Type::unified || from == Type::unified) return CopyKind::by_address;
  if (to == Type::host) {
    return from == Type::host ? CopyKind::host_to_host : CopyKind::device_to_host;
  }
  return from == Type::host ? CopyKind::host_to_device : CopyKind::device_to_device;
}

Error copied(const Copy3& asked, Waits waits, const Stream* stream = nullptr) {
  const Asynchronous call(waits == Waits::no);
  return run([&](Process& process) {
    if (waits == Waits::yes) process.streams.expect_no_capture();
    if (asked.width == 0 || asked.height == 0 || asked.depth == 0) return;
    const auto pitch = [&](const End3& end) { return end.pitch ? end.pitch : asked.width; };
    const auto slice = [&](const End3& end) {
      expect(end.x + asked.width <= pitch(end) || asked.height * asked.depth == 1);
      expect(asked.depth == 1 || end.y + asked.height <= end.height);
      return pitch(end) * end.height;
    };
    const Box box{asked.width,       asked.height,    asked.depth,      pitch(asked.to),
                  pitch(asked.from), slice(asked.to), slice(asked.from)};
    copy(process, stream, begin_of(asked.to, box.to_pitch, box.to_slice),
         begin_of(asked.from, box.from_pitch, box.from_slice), box,
         kind_of(asked.to.type, asked.from.type));
  });
}

Error copied(const Copy2* asked, Waits waits, const Stream* stream = nullptr) {
  if (asked == nullptr) return run([](Process&) { expect(false); });
  return copied({in_three(asked->from), in_three(asked->to), asked->width, asked->height, 1}, waits,
                stream);
}

Error filled(Address to, const Pattern& pattern, Waits waits, const Stream* stream = nullptr) {
  const Asynchronous call(waits == Waits::no);
  return run([&](Process& process) {
    if (waits == Waits::yes) process.streams.expect_no_capture();
    set(process, stream, to, pattern);
  });
}

}  // namespace

PLUMBLINE_CUDA Error cuMemcpy(Address to, Address from, std::size_t bytes) {
  return copied(place_at(to), pointer_to(from), bytes, CopyKind::by_address, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemcpyAsync(Address to, Address from, std::size_t bytes, Stream* stream) {
  return copied(place_at(to), pointer_to(from), bytes, CopyKind::by_address, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return copied(place_at(to), from, bytes, CopyKind::host_to_device, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes,
                                          Stream* stream) {
  return copied(place_at(to), from, bytes, CopyKind::host_to_device, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  return copied(to, pointer_to(from), bytes, CopyKind::device_to_host, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes,
                                          Stream* stream) {
  return copied(to, pointer_to(from), bytes, CopyKind::device_to_host, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemcpyDtoD_v2(Address to, Address from, std::size_t bytes) {
  return copied(place_at(to), pointer_to(from), bytes, CopyKind::device_to_device, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes,
                                          Stream* stream) {
  return copied(place_at(to), pointer_to(from), bytes, CopyKind::device_to_device, Waits::no,
                stream);
}
/// All contexts share the memory.
PLUMBLINE_CUDA Error cuMemcpyPeer(Address to, Context*, Address from, Context*, std::size_t bytes) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
PLUMBLINE_CUDA Error cuMemcpyPeerAsync(Address to, Context*, Address from, Context*,
                                       std::size_t bytes, Stream* stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
PLUMBLINE_CUDA Error cuMemcpy2D_v2(const Copy2* asked) { return copied(asked, Waits::yes); }
PLUMBLINE_CUDA Error cuMemcpy2DUnaligned_v2(const Copy2* asked) {
  return copied(asked, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemcpy2DAsync_v2(const Copy2* asked, Stream* stream) {
  return copied(asked, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemcpy3D_v2(const Copy3* asked) {
  if (asked == nullptr) return run([](Process&) { expect(false); });
  return copied(*asked, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemcpy3DAsync_v2(const Copy3* asked, Stream* stream) {
  if (asked == nullptr) return run([](Process&) { expect(false); });
  return copied(*asked, Waits::no, stream);
}

PLUMBLINE_CUDA Error cuMemsetD8_v2(Address to, std::uint8_t value, std::size_t count) {
  return filled(to, {value, 1, count}, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemsetD16_v2(Address to, std::uint16_t value, std::size_t count) {
  return filled(to, {value, 2, count}, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemsetD32_v2(Address to, std::uint32_t value, std::size_t count) {
  return filled(to, {value, 4, count}, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemsetD8Async(Address to, std::uint8_t value, std::size_t count,
                                     Stream* stream) {
  return filled(to, {value, 1, count}, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemsetD16Async(Address to, std::uint16_t value, std::size_t count,
                                      Stream* stream) {
  return filled(to, {value, 2, count}, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemsetD32Async(Address to, std::uint32_t value, std::size_t count,
                                      Stream* stream) {
  return filled(to, {value, 4, count}, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemsetD2D8_v2(Address to, std::size_t pitch, std::uint8_t value,
                                     std::size_t width, std::size_t height) {
  return filled(to, {value, 1, width, height, pitch}, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemsetD2D16_v2(Address to, std::size_t pitch, std::uint16_t value,
                                      std::size_t width, std::size_t height) {
  return filled(to, {value, 2, width, height, pitch}, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemsetD2D32_v2(Address to, std::size_t pitch, std::uint32_t value,
                                      std::size_t width, std::size_t height) {
  return filled(to, {value, 4, width, height, pitch}, Waits::yes);
}
PLUMBLINE_CUDA Error cuMemsetD2D8Async(Address to, std::size_t pitch, std::uint8_t value,
                                       std::size_t width, std::size_t height, Stream* stream) {
  return filled(to, {value, 1, width, height, pitch}, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemsetD2D16Async(Address to, std::size_t pitch, std::uint16_t value,
                                        std::size_t width, std::size_t height, Stream* stream) {
  return filled(to, {value, 2, width, height, pitch}, Waits::no, stream);
}
PLUMBLINE_CUDA Error cuMemsetD2D32Async(Address to, std::size_t pitch, std::uint32_t value,
                                        std::size_t width, std::size_t height, Stream* stream) {
  return filled(to, {value, 4, width, height, pitch}, Waits::no, stream);
}
