// SPDX-License-Identifier: Apache-2.0
// The property-based check: for one kernel, bias and format, random cases must pass.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verdict/judge/distribution.hpp"
#include "verdict/judge/judge.hpp"
#include "verdict/process/kernel_library.hpp"
#include "verdict/property/spec_generator.hpp"
#include "verdict/report/cover.hpp"
#include "verdict/report/error_map.hpp"

namespace plumbline::verdict {

/// The smallest failing case that was found, and its judgement.
struct Counterexample {
  cases::Spec spec;
  Judgement judgement;
  /// The case that was made smaller, and where its outputs fail: "o: queries from 64 on". Empty
  /// where nothing is smaller than it, or where they fail everywhere.
  cases::Spec drawn{};
  std::vector<std::string> drawn_places{};
  /// separating_properties() of the cases that were run, and on which of the software device's
  /// variations this one passes.
  std::vector<std::string> separates{};
};

/// Of one output, over the cases of a cell.
struct OutputSummary {
  double worst = 0;                           ///< largest |error| / bound
  long elements = 0, nonzero = 0, blind = 0;  ///< as in OutputJudgement
  Distribution distribution{};                ///< of |error| / bound
  cases::Spec worst_case{};                   ///< where the worst element is
  int worst_at = 0;                           ///< number of that case among the cell's, from 0
  ErrorMap worst_map{};
  /// There was something to see, and every bound would have let 0 pass.
  bool wholly_blind() const { return nonzero > 0 && blind == nonzero; }
};

/// What was checked of one kernel, pass, bias and format.
struct CellResult {
  std::string kernel;
  cases::Pass pass = cases::Pass::forward;
  cases::Bias bias = PLUMBLINE_NOPE;
  cases::Format format = cases::Format::fp32;
  bool supported = true;
  Contract contract{};
  Outcome outcome = Outcome::pass;
  int cases = 0, undecided = 0;
  long rows = 0, ill_conditioned_rows = 0;
  long rows_left_out = 0;  ///< that the contract says not to judge
  std::map<std::string, OutputSummary> outputs;
  std::optional<Counterexample> counterexample;
  /// Number of the case that it is made from among the cell's: of the first that fails, else of the
  /// first undecided one.
  int decided_at = 0;
  Cover cover{};
  /// Properties of cases that the kernel takes in no shape near those that it offers.
  std::vector<std::string> declined{};

  /// Outputs that the cell's cases say nothing of: not a reason to fail, and no pass.
  std::vector<std::string> blind_outputs() const;
};

/// Counts a judged case in the cell; one that does not pass is its counterexample.
void add_case(CellResult& cell, const cases::Spec& spec, const Judgement& judgement);

/// Called after every case, with the number of cases so far.
using CaseDone = std::function<void(int)>;

/// One of `count` parts of a run's cases: every count-th, from `first` on, whichever cells they are
/// of. The parts together are all of them, and differ by one case at most.
struct Shard {
  int first = 0, count = 1;
  long before = 0;                            ///< the run's cases before those of the cell
  int end = std::numeric_limits<int>::max();  ///< the cell's cases from this number on are left out

  bool has(long drawn) const { return (before + drawn) % count == first; }
};

/// How a cell's cases are drawn.
struct Draws {
  Shapes shapes{};
  /// What the kernel offers of the cell; empty: it is looked for.
  Offer offer{};
  /// Of all cases together, as work_of() counts it: with so much drawn the cell ends, but not
  /// before fewest_cases.
  double most_work = std::numeric_limits<double>::infinity();
  /// Of a failing case so many smaller ones are tried, of so much work together.
  int most_smaller = 1000;
  double most_work_of_smaller = 0x1p32;
  /// Asked before each case. Once it says yes, the cell ends, but not before fewest_cases, and no
  /// smaller failing case is tried.
  std::function<bool()> time_is_up = [] { return false; };
};
inline constexpr int fewest_cases = 5;

/// Draws `cases` specs from `seed`, runs and judges those of the shard, stops at the first failure
/// and shrinks it.
CellResult check_cell(const Kernel& kernel, cases::Pass pass, cases::Bias bias,
                      cases::Format format, int cases, std::uint64_t seed, int threads,
                      const CaseDone& case_done, const Shard& shard = {}, const Draws& draws = {});

/// What the kernel offers of this pass, bias and format, as find_offer() looks for it.
Offer offer_of(const Kernel& kernel, cases::Pass pass, cases::Bias bias, cases::Format format,
               const Shapes& shapes = {});
/// The same as find_offer_like() looks for it.
Offer offer_like(const Offer& others, const Kernel& kernel, cases::Pass pass, cases::Bias bias,
                 cases::Format format, const Shapes& shapes);
/// The same among the shapes of models (find_offer_of_models), in the formats that the kernel
/// declares a contract for.
Offer offer_of_models(const Kernel& kernel, cases::Pass pass, cases::Bias bias,
                      cases::Format format, const Shapes& shapes);

/// Runs and judges one spec: what a repro line does.
CellResult check_spec(const Kernel& kernel, const cases::Spec& spec, int threads);

}  // namespace plumbline::verdict
