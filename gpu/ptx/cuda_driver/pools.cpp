// SPDX-License-Identifier: Apache-2.0
// Allocations in the order of a stream, and memory pools, which have no memory of their own.
#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

/// CUmemPool_attribute: three switches (int), a threshold and three sizes (64 bits).
enum PoolAttribute : int {
  last_switch = 3,
  threshold = 4,
  reserved_now = 5,
  used_now = 7,
  last_attribute = 8
};

Pool& pool_of(Process& process, Pool* pool) {
  return pool == &process.default_pool() ? *pool : process.pools.of(pool, Error::invalid_value);
}

Error allocate(Address* address, std::size_t bytes, Pool* pool, bool from_pool, Stream* stream) {
  return run([&](Process& process) {
    expect(address != nullptr && bytes > 0);
    // It would be a node of a graph.
    process.streams.expect_not_captured(process.streams.of(stream).point);
    if (from_pool) pool_of(process, pool);
    *address = process.allocate(bytes, MemoryType::device);
  });
}

Error pool_of_device(Pool** pool, int device, bool current) {
  return run(cuda_driver::Needs::init, [&](Process& process) {
    expect(pool != nullptr);
    expect(device == 0, Error::invalid_device);
    *pool = current ? process.current_pool : &process.default_pool();
  });
}

}  // namespace

PLUMBLINE_CUDA Error cuMemAllocAsync(Address* address, std::size_t bytes, Stream* stream) {
  return allocate(address, bytes, nullptr, false, stream);
}

PLUMBLINE_CUDA Error cuMemAllocFromPoolAsync(Address* address, std::size_t bytes, Pool* pool,
                                             Stream* stream) {
  return allocate(address, bytes, pool, true, stream);
}

PLUMBLINE_CUDA Error cuMemFreeAsync(Address address, Stream* stream) {
  return run([&](Process& process) {
    process.streams.expect_not_captured(process.streams.of(stream).point);
    expect(address != 0);
    process.release_device(address);
  });
}

PLUMBLINE_CUDA Error cuDeviceGetDefaultMemPool(Pool** pool, int device) {
  return pool_of_device(pool, device, false);
}

PLUMBLINE_CUDA Error cuDeviceGetMemPool(Pool** pool, int device) {
  return pool_of_device(pool, device, true);
}

PLUMBLINE_CUDA Error cuDeviceSetMemPool(int device, Pool* pool) {
  return run(cuda_driver::Needs::no_fault, [&](Process& process) {
    expect(device == 0, Error::invalid_device);
    process.current_pool = &pool_of(process, pool);
  });
}

/// The properties say what kind of memory, and for whom: there is one kind.
PLUMBLINE_CUDA Error cuMemPoolCreate(Pool** pool, const void* properties) {
  return run([&](Process& process) {
    expect(pool != nullptr && properties != nullptr);
    *pool = &process.pools.add();
  });
}

PLUMBLINE_CUDA Error cuMemPoolDestroy(Pool* pool) {
  return run([&](Process& process) {
    process.pools.remove(pool, Error::invalid_value);
    if (process.current_pool == pool) process.current_pool = &process.default_pool();
  });
}

PLUMBLINE_CUDA Error cuMemPoolTrimTo(Pool* pool, std::size_t) {
  return run([&](Process& process) { pool_of(process, pool); });
}

PLUMBLINE_CUDA Error cuMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return run([&](Process& process) {
    expect(value != nullptr && attribute > 0 && attribute <= last_attribute);
    Pool& known = pool_of(process, pool);
    if (attribute <= last_switch) {
      known.attributes[attribute] = *static_cast<const int*>(value) != 0;
    } else if (attribute == threshold) {
      known.attributes[attribute] = *static_cast<const std::uint64_t*>(value);
    } else {  // sizes at their highest, which can be set back to 0
      expect(attribute != reserved_now && attribute != used_now);
      expect(*static_cast<const std::uint64_t*>(value) == 0);
    }
  });
}

PLUMBLINE_CUDA Error cuMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return run([&](Process& process) {
    expect(value != nullptr && attribute > 0 && attribute <= last_attribute);
    const Pool& known = pool_of(process, pool);
    const auto found = known.attributes.find(attribute);
    const bool set = found != known.attributes.end();
    if (attribute <= last_switch) {
      *static_cast<int*>(value) = set ? static_cast<int>(found->second) : 1;
    } else {
      *static_cast<std::uint64_t*>(value) = set ? found->second : 0;
    }
  });
}

/// The one device has it.
PLUMBLINE_CUDA Error cuMemPoolSetAccess(Pool* pool, const void*, std::size_t) {
  return run([&](Process& process) { pool_of(process, pool); });
}

PLUMBLINE_CUDA Error cuMemPoolGetAccess(int* flags, Pool* pool, const void* location) {
  return run([&](Process& process) {
    expect(flags != nullptr && location != nullptr);
    pool_of(process, pool);
    *flags = 3;  // to read and to write
  });
}
