// SPDX-License-Identifier: Apache-2.0
#include "verdict/property.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <unordered_map>

#include "support/error.hpp"
#include "verdict/spec_generator.hpp"

namespace plumbline::cases {
void showValue(const Spec& spec, std::ostream& out) { out << to_line(spec); }
}  // namespace plumbline::cases

namespace plumbline::verdict {
namespace {

Judgement run_and_judge(const Kernel& kernel, const cases::Spec& spec, int threads) {
  const cases::Case the_case = cases::generate(spec);
  const KernelRun run = kernel.run(the_case);
  if (!run.failure.empty()) {
    Judgement judgement;
    judgement.outcome = Outcome::fail;
    judgement.failure = run.failure;
    return judgement;
  }
  return judge(the_case, kernel.contract(), run.outputs, threads);
}

CellResult cell_of(const Kernel& kernel, cases::BiasMethod bias, cases::Format format) {
  CellResult result;
  result.kernel = kernel.name();
  result.bias = bias;
  result.format = format;
  return result;
}

void count(CellResult& result, const Judgement& judgement) {
  result.rows += judgement.rows;
  result.ill_conditioned_rows += judgement.ill_conditioned_rows;
  result.undecided += judgement.outcome == Outcome::undecided;
  result.worst_o = std::max(result.worst_o, judgement.o.worst.ratio);
  result.worst_lse = std::max(result.worst_lse, judgement.lse.worst.ratio);
  result.outcome = worse(result.outcome, judgement.outcome);
}

/// RapidCheck's listener, used for nothing: progress is told by the property itself.
struct Silent : rc::detail::TestListener {
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

}  // namespace

CellResult check_spec(const Kernel& kernel, const cases::Spec& spec, int threads) {
  CellResult result = cell_of(kernel, spec.bias, spec.format);
  result.supported = kernel.supports(spec);
  if (!result.supported) return result;
  result.cases = 1;
  const Judgement judgement = run_and_judge(kernel, spec, threads);
  count(result, judgement);
  if (judgement.outcome != Outcome::pass) result.counterexample = {spec, judgement};
  return result;
}

CellResult check_cell(const Kernel& kernel, cases::BiasMethod bias, cases::Format format, int cases,
                      std::uint64_t seed, int threads, const CaseDone& case_done) {
  CellResult result = cell_of(kernel, bias, format);
  const auto supported = [&](const cases::Spec& spec) { return kernel.supports(spec); };
  cases::Spec probe;
  probe.bias = bias;
  probe.format = format;
  result.supported = supported(probe);
  if (!result.supported) return result;

  const auto specs = arbitrary_spec(bias, format, supported);
  bool failed = false;
  const auto property = [&] {
    const cases::Spec spec = *specs;
    const Judgement judgement = run_and_judge(kernel, spec, threads);
    const bool fails = judgement.outcome == Outcome::fail;
    if (!failed) {
      count(result, judgement);
      case_done(++result.cases);
    }
    // RapidCheck takes every failing shrink for its next start, so the last failing case is the
    // smallest. Of undecided cases the first is kept, until one fails.
    if (fails || (judgement.outcome == Outcome::undecided && !result.counterexample)) {
      result.counterexample = {spec, judgement};
    }
    failed = failed || fails;
    RC_ASSERT(!fails);
  };
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = cases;
  Silent listener;
  const auto outcome =
      rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params, listener,
                                std::unordered_map<std::string, rc::detail::Reproduce>{});
  if (rc::detail::Error error; outcome.match(error)) throw std::runtime_error(error.description);
  return result;
}

}  // namespace plumbline::verdict
