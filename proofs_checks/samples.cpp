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

std::vector<Sample> grid(const std::vector<GridAxis>& axes) {
  std::vector<Sample> samples{Sample{}};
  for (const GridAxis& axis : axes) {
    std::vector<Sample> longer;
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

std::vector<Sample> with(const std::vector<Sample>& samples, const std::vector<Sample>& more) {
  std::vector<Sample> together;
  for (const Sample& last : more) {
    for (Sample sample : samples) {
      sample.quantities.insert(sample.quantities.end(), last.quantities.begin(),
                               last.quantities.end());
      together.push_back(std::move(sample));
    }
  }
  return together;
}

std::vector<Sample> with(const std::vector<Sample>& samples, const Quantity& quantity) {
  return with(samples, std::vector<Sample>{Sample{quantity}});
}

Sample scores(std::vector<double> f, std::vector<double> g) {
  return {{"f", std::move(f)}, {"g", std::move(g)}};
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

std::vector<Sample> contents(bool also_one_key, int generated) {
  std::vector<Sample> samples = score_pairs(also_one_key, generated);
  for (Sample& sample : samples) sample.quantities.pop_back();
  return samples;
}

std::vector<Sample> increments_and_gains(bool positive, int generated) {
  const auto sample = [](std::vector<double> f, double g) {
    return Sample{{"f", std::move(f)}, {"g", g}};
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
