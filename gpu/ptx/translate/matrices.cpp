// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix, stmatrix, movmatrix.
#include <algorithm>
#include <charconv>

#include "ptx/execute/matrix.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/translate/elements.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

bool element_of(Type type, arithmetic::Element& element) {
  using arithmetic::Element;
  switch (type) {
    case Type::f16:
      element = Element::f16;
      return true;
    case Type::bf16:
      element = Element::bf16;
      return true;
    case Type::tf32:
      element = Element::tf32;
      return true;
    case Type::e4m3:
      element = Element::e4m3;
      return true;
    case Type::e5m2:
      element = Element::e5m2;
      return true;
    case Type::f64:
      element = Element::f64;
      return true;
    case Type::s8:
      element = Element::s8;
      return true;
    case Type::u8:
      element = Element::u8;
      return true;
    case Type::s4:
      element = Element::s4;
      return true;
    case Type::u4:
      element = Element::u4;
      return true;
    case Type::b1:
      element = Element::b1;
      return true;
    case Type::f32:
      element = Element::f32;
      return true;
    case Type::s32:
      element = Element::s32;
      return true;
    default:
      return false;
  }
}

bool shape_of(std::string_view word, int& m, int& n, int& k) {
  const auto number = [&](char letter, int& value) {
    if (word.empty() || word[0] != letter) return false;
    const auto result = std::from_chars(word.data() + 1, word.data() + word.size(), value);
    word.remove_prefix(static_cast<std::size_t>(result.ptr - word.data()));
    return result.ec == std::errc{};
  };
  return number('m', m) && number('n', n) && number('k', k) && word.empty();
}

void Translator::multiply() {
  MatrixProduct product;
  const std::vector<Type> all = types();
  if (all.size() != 4 || !has("row") || !has("col")) lacks();
  int m = 0;
  bool found = false;
  for (std::size_t i = 0; i < words(); ++i)
    found |= shape_of(word(i), m, product.how.n, product.how.k);
  product.how.m = m;
  product.how.satfinite = has("satfinite");
  product.how.sums = shared_.layout.variation.sums;
  if (!found || all[0] != all[3] || !element_of(all[0], product.how.c) ||
      !element_of(all[1], product.how.a) || !element_of(all[2], product.how.b) || has("sp"))
    lacks();
  for (std::size_t i = 0; i < words(); ++i)
    if (word(i).substr(0, 4) == "kind" || word(i).substr(0, 2) == "sp" ||
        word(i).substr(0, 5) == "block")
      lacks();
  product.how.exclusive = has("xor");
  product.function = arithmetic::mma(product.how);
  if (!product.function) lacks();
  expect_operands(4, 4);
  // In one register: two halves, four bytes; f64 has registers of its own.
  const auto registers = [&](int rows, int columns, Type type) {
    const unsigned bits = type == Type::f64 ? 64 : type == Type::tf32 ? 32 : bits_of(type);
    const unsigned in_one = bits == 64 ? 64 : 32;
    return static_cast<std::uint32_t>(static_cast<unsigned>(rows * columns) * bits / in_one / 32);
  };
  const std::uint32_t counts[4] = {
      registers(m, product.how.n, all[0]), registers(m, product.how.k, all[1]),
      registers(product.how.k, product.how.n, all[2]), registers(m, product.how.n, all[3])};
  product.d = static_cast<std::uint8_t>(counts[0]);
  product.a = static_cast<std::uint8_t>(counts[1]);
  product.b = static_cast<std::uint8_t>(counts[2]);
  std::vector<Virtual> registers_of[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const Operand& one = operand(i);
    const Type type = all[i] == Type::f64 ? Type::b64 : Type::b32;
    const auto take = [&](const Operand& part) {
      registers_of[i].push_back(i == 0 ? destination(part, type) : source(part, type));
    };
    if (one.kind == Operand::Kind::vector)
      for (std::uint32_t k = 0; k < one.count; ++k) take(child(one, k));
    else
      take(one);
    if (registers_of[i].size() != counts[i]) bad("a wrong number of registers");
    if (counts[i] > 8) lacks();
  }
  program_.products.push_back(product);
  const std::uint32_t o = emit(ptx::multiply);
  at(o).extra = &program_.products.back();
  list(o, counts[0] + counts[1] + counts[2] + counts[3]);
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (const Virtual reg : registers_of[i]) {
      if (i == 0)
        define(o, Field::list, reg, index++);
      else
        use(o, Field::list, reg, index++);
    }
}

void Translator::matrix_memory(bool stores) {
  if (!has("m8n8") || !has("b16")) lacks();
  const std::size_t count = has("x4") ? 4 : has("x2") ? 2 : 1;
  expect_operands(2, 2);
  const Operand& registers = operand(stores ? 1 : 0);
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i)
    if (word(i).substr(0, 6) == "shared") space = word(i);
  std::vector<Virtual> all;
  const auto take = [&](const Operand& one) {
    all.push_back(stores ? source(one, Type::b32) : destination(one, Type::b32));
  };
  if (registers.kind == Operand::Kind::vector)
    for (std::uint32_t i = 0; i < registers.count; ++i) take(child(registers, i));
  else
    take(registers);
  if (all.size() != count) bad("a wrong number of registers");
  const Place where = place(operand(stores ? 0 : 1), space);
  const std::uint32_t o = emit(form(stores ? Operator::stmatrix : Operator::ldmatrix, Type::b16));
  apply(o, where);
  if (has("trans")) at(o).flags |= matrix_transposed;
  list(o, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (stores)
      use(o, Field::list, all[i], i);
    else
      define(o, Field::list, all[i], i);
  }
}

bool Translator::matrices() {
  const std::string_view name = now_->opcode;
  if (name == "mma" && has("sync")) {
    multiply();
  } else if (name == "ldmatrix" || name == "stmatrix") {
    matrix_memory(name == "stmatrix");
  } else if (name == "movmatrix") {
    const std::uint32_t o = emit(move_matrix);
    define(o, Field::d, destination(operand(0), Type::b32));
    use(o, Field::a, source(operand(1), Type::b32));
  } else {
    return false;
  }
  return true;
}

}  // namespace plumbline::ptx
