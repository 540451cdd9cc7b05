// SPDX-License-Identifier: Apache-2.0
// Branches, barriers, ends.
#include "ptx/execute/control.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

void Translator::branch() {
  expect_operands(1, 1);
  if (operand(0).kind != Operand::Kind::label) bad("a label is missing");
  const std::uint32_t o = emit(nullptr, Flow::branch);
  at(o).target = operand(0).index;
}

/// bar and barrier: .sync, .arrive, .red; bar.warp.sync is elsewhere.
void Translator::barrier() {
  const bool aligned = now_->opcode == "bar" || has("aligned");
  const bool arrive = has("arrive"), red = has("red");
  if (has("cluster")) lacks();
  const std::size_t first = red ? 1 : 0;
  const std::uint32_t o = emit(nullptr, Flow::barrier);
  std::uint8_t flags = aligned ? barrier_aligned : std::uint8_t{0};
  if (arrive) flags |= barrier_arrive;
  if (red) {
    flags |= has("popc") ? barrier_popc : has("and") ? barrier_and : barrier_or;
    define(o, Field::d, has("popc") ? destination(operand(0), Type::u32) : predicate(operand(0)));
  }
  const std::size_t numbers = operands() - first - (red ? 1 : 0);
  use(o, Field::a, operands() > first ? source(operand(first), Type::u32) : constant(0, 4));
  if (numbers > 1) {
    use(o, Field::b, source(operand(first + 1), Type::u32));
    flags |= barrier_counted;
  }
  if (red) {
    const Operand& p = operand(operands() - 1);
    use(o, Field::c, source_predicate(p));
    at(o).immediate = p.negated ? 0xffffffff : 0;
  }
  at(o).flags = flags;
}

bool Translator::control() {
  const std::string_view name = now_->opcode;
  if (name == "bra") {
    branch();
  } else if (name == "brx") {
    branch_table();
  } else if (name == "call") {
    call();
  } else if (name == "ret") {
    emit(nullptr, function_.entry ? Flow::exit : Flow::leave);
  } else if (name == "exit") {
    emit(nullptr, Flow::exit);
  } else if (name == "trap" || name == "brkpt") {
    emit(trap);
  } else if ((name == "bar" || name == "barrier") && !has("warp")) {
    barrier();
  } else if (name == "nanosleep" || name == "membar" || name == "fence" ||
             name == "griddepcontrol" || name == "pmevent") {
    // Threads see one another's writes in the order of time here.
  } else {
    return false;
  }
  return true;
}

}  // namespace plumbline::ptx
