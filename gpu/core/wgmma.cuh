// SPDX-License-Identifier: Apache-2.0
// Matrix products of a warpgroup, four warps, on Hopper's tensor cores: C += A B by wgmma, with C
// of 64 rows in registers, A in shared memory or in registers, and B in shared memory. The products
// run beside the warps' other instructions: between `wgmma_fence` and `wgmma_wait` nobody touches C
// or A. All 128 threads must take part.
//
// Of C warp w has the rows 16 w ..., and of those a lane what mma.sync gives it (core/mma.cuh): so
// does A in registers. PTX ISA, "Asynchronous warpgroup level matrix instructions".
//
// For compute_90a alone: the CPU emulation has no counterpart, and knows of the sizes alone.
#ifndef PLUMBLINE_GPU_CORE_WGMMA_CUH
#define PLUMBLINE_GPU_CORE_WGMMA_CUH

#include <algorithm>
#include <cstdint>

#include "core/formats.cuh"

namespace plumbline::gpu {

/// Rows of C, and columns of A in one instruction.
inline constexpr int kWgmmaRows = 64;
inline constexpr int kWgmmaDepth = 16;

/// A matrix of `rows` rows of D 16-bit elements in shared memory as TMA writes it and wgmma reads
/// it: columns of 64 elements, one behind the other, with 128-byte swizzle. In a column a row takes
/// 128 bytes, of which the 16-byte chunk n stands in the place n xor (row mod 8). Of 32 elements
/// there is one column, with 64-byte swizzle: the chunk stands in the place n xor (row / 2 mod 4).
/// Begins at a multiple of kAlignment bytes.
template <int rows, int D>
struct SwizzledTile {
  static_assert((D == 32 || D % 64 == 0) && rows % 8 == 0);
  static constexpr int kColumn = std::min(D, 64), kRowBytes = 2 * kColumn, kAlignment = 1024;
  static constexpr int kColumns = D / kColumn, kChunks = kRowBytes / 16;  // of a row in a column
  static constexpr std::uint32_t kColumnBytes = rows * kRowBytes, kBytes = kColumns * kColumnBytes;

  unsigned char* bytes;

  /// Where the 16 bytes number n of a row are.
  __device__ __forceinline__ unsigned char* chunk(int row, int n) const {
    return bytes + n / 8 * kColumnBytes + row * kRowBytes + ((n ^ row) & 7) * 16;
  }

#if PLUMBLINE_ON_GPU
  /// The row becomes zero, by `lanes` lanes, of which this is `lane`.
  __device__ void clear_row(int row, int lane, int lanes) const {
    for (int n = lane; n < kColumns * kChunks; n += lanes)
      *reinterpret_cast<uint4*>(bytes + n / kChunks * kColumnBytes + row * kRowBytes +
                                n % kChunks * 16) = uint4{};
  }

  /// Its description for wgmma: as A or transposed B from column `column` on, or as B from row
  /// `row` on.
  __device__ __forceinline__ std::uint64_t from_column(int column) const {
    return describe(column / kColumn * kColumnBytes + column % kColumn * 2);
  }
  __device__ __forceinline__ std::uint64_t from_row(int row) const {
    return describe(row * kRowBytes);
  }

 private:
  /// Fields of 14 bits: the address; the leading offset, from a column to the next, of which B by
  /// rows alone takes notice; the stride offset, of eight rows. All in units of 16 bytes. From bit
  /// 62 on: 1 for 128-byte swizzle, 2 for 64-byte swizzle. The tile ends within the address's 18
  /// bits: an offset, added last, reaches no other field, and the descriptions of a tile differ by
  /// a number known to the compiler.
  __device__ __forceinline__ std::uint64_t describe(std::uint32_t offset) const {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(bytes));
    const std::uint32_t low = ((address & 0x3ffff) >> 4 | kColumnBytes >> 4 << 16) + (offset >> 4);
    return low | std::uint64_t{8 * kRowBytes >> 4} << 32 |
           std::uint64_t{kColumn == 64 ? 1 : 2} << 62;
  }
#endif
};

#if PLUMBLINE_ON_GPU
/// The compiler moves no use of C past this place.
template <int tiles>
__device__ __forceinline__ void keep_order(float (&c)[tiles][4]) {
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (float& x : c[tile]) asm volatile("" : "+f"(x)::"memory");
  }
}

/// Nor of A.
template <int steps>
__device__ __forceinline__ void keep_order(std::uint32_t (&a)[steps][4]) {
#pragma unroll
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (std::uint32_t& x : a[step]) asm volatile("" : "+r"(x)::"memory");
  }
}

/// What was written to registers is there for the products that follow.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Ends what `wgmma_wait` waits for.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// clang-format off
#define PLUMBLINE_ROW_OF_C(n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define PLUMBLINE_4_OF_C(n) PLUMBLINE_ROW_OF_C(n), PLUMBLINE_ROW_OF_C(n + 1), \
                            PLUMBLINE_ROW_OF_C(n + 2), PLUMBLINE_ROW_OF_C(n + 3)
#define PLUMBLINE_8_OF_C PLUMBLINE_4_OF_C(0), PLUMBLINE_4_OF_C(4)
#define PLUMBLINE_16_OF_C PLUMBLINE_8_OF_C, PLUMBLINE_4_OF_C(8), PLUMBLINE_4_OF_C(12)
#define PLUMBLINE_16_NAMES "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define PLUMBLINE_32_NAMES PLUMBLINE_16_NAMES ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PLUMBLINE_64_NAMES PLUMBLINE_32_NAMES ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, " \
  "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
  "%61, %62, %63"

/// C = A B, or C += A B, for A and the transpose of B in shared memory: both tiles have what is
/// summed over along their rows.
template <class Element>
__device__ __forceinline__ void wgmma_rows(float (&c)[4][4], std::uint64_t a, std::uint64_t b, bool add);
template <class Element>
__device__ __forceinline__ void wgmma_rows(float (&c)[8][4], std::uint64_t a, std::uint64_t b, bool add);
template <class Element>
__device__ __forceinline__ void wgmma_rows(float (&c)[16][4], std::uint64_t a, std::uint64_t b, bool add);
/// C += A B for A in registers and B in shared memory: what is summed over goes down the tile.
template <class Element>
__device__ __forceinline__ void wgmma_columns(float (&c)[8][4], const std::uint32_t (&a)[4], std::uint64_t b);
template <class Element>
__device__ __forceinline__ void wgmma_columns(float (&c)[16][4], const std::uint32_t (&a)[4], std::uint64_t b);

// C of 8 `tiles` columns: its operands and their names, and the names of the others.
#define PLUMBLINE_WGMMA_ROWS(Element, type, tiles, columns, operands, names, a_name, b_name, add_name)\
  template <>                                                                                       \
  __device__ __forceinline__ void wgmma_rows<Element>(float(&c)[tiles][4], std::uint64_t a,         \
                                                      std::uint64_t b, bool add) {                  \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " add_name ", 0;\n"                          \
        "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type " {" names "}, "       \
        a_name ", " b_name ", add, 1, 1, 0, 0;\n}"                                                  \
        : operands : "l"(a), "l"(b), "r"(static_cast<int>(add)) : "memory");                        \
  }
#define PLUMBLINE_WGMMA_COLUMNS(Element, type, tiles, columns, operands, names, a_names, b_name)    \
  template <>                                                                                       \
  __device__ __forceinline__ void wgmma_columns<Element>(                                           \
      float(&c)[tiles][4], const std::uint32_t(&a)[4], std::uint64_t b) {                           \
    asm volatile("{\n.reg .pred add;\nsetp.eq.b32 add, 0, 0;\n"                                     \
        "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type                        \
        " {" names "}, {" a_names "}, " b_name ", add, 1, 1, 1;\n}"                                 \
        : operands : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory");                \
  }
#define PLUMBLINE_WGMMA(Element, type)                                                              \
  PLUMBLINE_WGMMA_ROWS(Element, type, 4, "32", PLUMBLINE_4_OF_C(0), PLUMBLINE_16_NAMES,             \
                       "%16", "%17", "%18")                                                         \
  PLUMBLINE_WGMMA_ROWS(Element, type, 8, "64", PLUMBLINE_8_OF_C, PLUMBLINE_32_NAMES,                \
                       "%32", "%33", "%34")                                                         \
  PLUMBLINE_WGMMA_ROWS(Element, type, 16, "128", PLUMBLINE_16_OF_C, PLUMBLINE_64_NAMES,             \
                       "%64", "%65", "%66")                                                         \
  PLUMBLINE_WGMMA_COLUMNS(Element, type, 8, "64", PLUMBLINE_8_OF_C, PLUMBLINE_32_NAMES,             \
                          "%32, %33, %34, %35", "%36")                                              \
  PLUMBLINE_WGMMA_COLUMNS(Element, type, 16, "128", PLUMBLINE_16_OF_C, PLUMBLINE_64_NAMES,          \
                          "%64, %65, %66, %67", "%68")
PLUMBLINE_WGMMA(bfloat16, "bf16")
PLUMBLINE_WGMMA(float16, "f16")
#undef PLUMBLINE_WGMMA

/// The products of e4m3, 32 numbers deep: both tiles have what is summed over along their rows.
/// SwizzledTile takes two of these numbers for one of its elements.
#define PLUMBLINE_WGMMA_E4M3(tiles, columns, operands, names, a_type, a_names, a_operands, b_name,  \
                             add_name)                                                              \
  __device__ __forceinline__ void wgmma_e4m3(float(&c)[tiles][4], a_type, std::uint64_t b,          \
                                             bool add) {                                            \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " add_name ", 0;\n"                          \
        "wgmma.mma_async.sync.aligned.m64n" columns "k32.f32.e4m3.e4m3 {" names "}, "               \
        a_names ", " b_name ", add, 1, 1;\n}"                                                       \
        : operands : a_operands, "l"(b), "r"(static_cast<int>(add)) : "memory");                    \
  }
#define PLUMBLINE_4_OF_A "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
PLUMBLINE_WGMMA_E4M3(16, "128", PLUMBLINE_16_OF_C, PLUMBLINE_64_NAMES, std::uint64_t a, "%64",
                     "l"(a), "%65", "%66")
PLUMBLINE_WGMMA_E4M3(8, "64", PLUMBLINE_8_OF_C, PLUMBLINE_32_NAMES, const std::uint32_t (&a)[4],
                     "{%32, %33, %34, %35}", PLUMBLINE_4_OF_A, "%36", "%37")
PLUMBLINE_WGMMA_E4M3(16, "128", PLUMBLINE_16_OF_C, PLUMBLINE_64_NAMES, const std::uint32_t (&a)[4],
                     "{%64, %65, %66, %67}", PLUMBLINE_4_OF_A, "%68", "%69")
#undef PLUMBLINE_4_OF_A
#undef PLUMBLINE_WGMMA_E4M3
#undef PLUMBLINE_WGMMA_COLUMNS
#undef PLUMBLINE_WGMMA_ROWS
#undef PLUMBLINE_64_NAMES
#undef PLUMBLINE_32_NAMES
#undef PLUMBLINE_16_NAMES
#undef PLUMBLINE_16_OF_C
#undef PLUMBLINE_8_OF_C
#undef PLUMBLINE_4_OF_C
#undef PLUMBLINE_ROW_OF_C
// clang-format on
#endif

}  // namespace plumbline::gpu

#endif
