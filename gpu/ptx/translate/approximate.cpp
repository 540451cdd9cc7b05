// SPDX-License-Identifier: Apache-2.0
// Functions of arithmetic/approximate.hpp.
#include "ptx/arithmetic/approximate.hpp"

#include "ptx/execute/calls.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

bool Translator::approximate() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (all.size() != 1) return false;
  const Type type = all[0];
  const bool ftz = has("ftz");
  const Variation::Approximate variation = shared_.layout.variation.approximate;
  if (name == "div" && type == Type::f32 && (has("approx") || has("full"))) {
    expect_operands(3, 3);
    const std::uint32_t o = emit(call_binary);
    at(o).extra = reinterpret_cast<const void*>(
        arithmetic::approximate_division(has("full"), ftz, variation));
    define(o, Field::d, destination(operand(0), type));
    use(o, Field::a, source(operand(1), type));
    use(o, Field::b, source(operand(2), type));
    return true;
  }
  struct Row {
    std::string_view name;
    arithmetic::Function function;
  };
  static constexpr Row rows[] = {
      {"ex2", arithmetic::Function::ex2},   {"lg2", arithmetic::Function::lg2},
      {"rcp", arithmetic::Function::rcp},   {"rsqrt", arithmetic::Function::rsqrt},
      {"sqrt", arithmetic::Function::sqrt}, {"sin", arithmetic::Function::sin},
      {"cos", arithmetic::Function::cos},   {"tanh", arithmetic::Function::tanh}};
  for (const Row& row : rows) {
    if (row.name != name || !has("approx")) continue;
    expect_operands(2, 2);
    const void* function = nullptr;
    if (type == Type::f64) {
      function =
          reinterpret_cast<const void*>(arithmetic::approximate_f64(row.function, ftz, variation));
    } else {
      arithmetic::Format format = ftz ? arithmetic::Format::f32_ftz : arithmetic::Format::f32;
      if (type == Type::f16)
        format = arithmetic::Format::f16;
      else if (type == Type::f16x2)
        format = arithmetic::Format::f16x2;
      else if (type == Type::bf16)
        format = arithmetic::Format::bf16;
      else if (type == Type::bf16x2)
        format = arithmetic::Format::bf16x2;
      else if (type != Type::f32)
        return false;
      function =
          reinterpret_cast<const void*>(arithmetic::approximate(row.function, format, variation));
    }
    if (!function) lacks();
    const std::uint32_t o = emit(type == Type::f64 ? call_unary_64 : call_unary);
    at(o).extra = function;
    define(o, Field::d, destination(operand(0), type));
    use(o, Field::a, source(operand(1), type));
    return true;
  }
  return false;
}

}  // namespace plumbline::ptx
