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

GridAxis::GridAxis(const std::string& name, const std::vector<double>& values) {
  for (double value : values) points.emplace_back(name, value);
}

GridAxis boxes(const std::string& name, const std::vector<double>& edges) {
  std::vector<Quantity> boxes;
  for (std::size_t k = 1; k < edges.size(); ++k) {
    boxes.push_back(within(name, edges[k - 1], edges[k]));
  }
  return boxes;
}

GridAxis vectors(const std::string& name, const std::vector<std::vector<double>>& values) {
  std::vector<Quantity> points;
  for (const auto& value : values) points.emplace_back(name, value);
  return points;
}

std::vector<double> growing(double first, double last, double ratio) {
  std::vector<double> numbers{first};
  while (numbers.back() < last) numbers.push_back(numbers.back() * ratio);
  return numbers;
}

std::vector<double> evenly(double first, double last, int steps) {
  std::vector<double> numbers;
  for (int k = 0; k <= steps; ++k) numbers.push_back(first + k * ((last - first) / steps));
  return numbers;
}

Samples grid(const std::vector<GridAxis>& axes) {
  Samples samples{Sample{}};
  for (const GridAxis& axis : axes) {
    Samples longer;
    for (const Sample& sample : samples) {
      for (const Quantity& point : axis.points) {
        longer.push_back(sample);
        longer.back().quantities.push_back(point);
      }
    }
    samples = std::move(longer);
  }
  return samples;
}

Samples with(const Samples& samples, const Samples& more) {
  Samples together;
  for (const Sample& last : more) {
    for (Sample sample : samples) {
      sample.quantities.insert(sample.quantities.end(), last.quantities.begin(),
                               last.quantities.end());
      together.push_back(std::move(sample));
    }
  }
  return together;
}

Sample scores(std::vector<double> f, std::vector<double> g) {
  return {{"f", std::move(f)}, {"g", std::move(g)}};
}

Samples score_pairs(bool also_one_key, int generated) {
  Samples samples = {
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

Samples contents(bool also_one_key, int generated) {
  Samples samples = score_pairs(also_one_key, generated);
  for (Sample& sample : samples) sample.quantities.pop_back();
  return samples;
}

Samples increments_and_gains(bool positive, int generated) {
  Samples samples = {
      {{"f", {1, 1}}, {"g", 0.5}},
      {{"f", {1, 1, 1, 1}}, {"g", 0.25}},
      {{"f", {0.5, 2, 0.015625, 3}}, {"g", 1}},
  };
  if (!positive) {
    samples.push_back({{"f", {1, 0}}, {"g", 1}});
    samples.push_back({{"f", {0, 0, 0}}, {"g", 2}});
  }
  Integers integers(2);
  for (int k = 0; k < generated; ++k) {
    const int tokens = integers.between(2, 9);
    std::vector<double> f = sixty_fourths(integers, tokens, positive ? 1 : 0, 256);
    samples.push_back({{"f", std::move(f)}, {"g", integers.between(1, 128) / 64.0}});
  }
  return samples;
}

}  // namespace plumbline::proofs_checks
