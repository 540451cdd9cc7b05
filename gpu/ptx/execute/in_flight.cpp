// SPDX-License-Identifier: Apache-2.0
// Registers of wgmma in flight: what may not be done with them before the wait.
#include <algorithm>

#include "ptx/execute/faults.hpp"
#include "ptx/execute/wgmma.hpp"
#include "ptx/translate/program.hpp"

namespace plumbline::ptx {

namespace {

const Watch& watch_of(const Program& program, const Operation& o) {
  const auto index = static_cast<std::uint32_t>(&o - program.operations.data());
  return *std::lower_bound(program.watches.begin(), program.watches.end(), index,
                           [](const Watch& one, std::uint32_t at) { return one.operation < at; });
}

}  // namespace

Outcome watched(Warp& w, const Operation& o) {
  const Watch& watch = watch_of(*w.program, o);
  if (w.block->check && w.block->warpgroups)
    for (const Watch::Touch& touch : watch.touches) w.block->warpgroups->touch(w, o, touch);
  return watch.run(w, o);
}

Run run_of(const Program& program, const Operation& o) {
  return o.run == watched ? watch_of(program, o).run : o.run;
}

bool WgmmaProduct::accumulates(std::uint32_t reg) const {
  const auto end = registers.begin() + static_cast<std::ptrdiff_t>(accumulators);
  return std::find(registers.begin(), end, reg) != end;
}
bool WgmmaProduct::has(std::uint32_t reg) const {
  return std::find(registers.begin(), registers.end(), reg) != registers.end();
}

void Warpgroups::check_registers(Warp& w, const Operation& o, const WgmmaProduct& product) {
  Member& member = this->member(w);
  if (member.fences == 0)
    fault(w, o, 0, Fault::Kind::registers_in_flight,
          "warp " + std::to_string(w.index) + " has executed no wgmma.fence before this");
  const auto needs = [&](const Flight& flight, const std::string& what) {
    fault(w, o, 0, Fault::Kind::registers_in_flight,
          "warp " + std::to_string(w.index) + " needs " + what + " the wgmma.mma_async at " +
              line_of(*flight.program, *flight.operation) +
              ", for which it has not waited (wgmma.wait_group)");
  };
  for (const Flight& flight : member.flights)
    if (flight.program == w.program && product.conflicts[flight.product->number])
      needs(flight, "registers of");
  for (const Copy& copy : member.copies) {
    if (copy.flight.program != w.program || !product.has(copy.reg)) continue;
    const arithmetic::Product &one = product.how, &other = copy.flight.product->how;
    if (!product.accumulates(copy.reg) || one.n != other.n || one.k != other.k)
      needs(copy.flight, "a copy of an accumulator of");
  }
  for (const std::uint32_t reg : product.unfenced) {
    const auto written = member.written.find(reg);
    if (written != member.written.end() && written->second == member.fences + 1)
      fault(w, o, 0, Fault::Kind::registers_in_flight,
            "warp " + std::to_string(w.index) +
                " has written registers of this after its last wgmma.fence");
  }
}

void Warpgroups::touch(Warp& w, const Operation& o, const Watch::Touch& touch) {
  Member& member = this->member(w);
  const auto flight_of = [&](std::uint32_t reg) -> const Flight* {
    for (const Flight& flight : member.flights)
      if (flight.program == w.program && flight.product->has(reg)) return &flight;
    return nullptr;
  };
  const auto copy_of = [&](std::uint32_t reg) -> const Copy* {
    for (const Copy& copy : member.copies)
      if (copy.flight.program == w.program && copy.reg == reg) return &copy;
    return nullptr;
  };
  const auto refuse = [&](const char* verb, const char* what, const Flight& flight,
                          std::uint32_t reg) {
    fault(w, o, static_cast<std::uint32_t>(__builtin_ctz(w.mask)), Fault::Kind::registers_in_flight,
          "warp " + std::to_string(w.index) + " " + verb + " " + what +
              (flight.product->accumulates(reg) ? "an accumulator" : "a register with A") +
              " of the wgmma.mma_async at " + line_of(*flight.program, *flight.operation) +
              ", for which it has not waited (wgmma.wait_group)");
  };
  const Flight* const flight = flight_of(touch.reg);
  const Copy* const copy = copy_of(touch.reg);
  if (touch.kind == Watch::Touch::Kind::reads) {
    if (flight) refuse("reads", "", *flight, touch.reg);
    if (copy) refuse("reads", "a copy of ", copy->flight, copy->of);
    return;
  }
  const auto forget = [&] {
    std::erase_if(member.copies, [&](const Copy& one) {
      return one.flight.program == w.program && one.reg == touch.reg;
    });
  };
  if (touch.kind == Watch::Touch::Kind::writes) {
    if (flight) refuse("writes", "", *flight, touch.reg);
    forget();
    member.written[touch.reg] = member.fences + 1;
    return;
  }
  // mov. Compilers copy accumulators in flight, which costs nothing: all copies are one register.
  // An accumulator may also become another value if its own lives on in a copy.
  const Flight* from = flight_of(touch.from);
  std::uint32_t of = touch.from;
  if (from && !from->product->accumulates(of)) from = nullptr;
  if (const Copy* other = copy_of(touch.from)) {
    from = &other->flight;
    of = other->of;
  }
  if (flight) {
    const bool kept =
        flight->product->accumulates(touch.reg) &&
        (from || std::any_of(member.copies.begin(), member.copies.end(), [&](const Copy& one) {
           return one.flight.program == w.program && one.of == touch.reg;
         }));
    if (!kept) refuse("writes", "", *flight, touch.reg);
  }
  const Copy made = from ? Copy{touch.reg, of, *from, from->group} : Copy{};
  forget();
  if (from) member.copies.push_back(made);
  const auto written = member.written.find(touch.from);
  const std::uint32_t fences = written == member.written.end() ? 0 : written->second;
  if (fences)
    member.written[touch.reg] = fences;
  else
    member.written.erase(touch.reg);
}

}  // namespace plumbline::ptx
