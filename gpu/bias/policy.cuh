// SPDX-License-Identifier: Apache-2.0
// What a positional bias tells the attention kernels.
#ifndef PLUMBLINE_GPU_BIAS_POLICY_CUH
#define PLUMBLINE_GPU_BIAS_POLICY_CUH

#include <concepts>
#include <cstddef>

#include "bias/fire_table.cuh"
#include "core/cuda.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Where a query is: row `row` of the tensor stands at `position`.
struct At {
  int batch, head, row, position;
};

/// Sizes of a tensor of biases: those of the problem, or 1.
struct PairsShape {
  int batch, heads, queries;
};

/// All inputs of all methods, in device memory; those of other methods are null. Shapes as
/// plumbline_parameter has them.
struct BiasInputs {
  plumbline_bias method;
  int dape_taps;  // width of DAPE's convolutions; 0 without DAPE
  int heads, queries, keys;
  bool slopes_per_batch;
  const float* parameters[PLUMBLINE_PARAMETER_COUNT];
  const double* prefix_sum;  // [batch, heads, keys]: of the increments, or of log_forget
  /// [2 keys - 1], T5: the row of offset i - j is that of i - j + keys - 1. For it and for terms
  /// `keys` is one more than the largest position.
  const int* table_row;
  int table_rows;
  const float* distance_terms;  // [keys], of a form that has a term (of_head.cuh)
  int hidden;                   // width of FIRE's or DAPE's hidden layer
  FireTable fire_table;         // of FIRE, for kernels on tensor cores
  int positions;                // CoPE: rows of a head's table
  PairsShape pairs;
  float epsilon;
  double L0;
};

/// A family of biases owns their formulas and nothing else: scaling, masking and softmax belong to
/// the kernel. The methods of a family share the kernels' code; `Params` says which of them it is.
/// `Row` is what the family knows of one query, `Key` of one key. `entry` is what depends on the
/// head and the offset i - j alone: kernels that work in tiles evaluate it once for each offset of
/// a tile, not once for each score. kHasEntry: whether `value` looks at it. kPerPosition: whether
/// parameters belong to positions (prefix sums, gains); such a family has `derivatives`. kPerPair:
/// whether every pair of a query row and a key has a number of its own, whose gradient is dz.
template <class B>
concept BiasFamily = requires(const BiasInputs& inputs, const typename B::Params& params,
                              const typename B::Row& row, const typename B::Key& key, At at,
                              int head, int offset, float entry) {
  { B::params(inputs) } -> std::same_as<typename B::Params>;             // on the host
  { B::load_row(params, at) } -> std::same_as<typename B::Row>;          // once per query
  { B::load_key(params, at, offset) } -> std::same_as<typename B::Key>;  // once per key
  { B::entry(params, head, offset) } -> std::same_as<float>;
  { B::value(params, head, row, key, entry) } -> std::same_as<float>;  // b_ij
  { B::kHasEntry } -> std::convertible_to<bool>;
  { B::kPerPosition } -> std::convertible_to<bool>;
  { B::kPerPair } -> std::convertible_to<bool>;
};

/// The head as `entry` takes it: of a family whose numbers may be the sequence's own, where those
/// of the head stand.
template <class B>
__device__ int place_of_head(const typename B::Params& params, int batch, int head) {
  if constexpr (requires { params.heads_of_sequence; })
    return batch * params.heads_of_sequence + head;
  else
    return head;
}

/// Of BlockTile's kind: kQueries x kKeys scores, and 128 threads that work on them, numbered by
/// thread(), with a barrier of their own, meet().
struct BlockTile;

/// Gradients of parameters of a head, or of all heads, as a block of query rows, or some of its
/// threads for some of its rows, gather them from tiles of dz. Families with such parameters
/// specialise it. `rows` is how many sums they leave, in the order of the family's parameters.
template <class Bias, class Tile = BlockTile>
struct HeadGrad {
  static constexpr bool kUsed = false;
  __device__ HeadGrad(auto&&...) {}
  static int rows(const typename Bias::Params&) { return 0; }
  static constexpr std::size_t bytes(const typename Bias::Params&) { return 0; }
};

}  // namespace plumbline::gpu

#endif
