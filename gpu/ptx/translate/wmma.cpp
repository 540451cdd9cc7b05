// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.store and wmma.mma.
#include "ptx/execute/wmma.hpp"

#include "ptx/translate/elements.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

unsigned bits_in(Type type) { return type == Type::tf32 ? 32 : bits_of(type); }

}  // namespace

/// One element of each lane after the other, by loads and stores as they are.
void Translator::matrix_access(bool stores) {
  const std::vector<Type> all = types();
  int m = 0, n = 0, k = 0;
  bool found = false;
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i) {
    found |= shape_of(word(i), m, n, k);
    if (word(i).substr(0, 6) == "global" || word(i).substr(0, 6) == "shared") space = word(i);
  }
  if (!found || all.size() != 1) lacks();
  const Type type = all[0];
  const unsigned bits = bits_in(type);
  if (bits < 8) lacks();
  expect_operands(2, 3);
  const Operand& registers = operand(stores ? 1 : 0);
  if (registers.kind != Operand::Kind::vector) bad("registers are missing");
  WmmaPlace matrix;
  matrix.rows = static_cast<std::uint32_t>(has("b") ? k : m);
  matrix.columns = static_cast<std::uint32_t>(has("a") ? k : n);
  matrix.bytes = bits / 8;
  matrix.by_rows = has("row");
  const unsigned per = bits == 64 ? 1 : 32 / bits;
  matrix.each = registers.count * per;
  const std::uint32_t elements = matrix.rows * matrix.columns;
  if (matrix.each == 0 || 32 * matrix.each % elements != 0) bad("a wrong number of registers");

  const Place where = place(operand(stores ? 0 : 1), space);
  const Virtual base = temporary(8);
  {
    Form how = form(Operator::mov, Type::b64);
    if (width(where.base) == 4) how.from = Type::u32;
    unary(how, base, where.base);
  }
  const Virtual stride = operands() == 3
                             ? source(operand(2), Type::u32)
                             : constant(matrix.by_rows ? matrix.columns : matrix.rows, 4);
  const Type part = bits == 8    ? Type::b8
                    : bits == 16 ? Type::b16
                    : bits == 32 ? Type::b32
                                 : Type::b64;
  const Type whole = bits == 64 ? Type::b64 : Type::b32;
  shared_.kernel.granule = std::min(shared_.kernel.granule, bits == 8 ? 0u : bits == 16 ? 1u : 2u);
  for (std::uint32_t r = 0; r < registers.count; ++r) {
    const Operand& one = child(registers, r);
    std::vector<Virtual> parts;
    for (unsigned i = 0; i < per; ++i)
      parts.push_back(per > 1  ? temporary(4)
                      : stores ? source(one, whole)
                               : destination(one, whole));
    if (stores && per > 1) {
      Form how = form(Operator::unpack, Type::b32);
      how.from = part;
      const Virtual from = source(one, whole);
      const std::uint32_t o = emit(how);
      use(o, Field::a, from);
      list(o, per);
      for (unsigned i = 0; i < per; ++i) define(o, Field::list, parts[i], i);
    }
    for (unsigned i = 0; i < per; ++i) {
      matrix.element = r * per + i;
      program_.matrix_places.push_back(matrix);
      const Virtual address = temporary(8);
      const std::uint32_t find = emit(wmma_address);
      at(find).extra = &program_.matrix_places.back();
      define(find, Field::d, address);
      use(find, Field::a, base);
      use(find, Field::b, stride);
      Form how = form(stores ? Operator::store : Operator::load, part);
      how.register_bits = bits == 64 ? 64 : 32;
      const std::uint32_t o = emit(how);
      apply(o, {address, where.offset, where.space});
      list(o, 1);
      if (stores)
        use(o, Field::list, parts[i], 0);
      else
        define(o, Field::list, parts[i], 0);
    }
    if (!stores && per > 1) {
      Form how = form(Operator::pack, Type::b32);
      how.from = part;
      const std::uint32_t o = emit(how);
      define(o, Field::d, destination(one, whole));
      list(o, per);
      for (unsigned i = 0; i < per; ++i) use(o, Field::list, parts[i], i);
    }
  }
}

void Translator::multiply_matrices() {
  const std::vector<Type> all = types();
  WmmaProduct product;
  int m = 0, n = 0, k = 0;
  bool found = false;
  for (std::size_t i = 0; i < words(); ++i) {
    found |= shape_of(word(i), m, n, k);
    if (word(i) == "xor" || word(i) == "and") lacks();
  }
  // D and C, between them A and B unless these are f16.
  if (!found || (all.size() != 2 && all.size() != 4)) lacks();
  const Type a = all.size() == 2 ? Type::f16 : all[1], b = all.size() == 2 ? Type::f16 : all[2];
  const Type d = all.front(), c = all.back();
  if (!element_of(a, product.how.a) || !element_of(b, product.how.b) ||
      !element_of(d == c ? d : Type::f32, product.how.c))
    lacks();
  product.half_d = d == Type::f16;
  product.half_c = c == Type::f16;
  product.how.m = a == Type::f64 ? 8 : 16;
  product.how.n = 8;
  product.how.k = k;
  product.how.satfinite = has("satfinite") && d == Type::s32;
  product.how.sums = shared_.layout.variation.sums;
  product.function = arithmetic::mma(product.how);
  const bool shape = a == Type::f64    ? m == 8 && n == 8 && k == 4
                     : a == Type::tf32 ? m == 16 && n == 16 && k == 8
                                       : k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) ||
                                                     (m == 8 && n == 32));
  if (!product.function || !shape) lacks();
  product.m = static_cast<std::uint32_t>(m);
  product.n = static_cast<std::uint32_t>(n);
  product.k = static_cast<std::uint32_t>(k);
  expect_operands(4, 4);
  std::vector<Virtual> registers[4];
  const Type types_of[] = {d, a, b, c};
  const std::uint32_t sizes[] = {product.m * product.n, product.m * product.k,
                                 product.k * product.n, product.m * product.n};
  for (std::size_t i = 0; i < 4; ++i) {
    const Operand& one = operand(i);
    if (one.kind != Operand::Kind::vector) bad("registers are missing");
    const unsigned bits = bits_in(types_of[i]);
    const Type whole = bits == 64 ? Type::b64 : Type::b32;
    const std::uint32_t held = 32 * one.count * (bits == 64 ? 1 : 32 / bits);
    if (held == 0 || held % sizes[i] != 0) bad("a wrong number of registers");
    for (std::uint32_t r = 0; r < one.count; ++r)
      registers[i].push_back(i == 0 ? destination(child(one, r), whole)
                                    : source(child(one, r), whole));
  }
  product.d = static_cast<std::uint32_t>(registers[0].size());
  product.a = static_cast<std::uint32_t>(registers[1].size());
  product.b = static_cast<std::uint32_t>(registers[2].size());
  product.c = static_cast<std::uint32_t>(registers[3].size());
  program_.matrix_products.push_back(product);
  const std::uint32_t o = emit(wmma_multiply);
  at(o).extra = &program_.matrix_products.back();
  list(o, product.d + product.a + product.b + product.c);
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (const Virtual reg : registers[i]) {
      if (i == 0)
        define(o, Field::list, reg, index++);
      else
        use(o, Field::list, reg, index++);
    }
}

bool Translator::warp_matrices() {
  if (now_->opcode != "wmma") return false;
  if (has("mma"))
    multiply_matrices();
  else
    matrix_access(has("store"));
  return true;
}

}  // namespace plumbline::ptx
