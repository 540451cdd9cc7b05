// SPDX-License-Identifier: Apache-2.0
// Outputs against the oracle, element by element.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"
#include "verdict/judge/drift.hpp"

namespace plumbline::verdict {

/// undecided: the oracle's own error does not allow an answer for some element, and none fails.
enum class Outcome { pass, undecided, fail };
std::string_view name(Outcome);
inline Outcome worse(Outcome a, Outcome b) { return a > b ? a : b; }

/// One element of an output, and how far it is from the oracle.
struct Element {
  std::array<int, 4> index{};  ///< into the output, in the order of its axes
  double got = 0, expected = 0, bound = 0;
  double ratio = 0;  ///< |got - expected| / bound; infinite where got is not a number
  Outcome outcome = Outcome::pass;
};

/// In place of a ratio: the element is none of the sample (sample.hpp).
inline constexpr double outside_sample = std::numeric_limits<double>::quiet_NaN();

/// All elements of one output, but for those outside of a large case's sample.
struct OutputJudgement {
  std::string name;               ///< "o", "lse", "grad_q", ...
  std::vector<std::string> axes;  ///< what the shape counts: "batch", "head", "query", ...
  Outcome outcome = Outcome::pass;
  long elements = 0, failed = 0, undecided = 0;
  long nonzero = 0;     ///< elements that should not be 0
  long blind = 0;       ///< of those, the ones whose bound would let 0 pass
  long not_judged = 0;  ///< elements that the contract leaves out
  Element worst{};
  Drift drift{};                       ///< fails beyond largest_deviation
  Trends trends{};                     ///< of lse: likewise
  ErrorSize size{};                    ///< fails beyond 1
  std::vector<long> failed_by_head{};  ///< empty where no axis counts heads
  std::vector<int> shape{};            ///< along the axes
  /// Element::ratio of all elements, in the tensor's order; outside_sample of the others of a large
  /// case.
  std::vector<double> ratios{};
};

/// Another convention that failing outputs follow (conventions/name_conventions.hpp).
struct Match {
  std::string name;  ///< one word for programs
  std::string text;  ///< a sentence: what it is, and what to do about it
};

struct Judgement {
  Outcome outcome = Outcome::pass;
  std::string failure;  ///< the kernel gave no outputs to judge: an error of its own, a canary
  /// Of a failure, one word for programs: kernel_process::failure_kind, Diagnosis::kind, or
  /// outside_bound.
  std::string kind;
  std::string remark;  ///< what would explain a failure: a contract that is not declared, ...
  std::vector<Match> matches;             ///< of a failure, where it was asked for
  std::optional<Match> nearest_contract;  ///< that it passes (nearest_contract.hpp), likewise
  std::vector<std::string> opened_files;  ///< by the kernel, as far as that was seen
  std::vector<OutputJudgement> outputs;
  bool device_lost = false;  ///< with `failure`: later runs of this process say nothing
  long rows = 0, ill_conditioned_rows = 0;
  bool forward_is_oracles = false;  ///< the kernel has none: its gradients are of the oracle's
  long unjudged_rows = 0;           ///< of a large case: outside of the sample
  long rows_left_out = 0;           ///< by the contract: not judged

  /// @throws std::out_of_range if there is no output of that name.
  const OutputJudgement& output(std::string_view name) const;
};

/// Judges every element of the case's sample (sample.hpp; everything but of large generated cases):
/// |got - oracle| <= bound, where the bound follows from the contract
/// (forward_bounds.hpp, backward_bounds.hpp) and the oracle's own certified error is at most 2^-10
/// of it. Of a backward case o and lse are judged too, which the kernel's own forward pass gave.
/// The same result for any number of threads. Without lse where the contract has none.
/// @throws BadInput when a tensor of `outputs` has the wrong size.
Judgement judge(const cases::Case& the_case, const Contract& contract,
                const cases::Outputs& outputs, int threads);

/// The outcome alone, without a word on it.
Outcome outcome_of(const cases::Case& the_case, const Contract& contract,
                   const cases::Outputs& outputs, int threads);

/// Some sentences for a person: which output, how many elements, which heads, the worst element.
std::string describe(const Judgement& judgement);

}  // namespace plumbline::verdict
