// SPDX-License-Identifier: Apache-2.0
// GPT-2 small on the tier of real size: one sequence of 1024 tokens, random weights, the loss and
// its gradient to every parameter, in double. Prints a line of JSON.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "reference/blocked/kernels.hpp"
#include "reference/blocked/tier.hpp"
#include "reference/model/gpt2_grad.hpp"

namespace {

using namespace plumbline::reference;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The most memory that this process has had, in MiB.
double most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

/// In [-1/2, 1/2): a hash of n (Chris Wellons, lowbias32).
double number(std::uint32_t n) {
  n = (n ^ (n >> 16)) * 0x7feb352du;
  n = (n ^ (n >> 15)) * 0x846ca68bu;
  return (n ^ (n >> 16)) * 0x1p-32 - 0.5;
}

}  // namespace

int main() {
  const auto c = gpt2_small();
  auto p = Gpt2Parameters<double>::zero(c);
  // The variance of GPT-2's start, 0.02^2; gammas are 1.
  std::uint32_t at = 0;
  for_each_parameter(p, [&](const std::string& name, auto& tensor) {
    const bool gamma = name.find("ln_") != name.npos && name.ends_with("weight");
    for (Eigen::Index n = 0; n < tensor.size(); ++n) {
      tensor.data()[n] = gamma ? 1.0 : 0.02 * std::sqrt(12.0) * number(at++);
    }
  });
  std::vector<int> ids(1024);
  for (int& id : ids) id = static_cast<int>((number(at++) + 0.5) * c.vocabulary);

  const auto start = Clock::now();
  const auto state = gpt2_forward<Blocked>(c, p, ids);
  Matrix<double> logits = gpt2_logits<Blocked>(p, state.hidden);
  const double loss = cross_entropy(logits, next_tokens(ids));
  const double forward = seconds_since(start);
  auto grad = Gpt2Parameters<double>::zero(c);
  logits = cross_entropy_grad(logits, next_tokens(ids), 1.0);
  gpt2_grad<Blocked>(c, p, ids, state, gpt2_logits_grad<Blocked>(p, state.hidden, logits, grad),
                     grad);
  double square_norm = 0;
  for_each_parameter(
      grad, [&](const std::string&, const auto& tensor) { square_norm += tensor.squaredNorm(); });
  std::printf(
      "{\"forward\": %.3f, \"backward\": %.3f, \"memory\": %.0f, \"instruction_set\": \"%s\", "
      "\"loss\": %.17g, \"gradient_norm\": %.17g}\n",
      forward, seconds_since(start) - forward, most_memory(), blocked::kernels().instruction_set,
      loss, std::sqrt(square_norm));
}
