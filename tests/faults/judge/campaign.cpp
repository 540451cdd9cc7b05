// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "support/draw.hpp"
#include "verdict/judge/element.hpp"
#include "verdict/judge/same_bits.hpp"
#include "verdict/oracle/rows.hpp"
#include "verdict/property/property.hpp"
#include "verdict/property/spec_generator.hpp"

namespace plumbline::bench {
namespace {

long products_of(const cases::Spec& spec) {
  return static_cast<long>(spec.batch) * spec.heads * spec.queries * spec.keys * spec.head_dim;
}

/// Few queries at the end of more than 8192 keys, scores of small spread.
cases::Spec diffuse_case(cases::Pass pass, cases::Bias bias, cases::Format format,
                         std::uint64_t seed) {
  const Draw draw(seed, 2);
  cases::Spec spec;
  spec.pass = pass;
  spec.bias = bias;
  spec.format = format;
  spec.family = cases::Family::diffuse;
  spec.heads = 2;
  spec.kv_heads = 1 + static_cast<int>(draw.below(0, 2));
  spec.keys = 8192 + static_cast<int>(draw.below(1, 200));
  spec.queries = 2;
  spec.query_offset = spec.keys - spec.queries;
  spec.head_dim = 32;
  spec.seed = draw.word(2) >> 32;
  return spec;
}

bool is_smooth(const cases::Spec& spec) {
  return spec.family == cases::Family::generic || spec.family == cases::Family::diffuse;
}

/// A cell's case with what all of its mutants share.
struct Shared {
  cases::Case the_case;
  verdict::KernelRun faultless;
  std::optional<CriterionReference> reference;
  std::optional<CorrectKernels> correct;
};

/// The cases of a cell, made when the first mutant asks for them.
class Cell {
 public:
  Cell(const Mutant& first, const Effort& effort, std::uint64_t seed)
      : first_(first), effort_(effort), seed_(seed) {}

  Shared& at(int n) {
    while (static_cast<int>(cases_.size()) <= n) {
      const std::uint64_t seed = seed_ + cases_.size();
      const auto spec = with_feature(
          case_of(first_.pass, first_.bias, first_.format, first_.diffuse, seed, effort_.products),
          first_.info->feature, seed);
      Shared shared{cases::generate(spec), {}, {}, {}};
      shared.faultless =
          kernel_of({first_.variant, {}, built_in_formula(first_.bias)}).run(shared.the_case);
      cases_.push_back(std::move(shared));
    }
    return cases_[n];
  }
  const CriterionReference& reference(Shared& shared) const {
    if (!shared.reference) {
      shared.reference = criterion_reference(shared.the_case, first_.variant.lse_base_2);
    }
    return *shared.reference;
  }
  const CorrectKernels& correct(Shared& shared) const {
    if (!shared.correct) {
      shared.correct = correct_kernels(shared.the_case, first_.variant, shared.faultless.outputs);
    }
    return *shared.correct;
  }
  std::vector<Shared>& made() { return cases_; }

 private:
  const Mutant& first_;
  const Effort& effort_;
  std::uint64_t seed_;
  std::vector<Shared> cases_;
};

/// What the other criteria can know of a run that gave no outputs: an error, not what happened
/// around the arrays.
bool told_them(const verdict::KernelRun& run) {
  return run.kind == kernel_process::failure_kind::returned_error ||
         run.kind == kernel_process::failure_kind::exception;
}

/// Beyond this there is no more to ask.
constexpr double plainly_apart = 100;

MutantResult judge_mutant(const Mutant& mutant, Cell& cell, const Effort& effort) {
  MutantResult result{};
  result.mutant = &mutant;
  const int draws = mutant.diffuse ? std::min(3, effort.draws) : effort.draws;
  int drawn = 0;
  for (; drawn < draws; ++drawn) {
    const bool judges = !result.caught && result.judged < effort.judged;
    const bool compares = result.compared < effort.compared;
    if (!judges && !compares) break;
    Shared& shared = cell.at(drawn);
    const auto& spec = shared.the_case.spec;
    const bool smooth = is_smooth(spec);
    if (!judges && !smooth) continue;
    const Setting setting{mutant.variant, mutant.fault, built_in_formula(mutant.bias)};
    const auto run = kernel_of(setting).run(shared.the_case);
    const bool twice = mutant.fault.is(FaultKind::other_bits_each_run);
    const bool differs =
        !run.failure.empty() || twice ||
        !verdict::first_difference(spec.bias, shared.faultless.outputs, run.outputs).empty();
    if (!differs) continue;
    if (judges) {
      ++result.exercised;
      ++result.judged;
      if (result.apart < plainly_apart) {
        result.apart +=
            told_apart(shared.the_case, cell.correct(shared), mutant, shared.faultless.outputs);
      }
      const auto judged = verdict::check_spec(kernel_of(setting), spec, 1);
      if (judged.outcome == verdict::Outcome::fail) {
        result.caught = true;
        result.gates = gates_of(judged.counterexample->judgement);
        result.kind = judged.counterexample->judgement.kind;
        result.drawn = drawn + 1;
      } else {
        result.undecided += judged.outcome == verdict::Outcome::undecided;
        for (const auto& [name, output] : judged.outputs) {
          result.worst = std::max(result.worst, output.worst);
        }
      }
    }
    if (compares && smooth) {
      ++result.compared;
      for (int n = 0; n < criterion_count; ++n) {
        const auto criterion = static_cast<Criterion>(n);
        const bool accepted = run.failure.empty()
                                  ? accepts(criterion, spec, cell.reference(shared), run.outputs)
                                  : !told_them(run);
        if (!accepted) result.caught_by[n] = true;
      }
    }
  }
  if (!result.caught) result.drawn = drawn;
  return result;
}

/// The faultless kernel in the cases that the cell's mutants were judged in.
void judge_control(Cell& cell, const Mutant& first, ControlResult& control) {
  int judged = 0;
  for (Shared& shared : cell.made()) {
    const auto& spec = shared.the_case.spec;
    if (++judged <= 2) {
      ++control.judged;
      const auto result =
          verdict::check_spec(kernel_of({first.variant, {}, built_in_formula(spec.bias)}), spec, 1);
      if (result.outcome == verdict::Outcome::fail) {
        ++control.failed;
        control.failures.push_back(cases::to_line(spec));
      }
    }
    if (!shared.reference) continue;
    for (int n = 0; n < criterion_count; ++n) {
      const auto criterion = static_cast<Criterion>(n);
      if (!applies(criterion, spec.bias, spec.format)) continue;
      ++control.compared[n];
      control.rejected[n] += !accepts(criterion, spec, *shared.reference, shared.faultless.outputs);
    }
  }
}

}  // namespace

cases::Spec case_of(cases::Pass pass, cases::Bias bias, cases::Format format, bool diffuse,
                    std::uint64_t seed, long products) {
  if (diffuse) return diffuse_case(pass, bias, format, seed);
  const Draw draw(seed, 3);
  for (std::uint64_t n = 0;; ++n) {
    const auto spec = verdict::draw_specs(pass, bias, format, 1, draw.word(n)).front();
    if (products_of(spec) <= products) return spec;
  }
}

std::set<std::string> gates_of(const verdict::Judgement& judgement) {
  std::set<std::string> gates;
  if (!judgement.failure.empty()) return {"process"};
  for (const auto& output : judgement.outputs) {
    if (output.outcome != verdict::Outcome::fail) continue;
    const bool exact = output.failed > 0 && output.worst.bound == 0;
    const std::string of =
        output.name == "o" || output.name == "lse" ? output.name
        : output.name == "grad_q" || output.name == "grad_k" || output.name == "grad_v"
            ? "dq, dk, dv"
            : "parameters";
    if (output.failed > 0) gates.insert(exact ? "exact rows" : "bound: " + of);
    if (!verdict::statistics_that_fail(output).empty()) gates.insert("statistics");
  }
  if (gates.empty()) gates.insert("other: " + judgement.kind);
  return gates;
}

CampaignResult run_campaign(const std::vector<Mutant>& mutants, const Effort& effort,
                            const std::function<void(std::size_t)>& done) {
  CampaignResult result;
  result.mutants.resize(mutants.size());
  // By cell: those of one share their cases, and what the criteria compare with.
  using Key = std::tuple<Feature, Declared, cases::Pass, cases::Bias, cases::Format, bool, int>;
  std::map<Key, std::vector<std::size_t>> by_cell;
  for (std::size_t n = 0; n < mutants.size(); ++n) {
    const Mutant& m = mutants[n];
    by_cell[{m.info->feature, m.info->declared, m.pass, m.bias, m.format, m.diffuse,
             m.variant.splits}]
        .push_back(n);
  }
  const std::vector<std::pair<Key, std::vector<std::size_t>>> cells(by_cell.begin(), by_cell.end());
  std::vector<ControlResult> controls(cells.size());
  std::atomic<std::size_t> finished = 0;
  std::mutex telling;
  verdict::for_each_index(cells.size(), effort.threads, [&](std::size_t c) {
    const Mutant& first = mutants[cells[c].second.front()];
    Cell cell(first, effort, Draw(effort.seed, c).word(0));
    for (const std::size_t n : cells[c].second) {
      result.mutants[n] = judge_mutant(mutants[n], cell, effort);
      ++finished;
      const std::scoped_lock lock(telling);
      if (done) done(finished);
    }
    judge_control(cell, first, controls[c]);
  });
  for (const auto& part : controls) {
    result.control.judged += part.judged;
    result.control.failed += part.failed;
    result.control.failures.insert(result.control.failures.end(), part.failures.begin(),
                                   part.failures.end());
    for (int n = 0; n < criterion_count; ++n) {
      result.control.compared[n] += part.compared[n];
      result.control.rejected[n] += part.rejected[n];
    }
  }
  return result;
}

}  // namespace plumbline::bench
