// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/wgmma.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "ptx/execute/faults.hpp"
#include "ptx/profile/probe.hpp"
#include "ptx/translate/program.hpp"

namespace plumbline::ptx {
namespace {

Warpgroups& warpgroups(Warp& w) {
  if (!w.block->warpgroups) w.block->warpgroups = std::make_shared<Warpgroups>();
  return *w.block->warpgroups;
}

bool overlap(const Tile& a, const Tile& b) {
  return a.rows && b.rows && a.low < b.high && b.low < a.high;
}

/// Calls f(first granule, how many) for the pieces of 16 bytes that a tile has.
template <class F>
void for_granules(const SharedMemory& shared, const Tile& tile, F f) {
  for (std::uint32_t i = 0; i < 2 * tile.rows; ++i) {
    const std::uint32_t eights = tile.rows / 8;
    const std::uint32_t at =
        tile.k_major ? tile.descriptor.address(tile.first + i / 2, i % 2 * 16, 1, true)
                     : tile.descriptor.address(tile.first + i % eights * 8, i / eights, 2, false);
    f((at - shared_begin) >> shared.granule, 16u >> shared.granule);
  }
}

/// The descriptor in a register, which must be the same in all lanes.
std::uint64_t descriptor_of(Warp& w, const Operation& o, std::uint32_t offset, const char* name) {
  const auto* all = reinterpret_cast<const std::uint64_t*>(w.registers + offset);
  for (std::uint32_t i = 1; i < 32; ++i)
    if (all[i] != all[0])
      fault(w, o, i, Fault::Kind::bad_instruction,
            "the descriptor of " + std::string(name) + " is " + hexadecimal(all[0]) +
                " in lane 0 and " + hexadecimal(all[i]) + " in lane " + std::to_string(i));
  return all[0];
}

Tile tile_of(Warp& w, const Operation& o, std::uint64_t bits, std::uint32_t first,
             std::uint32_t rows, bool k_major) {
  const auto d = arithmetic::Descriptor::decode(bits);
  // The pattern has eight rows of `swizzle` bytes; the tile may begin within the first.
  if (d.base_offset == 0 && d.swizzle > 16 && d.start & (7 * d.swizzle))
    fault(w, o, 0, Fault::Kind::misaligned,
          "the descriptor " + hexadecimal(bits) + " begins at " + hexadecimal(d.start) +
              ": with a swizzle of " + std::to_string(d.swizzle) +
              " bytes and a base offset of 0 the pattern begins at multiples of " +
              std::to_string(8 * d.swizzle));
  return {d, bits, first, rows, k_major};
}

}  // namespace

Warpgroups::Group& Warpgroups::group_of(const Warp& w) {
  const std::uint32_t group = w.index / 4;
  while (groups_.size() <= group) groups_.emplace_back();
  return groups_[group];
}

Warpgroups::Step& Warpgroups::arrive(Warp& w, const Operation& o) {
  Group& group = group_of(w);
  const std::uint32_t first = w.index / 4 * 4;
  const Extent& size = w.block->size;
  const std::uint32_t warps = (size.x * size.y * size.z + 31) / 32;
  if (first + 4 > warps)
    fault(w, o, 0, Fault::Kind::divergent,
          "warp " + std::to_string(w.index) +
              " is in no warpgroup: it takes four warps, the first a multiple of 4, and the block "
              "has " +
              std::to_string(warps));
  Member& member = group.members[w.index % 4];
  const std::uint64_t number = member.steps++ - group.begin;
  if (number == group.steps.size()) {
    if (number >= most_in_flight) fault_in_flight(w, o, 0);
    Step step;
    step.operation = &o;
    step.program = w.program;
    step.first = w.index;
    group.steps.push_back(std::move(step));
  }
  Step& step = group.steps[number];
  if (step.operation != &o)
    fault(w, o, 0, Fault::Kind::divergent,
          "warp " + std::to_string(w.index) + " executes this where warp " +
              std::to_string(step.first) + " of its warpgroup has executed " +
              line_of(*step.program, *step.operation) +
              ": the four warps must execute the same wgmma instructions");
  step.warps |= 1u << w.index % 4;
  return step;
}

void Warpgroups::drop(Warp& w) {
  Group& group = group_of(w);
  while (!group.steps.empty() && group.steps.front().warps == 15) {
    if (!group.steps.front().columns.empty())
      group.spare.push_back(std::move(group.steps.front().columns));
    group.steps.pop_front();
    ++group.begin;
  }
}

float* Warpgroups::place_for(Warp& w, Step& step, std::size_t floats) {
  constexpr std::size_t most = 64;  // of B kept
  Group& group = group_of(w);
  if (step.first != w.index || group.steps.size() > most) {
    scratch_.resize(floats);
    return scratch_.data();
  }
  if (!group.spare.empty()) {
    step.columns = std::move(group.spare.back());
    group.spare.pop_back();
  }
  step.columns.resize(floats);
  return step.columns.data();
}

void Warpgroups::issue(Warp& w, const Operation& o, const WgmmaTurn& turn) {
  Member& member = this->member(w);
  const auto* product = static_cast<const WgmmaProduct*>(o.extra);
  // What has been a copy of another's accumulator is this one's.
  std::erase_if(member.copies, [&](const Copy& copy) {
    return copy.flight.program == w.program && product->accumulates(copy.reg);
  });
  if (member.flights.size() >= most_in_flight) fault_in_flight(w, o, 0);
  member.flights.push_back(
      {product, &o, w.program, member.committed, member.steps - 1, turn.a, turn.b});
}

void Warpgroups::unmark(Group& of, SharedMemory& shared, const Tile& tile, std::uint32_t who,
                        std::uint32_t reading) const {
  shared.special = true;  // who is not only a warp
  of.last_reading.resize((shared.size >> 4) + 1);
  for_granules(shared, tile, [&](std::uint32_t g, std::uint32_t n) {
    of.last_reading[(g << shared.granule) >> 4] = reading + 1;
    for (std::uint32_t j = g; j < g + n; ++j)
      if (shared.read[j] - in_flight < 32) shared.read[j] = shared.epoch << 8 | who;
  });
  // What others read is marked once more.
  for (const Group& group : groups_)
    for (const Member& member : group.members)
      for (const Flight& flight : member.flights)
        for (const Tile* other : {&flight.a, &flight.b})
          if (overlap(*other, tile))
            for_granules(shared, *other, [&](std::uint32_t g, std::uint32_t n) {
              for (std::uint32_t j = g; j < g + n; ++j) shared.read[j] = in_flight;
            });
}

bool Warpgroups::have_come(Warp& w, std::int64_t left) {
  Group& group = group_of(w);
  const Member& member = group.members[w.index % 4];
  return std::all_of(member.flights.begin(), member.flights.end(), [&](const Flight& flight) {
    return std::int64_t{flight.group} >= std::int64_t{member.committed} - left ||
           std::all_of(std::begin(group.members), std::end(group.members),
                       [&](const Member& other) { return other.steps > flight.step; });
  });
}

void Warpgroups::wait(Warp& w, std::int64_t left) {
  Group& group = group_of(w);
  Member& member = group.members[w.index % 4];
  const std::int64_t done = std::int64_t{member.committed} - left;
  const auto due = [&](const auto& one) { return std::int64_t{one.group} < done; };
  std::vector<Flight> ended;
  const auto rest = std::stable_partition(member.flights.begin(), member.flights.end(), due);
  ended.assign(member.flights.begin(), rest);
  member.flights.erase(member.flights.begin(), rest);
  std::erase_if(member.copies, due);
  if (!w.block->check) return;
  // The product of all four warps is complete, so one of them may say for all that it is read.
  const std::uint32_t first = w.index / 4 * 4;
  for (Flight& flight : ended) {
    const std::uint64_t step = flight.step;
    const auto [at, begins] =
        group.of_step.try_emplace(step, static_cast<std::uint32_t>(group.readings.size()));
    if (begins) group.readings.emplace_back();
    const std::uint32_t reading = at->second;
    auto& waited = group.readings[reading].waited;
    waited[w.index % 4] = w.block->shared.epoch;
    if (std::all_of(std::begin(waited), std::end(waited), [](std::uint32_t e) { return e != 0; }))
      group.of_step.erase(at);
    const Tile b = std::exchange(flight.b, {});
    std::pair<Tile, std::uint32_t> a[4] = {{std::exchange(flight.a, {}), w.index}};
    std::size_t count = 1;
    for (std::uint32_t k = 0; k < 4; ++k)
      for (Flight& one : group.members[k].flights)
        if (one.step == step) {
          a[count++] = {std::exchange(one.a, {}), first + k};
          one.b = {};
        }
    unmark(group, w.block->shared, b, several, reading);
    for (std::size_t i = 0; i < count; ++i)
      unmark(group, w.block->shared, a[i].first, as_a | a[i].second, reading);
  }
}

bool Warpgroups::reads_are_known(const Warp& w, const SharedMemory& shared,
                                 std::uint32_t granule) const {
  const std::uint32_t piece = (granule << shared.granule) >> 4;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (piece >= group.last_reading.size() || group.last_reading[piece] == 0) continue;
    const auto& waited = group.readings[group.last_reading[piece] - 1].waited;
    bool known = false;
    for (std::uint32_t k = 0; k < 4; ++k)
      known |= waited[k] != 0 && (4 * g + k == w.index || waited[k] < shared.floor ||
                                  waited[k] < w.known.after[4 * g + k]);
    if (!known) return false;
  }
  return true;
}

void Warpgroups::forget_readings() {
  for (Group& group : groups_) std::fill(group.last_reading.begin(), group.last_reading.end(), 0);
}

std::string Warpgroups::reader_of(const SharedMemory& shared, std::uint32_t byte) const {
  const auto reads = [&](const Tile& tile) {
    bool any = false;
    for_granules(shared, tile, [&](std::uint32_t g, std::uint32_t n) {
      any |= byte >> shared.granule >= g && byte >> shared.granule < g + n;
    });
    return any;
  };
  for (const Group& group : groups_) {
    for (const Step& step : group.steps)  // which some warps have still to execute
      if (reads(step.b)) return line_of(*step.program, *step.operation);
    for (const Member& member : group.members)
      for (const Flight& flight : member.flights)
        if (reads(flight.a) || reads(flight.b)) return line_of(*flight.program, *flight.operation);
  }
  return "";
}

void Warpgroups::end(Warp& w) {
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].steps.empty()) continue;
    const Step& step = groups_[i].steps.front();
    std::string absent;
    for (std::uint32_t k = 0; k < 4; ++k)
      if (!(step.warps >> k & 1))
        absent += (absent.empty() ? "" : ", ") + std::to_string(4 * i + k);
    w.program = step.program;
    w.operations = step.program->operations.data();
    fault(w, *step.operation, 0, Fault::Kind::divergent,
          "warp " + std::to_string(step.first) +
              " has executed this, but these warps of its warpgroup have left the kernel without "
              "it: " +
              absent);
  }
}

void Warpgroups::clear(SharedMemory& shared) {
  if (shared.read)
    for (const Group& group : groups_)
      for (const Member& member : group.members)
        for (const Flight& flight : member.flights)  // that nobody waited for
          for (const Tile* tile : {&flight.a, &flight.b})
            for_granules(shared, *tile, [&](std::uint32_t g, std::uint32_t n) {
              std::fill_n(shared.read + g, n, 0);
            });
  groups_.clear();
}

void begin_wgmma(Warp& w, const Operation& o, WgmmaTurn& turn) {
  const auto& product = *static_cast<const WgmmaProduct*>(o.extra);
  Warpgroups& all = warpgroups(w);
  Warpgroups::Step& step = all.arrive(w, o);
  if (w.block->check) all.check_registers(w, o, product);
  turn.step = &step;
  turn.first = step.first == w.index;
  const auto n = static_cast<std::uint32_t>(product.how.n);
  if (!product.a_in_registers)
    turn.a =
        tile_of(w, o, descriptor_of(w, o, o.a, "A"), w.index % 4 * 16, 16, !product.transposed_a);
  const std::uint64_t b = descriptor_of(w, o, o.b, "B");
  if (turn.first) step.b = tile_of(w, o, b, 0, n, !product.transposed_b);
  turn.b = step.b;
  // Rows of K have 32 bytes in every type. B is read once for the four warps.
  count_shared(w, 32 * (turn.a.rows + (turn.first ? n : 0)), true, false);
  if (step.b.bits != b)
    fault(w, o, 0, Fault::Kind::bad_instruction,
          "the descriptor of B is " + hexadecimal(b) + " in warp " + std::to_string(w.index) +
              " and " + hexadecimal(step.b.bits) + " in warp " + std::to_string(step.first) +
              " of its warpgroup");
  turn.decode = turn.first || step.columns.empty();
  turn.columns = turn.decode ? all.place_for(w, step, n * static_cast<std::size_t>(product.how.k))
                             : step.columns.data();
  const std::uint32_t scale = *reinterpret_cast<const std::uint32_t*>(w.registers + o.c) ^
                              static_cast<std::uint32_t>(o.immediate);
  if (scale != 0 && scale != ~0u)
    fault(
        w, o, 0, Fault::Kind::bad_instruction,
        "scale-d is true in some lanes of warp " + std::to_string(w.index) + " and not in others");
  turn.accumulate = scale != 0;
}

void end_wgmma(Warp& w, const Operation& o, const WgmmaTurn& turn) {
  Warpgroups& all = warpgroups(w);
  if (w.block->check) all.issue(w, o, turn);
  all.drop(w);
}

void fault_tile(Warp& w, const Operation& o, const Tile& tile, std::int64_t low,
                std::int64_t high) {
  fault(w, o, 0, Fault::Kind::out_of_bounds,
        "the descriptor " + hexadecimal(tile.bits) + " reaches from byte " + std::to_string(low) +
            " to byte " + std::to_string(high) + " of shared memory, of which the block has " +
            std::to_string(w.block->shared.size) + " bytes");
}

void check_warpgroup_reads(Warp& w, const Operation& o, std::uint32_t granule,
                           std::uint32_t count) {
  const SharedMemory& s = w.block->shared;
  for (std::uint32_t j = granule; j < granule + count; ++j)
    if (s.written[j] >> 8 >= s.barrier && s.written[j] < in_flight)
      fault(w, o, 0, Fault::Kind::race,
            "the warpgroup of warp " + std::to_string(w.index) + " reads byte " +
                std::to_string(j << s.granule) + " of shared memory, which warp " +
                std::to_string(w.index) + " wrote at " +
                line_of(*w.program, s.written_by[j] & operation_bits) +
                "; no barrier is between them");
}

namespace {

/// What the warps of a warpgroup execute in step, for one of them.
template <class Body>
Outcome in_step(Warp& w, const Operation& o, const Body& body) {
  if (w.mask != ~0u) return Outcome::wait;
  Warpgroups& all = warpgroups(w);
  all.arrive(w, o);
  body(all);
  all.drop(w);
  return Outcome::next;
}

}  // namespace

Outcome wgmma_fence(Warp& w, const Operation& o) {
  return in_step(w, o, [&](Warpgroups& all) { ++all.member(w).fences; });
}

Outcome wgmma_commit(Warp& w, const Operation& o) {
  return in_step(w, o, [&](Warpgroups& all) { ++all.member(w).committed; });
}

Outcome wgmma_wait(Warp& w, const Operation& o) {
  if (w.mask == ~0u && !warpgroups(w).have_come(w, o.immediate)) return Outcome::again;
  return in_step(w, o, [&](Warpgroups& all) { all.wait(w, o.immediate); });
}

}  // namespace plumbline::ptx
