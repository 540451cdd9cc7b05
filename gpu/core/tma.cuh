// SPDX-License-Identifier: Apache-2.0
// TMA, copies of tiles by the memory system of Hopper, and the barriers in shared memory by which
// threads and copies wait for one another. For compute_90a alone.
#ifndef PLUMBLINE_GPU_CORE_TMA_CUH
#define PLUMBLINE_GPU_CORE_TMA_CUH

#include <cstdint>
#include <string>

#include "core/formats.cuh"
#include "core/launch.cuh"
#include "core/wgmma.cuh"

#if PLUMBLINE_ON_GPU
#include <cudaTypedefs.h>
#endif

namespace plumbline::gpu {

/// A barrier of phases, 0, 1, 0, ...: a phase ends when all arrivals and all bytes have come that
/// were expected. What was written before an arrival is seen by who has waited for that phase.
struct PhaseBarrier {
  std::uint64_t* word;

#if PLUMBLINE_ON_GPU
  /// By one thread, before all others use it.
  __device__ void start(std::uint32_t arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                 : "memory");
  }
  /// After `start`, before the __syncthreads() that shows the barriers to all.
  __device__ static void fence_start() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  __device__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
  }
  __device__ void arrive_and_expect(std::uint32_t bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
  }

  /// Until the phase of this parity has ended; of a new barrier the one of parity 1 has.
  __device__ void wait(std::uint32_t parity) const {
    std::uint32_t ended = 0;
    while (ended == 0)
      asm volatile(
          "{\n.reg .pred ended;\nmbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
          "selp.u32 %0, 1, 0, ended;\n}"
          : "=r"(ended)
          : "r"(address()), "r"(parity)
          : "memory");
  }

  __device__ std::uint32_t address() const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(word));
  }
#endif
};

#if PLUMBLINE_ON_GPU
/// Rows row ... of matrix `matrix`, from `first_column` on, come into the tile, as bytes of the
/// barrier's phase; those that are not there are zero. By one thread.
template <int rows, int D>
__device__ void copy_tile(const SwizzledTile<rows, D>& tile, const CUtensorMap& map, int row,
                          int matrix, const PhaseBarrier& barrier, int first_column = 0) {
#pragma unroll
  for (int column = 0; column < tile.kColumns; ++column) {
    const auto to = static_cast<std::uint32_t>(
        __cvta_generic_to_shared(tile.bytes + column * tile.kColumnBytes));
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier.address()), "r"(first_column + column * tile.kColumn), "r"(row),
        "r"(matrix)
        : "memory");
  }
}

/// What this thread has stored in shared memory is seen by TMA and wgmma after the next barrier.
__device__ inline void fence_for_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// The map of `matrices` matrices [rows, columns] of 16-bit elements, one after the other from
/// `array` on, on a boundary of 16 bytes, for tiles of `tile_rows` rows of D elements; empty while
/// launches are noted. @throws CudaError
template <int tile_rows, int D>
CUtensorMap map_of_matrices(const void* array, Format format, int matrices, int rows,
                            int columns = D) {
  using Tile = SwizzledTile<tile_rows, D>;
  CUtensorMap map{};
  if (NotedLaunches::of_thread) return map;
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
    if (!function) throw CudaError("this driver has no cuTensorMapEncodeTiled, of CUDA 12.0");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows),
                              static_cast<cuuint64_t>(matrices)};
  const cuuint64_t strides[] = {2 * sizes[0], 2 * sizes[0] * sizes[1]};
  const cuuint32_t box[] = {Tile::kColumn, tile_rows, 1}, steps[] = {1, 1, 1};
  const CUresult result = encode(
      &map,
      format == Format::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      3, const_cast<void*>(array), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      Tile::kColumn == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw CudaError("cuTensorMapEncodeTiled failed with error " + std::to_string(result));
  return map;
}
#endif

}  // namespace plumbline::gpu

#endif
