// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_TABLE_ROWS_CUH
#define PLUMBLINE_GPU_BIAS_TABLE_ROWS_CUH

#include <vector>

#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Whether the method looks its bias up in a table.
bool uses_table(int bias);

/// Rows of the table; 0 for a method without one.
int table_rows(const plumbline_problem& problem);

/// The distances at which T5's buckets E .. buckets - 1 begin, E = floor(buckets / 2): exactly, by
/// comparing the integers d^K >= D^k E^(K-k), K = buckets - E, D = max_distance, where their
/// logarithms leave a doubt. Not decreasing. Domain: buckets >= 2, max_distance > E.
std::vector<int> t5_bucket_borders(int buckets, int max_distance);

/// The table's row for each offset i - j = 1 - keys .. keys - 1, by plumbline_bias's formulas.
std::vector<int> table_row_of_offset(const plumbline_problem& problem);

/// What the method's form makes of each distance below `keys` (of_head.cuh); empty where it has no
/// term.
std::vector<float> distance_terms(int bias, int keys);

}  // namespace plumbline::gpu

#endif
