// SPDX-License-Identifier: Apache-2.0
// Outputs against the oracle, element by element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cases/case.hpp"
#include "verdict/contract.hpp"

namespace plumbline::verdict {

/// undecided: the oracle's own error does not allow an answer for some element, and none fails.
enum class Outcome { pass, undecided, fail };
std::string_view name(Outcome);
inline Outcome worse(Outcome a, Outcome b) { return a > b ? a : b; }

/// One element of an output, and how far it is from the oracle.
struct Element {
  int batch = 0, head = 0, query = 0, component = 0;  ///< component: of o; 0 for lse
  double got = 0, expected = 0, bound = 0;
  double ratio = 0;  ///< |got - expected| / bound; infinite where got is not a number
  Outcome outcome = Outcome::pass;
};

/// All elements of one output.
struct OutputJudgement {
  Outcome outcome = Outcome::pass;
  long elements = 0, failed = 0, undecided = 0;
  Element worst;
  std::vector<long> failed_by_head;  ///< [heads]
};

struct Judgement {
  Outcome outcome = Outcome::pass;
  std::string failure;  ///< the kernel gave no outputs to judge: an error of its own, a canary
  OutputJudgement o, lse;
  bool device_lost = false;  ///< with `failure`: later runs of this process say nothing
  long rows = 0, ill_conditioned_rows = 0;
};

/// Judges every element: |got - oracle| <= bound, where the bound follows from the contract
/// (forward_bounds.hpp) and the oracle's own certified error is at most 2^-10 of it.
/// The same result for any number of threads.
/// @throws BadInput when a tensor of `outputs` has the wrong size.
Judgement judge(const cases::Case& the_case, const Contract& contract,
                const cases::Outputs& outputs, int threads);

/// Some sentences for a person: which output, how many elements, which heads, the worst element.
std::string describe(const Judgement& judgement);

}  // namespace plumbline::verdict
