// SPDX-License-Identifier: Apache-2.0
// Probes of a kernel that is profiled.
#include <algorithm>

#include "ptx/execute/memory_flags.hpp"
#include "ptx/profile/probe.hpp"
#include "ptx/read/place.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

/// Fills in the probe, an operation, of the instruction whose own operations stand behind it.
void Translator::fill_probe(std::uint32_t o) {
  Probe& p = program_.probes.emplace_back();
  at(o).extra = &p;
  p.instruction = static_cast<std::uint32_t>(shared_.kernel.profiled.size());
  p.traits = traits_of(
      now_->opcode, std::span(function_.modifiers).subspan(now_->first_modifier, now_->modifiers));
  shared_.kernel.profiled.push_back({now_->line, on_one_line(now_->text),
                                     source_of(module_, function_, *now_), p.traits.pipe, Tally{}});
  if (now_->guard >= 0) {
    use(o, Field::b, static_cast<Virtual>(now_->guard));
    p.negated = now_->guard_negated;
  }
  const auto end = static_cast<std::uint32_t>(program_.operations.size());
  for (std::uint32_t i = o + 1; i < end; ++i) {
    if (at(i).flow == Flow::branch) p.kind = Probe::Kind::branch;
    if (at(i).flow == Flow::branch_table) {
      p.kind = Probe::Kind::branch_table;
      use(o, Field::a, at(i).a);
    }
    if (at(i).site != 0) probe_access(o, i, p);
  }
}

/// `access` is an operation of memory. Parameters and constants have caches of their own.
void Translator::probe_access(std::uint32_t o, std::uint32_t access, Probe& p) {
  const std::string_view name = now_->opcode;
  const bool rows = name == "ldmatrix" || name == "stmatrix";
  const bool loads = name == "ld" || name == "ldu" || name == "ldmatrix";
  const bool stores = name == "st" || name == "stmatrix";
  const bool atomic = name == "atom" || name == "red";
  const bool copies = name == "cp" && !has("mbarrier");
  if (!(loads || stores || atomic || copies) || p.traits.pipe == Pipe::parameter) return;
  if (has("async") != copies) return;
  p.kind = loads    ? Probe::Kind::load
           : stores ? Probe::Kind::store
           : atomic ? Probe::Kind::atomic
                    : Probe::Kind::copy;
  use(o, Field::a, at(access).a);
  at(o).c = at(access).c;
  at(o).flags = at(access).flags & memory_wide;
  at(o).immediate = at(access).immediate;
  if (rows) {
    const std::uint32_t matrices = has("x4") ? 4 : has("x2") ? 2 : 1;
    p.bytes = 16;
    p.lanes = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
  } else if (copies) {
    const std::uint32_t from = at(access).list;
    p.bytes = static_cast<std::uint8_t>(at(access).immediate >> 32);
    at(o).immediate = static_cast<std::int32_t>(at(access).immediate);
    at(o).target = at(access).target;
    use(o, Field::d, at(access).b);
    list(o, 2);
    for (std::uint32_t i = 0; i < 2; ++i) use(o, Field::list, program_.lists[from + i], i);
  } else {
    const std::uint32_t parts = has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1;
    p.bytes = static_cast<std::uint8_t>(parts * bytes_of(types().back()));
  }
}

}  // namespace plumbline::ptx
