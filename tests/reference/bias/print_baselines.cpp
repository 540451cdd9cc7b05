// SPDX-License-Identifier: Apache-2.0
// Prints small problems of the baselines, for pytorch_check.py: a JSON object a line, with numbers
// in C's hexadecimal form. `values` are the b_ij of all queries and keys, `gradient` the
// derivatives of sum_ij weights_ij b_ij in the inputs; each with its bound on the rounding error.
#include <cstdio>

#include "reference/bias/fox.hpp"
#include "tests/reference/bias/bias_readings.hpp"

using namespace plumbline::reference;

namespace {

template <class Range, class Number>
void print(const char* name, const Range& range, const Number& number) {
  std::printf(", \"%s\": \"", name);
  for (const auto& x : range) std::printf("%a ", number(x));
  std::printf("\"");
}

struct Case {
  Positions at;
  std::vector<double> inputs, weights;
};

Case case_of(const std::vector<double>& inputs, const Positions& at, Numbers& numbers) {
  return {at, inputs, numbers.between(-1, 1, at.queries * at.keys)};
}

/// `gradient_of(grad)` is the derivatives in the inputs, from those in the bias's parameters.
template <class B, class GradientOf>
void print_case(const char* name, const Case& given, const B& bias, const GradientOf& gradient_of) {
  const Positions& at = given.at;
  auto grad = bias.zero_grad();
  std::vector<RunningError> values;
  for (int r = 0, n = 0; r < at.queries; ++r) {
    const int i = r + at.query_offset;
    for (int j = 0; j < at.keys; ++j, ++n) {
      values.push_back(bias(i, j));
      bias.accumulate_grad(grad, i, j, RunningError(given.weights[n]));
    }
  }
  const Vector<RunningError> gradient = gradient_of(grad);
  const auto plain = [](double x) { return x; };
  const auto value = [](const RunningError& x) { return x.value(); };
  const auto error = [](const RunningError& x) { return x.error(); };
  std::printf("{\"method\": \"%s\", \"queries\": %d, \"keys\": %d, \"query_offset\": %d", name,
              at.queries, at.keys, at.query_offset);
  print("inputs", given.inputs, plain);
  print("weights", given.weights, plain);
  print("values", values, value);
  print("value_errors", values, error);
  print("gradient", gradient, value);
  print("gradient_errors", gradient, error);
  std::printf("}\n");
}

template <class Method>
void print_method(const char* name, std::uint64_t seed) {
  const Positions at{3, 4, 1};
  Numbers numbers(seed);
  const Case given = case_of(Method::parameters(numbers, at), at, numbers);
  const Vector<RunningError> inputs = lifted<RunningError>(given.inputs);
  Reader<RunningError> reader(inputs);
  print_case(name, given, Method::read(reader, at), [](const auto& grad) {
    Writer<RunningError> gradient;
    Method::template write<RunningError>(gradient, grad);
    return gradient.result();
  });
}

/// From the layer's input: X [4, 2], w_f [2], b_f.
void print_fox(std::uint64_t seed) {
  Numbers numbers(seed);
  const Case given = case_of(numbers.between(-1.5, 1.5, 11), {4, 4, 0}, numbers);
  const Vector<RunningError> inputs = lifted<RunningError>(given.inputs);
  Reader<RunningError> reader(inputs);
  const Matrix<RunningError> X = reader.matrix(4, 2);
  const Vector<RunningError> w_f = reader.vector(2);
  const RunningError b_f = reader.number();
  const Fox<RunningError> bias{prefix_sum(log_forget_gates(X, w_f, b_f))};
  print_case("fox", given, bias, [&](const auto& grad) {
    const auto by_gates = log_forget_gates_grad(X, w_f, b_f, prefix_sum_grad(grad.prefix_sum));
    Writer<RunningError> gradient;
    gradient.matrix(by_gates.x);
    gradient.vector(by_gates.w);
    gradient.number(by_gates.b);
    return gradient.result();
  });
}

void print_buckets(int buckets, int max_distance, bool bidirectional) {
  const T5Buckets bucket(buckets, max_distance, bidirectional);
  std::printf("{\"buckets\": %d, \"max_distance\": %d, \"bidirectional\": %d, \"of_i_minus_j\": [",
              buckets, max_distance, bidirectional);
  for (int n = -200; n <= 200; ++n) {
    std::printf("%s%d", n == -200 ? "" : ", ", bucket(std::max(n, 0), std::max(-n, 0)));
  }
  std::printf("]}\n");
}

}  // namespace

int main() {
  for (std::uint64_t seed : {11, 12, 13}) {
    print_method<KCablePaperMethod>("k_cable_paper", seed);
    print_method<KerpleLogMethod>("kerple_log", seed);
    print_method<KerplePowerMethod>("kerple_power", seed);
    print_method<T5ClippedMethod>("t5_clipped", seed);
    print_method<T5ClippedOffsetMethod>("t5_clipped_offset", seed);
    print_fox(seed);
    print_method<FireMethod>("fire", seed);
  }
  print_buckets(32, 128, false);
  print_buckets(32, 128, true);
}
