// SPDX-License-Identifier: Apache-2.0
// The numbers of a tensor in a file, widened to double.
#pragma once

#include <cstddef>
#include <span>

#include "support/safetensors.hpp"

namespace plumbline::checkpoint {

/// Is it one of F64, F32, BF16 and F16?
bool is_floating_point(Dtype);

/// The elements from number `begin` on, as many as `values` takes. Exact: every value of the four
/// types is a double. The tensor must be of one of them and have the elements.
void widen(const TensorView&, std::size_t begin, std::span<double> values);

}  // namespace plumbline::checkpoint
