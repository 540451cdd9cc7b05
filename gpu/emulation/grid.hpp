// SPDX-License-Identifier: Apache-2.0
// The emulator as kernels and launches see it.
//
// Every CUDA thread is a fiber. The threads of a block run in a shuffled order from one barrier to
// the next on one operating-system thread; blocks are spread over several. The order depends on the
// seed and the block alone, so a run repeats bit for bit whatever the number of workers.
#ifndef PLUMBLINE_GPU_EMULATION_GRID_HPP
#define PLUMBLINE_GPU_EMULATION_GRID_HPP

#include <cstddef>
#include <cstdint>
#include <source_location>

#include "emulation/error.hpp"

/// CUDA's dim3 and built-in indices.
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
extern constinit thread_local dim3 threadIdx;
extern constinit thread_local dim3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;

namespace plumbline::emulation {

inline constexpr unsigned kWarpSize = 32;

/// A kernel launch: `body(arguments)` runs once per CUDA thread.
struct Grid {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::source_location where;
  void (*body)(const void*) = nullptr;
  const void* arguments = nullptr;
  const void* kernel = nullptr;  ///< its address
};

/// Runs all blocks and returns when they are done.
/// Throws Error for a launch beyond the limits of compute capability 8.0, which is what is
/// emulated, a divergent barrier or warp collective, or too little shared memory; of several
/// failing blocks the first is reported.
void run(const Grid& grid);

/// __syncthreads().
void block_barrier(std::source_location where);
/// __syncwarp(): orders memory among the threads of a warp.
void warp_barrier(std::source_location where);
/// Every lane gives 64 bits and gets those of `source_lane`. As in CUDA, this orders no memory.
std::uint64_t warp_exchange(std::uint64_t bits, unsigned source_lane, std::source_location where);
/// Every lane gives a pointer to variables of its own. When all have come, `complete` is called
/// once with the 32 pointers in the order of the lanes, and writes the results through them. It
/// must be the same function in all lanes. As in CUDA, this orders no memory.
void warp_collective(void* argument, void (*complete)(void* const* arguments),
                     std::source_location where);

/// The calling thread's cp.async: 16 bytes at `to`, the first `bytes` of them from `from`.
struct AsyncCopy {
  void* to = nullptr;
  const void* from = nullptr;
  int bytes = 0;
};
/// Notes a copy. Nothing is copied here: the kernel's own code does it, seen by the sanitizers.
void async_copy_issue(const AsyncCopy& copy);
/// Closes a group.
void async_copy_commit();
/// Takes the oldest copy of a closed group that is not among the `pending` youngest; false when
/// there is none left.
bool async_copy_next(int pending, AsyncCopy& copy);

/// Array of a block's shared memory. `used` and `offset` are the calling thread's own account:
/// bytes asked for so far, and where the next array starts (arrays are kept apart, so that
/// AddressSanitizer sees an access beyond one).
void* shared_array(std::size_t& used, std::size_t& offset, std::size_t bytes,
                   std::source_location where);

/// Seed of the order of threads. The default is PLUMBLINE_THREAD_ORDER_SEED of the environment,
/// or 1.
void set_thread_order_seed(std::uint64_t seed);
std::uint64_t thread_order_seed();

/// Operating-system threads per launch. The default is PLUMBLINE_EMULATION_WORKERS of the
/// environment, or the number of processors.
void set_workers(unsigned workers);

/// Shared memory that a launch may give a block at most. The default is the 163 KiB of compute
/// capability 8.0; GPUs with fewer are emulated by setting it, 99 KiB being the least of those from
/// 8.0 on (CUDA C++ Programming Guide, technical specifications per compute capability).
void set_shared_memory_of_block(std::size_t bytes);
std::size_t shared_memory_of_block();

/// From now on `listener` is told the address of every kernel that is launched, before it runs.
void listen_to_launches(void (*listener)(const void* kernel));

}  // namespace plumbline::emulation

#endif
