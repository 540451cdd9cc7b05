// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "ptx/profile.hpp"
#include "ptx/read/place.hpp"

namespace plumbline::ptx {
namespace {

__attribute__((format(printf, 1, 2))) std::string words(const char* format, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

using Number = unsigned long long;

double ratio(std::uint64_t a, std::uint64_t b) {
  return b ? static_cast<double>(a) / static_cast<double>(b) : 0;
}
double percent(std::uint64_t a, std::uint64_t b) { return 100 * ratio(a, b); }

std::string extent(const Extent& e) { return words("(%u, %u, %u)", e.x, e.y, e.z); }

/// "  label          text", the label on the first line alone.
std::string row(const char* label, const std::string& text) {
  return words("  %-15s", label) + text + "\n";
}

/// "1234567" for numbers up to eight digits, else "12.3 M".
std::string count(std::uint64_t value) {
  if (value < 100'000'000) return words("%llu", static_cast<Number>(value));
  const double number = static_cast<double>(value);
  if (number < 1e11) return words("%.1f M", number / 1e6);
  return words("%.1f G", number / 1e9);
}

std::string shapes(const Profile& profile, std::size_t most) {
  const LaunchShape& first = profile.shapes.front();
  const Occupancy& o = first.occupancy;
  const std::string where = words(" a multiprocessor (compute capability %d.%d)",
                                  profile.compute_major, profile.compute_minor);
  std::string text;
  if (profile.shapes.size() == 1) {
    text += row("launches",
                words("%llu: grid ", static_cast<Number>(first.launches)) + extent(first.grid) +
                    ", block " + extent(first.block) +
                    words(", %zu bytes of dynamic shared memory", first.dynamic_shared_bytes));
    text += row("occupancy", words("%u blocks", o.blocks) + where +
                                 words(": %u of %u warps; limited by ",
                                       o.blocks * o.warps_per_block, o.warps_per_multiprocessor) +
                                 o.limits());
    text += row("", words("by registers %u (%u a thread%s), by shared memory %u (%zu "
                          "bytes), by warps %u, at most %u",
                          o.by_registers, o.registers, o.estimated ? ", estimated" : "",
                          o.by_shared, o.shared_bytes, o.by_warps, o.by_blocks));
    return text;
  }
  text += row("launches", words("%llu of %zu shapes; with blocks and warps of",
                                static_cast<Number>(profile.launches()), profile.shapes.size()) +
                              where + ":");
  std::vector<const LaunchShape*> sorted;
  for (const LaunchShape& shape : profile.shapes) sorted.push_back(&shape);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->tally.warp_instructions > b->tally.warp_instructions;
  });
  text += words("    %8s  %-18s %-16s %8s %6s %8s  %-14s %12s\n", "launches", "grid", "block",
                "shared", "blocks", "warps", "limited by", "instructions");
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i) {
    const LaunchShape& s = *sorted[i];
    const std::string warps = words("%u of %u", s.occupancy.blocks * s.occupancy.warps_per_block,
                                    s.occupancy.warps_per_multiprocessor);
    text += words("    %8llu  %-18s %-16s %8zu %6u %8s  %-14s %12s\n",
                  static_cast<Number>(s.launches), extent(s.grid).c_str(), extent(s.block).c_str(),
                  s.dynamic_shared_bytes, s.occupancy.blocks, warps.c_str(),
                  s.occupancy.limits().c_str(), count(s.tally.warp_instructions).c_str());
  }
  if (sorted.size() > most) text += words("    and %zu more\n", sorted.size() - most);
  return text;
}

std::string totals(const Profile& profile) {
  const Tally t = profile.total();
  std::string text =
      row("instructions",
          words("%s by warps; of 32 threads %.1f are active, %.1f with a true predicate",
                count(t.warp_instructions).c_str(), ratio(t.active_threads, t.warp_instructions),
                ratio(t.thread_instructions, t.warp_instructions)));
  if (t.divergent_branches)
    text += row("divergence",
                words("%s branches that parted a warp", count(t.divergent_branches).c_str()));
  if (t.barriers) text += row("barriers", words("%s arrivals of warps", count(t.barriers).c_str()));
  if (t.shared_accesses)
    text += row("shared memory",
                words("%s transactions, %s without bank conflicts (%.2f times); bytes: %s read, %s "
                      "written",
                      count(t.shared_transactions).c_str(), count(t.shared_ideal).c_str(),
                      ratio(t.shared_transactions, t.shared_ideal),
                      count(t.shared_bytes_read).c_str(), count(t.shared_bytes_written).c_str()));
  if (t.global_accesses)
    text += row("global memory",
                words("%s sectors of 32 bytes, %s if coalesced (%.2f times); bytes: %s read, %s "
                      "written",
                      count(t.global_sectors).c_str(), count(t.global_ideal).c_str(),
                      ratio(t.global_sectors, t.global_ideal), count(t.global_bytes_read).c_str(),
                      count(t.global_bytes_written).c_str()));
  if (t.local_bytes_read || t.local_bytes_written)
    text +=
        row("local memory", words("bytes: %s read, %s written", count(t.local_bytes_read).c_str(),
                                  count(t.local_bytes_written).c_str()));
  if (t.atomics)
    text += row("atomics", words("%s by threads, in %s turns", count(t.atomics).c_str(),
                                 count(t.atomic_turns).c_str()));
  std::string flops;
  const auto pipes = profile.by_pipe();
  for (const Pipe pipe : {Pipe::tensor, Pipe::fp16, Pipe::fp32, Pipe::fp64})
    if (const std::uint64_t some = pipes[static_cast<std::size_t>(pipe)].flops)
      flops += (flops.empty() ? "" : ", ") + count(some) + " " + std::string(name(pipe));
  if (!flops.empty()) text += row("flops", flops);
  return text;
}

std::string pipe_table(const Profile& profile) {
  const auto all = profile.by_pipe();
  const std::uint64_t sum = profile.total().warp_instructions;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < pipe_count; ++i)
    if (all[i].warp_instructions) used.push_back(i);
  std::stable_sort(used.begin(), used.end(), [&](std::size_t a, std::size_t b) {
    return all[a].warp_instructions > all[b].warp_instructions;
  });
  std::string text = words("  %-12s %12s\n", "pipe", "instructions");
  for (const std::size_t i : used)
    text += words("    %-10s %12s %5.1f %%\n", std::string(name(static_cast<Pipe>(i))).c_str(),
                  count(all[i].warp_instructions).c_str(), percent(all[i].warp_instructions, sum));
  return text;
}

/// Without the folder, and not too long.
std::string shown(const std::string& place) {
  constexpr std::size_t most = 60;
  const bool of_ptx = place.starts_with("PTX line ");
  std::string text = of_ptx ? place : place.substr(place.rfind('/') + 1);
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return text;
}

std::string line_table(const Profile& profile, std::size_t most) {
  const std::vector<ProfiledLine> lines = by_line(profile);
  const std::uint64_t sum = profile.total().warp_instructions;
  most = std::min(most, lines.size());
  if (most == 0) return "";
  std::size_t width = 4;
  for (std::size_t i = 0; i < most; ++i) width = std::max(width, shown(lines[i].place).size());
  const int w = static_cast<int>(width);
  std::string text = words("  %-*s  %12s %7s  %14s %14s %12s\n", w + 2, "line", "instructions", "",
                           "bank conflicts", "sectors", "at best");
  for (std::size_t i = 0; i < most; ++i) {
    const Tally& t = lines[i].tally;
    const auto number = [](std::uint64_t value, std::uint64_t of) {
      return of ? count(value) : std::string();
    };
    std::string line =
        words("    %-*s  %12s %5.1f %%  %14s %14s %12s", w, shown(lines[i].place).c_str(),
              count(t.warp_instructions).c_str(), percent(t.warp_instructions, sum),
              number(t.shared_transactions - t.shared_ideal, t.shared_accesses).c_str(),
              number(t.global_sectors, t.global_accesses).c_str(),
              number(t.global_ideal, t.global_accesses).c_str());
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (lines.size() > most) text += words("    and %zu more\n", lines.size() - most);
  return text;
}

}  // namespace

std::string report(const Profile& profile, std::size_t lines) {
  return readable(profile.kernel) + "\n" + shapes(profile, std::max<std::size_t>(lines, 1)) +
         totals(profile) + pipe_table(profile) + line_table(profile, lines);
}

}  // namespace plumbline::ptx
