// SPDX-License-Identifier: Apache-2.0
// call: which bytes and registers go to the function, and which come back.
#include <algorithm>

#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

bool is_builtin(std::string_view name) { return name == "vprintf" || name == "__assertfail"; }

}  // namespace

/// Where an argument or a result of a call is: a .param variable of this function, a register, or a
/// constant.
Program::Call::Place Translator::call_place(std::uint32_t o, std::uint32_t& index,
                                            const Operand& operand, const Variable& formal,
                                            bool result) {
  Program::Call::Place place;
  place.bytes = static_cast<std::uint32_t>(formal.bytes);
  if (operand.kind == Operand::Kind::variable &&
      function_.variables[operand.index].space == Space::param) {
    if (function_.variables[operand.index].bytes < formal.bytes) bad("a parameter is too small");
    place.local = local_at_[operand.index];
    return place;
  }
  place.in_list = true;
  place.list = index;
  if (formal.type == Type::pred || formal.is_array) lacks();
  if (result)
    define(o, Field::list, destination(operand, formal.type), index++);
  else
    use(o, Field::list, source(operand, formal.type), index++);
  return place;
}

void Translator::call() {
  std::size_t i = 0;
  const Operand* results = nullptr;
  if (operand(0).kind == Operand::Kind::list) results = &operand(i++);
  const Operand& target = operand(i++);
  const Operand* arguments = nullptr;
  if (i < operands() && operand(i).kind == Operand::Kind::list) arguments = &operand(i++);

  const std::vector<Variable>*parameters = nullptr, *returns = nullptr;
  Program::Call record;
  if (target.kind == Operand::Kind::function) {
    const Function& callee = module_.functions[target.index];
    if (callee.entry) bad("a call of a kernel");
    if (!callee.defined) {
      if (!is_builtin(callee.name)) lacks();
      record.builtin = callee.name;
    }
    record.callee = &callee;
    parameters = &callee.parameters;
    returns = &callee.results;
  } else if (target.kind == Operand::Kind::reg) {
    if (i >= operands() || operand(i).kind != Operand::Kind::table) bad("a prototype is missing");
    const Table& table = function_.tables[operand(i).index];
    if (table.targets.empty()) {
      parameters = &table.parameters;
      returns = &table.results;
    } else {
      const Function& first = module_.functions[table.targets.front().index];
      parameters = &first.parameters;
      returns = &first.results;
    }
  } else {
    bad("a function is missing");
  }
  const std::size_t given = arguments ? arguments->count : 0, wanted = results ? results->count : 0;
  if (given != parameters->size() || wanted != returns->size()) bad("a wrong number of arguments");
  const std::uint32_t o = emit(nullptr, Flow::call);
  list(o, given + wanted);
  std::uint32_t index = 0;
  for (std::uint32_t k = 0; k < given; ++k)
    record.arguments.push_back(call_place(o, index, child(*arguments, k), (*parameters)[k], false));
  for (std::uint32_t k = 0; k < wanted; ++k)
    record.results.push_back(call_place(o, index, child(*results, k), (*returns)[k], true));
  if (target.kind == Operand::Kind::reg) use(o, Field::a, source(target, Type::u64));
  program_.calls.push_back(std::move(record));
  at(o).extra = &program_.calls.back();
}

/// brx.idx: a table of labels.
void Translator::branch_table() {
  expect_operands(2, 2);
  if (operand(1).kind != Operand::Kind::table) bad("a list of labels is missing");
  const auto [table, is_new] = branch_table_.emplace(
      operand(1).index, static_cast<std::uint32_t>(program_.branch_tables.size()));
  if (is_new) {
    std::vector<std::uint32_t>& targets = program_.branch_tables.emplace_back();
    for (const Operand& one : function_.tables[operand(1).index].targets) {
      const Operand& label =
          one.kind == Operand::Kind::address ? function_.operands[one.bits] : one;
      if (label.kind != Operand::Kind::label) bad("a label is missing");
      targets.push_back(label.index);
    }
  }
  const Virtual index = source(operand(0), Type::u32);
  const std::uint32_t o = emit(nullptr, Flow::branch_table);
  use(o, Field::a, index);
  at(o).list = table->second;
}

}  // namespace plumbline::ptx
