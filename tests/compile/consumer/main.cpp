// SPDX-License-Identifier: Apache-2.0
// Uses one thing of each installed library: the slope bias, blocked attention, a generated case, a
// bound.
#include <cstdio>

#include "plumbline_custom_bias.hpp"
#include "plumbline_kernel.h"
#include "reference/bias/alibi.hpp"
#include "reference/blocked/attention.hpp"
#include "reference/scalars/double.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

int main() {
  using namespace plumbline;
  const reference::Alibi<double> alibi{0.5};
  // One query, two keys with equal logits: the output is the mean of v.
  reference::Matrix<double> q(1, 1), k(2, 1), v(2, 1);
  q << 5.0;
  k << 3.0, 3.0;
  v << 1.0, 3.0;
  reference::blocked::Problem problem;
  problem.shape = {1, 1, 1, 1, 2, 1, 0};
  problem.q = {reference::blocked::stored(q)};
  problem.k = {reference::blocked::stored(k)};
  problem.v = {reference::blocked::stored(v)};
  const reference::blocked::Attended attended = reference::blocked::attention(problem);
  cases::Spec spec;
  spec.keys = 3;
  const cases::Case generated = cases::generate(spec);
  const bool right = alibi(3, 1) == -1.0 && attended.output[0](0, 0) == 2.0 &&
                     generated.k.size() == 3u * spec.head_dim &&
                     verdict::unit_roundoff(cases::Format::bf16) == 0x1p-8 &&
                     PLUMBLINE_ABI_VERSION == 16;
  std::puts(right ? "the installed libraries work" : "the installed libraries are wrong");
  return right ? 0 : 1;
}
