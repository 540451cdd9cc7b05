// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/name_conventions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "verdict/conventions/matching.hpp"
#include "verdict/process/last_words.hpp"

namespace plumbline::verdict {
namespace {

using cases::Spec;

/// Rows and heads by which conventions differ: queries in the midst of the keys, at their end, or
/// one for each key; tiles of 16 and 64 keys besides. Six heads are no power of two, in groups of
/// three.
struct Rows {
  int queries, keys, offset;
};
constexpr std::array<Rows, 7> midst{
    {{24, 40, 8}, {16, 48, 16}, {32, 64, 16}, {8, 40, 16}, {4, 40, 16}, {2, 40, 20}, {1, 40, 20}}};
constexpr std::array<Rows, 5> at_end{
    {{24, 40, 16}, {16, 48, 32}, {64, 128, 64}, {4, 40, 36}, {1, 40, 39}}};
constexpr std::array<Rows, 5> square{
    {{40, 40, 0}, {32, 32, 0}, {64, 64, 0}, {128, 128, 0}, {12, 12, 0}}};
struct Heads {
  int heads, kv_heads;
};
constexpr std::array<Heads, 6> grouped{{{6, 2}, {4, 2}, {3, 3}, {4, 4}, {2, 1}, {1, 1}}};

/// Of each kind of rows the first shape that the kernel offers.
std::vector<Spec> wider(const Kernel& kernel, const Spec& failing) {
  std::vector<Spec> specs;
  const auto offered = [&](const Spec& spec) {
    try {
      cases::validate(spec);
      return kernel.supports(spec);
    } catch (const std::exception&) {
      return false;
    }
  };
  // Of packed sequences some have fewer keys than rows, and others more.
  const auto first_of = [&](const auto& kind, std::uint64_t seed) {
    for (const Heads& heads : grouped) {
      for (const Rows& rows : kind) {
        Spec spec = failing;
        if (failing.is_packed()) spec.batch = std::max(spec.batch, 4);
        spec.family = cases::Family::generic;
        spec.seed = seed;
        spec.heads = heads.heads;
        spec.kv_heads = heads.kv_heads;
        spec.queries = rows.queries;
        spec.keys = rows.keys;
        spec.query_offset = spec.queries_at_end ? rows.keys - rows.queries : rows.offset;
        if (offered(spec)) {
          specs.push_back(spec);
          return;
        }
      }
    }
  };
  first_of(midst, failing.seed);
  first_of(at_end, failing.seed);
  // Of a few lengths and documents some are what others would be too: other ones besides.
  const bool few = failing.mask.ragged || failing.mask.documents;
  first_of(square, failing.seed + few);
  return specs;
}

/// One with the other mask, causal or not, where several conventions are left.
std::optional<Spec> with_other_mask(const Kernel& kernel, const Spec& failing) {
  Spec other = failing;
  other.mask.causal = !other.mask.causal;
  for (const Spec& spec : wider(kernel, other)) return spec;
  return std::nullopt;
}

std::optional<Evidence> evidence_of(const Kernel& kernel, const Spec& spec, int threads) {
  Evidence evidence{cases::generate(spec), {}, {}};
  const KernelRuns running(" while it ran case '" + cases::to_line(spec) +
                           "', to diagnose the failure\n");
  KernelRun run = kernel.run(evidence.the_case);
  if (!run.failure.empty()) return std::nullopt;
  evidence.outputs = std::move(run.outputs);
  evidence.judgement =
      judge(evidence.the_case, kernel.contract(spec.format), evidence.outputs, threads);
  return evidence;
}

/// Numbers outside of their bounds, and no other word for them; or what a case of one key makes of
/// them: where a row sees none by another convention its o is 0, where it sees one, that key's v.
bool asks_for_a_name(const Judgement& judgement) {
  if (judgement.outcome != Outcome::fail || !judgement.failure.empty()) return false;
  return judgement.kind == "zeros" || judgement.kind == "copies_input" ||
         (judgement.kind == "outside_bound" && judgement.remark.empty());
}

/// A name says more than that outputs are zeros or copies.
void give(Judgement& judgement, std::vector<Match> matches) {
  judgement.matches = std::move(matches);
  if (judgement.matches.empty()) return;
  judgement.kind = "outside_bound";
  judgement.remark.clear();
}

}  // namespace

void name_conventions(const Kernel& kernel, CellResult& cell, int threads) {
  if (!cell.counterexample || !asks_for_a_name(cell.counterexample->judgement)) return;
  const Spec& failing = cell.counterexample->spec;
  ConventionSearch search(kernel.contract(cell.format), threads);
  const auto first = evidence_of(kernel, failing, threads);
  // A kernel that differs from run to run may be right this time.
  if (!first || !asks_for_a_name(first->judgement)) return;
  search.consider(*first);
  if (!search.any_left()) return;
  std::vector<Spec> specs = wider(kernel, failing);
  // Of several sequences the drawn case tells most.
  if (failing.is_packed() && cell.counterexample->drawn != Spec{}) {
    specs.push_back(cell.counterexample->drawn);
  }
  for (const Spec& spec : specs) {
    if (const auto one = evidence_of(kernel, spec, threads)) search.consider(*one);
    if (!search.any_left()) return;
  }
  auto matches = search.matches();
  if (matches.size() > 1) {
    const auto other = with_other_mask(kernel, failing);
    if (const auto one = other ? evidence_of(kernel, *other, threads) : std::nullopt) {
      search.consider(*one);
      matches = search.matches();
    }
  }
  give(cell.counterexample->judgement, std::move(matches));
}

void name_conventions(const cases::Case& the_case, const Contract& contract,
                      const cases::Outputs& outputs, Judgement& judgement, int threads) {
  if (!asks_for_a_name(judgement)) return;
  ConventionSearch search(contract, threads);
  search.consider({the_case, outputs, judgement});
  give(judgement, search.matches());
}

}  // namespace plumbline::verdict
