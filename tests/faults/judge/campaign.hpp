// SPDX-License-Identifier: Apache-2.0
// Every mutant judged: by the verdict, and by the criteria of other suites.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/judge/criteria.hpp"
#include "tests/faults/judge/mutants.hpp"
#include "tests/faults/judge/told_apart.hpp"
#include "verdict/judge/judge.hpp"

namespace plumbline::bench {

struct Effort {
  std::uint64_t seed = 1;
  int threads = 1;
  int draws = 40;            ///< cases drawn for a mutant at most
  int judged = 12;           ///< of those in which it changes a bit, judged at most
  int compared = 6;          ///< and judged by the other criteria at most
  long products = 1L << 19;  ///< largest batch x heads x queries x keys x head_dim of a case
};

/// What one gate says in a failing case: "bound of lse", "statistics of o", "exact rows",
/// "process".
std::set<std::string> gates_of(const verdict::Judgement& judgement);

struct MutantResult {
  const Mutant* mutant;
  bool caught = false;
  int drawn = 0, exercised = 0, judged = 0;  ///< up to the catch, which is the last of them
  std::set<std::string> gates;               ///< of the case that caught it
  std::string kind;                          ///< as the verdict names the failure
  double worst = 0;                          ///< largest error / bound of those it passed
  int undecided = 0;
  double apart = 0;  ///< told_apart() of the judged cases, up to where it is plain
  int compared = 0;  ///< cases that the criteria saw
  std::array<bool, criterion_count> caught_by{};

  /// No bit of any output differed from the faultless kernel's, in any case.
  bool equivalent() const { return exercised == 0; }
  /// Survives, and nobody could tell it from a correct kernel.
  bool set_aside() const { return !caught && !equivalent() && apart <= told_apart_from; }
};

/// What the criteria say of the faultless kernels of the same cells and cases.
struct ControlResult {
  long judged = 0, failed = 0;
  std::vector<std::string> failures;  ///< repro lines
  std::array<long, criterion_count> compared{}, rejected{};
};

struct CampaignResult {
  std::vector<MutantResult> mutants;
  ControlResult control;
};

/// The same result for any number of threads. `done` is called with the number of mutants so far.
CampaignResult run_campaign(const std::vector<Mutant>& mutants, const Effort& effort,
                            const std::function<void(std::size_t)>& done = {});

/// The n-th case of a cell: as verify draws it, but for those that are too large.
cases::Spec case_of(cases::Pass pass, cases::Bias bias, cases::Format format, bool diffuse,
                    std::uint64_t seed, long products);

}  // namespace plumbline::bench
