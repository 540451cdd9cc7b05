// SPDX-License-Identifier: Apache-2.0
// What shipped kernels keep in 16 bits, or leave out: a kernel that does so fails where its
// contract does not say it, passes where it does, with an error near the bound, and with a fault
// fails still.
#include "verdict/judge/contract.hpp"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "kept_attention.hpp"
#include "support/error.hpp"
#include "tests/at_length.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/conventions/name_conventions.hpp"
#include "verdict/conventions/nearest_contract.hpp"
#include "verdict/judge/judge.hpp"
#include "verdict/process/kernel_library.hpp"
#include "verdict/report/report.hpp"

BOOST_AUTO_TEST_SUITE(contracts_test)

using namespace plumbline;
using cases::Format;
using test::Kept;
using verdict::Contract;
using verdict::Outcome;

namespace {

cases::Spec spec_of(cases::Pass pass, Format format) {
  cases::Spec spec;
  spec.pass = pass;
  spec.bias = PLUMBLINE_ALIBI;
  spec.format = format;
  spec.batch = 2;
  spec.heads = 4;
  spec.kv_heads = 2;
  spec.queries = spec.keys = 48;
  spec.head_dim = 16;
  spec.seed = 5;
  return spec;
}

Contract contract_of(const Kept& kept) {
  Contract contract = cases::undeclared_contract();
  contract.probability_format = static_cast<int>(kept.probability);
  return contract;
}

verdict::Judgement judged(const cases::Case& c, const Contract& contract, const Kept& kept) {
  verdict::validate(contract, c.spec.format);
  return verdict::judge(c, contract, test::KeptAttention(c, kept).run(), 2);
}

verdict::Match nearest_of(const Contract& declared,
                          std::span<const verdict::FailingOutputs> failing) {
  const auto nearest = verdict::nearest_contract(declared, failing, 2);
  return nearest ? nearest->match : verdict::Match{};
}

double worst(const verdict::Judgement& judgement, const std::string& output) {
  return judgement.output(output).worst.ratio;
}

/// The four statements of one field.
/// @param field which sets it in a contract; @param broken a fault in the kernel that has it.
/// @param output whose error is to be near its bound.
void check_field(const char* name, const cases::Case& c, const Kept& kept,
                 const std::function<void(Contract&)>& field,
                 const std::function<void(Kept&)>& broken, const std::string& output,
                 double near = 0.05) {
  const Contract strict = contract_of(kept);
  Contract declared = strict;
  field(declared);
  Kept faulty = kept;
  broken(faulty);
  BOOST_TEST_CONTEXT(name << " in " << cases::name(c.spec.format)) {
    BOOST_TEST((judged(c, strict, {.probability = kept.probability}).outcome == Outcome::pass));
    const auto undeclared = judged(c, strict, kept);
    BOOST_TEST((undeclared.outcome == Outcome::fail));
    const auto passes = judged(c, declared, kept);
    BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
    BOOST_TEST((judged(c, declared, faulty).outcome == Outcome::fail));
    if (output.empty()) return;
    BOOST_TEST_MESSAGE(name << " in " << cases::name(c.spec.format) << ": " << output << " strict "
                            << worst(undeclared, output) << ", declared " << worst(passes, output));
    BOOST_TEST(worst(undeclared, output) > 1);
    BOOST_TEST(worst(passes, output) > near);
  }
}

constexpr Format sixteen_bits[] = {Format::bf16, Format::fp16};

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_of_each_query_head_stored_in_16_bits) {
  for (const auto format : sixteen_bits) {
    auto spec = spec_of(cases::Pass::backward, format);
    spec.heads = 8;
    spec.kv_heads = 1;  // of opposite signs, so that the sum is less than its parts
    const auto c = cases::generate(spec);
    check_field(
        "head_gradient_format", c, {.head_gradient = format},
        [&](Contract& x) { x.head_gradient_format = static_cast<int>(format); },
        [](Kept& x) { x.loses_a_head = true; }, "grad_v", 0.3);
    // Without groups nothing is stored that is not stored anyway.
    auto alone = spec;
    alone.kv_heads = alone.heads;
    const auto each = cases::generate(alone);
    const Kept kept{.head_gradient = format};
    BOOST_TEST((judged(each, contract_of(kept), kept).outcome == Outcome::pass));
  }
}

BOOST_AUTO_TEST_CASE(sums_of_gradients_kept_in_16_bits_between_blocks) {
  for (const auto format : sixteen_bits) {
    auto spec = spec_of(cases::Pass::backward, format);
    spec.bias = PLUMBLINE_NOPE;
    spec.family = cases::Family::diffuse;
    spec.mask.causal = false;
    const auto c = cases::generate(spec);
    const auto field = [&](Contract& x) {
      x.gradient_sum_format = static_cast<int>(format);
      x.sum_block = 16;
    };
    const Kept kept{.gradient_sum = format, .block = 16};
    for (const char* output : {"grad_k", "grad_v", "grad_q"}) {
      check_field(
          "gradient_sum_format", c, kept, field, [](Kept& x) { x.loses_a_block = true; }, output);
    }
    // Sums that are kept after every term, under a contract of one block.
    Contract longer = contract_of(kept);
    longer.gradient_sum_format = static_cast<int>(format);
    longer.sum_block = 48;
    auto smallest = kept;
    smallest.block = 1;
    BOOST_TEST((judged(c, longer, smallest).outcome == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(o_kept_in_16_bits_between_blocks) {
  for (const auto format : sixteen_bits) {
    auto spec = spec_of(cases::Pass::forward, format);
    spec.mask.causal = false;
    const auto c = cases::generate(spec);
    check_field(
        "output_sum_format", c, {.output_sum = format, .block = 8},
        [&](Contract& x) {
          x.output_sum_format = static_cast<int>(format);
          x.sum_block = 8;
        },
        [](Kept& x) { x.loses_a_block = true; }, "o", 0.1);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_o_that_fp16_does_not_hold_are_not_judged) {
  auto spec = spec_of(cases::Pass::forward, Format::fp16);
  spec.bias = PLUMBLINE_NOPE;
  spec.mask.causal = false;
  auto c = cases::generate(spec);
  // The keys before the last have equal scores, and sums in the first blocks of 8 * 30000. The last
  // has a score larger by 12, so that o is 30000 nearly: by the largest weight of all, 1, nothing
  // overflows.
  const std::size_t dim = spec.head_dim;
  std::fill(c.q.begin(), c.q.end(), 1.0f);
  std::fill(c.k.begin(), c.k.end(), 0.0f);
  std::fill(c.v.begin(), c.v.end(), 30000.0f);
  for (std::size_t end = spec.keys * dim; end <= c.k.size(); end += spec.keys * dim) {
    for (std::size_t d = end - dim; d < end; ++d) c.k[d] = 3;
  }
  const Kept kept{.output_sum = Format::fp16, .block = 8};
  Contract declared = contract_of(kept);
  declared.output_sum_format = PLUMBLINE_FP16;
  declared.sum_block = 8;
  BOOST_TEST(!std::isfinite(test::KeptAttention(c, kept).run().o.front()));
  auto outputs = test::KeptAttention(c, kept).run();
  const auto left_out = verdict::judge(c, declared, outputs, 2);
  BOOST_TEST((left_out.outcome == Outcome::pass), verdict::describe(left_out));
  BOOST_TEST(left_out.rows_left_out == left_out.rows);
  BOOST_TEST(left_out.output("o").not_judged == left_out.output("o").elements);
  // The lse of these rows is judged.
  outputs.lse[7] += 0.5f;
  BOOST_TEST(verdict::judge(c, declared, outputs, 2).output("lse").failed == 1);
  // Of numbers of which 47 add up to less than the largest of fp16, o is judged.
  std::fill(c.v.begin(), c.v.end(), 1000.0f);
  const auto passes = judged(c, declared, kept);
  BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
}

BOOST_AUTO_TEST_CASE(an_lse_that_fp16_does_not_hold_to_base_2_is_not_judged) {
  for (const auto pass : {cases::Pass::forward, cases::Pass::backward}) {
    auto spec = spec_of(pass, Format::fp16);
    spec.bias = PLUMBLINE_NOPE;
    spec.kv_heads = spec.heads;
    auto c = cases::generate(spec);
    // All scores of a query of the first head are 1000 * 14 * 16 / 4 = 56000: that and ln 48 is
    // less than fp16's largest number, but not to base 2.
    const std::size_t dim = spec.head_dim;
    std::fill_n(c.q.begin() + 30 * dim, dim, 1000.0f);
    std::fill_n(c.k.begin(), spec.keys * dim, 14.0f);
    const Kept kept{.lse = Format::fp16, .log2_lse = true};
    Contract declared = contract_of(kept);
    declared.lse_format = PLUMBLINE_FP16;
    declared.lse_base_2 = 1;
    BOOST_TEST(std::isinf(test::KeptAttention(c, kept).run().lse[30]));
    auto outputs = test::KeptAttention(c, kept).run();
    const auto judgement = verdict::judge(c, declared, outputs, 2);
    BOOST_TEST((judgement.outcome == Outcome::pass), verdict::describe(judgement));
    BOOST_TEST(judgement.rows_left_out == 1);
    BOOST_TEST(judgement.output("lse").not_judged == 1);
    // The o of this row is judged.
    outputs.o[30 * dim] = 100;
    BOOST_TEST(verdict::judge(c, declared, outputs, 2).output("o").failed == 1);
  }
}

BOOST_AUTO_TEST_CASE(means_of_rows_without_a_key_overflow_as_sums_do) {
  auto spec = spec_of(cases::Pass::forward, Format::fp16);
  spec.bias = PLUMBLINE_NOPE;
  spec.query_offset = -1;  // the first row stands before the first key
  Contract declared = contract_of({});
  declared.output_sum_format = PLUMBLINE_FP16;
  declared.sum_block = 8;
  declared.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
  const Kept kept{
      .output_sum = Format::fp16, .block = 8, .empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS};
  for (const float value : {1300.0f, 1500.0f}) {  // 48 of which are 62400 and 72000
    auto c = cases::generate(spec);
    std::fill(c.v.begin(), c.v.end(), value);
    auto outputs = test::KeptAttention(c, kept).run();
    const auto right = verdict::judge(c, declared, outputs, 2);
    BOOST_TEST((right.outcome == Outcome::pass), verdict::describe(right));
    // As of a kernel that divides the sum by the number of keys at the end.
    std::fill_n(outputs.o.begin(), spec.head_dim, std::numeric_limits<float>::infinity());
    const auto infinite = verdict::judge(c, declared, outputs, 2);
    BOOST_TEST((infinite.outcome == (value > 1400 ? Outcome::pass : Outcome::fail)));
  }
}

BOOST_AUTO_TEST_CASE(scores_rounded_to_16_bits) {
  for (const auto format : sixteen_bits) {
    const auto field = [&](Contract& x) { x.score_format = static_cast<int>(format); };
    const auto fault = [](Kept& x) { x.slope_factor = 1.5f; };
    const Kept kept{.score = format};
    for (const auto family : {cases::Family::generic, cases::Family::peaked}) {
      auto spec = spec_of(cases::Pass::backward, format);
      spec.family = family;
      const auto c = cases::generate(spec);
      check_field("score_format", c, kept, field, fault, "lse", 0.1);
      if (family == cases::Family::generic) check_field("score_format", c, kept, field, fault, "o");
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_whose_scores_fp16_does_not_hold_are_not_judged) {
  for (const auto pass : {cases::Pass::forward, cases::Pass::backward}) {
    auto spec = spec_of(pass, Format::fp16);
    spec.kv_heads = spec.heads;
    auto c = cases::generate(spec);
    const Kept kept{.score = Format::fp16};
    Contract declared = contract_of(kept);
    declared.score_format = PLUMBLINE_FP16;
    // One query of the first head of the first sequence: its products are infinite in fp16.
    const std::size_t dim = spec.head_dim;
    for (std::size_t d = 0; d < dim; ++d) c.q[30 * dim + d] = 30000;
    for (std::size_t d = 0; d < dim; ++d) c.k[d] = 4;
    const auto passes = judged(c, declared, kept);
    BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
    BOOST_TEST(passes.rows_left_out == 1);
    BOOST_TEST(passes.output("o").not_judged == static_cast<long>(dim));
    // In float they are finite, and judged.
    BOOST_TEST((judged(c, contract_of({}), {}).outcome == Outcome::pass));
    BOOST_TEST(judged(c, contract_of({}), {}).rows_left_out == 0);
    auto faulty = kept;
    faulty.slope_factor = 1.5f;
    BOOST_TEST((judged(c, declared, faulty).outcome == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(dp_rounded_to_16_bits) {
  for (const auto format : sixteen_bits) {
    auto spec = spec_of(cases::Pass::backward, format);
    const auto c = cases::generate(spec);
    const auto field = [&](Contract& x) { x.grad_probability_format = static_cast<int>(format); };
    const auto fault = [](Kept& x) { x.no_common = true; };
    for (const bool recomputed : {false, true}) {
      const Kept kept{.grad_probability = format, .recomputes_d = recomputed};
      check_field("grad_probability_format", c, kept, field, fault, "grad_q", 0.1);
    }
  }
}

BOOST_AUTO_TEST_CASE(d_summed_from_16_bits) {
  for (const auto format : sixteen_bits) {
    auto spec = spec_of(cases::Pass::backward, format);
    spec.head_dim = 64;
    const auto field = [&](Contract& x) { x.delta_format = static_cast<int>(format); };
    const auto fault = [](Kept& x) { x.no_common = true; };
    const auto c = cases::generate(spec);
    for (const bool recomputed : {false, true}) {
      const Kept kept{.delta = format, .recomputes_d = recomputed};
      check_field("delta_format", c, kept, field, fault, recomputed ? "" : "grad_k", 0.1);
    }
    // A row with one key: dS is not 0 any more.
    spec.queries = spec.keys = 1;
    const auto one = cases::generate(spec);
    const Kept kept{.delta = format};
    Contract declared = contract_of(kept);
    BOOST_TEST((judged(one, declared, kept).outcome == Outcome::fail));
    field(declared);
    BOOST_TEST((judged(one, declared, kept).outcome == Outcome::pass));
  }
}

BOOST_AUTO_TEST_CASE(p_saved_in_16_bits_for_the_backward_pass) {
  for (const auto format : sixteen_bits) {
    const auto c = cases::generate(spec_of(cases::Pass::backward, format));
    const Kept kept{.probability = format, .recomputes_d = true, .saves_rounded_p = true};
    check_field(
        "saves_rounded_p", c, kept, [](Contract& x) { x.saves_rounded_p = 1; },
        [](Kept& x) { x.no_common = true; }, "");
  }
}

BOOST_AUTO_TEST_CASE(an_lse_rounded_to_16_bits) {
  for (const auto format : sixteen_bits) {
    const auto c = cases::generate(spec_of(cases::Pass::backward, format));
    check_field(
        "lse_format", c, {.lse = format},
        [&](Contract& x) { x.lse_format = static_cast<int>(format); },
        [](Kept& x) { x.lse_base_2 = true; }, "lse", 0.5);
    // The stored lse for P, and yet D = sum P dP: P is off by the lse's rounding.
    const Kept recomputed{.lse = format, .recomputes_d = true};
    Contract declared = contract_of(recomputed);
    declared.lse_format = static_cast<int>(format);
    const auto passes = judged(c, declared, recomputed);
    BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
  }
}

BOOST_AUTO_TEST_CASE(an_exponential_whose_value_at_0_is_not_1) {
  for (const auto format : sixteen_bits) {
    auto spec = spec_of(cases::Pass::forward, format);
    spec.bias = PLUMBLINE_NOPE;
    spec.family = cases::Family::level;
    const auto c = cases::generate(spec);
    Kept kept{.probability = format};
    kept.exp_zero = 1 - 5.3e-5f;
    // The error of the exponential is declared in either case: that alone is not enough.
    Contract declared = contract_of(kept);
    declared.exp_error = 0x1p-14;
    BOOST_TEST((judged(c, declared, kept).outcome == Outcome::fail));
    declared.inexact_exp_zero = 1;
    const auto passes = judged(c, declared, kept);
    BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
    BOOST_TEST_MESSAGE("inexact_exp_zero: lse " << worst(passes, "lse"));
    BOOST_TEST(worst(passes, "lse") > 0.3);
    kept.exp_zero = 1 - 5e-4f;
    BOOST_TEST((judged(c, declared, kept).outcome == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(rows_that_see_no_key_by_each_convention) {
  for (const auto pass : {cases::Pass::forward, cases::Pass::backward}) {
    auto spec = spec_of(pass, Format::bf16);
    spec.mask.ragged = true;
    auto c = cases::generate(spec);
    c.lengths = {48, 20};
    for (int convention = 1; convention < PLUMBLINE_EMPTY_ROWS_COUNT; ++convention) {
      const bool undefined = convention >= PLUMBLINE_EMPTY_ROWS_ARE_NAN;
      Kept kept{.probability = Format::bf16};
      kept.empty_rows = convention;
      const auto field = [&](Contract& x) { x.empty_rows = convention; };
      // Garbage that is nobody's is right as zeros, too; the other rows are judged as ever.
      const auto fault = [&](Kept& x) {
        if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE) {
          x.output_factor = 1.01f;
        } else {
          x.empty_rows_as_undeclared = true;
        }
      };
      check_field(("empty_rows " + std::to_string(convention)).c_str(), c, kept, field, fault, "");
      Contract declared = contract_of(kept);
      field(declared);
      const auto judgement = judged(c, declared, kept);
      const long empty = 28 * spec.heads;
      BOOST_TEST(judgement.rows_left_out ==
                 (convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE ? empty : 0));
      if (pass == cases::Pass::forward) continue;
      BOOST_TEST(judgement.output("grad_q").not_judged == (undefined ? empty * 16 : 0));
      BOOST_TEST(judgement.output("grad_v").not_judged == (undefined ? 2 * 48 * 16 : 0));
      auto faulty = kept;
      faulty.loses_a_head = true;  // in the sequence without empty rows, too
      BOOST_TEST((judged(c, declared, faulty).outcome == Outcome::fail));
    }
  }
}

BOOST_AUTO_TEST_CASE(causal_alibi_that_adds_the_key_alone) {
  for (const auto format : {Format::fp32, Format::bf16}) {
    for (const auto pass : {cases::Pass::forward, cases::Pass::backward}) {
      auto spec = spec_of(pass, format);
      spec.queries = 16;
      spec.query_offset = 32;
      spec.mask.causal = true;
      const auto c = cases::generate(spec);
      Kept kept{.probability = format};
      kept.alibi_of_key = true;
      const auto field = [](Contract& x) { x.alibi_of_key = 1; };
      // The largest slope is 1/4.
      const auto broken = [](Kept& x) { x.slope_factor = 1.002f; };
      check_field("alibi_of_key", c, kept, field, broken, "lse", 0.03);
      Contract declared = contract_of(kept);
      field(declared);
      const auto distances = judged(c, declared, {.probability = format});
      BOOST_TEST((distances.output("lse").outcome == Outcome::fail));
      BOOST_TEST((distances.output("o").outcome == Outcome::pass));
      // A window, or keys on both sides: distances as ever.
      for (const bool causal : {false, true}) {
        auto other = spec;
        other.mask.causal = causal;
        if (causal) other.mask.window = 5;
        const auto of_other = cases::generate(other);
        BOOST_TEST((judged(of_other, declared, {.probability = format}).outcome == Outcome::pass));
        BOOST_TEST((judged(of_other, declared, kept).outcome == Outcome::fail));
      }
      const auto outputs = test::KeptAttention(c, kept).run();
      const verdict::FailingOutputs failing{c, outputs};
      const auto nearest = nearest_of(contract_of(kept), {&failing, 1});
      BOOST_TEST(nearest.name == "alibi_of_key");
      // Declared, and not so: no implementation is named that writes no lse.
      const auto honest = test::KeptAttention(c, {.probability = format}).run();
      const verdict::FailingOutputs by_distance{c, honest};
      const auto undeclared = nearest_of(declared, {&by_distance, 1});
      BOOST_TEST(undeclared.text ==
                 "it would not fail if its contract said alibi_of_key = false; it declares "
                 "alibi_of_key = true");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_lse_to_base_2) {
  for (const auto format : {Format::fp32, Format::bf16}) {
    for (const auto pass : {cases::Pass::forward, cases::Pass::backward}) {
      auto spec = spec_of(pass, format);
      spec.mask.ragged = true;
      spec.queries = spec.keys;
      spec.query_offset = 0;
      const auto c = cases::generate(spec);
      Kept kept{.probability = format};
      kept.log2_lse = true;
      const auto field = [](Contract& x) { x.lse_base_2 = 1; };
      const auto broken = [](Kept& x) { x.lse_base_2 = true; };  // of the sum, twice
      check_field("lse_base_2", c, kept, field, broken, "lse", 0.03);
      const auto outputs = test::KeptAttention(c, kept).run();
      const verdict::FailingOutputs failing{c, outputs};
      BOOST_TEST(nearest_of(contract_of(kept), {&failing, 1}).name == "lse_base_2");
      // Declared, and natural.
      Contract declared = contract_of(kept);
      field(declared);
      const auto natural = judged(c, declared, {.probability = format});
      BOOST_TEST((natural.output("lse").outcome == Outcome::fail));
      BOOST_TEST((natural.output("o").outcome == Outcome::pass));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_mean_of_all_values_comes_near_its_bound) {
  auto spec = spec_of(cases::Pass::backward, Format::bf16);
  spec.mask.ragged = true;
  auto c = cases::generate(spec);
  c.lengths = {0, 0};
  Kept kept{.probability = Format::bf16};  // 1/48 is off by 1/256 in bf16
  kept.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
  Contract declared = contract_of(kept);
  declared.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
  const auto judgement = judged(c, declared, kept);
  BOOST_TEST((judgement.outcome == Outcome::pass), verdict::describe(judgement));
  BOOST_TEST_MESSAGE("mean: o " << worst(judgement, "o") << ", grad_v "
                                << worst(judgement, "grad_v"));
  BOOST_TEST(worst(judgement, "o") > 0.1);
  BOOST_TEST(worst(judgement, "grad_v") > 0.1);
  // A mean of half of the keys is none.
  auto outputs = test::KeptAttention(c, kept).run();
  for (float& o : outputs.o) o *= 1.03f;
  BOOST_TEST((verdict::judge(c, declared, outputs, 2).output("o").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_kernel_without_an_lse_is_judged_by_o_and_its_gradients) {
  for (const auto format : {Format::fp32, Format::bf16}) {
    const auto c = cases::generate(spec_of(cases::Pass::backward, format));
    for (const bool recomputed : {false, true}) {
      Kept kept{.probability = format};
      kept.no_lse = true;
      kept.recomputes_d = recomputed;
      Contract declared = contract_of(kept);
      BOOST_CHECK_THROW(judged(c, declared, kept), BadInput);
      declared.no_lse = 1;
      const auto passes = judged(c, declared, kept);
      BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
      // In fp32 a worst case over the signs of all roundings, in bf16 that of storing besides.
      BOOST_TEST(worst(passes, "grad_q") > (format == Format::fp32 ? 0.01 : 0.3));
      for (const auto& output : passes.outputs) BOOST_TEST(output.name != "lse");
      auto faulty = kept;
      faulty.no_common = true;
      auto wrong = judged(c, declared, faulty);
      BOOST_TEST((wrong.outcome == Outcome::fail));
      // What looks for other conventions has no lse either.
      const auto outputs = test::KeptAttention(c, faulty).run();
      BOOST_CHECK_NO_THROW(verdict::name_conventions(c, declared, outputs, wrong, 2));
      faulty = kept;
      faulty.slope_factor = 1.1f;
      BOOST_TEST((judged(c, declared, faulty).output("o").outcome == Outcome::fail));
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_with_a_score_beyond_the_largest_are_not_judged_and_counted) {
  auto spec = spec_of(cases::Pass::backward, Format::fp32);
  auto c = cases::generate(spec);
  const std::size_t dim = spec.head_dim, queries = spec.queries;
  // One query of the first head of the first sequence, far out.
  for (std::size_t d = 0; d < dim; ++d) c.q[30 * dim + d] *= 100;
  Kept kept;
  kept.largest_score = 70;
  Contract declared = contract_of(kept);
  BOOST_TEST((judged(c, declared, kept).outcome == Outcome::fail));
  declared.largest_score = 70;
  const auto passes = judged(c, declared, kept);
  BOOST_TEST((passes.outcome == Outcome::pass), verdict::describe(passes));
  BOOST_TEST(passes.rows_left_out == 1);
  BOOST_TEST(passes.output("o").not_judged == static_cast<long>(dim));
  BOOST_TEST(passes.output("grad_q").not_judged == static_cast<long>(dim));
  BOOST_TEST(passes.output("grad_k").not_judged == static_cast<long>(spec.keys * dim));
  // Every other row is judged as ever.
  auto outputs = test::KeptAttention(c, kept).run();
  outputs.o[(queries + 3) * dim] += 0.01f;
  BOOST_TEST(verdict::judge(c, declared, outputs, 2).output("o").failed == 1);
  outputs = test::KeptAttention(c, kept).run();
  outputs.grad_k[spec.keys * dim + 3] += 0.5f;  // of the next key head
  BOOST_TEST(verdict::judge(c, declared, outputs, 2).output("grad_k").failed == 1);
}

BOOST_AUTO_TEST_CASE(what_no_kernel_of_the_format_needs_is_bad_input) {
  const auto refused = [](Format format, auto change) {
    Contract declared = cases::undeclared_contract();
    change(declared);
    try {
      verdict::validate(declared, format);
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::pair<const char*, std::int32_t Contract::*> formats[] = {
      {"head_gradient_format", &Contract::head_gradient_format},
      {"score_format", &Contract::score_format},
      {"grad_probability_format", &Contract::grad_probability_format},
      {"delta_format", &Contract::delta_format},
      {"lse_format", &Contract::lse_format}};
  for (const auto& [name, member] : formats) {
    const auto set = [&, m = member](int value) { return [=](Contract& x) { x.*m = value; }; };
    const std::string field = std::string("contract.") + name;
    BOOST_TEST(refused(Format::bf16, set(PLUMBLINE_BF16)) == "");
    BOOST_TEST(refused(Format::e4m3, set(PLUMBLINE_BF16)) == "");
    BOOST_TEST(refused(Format::fp16, set(PLUMBLINE_FP16)) == "");
    BOOST_TEST(refused(Format::bf16, set(PLUMBLINE_FP16)) ==
               field + " is 2; expected 0 (fp32) or 1 (bf16) in bf16");
    BOOST_TEST(refused(Format::fp32, set(PLUMBLINE_BF16)) ==
               field + " is 1; expected 0 (fp32) in fp32");
    BOOST_TEST(refused(Format::tf32, set(PLUMBLINE_TF32)) ==
               field + " is 3; expected 0 (fp32) in tf32");
  }
  const auto block = [](int format, int size) {
    return [=](Contract& x) {
      x.gradient_sum_format = format;
      x.sum_block = size;
    };
  };
  BOOST_TEST(refused(Format::bf16, block(PLUMBLINE_BF16, 32)) == "");
  BOOST_TEST(refused(Format::bf16, block(PLUMBLINE_BF16, 0)) ==
             "contract.sum_block is 0; expected 1 or more, with gradient_sum_format or "
             "output_sum_format");
  BOOST_TEST(refused(Format::bf16, block(PLUMBLINE_FP32, 32)) ==
             "contract.sum_block is 32; expected 0 without gradient_sum_format and "
             "output_sum_format");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.empty_rows = 5; }) ==
             "contract.empty_rows is 5; expected from 0 to 4");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.no_lse = 2; }) ==
             "contract.no_lse is 2; expected 0 or 1");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.inexact_exp_zero = -1; }) ==
             "contract.inexact_exp_zero is -1; expected 0 or 1");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.families_left_out = 17; }) ==
             "contract.families_left_out is 17; expected a sum of 2, 4, 8, 16, 32, 64, each once");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.families_left_out = 16; }) == "");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.largest_score = 1; }) ==
             "contract.largest_score is 1; expected 0, for none, or a number from 64 on");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.largest_score = std::nan(""); }) != "");
  BOOST_TEST(refused(Format::bf16, [](Contract& x) { x.no_lse = 1, x.lse_format = 1; }) ==
             "contract.lse_format is 1; expected 0 (fp32) with no_lse");
}

BOOST_AUTO_TEST_CASE(of_outputs_that_fail_by_their_contract_the_nearest_one_is_named,
                     *test::only_at_length) {
  constexpr auto bf16 = Format::bf16;
  auto spec = spec_of(cases::Pass::backward, bf16);
  spec.heads = 8;
  spec.kv_heads = 1;
  const auto c = cases::generate(spec);
  const auto nearest = [&](const Contract& contract, const Kept& kept) {
    const auto outputs = test::KeptAttention(c, kept).run();
    BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::fail));
    const verdict::FailingOutputs failing{c, outputs};
    return nearest_of(contract, {&failing, 1});
  };
  const std::pair<const char*, Kept> fields[] = {
      {"head_gradient_format", {.head_gradient = bf16}},
      {"grad_probability_format", {.probability = bf16, .grad_probability = bf16}},
      {"delta_format", {.probability = bf16, .delta = bf16}},
      {"lse_format", {.probability = bf16, .lse = bf16}},
      {"score_format", {.probability = bf16, .score = bf16}}};
  for (const auto& [name, kept] : fields) {
    BOOST_TEST(nearest(contract_of(kept), kept).name == name);
  }
  const Kept rounds_p{.probability = bf16};
  BOOST_TEST(nearest(cases::undeclared_contract(), rounds_p).text ==
             "it would not fail if its contract said probability_format = bf16; errors of P and dS "
             "up to 2^-8 of them would then pass");
  // Two fields at once.
  const Kept rounds_dp{.probability = bf16, .grad_probability = bf16};
  BOOST_TEST(nearest(cases::undeclared_contract(), rounds_dp).text ==
             "it would not fail if its contract said grad_probability_format = bf16, "
             "probability_format = bf16; errors of dP up to 2^-8 of it, errors of P and dS up to "
             "2^-8 of them would then pass");
  // No contract explains what is wrong.
  auto wrong = rounds_p;
  wrong.slope_factor = 1.5f;
  BOOST_TEST(nearest(contract_of(rounds_p), wrong).name == "");
  wrong = rounds_p;
  wrong.loses_a_head = true;
  BOOST_TEST(nearest(contract_of(rounds_p), wrong).name == "");
}

BOOST_AUTO_TEST_CASE(a_convention_that_is_declared_and_not_followed_is_told_as_that) {
  auto spec = spec_of(cases::Pass::forward, Format::bf16);
  spec.mask.ragged = true;
  auto c = cases::generate(spec);
  c.lengths = {48, 20};
  for (const std::int32_t declared_rows :
       {PLUMBLINE_EMPTY_ROWS_ARE_MEANS, PLUMBLINE_EMPTY_ROWS_ARE_NAN}) {
    Kept kept{.probability = Format::bf16};
    Contract declared = contract_of(kept);
    declared.empty_rows = declared_rows;
    const auto outputs = test::KeptAttention(c, kept).run();
    BOOST_TEST((verdict::judge(c, declared, outputs, 2).outcome == Outcome::fail));
    const verdict::FailingOutputs failing{c, outputs};
    const auto match = nearest_of(declared, {&failing, 1});
    BOOST_TEST(
        match.text.starts_with("it would not fail if its contract said empty_rows = zero; it "
                               "declares empty_rows = "));
  }
}

BOOST_AUTO_TEST_CASE(one_key_alone_does_not_decide_between_two_fields) {
  // A large case, and one of a single key, whose lse is its score.
  constexpr auto bf16 = Format::bf16;
  auto spec = spec_of(cases::Pass::forward, bf16);
  const auto large = cases::generate(spec);
  spec.queries = spec.keys = 1;
  spec.query_offset = 0;
  const auto small = cases::generate(spec);
  const Kept kept{.probability = bf16, .score = bf16};
  const auto of_large = test::KeptAttention(large, kept).run(),
             of_small = test::KeptAttention(small, kept).run();
  const Contract declared = contract_of({.probability = bf16});
  const verdict::FailingOutputs alone{small, of_small}, both[] = {{large, of_large}, alone};
  BOOST_TEST(nearest_of(declared, {&alone, 1}).name == "lse_format");
  BOOST_TEST(nearest_of(declared, both).name == "score_format");
}

BOOST_AUTO_TEST_CASE(of_three_fields_at_once_the_known_implementation_that_has_them_is_named) {
  auto spec = spec_of(cases::Pass::backward, Format::bf16);
  spec.mask.ragged = true;
  auto c = cases::generate(spec);
  c.lengths = {48, 20};
  Kept kept{.probability = Format::bf16, .grad_probability = Format::bf16};
  kept.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
  const auto outputs = test::KeptAttention(c, kept).run();
  const verdict::FailingOutputs failing{c, outputs};
  const auto match = nearest_of(cases::undeclared_contract(), {&failing, 1});
  BOOST_TEST(match.name == "jax");
  BOOST_TEST(match.text.find("with the contract of jax but for its no_lse (empty_rows = mean, ") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(contracts_of_known_implementations_are_some_that_a_kernel_may_declare) {
  int formats = 0;
  for (const auto& name : cases::named_contracts()) {
    for (const auto format : {Format::fp32, Format::bf16, Format::fp16}) {
      try {
        verdict::validate(cases::contract_named(name, format, "contract"), format);
        ++formats;
      } catch (const BadInput& error) {
        BOOST_TEST((format == Format::fp32));
        BOOST_TEST(error.what() == "contract is \"" + name + "\" in fp32; expected bf16 or fp16");
      }
    }
  }
  BOOST_TEST(formats == 24);  // of 10, six not in fp32
  BOOST_CHECK_THROW(cases::contract_named("flash", Format::bf16, "contract"), BadInput);
  BOOST_CHECK_THROW(cases::contract_named("jax", Format::e4m3, "contract"), BadInput);
}

namespace {

bool saw_an_lse = false;
int writes_o(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  saw_an_lse = out->lse != nullptr;
  const auto count = static_cast<std::size_t>(p->batch) * p->heads * p->queries * p->head_dim;
  std::fill_n(static_cast<float*>(out->o), count, 0.0f);
  return 0;
}
int supports_all(const plumbline_problem*, int32_t) { return 1; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_kernel_is_given_no_lse_and_no_family_that_it_leaves_out) {
  plumbline_kernel kernel{};
  kernel.name = "leaves_out";
  for (auto& contract : kernel.contracts) contract = cases::undeclared_contract();
  kernel.supports = supports_all;
  kernel.forward = writes_o;
  auto spec = spec_of(cases::Pass::forward, Format::fp32);
  for (const bool none : {false, true}) {
    kernel.contracts[PLUMBLINE_FP32].no_lse = none;
    const auto run = verdict::Kernel(nullptr, kernel).run(cases::generate(spec));
    BOOST_TEST(run.failure == "");
    BOOST_TEST(saw_an_lse == !none);
    BOOST_TEST(run.outputs.lse.empty() == none);
  }
  kernel.contracts[PLUMBLINE_FP32].families_left_out =
      PLUMBLINE_FAMILY_HUGE | PLUMBLINE_FAMILY_LEVEL;
  const verdict::Kernel leaves_out(nullptr, kernel);
  const std::pair<cases::Family, bool> families[] = {
      {cases::Family::generic, true}, {cases::Family::peaked, true},
      {cases::Family::diffuse, true}, {cases::Family::tied, true},
      {cases::Family::huge, false},   {cases::Family::subnormal, true},
      {cases::Family::level, false}};
  for (const auto& [family, given] : families) {
    spec.family = family;
    BOOST_TEST(leaves_out.supports(spec) == given);
  }
  // A named contract takes the place of all that it has; in other formats nothing is offered.
  verdict::Kernel named(nullptr, kernel);
  named.declare("flash_attention_2");
  spec.family = cases::Family::generic;
  BOOST_TEST(!named.supports(spec));
  spec.format = Format::bf16;
  BOOST_TEST(named.supports(spec));
  BOOST_TEST(named.contract(Format::bf16).head_gradient_format == PLUMBLINE_BF16);
  BOOST_TEST(named.contract(Format::bf16).largest_score == 0x1p24);  // one fma in its exponential
}

BOOST_AUTO_TEST_CASE(the_table_says_what_the_contract_leaves_out) {
  verdict::VerifyReport report;
  verdict::CellResult cell;
  cell.kernel = "mine";
  cell.contract = cases::undeclared_contract();
  cell.cases = 1;
  report.cells = {cell};
  const std::string title = "not judged, because the contract excludes it:\n";
  BOOST_TEST(verdict::to_table(report).find(title) == std::string::npos);
  report.cells.front().rows_left_out = 28;
  report.cells.front().contract.families_left_out = PLUMBLINE_FAMILY_HUGE | PLUMBLINE_FAMILY_LEVEL;
  BOOST_TEST(verdict::to_table(report).find(title + "  mine: 28 rows\n  mine: inputs of the "
                                                    "families huge, level\n") != std::string::npos);
  BOOST_TEST(verdict::to_json(report)["cells"][0]["rows_left_out"] == 28);
  // A kernel without an lse has none that is right to 0.000 of its bound.
  const auto shows_none = [&] {
    const std::string table = verdict::to_table(report);
    return table.find("    0.500         -         -  pass") != std::string::npos;
  };
  report.cells.front().rows = 5;
  report.cells.front().outputs["o"].worst = 0.5;
  BOOST_TEST(shows_none());
  report.cells.front().outputs["lse"].worst = 0.25;
  BOOST_TEST(!shows_none());
}

BOOST_AUTO_TEST_SUITE_END()
