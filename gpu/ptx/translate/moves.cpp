// SPDX-License-Identifier: Apache-2.0
// mov, cvta, isspacep, logic of predicates.
#include "ptx/execute/control.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/memory/shared.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

Type unsigned_of(unsigned bits) {
  return bits == 8 ? Type::b8 : bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64;
}

}  // namespace

/// mov with a vector on one side. False where there is none.
bool Translator::vector_move(Type type) {
  const Operand &d = operand(0), &a = operand(1);
  const unsigned whole = bits_of(type);
  const bool packs = a.kind == Operand::Kind::vector, unpacks = d.kind == Operand::Kind::vector;
  if (packs == unpacks) return false;
  const Operand& vector = packs ? a : d;
  if (vector.count == 0 || whole % vector.count != 0) bad("a vector of another size");
  const unsigned part = whole / vector.count;
  if (whole > 64 || (part != 8 && part != 16 && part != 32)) lacks();
  Form how = form(packs ? Operator::pack : Operator::unpack, unsigned_of(whole));
  how.from = unsigned_of(part);
  const Virtual other =
      packs ? destination(d, type) : source(a, type);  // before emit: it may throw
  std::vector<Virtual> parts;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const Operand& one = child(vector, i);
    if (packs)
      parts.push_back(source(one, how.from));
    else if (one.kind == Operand::Kind::none)
      parts.push_back(nothing);
    else
      parts.push_back(destination(one, how.from));
  }
  const std::uint32_t o = emit(how);
  list(o, vector.count);
  if (packs) {
    define(o, Field::d, other);
    for (std::uint32_t i = 0; i < vector.count; ++i) use(o, Field::list, parts[i], i);
  } else {
    use(o, Field::a, other);
    for (std::uint32_t i = 0; i < vector.count; ++i) define(o, Field::list, parts[i], i);
  }
  return true;
}

bool Translator::moves() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (name == "mov" && all.size() == 1) {
    const Type type = all[0];
    expect_operands(2, 2);
    if (type == Type::pred) {
      const std::uint32_t o = emit(form(Operator::pred_mov, type));
      define(o, Field::d, predicate(operand(0)));
      use(o, Field::a, source_predicate(operand(1)));
      at(o).immediate = operand(1).negated ? 0xffffffff : 0;
      return true;
    }
    if (operand(1).kind == Operand::Kind::special &&
        (operand(1).name.substr(0, 6) == "%clock" ||
         operand(1).name.substr(0, 12) == "%globaltimer")) {
      const std::string_view register_name = operand(1).name;
      const std::uint32_t o = emit(bits_of(type) == 64 ? read_clock_64 : read_clock_32);
      define(o, Field::d, destination(operand(0), type));
      at(o).immediate = register_name.substr(register_name.size() - 3) == "_hi" ? 32 : 0;
      return true;
    }
    if (operand(0).kind == Operand::Kind::vector || operand(1).kind == Operand::Kind::vector) {
      if (vector_move(type)) return true;
      lacks();
    }
    if (bits_of(type) > 64) lacks();
    unary(form(Operator::mov, type), destination(operand(0), type), source(operand(1), type));
    return true;
  }
  if (name == "cvta" && !all.empty()) {
    const Type type = all.back();
    if (type != Type::u64) lacks();
    const bool to = has("to");
    const bool shared = has("shared") || has("shared::cta") || has("shared::cluster");
    const std::uint64_t window = shared ? shared_window : has("local") ? local_window : 0;
    const Virtual d = destination(operand(0), type);
    const Virtual a = source(operand(1), type);
    if (window == 0)
      unary(form(Operator::mov, type), d, a);
    else
      binary(form(Operator::add, type), d, a, constant(to ? 0 - window : window, 8));
    return true;
  }
  if (name == "isspacep") {
    const std::string_view space = word(0);
    const std::uint32_t which = space == "shared::cluster"                    ? memory_cluster
                                : space == "shared" || space == "shared::cta" ? memory_shared
                                : space == "local"                            ? memory_local
                                                                              : memory_global;
    const Window window = space == "const"                              ? Window::constant
                          : space == "param" || space == "param::entry" ? Window::parameters
                                                                        : Window::global;
    if (which == memory_global && window == Window::global && space != "global") lacks();
    const std::uint32_t o = emit(form(Operator::isspacep, Type::pred));
    define(o, Field::d, predicate(operand(0)));
    use(o, Field::a, source(operand(1), Type::u64));
    at(o).c = which;
    at(o).immediate = static_cast<std::int64_t>(window);
    return true;
  }
  if (all.size() == 1 && all[0] == Type::pred) {
    const Operator op = name == "and"   ? Operator::pred_and
                        : name == "or"  ? Operator::pred_or
                        : name == "xor" ? Operator::pred_xor
                        : name == "not" ? Operator::pred_not
                                        : Operator::mov;
    if (op == Operator::mov) return false;
    const std::size_t sources = name == "not" ? 1 : 2;
    expect_operands(sources + 1, sources + 1);
    const std::uint32_t o = emit(form(op, Type::pred));
    define(o, Field::d, predicate(operand(0)));
    std::uint64_t turned = 0;
    for (std::size_t i = 1; i <= sources; ++i) {
      const Operand& a = operand(i);
      const Field field = i == 1 ? Field::a : Field::b;
      use(o, field, source_predicate(a));
      if (a.negated) turned |= i == 1 ? 0xffffffffu : 0xffffffffull << 32;
    }
    at(o).immediate = static_cast<std::int64_t>(turned);
    return true;
  }
  return false;
}

}  // namespace plumbline::ptx
