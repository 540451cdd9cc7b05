// SPDX-License-Identifier: Apache-2.0
// FIRE's layer by lines and kinked units against the sum over all units.
#include "bias/fire_table.cuh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "attention/mma_bias.cuh"

BOOST_AUTO_TEST_SUITE(fire_table_test)

namespace {

using namespace plumbline::gpu;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double u = 0x1p-24;

/// b[head, n] of y[n] in a part from `least` to `most`, and the part's kinked units.
__global__ void layer_kernel(Fire::Params p, float least, float most, const float* y, int count,
                             float* b, int* kinked) {
  const int head = static_cast<int>(blockIdx.x);
  const FirePart part(p.table, p.hidden, head, least, most);
  kinked[head] = part.kinked;
  for (int n = static_cast<int>(threadIdx.x); n < count; n += static_cast<int>(kWarpSize)) {
    float own[1] = {y[n]};
    FireMethod<true>{part}.finish(own);
    b[head * count + n] = own[0];
  }
}

/// Where no unit is kinked, b[head, n] of y[n] = N `inverse` by the row's line, times `factor`.
__global__ void row_line_kernel(Fire::Params p, float least, float most, float inverse,
                                float factor, const float* N, int count, float* b) {
  const int head = static_cast<int>(blockIdx.x);
  const FirePart part(p.table, p.hidden, head, least, most);
  const FireRowLine line = part.line_of_row(inverse, factor);
  for (int n = static_cast<int>(threadIdx.x); n < count; n += static_cast<int>(kWarpSize))
    b[head * count + n] = part.kinked > 0 ? kNaN : fmaf(line.slope, N[n], line.intercept);
}

/// A row and a key with y = 1/2.
struct OneScore {
  float inverse;

  float entry(int, int) const { return 0.5f / inverse; }
  Fire::Row row(int) const { return {inverse, 0.0f, false}; }
};

__global__ void method_kernel(Fire::Params p, float inverse, bool* is_line) {
  with_method_of_part<Fire>(p, 0, OneScore{inverse}, PartOfTile{0, 1, 0, 1, 1}, [&](auto method) {
    if (threadIdx.x == 0) *is_line = decltype(method)::kIsLine;
  });
}

struct Layer {
  int heads, hidden;
  std::vector<float> weight, bias, output, output_bias;
  std::vector<float> kinks;
  std::vector<FireUnit> units;
  std::vector<FirePlace> places;

  Layer(int of_heads, int of_hidden)
      : heads(of_heads),
        hidden(of_hidden),
        weight(hidden),
        bias(hidden),
        output(heads * hidden),
        output_bias(heads),
        kinks(heads * FireTable::stride(hidden)),
        units(heads * hidden),
        places(heads * (hidden + 1)) {}

  static Layer random(int heads, int hidden, std::mt19937& random) {
    Layer layer(heads, hidden);
    std::normal_distribution<float> number;
    for (auto* numbers : {&layer.weight, &layer.bias, &layer.output, &layer.output_bias})
      for (float& x : *numbers) x = number(random);
    return layer;
  }

  Fire::Params params() {
    BiasInputs inputs{};
    inputs.heads = heads;
    inputs.hidden = hidden;
    inputs.parameters[PLUMBLINE_HIDDEN_WEIGHT] = weight.data();
    inputs.parameters[PLUMBLINE_HIDDEN_BIAS] = bias.data();
    inputs.parameters[PLUMBLINE_OUTPUT_WEIGHT] = output.data();
    inputs.parameters[PLUMBLINE_OUTPUT_BIAS] = output_bias.data();
    inputs.fire_table = {kinks.data(), units.data(), places.data()};
    fill_fire_table(Stream(), inputs);
    return Fire::params(inputs);
  }
};

struct Result {
  std::vector<float> b;  // [heads, y]
  std::vector<int> kinked;
};

Result by_parts(Layer& layer, const std::vector<float>& y) {
  const auto [least, most] = std::ranges::minmax(y);
  const auto count = static_cast<int>(y.size());
  Result result{std::vector<float>(layer.heads * count), std::vector<int>(layer.heads)};
  const auto heads = static_cast<unsigned>(layer.heads);
  launch(Stream(), {dim3{heads}, dim3{kWarpSize}, 0}, layer_kernel, layer.params(), least, most,
         y.data(), count, result.b.data(), result.kinked.data());
  return result;
}

/// The largest error in terms of the bound that fire_error.hpp has where y is exact.
double worst_ratio(Layer& layer, const std::vector<float>& y) {
  const Result result = by_parts(layer, y);
  double worst = 0;
  for (int head = 0; head < layer.heads; ++head) {
    for (std::size_t n = 0; n < y.size(); ++n) {
      double exact = layer.output_bias[head], size = std::abs(exact), bound = 0;
      for (int w = 0; w < layer.hidden; ++w) {
        const double product = static_cast<double>(layer.weight[w]) * y[n];
        const double before = product + layer.bias[w];
        const double v = layer.output[head * layer.hidden + w];
        const double error = u * (2 * std::abs(product) + std::abs(layer.bias[w]));
        exact += v * std::max(0.0, before);
        if (before < -error) continue;
        bound += std::abs(v) * error;
        size += std::abs(v) * (std::max(0.0, before) + error);
      }
      bound += (layer.hidden + 1) * u / (1 - (layer.hidden + 1) * u) * size;
      const double off = std::abs(result.b[head * y.size() + n] - exact);
      if (!(off <= bound * worst)) worst = off / bound;
    }
  }
  return worst;
}

/// Between two numbers, both included, and next to kinks.
std::vector<float> between(float least, float most, const Layer& layer, std::mt19937& random) {
  std::vector<float> y{least, most};
  std::uniform_real_distribution<float> number(least, most);
  for (int n = 0; n < 30; ++n) y.push_back(std::clamp(number(random), least, most));
  for (int w = 0; w < layer.hidden; ++w) {
    const float kink = -layer.bias[w] / layer.weight[w];
    for (const float near : {kink, std::nextafter(kink, 0.0f), std::nextafter(kink, kInfinity)})
      if (near >= least && near <= most) y.push_back(near);
  }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lines_and_kinked_units_are_within_the_bound_of_a_sum_over_all_units) {
  std::mt19937 random(1);
  for (const int hidden : {1, 2, 5, 31, 32, 33, 64, 200, 256}) {
    for (int round = 0; round < 10; ++round) {
      Layer layer = Layer::random(3, hidden, random);
      // Kinks that coincide, at 0, and constant units.
      for (int w = 3; w < hidden; w += 7) layer.bias[w] = 0.0f;
      for (int w = 4; w < hidden; w += 9) layer.weight[w] = 0.0f;
      for (int w = 6; w < hidden; w += 11) {
        layer.weight[w] = -2 * layer.weight[w - 1];
        layer.bias[w] = -2 * layer.bias[w - 1];
      }
      for (const auto& [least, most] : {std::pair{0.0f, 0.0f},
                                        {0.0f, 0.25f},
                                        {0.5f, 0.5f},
                                        {0.5f, 0.51f},
                                        {0.9f, 1.0f},
                                        {0.0f, 1.0f},
                                        {0.1f, 7.0f},
                                        {1e-30f, 1e-3f},
                                        {100.0f, 1e6f}})
        BOOST_TEST(worst_ratio(layer, between(least, most, layer, random)) <= 1.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_line_of_a_row_is_within_three_roundings_of_a_factor_times_the_layer) {
  std::mt19937 random(5);
  int lines = 0;
  for (int round = 0; round < 40; ++round) {
    Layer layer = Layer::random(2, 1 + round % 5 * 8, random);
    for (const auto& [inverse, factor] :
         {std::pair{1.0f, 1.0f}, {0.37f, 1.442695f}, {3.1f, -17.3f}, {1e-6f, 1e6f}}) {
      const std::vector<float> N{0.61f / inverse, 0.6101f / inverse};
      std::vector<float> b(4);
      launch(Stream(), {dim3{2}, dim3{kWarpSize}, 0}, row_line_kernel, layer.params(), 0.61f,
             0.6101f, inverse, factor, N.data(), 2, b.data());
      for (int n = 0; n < 4; ++n) {
        if (std::isnan(b[n])) continue;
        ++lines;
        const double y = static_cast<double>(N[n % 2]) * inverse;
        double exact = layer.output_bias[n / 2], size = std::abs(exact);
        for (int w = 0; w < layer.hidden; ++w) {
          const double product = y * layer.weight[w], bias = layer.bias[w];
          const double v = layer.output[n / 2 * layer.hidden + w];
          exact += v * std::max(0.0, product + bias);
          if (product + bias > 0) size += std::abs(v) * (std::abs(product) + std::abs(bias));
        }
        const double off = std::abs(b[n] - factor * exact);
        BOOST_TEST(off <= 1.0001 * u * std::abs(factor) * (size + std::abs(exact)));
      }
    }
  }
  BOOST_TEST(lines > 300);
}

BOOST_AUTO_TEST_CASE(a_row_whose_line_may_leave_the_range_of_floats_has_none) {
  Layer layer(1, 1);
  layer.weight[0] = 1.0f;
  layer.output[0] = 1.0f;
  const auto is_line = [&](float kink, float inverse) {
    layer.bias[0] = -kink;
    bool result = false;
    launch(Stream(), {dim3{1}, dim3{kWarpSize}, 0}, method_kernel, layer.params(), inverse,
           &result);
    return result;
  };
  BOOST_TEST(is_line(5.0f, 1.0f));
  BOOST_TEST(is_line(0.25f, 1.0f));
  BOOST_TEST(!is_line(0.5f, 1.0f));
  BOOST_TEST(is_line(5.0f, 0x1p24f));
  BOOST_TEST(!is_line(5.0f, 0x1p25f));
  layer.weight[0] = 0x1p61f;
  BOOST_TEST(!is_line(5.0f, 1.0f));  // all units have a kink
}

BOOST_AUTO_TEST_CASE(units_that_cancel_one_another_stay_within_the_bound) {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    Layer layer = Layer::random(1, 32, random);
    for (int w = 0; w < 32; w += 2) {
      layer.output[w] *= 1e6f;
      layer.weight[w + 1] = layer.weight[w] * (1 + 1e-3f * static_cast<float>(w));
      layer.bias[w + 1] = layer.bias[w];
      layer.output[w + 1] = -layer.output[w];
    }
    // Large ones that are 0 in the part.
    layer.weight[0] = layer.weight[1] = 1e8f;
    layer.bias[0] = layer.bias[1] = -1e8f;
    BOOST_TEST(worst_ratio(layer, between(0.6f, 0.7f, layer, random)) <= 1.0);
  }
}

BOOST_AUTO_TEST_CASE(a_long_sum_of_slopes_and_intercepts_is_within_the_bound_next_to_the_kinks) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> kink(0.598f, 0.5999f), size(1.0f, 2.0f);
  for (int round = 0; round < 20; ++round) {
    Layer layer(1, 256);
    for (int w = 0; w < 256; ++w) {
      layer.weight[w] = size(random);
      layer.bias[w] = -kink(random) * layer.weight[w];
      layer.output[w] = size(random);
    }
    BOOST_TEST(worst_ratio(layer, between(0.6f, 0.6001f, layer, random)) <= 1.0);
  }
}

BOOST_AUTO_TEST_CASE(a_kink_below_the_smallest_float_is_beyond_0) {
  Layer layer(1, 1);
  layer.weight[0] = 1e30f;
  layer.bias[0] = -1e-20f;
  layer.output[0] = 1.0f;
  BOOST_TEST(by_parts(layer, {0.0f, 0.0f}).b[0] == 0.0f);
}

BOOST_AUTO_TEST_CASE(units_with_a_kink_in_the_part_alone_are_kinked) {
  Layer layer(2, 6);
  layer.weight = {1.0f, -1.0f, 2.0f, 0.0f, 1.0f, -4.0f};
  layer.bias = {-0.25f, 0.5f, -1.0f, 1.0f, 3.0f, 3.0f};  // 0.25, 0.5, 0.5, none, -3, 0.75
  std::ranges::fill(layer.output, 1.0f);
  const auto kinked = [&](float least, float most) {
    const std::vector<int> of_heads = by_parts(layer, {least, most}).kinked;
    BOOST_TEST(of_heads[0] == of_heads[1]);
    return of_heads[0];
  };
  BOOST_TEST(kinked(0.0f, 0.2f) == 0);
  BOOST_TEST(kinked(0.2f, 0.3f) == 1);
  BOOST_TEST(kinked(0.3f, 0.5f) == 2);
  BOOST_TEST(kinked(0.3f, 0.5f * (1 - 0x1p-22f)) == 2);  // within the spread of 0.5
  BOOST_TEST(kinked(0.5f * (1 + 0x1p-22f), 0.7f) == 2);
  BOOST_TEST(kinked(0.5f * (1 + 0x1p-18f), 0.7f) == 0);
  BOOST_TEST(kinked(0.0f, 1.0f) == 4);
  BOOST_TEST(kinked(0.8f, 9.0f) == 0);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_give_what_the_sum_over_units_gives) {
  std::mt19937 random(3);
  const std::vector<float> y{0.0f, 0.25f, 0.3f};
  for (const float odd : {kInfinity, -kInfinity, kNaN, 3e38f, -3e38f}) {
    for (int which = 0; which < 4; ++which) {
      Layer layer = Layer::random(2, 40, random);
      std::vector<float>& numbers = which == 0   ? layer.weight
                                    : which == 1 ? layer.bias
                                    : which == 2 ? layer.output
                                                 : layer.output_bias;
      numbers[1] = odd;  // of the second head, where it is one's own
      for (float& v : layer.output) v *= 3;
      const Result result = by_parts(layer, y);
      const Fire::Params params = layer.params();
      for (int head = 0; head < 2; ++head) {
        for (std::size_t n = 0; n < y.size(); ++n) {
          const float expected = Fire::value(params, head, {1.0f, 0.0f, false}, {}, y[n]);
          const float b = result.b[head * y.size() + n];
          if (std::isfinite(expected))
            BOOST_TEST(std::abs(b - expected) <= 1e-3f * std::max(1.0f, std::abs(expected)));
          else
            BOOST_TEST((b == expected || (std::isnan(b) && std::isnan(expected))));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
