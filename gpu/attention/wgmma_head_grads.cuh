// SPDX-License-Identifier: Apache-2.0
// Gradients of heads' parameters in the kernel over queries for Hopper. Each consumer group gathers
// those of its 64 rows by itself, and leaves its sums in a place of its own. For compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_HEAD_GRADS_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_HEAD_GRADS_CUH

#include "attention/mma_query_grads.cuh"
#include "attention/wgmma_consumers.cuh"
#include "bias/distance_grad.cuh"
#include "bias/fire_grad.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

/// What HeadGrad takes at once of a group's rows and `keys` keys: all of it, or of FIRE a part.
template <class Bias, int keys>
using GatheredTile =
    std::conditional_t<std::is_same_v<Bias, Fire>, GroupTile<kTileQueries, kTileKeys>,
                       GroupTile<kWgmmaRows, keys>>;

/// dZ of the block's rows and `keys` keys in fp32, and what HeadGrad keeps for each group.
template <class Bias, int keys>
struct HeadGradShared {
  using Grad = HeadGrad<Bias, GatheredTile<Bias, keys>>;
  static constexpr int kStride = keys + 8;  // pairs of eight rows lie in different banks

  float* dz;           // [kRows][kStride]
  SharedMemory grads;  // [kConsumerGroups] of Grad

  __device__ explicit HeadGradShared(SharedMemory& memory)
      : dz(memory.take<float>(kRows * kStride)), grads(memory) {}

  static std::size_t bytes(const typename Bias::Params& params) {
    return shared_bytes<float>(kRows * kStride) + kConsumerGroups * Grad::bytes(params);
  }
};

#if PLUMBLINE_ON_GPU
/// A consumer group's share.
template <class Bias, int keys>
struct GroupHeadGrad {
  using Tile = GatheredTile<Bias, keys>;
  using Memory = HeadGradShared<Bias, keys>;
  using Grad = typename Memory::Grad;

  const Memory& memory;
  const Problem& problem;
  const BackwardArrays& arrays;
  const typename Bias::Params& params;
  const ConsumerRows& rows;

  /// The group's first row in the block, of which it may have none.
  __device__ static int first() { return consumer_group() * kWgmmaRows; }
  __device__ bool has_rows() const { return first() < rows.count; }

  __device__ mma_kernels::PartialPlaces places() const {
    return {problem, rows, first(), kWgmmaRows};
  }
  /// Made anew for each use: registers are short.
  __device__ Grad grad() const {
    SharedMemory own = memory.grads;
    own.take<unsigned char>(consumer_group() * Grad::bytes(params));
    return Grad(own, params, arrays.head_partial + places().first * arrays.head_rows);
  }

  /// Before the first tile.
  __device__ void begin() const {
    if (!has_rows()) return;
    const auto places = this->places();
    double* const partial = arrays.head_partial + places.first * arrays.head_rows;
    for (int n = Tile::thread(); n < places.count * arrays.head_rows; n += kTileThreads)
      partial[n] = 0.0;
    grad().begin(params, rows.head);
  }

  /// A lane's dZ of the tile from the key `begin` on, of which the bias knows `bias`.
  __device__ __forceinline__ void add(const float (&dz)[keys / 8][4],
                                      const BiasOfStage<Bias, keys>& bias, int begin) const {
    if (!has_rows()) return;
    Tile::meet();  // all of the group are done with dZ of the tile before
#pragma unroll
    for (int r = 0; r < ConsumerRows::kRows; ++r) {
      float* const row = memory.dz + rows.row_in_tile(r) * Memory::kStride + 2 * rows.place;
#pragma unroll
      for (int n = 0; n < keys / 8; ++n) {
        const float* of_row = dz[n] + r % 2 * 2;
        store_pair(row + 8 * n, of_row[0], of_row[1]);
      }
    }
    Tile::meet();  // all rows' dZ is there
#pragma unroll 1
    for (int row = first(); row < first() + kWgmmaRows; row += Tile::kQueries) {
#pragma unroll 1
      for (int key = 0; key < keys; key += Tile::kKeys) {
        if (row > first() || key > 0) Tile::meet();  // all are done with the part before
        // The entries begin with that of the block's first row and the part's last key.
        grad().add(params, rows.head, memory.dz + row * Memory::kStride + key, Memory::kStride,
                   bias.entries + row + (keys - Tile::kKeys - key),
                   rows.first_position - begin + row - key, bias.rows + row);
      }
    }
  }

  __device__ void finish() const {
    if (has_rows()) grad().finish(params, rows.head);
  }
};
#endif

}  // namespace wgmma_kernels

}  // namespace plumbline::gpu

#endif
