// SPDX-License-Identifier: Apache-2.0
// The result tables of CABLE, second version; those that the first version has are the same there.
// Perplexities (less is better) but for table 3, which is nDCG@10 (more is better).
#pragma once

#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::cable {

extern const Table table_1_fineweb;              ///< GPT-2 Medium on FineWeb-Edu-10B
extern const Table table_1_wikitext;             ///< GPT-2 Tiny on WikiText-103
extern const Table table_2;                      ///< GPT-2 Small on FineWeb-Edu-10B, trained at 512
extern const Table table_3;                      ///< BERT, retrieval on MLDR
extern const Table table_4_small, table_4_tiny;  ///< on FineWeb-Edu-10B
extern const Table table_5_medium, table_5_small;  ///< on WikiText-103

/// The seven methods beside CABLE and CABLE_NW, by their columns.
extern const std::vector<std::string> baselines;

}  // namespace plumbline::proofs_checks::cable
