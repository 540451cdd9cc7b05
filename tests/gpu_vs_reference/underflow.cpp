// SPDX-License-Identifier: Apache-2.0
// Kernels near the small end of their formats, held to their contracts: where a number underflows
// matters there, and to how much.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "plumbline_kernel.h"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/cases/formats.hpp"
#include "verdict/judge/judge.hpp"
#include "verdict/process/kernel_library.hpp"

BOOST_AUTO_TEST_SUITE(underflow_test)

namespace {

using namespace plumbline;
using cases::Format;

verdict::Kernel kernel(const std::string& name) {
  const plumbline_library* library = plumbline_kernel_library();
  return {nullptr, *std::find_if(library->kernels, library->kernels + library->kernel_count,
                                 [&](const auto& k) { return k.name == name; })};
}

/// A causal case of one head.
cases::Case one_head(cases::Bias bias, Format format, int queries, int keys, int head_dim) {
  cases::Spec spec;
  spec.pass = cases::Pass::backward;
  spec.bias = bias;
  spec.format = format;
  spec.queries = queries;
  spec.keys = keys;
  spec.query_offset = keys - queries;
  spec.head_dim = head_dim;
  spec.seed = 5;
  while (cases::drawn_options(spec)[PLUMBLINE_SLOPES_PER_BATCH] != 0) ++spec.seed;
  auto c = cases::generate(spec);
  c.spec.family = cases::Family::file;  // edited: nothing is known of its numbers
  return c;
}

void multiply(std::vector<float>& values, float factor, Format format) {
  for (float& x : values) x = cases::stored(x * factor, format);
}

verdict::Judgement judged(const verdict::Kernel& kernel, const cases::Case& c,
                          const verdict::Contract& contract) {
  const auto run = kernel.run(c);
  BOOST_TEST_REQUIRE(run.failure == "");
  return verdict::judge(c, contract, run.outputs, 2);
}

// One query, and ALiBi: from about 175 keys on P is subnormal, and so is all that it adds to dV.
BOOST_AUTO_TEST_CASE(kernels_that_add_atomically_flush_subnormals_and_say_so) {
  for (const auto& [name, format] :
       {std::pair{"fused_atomic", Format::fp32}, std::pair{"fused_atomic", Format::bf16},
        std::pair{"mma_atomic", Format::bf16}, std::pair{"mma_atomic", Format::tf32}}) {
    BOOST_TEST_CONTEXT(name << " " << cases::name(format)) {
      auto c = one_head(PLUMBLINE_ALIBI, format, 1, 240, 32);
      c[PLUMBLINE_SLOPES] = {0.5f};
      const auto of = kernel(name);
      auto contract = of.contract(format);
      const auto as_declared = judged(of, c, contract);
      BOOST_TEST((as_declared.outcome == verdict::Outcome::pass), verdict::describe(as_declared));
      // A GPU's additions flush (PTX ISA, atom and red), and so do the emulated ones: a contract
      // that keeps subnormals is broken.
      contract.flushes_subnormals = 0;
      const auto strict = judged(of, c, contract);
      BOOST_TEST(strict.output("grad_v").failed > 0);
      BOOST_TEST(strict.output("grad_q").failed == 0);
    }
  }
}

// RoPE's rotated keys are rounded to the format once more: small ones to its subnormals.
BOOST_AUTO_TEST_CASE(rotated_keys_may_underflow_in_the_format_of_the_case) {
  double nearest = 0.0;
  for (const auto bias : {cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_INTERLEAVED),
                          cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT)}) {
    for (const auto format : {Format::fp16, Format::bf16}) {
      for (const int length : {2, 9}) {
        for (const int head_dim : {32, 128}) {
          auto c = one_head(bias, format, length, length, head_dim);
          const bool half = format == Format::fp16;
          multiply(c.q, 0x1p8f, format);
          multiply(c.k, half ? 0x1p-20f : 0x1p-133f, format);
          multiply(c.grad_o, half ? 1.0f : 0x1p40f, format);
          const auto of = kernel("mma_rope");
          const auto judgement = judged(of, c, of.contract(format));
          BOOST_TEST_CONTEXT(cases::name(bias)
                             << " " << cases::name(format) << " " << length << " " << head_dim) {
            BOOST_TEST((judgement.outcome == verdict::Outcome::pass), verdict::describe(judgement));
          }
          nearest = std::max(nearest, judgement.output("grad_q").worst.ratio);
        }
      }
    }
  }
  BOOST_TEST(nearest > 0.25);  // the bound allows not much more than the kernel may lose
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
