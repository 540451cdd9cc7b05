// SPDX-License-Identifier: Apache-2.0
// ldmatrix: a warp reads four 8 x 8 matrices of 16-bit elements from shared memory into the layout
// of the tensor cores' operands. All 32 threads must take part.
//
// A row is 16 contiguous bytes on a 16-byte boundary; row r of matrix m lies at row(8 m + r), which
// is what lane 8 m + r gives to the instruction. Lane 4 group + place receives in registers[m]
//
//   ldmatrix_x4        row group of matrix m, columns 2 place (low) and 2 place + 1 (high)
//   ldmatrix_x4_trans  column group of matrix m, rows 2 place (low) and 2 place + 1 (high)
//
// As the four bytes at 4 place of a row stay together, ldmatrix_x4 also reads 8 x 4 matrices of
// tf32: row group, column place (PTX ISA, "Warp-level matrix load instruction: ldmatrix").
#ifndef PLUMBLINE_GPU_CORE_LDMATRIX_CUH
#define PLUMBLINE_GPU_CORE_LDMATRIX_CUH

#include <cstdint>
#include <cstring>

#include "core/warp.cuh"

namespace plumbline::gpu {

#if PLUMBLINE_ON_GPU

template <class Row>
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&registers)[4], int lane, Row row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row(lane)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address)
               : "memory");
}

template <class Row>
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&registers)[4], int lane,
                                                  Row row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row(lane)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address)
               : "memory");
}

#else

// A fiber works out the addresses of the other lanes itself: no exchange is needed.

/// Throws emulation::Error for a row that ldmatrix could not read.
inline const char* checked_row(const void* row, std::source_location where) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    throw emulation::Error(emulation::text(where) + ": ldmatrix: a row off the 16-byte boundary");
  return static_cast<const char*>(row);
}

template <class Row>
void ldmatrix_x4(std::uint32_t (&registers)[4], int lane, Row row,
                 std::source_location where = std::source_location::current()) {
  for (int m = 0; m < 4; ++m)
    std::memcpy(&registers[m], checked_row(row(8 * m + lane / 4), where) + 4 * (lane % 4), 4);
}

template <class Row>
void ldmatrix_x4_trans(std::uint32_t (&registers)[4], int lane, Row row,
                       std::source_location where = std::source_location::current()) {
  for (int m = 0; m < 4; ++m) {
    std::uint16_t pair[2];
    for (int n = 0; n < 2; ++n)
      std::memcpy(&pair[n], checked_row(row(8 * m + 2 * (lane % 4) + n), where) + 2 * (lane / 4),
                  2);
    std::memcpy(&registers[m], pair, 4);
  }
}

#endif

}  // namespace plumbline::gpu

#endif
