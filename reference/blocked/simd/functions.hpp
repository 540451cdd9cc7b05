// SPDX-License-Identifier: Apache-2.0
// The functions that the table of one instruction set holds; what they do stands in kernels.hpp.
#pragma once

#include "reference/blocked/kernels.hpp"

namespace plumbline::reference::blocked::simd {

void forward(const Head&, const QueryRows&, std::span<const int> keys, const Scratch&,
             double* output, double* lse, std::uint8_t* sees_no_key);
void backward(const Head&, const QueryRows&, std::span<const int> keys, const RowUpstream&,
              const Scratch&, const GradientSums&);
void add_table(const Tile&, const double* zero, double* scores);
void accumulate_table(const Tile&, const double* grad, double* zero);
void add_prefix(const Tile&, const PrefixArguments&, double* scores);
void accumulate_prefix(const Tile&, const PrefixArguments&, const double* grad, const PrefixSums&);
void add_fire(const Tile&, const FireArguments&, double* scores);
void accumulate_fire(const Tile&, const FireArguments&, const double* grad, const FireSums&);
void multiply(int m, int n, int k, Dense a, Dense b, double* c, std::ptrdiff_t c_stride);
void row_products(const Stored& a, const Stored& b, std::span<const int> rows, double* sums);
bool all_finite(const Stored&);
void exponential(std::span<const double> x, double* y);
void log_kernel(std::span<const double> d, double* y);

}  // namespace plumbline::reference::blocked::simd
