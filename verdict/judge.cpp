// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.hpp"
#include "verdict/oracle.hpp"
#include "verdict/rows.hpp"

namespace plumbline::verdict {
namespace {

/// The judgement of a row, to be added up in the order of the rows.
struct RowJudgement {
  OutputJudgement o, lse;
  bool ill_conditioned = false;
};

/// A failing element is worse than an undecided one, whatever its ratio.
bool is_worse(const Element& a, const Element& b) {
  return a.outcome != b.outcome ? a.outcome > b.outcome : a.ratio > b.ratio;
}

/// The format that o is stored in. Outputs in a file may widen bf16 to float: then every value
/// still is a bf16 number. A float output of a bf16 case gets no bf16 rounding.
cases::Format stored_format(const cases::Spec& spec, const cases::Outputs& outputs) {
  const auto is_bf16 = [](float value) {
    return (std::bit_cast<std::uint32_t>(value) & 0xFFFFu) == 0;
  };
  const bool bf16 = spec.format == cases::Format::bf16 &&
                    std::all_of(outputs.o.begin(), outputs.o.end(), is_bf16);
  return bf16 ? cases::Format::bf16 : cases::Format::fp32;
}

/// Whether the element passes, fails or cannot be decided; counted in `output`.
void judge_element(OutputJudgement& output, const OracleNumber& oracle, double got, Element where) {
  ++output.elements;
  const double error = std::abs(got - oracle.value);
  where.got = got;
  where.expected = oracle.value;
  where.bound = oracle.bound;
  where.ratio = error / oracle.bound;
  if (!(where.ratio >= 0)) where.ratio = std::numeric_limits<double>::infinity();
  if (error == 0) where.ratio = 0;
  Outcome outcome = Outcome::pass;
  if (!std::isfinite(oracle.bound) || !std::isfinite(oracle.value)) {
    outcome = Outcome::undecided;  // fp32 cannot hold this case, or the oracle could not read it
  } else if (std::isnan(got) || error - oracle.radius > oracle.bound) {
    outcome = Outcome::fail;
  } else if (!(oracle.radius <= largest_radius * oracle.bound) ||
             !(error + oracle.radius <= oracle.bound)) {
    outcome = Outcome::undecided;
  }
  where.outcome = outcome;
  output.failed += outcome == Outcome::fail;
  output.undecided += outcome == Outcome::undecided;
  output.outcome = worse(output.outcome, outcome);
  if (output.elements == 1 || is_worse(where, output.worst)) output.worst = where;
}

/// A row that sees no key: o is zero, of either sign, and lse = -infinity.
void judge_exactly(OutputJudgement& output, double expected, double got, Element where) {
  ++output.elements;
  where.got = got;
  where.expected = expected;
  const bool equal = got == expected;
  where.ratio = equal ? 0.0 : std::numeric_limits<double>::infinity();
  where.outcome = equal ? Outcome::pass : Outcome::fail;
  output.failed += !equal;
  output.outcome = worse(output.outcome, where.outcome);
  if (output.elements == 1 || is_worse(where, output.worst)) output.worst = where;
}

RowJudgement judge_row(const Oracle& oracle, const cases::Outputs& outputs, int batch, int head,
                       int query, std::size_t row_index, int head_dim) {
  RowJudgement result;
  const OracleRow row = oracle.row(batch, head, query);
  result.ill_conditioned = row.ill_conditioned;
  const float* o = outputs.o.data() + row_index * head_dim;
  const float lse = outputs.lse[row_index];
  if (row.sees_no_key) {
    for (int d = 0; d < head_dim; ++d) {
      judge_exactly(result.o, 0.0, o[d], {batch, head, query, d});
    }
    judge_exactly(result.lse, -std::numeric_limits<double>::infinity(), lse, {batch, head, query});
    return result;
  }
  for (int d = 0; d < head_dim; ++d) {
    judge_element(result.o, row.o[d], o[d], {batch, head, query, d});
  }
  judge_element(result.lse, row.lse, lse, {batch, head, query});
  return result;
}

void add(OutputJudgement& total, const OutputJudgement& row, int head) {
  if (total.elements == 0 || is_worse(row.worst, total.worst)) total.worst = row.worst;
  total.elements += row.elements;
  total.failed += row.failed;
  total.undecided += row.undecided;
  total.outcome = worse(total.outcome, row.outcome);
  total.failed_by_head[head] += row.failed;
}

void require_size(const char* tensor, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw BadInput(tensor, fmt::format("{} numbers", got), fmt::format("{}", expected));
  }
}

std::string describe(const char* output_name, const OutputJudgement& output, bool has_component) {
  const Element& worst = output.worst;
  const std::string where =
      fmt::format("batch {}, head {}, query {}", worst.batch, worst.head, worst.query) +
      (has_component ? fmt::format(", component {}", worst.component) : "");
  std::string text = fmt::format(
      "  {}: {} of {} elements fail, {} undecided; worst at {}: got {:.9g}, expected {:.9g}, "
      "|error| {:.3g}, bound {:.3g}\n",
      output_name, output.failed, output.elements, output.undecided, where, worst.got,
      worst.expected, std::abs(worst.got - worst.expected), worst.bound);
  if (output.failed == 0) return text;
  text += fmt::format("  {}: failing heads:", output_name);
  for (std::size_t head = 0; head < output.failed_by_head.size(); ++head) {
    if (const long failed = output.failed_by_head[head]) {
      text += fmt::format(" {} ({} elements)", head, failed);
    }
  }
  return text + "\n";
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

Judgement judge(const cases::Case& the_case, const Contract& contract,
                const cases::Outputs& outputs, int threads) {
  const auto& spec = the_case.spec;
  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  require_size("o", outputs.o.size(), rows * spec.head_dim);
  require_size("lse", outputs.lse.size(), rows);

  const Oracle oracle(the_case, contract, stored_format(spec, outputs));
  std::vector<RowJudgement> row_judgements(rows);
  for_each_row(spec, threads, [&](std::size_t n, int batch, int head, int query) {
    row_judgements[n] = judge_row(oracle, outputs, batch, head, query, n, spec.head_dim);
  });

  Judgement judgement;
  judgement.rows = static_cast<long>(rows);
  judgement.o.failed_by_head.assign(spec.heads, 0);
  judgement.lse.failed_by_head.assign(spec.heads, 0);
  for (std::size_t n = 0; n < rows; ++n) {
    const int head = static_cast<int>(n / spec.queries % spec.heads);
    add(judgement.o, row_judgements[n].o, head);
    add(judgement.lse, row_judgements[n].lse, head);
    judgement.ill_conditioned_rows += row_judgements[n].ill_conditioned;
  }
  judgement.outcome = worse(judgement.o.outcome, judgement.lse.outcome);
  return judgement;
}

std::string describe(const Judgement& judgement) {
  if (!judgement.failure.empty()) return "  " + judgement.failure + "\n";
  std::string text;
  if (judgement.o.outcome != Outcome::pass || judgement.lse.outcome == Outcome::pass) {
    text += describe("o", judgement.o, true);
  }
  if (judgement.lse.outcome != Outcome::pass || judgement.o.outcome == Outcome::pass) {
    text += describe("lse", judgement.lse, false);
  }
  return text;
}

}  // namespace plumbline::verdict
