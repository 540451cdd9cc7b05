// SPDX-License-Identifier: Apache-2.0
#include "model/alibi_slopes.hpp"

#include <bit>

namespace plumbline::gpu {

std::vector<double> alibi_exponents(int heads, bool geometric) {
  const int power = geometric ? heads : static_cast<int>(std::bit_floor(unsigned(heads)));
  std::vector<double> exponents;
  for (int h = 0; h < power; ++h) exponents.push_back(8.0 * (h + 1) / power);
  for (int h = power; h < heads; ++h) exponents.push_back(4.0 * (2 * (h - power) + 1) / power);
  return exponents;
}

}  // namespace plumbline::gpu
