// SPDX-License-Identifier: Apache-2.0
#include "emulation/mma.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/formats.cuh"
#include "emulation/grid.hpp"

namespace plumbline::emulation {
namespace {

constexpr int kRows = 16;
constexpr int kTileColumns = 8;

std::atomic<bool>& truncating() {
  static std::atomic<bool> value{[] {
    const char* text = std::getenv("PLUMBLINE_TRUNCATING_MMA");
    return text && text[0] == '1';
  }()};
  return value;
}

/// How an element lies in a register: bits and count, and how many columns of A an instruction has.
struct Layout {
  int per_register;
  int depth;
};

Layout layout(MmaElement element) {
  return element == MmaElement::tf32 ? Layout{1, 8} : Layout{2, 16};
}

/// Element `part` of a register.
template <MmaElement element>
float unpack(std::uint32_t bits, int part) {
  if constexpr (element == MmaElement::tf32) {
    bits &= 0xffffe000u;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    const auto half = static_cast<std::uint16_t>(bits >> (16 * part));
    if constexpr (element == MmaElement::bf16) return gpu::to_float(gpu::bfloat16{half});
    return gpu::to_float(gpu::float16{half});
  }
}

/// The three matrices of a warp, row-major; kept from call to call.
struct Matrices {
  std::vector<float> a, b, c;
  int depth = 0, columns = 0;  // of A and of B
};

template <MmaElement element>
void gather(void* const* lanes, Matrices& m) {
  const auto& shape = *static_cast<const MmaFragments*>(lanes[0]);
  const auto [per_register, depth] = layout(element);
  m.depth = shape.steps * depth;
  m.columns = shape.tiles * kTileColumns;
  m.a.resize(static_cast<std::size_t>(kRows) * m.depth);
  m.b.resize(static_cast<std::size_t>(m.depth) * m.columns);
  m.c.resize(static_cast<std::size_t>(kRows) * m.columns);
  for (int lane = 0; lane < 32; ++lane) {
    const auto& fragment = *static_cast<const MmaFragments*>(lanes[lane]);
    const int group = lane / 4, place = lane % 4;
    for (int step = 0; step < shape.steps; ++step) {
      for (int r = 0; r < 4; ++r) {
        const std::uint32_t bits = fragment.a[step * 4 + r];
        float* row = m.a.data() + (group + r % 2 * 8) * m.depth;
        for (int part = 0; part < per_register; ++part)
          row[step * depth + r / 2 * depth / 2 + place * per_register + part] =
              unpack<element>(bits, part);
      }
      for (int tile = 0; tile < shape.tiles; ++tile)
        for (int r = 0; r < 2; ++r) {
          const std::uint32_t bits = fragment.b[(step * shape.tiles + tile) * 2 + r];
          const int row = step * depth + r * depth / 2 + place * per_register;
          for (int part = 0; part < per_register; ++part)
            m.b[(row + part) * m.columns + tile * kTileColumns + group] =
                unpack<element>(bits, part);
        }
    }
    for (int tile = 0; tile < shape.tiles; ++tile)
      for (int n = 0; n < 4; ++n)
        m.c[(group + n / 2 * 8) * m.columns + tile * kTileColumns + place * 2 + n % 2] =
            fragment.c[tile * 4 + n];
  }
}

void scatter(void* const* lanes, const Matrices& m) {
  for (int lane = 0; lane < 32; ++lane) {
    const auto& fragment = *static_cast<const MmaFragments*>(lanes[lane]);
    const int group = lane / 4, place = lane % 4;
    for (int tile = 0; tile < fragment.tiles; ++tile)
      for (int n = 0; n < 4; ++n)
        fragment.c[tile * 4 + n] =
            m.c[(group + n / 2 * 8) * m.columns + tile * kTileColumns + place * 2 + n % 2];
  }
}

/// 8 columns of two rows of C at a time stay in registers.
void multiply_rounded(Matrices& m) {
  for (int i = 0; i < kRows; i += 2) {
    const float* a0 = m.a.data() + i * m.depth;
    const float* a1 = a0 + m.depth;
    for (int j = 0; j < m.columns; j += kTileColumns) {
      float* c0 = m.c.data() + i * m.columns + j;
      float* c1 = c0 + m.columns;
      float sum0[kTileColumns], sum1[kTileColumns];
      for (int n = 0; n < kTileColumns; ++n) sum0[n] = c0[n], sum1[n] = c1[n];
      for (int k = 0; k < m.depth; ++k) {
        const float* b = m.b.data() + k * m.columns + j;
        for (int n = 0; n < kTileColumns; ++n) {
          sum0[n] += a0[k] * b[n];
          sum1[n] += a1[k] * b[n];
        }
      }
      for (int n = 0; n < kTileColumns; ++n) c0[n] = sum0[n], c1[n] = sum1[n];
    }
  }
}

/// To fp32, towards zero; what rounds beyond the largest number is infinite.
float cut_to_float(double x) {
  const auto y = static_cast<float>(x);
  if (std::isinf(y)) return y;
  return std::abs(static_cast<double>(y)) > std::abs(x) ? std::nextafterf(y, 0.0f) : y;
}

void multiply_truncating(Matrices& m, int group) {
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < m.columns; ++j) {
      float& c = m.c[i * m.columns + j];
      for (int first = 0; first < m.depth; first += group) {
        double terms[9] = {c};
        double largest = std::abs(terms[0]);
        bool finite = std::isfinite(terms[0]);
        for (int n = 0; n < group; ++n) {
          const double product =
              static_cast<double>(m.a[i * m.depth + first + n]) * m.b[(first + n) * m.columns + j];
          terms[n + 1] = product;
          finite &= std::isfinite(product);
          largest = std::max(largest, std::abs(product));
        }
        double sum = 0.0;
        // Infinities and NaNs follow the rules of addition; of zeros alone nothing is left.
        const double unit =
            finite && largest > 0.0 ? std::ldexp(1.0, std::ilogb(largest) - 24) : 0.0;
        for (int n = 0; n <= group; ++n)
          sum += unit > 0.0 ? std::trunc(terms[n] / unit) * unit : terms[n];
        c = cut_to_float(sum);
      }
    }
}

template <MmaElement element>
void complete(void* const* lanes) {
  thread_local Matrices m;
  gather<element>(lanes, m);
  if (truncating())
    multiply_truncating(m, element == MmaElement::tf32 ? 4 : 8);
  else
    multiply_rounded(m);
  scatter(lanes, m);
}

}  // namespace

void mma(MmaFragments& fragments, std::source_location where) {
  const auto function = fragments.element == MmaElement::bf16   ? complete<MmaElement::bf16>
                        : fragments.element == MmaElement::fp16 ? complete<MmaElement::fp16>
                                                                : complete<MmaElement::tf32>;
  warp_collective(&fragments, function, where);
}

void set_truncating_mma(bool value) { truncating() = value; }

bool truncating_mma() { return truncating(); }

}  // namespace plumbline::emulation
