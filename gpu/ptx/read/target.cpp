// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/target.hpp"

#include <algorithm>
#include <cctype>

namespace plumbline::ptx {
namespace {

enum class From {
  on,       ///< this target and those with a higher number
  exactly,  ///< this one with 'a'
  suffix    ///< those of this number and higher ones that have a suffix
};

/// An instruction with all of these words behind its opcode needs this target; of several rules the
/// highest holds.
struct Rule {
  std::string_view opcodes;  ///< a|b: one of them; *: any
  std::string_view words;    ///< likewise, separated by spaces
  int number;
  From from = From::on;
};

/// PTX ISA, the target notes of the instructions. Where ptxas refuses what they allow, ptxas holds:
/// tests/gpu/ptx/conformance asks it about every form.
constexpr Rule rules[] = {
    // Matrices
    {"wgmma", "", 90, From::exactly},
    {"mma", "m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|and", 80},
    {"mma", "m16n8k4|m16n8k8|m16n8k16 f64", 90},
    {"wmma", "m8n8k4|m16n16k8", 80},
    {"mma|wmma", "f64", 80},
    {"stmatrix", "", 90},
    // Copies and barriers
    {"cp", "async", 80},
    {"cp", "bulk|reduce", 90},
    {"st|red", "async", 90},
    {"tensormap", "replace", 90, From::suffix},
    {"tensormap", "cp_fenceproxy", 90},
    {"mbarrier", "", 80},
    {"mbarrier", "try_wait|expect_tx|complete_tx|relaxed|count", 90},
    {"fence", "async|async::global|tensormap::generic", 90},
    {"barrier", "cluster", 90},
    {"*", "cluster|shared::cluster", 90},
    {"mapa|getctarank|griddepcontrol|elect", "", 90},
    {"setmaxnreg", "", 90, From::suffix},
    {"redux", "", 80},
    // Atomics
    {"atom|red", "bf16|bf16x2|v2|v4|v8|b128", 90},
    {"atom|red", "min|max f16|f16x2", 90},
    // Arithmetic
    {"*", "bf16|bf16x2|tf32|NaN|relu", 80},
    {"*", "xorsign", 86},
    {"set|setp|add|sub|mul|ex2|tanh", "bf16|bf16x2", 90},
    {"min|max", "f16|f16x2", 80},
    {"add|min|max", "u16x2|s16x2", 90},
    {"min|max", "relu s32", 90},
    {"mma|cvt", "e4m3|e5m2|e4m3x2|e5m2x2", 89},
    {"cvt", "f16x2", 80},
    {"cvt", "rn|rz tf32", 90},
    {"cvt", "rni|rzi|rmi|rpi|u8|u16|u32|u64|s8|s16|s32|s64|f16|f64|ftz bf16", 90},
    // Caches
    {"createpolicy|discard|applypriority", "", 80},
    {"prefetch", "L2::evict_last|L2::evict_normal", 80},
    {"*", "L2::256B|L2::cache_hint", 80},
};

constexpr std::string_view of_clusters[] = {
    "%clusterid",       "%nclusterid",       "%cluster_ctaid",       "%cluster_nctaid",
    "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster", "%aggr_smem_size"};

/// Calls f(part) until it is true for one.
template <class F>
bool any_part(std::string_view text, char separator, F f) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (f(text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

bool applies(const Rule& rule, std::string_view opcode, std::span<const std::string_view> words) {
  const auto has_one_of = [&](std::string_view group) {
    return any_part(group, '|', [&](std::string_view word) {
      return std::ranges::find(words, word) != words.end();
    });
  };
  if (rule.opcodes != "*" &&
      !any_part(rule.opcodes, '|', [&](std::string_view one) { return one == opcode; }))
    return false;
  return rule.words.empty() ||
         !any_part(rule.words, ' ', [&](std::string_view group) { return !has_one_of(group); });
}

std::string sm(int number, char suffix) {
  return "sm_" + std::to_string(number) + (suffix == ' ' ? "" : std::string(1, suffix));
}

}  // namespace

std::string Target::name() const { return sm(number, suffix); }

bool Target::runs_on(int major, int minor) const {
  const int device = 10 * major + minor;
  if (suffix == 'a') return number == device;
  if (suffix == 'f') return number / 10 == major && number <= device;
  return number <= device;
}

std::optional<Target> target_named(std::string_view name) {
  if (!name.starts_with("sm_")) return std::nullopt;
  name.remove_prefix(3);
  Target target;
  std::size_t digits = 0;
  for (;
       digits < name.size() && digits < 4 && std::isdigit(static_cast<unsigned char>(name[digits]));
       ++digits) {
    target.number = target.number * 10 + (name[digits] - '0');
  }
  name.remove_prefix(digits);
  if (digits == 0 || name.size() > 1) return std::nullopt;
  if (!name.empty()) target.suffix = name[0];
  if (target.suffix != ' ' && target.suffix != 'a' && target.suffix != 'f') return std::nullopt;
  return target;
}

std::string lacking(const Target& target, std::string_view opcode,
                    std::span<const std::string_view> words) {
  const Rule* highest = nullptr;
  for (const Rule& rule : rules) {
    const bool met = target.number >= rule.number &&
                     (rule.from == From::on || target.suffix != ' ') &&
                     (rule.from != From::exactly || target.number == rule.number);
    if (!met && applies(rule, opcode, words) &&
        (!highest || rule.number > highest->number ||
         (rule.number == highest->number && rule.from != From::on)))
      highest = &rule;
  }
  if (!highest) return "";
  const std::string plain = sm(highest->number, ' ');
  return highest->from == From::on        ? plain + " or higher"
         : highest->from == From::exactly ? plain + "a"
                                          : plain + "a, or a higher one with a suffix";
}

std::string lacking(const Target& target, std::string_view special_register) {
  const bool has = target.number >= 90 ||
                   std::ranges::find(of_clusters, special_register) == std::end(of_clusters);
  return has ? "" : "sm_90 or higher";
}

}  // namespace plumbline::ptx
