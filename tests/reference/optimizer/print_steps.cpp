// SPDX-License-Identifier: Apache-2.0
// Prints what the optimisers make of twelve gradients, a clipped gradient and a schedule, for
// pytorch_check.py: a JSON object a line, with numbers in C's hexadecimal form, the results with
// their error bounds. The inputs are those of one seed.
#include <cstdio>

#include "reference/optimizer/adamw.hpp"
#include "reference/optimizer/clip.hpp"
#include "reference/optimizer/radam.hpp"
#include "reference/optimizer/schedule.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

using namespace plumbline::reference;
using E = RunningError;

namespace {

constexpr int steps = 12, rows = 2, columns = 3, length = 2;  // of a matrix and a vector

template <class Number>
void print(const char* name, const Vector<E>& numbers, const Number& number) {
  std::printf(", \"%s\": \"", name);
  for (const E& x : numbers) std::printf("%a ", number(x));
  std::printf("\"");
}

void print_problem(const char* name, const Vector<E>& inputs, const Vector<E>& results) {
  std::printf("{\"name\": \"%s\"", name);
  print("inputs", inputs, [](const E& x) { return x.value(); });
  print("values", results, [](const E& x) { return x.value(); });
  print("errors", results, [](const E& x) { return x.error(); });
  std::printf("}\n");
}

Vector<E> inputs(int count) { return lifted<E>(Numbers(23).between(-2, 2, count)); }

template <class Step>
void print_steps(const char* name, double weight_decay, const Step& step) {
  const Vector<E> numbers = inputs((1 + steps) * (rows * columns + length));
  Reader<E> reader(numbers);
  Matrix<E> matrix = reader.matrix(rows, columns);
  Vector<E> vector = reader.vector(length);
  Moments<Matrix<E>> of_matrix = no_moments(matrix);
  Moments<Vector<E>> of_vector = no_moments(vector);
  const AdamSettings<E> settings{.learning_rate = E(0.01), .weight_decay = E(weight_decay)};
  for (int n = 0; n < steps; ++n) {
    const Matrix<E> grad = reader.matrix(rows, columns);
    step(matrix, grad, of_matrix, settings);
    step(vector, reader.vector(length), of_vector, settings);
  }
  Writer<E> results;
  results.matrix(matrix);
  results.vector(vector);
  print_problem(name, numbers, results.result());
}

void print_radam(const char* name, WeightDecay decay, RadamThreshold threshold) {
  print_steps(name, 0.1, [=](auto& parameter, const auto& grad, auto& moments, auto& settings) {
    radam_step(parameter, grad, moments, settings, decay, threshold);
  });
}

}  // namespace

int main() {
  const auto adam = [](auto& parameter, const auto& grad, auto& moments, auto& settings) {
    adam_step(parameter, grad, moments, settings);
  };
  print_steps("adam", 0, adam);
  print_steps("adam with an L2 penalty", 0.1, adam);
  print_steps("adamw", 0.1, [](auto& parameter, const auto& grad, auto& moments, auto& settings) {
    adamw_step(parameter, grad, moments, settings);
  });
  print_radam("radam, decoupled", WeightDecay::decoupled, RadamThreshold::pytorch);
  print_radam("radam, L2", WeightDecay::l2, RadamThreshold::pytorch);
  print_radam("radam, decoupled, of the paper", WeightDecay::decoupled, RadamThreshold::paper);

  const Vector<E> gradients = inputs(rows * columns + length);
  Reader<E> reader(gradients);
  Matrix<E> matrix = reader.matrix(rows, columns);
  Vector<E> vector = reader.vector(length);
  GlobalNorm<E> norm;
  norm.add(matrix);
  norm.add(vector);
  const E factor = clip_factor(norm.value(), E(1.0), E(pytorch_clip_epsilon));
  scale_gradient(matrix, factor);
  scale_gradient(vector, factor);
  Writer<E> clipped;
  clipped.number(norm.value());
  clipped.matrix(matrix);
  clipped.vector(vector);
  print_problem("clip", gradients, clipped.result());

  Writer<E> rates;
  const CosineSchedule<E> schedule{.warm_up_steps = 3, .steps = 10};
  for (int step = 0; step < 10; ++step) rates.number(learning_rate(schedule, step));
  print_problem("schedule", Vector<E>(), rates.result());
}
