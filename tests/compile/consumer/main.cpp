// SPDX-License-Identifier: Apache-2.0
// Uses one thing of each installed library: the slope bias, a generated case, a bound.
#include <cstdio>

#include "cases/case.hpp"
#include "plumbline_kernel.h"
#include "reference/bias/alibi.hpp"
#include "reference/scalars/double.hpp"
#include "verdict/contract.hpp"

int main() {
  using namespace plumbline;
  const reference::Alibi<double> alibi{0.5};
  cases::Spec spec;
  spec.keys = 3;
  const cases::Case generated = cases::generate(spec);
  const bool right = alibi(3, 1) == -1.0 && generated.k.size() == 3u * spec.head_dim &&
                     verdict::unit_roundoff(cases::Format::bf16) == 0x1p-8 &&
                     PLUMBLINE_ABI_VERSION == 1;
  std::puts(right ? "the installed libraries work" : "the installed libraries are wrong");
  return right ? 0 : 1;
}
