// SPDX-License-Identifier: Apache-2.0
#include "ops/sinusoidal.cuh"

#include <cmath>
#include <cstddef>

#include "ops/require.cuh"

namespace plumbline::gpu {

std::vector<float> sinusoidal_table(int length, int width, double base, CosineFrequency cosine,
                                    double amplitude) {
  require(length >= 1, "length", length, "at least 1");
  require(width >= 2 && width % 2 == 0, "width", width, "even and at least 2");
  require(base > 0, "base", base, "above 0");
  std::vector<float> table(static_cast<std::size_t>(length) * width);
  for (int even = 0; even < width; even += 2) {
    const int like = cosine == CosineFrequency::shared ? even : even + 1;
    const double sine_frequency = std::pow(base, -static_cast<double>(even) / width);
    const double cosine_frequency = std::pow(base, -static_cast<double>(like) / width);
    for (int t = 0; t < length; ++t) {
      const std::size_t place = static_cast<std::size_t>(t) * width + even;
      table[place] = static_cast<float>(amplitude * std::sin(t * sine_frequency));
      table[place + 1] = static_cast<float>(amplitude * std::cos(t * cosine_frequency));
    }
  }
  return table;
}

}  // namespace plumbline::gpu
