// SPDX-License-Identifier: Apache-2.0
// Runs blocked attention for tests/bench/blocked_attention.py: reads a command a line from standard
// input and answers with a line of JSON.
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "reference/blocked/attention_grad.hpp"
#include "reference/blocked/distance_bias.hpp"
#include "reference/blocked/products.hpp"

namespace {

using namespace plumbline::reference;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// VmRSS or VmHWM of this process, in MiB.
double memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != name + ":") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

/// Numbers in [-1/2, 1/2) that the PyTorch side makes too: a hash of n (Chris Wellons, lowbias32).
double number(std::uint32_t n) {
  n = (n ^ (n >> 16)) * 0x7feb352du;
  n = (n ^ (n >> 15)) * 0x846ca68bu;
  return (n ^ (n >> 16)) * 0x1p-32 - 0.5;
}

std::vector<Matrix<double>> numbers(int heads, int rows, int columns, std::uint32_t first) {
  std::vector<Matrix<double>> x(heads, Matrix<double>(rows, columns));
  for (Matrix<double>& matrix : x) {
    for (Eigen::Index n = 0; n < matrix.size(); ++n) matrix.data()[n] = 4 * number(first++);
  }
  return x;
}

std::vector<blocked::Stored> stored(const std::vector<Matrix<double>>& x) {
  std::vector<blocked::Stored> views;
  for (const Matrix<double>& matrix : x) views.push_back(blocked::stored(matrix));
  return views;
}

double size_of(const std::vector<Matrix<double>>& x) {
  double total = 0;
  for (const Matrix<double>& matrix : x) total += matrix.cwiseAbs().sum();
  return total;
}

/// Forward and backward, H = 12, T = 4096, D = 64, causal.
class Attention {
 public:
  static constexpr int heads = 12, length = 4096, head_dim = 64;

  Attention()
      : q_(make(0)), k_(make(1)), v_(make(2)), grad_output_(make(3)), before_(memory("VmRSS")) {
    problem_.shape = {1, heads, heads, length, length, head_dim, 0};
    problem_.q = stored(q_), problem_.k = stored(k_), problem_.v = stored(v_);
    problem_.scale = 0.125;
    problem_.mask.causal = true;
  }

  void run() const {
    const auto start = Clock::now();
    const blocked::Attended attended = blocked::attention(problem_);
    const double forward = seconds_since(start);
    const blocked::Gradients grad =
        blocked::attention_grad(problem_, attended, {stored(grad_output_), {}});
    std::printf(
        "{\"forward\": %.6f, \"backward\": %.6f, \"memory\": %.1f, "
        "\"sums\": [%.17g, %.17g, %.17g, %.17g]}\n",
        forward, seconds_since(start) - forward, memory("VmHWM") - before_,
        size_of(attended.output), size_of(grad.q), size_of(grad.k), size_of(grad.v));
  }

 private:
  static std::vector<Matrix<double>> make(std::uint32_t tensor) {
    return numbers(heads, length, head_dim, tensor * heads * length * head_dim);
  }

  std::vector<Matrix<double>> q_, k_, v_, grad_output_;
  double before_;
  blocked::Problem problem_;
};

/// GFLOP/s of a product of square matrices.
void product() {
  constexpr int n = 2048;
  static const Matrix<double> a = numbers(1, n, n, 0)[0], b = a.transpose();
  const auto start = Clock::now();
  const Matrix<double> c = blocked::linear(a, b, {});
  const double gflops = 2e-9 * n * n * n / seconds_since(start);
  std::printf("{\"gflops\": %.3f, \"sums\": [%.17g]}\n", gflops, c.cwiseAbs().sum());
}

/// [rows, columns] as bf16, cut off.
std::vector<std::uint16_t> bf16_numbers(int rows, int columns, std::uint32_t first) {
  std::vector<std::uint16_t> x(static_cast<std::size_t>(rows) * columns);
  for (std::uint16_t& bits : x) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(4 * number(first++))) >> 16;
  }
  return x;
}

/// 64 query rows at T = 524,288 under ALiBi, inputs in bf16; 12 heads, one after another, so that
/// the inputs of one are in memory. Making them does not count in the seconds.
void rows() {
  constexpr int heads = 12, length = 524288, head_dim = 64, count = 64;
  std::vector<int> chosen;
  for (int n = 1; n <= count; ++n) chosen.push_back(length / count * n - 1);
  double seconds = 0, sum = 0;
  for (int h = 0; h < heads; ++h) {
    const auto make = [&](std::uint32_t tensor) {
      return bf16_numbers(length, head_dim, (3 * h + tensor) * length * head_dim);
    };
    const auto q = make(0), k = make(1), v = make(2);
    const auto start = Clock::now();
    blocked::Problem problem;
    problem.shape = {1, 1, 1, length, length, head_dim, 0};
    problem.q = {blocked::stored_bf16(q, length, head_dim)};
    problem.k = {blocked::stored_bf16(k, length, head_dim)};
    problem.v = {blocked::stored_bf16(v, length, head_dim)};
    problem.scale = 0.125;
    problem.mask.causal = true;
    const blocked::DistanceBias<Alibi<double>> bias({alibi_slopes<double>(heads)[h]}, problem.shape,
                                                    problem.mask);
    problem.bias = {&bias};
    sum += size_of(blocked::attention_rows(problem, chosen).output);
    seconds += seconds_since(start);
  }
  std::printf("{\"seconds\": %.3f, \"memory\": %.1f, \"sums\": [%.17g]}\n", seconds,
              memory("VmHWM"), sum);
}

}  // namespace

int main() {
  for (std::string command; std::getline(std::cin, command);) {
    if (command == "which") {
      std::printf("{\"instruction_set\": \"%s\", \"eigen\": \"%d.%d.%d\"}\n",
                  blocked::kernels().instruction_set, EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                  EIGEN_MINOR_VERSION);
    } else if (command == "product") {
      product();
    } else if (command == "attention") {
      static const Attention attention;
      attention.run();
    } else if (command == "rows") {
      rows();
    } else {
      std::fprintf(stderr, "unknown command %s\n", command.c_str());
      return 2;
    }
    std::fflush(stdout);
  }
}
