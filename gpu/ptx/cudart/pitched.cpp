// SPDX-License-Identifier: Apache-2.0
// Memory of three dimensions, its copies and settings. CUDA's arrays are not there.
#include "ptx/cuda/copies.hpp"
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;

namespace {

/// cudaExtent, cudaPos, cudaPitchedPtr and cudaMemcpy3DParms
struct Extent3 {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  char* pointer;
  std::size_t pitch, width, height;
};
struct Copy3 {
  void* from_array;
  Position from_position;
  Pitched from;
  void* to_array;
  Position to_position;
  Pitched to;
  Extent3 extent;
  CopyKind kind;
};
static_assert(sizeof(Copy3) == 160);

char* begin_of(const Pitched& memory, const Position& at) {
  expect(memory.pointer != nullptr);
  return memory.pointer + (at.z * memory.height + at.y) * memory.pitch + at.x;
}

Error copied(const Copy3* asked, bool waits, const Stream* stream = nullptr) {
  return run([&](Process& process) {
    expect(asked != nullptr);
    if (waits) process.streams.expect_no_capture();
    if (asked->from_array || asked->to_array) {
      throw Refused(Refused::Reason::not_supported,
                    "cudaMemcpy3D of a CUDA array, which this device lacks");
    }
    const auto& [width, height, depth] = asked->extent;
    if (width == 0 || height == 0 || depth == 0) return;
    const Box box{width,
                  height,
                  depth,
                  asked->to.pitch,
                  asked->from.pitch,
                  asked->to.pitch * asked->to.height,
                  asked->from.pitch * asked->from.height};
    copy(process, stream, begin_of(asked->to, asked->to_position),
         begin_of(asked->from, asked->from_position), box, asked->kind);
  });
}

Error filled(const Pitched& memory, int value, const Extent3& extent, bool waits,
             const Stream* stream = nullptr) {
  return run([&](Process& process) {
    if (waits) process.streams.expect_no_capture();
    for (std::size_t z = 0; z < extent.depth; ++z) {
      const auto to = reinterpret_cast<Address>(memory.pointer) + z * memory.height * memory.pitch;
      set(process, stream, to,
          {static_cast<std::uint8_t>(value), 1, extent.width, extent.height, memory.pitch});
    }
  });
}

}  // namespace

PLUMBLINE_CUDA Error cudaMalloc3D(Pitched* memory, Extent3 extent) {
  return run([&](Process& process) {
    expect(memory != nullptr);
    process.streams.expect_no_capture();
    *memory = {nullptr, pitch_of(extent.width), extent.width, extent.height};
    const std::size_t rows = extent.height * extent.depth;
    if (extent.width == 0 || rows == 0) return;
    expect(rows / extent.height == extent.depth && rows <= SIZE_MAX / memory->pitch,
           Error::memory_allocation);
    memory->pointer =
        reinterpret_cast<char*>(process.allocate(rows * memory->pitch, MemoryType::device));
  });
}

PLUMBLINE_CUDA Error cudaMemcpy3D(const Copy3* asked) { return copied(asked, true); }

PLUMBLINE_CUDA Error cudaMemcpy3DAsync(const Copy3* asked, Stream* stream) {
  return copied(asked, false, stream);
}

PLUMBLINE_CUDA Error cudaMemset3D(Pitched memory, int value, Extent3 extent) {
  return filled(memory, value, extent, true);
}

PLUMBLINE_CUDA Error cudaMemset3DAsync(Pitched memory, int value, Extent3 extent, Stream* stream) {
  return filled(memory, value, extent, false, stream);
}

namespace {

/// cudaChannelFormatDesc
struct Channels {
  int x, y, z, w, kind;
};

}  // namespace

/// What an element of an array would be.
PLUMBLINE_CUDA Channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
