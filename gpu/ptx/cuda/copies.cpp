// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/copies.hpp"

#include <cstring>
#include <vector>

namespace plumbline::ptx::cuda {
namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

void copy_row(Device& device, void* to, const void* from, std::size_t bytes, CopyKind kind) {
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

}  // namespace

void copy(Process& process, const Stream* stream, void* to, const void* from, const Box& box,
          CopyKind kind) {
  process.streams.of(stream);
  expect(kind >= CopyKind::host_to_host && kind <= CopyKind::by_address,
         Error::invalid_memcpy_direction);
  if (box.width == 0 || box.height == 0 || box.depth == 0) return;
  expect(to != nullptr && from != nullptr);
  expect(box.height == 1 || (box.width <= box.to_pitch && box.width <= box.from_pitch));
  // CUDA's asynchronous copies end before they return where CUDA does not know the host's memory.
  const bool ends_here =
      !process.allocation_with(address_of(to)) || !process.allocation_with(address_of(from));
  process.streams.submit(stream, NodeType::copy, [=](Process& here) {
    for (std::size_t z = 0; z < box.depth; ++z) {
      for (std::size_t y = 0; y < box.height; ++y) {
        copy_row(here.device(), static_cast<char*>(to) + z * box.to_slice + y * box.to_pitch,
                 static_cast<const char*>(from) + z * box.from_slice + y * box.from_pitch,
                 box.width, kind);
      }
    }
  });
  if (ends_here) process.streams.catch_up(stream);
}

void set(Process& process, const Stream* stream, Address to, const Pattern& pattern) {
  process.streams.of(stream);
  const std::size_t bytes = pattern.columns * pattern.width;
  expect(bytes / pattern.width == pattern.columns);
  if (bytes == 0 || pattern.rows == 0) return;
  expect(pattern.rows == 1 || bytes <= pattern.pitch);
  expect(to % pattern.width == 0 && (pattern.rows == 1 || pattern.pitch % pattern.width == 0));
  process.streams.submit(stream, NodeType::set, [=](Process& here) {
    Device& device = here.device();
    std::vector<std::byte> row;
    for (std::size_t y = 0; y < pattern.rows; ++y) {
      const Address at = to + y * pattern.pitch;
      if (pattern.width == 1) {
        device.set(at, static_cast<std::uint8_t>(pattern.value), bytes);
        continue;
      }
      if (row.empty()) {
        expect(device.has(at, bytes));
        row.resize(bytes);
        for (std::size_t n = 0; n < bytes; n += pattern.width) {
          std::memcpy(row.data() + n, &pattern.value, pattern.width);
        }
      }
      device.write(at, row.data(), bytes);
    }
  });
}

}  // namespace plumbline::ptx::cuda
