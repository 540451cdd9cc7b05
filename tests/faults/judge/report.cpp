// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/faults/judge/survivors.hpp"
#include "tests/faults/judge/tally.hpp"

namespace plumbline::bench {
namespace {

constexpr cases::Format formats[] = {cases::Format::fp32, cases::Format::tf32, cases::Format::fp16,
                                     cases::Format::bf16, cases::Format::e4m3, cases::Format::e5m2};

std::string share(long part, long whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * part / whole);
}

/// A row of the summary.
std::string summary_row(const std::string& name, const Tally& t) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, t.mutants, t.equivalent,
                     t.caught, t.set_aside, t.told() - t.caught, share(t.caught, t.shown()),
                     share(t.caught, t.told()));
}

std::string summary(const Measured& m) {
  std::string text =
      "| | mutants | no bit differs | caught | nobody can tell | survive | caught of those that "
      "differ | of those that can be told |\n|---|---|---|---|---|---|---|---|\n";
  for (const bool diffuse : {false, true}) {
    const auto row = [&](const std::string& name, const auto& chosen) {
      text += summary_row(name, tally(chosen_of(m.campaign, diffuse, chosen)));
    };
    row(diffuse ? "**diffuse attention, more than 8192 keys**" : "**cases as `verify` draws them**",
        [](const Mutant&) { return true; });
    for (const auto pass : cases::all_passes()) {
      if (diffuse && pass == cases::Pass::decode) continue;
      row(fmt::format("{}", cases::name(pass)), [&](const Mutant& x) { return x.pass == pass; });
    }
    for (const auto format : formats) {
      if (diffuse && format != cases::Format::fp32 && format != cases::Format::bf16) continue;
      row(fmt::format("{}", cases::name(format)),
          [&](const Mutant& x) { return x.format == format; });
    }
    row("faults without a size", [](const Mutant& x) { return x.info->amounts.empty(); });
    row("faults with a size", [](const Mutant& x) { return !x.info->amounts.empty(); });
  }
  return text;
}

std::string gates(const Measured& m) {
  const Tally generic = tally(of_stratum(m.campaign, false));
  const Tally diffuse = tally(of_stratum(m.campaign, true));
  std::set<std::string> names;
  for (const auto* t : {&generic, &diffuse}) {
    for (const auto& [gate, count] : t->by_gate) names.insert(gate);
  }
  std::string text =
      "| gate | caught | by it alone | diffuse: caught | by it alone |\n|---|---|---|---|---|\n";
  const auto of = [](const std::map<std::string, int>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  };
  for (const auto& name : names) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name, of(generic.by_gate, name),
                        of(generic.by_gate_alone, name), of(diffuse.by_gate, name),
                        of(diffuse.by_gate_alone, name));
  }
  return text;
}

std::string others(const Measured& m) {
  const Tally generic = tally(of_stratum(m.campaign, false));
  const Tally diffuse = tally(of_stratum(m.campaign, true));
  const auto ours = [&](bool diffuse_ones) {
    int seen = 0, caught = 0;
    for (const auto* result : of_stratum(m.campaign, diffuse_ones)) {
      if (result->equivalent() || result->compared == 0) continue;
      ++seen;
      caught += result->caught;
    }
    return share(caught, seen);
  };
  std::string text =
      "| criterion | caught | diffuse: caught | correct kernels rejected | what it says |\n"
      "|---|---|---|---|---|\n";
  text += fmt::format("| **this verdict** | {} | {} | {} of {} | |\n", ours(false), ours(true),
                      m.alarms.alarms.size() + m.campaign.control.failed,
                      m.alarms.runs + m.campaign.control.judged);
  for (int n = 0; n < criterion_count; ++n) {
    const auto& of = info(static_cast<Criterion>(n));
    text += fmt::format("| {} | {} | {} | {} of {} | {} |\n", of.name,
                        share(generic.caught_by[n], generic.seen[n]),
                        share(diffuse.caught_by[n], diffuse.seen[n]),
                        m.campaign.control.rejected[n], m.campaign.control.compared[n], of.what);
  }
  return text;
}

std::string thresholds(const Measured& m) {
  std::string text =
      "| off | fp32 | tf32 | fp16 | bf16 | e4m3 | e5m2 |\n|---|---|---|---|---|---|---|\n";
  std::vector<std::string> asked;
  for (const auto& t : m.thresholds) {
    if (std::find(asked.begin(), asked.end(), t.what) == asked.end()) asked.emplace_back(t.what);
  }
  for (const auto& what : asked) {
    text += "| " + what + " |";
    for (const auto format : formats) {
      for (const auto& t : m.thresholds) {
        if (what != t.what || t.format != format) continue;
        text += std::isfinite(t.smallest) ? fmt::format(" {:.1e} |", t.smallest) : " not seen |";
      }
    }
    text += "\n";
  }
  return text;
}

std::string tightness(const Measured& m) {
  std::set<std::string> names;
  for (const auto& [key, worst] : m.alarms.worst) names.insert(key.first);
  std::string text =
      "| output | fp32 | tf32 | fp16 | bf16 | e4m3 | e5m2 |\n|---|---|---|---|---|---|---|\n";
  for (const auto& name : names) {
    text += "| " + name + " |";
    for (const auto format : formats) {
      const auto found = m.alarms.worst.find({name, format});
      if (found == m.alarms.worst.end()) {
        text += " - |";
      } else if (found->second < 0.3) {
        text += fmt::format(" *{:.3f}* |", found->second);
      } else {
        text += fmt::format(" {:.3f} |", found->second);
      }
    }
    text += "\n";
  }
  return text;
}

std::string kinds(const Measured& m) {
  std::string text = "| fault | | caught | gates |";
  for (int n = 0; n < criterion_count; ++n) {
    text += fmt::format(" {} |", info(static_cast<Criterion>(n)).name);
  }
  text += "\n|---|---|---|---|";
  for (int n = 0; n < criterion_count; ++n) text += "---|";
  text += "\n";
  for (const auto& [fault, results] : by_kind(m.campaign)) {
    const Tally t = tally(results);
    std::string by;
    for (const auto& [gate, count] : t.by_gate) {
      by += fmt::format("{}{} {}", by.empty() ? "" : "; ", gate, count);
    }
    text += fmt::format("| `{}` | {} | {} of {} | {} |", fault->name, fault->what, t.caught,
                        t.shown(), by);
    for (int n = 0; n < criterion_count; ++n) {
      text += t.seen[n] == 0 ? " - |" : fmt::format(" {} of {} |", t.caught_by[n], t.seen[n]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

bool all_right(const Measured& m) {
  return m.alarms.alarms.empty() && m.campaign.control.failed == 0;
}

std::string to_markdown(const Measured& m) {
  std::size_t kind_count = by_kind(m.campaign).size();
  std::string text = fmt::format(
      "# How good the verdict is\n\n"
      "Made by\n\n```\n{}\n```\n\n"
      "A kernel of plain loops (`tests/faults/judge/`), which shares nothing with the oracle, is "
      "given "
      "faults one at a time: {} mutants of {} kinds, forward, backward and decoding, in fp32, "
      "tf32, "
      "fp16, bf16, e4m3 and e5m2, with every bias. Each is run and judged as `verify` does it. Of "
      "up to {} "
      "cases drawn for it those count in which it changes any bit of any "
      "output; up to {} of them are judged, up to the first that fails. A mutant that changes no "
      "bit "
      "is the correct kernel there, and set aside. Cases have at most {} products q k. Faults of "
      "a softcap, of attention sinks, of more queries than keys, of a mask tensor, of the values' "
      "width, of the gradient through LSE, of dropout, of RoPE of a part of the components and of "
      "hidden keys have cases with one; those of LSE to base 2 and of float outputs have kernels "
      "that declare them.\n\n",
      m.command, m.campaign.mutants.size(), kind_count, m.effort.draws, m.effort.judged,
      m.effort.products);
  text += "## Faults caught\n\n" + summary(m);
  text += fmt::format(
      "\nThe faultless kernel in the same cases: {} judged, {} failed.\n\n"
      "### By gate\n\nWhat failed in the case that caught the mutant. **bound**: an element is "
      "outside its [bound](../bounds.md). **statistics**: errors drift with the values. **exact "
      "rows**: rows without a visible key, and [numbers of which one is right](../exact-rows.md). "
      "**process**: the call failed, wrote outside its arrays, "
      "changed an input, or gave other bits when asked again; kernels that crash or never return "
      "end a process of their own, and are tested apart (`isolation_test`).\n\n",
      m.campaign.control.judged, m.campaign.control.failed);
  text += gates(m);
  text += fmt::format(
      "\n## What other criteria make of the same outputs\n\n"
      "Written anew from the numbers that these suites publish, and applied to up to {} of the "
      "same "
      "cases, those of smooth random data (families generic and diffuse); a mutant is caught where "
      "one case is rejected. They compare with the same kernel in double, and look at o, dQ, dK, "
      "dV "
      "and, where they have a tolerance for them, the gradients of parameters; not at LSE. "
      "Rejecting "
      "many correct kernels is the price of a tolerance that does not know the format.\n\n",
      m.effort.compared);
  text += others(m);
  text +=
      "\n## The smallest error that is seen\n\nRelative unless said otherwise, in steps of a "
      "factor "
      "1.4; ALiBi where no bias is named; 96 queries and keys, 2 heads, head_dim 64, causal, "
      "generic "
      "data. The largest of several seeds.\n\n";
  text += thresholds(m);
  text += fmt::format(
      "\n## Correct kernels\n\n{} case-runs of correct kernels: tiles of 1 to all keys, 1 to 8 "
      "ranges merged, ascending and descending, dot products in 1 to 32 lanes, sums to nearest and "
      "cut, four exponentials, P rounded and not, the sum of rounded P and of P, prefix sums in "
      "double and in float, gradients of given and of own LSE and D; half of them "
      "with what [laxer contracts](../contracts.md) declare; each judged by the contract "
      "that it declares; of 8-bit inputs P in bf16 or fp32. Nine in ten have at most 65536 "
      "products, "
      "and one in 50 is of diffuse attention over more than 8192 keys; {} have strides, {} packed "
      "sequences, {} a softcap, {} attention sinks, {} more queries than keys, {} the widths of "
      "latent attention, {} a custom bias. **False alarms: {}.** Undecided: {}.\n\nThe largest "
      "error / bound, in italics "
      "below 0.3:\n\n",
      m.alarms.runs, m.alarms.strided, m.alarms.packed, m.alarms.capped, m.alarms.with_sinks,
      m.alarms.more_queries, m.alarms.latent, m.alarms.custom, m.alarms.alarms.size(),
      m.alarms.undecided);
  text += tightness(m);
  if (!m.alarms.alarms.empty()) {
    text += "\nThe alarms:\n\n";
    for (const auto& alarm : m.alarms.alarms) text += "- `" + alarm + "`\n";
  }
  text += survivors(m);
  text += "\n## Every kind\n\n" + kinds(m);
  return text;
}

}  // namespace plumbline::bench
