// SPDX-License-Identifier: Apache-2.0
// Correct kernels judged: none may fail, and the bounds should be reached.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::bench {

struct AlarmResult {
  long runs = 0, undecided = 0;
  /// Runs of such cases.
  long strided = 0, packed = 0, capped = 0, with_sinks = 0, more_queries = 0, latent = 0,
       custom = 0;
  std::vector<std::string> alarms;  ///< the case and the variant
  /// Largest error / bound by output and format, of runs that are no alarm.
  std::map<std::pair<std::string, cases::Format>, double> worst;
  std::map<std::pair<cases::Pass, cases::Format>, long> by_cell;
};

/// Variants and cases drawn from the seed, every pass, bias and format in turn; one in 41 has a
/// custom bias.
/// @param products largest batch x heads x queries x keys x head_dim of a case; of nine in ten at
/// most 2^16.
/// The same result for any number of threads.
AlarmResult false_alarms(long runs, std::uint64_t seed, long products, int threads,
                         const std::function<void(long)>& done = {});

}  // namespace plumbline::bench
