// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/samples.hpp"

#include <cstdint>
#include <random>

namespace plumbline::proofs_checks {
namespace {

/// Integers from std::mt19937_64, whose output the standard fixes; its distributions it does not.
class Integers {
 public:
  explicit Integers(std::uint64_t seed) : engine_(seed) {}
  /// In [lower, upper]; the slight preference of the remainder for small values does not matter.
  int between(int lower, int upper) {
    return lower + static_cast<int>(engine_() % static_cast<std::uint64_t>(upper - lower + 1));
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<double> sixty_fourths(Integers& integers, int count, int lower, int upper) {
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(integers.between(lower, upper) / 64.0);
  return values;
}

}  // namespace

Sample scores(std::vector<double> f, std::vector<double> g) {
  return Sample{}.with("f", std::move(f)).with("g", std::move(g));
}

std::vector<Sample> score_pairs(bool also_one_key, int generated) {
  std::vector<Sample> samples = {
      scores({0, 0}, {0, 0}),
      scores({1, 0}, {2, 0}),
      scores({1, 0}, {0, 1}),
      scores({4, 0}, {0, 4}),
      scores({1, 1, 1}, {-2, -1, 0}),
      scores({3, -1, 0.5, 2}, {0, 0, 0, 0}),
      scores({30, 0, -30}, {0, -0.5, -1}),
      scores({0.25, -0.5, 4, 0, 1}, {-2, -1.5, -1, -0.5, 0}),
  };
  if (also_one_key) samples.push_back(scores({1.5}, {-3}));
  Integers integers(1);
  for (int k = 0; k < generated; ++k) {
    const int keys = integers.between(2, 9);
    std::vector<double> f = sixty_fourths(integers, keys, -512, 512);
    std::vector<double> g = sixty_fourths(integers, keys, -512, 512);
    samples.push_back(scores(std::move(f), std::move(g)));
  }
  return samples;
}

std::vector<Sample> increments_and_gains(bool positive, int generated) {
  const auto sample = [](std::vector<double> f, double g) {
    return Sample{}.with("f", std::move(f)).with("g", {g});
  };
  std::vector<Sample> samples = {
      sample({1, 1}, 0.5),
      sample({1, 1, 1, 1}, 0.25),
      sample({0.5, 2, 0.015625, 3}, 1),
  };
  if (!positive) {
    samples.push_back(sample({1, 0}, 1));
    samples.push_back(sample({0, 0, 0}, 2));
  }
  Integers integers(2);
  for (int k = 0; k < generated; ++k) {
    const int tokens = integers.between(2, 9);
    std::vector<double> f = sixty_fourths(integers, tokens, positive ? 1 : 0, 256);
    samples.push_back(sample(std::move(f), integers.between(1, 128) / 64.0));
  }
  return samples;
}

}  // namespace plumbline::proofs_checks
