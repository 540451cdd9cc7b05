// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/faults.hpp"

#include <algorithm>
#include <cstdio>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/control.hpp"
#include "ptx/execute/mbarrier.hpp"
#include "ptx/execute/poll.hpp"
#include "ptx/execute/state.hpp"
#include "ptx/execute/wgmma.hpp"
#include "ptx/read/place.hpp"

namespace plumbline::ptx {
namespace {

std::string bytes_of(std::uint32_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

const Instruction* instruction_of(const Program& program, std::size_t operation) {
  if (program.function->instructions.empty()) return nullptr;
  return &program.function->instructions[program.instruction_of[operation]];
}

Extent thread_of(const Block& block, std::uint32_t thread) {
  return {thread % block.size.x, thread / block.size.x % block.size.y,
          thread / block.size.x / block.size.y};
}

bool waits_for_mbarrier(const Operation& o) { return o.run == mbarrier_test; }

std::string name_of(const Warp& warp, std::uint32_t lane) {
  const Extent at = thread_of(*warp.block, 32 * warp.index + lane);
  return "thread (" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " +
         std::to_string(at.z) + ")";
}

}  // namespace

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string line_of(const Program& program, std::uint32_t operation) {
  if (operation >= program.operations.size()) return "elsewhere";
  const Instruction* instruction = instruction_of(program, operation);
  if (!instruction) return "elsewhere";
  std::string source = source_of(*program.module, *program.function, *instruction);
  source += called_at(callers_of(*program.module, *program.function, *instruction));
  return "PTX line " + std::to_string(instruction->line) +
         (source.empty() ? "" : " (" + source + ")");
}
std::string line_of(const Program& program, const Operation& operation) {
  return line_of(program, static_cast<std::uint32_t>(&operation - program.operations.data()));
}

void fault(Warp& warp, const Operation& operation, std::uint32_t lane, Fault::Kind kind,
           const std::string& text, std::optional<Address> address) {
  Fault::Where where;
  where.address = address;
  const Block& block = *warp.block;
  where.kernel = block.runner->launch.kernel->entry->function->name;
  where.block = block.index;
  where.thread = thread_of(block, 32 * warp.index + lane);
  const auto index = static_cast<std::size_t>(&operation - warp.operations);
  if (const Instruction* instruction = instruction_of(*warp.program, index)) {
    where.instruction = on_one_line(instruction->text);
    where.ptx_line = instruction->line;
    where.source = source_of(*warp.program->module, *warp.program->function, *instruction);
    where.inlined_at = callers_of(*warp.program->module, *warp.program->function, *instruction);
  }
  throw Fault(kind, std::move(where), text);
}

void fault_global(Warp& warp, const Operation& operation, std::uint32_t lane, Address address,
                  std::uint32_t bytes, bool writes) {
  const Allocations& memory = *warp.block->memory;
  const Allocation* a = memory.find(address);
  const std::string what = name_of(warp, lane) + (writes ? " writes " : " reads ") +
                           bytes_of(bytes) + " at " + hexadecimal(address);
  if (a && address + bytes <= a->end && writes && !a->writable)
    fault(warp, operation, lane, Fault::Kind::read_only, what + ", which is read-only memory",
          address);
  bool freed = false;
  const std::string near = memory.describe(address, bytes, freed);
  fault(warp, operation, lane, freed ? Fault::Kind::freed_memory : Fault::Kind::out_of_bounds,
        what + ": " + near, address);
}

void fault_window(Warp& warp, const Operation& operation, std::uint32_t lane, const char* space,
                  Address address, std::uint32_t bytes, std::uint32_t size) {
  const std::uint64_t begin = std::string_view(space) == "shared" ? shared_begin : 0;
  fault(warp, operation, lane, Fault::Kind::out_of_bounds,
        name_of(warp, lane) + " accesses " + bytes_of(bytes) + " at byte " +
            std::to_string(static_cast<std::int64_t>(address - begin)) + " of " + space +
            " memory, of which it has " + bytes_of(size));
}

void fault_misaligned(Warp& warp, const Operation& operation, std::uint32_t lane, Address address,
                      std::uint32_t bytes) {
  fault(warp, operation, lane, Fault::Kind::misaligned,
        name_of(warp, lane) + " accesses " + bytes_of(bytes) + " at " + hexadecimal(address) +
            ", which is no multiple of " + std::to_string(bytes),
        address);
}

void fault_uninitialised(Warp& warp, const Operation& operation, std::uint32_t lane,
                         Address address, std::uint32_t bytes) {
  const Allocation* a = warp.block->memory->find(address);
  std::string where;
  if (a)
    where = ", byte " + std::to_string(address - a->begin) + " of " +
            (a->name.empty() ? "an allocation" : a->name) + " of " +
            std::to_string(a->end - a->begin);
  fault(warp, operation, lane, Fault::Kind::uninitialised_global,
        name_of(warp, lane) + " reads " + bytes_of(bytes) + " at " + hexadecimal(address) + where +
            ", which nothing has written",
        address);
}

void fault_shared(Warp& warp, const Operation& operation, std::uint32_t lane, std::uint32_t granule,
                  bool writes, const Block* block) {
  const Block& own = *warp.block;
  const bool remote = block && block != &own;
  const SharedMemory& s = remote ? block->shared : own.shared;
  // Which of the granules is it? Those before it are as they may be.
  const auto allowed_stamp = [&](std::uint32_t stamp) {
    return in_order(warp, s, remote ? of_cluster | own.rank : warp.index, stamp);
  };
  std::uint32_t at = granule;
  const std::uint32_t end = (s.size >> s.granule) + 1;
  const auto allowed = [&](std::uint32_t j) {
    return allowed_stamp(s.written[j]) &&
           (writes ? reads_in_order(warp, s, remote ? of_cluster | own.rank : warp.index, j)
                   : s.written[j] >= s.begin);
  };
  while (at + 1 < end && allowed(at)) ++at;
  const std::uint32_t by = s.written[at];
  const std::string byte =
      "byte " + std::to_string(at << s.granule) + " of " +
      (remote ? "the shared memory of block " + std::to_string(block->rank) + " of its cluster"
              : "shared memory");
  const std::string me = name_of(warp, lane) + " (warp " + std::to_string(warp.index) + ")";
  if (!writes && by < s.begin)
    fault(warp, operation, lane, Fault::Kind::uninitialised_shared,
          me + " reads " + byte + ", which nothing has written");
  const auto transfer_of = [&](std::uint32_t stamp) {
    return "of the mbarrier at byte " +
           std::to_string(own.cluster->transfers.mbarrier(stamp - transferred)) +
           ": it has not waited for its phase (mbarrier.try_wait)";
  };
  if (by == of_mbarrier)
    fault(warp, operation, lane, Fault::Kind::race,
          me + (writes ? " writes " : " reads ") + byte +
              ", where an mbarrier lies: only mbarrier instructions may, until mbarrier.inval");
  if (by - transferred < transfers_at_once && !warp.known.has(by - transferred))
    fault(warp, operation, lane, Fault::Kind::copy_in_flight,
          me + (writes ? " writes " : " reads ") + byte +
              ", to which an asynchronous copy is under way, " + transfer_of(by));
  if (by >= in_flight && by < transferred)
    fault(warp, operation, lane, Fault::Kind::copy_in_flight,
          me + (writes ? " writes " : " reads ") + byte + ", to which a copy of warp " +
              std::to_string(by & 0x7f) +
              " is under way: it has not waited for it (cp.async.wait_group)");
  if (const auto& groups = (remote ? *block : own).warpgroups;
      writes && groups && s.read[at] - in_flight < 32)
    if (const std::string reader = groups->reader_of(s, at << s.granule); !reader.empty())
      fault(warp, operation, lane, Fault::Kind::race,
            me + " writes " + byte + ", which the wgmma.mma_async at " + reader +
                " reads: its warpgroup has not waited for it (wgmma.wait_group)");
  const std::string since = "; no barrier is between them";
  if (!writes || (by < in_flight && !allowed_stamp(by)))
    fault(warp, operation, lane, Fault::Kind::race,
          me + (writes ? " writes " : " reads ") + byte + ", which " +
              (by & of_cluster ? "block " + std::to_string(by & 0x1f) + " of the cluster"
                               : "warp " + std::to_string(by & 0x7f)) +
              " wrote at " + line_of(*warp.program, s.written_by[at] & operation_bits) + since);
  const std::uint32_t read = s.read[at];
  if (read - transferred < transfers_at_once && !warp.known.has(read - transferred))
    fault(
        warp, operation, lane, Fault::Kind::copy_in_flight,
        me + " writes " + byte + ", which an asynchronous copy still reads, " + transfer_of(read));
  if (read >= in_flight && read < transferred)
    fault(warp, operation, lane, Fault::Kind::copy_in_flight,
          me + " writes " + byte + ", which a bulk store of warp " + std::to_string(read & 0x1f) +
              " still reads: it has not waited for it (cp.async.bulk.wait_group.read)");
  fault(warp, operation, lane, Fault::Kind::race,
        me + " writes " + byte + " or one next to it, which another warp has read or written" +
            since);
}

void fault_proxy(Warp& warp, const Operation& operation, std::uint32_t lane,
                 std::uint32_t granule) {
  const SharedMemory& s = warp.block->shared;
  fault(warp, operation, lane, Fault::Kind::proxy_fence,
        name_of(warp, lane) + " (warp " + std::to_string(warp.index) +
            ") has the asynchronous proxy read byte " + std::to_string(granule << s.granule) +
            " of shared memory, which warp " + std::to_string(s.written[granule] & 0x1f) +
            " wrote at " + line_of(*warp.program, s.written_by[granule] & operation_bits) +
            "; no fence.proxy.async is between them");
}

void fault_lanes(Warp& warp, const Operation& operation, std::uint32_t lane,
                 std::uint32_t granule) {
  const SharedMemory& s = warp.block->shared;
  const auto writer =
      static_cast<std::uint32_t>(__builtin_ctz(static_cast<std::uint32_t>(s.lanes[granule])));
  fault(warp, operation, lane, Fault::Kind::race,
        name_of(warp, lane) + " reads byte " + std::to_string(granule << s.granule) +
            " of shared memory, which " + name_of(warp, writer) + " of the same warp wrote at " +
            line_of(*warp.program, s.written_by[granule] & operation_bits) +
            "; no __syncwarp (bar.warp.sync) is between them");
}

void fault_in_flight(Warp& warp, const Operation& operation, std::uint32_t lane) {
  fault(warp, operation, lane, Fault::Kind::bad_instruction,
        "warp " + std::to_string(warp.index) + " has " + std::to_string(most_in_flight) +
            " asynchronous operations in flight, and waits for none of them");
}

void fault_two_values(Warp& warp, const Operation& operation, std::uint32_t lane, Address address,
                      bool shared) {
  fault(warp, operation, lane, Fault::Kind::race,
        name_of(warp, lane) + " and another thread of its warp write different values to " +
            (shared ? "byte " + std::to_string(address - shared_begin) + " of shared memory"
                    : hexadecimal(address)) +
            " in one instruction",
        address);
}

Outcome trap(Warp& warp, const Operation& operation) {
  fault(
      warp, operation, static_cast<std::uint32_t>(__builtin_ctz(warp.mask)), Fault::Kind::trap,
      name_of(warp, static_cast<std::uint32_t>(__builtin_ctz(warp.mask))) + " stopped the kernel");
}

Outcome polled(Warp& warp, const Operation& operation, std::uint64_t seen, bool tells) {
  if (tells) saw_others(warp);
  constexpr std::uint32_t patience = 64;
  const auto index = static_cast<std::uint32_t>(&operation - warp.operations);
  for (Warp::Seen& one : warp.seen)
    if (one.operation == index) {
      if (one.value != seen) {
        one.value = seen;
        warp.polls = 0;
        // Whoever wrote that may have waited for copies.
        if (warp.block->shared.special)
          for (const auto& [at, barrier] : warp.block->mbarriers->all) warp.known.add(barrier.done);
        return Outcome::next;
      }
      if (++warp.polls < patience) return Outcome::next;
      warp.polls = 0;
      return Outcome::spin;
    }
  warp.seen[warp.next_seen++ % 4] = {index, seen};
  return Outcome::next;
}

void Runner::check_time(WarpState& warp) {
  if (!launch.out_of_time()) return;
  const Frame& frame = warp.frames.back();
  warp.program = frame.program;
  warp.operations = frame.program->operations.data();
  const Fragment& fragment = frame.fragments[0];
  const std::uint32_t pc = fragment.pc - (fragment.state == Fragment::State::blocked ? 1 : 0);
  fault(warp, frame.program->operations[pc],
        static_cast<std::uint32_t>(__builtin_ctz(fragment.mask)), Fault::Kind::timeout,
        launch.not_ended());
}

/// All lanes that could come have come elsewhere.
void Runner::stuck(WarpState& warp) {
  Frame& frame = warp.frames.back();
  warp.program = frame.program;
  warp.operations = frame.program->operations.data();
  const Fragment* first = &frame.fragments[0];
  for (const Fragment& one : frame.fragments)
    if (one.pc < first->pc) first = &one;
  const Operation& o = frame.program->operations[first->pc];
  const auto lane = static_cast<std::uint32_t>(__builtin_ctz(first->mask));
  const std::string only = "only lanes " + hexadecimal(first->mask) + " of warp " +
                           std::to_string(warp.index) + " reach this ";
  const std::string of_live = first->mask == warp.live ? std::string("others, which have ended")
                                                       : "others of " + hexadecimal(warp.live);
  if (o.flow == Flow::barrier)
    fault(warp, o, lane, Fault::Kind::divergent, only + "barrier, which needs " + of_live);
  fault(warp, o, lane, o.flags & 0x80 ? Fault::Kind::absent_lane : Fault::Kind::divergent,
        only + "instruction, which needs " + of_live);
}

void Runner::endless() {
  for (auto& one : warps) {
    WarpState& warp = *one;
    if (!warp.spins || warp.done) continue;
    const Frame& frame = warp.frames.back();
    warp.program = frame.program;
    warp.operations = frame.program->operations.data();
    const Fragment& fragment = frame.fragments[0];
    if (frame.program->operations[fragment.pc].run == wgmma_wait) {
      const std::uint32_t first = warp.index / 4 * 4;
      if (std::all_of(warps.begin() + first, warps.begin() + first + 4,
                      [&](const auto& other) { return other->done || other->spins; }))
        block.warpgroups->end(warp);
      fault(warp, frame.program->operations[fragment.pc], 0, Fault::Kind::divergent,
            "warp " + std::to_string(warp.index) +
                " waits for a wgmma that other warps of its warpgroup have not executed");
    }
    const std::uint32_t pc = fragment.pc > 0 ? fragment.pc - 1 : 0;
    const Operation& o = frame.program->operations[pc];
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(fragment.mask));
    warp.registers = frame.registers;
    warp.lists = frame.program->lists.data();
    fault(warp, o, lane, Fault::Kind::deadlock,
          waits_for_mbarrier(o)
              ? "warp " + std::to_string(warp.index) + " " + mbarrier_state(warp, o, lane) +
                    "; nobody who has not ended will bring them"
              : "all blocks that run wait for a value that nobody writes");
  }
}

void Runner::check_left(WarpState& warp) {
  if (warp.bulk_reads.empty()) return;
  const BulkRead& read = warp.bulk_reads.front();
  warp.program = read.program;
  warp.operations = read.program->operations.data();
  fault(warp, *read.operation, read.lane, Fault::Kind::copy_in_flight,
        name_of(warp, read.lane) +
            " has left the kernel without waiting for this copy, which still reads shared memory "
            "(cp.async.bulk.wait_group.read)");
}

void Runner::deadlock() {
  for (auto& one : warps) {
    WarpState& warp = *one;
    if (warp.done) continue;
    Frame& frame = warp.frames.back();
    warp.program = frame.program;
    warp.operations = frame.program->operations.data();
    for (const Fragment& fragment : frame.fragments) {
      if (fragment.state != Fragment::State::blocked) continue;
      if (fragment.barrier == cluster_barrier)
        fault(warp, frame.program->operations[fragment.pc - 1],
              static_cast<std::uint32_t>(__builtin_ctz(fragment.mask)), Fault::Kind::barrier,
              "warp " + std::to_string(warp.index) +
                  " waits at the barrier of its cluster, to which these do not come: " +
                  block.cluster->missing());
      const Barrier& barrier = barriers[fragment.barrier];
      std::string missing;
      for (const auto& other : warps)
        if ((barrier.lanes[other->index] & other->live) != other->live || other->done)
          missing += (missing.empty() ? "" : ", ") + std::to_string(other->index) +
                     (other->done ? " (has left the kernel)" : "");
      fault(warp, frame.program->operations[fragment.pc - 1],
            static_cast<std::uint32_t>(__builtin_ctz(fragment.mask)), Fault::Kind::barrier,
            "warp " + std::to_string(warp.index) + " waits at barrier " +
                std::to_string(fragment.barrier) +
                ", to which these warps do not come: " + missing);
    }
  }
  throw std::logic_error("a block without progress");
}

}  // namespace plumbline::ptx
