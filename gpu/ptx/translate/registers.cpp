// SPDX-License-Identifier: Apache-2.0
// Places for registers. A register's place is free again when no path reads its value any more, so
// that a warp's registers stay in the CPU's caches.
#include <algorithm>
#include <bit>

#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

using Bits = std::vector<std::uint64_t>;

struct Node {                         // a stretch of operations without branches into or out of it
  std::uint32_t first = 0, last = 0;  // of the operations
  std::vector<std::uint32_t> next;
  Bits reads, writes, live_in, live_out;  // reads: before any write
};

/// A register's life: from its first operation to its last, with all between.
struct Life {
  std::uint32_t first = ~0u, last = 0;
  Virtual reg = nothing;
  void add(std::uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

bool ends(const Operation& o) {
  return o.flow == Flow::branch || o.flow == Flow::branch_table || o.flow == Flow::exit ||
         o.flow == Flow::leave;
}

std::vector<Node> nodes_of(const Program& program) {
  const auto& operations = program.operations;
  const auto count = static_cast<std::uint32_t>(operations.size());
  std::vector<std::uint8_t> begins(count + 1, 0);
  begins[0] = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (operations[i].flow == Flow::branch) begins[operations[i].target] = 1;
    if (ends(operations[i])) begins[i + 1] = 1;
  }
  for (const auto& table : program.branch_tables)
    for (const std::uint32_t target : table) begins[target] = 1;
  std::vector<std::uint32_t> node_of(count + 1, 0);
  std::vector<Node> nodes;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (begins[i]) {
      nodes.emplace_back();
      nodes.back().first = i;
    }
    nodes.back().last = i;
    node_of[i] = static_cast<std::uint32_t>(nodes.size() - 1);
  }
  for (Node& node : nodes) {
    const Operation& o = operations[node.last];
    const bool always = o.guard == 0;  // virtual registers: see place_registers
    if (o.flow == Flow::branch) node.next.push_back(node_of[o.target]);
    if (o.flow == Flow::branch_table)
      for (const std::uint32_t target : program.branch_tables[o.list])
        node.next.push_back(node_of[target]);
    if ((!ends(o) || !always) && node.last + 1 < count) node.next.push_back(node_of[node.last + 1]);
  }
  return nodes;
}

bool test(const Bits& bits, std::uint32_t i) { return bits[i / 64] >> i % 64 & 1; }
void put(Bits& bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }

}  // namespace

void place_registers(Program& program, std::vector<Translator::Slot>& slots,
                     const std::vector<Translator::Reference>& references) {
  // Guards of 0 mean none; registers that nothing refers to have no number here.
  std::vector<std::uint32_t> number(slots.size(), ~0u);
  std::vector<Virtual> reg_of;
  std::vector<std::uint8_t> guarded(program.operations.size(), 0);
  for (const auto& reference : references) {
    if (reference.field == Field::guard) guarded[reference.operation] = 1;
    if (slots[reference.reg].fixed || number[reference.reg] != ~0u) continue;
    number[reference.reg] = static_cast<std::uint32_t>(reg_of.size());
    reg_of.push_back(reference.reg);
  }
  for (std::size_t i = 0; i < guarded.size(); ++i) program.operations[i].guard = guarded[i];
  std::vector<Node> nodes = nodes_of(program);

  std::vector<Translator::Reference> sorted = references;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.operation < b.operation; });
  const std::size_t words = (reg_of.size() + 63) / 64;
  std::size_t at = 0;
  std::vector<std::uint32_t> node_at(program.operations.size());
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    Node& node = nodes[n];
    node.reads.assign(words, 0);
    node.writes.assign(words, 0);
    node.live_in.assign(words, 0);
    node.live_out.assign(words, 0);
    while (at < sorted.size() && sorted[at].operation <= node.last) {
      const std::uint32_t operation = sorted[at].operation;
      std::size_t end = at;
      while (end < sorted.size() && sorted[end].operation == operation) ++end;
      for (std::size_t i = at; i < end; ++i) {
        const std::uint32_t reg = number[sorted[i].reg];
        if (reg == ~0u) continue;
        // A guarded write leaves the other lanes as they were.
        if (!sorted[i].defines && !test(node.writes, reg)) put(node.reads, reg);
      }
      for (std::size_t i = at; i < end; ++i) {
        const std::uint32_t reg = number[sorted[i].reg];
        if (reg == ~0u || !sorted[i].defines) continue;
        if (guarded[operation]) {
          if (!test(node.writes, reg)) put(node.reads, reg);
        } else {
          put(node.writes, reg);
        }
      }
      at = end;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = nodes.size(); n-- > 0;) {
      Node& node = nodes[n];
      for (const std::uint32_t next : node.next)
        for (std::size_t k = 0; k < words; ++k) node.live_out[k] |= nodes[next].live_in[k];
      for (std::size_t k = 0; k < words; ++k) {
        const std::uint64_t in = node.reads[k] | (node.live_out[k] & ~node.writes[k]);
        if (in != node.live_in[k]) {
          node.live_in[k] = in;
          changed = true;
        }
      }
    }
  }

  std::vector<Life> lives(reg_of.size());
  for (std::size_t i = 0; i < lives.size(); ++i) lives[i].reg = reg_of[i];
  for (const auto& reference : references)
    if (number[reference.reg] != ~0u) lives[number[reference.reg]].add(reference.operation);
  for (const Node& node : nodes)
    for (std::size_t k = 0; k < words; ++k) {
      for (std::uint64_t bits = node.live_in[k]; bits; bits &= bits - 1)
        lives[64 * k + static_cast<unsigned>(std::countr_zero(bits))].add(node.first);
      for (std::uint64_t bits = node.live_out[k]; bits; bits &= bits - 1)
        lives[64 * k + static_cast<unsigned>(std::countr_zero(bits))].add(node.last);
    }
  const Node* entry = nodes.empty() ? nullptr : &nodes.front();

  // Places by size: predicates of 4 bytes, registers of 32 lanes of 4, 8 and 16 bytes. A result
  // never has the place of an operand that dies: lives touch one another without sharing.
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return a.first != b.first ? a.first < b.first : a.reg < b.reg;
  });
  std::vector<Life> active;
  const auto later = [](const Life& a, const Life& b) { return a.last > b.last; };
  std::vector<std::uint32_t> free[4];
  std::uint32_t used[4] = {0, 0, 0, 0};
  const auto kind_of = [&](Virtual reg) {
    const unsigned bytes = slots[reg].bytes;
    return bytes == 0 ? 0 : bytes == 4 ? 1 : bytes == 8 ? 2 : 3;
  };
  std::uint32_t live = 0;
  for (const Life& life : lives) {
    while (!active.empty() && active.front().last < life.first) {
      const Virtual reg = active.front().reg;
      free[kind_of(reg)].push_back(slots[reg].offset);
      live -= slots[reg].bytes / 4;
      std::pop_heap(active.begin(), active.end(), later);
      active.pop_back();
    }
    const int kind = kind_of(life.reg);
    if (free[kind].empty()) {
      slots[life.reg].offset = used[kind]++;
    } else {
      slots[life.reg].offset = free[kind].back();
      free[kind].pop_back();
    }
    live += slots[life.reg].bytes / 4;
    program.registers = std::max(program.registers, live);
    active.push_back(life);
    std::push_heap(active.begin(), active.end(), later);
  }

  // The file: the predicate that is always true, predicates, then lanes of 4, 8 and 16 bytes.
  std::uint32_t begin[4], end = 4;
  begin[0] = end;
  end = (end + 4 * used[0] + 63) / 64 * 64;
  for (int kind = 1; kind < 4; ++kind) {
    begin[kind] = end;
    end += used[kind] * 64u * (1u << kind);
  }
  for (const Life& life : lives) {
    const int kind = kind_of(life.reg);
    std::uint32_t& offset = slots[life.reg].offset;
    offset = begin[kind] + offset * (kind == 0 ? 4u : 64u * (1u << kind));
    if (entry && test(entry->live_in, number[life.reg]))
      program.cleared.push_back(offset), program.cleared.push_back(kind == 0 ? 4u : 64u << kind);
  }
  const auto fixed = [&](Virtual reg) {
    if (slots[reg].offset == ~0u) {
      slots[reg].offset = end;
      end += slots[reg].bytes == 0 ? 64 : 32u * slots[reg].bytes;
    }
    return slots[reg].offset;
  };
  for (Program::Constant& constant : program.constants) constant.offset = fixed(constant.offset);
  for (Program::SpecialSlot& special : program.specials) special.offset = fixed(special.offset);
  program.bytes = (end + 63) / 64 * 64;
  for (const auto& reference : references) {
    Operation& o = program.operations[reference.operation];
    const std::uint32_t offset = slots[reference.reg].offset;
    switch (reference.field) {
      case Field::d:
        o.d = offset;
        break;
      case Field::a:
        o.a = offset;
        break;
      case Field::b:
        o.b = offset;
        break;
      case Field::c:
        o.c = offset;
        break;
      case Field::target:
        o.target = offset;
        break;
      case Field::guard:
        o.guard = offset;
        break;
      case Field::list:
        program.lists[o.list + reference.index] = offset;
        break;
    }
  }
}

}  // namespace plumbline::ptx
