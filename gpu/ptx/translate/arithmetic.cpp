// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers, f32 and f64: all operands of one type, or of known others.
#include <algorithm>

#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

bool is_integer(Type type) {
  return (type >= Type::u8 && type <= Type::s64) || type == Type::u16x2 || type == Type::s16x2;
}
Type doubled(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}

}  // namespace

void Translator::same_type(Operator op, Type type, std::size_t sources) {
  expect_operands(sources + 1, sources + 1);
  const std::uint32_t o = emit(form(op, type));
  define(o, Field::d, destination(operand(0), type));
  use(o, Field::a, source(operand(1), type));
  if (sources > 1) use(o, Field::b, source(operand(2), type));
  if (sources > 2) use(o, Field::c, source(operand(3), type));
}

namespace {

constexpr std::size_t most_products = 64;

bool is_single_or_double(Type type) { return type == Type::f32 || type == Type::f64; }

}  // namespace

/// The mul that was just translated may become part of an fma.
void Translator::remember_product(Type type) {
  const Form of = form(Operator::mul_lo, type);
  if (!shared_.layout.variation.fuse || !is_single_or_double(type) || of.round != Round::none ||
      of.sat || now_->guard >= 0) {
    return;
  }
  const Virtual d = destination(operand(0), type), a = source(operand(1), type),
                b = source(operand(2), type);
  // The oldest is forgotten: of a long block every product would be looked through each time.
  if (products_.size() >= most_products) products_.erase(products_.begin());
  if (d != a && d != b) products_.push_back({d, a, b, type, of.ftz});
}

/// An add or sub as an fma with a product that it takes: the first operand's, where both are one.
bool Translator::fused(Type type) {
  Form fma = form(Operator::fma, type);
  if (!is_single_or_double(type) || fma.round != Round::none || products_.empty()) return false;
  fma.round = Round::rn;
  const bool subtracts = now_->opcode == "sub";
  for (const std::size_t factor : {1, 2}) {
    if (operand(factor).kind != Operand::Kind::reg) continue;
    const auto product = std::ranges::find_if(products_, [&](const Product& known) {
      return known.d == operand(factor).index && known.type == type && known.ftz == fma.ftz;
    });
    if (product == products_.end()) continue;
    Form negate;
    negate.op = Operator::neg;
    negate.type = type;
    const auto negated = [&](Virtual of) {
      const Virtual opposite = temporary(width(of));
      unary(negate, opposite, of);
      return opposite;
    };
    Virtual a = product->a;
    const Virtual b = product->b;
    Virtual c = source(operand(3 - factor), type);
    if (subtracts) (factor == 1 ? c : a) = negated(factor == 1 ? c : a);
    const std::uint32_t o = binary(fma, destination(operand(0), type), a, b);
    use(o, Field::c, c);
    return true;
  }
  return false;
}

bool Translator::arithmetic() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (all.empty()) return false;
  const Type type = all.back();
  const bool integer = is_integer(type);
  const bool real = type == Type::f32 || type == Type::f64 || type == Type::f32x2;
  if (!integer && !real) return false;
  if ((has("approx") || has("full")) && name != "add") return false;
  if (all.size() > 1) return false;  // of mixed precision, or cvt, set, dp4a, ...

  if (name == "mul" || name == "mad") {
    const std::size_t sources = name == "mul" ? 2 : 3;
    if (real) {
      same_type(sources == 2 ? Operator::mul_lo : Operator::fma, type, sources);
      if (sources == 2) remember_product(type);
      return true;
    }
    if (has("cc")) return false;
    if (has("wide")) {
      if (doubled(type) == Type::none) return false;
      expect_operands(sources + 1, sources + 1);
      const std::uint32_t o =
          emit(form(sources == 2 ? Operator::mul_wide : Operator::mad_wide, type));
      define(o, Field::d, destination(operand(0), doubled(type)));
      use(o, Field::a, source(operand(1), type));
      use(o, Field::b, source(operand(2), type));
      if (sources == 3) use(o, Field::c, source(operand(3), doubled(type)));
      return true;
    }
    if (has("hi"))
      same_type(sources == 2 ? Operator::mul_hi : Operator::mad_hi, type, sources);
    else if (has("lo"))
      same_type(sources == 2 ? Operator::mul_lo : Operator::mad_lo, type, sources);
    else
      bad(".lo, .hi or .wide is missing");
    return true;
  }
  if ((name == "min" || name == "max") && operands() == 4) {
    same_type(name == "min" ? Operator::min3 : Operator::max3, type, 3);
    return true;
  }
  if ((name == "add" || name == "sub") && operands() == 3 && fused(type)) return true;
  struct Row {
    std::string_view name;
    Operator op;
    std::size_t sources;
    bool of_integers, of_reals;
  };
  static constexpr Row rows[] = {
      {"add", Operator::add, 2, true, true},           {"sub", Operator::sub, 2, true, true},
      {"fma", Operator::fma, 3, false, true},          {"div", Operator::div, 2, true, true},
      {"rem", Operator::rem, 2, true, false},          {"abs", Operator::abs, 1, true, true},
      {"neg", Operator::neg, 1, true, true},           {"min", Operator::min, 2, true, true},
      {"max", Operator::max, 2, true, true},           {"sad", Operator::sad, 3, true, false},
      {"rcp", Operator::rcp, 1, false, true},          {"sqrt", Operator::sqrt, 1, false, true},
      {"copysign", Operator::copysign, 2, false, true}};
  for (const Row& row : rows)
    if (row.name == name && (integer ? row.of_integers : row.of_reals)) {
      if (has("cc")) return false;
      same_type(row.op, type, row.sources);
      return true;
    }
  if ((name == "mul24" || name == "mad24") && integer) {
    const bool mad = name == "mad24", high = has("hi");
    same_type(mad ? (high ? Operator::mad24_hi : Operator::mad24_lo)
                  : (high ? Operator::mul24_hi : Operator::mul24_lo),
              type, mad ? 3 : 2);
    return true;
  }
  return false;
}

}  // namespace plumbline::ptx
