// SPDX-License-Identifier: Apache-2.0
// Kernels of tests/verdict/fp8_kernels.c: inputs of 8 bits from the case to the verdict.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/at_length.hpp"
#include "verdict/judge/judge.hpp"
#include "verdict/property/property.hpp"

BOOST_AUTO_TEST_SUITE(fp8_test)

using namespace plumbline;
using cases::Format;
using cases::Pass;
using verdict::Outcome;

namespace {

verdict::Kernel kernel(const std::string& name) {
  for (const auto& kernel : verdict::load_kernel_library(FP8_KERNELS).kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

verdict::CellResult check(const std::string& name, Pass pass, Format format, int cases,
                          std::uint64_t seed = 3) {
  return verdict::check_cell(kernel(name), pass, PLUMBLINE_ALIBI, format, cases, seed, 2,
                             [](int) {});
}

constexpr Format formats[] = {Format::e4m3, Format::e5m2};

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_kernel_passes_every_pass_in_both_formats) {
  for (const Format format : formats) {
    for (const Pass pass : cases::all_passes()) {
      const auto result = check("no_fault", pass, format, pass == Pass::backward ? 12 : 25);
      BOOST_TEST_CONTEXT(cases::name(pass) << " " << cases::name(format)) {
        BOOST_TEST((result.outcome == Outcome::pass),
                   (result.counterexample ? cases::to_line(result.counterexample->spec) + "\n" +
                                                verdict::describe(result.counterexample->judgement)
                                          : ""));
        BOOST_TEST(result.blind_outputs().empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_that_have_no_bound_are_not_drawn, *test::only_at_length) {
  // n u < 1 with u = 2^-13. Cases of 65,536 keys are drawn of kernels that are more exact.
  const auto result = check("no_fault", Pass::forward, Format::e4m3, 200, 1);
  BOOST_TEST((result.outcome == Outcome::pass));
  const int most_keys = result.cover.cases.at("keys").rbegin()->first;
  BOOST_TEST(most_keys < 8192);
  BOOST_TEST(most_keys > 512);
  BOOST_REQUIRE(!result.declined.empty());
  BOOST_TEST(result.declined.back() ==
             "sums of 8192 terms or more (none has a bound: unit_roundoff is 0.0001220703125)");
}

BOOST_AUTO_TEST_CASE(wrong_scales_and_formats_fail) {
  for (const Format format : formats) {
    if (format != formats[0] && !test::at_length()) continue;
    for (const Pass pass : cases::all_passes()) {
      for (const char* name : {"forgets_k_scale", "takes_the_scale_of_the_next_head"}) {
        BOOST_TEST_CONTEXT(name << " " << cases::name(pass) << " " << cases::name(format)) {
          BOOST_TEST((check(name, pass, format, 12).outcome == Outcome::fail));
        }
      }
    }
  }
  BOOST_TEST(
      (check("reads_e5m2_as_e4m3", Pass::forward, Format::e5m2, 5).outcome == Outcome::fail));
  BOOST_TEST(
      (check("reads_e5m2_as_e4m3", Pass::forward, Format::e4m3, 5).outcome == Outcome::pass));
  const auto gradients = check("forgets_q_scale_of_dk", Pass::backward, Format::e4m3, 5);
  BOOST_REQUIRE(gradients.counterexample.has_value());
  const auto& judgement = gradients.counterexample->judgement;
  BOOST_TEST((judgement.output("grad_k").outcome == Outcome::fail));
  BOOST_TEST((judgement.output("grad_q").outcome == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(p_that_is_rounded_without_the_scale_that_is_declared_fails) {
  // One key of weight 1 and 511 of weight 2^-10.8 each, which e4m3 has no number for unless 2^8
  // multiplies it: a fifth of o is lost.
  cases::Case c =
      cases::generate(cases::from_line("dtype=e4m3,keys=512,head_dim=1,query_offset=511"));
  c.scale = 1;
  c.q_scale = c.k_scale = c.v_scale = {1};
  c.q = {1};
  c.k.assign(512, -7.5f);
  c.k[0] = 0;
  c.v.assign(512, 1);
  c.v[0] = -1;
  cases::validate(c);
  for (const auto& [name, outcome] :
       {std::pair{"no_fault", Outcome::pass}, {"rounds_p_without_its_scale", Outcome::fail}}) {
    const auto judged = kernel(name);
    const auto run = judged.run(c);
    const auto judgement = verdict::judge(c, judged.contract(Format::e4m3), run.outputs, 2);
    BOOST_TEST((judgement.outcome == outcome), verdict::describe(judgement));
  }
  // A kernel that declares no scale may lose them.
  verdict::Contract declared = kernel("no_fault").contract(Format::e4m3);
  declared.probability_scale = 0;
  const auto run = kernel("rounds_p_without_its_scale").run(c);
  BOOST_TEST((verdict::judge(c, declared, run.outputs, 2).outcome == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(scales_cost_each_operand_two_roundings) {
  verdict::Contract contract{};
  BOOST_TEST(verdict::contract_for(contract, {.format = Format::e5m2}).operand_roundoff == 0x1p-23);
  BOOST_TEST(verdict::contract_for(contract, {.format = Format::bf16}).operand_roundoff == 0);
}

BOOST_AUTO_TEST_CASE(scales_of_all_bits_pass) {
  // As measured: a largest magnitude divided by 448. The products with them are rounded to float.
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    cases::Spec spec = cases::from_line(
        "dtype=e4m3,batch=2,heads=2,kv_heads=2,queries=40,keys=40,head_dim=64,seed=3");
    spec.pass = pass;
    cases::Case c = cases::generate(spec);
    int step = 0;
    for (auto& [numbers, scales] :
         {std::pair{&c.q, &c.q_scale}, {&c.k, &c.k_scale}, {&c.v, &c.v_scale}}) {
      const auto stored = cases::unscaled(*numbers, *scales, spec.format);
      for (float& scale : *scales) scale = (3.7f + 0.1f * static_cast<float>(++step)) / 448 * 8;
      *numbers = cases::scaled(stored, *scales);
    }
    cases::validate(c);
    const auto right = kernel("no_fault");
    const auto judgement = verdict::judge(c, right.contract(spec.format), right.run(c).outputs, 2);
    BOOST_TEST((judgement.outcome == Outcome::pass), verdict::describe(judgement));
  }
}

BOOST_AUTO_TEST_SUITE_END()
