// SPDX-License-Identifier: Apache-2.0
#include "attention/mma_skipping.cuh"

#include <algorithm>
#include <stdexcept>

#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kNormThreads = 128, kNormWarps = kNormThreads / static_cast<int>(kWarpSize);

unsigned blocks_for(std::size_t count, int in_block) {
  return static_cast<unsigned>((count + in_block - 1) / in_block);
}

/// Keys beyond the length of their sequence are none.
__device__ KeyRange keys_of_tile(const Mask& mask, int batch, int tile, int width) {
  return {tile * width, min(tile * width + width, length_of(mask, batch))};
}

/// One warp a tile; a sequence has `tiles` of each of its key heads, and each of these `heads`
/// query heads, which get the same. NaN becomes infinity.
template <class Storage>
__global__ void tile_norms_kernel(Mask mask, int kv_heads, int heads, int head_dim, int width,
                                  int tiles, std::size_t count, const Storage* k, float* norms) {
  const std::size_t n = static_cast<std::size_t>(blockIdx.x) * kNormWarps + threadIdx.x / kWarpSize;
  float longest = 0.0f;
  if (n < count) {
    const KeyRange range = keys_of_tile(mask, static_cast<int>(n / tiles / kv_heads),
                                        static_cast<int>(n % tiles), width);
    const Storage* const of_head = k + n / tiles * mask.keys * head_dim;
    for (int key = range.begin + static_cast<int>(lane_index()); key < range.end;
         key += kWarpSize) {
      const float length =
          length_from_above(of_head + static_cast<std::size_t>(key) * head_dim, head_dim);
      longest = fmaxf(longest, length < INFINITY ? length : INFINITY);
    }
  }
  longest = butterfly<1, 2, 4, 8, 16>(longest, [](float a, float b) { return fmaxf(a, b); });
  if (n >= count) return;
  for (int head = static_cast<int>(lane_index()); head < heads; head += kWarpSize)
    norms[(n / tiles * heads + head) * tiles + n % tiles] = longest;
}

/// One thread for `width` offsets of a head, of those up to `highest`. NaN becomes infinity.
__global__ void largest_entries_kernel(Distance::Params params, int width, int lowest, int highest,
                                       int tiles, std::size_t count, float* entries) {
  const std::size_t n = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const int head = static_cast<int>(n / tiles);
  const int from = lowest + static_cast<int>(n % tiles) * width;
  float largest = -INFINITY;
  for (int offset = from; offset <= min(from + width - 1, highest); ++offset) {
    const float entry = Distance::entry(params, head, offset);
    largest = fmaxf(largest, entry < INFINITY ? entry : INFINITY);
  }
  entries[n] = largest;
}

/// One thread a tile; a sequence has `tiles` of each of its `heads`. Where a sum is NaN, or
/// infinite, so are the extremes.
__global__ void prefix_extremes_kernel(Mask mask, int heads, int width, int tiles,
                                       std::size_t count, const double* sums, double* lowest,
                                       double* highest) {
  const std::size_t n = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const KeyRange range =
      keys_of_tile(mask, static_cast<int>(n / tiles / heads), static_cast<int>(n % tiles), width);
  const double* const of_head = sums + n / tiles * mask.keys;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int key = range.begin; key < range.end; ++key) {
    const double sum = of_head[key];
    low = fmin(low, sum > -HUGE_VAL ? sum : -HUGE_VAL);
    high = fmax(high, sum < HUGE_VAL ? sum : HUGE_VAL);
  }
  lowest[n] = low;
  highest[n] = high;
}

methods::Kind kind(const Task& task) { return methods::row(task.bias.method).kind; }

int tiles_of(int count, int width) { return (count + width - 1) / width; }

/// Offsets of the rows that see something: their positions are 0 or more.
int lowest_offset(const Problem& p) {
  return (p.mask.queries_at_end ? 0 : std::max(p.mask.query_offset, 0)) - (p.keys - 1);
}
int highest_offset(const Problem& p) { return p.mask.query_offset + p.queries - 1; }

int offset_tiles(const Task& task, int width) {
  if (kind(task) != methods::Kind::distance) return 0;
  return tiles_of(highest_offset(task.problem) - lowest_offset(task.problem) + 1, width);
}

/// Of all sequences and heads.
std::size_t prefix_tiles(const Task& task, int tiles) {
  if (kind(task) != methods::Kind::prefix_sums) return 0;
  return static_cast<std::size_t>(task.problem.batch) * task.problem.heads * tiles;
}

template <class Storage>
void launch_norms(const Stream& stream, const Task& task, int width, int tiles,
                  const DeviceBuffer<float>& norms) {
  const Problem& p = task.problem;
  const int heads = p.heads / p.kv_heads;
  const std::size_t count = norms.size() / heads;
  launch(stream, {dim3{blocks_for(count, kNormWarps)}, dim3{kNormThreads}, 0},
         tile_norms_kernel<Storage>, p.mask, p.kv_heads, heads, task.head_dim, width, tiles, count,
         static_cast<const Storage*>(p.k), norms.data());
}

}  // namespace

TileBoundArrays::TileBoundArrays(const Stream& stream, const Task& task, int width)
    : norms_(stream, static_cast<std::size_t>(task.problem.batch) * task.problem.heads *
                         tiles_of(task.problem.keys, width)),
      entries_(stream, static_cast<std::size_t>(task.problem.heads) * offset_tiles(task, width)),
      lowest_(stream, prefix_tiles(task, tiles_of(task.problem.keys, width))),
      highest_(stream, lowest_.size()),
      bounds_{norms_.data(),
              entries_.data(),
              lowest_.data(),
              highest_.data(),
              tiles_of(task.problem.keys, width),
              offset_tiles(task, width),
              lowest_offset(task.problem)} {
  const Problem& p = task.problem;
  if (p.format == Format::bf16)
    launch_norms<bfloat16>(stream, task, width, bounds_.tiles, norms_);
  else if (p.format == Format::fp16)
    launch_norms<float16>(stream, task, width, bounds_.tiles, norms_);
  else
    throw std::invalid_argument("tiles are skipped in bf16 and fp16");
  if (entries_.size() > 0)
    launch(stream, {dim3{blocks_for(entries_.size(), kNormThreads)}, dim3{kNormThreads}, 0},
           largest_entries_kernel, Distance::params(task.bias), width, bounds_.lowest_offset,
           highest_offset(p), bounds_.offset_tiles, entries_.size(), entries_.data());
  if (lowest_.size() > 0)
    launch(stream, {dim3{blocks_for(lowest_.size(), kNormThreads)}, dim3{kNormThreads}, 0},
           prefix_extremes_kernel, p.mask, p.heads, width, bounds_.tiles, lowest_.size(),
           task.bias.prefix_sum, lowest_.data(), highest_.data());
}

void mma_skipping_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  const bool known = kind(task) == methods::Kind::none || kind(task) == methods::Kind::distance ||
                     kind(task) == methods::Kind::prefix_sums;
  if (!known) return mma_forward(stream, task, outputs);
  switch (task.problem.format) {
    case Format::bf16:
      return mma_skipping_forward_in<bfloat16>(stream, task, outputs);
    case Format::fp16:
      return mma_skipping_forward_in<float16>(stream, task, outputs);
    case Format::tf32:
    case Format::fp32:
      break;
  }
  throw std::invalid_argument("tiles are skipped in bf16 and fp16");
}

}  // namespace plumbline::gpu
