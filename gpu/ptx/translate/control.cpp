// SPDX-License-Identifier: Apache-2.0
// Branches, barriers, ends.
#include "ptx/execute/control.hpp"
#include "ptx/execute/asynchronous.hpp"
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

void Translator::cluster_barrier() {
  if (!has("arrive") && !has("wait")) lacks();
  expect_operands(0, 0);
  const std::uint32_t o = emit(nullptr, Flow::cluster);
  std::uint8_t flags = has("aligned") ? barrier_aligned : std::uint8_t{0};
  if (has("arrive")) flags |= barrier_arrive;
  if (has("relaxed")) flags |= cluster_relaxed;
  at(o).flags = flags;
}

/// Threads see one another's writes in the order of time here; what is left are the checks.
void Translator::fence() {
  bool async = false;
  for (std::size_t i = 0; i < words(); ++i)
    async |= word(i) == "async" || word(i) == "async::generic";
  // Of fence.proxy.async.global shared memory knows nothing.
  if (has("proxy") && async && !has("global")) emit(proxy_fence);
  const bool wide = has("cluster") || has("gpu") || has("sys") || has("gl");
  if (has("proxy")) return;
  emit(wide && !has("acquire") ? mbarrier_init_fence : memory_fence);
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
  } else if (name == "barrier" && has("cluster")) {
    cluster_barrier();
  } else if ((name == "bar" || name == "barrier") && !has("warp")) {
    barrier();
  } else if (name == "membar" || name == "fence") {
    fence();
  } else if (name == "setmaxnreg") {
    if (operand(0).kind != Operand::Kind::integer || operand(0).bits < 24 ||
        operand(0).bits > 256 || operand(0).bits % 8 != 0)
      bad("a number of registers that is no multiple of 8 from 24 to 256");
  } else if (name == "nanosleep" || name == "griddepcontrol" || name == "pmevent") {
    // A launch has ended before the next one begins.
  } else {
    return false;
  }
  return true;
}

}  // namespace plumbline::ptx
