// SPDX-License-Identifier: Apache-2.0
#include "ptx/profile.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace plumbline::ptx {
namespace {

constexpr std::string_view names[] = {"fp32",     "fp16",    "fp64",     "tensor",     "integer",
                                      "multiply", "special", "division", "conversion", "move",
                                      "exchange", "global",  "shared",   "local",      "parameter",
                                      "atomic",   "bulk",    "barrier",  "control",    "other"};
static_assert(std::size(names) == pipe_count);

double share(std::uint64_t part, std::uint64_t of) {
  return of ? static_cast<double>(part) / static_cast<double>(of) : 0;
}

}  // namespace

std::string_view name(Pipe pipe) { return names[static_cast<std::size_t>(pipe)]; }

Tally& Tally::operator+=(const Tally& other) {
  for (const auto& [_, figure] : figures) this->*figure += other.*figure;
  return *this;
}

bool Profile::same_kernel(const Profile& other) const {
  return kernel == other.kernel && compute_major == other.compute_major &&
         compute_minor == other.compute_minor &&
         std::equal(instructions.begin(), instructions.end(), other.instructions.begin(),
                    other.instructions.end(),
                    [](const ProfiledInstruction& a, const ProfiledInstruction& b) {
                      return a.ptx_line == b.ptx_line && a.text == b.text && a.source == b.source;
                    });
}

Profile& Profile::operator+=(const Profile& other) {
  if (!same_kernel(other)) throw std::invalid_argument("profiles of different kernels");
  for (const LaunchShape& more : other.shapes) {
    const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const LaunchShape& one) {
      return one.grid == more.grid && one.block == more.block &&
             one.dynamic_shared_bytes == more.dynamic_shared_bytes;
    });
    if (found == shapes.end()) {
      shapes.push_back(more);
    } else {
      found->launches += more.launches;
      found->tally += more.tally;
    }
  }
  for (std::size_t i = 0; i < instructions.size(); ++i)
    instructions[i].tally += other.instructions[i].tally;
  return *this;
}

std::uint64_t Profile::launches() const {
  std::uint64_t all = 0;
  for (const LaunchShape& shape : shapes) all += shape.launches;
  return all;
}

Tally Profile::total() const {
  Tally all;
  for (const ProfiledInstruction& one : instructions) all += one.tally;
  return all;
}

std::array<Tally, pipe_count> Profile::by_pipe() const {
  std::array<Tally, pipe_count> all;
  for (const ProfiledInstruction& one : instructions)
    all[static_cast<std::size_t>(one.pipe)] += one.tally;
  return all;
}

std::vector<ProfiledLine> by_line(const Profile& profile) {
  std::vector<ProfiledLine> lines;
  std::map<std::string, std::size_t> line_of;
  for (const ProfiledInstruction& one : profile.instructions) {
    if (one.tally.warp_instructions == 0) continue;
    const std::string place = one.source.empty()
                                  ? "PTX line " + std::to_string(one.ptx_line) + ": " + one.text
                                  : one.source;
    const auto [at, is_new] = line_of.emplace(place, lines.size());
    if (is_new) lines.push_back({place, {}});
    lines[at->second].tally += one.tally;
  }
  const Tally all = profile.total();
  const auto weight = [&](const Tally& t) {
    return std::max(
        {share(t.warp_instructions, all.warp_instructions),
         share(t.shared_transactions - t.shared_ideal, all.shared_transactions - all.shared_ideal),
         share(t.global_sectors - t.global_ideal, all.global_sectors - all.global_ideal)});
  };
  std::stable_sort(lines.begin(), lines.end(), [&](const ProfiledLine& a, const ProfiledLine& b) {
    return weight(a.tally) > weight(b.tally);
  });
  return lines;
}

}  // namespace plumbline::ptx
