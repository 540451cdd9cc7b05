// SPDX-License-Identifier: Apache-2.0
// Places for registers. A register's place is free again when no path reads its value any more, so
// that a warp's registers stay in the CPU's caches.
#include <algorithm>

#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

struct Node {                         // a stretch of operations without branches into or out of it
  std::uint32_t first = 0, last = 0;  // of the operations
  std::vector<std::uint32_t> before;  // nodes that lead here
};

/// Nodes that mention a register.
struct Mentions {
  std::vector<std::uint32_t> reads;  ///< before any write
  std::vector<std::uint32_t> writes;
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
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const Operation& o = operations[nodes[n].last];
    const auto leads_to = [&](std::uint32_t operation) {
      nodes[node_of[operation]].before.push_back(n);
    };
    const bool always = o.guard == 0;  // virtual registers: see place_registers
    if (o.flow == Flow::branch) leads_to(o.target);
    if (o.flow == Flow::branch_table)
      std::ranges::for_each(program.branch_tables[o.list], leads_to);
    if ((!ends(o) || !always) && nodes[n].last + 1 < count) leads_to(nodes[n].last + 1);
  }
  return nodes;
}

/// The mentions of each register, by its number. `sorted`: by operation.
std::vector<Mentions> mentions_of(const std::vector<Node>& nodes,
                                  const std::vector<Translator::Reference>& sorted,
                                  const std::vector<std::uint32_t>& number, std::size_t registers,
                                  const std::vector<std::uint8_t>& guarded) {
  std::vector<Mentions> all(registers);
  const auto add = [](std::vector<std::uint32_t>& list, std::uint32_t node) {
    if (list.empty() || list.back() != node) list.push_back(node);
  };
  std::size_t at = 0;
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    while (at < sorted.size() && sorted[at].operation <= nodes[n].last) {
      const std::uint32_t operation = sorted[at].operation;
      std::size_t end = at;
      while (end < sorted.size() && sorted[end].operation == operation) ++end;
      for (const bool defines : {false, true})
        for (std::size_t i = at; i < end; ++i) {
          const std::uint32_t reg = number[sorted[i].reg];
          if (reg == ~0u || sorted[i].defines != defines) continue;
          Mentions& mentions = all[reg];
          const bool written = !mentions.writes.empty() && mentions.writes.back() == n;
          // A guarded write leaves the other lanes as they were.
          if ((!defines || guarded[operation]) && !written) add(mentions.reads, n);
          if (defines && !guarded[operation]) add(mentions.writes, n);
        }
      at = end;
    }
  return all;
}

// Of a warp.
constexpr std::uint64_t most_register_bytes = std::uint64_t{32} * (512 << 10);
constexpr std::uint64_t most_file_bytes = 4 * most_register_bytes;

/// Steps from node to node, of all registers together; and of branch tables' entries.
constexpr std::size_t most_steps = std::size_t{1} << 28, most_entries = 1 << 24;

/// Goes backwards from where registers are read to where they are written.
class Lives {
 public:
  explicit Lives(const Program& program) : program_(program) {
    std::size_t entries = 0;
    for (const Operation& o : program.operations)
      if (o.flow == Flow::branch_table) entries += program.branch_tables[o.list].size();
    too_many_ = entries > most_entries;
    if (!too_many_) nodes_ = nodes_of(program);
    live_in_.resize(nodes_.size(), ~0u);
    live_out_.resize(nodes_.size(), ~0u);
    written_.resize(nodes_.size(), ~0u);
  }
  const std::vector<Node>& nodes() const { return nodes_; }

  /// Adds where the register is alive between its operations. True: when the function begins.
  bool follow(std::uint32_t reg, const Mentions& mentions, Life& life) {
    for (const std::uint32_t n : mentions.writes) written_[n] = reg;
    std::vector<std::uint32_t> open;
    const auto is_read = [&](std::uint32_t n) {
      if (live_in_[n] == reg) return;
      live_in_[n] = reg;
      life.add(nodes_[n].first);
      open.push_back(n);
    };
    std::ranges::for_each(mentions.reads, is_read);
    while (!open.empty() && !too_many_) {
      const Node& node = nodes_[open.back()];
      open.pop_back();
      steps_ += node.before.size() + 1;
      too_many_ = steps_ > most_steps;
      for (const std::uint32_t n : node.before) {
        if (live_out_[n] == reg) continue;
        live_out_[n] = reg;
        life.add(nodes_[n].last);
        if (written_[n] != reg) is_read(n);
      }
    }
    if (too_many_) {  // where it is alive would take too long to find: from begin to end
      life.add(0);
      life.add(static_cast<std::uint32_t>(program_.operations.size() - 1));
    }
    return too_many_ || live_in_[0] == reg;
  }

 private:
  const Program& program_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> live_in_, live_out_, written_;  ///< the last register that was
  std::size_t steps_ = 0;
  bool too_many_ = false;
};

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

  std::vector<Translator::Reference> sorted = references;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.operation < b.operation; });
  Lives finder(program);
  const std::vector<Mentions> mentions =
      mentions_of(finder.nodes(), sorted, number, reg_of.size(), guarded);
  std::vector<Life> lives(reg_of.size());
  for (std::size_t i = 0; i < lives.size(); ++i) lives[i].reg = reg_of[i];
  for (const auto& reference : references)
    if (number[reference.reg] != ~0u) lives[number[reference.reg]].add(reference.operation);
  std::vector<std::uint8_t> live_at_begin(reg_of.size());
  for (std::uint32_t i = 0; i < lives.size(); ++i)
    live_at_begin[i] = finder.follow(i, mentions[i], lives[i]);

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
  std::uint64_t wanted = 4 + std::uint64_t{4} * used[0];
  for (int kind = 1; kind < 4; ++kind) wanted += used[kind] * (std::uint64_t{64} << kind);
  if (wanted > most_register_bytes)
    throw BadPtx(
        program.function->line,
        "more registers at once than the 512 KiB of a thread's local memory have room for");
  wanted += 256 * std::uint64_t{program.constants.size() + program.specials.size()};
  if (wanted > most_file_bytes)
    throw BadPtx(program.function->line, "a function with too many different constants");
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
    if (live_at_begin[number[life.reg]])
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
