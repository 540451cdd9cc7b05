// SPDX-License-Identifier: Apache-2.0
// Attention forward as libraries for Hopper write it: TMA brings tiles of K and V into a pipeline
// of two stages, which a warp of the producer's warpgroup fills and two warpgroups of consumers
// empty by wgmma. bf16 and fp16, D = 64 and 128, no bias or ALiBi. hopper_attention.py plants
// faults in it, by lines of this file.
#include <cudaTypedefs.h>
#include <cstdio>
#include "plumbline_kernel.h"

namespace {

constexpr int kRows = 64, kConsumers = 2, kKeys = 64, kStages = 2;
constexpr int kThreads = 128 * (1 + kConsumers);
constexpr int kWarpsThatRead = 4 * kConsumers;
// A tile lies in columns of 64 numbers, 128 bytes, which TMA swizzles; a column has 64 rows.
constexpr int kColumn = 64;
constexpr uint32_t kColumnBytes = 64 * 128;

struct Sizes {
  int heads, group, queries, keys, query_offset, causal;
  float scale;
  const int* lengths;
  const float* slopes;
  float* lse;
};

template <int D>
struct Tile {
  unsigned char bytes[D / kColumn][kColumnBytes];
};

template <int D>
struct Shared {
  Tile<D> q[kConsumers];  // and then o
  Tile<D> k[kStages], v[kStages];
  uint64_t q_there, full[kStages], empty[kStages];
};

__device__ uint32_t address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void start(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(arrivals)
               : "memory");
}

__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}

__device__ void arrive_and_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ void wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address(barrier)), "r"(parity)
        : "memory");
  }
}

/// Brings 64 rows of a head's matrix; those beyond its last are 0.
template <int D>
__device__ void bring(Tile<D>& tile, const CUtensorMap& map, int row, int head, uint64_t* barrier) {
  for (int c = 0; c < D / kColumn; ++c) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(address(tile.bytes[c])),
        "l"(&map), "r"(address(barrier)), "r"(c * kColumn), "r"(row), "r"(head)
        : "memory");
  }
}

template <int D>
__device__ void take_away(const Tile<D>& tile, const CUtensorMap& map, int row, int head) {
  for (int c = 0; c < D / kColumn; ++c) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::
            "l"(&map),
        "r"(address(tile.bytes[c])), "r"(c * kColumn), "r"(row), "r"(head)
        : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// wgmma's description of a tile from this byte on: eights of rows lie 1024 bytes apart, columns
/// one behind the other.
__device__ uint64_t describe(const unsigned char* tile) {
  return (address(tile) & 0x3ffff) >> 4 | uint64_t(kColumnBytes >> 4) << 16 |
         uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

/// The compiler moves nothing that it does with these registers past this place.
template <int N>
__device__ void keep_order(float (&d)[N]) {
  for (float& x : d) asm volatile("" : "+f"(x)::"memory");
}

/// What was written to registers is there for the products that follow.
template <int N>
__device__ void fence_registers(float (&d)[N]) {
  keep_order(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

template <int N>
__device__ void wait_for_products(float (&d)[N]) {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  keep_order(d);
}

// clang-format off
#define EIGHT(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                    "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define THIRTY_TWO(d, i) EIGHT(d, i), EIGHT(d, i + 8), EIGHT(d, i + 16), EIGHT(d, i + 24)
#define NAMES_0_TO_31 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_32_TO_63 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
  "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// d = a b or d += a b, 64 x 64: a and b in shared memory, both with k along the rows.
#define SCORES(type) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n" \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" NAMES_0_TO_31 "}, " \
  "%32, %33, p, 1, 1, 0, 0;\n}" : THIRTY_TWO(d, 0) : "l"(a), "l"(b), "r"(int(add)) : "memory")
// d += a b, 64 x 64 or 64 x 128: a in registers, b in shared memory with its columns along the rows.
#define VALUES_64(type) asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, 0, 0;\n" \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" NAMES_0_TO_31 "}, " \
  "{%32, %33, %34, %35}, %36, p, 1, 1, 1;\n}" : THIRTY_TWO(d, 0) \
  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory")
#define VALUES_128(type) asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, 0, 0;\n" \
  "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" NAMES_0_TO_31 ", " NAMES_32_TO_63 "}, " \
  "{%64, %65, %66, %67}, %68, p, 1, 1, 1;\n}" : THIRTY_TWO(d, 0), THIRTY_TWO(d, 32) \
  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory")
// clang-format on

template <int Format>
__device__ void add_scores(float (&d)[kKeys / 2], uint64_t a, uint64_t b, bool add) {
  if constexpr (Format == PLUMBLINE_BF16) SCORES("bf16");
  if constexpr (Format == PLUMBLINE_FP16) SCORES("f16");
}

template <int Format>
__device__ void add_values(float (&d)[32], const uint32_t (&a)[4], uint64_t b) {
  if constexpr (Format == PLUMBLINE_BF16) VALUES_64("bf16");
  if constexpr (Format == PLUMBLINE_FP16) VALUES_64("f16");
}

template <int Format>
__device__ void add_values(float (&d)[64], const uint32_t (&a)[4], uint64_t b) {
  if constexpr (Format == PLUMBLINE_BF16) VALUES_128("bf16");
  if constexpr (Format == PLUMBLINE_FP16) VALUES_128("f16");
}

/// Two numbers of the format, the first in the lower half.
template <int Format>
__device__ uint32_t packed(float low, float high) {
  uint32_t both;
  if constexpr (Format == PLUMBLINE_BF16)
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  else
    asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

__device__ float of_four(float x, bool largest) {  // the lanes that share a row
  for (int lanes = 1; lanes < 4; lanes *= 2) {
    const float other = __shfl_xor_sync(0xffffffff, x, lanes);
    x = largest ? fmaxf(x, other) : x + other;
  }
  return x;
}

template <int D>
__device__ void produce(Shared<D>& s, const CUtensorMap& q, const CUtensorMap& k,
                        const CUtensorMap& v, int first_row, int tiles, int head, int kv_head) {
  arrive_and_expect(&s.q_there, sizeof s.q);
  for (int w = 0; w < kConsumers; ++w) bring(s.q[w], q, first_row + w * kRows, head, &s.q_there);
  for (int n = 0; n < tiles; ++n) {
    const int stage = n % kStages;
    wait(&s.empty[stage], (n / kStages & 1) ^ 1);  // of a new barrier the phase before is over
    arrive_and_expect(&s.full[stage], sizeof s.k[stage] + sizeof s.v[stage]);
    bring(s.k[stage], k, n * kKeys, kv_head, &s.full[stage]);
    bring(s.v[stage], v, n * kKeys, kv_head, &s.full[stage]);
  }
}

template <int Format, int D>
__device__ void consume(Shared<D>& s, const CUtensorMap& to_o, const Sizes& n, int first_row,
                        int tiles, int head, int length) {
  constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;
  const int w = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  first_row += w * kRows;
  const int row = 16 * warp + lane / 4;  // and the one 8 below it
  const float scale = n.scale * kLog2E;  // scores in units of log 2
  const float slope = n.slopes ? n.slopes[head % n.heads] * kLog2E : 0;
  float o[D / 2] = {}, largest[2] = {-INFINITY, -INFINITY}, total[2] = {};
  wait(&s.q_there, 0);
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % kStages;
    wait(&s.full[stage], tile / kStages & 1);
    float x[kKeys / 2] = {};
    fence_registers(x);
    for (int d = 0; d < D; d += 16) {
      const int at = d % kColumn * 2, c = d / kColumn;
      add_scores<Format>(x, describe(s.q[w].bytes[c] + at), describe(s.k[stage].bytes[c] + at), d);
    }
    wait_for_products(x);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = first_row + row + 8 * r + n.query_offset;
      float most = largest[r], sum = 0;
#pragma unroll
      for (int e = 0; e < kKeys / 4; ++e) {
        const int j = tile * kKeys + 8 * (e / 2) + lane % 4 * 2 + e % 2;
        float& score = x[4 * (e / 2) + 2 * r + e % 2];
        score = score * scale - slope * fabsf(float(i - j));
        const bool visible = i < length && j < length && (!n.causal || j <= i);
        if (!visible) score = -INFINITY;
        most = fmaxf(most, score);
      }
      most = of_four(most, true);
      const float base = most == -INFINITY ? 0 : most;  // no key is visible yet
      const float shrink = exp2f(largest[r] - base);
#pragma unroll
      for (int e = 0; e < kKeys / 4; ++e) {
        float& score = x[4 * (e / 2) + 2 * r + e % 2];
        score = exp2f(score - base);
        sum += score;
      }
      total[r] = total[r] * shrink + sum;
#pragma unroll
      for (int e = 0; e < D / 4; ++e) o[4 * (e / 2) + 2 * r + e % 2] *= shrink;
      largest[r] = most;
    }
    uint32_t p[kKeys / 16][4];
#pragma unroll
    for (int e = 0; e < kKeys / 4; ++e) p[e / 4][e % 4] = packed<Format>(x[2 * e], x[2 * e + 1]);
    fence_registers(o);
#pragma unroll
    for (int j = 0; j < kKeys; j += 16)
      add_values<Format>(o, p[j / 16], describe(s.v[stage].bytes[0] + j * 128));
    wait_for_products(o);
    if (lane == 0) arrive(&s.empty[stage]);
  }
  asm volatile("bar.sync %0, 128;" ::"r"(1 + w) : "memory");  // nobody reads q any more
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float sum = of_four(total[r], false);
    const int of = row + 8 * r;
#pragma unroll
    for (int e = 0; e < D / 8; ++e) {
      const int column = 8 * e + lane % 4 * 2, byte = column % kColumn * 2 ^ of % 8 << 4;
      const float a = sum > 0 ? o[4 * e + 2 * r] / sum : 0;
      const float b = sum > 0 ? o[4 * e + 2 * r + 1] / sum : 0;
      *(uint32_t*)(s.q[w].bytes[column / kColumn] + of * 128 + byte) = packed<Format>(a, b);
    }
    if (lane % 4 == 0 && first_row + of < n.queries) {
      n.lse[size_t(head) * n.queries + first_row + of] = (largest[r] + log2f(sum)) * kLn2;
    }
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // TMA sees what was stored
  asm volatile("bar.sync %0, 128;" ::"r"(1 + w) : "memory");
  if (threadIdx.x % 128 == 0) take_away(s.q[w], to_o, first_row, head);
}

template <int Format, int D>
__global__ void __launch_bounds__(kThreads, 1)
    attend(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
           const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o,
           const Sizes n) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared<D>& s = *reinterpret_cast<Shared<D>*>(memory);
  if (threadIdx.x == 0) {
    start(&s.q_there, 1);
    for (int stage = 0; stage < kStages; ++stage) {
      start(&s.full[stage], 1);
      start(&s.empty[stage], kWarpsThatRead);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int first_row = blockIdx.x * kConsumers * kRows, head = blockIdx.y;
  const int length = n.lengths ? n.lengths[head / n.heads] : n.keys;
  const int last = n.query_offset + first_row + kConsumers * kRows;
  const int end = n.causal && last < length ? last : length;
  const int tiles = (end + kKeys - 1) / kKeys;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(s, q, k, v, first_row, tiles, head, head / n.group);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<Format>(s, o, n, first_row, tiles, head, length);
  }
}

/// A map of matrices [count, rows, D] of 16-bit numbers, in boxes of 64 rows and a column.
CUtensorMap map_of(const void* matrices, int format, int count, int rows, int D) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                   &found);
  CUtensorMap map{};
  if (function == nullptr) return map;
  const cuuint64_t sizes[] = {cuuint64_t(D), cuuint64_t(rows), cuuint64_t(count)};
  const cuuint64_t bytes[] = {2 * sizes[0], 2 * sizes[0] * sizes[1]};
  const cuuint32_t box[] = {kColumn, kRows, 1}, steps[] = {1, 1, 1};
  reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
      &map,
      format == PLUMBLINE_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      3, const_cast<void*>(matrices), sizes, bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

template <int Format, int D>
void launch(const plumbline_problem& p, const plumbline_outputs& out) {
  const Sizes sizes{p.heads,
                    p.heads / p.kv_heads,
                    p.queries,
                    p.keys,
                    p.query_offset,
                    p.causal,
                    float(p.scale),
                    p.lengths,
                    p.parameters[PLUMBLINE_SLOPES],
                    out.lse};
  const auto q = map_of(p.q, Format, p.batch * p.heads, p.queries, D);
  const auto k = map_of(p.k, Format, p.batch * p.kv_heads, p.keys, D);
  const auto v = map_of(p.v, Format, p.batch * p.kv_heads, p.keys, D);
  const auto o = map_of(out.o, Format, p.batch * p.heads, p.queries, D);
  constexpr int bytes = sizeof(Shared<D>), rows = kConsumers * kRows;
  cudaFuncSetAttribute(attend<Format, D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const dim3 grid((p.queries + rows - 1) / rows, p.batch * p.heads);
  attend<Format, D><<<grid, kThreads, bytes>>>(q, k, v, o, sizes);
}

int supports(const plumbline_problem* p, int32_t pass) {
  constexpr int32_t computed = PLUMBLINE_HAS_KEY_HEADS | PLUMBLINE_HAS_FEWER_QUERIES |
                               PLUMBLINE_HAS_OFFSET | PLUMBLINE_HAS_LENGTHS;
  return pass == PLUMBLINE_FORWARD &&
         (p->format == PLUMBLINE_BF16 || p->format == PLUMBLINE_FP16) &&
         (p->bias == PLUMBLINE_NOPE || p->bias == PLUMBLINE_ALIBI) &&
         (p->head_dim == 64 || p->head_dim == 128) && !(plumbline_features(p) & ~computed) &&
         p->batch * p->heads < 65536;
}

int forward(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) {
  const bool bf16 = p->format == PLUMBLINE_BF16;
  (p->head_dim == 64 ? bf16 ? launch<PLUMBLINE_BF16, 64> : launch<PLUMBLINE_FP16, 64>
   : bf16 ? launch<PLUMBLINE_BF16, 128>
                     : launch<PLUMBLINE_FP16, 128>)(*p, *out);
  const cudaError_t error = cudaGetLastError();
  snprintf(text, n, "%s", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}

// Sums of tensor cores are truncated; P meets V in the inputs' format.
constexpr plumbline_contract rounds_p_to(int format) {
  return {0x1p-23, 0, format, 0, 0x1p-20, 0, 1, 0, 0, 0, 0};
}

constexpr auto cuda = PLUMBLINE_CUDA_MEMORY;
const plumbline_kernel kernel = {
    "hopper", {{}, rounds_p_to(PLUMBLINE_BF16), rounds_p_to(PLUMBLINE_FP16)},
    1,        supports,
    forward,  nullptr,
    nullptr,  cuda};
const plumbline_library library = {PLUMBLINE_ABI_VERSION, "CUDA test", "GPU", 1, &kernel};

}  // namespace

extern "C" const plumbline_library* plumbline_kernel_library() { return &library; }
