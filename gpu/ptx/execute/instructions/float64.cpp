// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f64 (PTX ISA 9.7.3).
#include "ptx/execute/instructions/floats.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

struct Add {
  f64 operator()(f64 a, f64 b) const { return canonical(a + b); }
};
struct Sub {
  f64 operator()(f64 a, f64 b) const { return canonical(a - b); }
};
struct Mul {
  f64 operator()(f64 a, f64 b) const { return canonical(a * b); }
};
struct Fma {
  f64 operator()(f64 a, f64 b, f64 c) const { return canonical(__builtin_fma(a, b, c)); }
};
struct Div {
  f64 operator()(f64 a, f64 b) const { return canonical(a / b); }
};
struct Rcp {
  f64 operator()(f64 a) const { return canonical(1.0 / a); }
};
struct Sqrt {
  f64 operator()(f64 a) const { return canonical(__builtin_sqrt(a)); }
};
constexpr u64 sign = u64{1} << 63;
struct Neg {
  f64 operator()(f64 a) const { return real(bits(a) ^ sign); }
};
struct Abs {
  f64 operator()(f64 a) const { return real(bits(a) & ~sign); }
};
struct Copysign {
  f64 operator()(f64 a, f64 b) const { return real((bits(a) & sign) | (bits(b) & ~sign)); }
};
inline s64 rank(f64 x) {
  const s64 b = static_cast<s64>(bits(x));
  return b ^ ((b >> 63) & 0x7fffffffffffffff);
}
template <bool maximum>
struct Extreme {
  f64 operator()(f64 a, f64 b) const {
    const bool first = maximum ? rank(a) > rank(b) : rank(a) < rank(b);
    return canonical(a != a ? b : b != b ? a : first ? a : b);
  }
};

}  // namespace

Run select_f64(const Form& form) {
  if (form.type != Type::f64 || form.approximate) return nullptr;
  switch (form.op) {
    case Operator::add:
      return with_rounding<map<Add, f64, f64, f64>>(form.round);
    case Operator::sub:
      return with_rounding<map<Sub, f64, f64, f64>>(form.round);
    case Operator::mul_lo:
      return with_rounding<map<Mul, f64, f64, f64>>(form.round);
    case Operator::fma:
      return with_rounding<map<Fma, f64, f64, f64, f64>>(form.round);
    case Operator::div:
      return with_rounding<map<Div, f64, f64, f64>>(form.round);
    case Operator::rcp:
      return with_rounding<map<Rcp, f64, f64>>(form.round);
    case Operator::sqrt:
      return with_rounding<map<Sqrt, f64, f64>>(form.round);
    case Operator::neg:
      return map<Neg, f64, f64>;
    case Operator::abs:
      return map<Abs, f64, f64>;
    case Operator::copysign:
      return map<Copysign, f64, f64, f64>;
    case Operator::min:
      return map<Extreme<false>, f64, f64, f64>;
    case Operator::max:
      return map<Extreme<true>, f64, f64, f64>;
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
