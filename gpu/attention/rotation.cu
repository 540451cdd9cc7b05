// SPDX-License-Identifier: Apache-2.0
#include "attention/rotation.cuh"

#include <cmath>

namespace plumbline::gpu {

RotationTables rotation_tables(int positions, int dim, double base) {
  RotationTables tables;
  std::vector<double> frequency;
  for (int k = 0; k < dim / 2; ++k) frequency.push_back(std::pow(base, -2.0 * k / dim));
  for (int position = 0; position < positions; ++position) {
    for (const double f : frequency) {
      tables.cosine.push_back(static_cast<float>(std::cos(position * f)));
      tables.sine.push_back(static_cast<float>(std::sin(position * f)));
    }
  }
  return tables;
}

}  // namespace plumbline::gpu
