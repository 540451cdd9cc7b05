// SPDX-License-Identifier: Apache-2.0
// Matrix products of a warp on its tensor core: C += A B with C of 16 x 8, fp32, and A and B bf16
// or fp16 (mma.sync m16n8k16) or tf32 (m16n8k8). All 32 threads must take part.
//
// Who holds what (PTX ISA, "Matrix fragments for mma.m16n8k16" and "... mma.m16n8k8"), in lane
// 4 group + place; a 32-bit register of A and B holds two 16-bit elements, the first one low, or
// one tf32:
//
//           bf16, fp16                                  tf32
//   a[0]    row group,     columns 2 place, + 1         row group,     column place
//   a[1]    row group + 8, columns 2 place, + 1         row group + 8, column place
//   a[2]    row group,     columns 2 place + 8, + 9     row group,     column place + 4
//   a[3]    row group + 8, columns 2 place + 8, + 9     row group + 8, column place + 4
//   b[0]    rows 2 place, + 1,     column group         row place,     column group
//   b[1]    rows 2 place + 8, + 9, column group         row place + 4, column group
//   c[0..1] row group,     columns 2 place, + 1         the same
//   c[2..3] row group + 8, columns 2 place, + 1         the same
#ifndef PLUMBLINE_GPU_CORE_MMA_CUH
#define PLUMBLINE_GPU_CORE_MMA_CUH

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "core/formats.cuh"

#if !PLUMBLINE_ON_GPU
#include "emulation/mma.hpp"
#endif

namespace plumbline::gpu {

/// Columns of A and rows of B in one product: 32 bytes of elements.
template <class Element>
inline constexpr int kMmaDepth = 16;
template <>
inline constexpr int kMmaDepth<tf32> = 8;

/// What memory holds of an element.
template <class Element>
struct MmaStorage {
  using type = Element;
};
template <>
struct MmaStorage<tf32> {
  using type = float;
};

/// Two elements in a register, rounded to nearest even.
template <class Element>
__device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t bits;
#if PLUMBLINE_ON_GPU
  if constexpr (std::is_same_v<Element, bfloat16>) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  }
#else
  const Element pair[2] = {from_float<Element>(low), from_float<Element>(high)};
  std::memcpy(&bits, pair, sizeof bits);
#endif
  return bits;
}

#if PLUMBLINE_ON_GPU
template <class Element>
__device__ __forceinline__ void mma(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1);

#define PLUMBLINE_MMA(Element, instruction)                                              \
  template <>                                                                            \
  __device__ __forceinline__ void mma<Element>(float(&c)[4], const std::uint32_t(&a)[4], \
                                               std::uint32_t b0, std::uint32_t b1) {     \
    asm("mma.sync.aligned." instruction                                                  \
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                 \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                 \
  }
PLUMBLINE_MMA(bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32")
PLUMBLINE_MMA(float16, "m16n8k16.row.col.f32.f16.f16.f32")
PLUMBLINE_MMA(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef PLUMBLINE_MMA

/// C += A B for C of 16 rows and 8 `tiles` columns, A of 16 rows and `steps` times the depth of a
/// product. load_a(step, a) gives this lane's fragment of A; load_b(step, tile, b) those of the two
/// tiles of B `tile` and tile + 1, b[0..1] and b[2..3]. tf32 reads the upper 19 bits of an operand
/// and no more: who wants it rounded must round it before.
template <class Element, int steps, int tiles, class LoadA, class LoadB>
__device__ __forceinline__ void multiply_add(float (&c)[tiles][4], LoadA load_a, LoadB load_b) {
  static_assert(tiles % 2 == 0);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    std::uint32_t a[4];
    load_a(step, a);
#pragma unroll
    for (int tile = 0; tile < tiles; tile += 2) {
      std::uint32_t b[4];
      load_b(step, tile, b);
      mma<Element>(c[tile], a, b[0], b[1]);
      mma<Element>(c[tile + 1], a, b[2], b[3]);
    }
  }
}

/// The same for `groups` times 16 rows of C and A, which share the fragments of B: load_a(step,
/// group, a).
template <class Element, int steps, int groups, int tiles, class LoadA, class LoadB>
__device__ __forceinline__ void multiply_add(float (&c)[groups][tiles][4], LoadA load_a,
                                             LoadB load_b) {
  static_assert(tiles % 2 == 0);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    std::uint32_t a[groups][4];
#pragma unroll
    for (int group = 0; group < groups; ++group) load_a(step, group, a[group]);
#pragma unroll
    for (int tile = 0; tile < tiles; tile += 2) {
      std::uint32_t b[4];
      load_b(step, tile, b);
#pragma unroll
      for (int group = 0; group < groups; ++group) {
        mma<Element>(c[group][tile], a[group], b[0], b[1]);
        mma<Element>(c[group][tile + 1], a[group], b[2], b[3]);
      }
    }
  }
}
#else
/// The emulated counterpart takes all of the product in one exchange of the warp's fibers: they are
/// what costs.
template <class Element, int steps, int tiles, class LoadA, class LoadB>
void multiply_add(float (&c)[tiles][4], LoadA load_a, LoadB load_b,
                  std::source_location where = std::source_location::current()) {
  static_assert(tiles % 2 == 0);
  std::uint32_t a[steps][4];
  std::uint32_t b[steps][tiles][2];
  for (int step = 0; step < steps; ++step) {
    load_a(step, a[step]);
    for (int tile = 0; tile < tiles; tile += 2) {
      std::uint32_t pair[4];
      load_b(step, tile, pair);
      std::memcpy(b[step][tile], pair, sizeof pair);
    }
  }
  constexpr auto element = kMmaDepth<Element> == 8 ? emulation::MmaElement::tf32
                           : std::is_same_v<Element, bfloat16> ? emulation::MmaElement::bf16
                                                               : emulation::MmaElement::fp16;
  emulation::MmaFragments fragments{element, steps, tiles, c[0], a[0], b[0][0]};
  emulation::mma(fragments, where);
}

template <class Element, int steps, int groups, int tiles, class LoadA, class LoadB>
void multiply_add(float (&c)[groups][tiles][4], LoadA load_a, LoadB load_b,
                  std::source_location where = std::source_location::current()) {
  for (int group = 0; group < groups; ++group)
    multiply_add<Element, steps>(
        c[group], [&](int step, std::uint32_t(&a)[4]) { load_a(step, group, a); }, load_b, where);
}
#endif

}  // namespace plumbline::gpu

#endif
