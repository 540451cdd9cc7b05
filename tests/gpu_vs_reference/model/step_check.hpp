// SPDX-License-Identifier: Apache-2.0
// A training step of the CUDA path against the oracle's, within docs/bounds-model.md.
#pragma once

#include <cstdio>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/gpu_vs_reference/model/rounding_bound.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"
#include "tests/gpu_vs_reference/model/training_step.hpp"

namespace plumbline::gpu_tests {

/// A sum of a parameter's gradients, each times 1, -1 or 0.
struct Functional {
  std::string parameter;
  double error;  ///< of the CUDA path's
  double bound;
  double worst_case;  ///< the bound if all roundings conspire
  double size;        ///< the root of the sum of squares of the gradients in it
};

/// The loss, and of every parameter two sums with random signs, to which each of its elements
/// belongs, and one element.
template <class Gradients>
std::vector<Functional> functionals(const StepResult& device, const reference::Traced& loss,
                                    const Gradients& gradients) {
  using reference::Tape, reference::Traced;
  std::vector<Functional> all;
  std::vector<std::vector<Tape::Edge>> seeds{{{loss.node(), 1.0}}};
  all.push_back({"loss", std::fabs(device.loss - loss.value()), 0, 0, std::fabs(loss.value())});
  reference::for_each_parameter(gradients, [&](const std::string& name, const auto& tensor) {
    const std::vector<double>& got = device.gradients.at(name);
    const std::size_t size = got.size();
    BOOST_REQUIRE_EQUAL(size, static_cast<std::size_t>(tensor.size()));
    const Draw draw(5, size);
    for (std::uint64_t trial = 0; trial < 3; ++trial) {
      const std::size_t one = draw.below(0, static_cast<std::uint32_t>(size));
      const std::size_t begin = trial < 2 ? 0 : one, end = trial < 2 ? size : one + 1;
      std::vector<Tape::Edge> own;
      double error = 0, squares = 0;
      for (std::size_t n = begin; n < end; ++n) {
        const Traced& expected = tensor.data()[n];
        const double sign = draw.word(100 + trial * size + n) % 2 == 0 ? 1.0 : -1.0;
        own.push_back({expected.node(), sign});
        error += sign * (got[n] - expected.value());
        squares += expected.value() * expected.value();
      }
      seeds.push_back(std::move(own));
      all.push_back({name, std::fabs(error), 0, 0, std::sqrt(squares)});
    }
  });
  for (std::size_t first = 0; first < all.size(); first += Tape::kAtOnce) {
    const std::size_t count = std::min(Tape::kAtOnce, all.size() - first);
    const auto reaches = Traced::tape.reach(std::span(seeds).subspan(first, count));
    for (std::size_t n = 0; n < count; ++n) {
      Functional& f = all[first + n];
      f.worst_case = kRoundings * reaches[n].all;
      f.bound = bound_of(reaches[n]);
    }
  }
  return all;
}

/// How many are beyond their bound; NaN is.
inline int beyond(const std::vector<Functional>& all) {
  return static_cast<int>(
      std::ranges::count_if(all, [](const Functional& f) { return !(f.error <= f.bound); }));
}

/// All of them within their bounds, and the bounds tight enough to see an error of a thousandth:
/// half of them below 1/1000 of the gradients' size.
inline void check_step(const char* what, const std::vector<Functional>& all) {
  double worst = 0;
  std::vector<double> tightness, worst_case;
  for (const Functional& f : all) {
    BOOST_TEST(f.error <= f.bound, what << ", " << f.parameter << ": off by " << f.error
                                        << ", may be by " << f.bound << ", size " << f.size);
    if (f.bound > 0) worst = std::max(worst, f.error / f.bound);
    if (f.size == 0) continue;
    tightness.push_back(f.bound / f.size);
    worst_case.push_back(f.worst_case / f.size);
  }
  const auto middle = [](std::vector<double>& numbers) {
    const auto half = numbers.begin() + static_cast<long>(numbers.size() / 2);
    std::nth_element(numbers.begin(), half, numbers.end());
    return *half;
  };
  std::printf(
      "%s: %zu sums, error/bound at most %.3g; bound/size in the middle %.2g, worst case %.2g\n",
      what, all.size(), worst, middle(tightness), middle(worst_case));
  BOOST_TEST(middle(tightness) <= 1e-3);
}

}  // namespace plumbline::gpu_tests
