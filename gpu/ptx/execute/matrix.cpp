// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/matrix.hpp"

#include <cstring>

#include "ptx/arithmetic/fragments.hpp"

namespace plumbline::ptx {

Outcome multiply(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  const auto& product = *static_cast<const MatrixProduct*>(o.extra);
  void* d[8];
  const void *a[8], *b[8], *c[8];
  const std::uint32_t* list = w.lists + o.list;
  for (std::uint32_t i = 0; i < product.d; ++i) d[i] = w.registers + *list++;
  for (std::uint32_t i = 0; i < product.a; ++i) a[i] = w.registers + *list++;
  for (std::uint32_t i = 0; i < product.b; ++i) b[i] = w.registers + *list++;
  for (std::uint32_t i = 0; i < product.d; ++i) c[i] = w.registers + *list++;
  product.function(product.how, d, a, b, c);
  return Outcome::next;
}

Outcome move_matrix(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  const std::uint32_t* a = reinterpret_cast<const std::uint32_t*>(w.registers + o.a);
  std::uint32_t t[32];
  for (std::uint32_t i = 0; i < 32; ++i) {
    t[i] = 0;
    for (std::uint32_t half = 0; half < 2; ++half) {
      const arithmetic::HalfWord from =
          arithmetic::source_of_movmatrix(static_cast<int>(i), static_cast<int>(half));
      t[i] |= (a[from.lane] >> 16 * from.half & 0xffff) << 16 * half;
    }
  }
  std::memcpy(w.registers + o.d, t, sizeof t);
  return Outcome::next;
}

}  // namespace plumbline::ptx
