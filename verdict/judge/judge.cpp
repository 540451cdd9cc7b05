// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/judge/diagnosis.hpp"
#include "verdict/judge/element.hpp"
#include "verdict/judge/gradients.hpp"
#include "verdict/oracle/exact_rows.hpp"
#include "verdict/oracle/oracle.hpp"
#include "verdict/oracle/rows.hpp"
#include "verdict/oracle/sample.hpp"
#include "verdict/report/error_places.hpp"

namespace plumbline::verdict {
namespace {

/// The judgement of a row, to be added up in the order of the rows.
struct RowJudgement {
  OutputJudgement o, lse;
  bool ill_conditioned = false, left_out = false;
};

/// Whether an o within its bound is none that rounding a result to 16 bits gives. The bound of an
/// element has the roundoff of the format's coarsest numbers in it; its own is down to half of
/// that.
bool is_stored_wrongly(const OracleNumber& oracle, double got, cases::Format format) {
  if (!rounds_at_random(format)) return false;
  const bool within = std::abs(got - oracle.value) <= oracle.bound;
  if (!within || oracle.not_judged || !std::isfinite(oracle.bound) ||
      !std::isfinite(oracle.before_storing)) {
    return false;
  }
  return !is_rounded_from(oracle.value, oracle.before_storing + oracle.radius, got, format);
}

/// A row that sees no key, as the contract says.
void judge_empty_row(RowJudgement& result, const OracleRow& row, std::int32_t convention,
                     const float* o, float lse, const std::array<int, 4>& first) {
  result.left_out = convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE;
  std::array<int, 4> index = first;
  for (std::size_t d = 0; d < row.o.size(); ++d) {
    index[3] = static_cast<int>(d);
    if (result.left_out) {
      leave_out(result.o);
    } else if (convention == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
      judge_element(result.o, row.o[d], o[d], index);
    } else if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NAN) {
      judge_exactly(result.o, std::isnan(o[d]) ? 0.0 : NAN, std::isnan(o[d]) ? 0.0 : o[d], index);
    } else {
      judge_exactly(result.o, 0.0, o[d], index);
    }
  }
  if (result.left_out || convention == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
    leave_out(result.lse);
  } else if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NAN && std::isnan(lse)) {
    judge_exactly(result.lse, row.lse.value, row.lse.value, first);
  } else {
    judge_exactly(result.lse, row.lse.value, lse, first);
  }
}

RowJudgement judge_row(const Oracle& oracle, const cases::Case& the_case, const Contract& contract,
                       const cases::Outputs& outputs, std::size_t row_index,
                       cases::Format o_format) {
  const auto& spec = the_case.spec;
  const int batch = static_cast<int>(row_index / spec.queries / spec.heads),
            head = static_cast<int>(row_index / spec.queries % spec.heads),
            query = static_cast<int>(row_index % spec.queries), value_dim = spec.value_width();
  RowJudgement result;
  const OracleRow row = oracle.row(batch, head, query);
  result.ill_conditioned = row.ill_conditioned;
  const float* o = outputs.o.data() + row_index * value_dim;
  const bool has_lse = !contract.no_lse;
  const float lse = has_lse ? outputs.lse[row_index] : NAN;
  if (row.sees_no_key) {
    judge_empty_row(result, row, empty_rows_of(contract, the_case, batch, query), o, lse,
                    {batch, head, query});
    return result;
  }
  result.left_out = row.left_out;
  for (int d = 0; d < value_dim; ++d) {
    const std::array<int, 4> index{batch, head, query, d};
    if (is_stored_wrongly(row.o[d], o[d], o_format)) {
      judge_exactly(result.o, cases::stored(static_cast<float>(row.o[d].value), o_format), o[d],
                    index);
    } else {
      judge_element(result.o, row.o[d], o[d], index);
    }
  }
  if (has_lse) {
    judge_element(result.lse, row.lse, lse, {batch, head, query});
    judge_trends(result.lse, row.lse, lse, row.lse_along);
  }
  result.o.drift.add(row.o_drift);
  return result;
}

/// Elements of rows outside of the sample.
void add_unjudged(OutputJudgement& output, const std::vector<float>& numbers, std::size_t first,
                  int count, const cases::Spec& spec) {
  const int width = output.axes.size() == 4 ? spec.value_width() : 1;
  for (std::size_t n = first; n < first + count; ++n) {
    const auto row = n / width;
    judge_outside_sample(output, numbers[n],
                         {static_cast<int>(row / spec.queries / spec.heads),
                          static_cast<int>(row / spec.queries % spec.heads),
                          static_cast<int>(row % spec.queries), static_cast<int>(n % width)},
                         spec.family);
  }
}

void require_size(const char* tensor, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw BadInput(tensor, fmt::format("{} numbers", got), fmt::format("{}", expected));
  }
}

std::string describe(const OutputJudgement& output) {
  const Element& worst = output.worst;
  std::string where;
  for (std::size_t axis = 0; axis < output.axes.size(); ++axis) {
    where += fmt::format("{}{} {}", axis > 0 ? ", " : "", output.axes[axis], worst.index[axis]);
  }
  std::string text = fmt::format(
      "  {}: {} of {} elements fail, {} undecided; worst at {}: got {:.9g}, expected {:.9g}, "
      "|error| {:.3g}, bound {:.3g}\n",
      output.name, output.failed, output.elements, output.undecided, where, worst.got,
      worst.expected, std::abs(worst.got - worst.expected), worst.bound);
  if (output.failed == 0) {  // an element that fails says more than what many have in common
    for (const auto& what : statistics_that_fail(output)) {
      text += fmt::format("  {}: {}\n", output.name, what);
    }
  }
  if (const std::string where = where_it_fails(output); !where.empty()) {
    text += fmt::format("  {}: where it fails: {}\n", output.name, where);
  }
  // Where all fail alike, it says nothing more.
  const auto& by_head = output.failed_by_head;
  const bool alike = std::ranges::all_of(by_head, [&](long n) { return n == by_head.front(); });
  if (output.failed == 0 || by_head.empty() || alike) return text;
  text += fmt::format("  {}: failing heads:", output.name);
  for (std::size_t head = 0; head < by_head.size(); ++head) {
    if (const long failed = by_head[head]) {
      text += fmt::format(" {} ({} elements)", head, failed);
    }
  }
  return text + "\n";
}

Judgement judge_as_declared(const cases::Case& the_case, const Contract& contract,
                            const cases::Outputs& outputs, int threads) {
  const auto& spec = the_case.spec;
  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  require_size("o", outputs.o.size(), rows * spec.value_width());
  if (!contract.no_lse) require_size("lse", outputs.lse.size(), rows);

  const cases::Format format = o_format(spec, contract, outputs);
  const Oracle oracle(the_case, contract, format);
  const Sample sample(spec);
  std::vector<RowJudgement> row_judgements(sample.rows().size());
  for_each_index(sample.rows().size(), threads, [&](std::size_t n) {
    row_judgements[n] = judge_row(oracle, the_case, contract, outputs, sample.rows()[n], format);
  });

  Judgement judgement;
  judgement.rows = static_cast<long>(sample.rows().size());
  OutputJudgement o{"o", {"batch", "head", "query", "component"}},
      lse{"lse", {"batch", "head", "query"}};
  o.shape = {spec.batch, spec.heads, spec.queries, spec.value_width()};
  lse.shape = {spec.batch, spec.heads, spec.queries};
  o.failed_by_head.assign(spec.heads, 0);
  lse.failed_by_head.assign(spec.heads, 0);
  std::size_t next = 0;  // row that has not been added
  const auto add_unjudged_until = [&](std::size_t end) {
    for (; next < end; ++next) {
      add_unjudged(o, outputs.o, next * spec.value_width(), spec.value_width(), spec);
      if (!contract.no_lse) add_unjudged(lse, outputs.lse, next, 1, spec);
    }
  };
  for (std::size_t n = 0; n < sample.rows().size(); ++n) {
    add_unjudged_until(sample.rows()[n]);
    const int head = static_cast<int>(next++ / spec.queries % spec.heads);
    add(o, row_judgements[n].o, head);
    add(lse, row_judgements[n].lse, head);
    judgement.ill_conditioned_rows += row_judgements[n].ill_conditioned;
    judgement.rows_left_out += row_judgements[n].left_out;
  }
  add_unjudged_until(rows);
  judgement.unjudged_rows = static_cast<long>(rows - sample.rows().size());
  if (has_random_signs(spec) && sample.whole()) {
    // Given P, components differ in the signs of v alone; rows that share a key head do not.
    o.size.groups = static_cast<double>(spec.batch) * spec.kv_heads * spec.value_width();
    o.size.group_size = static_cast<double>(spec.heads) / spec.kv_heads * spec.queries;
    lse.size.groups = static_cast<double>(rows);
  }
  judge_drift(o);
  judge_drift(lse);
  judgement.outputs = {o};
  if (!contract.no_lse) judgement.outputs.push_back(lse);
  if (spec.pass == cases::Pass::backward) {
    for (auto& gradient : judge_gradients(the_case, contract, outputs, threads)) {
      judgement.outputs.push_back(std::move(gradient));
    }
  }
  for (const auto& output : judgement.outputs) {
    judgement.outcome = worse(judgement.outcome, output.outcome);
  }
  return judgement;
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass:
      return "pass";
    case Outcome::undecided:
      return "undecided";
    case Outcome::fail:
      return "FAIL";
  }
  return "unknown";
}

const OutputJudgement& Judgement::output(std::string_view name) const {
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const auto& output) { return output.name == name; });
  if (found == outputs.end()) throw std::out_of_range("no output " + std::string(name));
  return *found;
}

Judgement judge(const cases::Case& the_case, const Contract& declared,
                const cases::Outputs& outputs, int threads) {
  const Contract contract = contract_for(declared, the_case.spec);
  Judgement judgement = judge_as_declared(the_case, contract, outputs, threads);
  if (judgement.outcome == Outcome::fail && !contract.flushes_subnormals) {
    Contract flushing = contract;
    flushing.flushes_subnormals = 1;
    if (judge_as_declared(the_case, flushing, outputs, threads).outcome != Outcome::fail) {
      judgement.remark =
          "it would not fail if its contract said flushes_subnormals = 1: it seems to flush "
          "subnormal numbers to zero";
    }
  }
  if (judgement.outcome == Outcome::fail) {
    judgement.kind = "outside_bound";
    const Diagnosis diagnosis = diagnose(the_case, outputs, judgement);
    if (judgement.remark.empty() && !diagnosis.kind.empty()) {
      judgement.kind = diagnosis.kind;
      judgement.remark = diagnosis.text;
    }
  }
  return judgement;
}

Outcome outcome_of(const cases::Case& the_case, const Contract& contract,
                   const cases::Outputs& outputs, int threads) {
  return judge_as_declared(the_case, contract_for(contract, the_case.spec), outputs, threads)
      .outcome;
}

namespace {

/// A few, Python's compiled modules last: of those there may be many. JSON has them all.
std::string opened_by_kernel(std::vector<std::string> files) {
  constexpr std::size_t most = 4;
  std::stable_partition(files.begin(), files.end(),
                        [](const std::string& file) { return !file.ends_with(".pyc"); });
  const std::size_t shown = files.size() > most ? most - 1 : files.size();
  std::string text;
  for (std::size_t n = 0; n < shown; ++n)
    text += "  the kernel opened " + path_in_quotes(files[n]) + " while it ran\n";
  if (shown < files.size())
    text += fmt::format("  and {} more, which the JSON report lists\n",
                        counted(files.size() - shown, "file"));
  return text;
}

}  // namespace

std::string describe(const Judgement& judgement) {
  if (!judgement.failure.empty()) return "  " + judgement.failure + "\n";
  // Where some fail, only those.
  std::string text;
  if (!judgement.remark.empty()) text = "  " + judgement.remark + "\n";
  for (const auto& match : judgement.matches) text += "  " + match.text + "\n";
  if (judgement.nearest_contract && judgement.matches.empty()) {
    text += "  " + judgement.nearest_contract->text + "\n";
  }
  text += opened_by_kernel(judgement.opened_files);
  for (const auto& output : judgement.outputs) {
    if (output.outcome != Outcome::pass || judgement.outcome == Outcome::pass) {
      text += describe(output);
    }
  }
  return text;
}

}  // namespace plumbline::verdict
