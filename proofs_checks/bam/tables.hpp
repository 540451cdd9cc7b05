// SPDX-License-Identifier: Apache-2.0
// The manuscript's tables of results.
#pragma once

#include <string>
#include <vector>

#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::bam {

/// Table 2: perplexities in units of 10^-4, Wikipedia and FineWeb, 120M models.
struct Perplexity {
  std::string method;
  int wikipedia, fineweb;
};
extern const std::vector<Perplexity> table_2;

/// Table 4: accuracy in hundredths on Single 1, 2 and 3 of the needle task, 120M models.
extern const std::vector<Table> table_4;
/// Everything in Table 4 that is compared with "BAM".
extern const std::vector<std::string> table_4_baselines;

/// Table 5: accuracy in hundredths of "BAM" and "RoPE", 1B models, by task.
extern const std::vector<std::pair<std::string, Table>> table_5;

/// Table 7: accuracy in tenths by length in units of 51,200 tokens (0 for "<1K"), with and without
/// extension ("120M", "120M Ext.", ...).
extern const Table table_7;

/// Table 8: mean time and its standard deviation in hundredths of a millisecond, for the sizes
/// 120M, 430M and 1.1B.
struct Timing {
  std::string method;
  std::vector<int> mean, deviation;
};
extern const std::vector<Timing> table_8;

}  // namespace plumbline::proofs_checks::bam
