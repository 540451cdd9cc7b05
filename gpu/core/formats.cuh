// SPDX-License-Identifier: Apache-2.0
// The element formats of q, k, v and o, and access to arrays whose format is known at run time
// only.
#ifndef PLUMBLINE_GPU_CORE_FORMATS_CUH
#define PLUMBLINE_GPU_CORE_FORMATS_CUH

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "core/float8.cuh"
#include "core/tf32.cuh"

namespace plumbline::gpu {

/// Values as plumbline_format has them. Arrays of fp32 and of tf32 alike hold floats as they are;
/// who multiplies in tf32 rounds the operands.
enum class Format : int { fp32 = 0, bf16 = 1, fp16 = 2, tf32 = 3 };

/// Bytes of an element.
__host__ __device__ constexpr std::size_t element_bytes(Format format) {
  return format == Format::bf16 || format == Format::fp16 ? 2 : 4;
}

/// array[index] as a float, exactly.
__device__ __forceinline__ float load_element(const void* array, Format format, std::size_t index) {
  switch (format) {
    case Format::bf16:
      return to_float(static_cast<const bfloat16*>(array)[index]);
    case Format::fp16:
      return to_float(static_cast<const float16*>(array)[index]);
    default:
      return static_cast<const float*>(array)[index];
  }
}

/// In what decoding finds k and v: values as plumbline_cache_format has them.
enum class CacheFormat : int { in_format = 0, e4m3 = 1, e5m2 = 2, int8 = 3 };

/// `count` numbers of type T from `from` on as floats, exactly. Together they have 1, 2, 4, 8
/// or a multiple of 16 bytes, on a boundary of so many or of 16.
template <class T, int count>
__device__ __forceinline__ void load_vector(const void* from, float (&numbers)[count]) {
  constexpr int kBytes = count * static_cast<int>(sizeof(T));
  using Word = std::conditional_t<kBytes == 1, std::uint8_t,
                                  std::conditional_t<kBytes == 2, std::uint16_t, std::uint32_t>>;
  constexpr int kWordBytes = static_cast<int>(sizeof(Word));
  // What stands there are numbers of type T.
  struct [[gnu::may_alias]] alignas(kBytes < 16 ? kBytes : 16) Words {
    Word of[kBytes / kWordBytes];
  };
  const Words words = *static_cast<const Words*>(from);
#pragma unroll
  for (int n = 0; n < count; ++n) {
    const int at = n * static_cast<int>(sizeof(T));
    const Word bits = static_cast<Word>(words.of[at / kWordBytes] >> at % kWordBytes * 8);
    T number;
    memcpy(&number, &bits, sizeof number);
    if constexpr (std::is_same_v<T, std::int8_t>)
      numbers[n] = static_cast<float>(number);
    else
      numbers[n] = to_float(number);
  }
}

/// Writes `count` numbers, rounded to T, to nearest, ties to even. Together they have a multiple of
/// 16 bytes, on a boundary of 16.
template <class T, int count>
__device__ __forceinline__ void store_vector(T* to, const float (&numbers)[count]) {
  constexpr int kBytes = count * static_cast<int>(sizeof(T));
  static_assert(kBytes % 16 == 0);
  struct [[gnu::may_alias]] alignas(16) Words {
    std::uint32_t of[kBytes / 4];
  };
  Words words{};
#pragma unroll
  for (int n = 0; n < count; ++n) {
    const int at = n * static_cast<int>(sizeof(T));
    const T number = from_float<T>(numbers[n]);
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t> bits;
    memcpy(&bits, &number, sizeof bits);
    words.of[at / 4] |= std::uint32_t{bits} << at % 4 * 8;
  }
  *reinterpret_cast<Words*>(to) = words;
}

/// array[index] = value, rounded to nearest, ties to even.
__device__ __forceinline__ void store_element(void* array, Format format, std::size_t index,
                                              float value) {
  switch (format) {
    case Format::bf16:
      static_cast<bfloat16*>(array)[index] = from_float<bfloat16>(value);
      return;
    case Format::fp16:
      static_cast<float16*>(array)[index] = from_float<float16>(value);
      return;
    default:
      static_cast<float*>(array)[index] = value;
  }
}

}  // namespace plumbline::gpu

#endif
