// SPDX-License-Identifier: Apache-2.0
#include "verdict/property/property.hpp"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <unordered_map>

#include "support/error.hpp"
#include "support/out_of_memory.hpp"
#include "support/text.hpp"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/tensor_shapes.hpp"
#include "verdict/conventions/nearest_contract.hpp"
#include "verdict/conventions/separating_property.hpp"
#include "verdict/judge/same_bits.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/oracle/sample.hpp"
#include "verdict/process/last_words.hpp"
#include "verdict/property/offered_shapes.hpp"
#include "verdict/report/error_places.hpp"

namespace plumbline::cases {
void showValue(const Spec& spec, std::ostream& out) { out << to_line(spec); }
}  // namespace plumbline::cases

namespace plumbline::verdict {
namespace {

/// Whether the kernel runs this case a second time, for the same bits: one case in four, chosen by
/// its seed so that the repro line does the same.
bool runs_twice(const Kernel& kernel, const cases::Spec& spec) {
  return kernel.deterministic() && spec.seed % 4 == 0;
}

/// Whether the kernel first runs this case's shape with other numbers, so that what it wrongly
/// keeps from one call for the next shows: one case in eight, by its seed, too.
bool runs_after_another(const cases::Spec& spec) { return spec.seed % 8 == 1; }

/// The same shape with other numbers, those of the next seed that draws the same options: these
/// give parameters their shapes.
std::optional<cases::Spec> with_other_numbers(const Kernel& kernel, cases::Spec spec) {
  constexpr int most_seeds = 200;
  const auto options = cases::drawn_options(spec);
  for (int n = 0; n < most_seeds; ++n) {
    ++spec.seed;
    if (cases::drawn_options(spec) == options && kernel.supports(spec)) return spec;
  }
  return std::nullopt;
}

Judgement failed_run(std::string kind, std::string failure) {
  Judgement judgement;
  judgement.outcome = Outcome::fail;
  judgement.kind = std::move(kind);
  judgement.failure = std::move(failure);
  return judgement;
}

Judgement failed_run(const SupportsFailed& failed) {
  Judgement judgement = failed_run(failed.end.kind, failed.end.failure);
  judgement.device_lost = failed.end.device_lost;
  return judgement;
}

/// Of a case's q, k, v, o and gradients, each number as a float and in a byte or more of what the
/// kernel gets.
double fewest_bytes(const cases::Spec& spec) {
  const auto numbers = [&](const cases::Shape& shape) {
    return static_cast<double>(cases::elements(shape));
  };
  const double inputs = numbers(cases::query_shape(spec)) + numbers(cases::key_shape(spec)) +
                        numbers(cases::value_shape(spec));
  const double of_o = numbers(cases::output_shape(spec));
  const double arrays = spec.pass == cases::Pass::backward ? 2 * (inputs + of_o) : inputs + of_o;
  return arrays * (sizeof(float) + 1);
}

/// @param outputs gets those that were judged.
Judgement run_and_judge(const Kernel& kernel, const cases::Spec& spec, int threads,
                        cases::Outputs& outputs) {
  require_memory(fewest_bytes(spec), fmt::format("the arrays of case '{}'", cases::to_line(spec)));
  const auto run_once = [&](const cases::Case& of) {
    const KernelRuns running(" while it ran this case\n  repeat: ./plumbline verify --kernels " +
                             kernel.name() + " --case '" + cases::to_line(spec) +
                             "', and --kernel or --backend as before\n");
    return kernel.run(of);
  };
  KernelRun run;
  std::vector<std::string> opened_before;
  if (const auto other =
          runs_after_another(spec) ? with_other_numbers(kernel, spec) : std::nullopt) {
    run = run_once(cases::generate(*other));
    opened_before = run.opened_files;
  }
  const cases::Case the_case = cases::generate(spec);
  if (run.failure.empty()) {
    run = run_once(the_case);
    run.opened_files.insert(run.opened_files.end(), opened_before.begin(), opened_before.end());
  }
  if (run.failure.empty() && runs_twice(kernel, spec)) {
    KernelRun again = run_once(the_case);
    if (again.failure.empty()) {
      again.failure = first_difference(spec.bias, run.outputs, again.outputs);
      if (!again.failure.empty()) again.kind = kernel_process::failure_kind::nondeterministic;
    }
    if (!again.failure.empty()) run = std::move(again);
  }
  // Only now does anything hold the expected outputs.
  for (const auto& file : run.opened_files) {
    if (!run.failure.empty() || !cases::is_of_the_oracle(file)) continue;
    run.failure = "the kernel opened " + path_in_quotes(file) +
                  ", which contains the oracle's outputs, while it ran";
    run.kind = kernel_process::failure_kind::read_expected;
  }
  Judgement judgement;
  if (run.failure.empty()) {
    judgement = judge(the_case, kernel.contract(spec.format), run.outputs, threads);
    judgement.forward_is_oracles = run.forward_is_oracles;
    outputs = std::move(run.outputs);
  } else {
    judgement = failed_run(run.kind, run.failure);
    judgement.device_lost = run.device_lost;
  }
  judgement.opened_files = run.opened_files;
  return judgement;
}

CellResult cell_of(const Kernel& kernel, cases::Pass pass, cases::Bias bias, cases::Format format) {
  CellResult result;
  result.kernel = kernel.name();
  result.contract = kernel.contract(format);
  result.pass = pass;
  result.bias = bias;
  result.format = format;
  return result;
}

/// @param number of the case among the cell's.
void count(CellResult& result, const cases::Spec& spec, const Judgement& judgement, int number) {
  result.rows += judgement.rows;
  result.cover.add(spec);
  result.cover.unjudged_rows += judgement.unjudged_rows;
  result.ill_conditioned_rows += judgement.ill_conditioned_rows;
  result.rows_left_out += judgement.rows_left_out;
  result.undecided += judgement.outcome == Outcome::undecided;
  for (const auto& output : judgement.outputs) {
    if (judgement.forward_is_oracles && !output.name.starts_with("grad_")) continue;
    OutputSummary& summary = result.outputs[output.name];
    if (summary.elements == 0 || output.worst.ratio > summary.worst) {
      summary.worst = output.worst.ratio;
      summary.worst_case = spec;
      summary.worst_at = number;
      summary.worst_map = error_map(output);
    }
    for (const double ratio : output.ratios) {
      if (!std::isnan(ratio)) summary.distribution.add(ratio);
    }
    summary.elements += output.elements;
    summary.nonzero += output.nonzero;
    summary.blind += output.blind;
  }
  result.outcome = worse(result.outcome, judgement.outcome);
}

/// @throws BadInput naming the kernel, the format and the field.
void require_contract(const CellResult& cell) {
  try {
    validate(cell.contract, cell.format);
  } catch (const BadInput& error) {
    throw BadInput("kernel " + cell.kernel + ", " + std::string(cases::name(cell.format)), error);
  }
}

/// A sum of n terms with roundoff u has a bound while n u < 1 (γ_n of docs/bounds.md): so many
/// keys, or in the backward pass queries of a key head.
double fewest_terms_without_bound(const Contract& contract) { return 1 / contract.unit_roundoff; }
bool has_bounds(const Contract& contract, const cases::Spec& spec) {
  const double queries = spec.pass == cases::Pass::backward
                             ? static_cast<double>(spec.queries) * spec.heads / spec.kv_heads
                             : 1;
  return !(std::max<double>(spec.keys, queries) >= fewest_terms_without_bound(contract));
}

/// What a kernel gave for a spec.
struct GivenCase {
  cases::Spec spec;
  cases::Outputs outputs;
};

/// More cases of a cell, to try contracts on that the failing ones pass: small ones of some seeds.
std::vector<cases::Spec> cases_to_try(const cases::Spec& failing, const Offer& offer,
                                      const Supported& supported, const Shapes& shapes) {
  constexpr int drawn = 40;
  constexpr std::size_t enough = 12;
  std::vector<cases::Spec> specs;
  const auto generator =
      arbitrary_spec(failing.pass, failing.bias, failing.format, supported, offer, shapes);
  rc::Random random(failing.seed);
  for (int n = 0; n < drawn && specs.size() < enough; ++n) {
    cases::Spec spec = generator(random.split(), 0).value();
    if (!is_too_large_for_contracts(spec) && supported.asked(spec)) specs.push_back(spec);
  }
  return specs;
}

/// What the kernel gives for each of the specs, but for those that it fails to run.
std::vector<GivenCase> given_for(const Kernel& kernel, const std::vector<cases::Spec>& specs) {
  std::vector<GivenCase> all;
  for (const cases::Spec& spec : specs) {
    try {
      const KernelRuns running(" while it ran case '" + cases::to_line(spec) +
                               "', to find which contract it passes\n");
      KernelRun run = kernel.run(cases::generate(spec));
      if (run.failure.empty()) all.push_back({spec, std::move(run.outputs)});
    } catch (const SupportsFailed&) {  // the cell's verdict does not depend on this case
    }
  }
  return all;
}

/// Names a contract that the failing cases pass, and that no other case which the kernel runs now
/// refutes: of a small case many contracts would do.
/// @param more gives such cases; called if there is anything to refute.
template <class More>
void look_for_nearest_contract(const Kernel& kernel, const Contract& declared, Judgement& judgement,
                               std::vector<GivenCase> failing, const More& more, int threads) {
  if (!may_pass_another_contract(judgement)) return;
  constexpr int most_refutations = 8;
  std::optional<std::vector<GivenCase>> others;
  for (int refuted = 0; refuted <= most_refutations; ++refuted) {
    std::vector<cases::Case> failing_cases;
    for (const GivenCase& given : failing) failing_cases.push_back(cases::generate(given.spec));
    std::vector<FailingOutputs> outputs;
    for (std::size_t n = 0; n < failing.size(); ++n) {
      outputs.push_back({failing_cases[n], failing[n].outputs});
    }
    const auto nearest = nearest_contract(declared, outputs, threads);
    if (!nearest) return;
    if (!others) others = given_for(kernel, more());
    const auto refutes = std::ranges::find_if(*others, [&](const GivenCase& other) {
      return outcome_of(cases::generate(other.spec), nearest->contract, other.outputs, threads) ==
             Outcome::fail;
    });
    if (refutes == others->end()) {
      judgement.nearest_contract = nearest->match;
      return;
    }
    failing.push_back(std::move(*refutes));
    others->erase(refutes);
  }
}

/// A kernel that differs from run to run may have failed by chance: what its repeat line shows is
/// told beforehand.
void run_again(const Kernel& kernel, int threads, Counterexample& found) {
  constexpr int runs = 2;
  bool passed = false;
  for (int run = 0; run < runs && !passed; ++run) {
    cases::Outputs outputs;
    const Judgement again = run_and_judge(kernel, found.spec, threads, outputs);
    passed = again.outcome == Outcome::pass;
    if (!again.failure.empty()) return;  // it crashed, or hung, once more
  }
  if (!passed) return;
  found.judgement.remark = "another run of this case, on the same inputs, passed";
  if (kernel.deterministic()) {
    found.judgement.kind = kernel_process::failure_kind::nondeterministic;
  }
}

/// Of a kernel that fails with NaN where it was given some, or ends where a page has no number.
void tell_of_hidden_keys(const Kernel& kernel, Counterexample& found) {
  if (!kernel.ignores_hidden_keys(found.spec)) return;
  const std::string& kind = found.judgement.kind;
  if (kind == "nan" && kernel.gets_hidden_nan(found.spec)) {
    found.separates.push_back(
        "k and v are NaN at keys that no query sees, since ignores_hidden_keys is 1: do not "
        "multiply them with a weight of 0, or declare 0");
  }
  const bool ended = kind == kernel_process::failure_kind::crash ||
                     kind == kernel_process::failure_kind::read_outside;
  if (ended && found.spec.page_size > 0 && found.spec.mask.ragged) {
    found.separates.push_back(
        "pages of keys beyond a sequence's length are -1, since ignores_hidden_keys is 1: do not "
        "look them up, or declare 0");
  }
}

/// Of a kernel that fails for some of the ways only in which the software device does what hardware
/// leaves open: for which.
void ask_each_variation(const Kernel& kernel, int threads, Counterexample& found) {
  const auto names = kernel.variations();
  const bool hung = found.judgement.kind == kernel_process::failure_kind::hang;
  if (names.size() < 2 || !kernel.on_software_device() || hung) return;
  std::vector<std::string> passes, fails;
  for (std::size_t n = 0; n < names.size(); ++n) {
    cases::Outputs outputs;
    const Kernel varied = kernel.on_variation(static_cast<int>(n));
    const Judgement judgement = run_and_judge(varied, found.spec, threads, outputs);
    (judgement.outcome == Outcome::fail ? fails : passes).push_back(in_quotes(names[n]));
  }
  if (fails.empty() || passes.empty()) return;
  found.separates.push_back(
      fmt::format("what hardware leaves open decides: on the software device the case passes with "
                  "{} and fails with {}",
                  fmt::join(passes, ", "), fmt::join(fails, ", ")));
}

std::string_view words(cases::Layout layout) {
  switch (layout) {
    case cases::Layout::contiguous:
      return "contiguous";
    case cases::Layout::tokens_first:
      return "views of [batch, tokens, heads, head_dim]";
    case cases::Layout::spaced:
      return "every other row of an array";
    case cases::Layout::packed_qkv:
      return "parts of one array, a token's q, k and v in a row";
    case cases::Layout::packed_sequences:
      return "packed sequences";
  }
  return "?";
}

/// Of a kernel that fails where rows do not lie one after the other, and passes where they do.
void ask_with_contiguous_arrays(const Kernel& kernel, int threads, Counterexample& found) {
  cases::Spec spec = found.spec;
  const bool hung = found.judgement.kind == kernel_process::failure_kind::hang;
  if (spec.layout == cases::Layout::contiguous || found.judgement.device_lost || hung) return;
  spec.layout = cases::Layout::contiguous;
  try {
    if (!kernel.supports(spec)) return;
  } catch (const SupportsFailed&) {
    return;
  }
  cases::Outputs outputs;
  if (run_and_judge(kernel, spec, threads, outputs).outcome != Outcome::pass) return;
  found.separates.push_back(fmt::format("passes where all arrays are contiguous; here they are {}",
                                        words(found.spec.layout)));
}

/// Of a kernel that fails after it ran the same shape with other numbers, and passes with those.
void ask_of_the_run_before(const Kernel& kernel, int threads, Counterexample& found) {
  if (!runs_after_another(found.spec) || found.judgement.outputs.empty()) return;
  const auto other = with_other_numbers(kernel, found.spec);
  if (!other) return;
  cases::Outputs before, outputs;
  if (run_and_judge(kernel, *other, threads, before).outcome != Outcome::pass) return;
  if (run_and_judge(kernel, found.spec, threads, outputs).outcome != Outcome::fail) return;
  if (first_difference(found.spec.bias, before, outputs).empty()) {
    found.separates.push_back(
        "gives, bit by bit, what it gave in the run before, for other numbers of the same shape: "
        "it keeps results from one call for the next");
    return;
  }
  // It may be the numbers: then others of the same shape pass.
  const auto third = with_other_numbers(kernel, *other);
  if (!third || run_and_judge(kernel, *third, threads, outputs).outcome != Outcome::fail) return;
  found.separates.push_back(
      "of several runs of the same shape with different numbers the first alone passes: it may "
      "keep something from one call for the next");
}

/// What else is known of a failing case.
void tell_more(const Kernel& kernel, int threads, Counterexample& found) {
  ask_each_variation(kernel, threads, found);
  tell_of_hidden_keys(kernel, found);
  ask_with_contiguous_arrays(kernel, threads, found);
  ask_of_the_run_before(kernel, threads, found);
}

std::vector<std::string> places_of(const Judgement& judgement) {
  std::vector<std::string> places;
  for (const auto& output : judgement.outputs) {
    const std::string where = where_it_fails(output);
    if (!where.empty()) places.push_back(output.name + ": " + where);
  }
  return places;
}

bool sees_two_keys(const cases::Spec& spec) {
  const cases::Case the_case = cases::generate(spec);
  const auto mask = mask_of(the_case);
  for (int batch = 0; batch < spec.batch; ++batch) {
    for (int head = 0; head < (spec.mask.per_head ? spec.heads : 1); ++head) {
      for (int query = spec.queries; query-- > 0;) {
        const int position = the_case.position(batch, query);
        if (reference::visible_keys(mask, batch, position, spec.keys, head).size() > 1) return true;
      }
    }
  }
  return false;
}

/// Whether a failing case says as much of what is wrong as the larger one that it is made from.
/// What fails in another way may be another fault: a read outside of an input is no wrong number,
/// and wrong numbers are not zeros. A row that sees one key is that key's value, bit by bit,
/// whatever was done to scores: where two keys tell more, one is too few.
bool tells_as_much(const Counterexample& smaller, const Counterexample& larger) {
  if (smaller.judgement.kind != larger.judgement.kind) return false;
  if (larger.judgement.outputs.empty()) return true;
  return sees_two_keys(smaller.spec) || !sees_two_keys(larger.spec);
}

/// Each takes as long as the time limit: so many in a cell are enough, the first one among them.
constexpr int most_hangs = 3;

/// RapidCheck's listener, used for nothing: progress is told by the property itself.
struct Silent : rc::detail::TestListener {
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

}  // namespace

std::vector<std::string> CellResult::blind_outputs() const {
  std::vector<std::string> names;
  for (const auto& [output, summary] : outputs) {
    if (summary.wholly_blind()) names.push_back(output);
  }
  return names;
}

void add_case(CellResult& cell, const cases::Spec& spec, const Judgement& judgement) {
  count(cell, spec, judgement, cell.cases++);
  if (judgement.outcome != Outcome::pass) cell.counterexample = {spec, judgement};
}

namespace {

Supported asked_of(const Kernel& kernel) {
  const auto asked = [&kernel](const cases::Spec& spec) {
    try {
      return kernel.supports(spec);
    } catch (const SupportsFailed&) {
      return true;  // the check of the cell finds it again, and tells it
    }
  };
  return {asked, [&kernel](std::span<const cases::Spec> specs) { kernel.will_be_asked(specs); }};
}

}  // namespace

CellResult check_spec(const Kernel& kernel, const cases::Spec& spec, int threads) {
  CellResult result = cell_of(kernel, spec.pass, spec.bias, spec.format);
  Judgement judgement;
  cases::Outputs outputs;
  try {
    result.supported = kernel.supports(spec);
    if (!result.supported) return result;
    require_contract(result);
    judgement = run_and_judge(kernel, spec, threads, outputs);
    const auto more = [&] { return cases_to_try(spec, {}, asked_of(kernel), {}); };
    look_for_nearest_contract(kernel, result.contract, judgement, {{spec, outputs}}, more, threads);
  } catch (const SupportsFailed& failed) {
    judgement = failed_run(failed);
  }
  add_case(result, spec, judgement);
  if (judgement.outcome == Outcome::fail) {
    try {
      tell_more(kernel, threads, *result.counterexample);
    } catch (const SupportsFailed&) {  // the judgement says it
    }
  }
  return result;
}

Offer offer_of(const Kernel& kernel, cases::Pass pass, cases::Bias bias, cases::Format format,
               const Shapes& shapes) {
  if (!kernel.has_pass(pass)) return {};
  return find_offer(pass, bias, format, asked_of(kernel), shapes);
}

Offer offer_like(const Offer& others, const Kernel& kernel, cases::Pass pass, cases::Bias bias,
                 cases::Format format, const Shapes& shapes) {
  if (!kernel.has_pass(pass)) return {};
  return find_offer_like(others, pass, bias, format, asked_of(kernel), shapes);
}

Offer offer_of_models(const Kernel& kernel, cases::Pass pass, cases::Bias bias,
                      cases::Format format, const Shapes& shapes) {
  if (!kernel.has_pass(pass) || !kernel.declares(format)) return {};
  return find_offer_of_models(pass, bias, format, asked_of(kernel), shapes);
}

CellResult check_cell(const Kernel& kernel, cases::Pass pass, cases::Bias bias,
                      cases::Format format, int cases, std::uint64_t seed, int threads,
                      const CaseDone& case_done, const Shard& shard, const Draws& draws) {
  CellResult result = cell_of(kernel, pass, bias, format);
  const Offer offer =
      !draws.offer.empty() ? draws.offer : offer_of(kernel, pass, bias, format, draws.shapes);
  result.supported = !offer.empty();
  if (!result.supported) return result;
  require_contract(result);

  result.declined = declined(offer, asked_of(kernel));
  if (fewest_terms_without_bound(result.contract) <= most_keys_drawn) {
    result.declined.push_back(
        fmt::format("sums of {} terms or more (none has a bound: unit_roundoff is {})",
                    fewest_terms_without_bound(result.contract), result.contract.unit_roundoff));
  }

  cases::Spec first_failing;
  // The first ones of those that contracts are tried on, and the smallest, which alone may not tell
  // two fields apart: of one key lse is the score.
  std::vector<GivenCase> failing;
  constexpr std::size_t enough_failing = 4;
  std::vector<std::string> first_places;
  bool failed = false, device_lost = false;
  int hangs = 0, drawn = 0, smaller = 0;
  double work_of_smaller = 0;
  double work = 0;  // of all that was drawn
  std::exception_ptr thrown;
  // After these nothing that runs would say anything, or soon enough: let the shrinking find no
  // smaller case.
  const auto spent = [&] {
    return (work > draws.most_work || draws.time_is_up()) && drawn >= fewest_cases;
  };
  const auto given_up = [&] {
    if (device_lost || thrown || hangs >= most_hangs) return true;
    if (!failed) return drawn >= shard.end || spent();
    return smaller >= draws.most_smaller || work_of_smaller > draws.most_work_of_smaller ||
           draws.time_is_up();
  };
  std::vector<Trial> trials;
  std::optional<SupportsFailed> unanswered;  // of a drawn spec
  int with_bounds = 0, without_bounds = 0;
  const auto supported = [&](const cases::Spec& spec) {
    if (given_up()) return true;
    unanswered.reset();
    if (!has_bounds(result.contract, spec)) return ++without_bounds, false;
    ++with_bounds;
    try {
      return kernel.supports(spec);
    } catch (const SupportsFailed& no_answer) {
      unanswered = no_answer;
      return true;  // drawn, and found failing below
    }
  };
  const auto specs = arbitrary_spec(pass, bias, format, supported, offer, draws.shapes);
  const auto property = [&] {
    const cases::Spec spec = *specs;
    if (given_up()) return;
    const auto no_answer = [&] { return unanswered && unanswered->spec == spec; };
    if (!no_answer() && !supported(spec)) RC_DISCARD("the kernel does not offer this shape");
    // Smaller cases of a failing one are all of its shard. Where supports() fails, it does so for
    // every shard.
    (failed ? work_of_smaller : work) += work_of(spec);
    smaller += failed;
    const bool own = failed || shard.has(drawn++);
    if (!own && !no_answer()) return;
    Judgement judgement;
    cases::Outputs outputs;
    bool in_supports = no_answer();
    try {
      try {
        judgement =
            in_supports ? failed_run(*unanswered) : run_and_judge(kernel, spec, threads, outputs);
      } catch (const SupportsFailed& no_forward) {  // of the case's forward pass
        judgement = failed_run(no_forward);
        in_supports = true;
      }
      if (!failed) {
        count(result, spec, judgement, drawn - 1);
        // Where sequences have lengths, keys beyond them are hidden.
        const bool has_hidden = spec.mask.ragged && !spec.is_packed();
        result.cover.cases["NaN in hidden keys"][has_hidden && kernel.gets_hidden_nan(spec)] += 1;
        case_done(++result.cases);
      }
    } catch (...) {
      // RapidCheck would take it for a failing case and say no word of it.
      thrown = std::current_exception();
    }
    if (thrown) RC_FAIL("an exception");
    device_lost = judgement.device_lost;
    const bool hung = judgement.kind == kernel_process::failure_kind::hang;
    hangs += hung;
    // What is not asked again has no smaller case.
    if (judgement.kind == kernel_process::failure_kind::protocol || (hung && in_supports)) {
      hangs = most_hangs;
    }
    // A smaller case that could not be run is no smaller failing case.
    const bool not_run = judgement.kind == kernel_process::failure_kind::no_process;
    bool fails = judgement.outcome == Outcome::fail && !(failed && not_run);
    if (fails || judgement.outcome == Outcome::pass) trials.push_back({spec, fails});
    if (fails && failed) fails = tells_as_much({spec, judgement}, *result.counterexample);
    // RapidCheck takes every failing shrink for its next start, so the last failing case is the
    // smallest. Of undecided cases the first is kept, until one fails.
    if (fails || (judgement.outcome == Outcome::undecided && !result.counterexample)) {
      if (!failed) result.decided_at = drawn - 1;
      if (fails && !failed) {
        first_failing = spec;
        first_places = places_of(judgement);
      }
      if (!judgement.outputs.empty() && !is_too_large_for_contracts(spec)) {
        if (failing.size() == enough_failing) failing.pop_back();
        failing.push_back({spec, std::move(outputs)});
      }
      result.counterexample = {spec, judgement};
      if (fails && spec != first_failing) {
        result.counterexample->drawn = first_failing;
        result.counterexample->drawn_places = first_places;
      }
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
  if (thrown) std::rethrow_exception(thrown);
  if (failed) {
    Counterexample& found = *result.counterexample;
    found.separates = separating_properties(trials, found.spec);
    try {
      if (!found.judgement.outputs.empty()) run_again(kernel, threads, found);
      tell_more(kernel, threads, found);
    } catch (const SupportsFailed&) {  // the judgement says what fails
    }
    const auto more = [&] {
      return cases_to_try(found.spec, offer, asked_of(kernel), draws.shapes);
    };
    look_for_nearest_contract(kernel, result.contract, found.judgement, failing, more, threads);
  }
  if (rc::detail::Error error; outcome.match(error)) throw std::runtime_error(error.description);
  if (!failed && with_bounds == 0 && without_bounds > 0) {
    const double terms = fewest_terms_without_bound(result.contract);
    throw BadInput(pass == cases::Pass::backward ? "keys, or queries of a key head" : "keys",
                   fmt::format("{} or more in every case", terms),
                   fmt::format("fewer: a sum of so many terms has no bound where unit_roundoff is "
                               "{}",
                               result.contract.unit_roundoff));
  }
  if (!failed && !spent() && drawn < std::min(cases, shard.end)) {
    throw std::runtime_error(std::string(cases::name(pass)) + " " + std::string(cases::name(bias)) +
                             " " + std::string(cases::name(format)) + " of " + kernel.name() +
                             ": only " + std::to_string(drawn) + " of " + std::to_string(cases) +
                             " cases that the kernel supports could be drawn");
  }
  return result;
}

}  // namespace plumbline::verdict
