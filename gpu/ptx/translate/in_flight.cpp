// SPDX-License-Identifier: Apache-2.0
// Which operations may touch registers of a wgmma before its wait, or write them after its fence:
// they alone are watched while the kernel runs. In right kernels there are few.
#include <algorithm>
#include <map>
#include <set>

#include "ptx/execute/wgmma.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

using Touch = Watch::Touch;

/// Of a register at a place: bits 0 to 6: 0, or 1 + the groups committed since the latest wgmma
/// that has it and that may be in flight; bit 7: it may have been written since the last fence.
using State = std::uint8_t;
constexpr State age = 0x7f, written = 0x80;

State joined(State a, State b) {
  const State x = a & age, y = b & age;
  const State youngest = x == 0 || y == 0 ? static_cast<State>(x | y) : std::min(x, y);
  return static_cast<State>(youngest | ((a | b) & written));
}

class Analysis {
 public:
  Analysis(Program& program, const std::vector<Translator::Slot>& slots,
           const std::vector<Translator::Reference>& references)
      : program_(program), slots_(slots), sorted_(references) {
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const auto& a, const auto& b) { return a.operation < b.operation; });
    const std::size_t count = program.operations.size();
    begin_.assign(count + 1, sorted_.size());
    for (std::size_t i = sorted_.size(); i-- > 0;) begin_[sorted_[i].operation] = i;
    for (std::size_t i = count; i-- > 0;) begin_[i] = std::min(begin_[i], begin_[i + 1]);
    Form form;
    form.op = Operator::wgmma;
    multiply_ = select(form);
  }

  void run() {
    find_conflicts();
    find_registers();
    find_states();
    for (const auto& [first, state] : std::map(at_)) follow(first, true);
    watch_writes();
    for (auto& [operation, touches] : touches_) {
      Operation& o = program_.operations[operation];
      if (o.flow != Flow::plain) continue;  // of a call: not watched
      program_.watches.push_back({operation, o.run, {touches.begin(), touches.end()}});
      o.run = watched;
    }
  }

 private:
  /// The registers of an operation, but for its guard.
  struct Used {
    std::vector<Virtual> reads, writes;
    bool guarded = false, moves = false;
    Virtual from = nothing;  ///< of a move: a register, or nothing for a constant
  };

  Used used_by(std::uint32_t i) const {
    Used used;
    for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) {
      const auto& reference = sorted_[k];
      if (reference.field == Field::guard)
        used.guarded = true;
      else
        (reference.defines ? used.writes : used.reads).push_back(reference.reg);
    }
    const auto& instructions = program_.function->instructions;
    used.moves = instructions[program_.instruction_of[i]].opcode == "mov" &&
                 used.writes.size() == 1 && used.reads.size() == 1;
    if (used.moves && !slots_[used.reads[0]].fixed) used.from = used.reads[0];
    return used;
  }

  const WgmmaProduct* product(std::uint32_t i) const {
    const Operation& o = program_.operations[i];
    return o.run == multiply_ ? static_cast<const WgmmaProduct*>(o.extra) : nullptr;
  }

  /// A wgmma may follow another that it shares accumulators with, if their shapes are the same.
  void find_conflicts() {
    enum : std::uint8_t { of_d = 1, of_a = 2 };
    std::vector<std::uint8_t> part(slots_.size(), 0);
    for (WgmmaProduct& one : program_.wgmmas) {
      for (std::uint32_t i = 0; i < one.registers.size(); ++i)
        part[one.registers[i]] = i < one.accumulators ? of_d : of_a;
      for (const WgmmaProduct& before : program_.wgmmas) {
        const bool same = one.how.n == before.how.n && one.how.k == before.how.k;
        bool conflict = false;
        for (std::uint32_t i = 0; i < before.registers.size(); ++i) {
          const std::uint8_t here = part[before.registers[i]];
          conflict |=
              i < before.accumulators ? here == of_a || (here == of_d && !same) : here == of_d;
        }
        one.conflicts.push_back(conflict);
      }
      for (const std::uint32_t reg : one.registers) part[reg] = 0;
    }
  }

  /// Those of wgmma, and those that have been moved to or from them.
  void find_registers() {
    index_.assign(slots_.size(), nothing);
    const auto add = [&](Virtual reg) {
      if (index_[reg] != nothing || slots_[reg].fixed) return false;
      index_[reg] = count_++;
      return true;
    };
    for (const WgmmaProduct& one : program_.wgmmas)
      for (const std::uint32_t reg : one.registers) add(reg);
    std::vector<std::pair<Virtual, Virtual>> moves;
    for (std::uint32_t i = 0; i < program_.operations.size(); ++i) {
      const Used used = used_by(i);
      if (used.moves && used.from != nothing) moves.emplace_back(used.writes[0], used.from);
    }
    for (bool more = true; more;) {
      more = false;
      for (const auto& [to, from] : moves) {
        if (index_[from] != nothing) more |= add(to);
        if (index_[to] != nothing) more |= add(from);
      }
    }
  }

  void find_states() {
    const auto& operations = program_.operations;
    begins_.assign(operations.size() + 1, false);
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (operations[i].flow == Flow::branch) begins_[operations[i].target] = true;
      if (ends(operations[i])) begins_[i + 1] = true;
    }
    for (const auto& table : program_.branch_tables)
      for (const std::uint32_t target : table) begins_[target] = true;
    at_[0].assign(count_, 0);
    work_ = {0};
    while (!work_.empty()) {
      const std::uint32_t first = *work_.begin();
      work_.erase(work_.begin());
      follow(first, false);
    }
  }

  static bool ends(const Operation& o) {
    return o.flow == Flow::branch || o.flow == Flow::branch_table || o.flow == Flow::exit ||
           o.flow == Flow::leave;
  }

  void flow_to(std::uint32_t i, const std::vector<State>& state) {
    auto [place, is_new] = at_.try_emplace(i, state);
    bool changed = is_new;
    for (std::size_t k = 0; k < state.size(); ++k) {
      const State both = joined(place->second[k], state[k]);
      changed |= both != place->second[k];
      place->second[k] = both;
    }
    if (changed) work_.insert(i);
  }

  /// From the begin of a stretch of operations to its end. `note`: the states are final.
  void follow(std::uint32_t first, bool note) {
    std::vector<State> now = at_[first];
    for (std::uint32_t i = first; i < program_.operations.size(); ++i) {
      if (i != first && begins_[i]) return flow_to(i, now);
      const Operation& o = program_.operations[i];
      execute(i, now, note);
      if (!ends(o)) continue;
      if (o.flow == Flow::branch) flow_to(o.target, now);
      if (o.flow == Flow::branch_table)
        for (const std::uint32_t target : program_.branch_tables[o.list]) flow_to(target, now);
      if (used_by(i).guarded && i + 1 < program_.operations.size()) flow_to(i + 1, now);
      return;
    }
  }

  void execute(std::uint32_t i, std::vector<State>& now, bool note) {
    const Operation& o = program_.operations[i];
    if (o.run == wgmma_commit) {
      for (State& s : now)
        if (s & age && (s & age) < age) ++s;
    } else if (o.run == wgmma_wait) {
      for (State& s : now)
        if ((s & age) >= o.immediate + 2) s &= written;
    } else if (o.run == wgmma_fence) {
      for (State& s : now) s &= age;
    } else if (const WgmmaProduct* one = product(i)) {
      auto& unfenced = program_.wgmmas[one->number].unfenced;
      for (const std::uint32_t reg : one->registers) {
        State& s = now[index_[reg]];
        if (note && s & written) {
          unfenced.push_back(reg);
          watched_.insert(reg);
        }
        s = 1;
      }
    } else {
      const Used used = used_by(i);
      if (used.moves)
        move(i, used, now, note);
      else
        compute(i, used, now, note);
    }
  }

  void move(std::uint32_t i, const Used& used, std::vector<State>& now, bool note) {
    const Virtual to = used.writes[0];
    if (index_[to] == nothing) return;
    const State before = now[index_[to]], value = used.from == nothing ? 0 : now[index_[used.from]];
    if (note && (before | value) & age) touches_[i].push_back({to, Touch::Kind::copies, used.from});
    now[index_[to]] = used.guarded ? joined(before, value) : value;
  }

  /// What is touched and found to be allowed is in flight no more.
  void compute(std::uint32_t i, const Used& used, std::vector<State>& now, bool note) {
    for (const Virtual reg : used.reads) {
      if (index_[reg] == nothing || !(now[index_[reg]] & age)) continue;
      if (note) touches_[i].push_back({reg, Touch::Kind::reads, nothing});
      if (!used.guarded) now[index_[reg]] &= written;
    }
    for (const Virtual reg : used.writes) {
      if (index_[reg] == nothing) continue;
      State& s = now[index_[reg]];
      if (note && s & age) touches_[i].push_back({reg, Touch::Kind::writes, nothing});
      s = used.guarded ? joined(s, written) : written;
    }
  }

  /// All that may write a register which a wgmma has without a fence.
  void watch_writes() {
    if (watched_.empty()) return;
    const auto count = static_cast<std::uint32_t>(program_.operations.size());
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t i = 0; i < count; ++i) {
        const Used used = used_by(i);
        if (used.moves && used.from != nothing && watched_.count(used.writes[0]))
          more |= watched_.insert(used.from).second;
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (product(i)) continue;
      const Used used = used_by(i);
      for (const Virtual reg : used.writes) {
        const auto kind = used.moves ? Touch::Kind::copies : Touch::Kind::writes;
        auto& all = touches_[i];
        if (watched_.count(reg) && std::none_of(all.begin(), all.end(), [&](const Touch& one) {
              return one.reg == reg && one.kind == kind;
            }))
          all.push_back({reg, kind, used.from});
        if (all.empty()) touches_.erase(i);
      }
    }
  }

  Program& program_;
  const std::vector<Translator::Slot>& slots_;
  std::vector<Translator::Reference> sorted_;
  std::vector<std::size_t> begin_;  ///< for each operation: of its references
  Run multiply_ = nullptr;
  std::vector<std::uint32_t> index_;  ///< of a register, in a state; or nothing
  std::uint32_t count_ = 0;
  std::vector<bool> begins_;
  std::map<std::uint32_t, std::vector<State>> at_;  ///< where stretches begin
  std::set<std::uint32_t> work_;
  std::map<std::uint32_t, std::vector<Touch>> touches_;  ///< of operations
  std::set<Virtual> watched_;
};

}  // namespace

void watch_registers(Program& program, const std::vector<Translator::Slot>& slots,
                     const std::vector<Translator::Reference>& references) {
  if (!program.wgmmas.empty()) Analysis(program, slots, references).run();
}

}  // namespace plumbline::ptx
