// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle/exact_rows.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "float_attention.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/judge/judge.hpp"

BOOST_AUTO_TEST_SUITE(exact_rows_test)

using namespace plumbline;
using cases::Format;
using verdict::Outcome;

namespace {

const verdict::Contract contract = cases::undeclared_contract();

cases::Case level_case(cases::Bias bias, Format format, int keys) {
  cases::Spec spec;
  spec.bias = bias;
  spec.format = format;
  spec.heads = spec.kv_heads = 2;
  spec.queries = spec.keys = keys;
  spec.mask.causal = false;
  spec.family = cases::Family::level;
  spec.seed = 5;
  return cases::generate(spec);
}

std::vector<int> first_keys(int n) {
  std::vector<int> keys(n);
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

bool is_level(const cases::Case& c, const std::vector<int>& visible, int query = 0,
              const verdict::Contract& declared = contract) {
  return verdict::level_row(c, declared, 0, 1, query, visible).has_value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_mean_of_whole_numbers_over_a_power_of_two_of_keys_is_exact) {
  const auto c = level_case(PLUMBLINE_NOPE, Format::bf16, 8);
  const auto level = verdict::level_row(c, contract, 0, 1, 3, {1, 4, 5, 7});
  BOOST_REQUIRE(level.has_value());
  const float* v = c.v.data() + 8 * c.spec.head_dim;  // of head 1
  const auto at = [&](int key) { return v[key * c.spec.head_dim + 2]; };
  BOOST_TEST(level->o[2] == (at(1) + at(4) + at(5) + at(7)) / 4);
  BOOST_TEST(level->division_error == 0x1p-22);
  BOOST_TEST(level->lse_bound == 0x1p-24 * std::log(4.0) + 0x1p-22 * (std::log(4.0) + 1));
}

BOOST_AUTO_TEST_CASE(a_row_is_level_only_where_every_kernel_makes_the_same_of_it) {
  const auto nope = level_case(PLUMBLINE_NOPE, Format::fp32, 8);
  BOOST_TEST(is_level(nope, first_keys(8)));
  BOOST_TEST(is_level(nope, {5}));
  BOOST_TEST(!is_level(nope, first_keys(6)));
  BOOST_TEST(is_level(level_case(PLUMBLINE_COPE, Format::fp32, 8), first_keys(8)));
  BOOST_TEST(is_level(
      level_case(cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT), Format::fp32, 8),
      first_keys(8)));
  // A bias of its own, but for the query's own position.
  const auto alibi = level_case(PLUMBLINE_ALIBI, Format::fp32, 8);
  BOOST_TEST(!is_level(alibi, first_keys(8)));
  BOOST_TEST(!is_level(alibi, {2}, 3));
  BOOST_TEST(is_level(alibi, {3}, 3));
  BOOST_TEST(!is_level(level_case(PLUMBLINE_T5, Format::fp32, 8), {3}, 3));
  // Ranges of keys divide by numbers that are no powers of two.
  auto declared = contract;
  declared.splits = 2;
  BOOST_TEST(!is_level(nope, first_keys(8), 0, declared));
  BOOST_TEST(is_level(nope, {5}, 0, declared));
  declared = contract;
  declared.skipped_mass = 0.125;
  BOOST_TEST(!is_level(nope, first_keys(8), 0, declared));
  // What an operand may lose: nothing of a whole number.
  declared = contract;
  declared.operand_roundoff = 0x1p-11;
  auto changed = nope;
  for (float& v : changed.v) v += 0x1p-20f;
  BOOST_TEST(is_level(nope, {5}, 0, declared));
  BOOST_TEST(!is_level(changed, {5}, 0, declared));
  BOOST_TEST(is_level(changed, {5}));
  BOOST_TEST(!is_level(changed, first_keys(8)));
  changed = nope;
  changed.q[8 * changed.spec.head_dim + 1] = 0x1p-126f;
  BOOST_TEST(!is_level(changed, first_keys(8)));
  BOOST_TEST(is_level(changed, first_keys(8), 1));
}

BOOST_AUTO_TEST_CASE(a_level_row_in_16_bits_is_one_number_whatever_rounds_p) {
  for (const auto format : {Format::bf16, Format::fp16}) {
    const auto c = level_case(PLUMBLINE_NOPE, format, 64);
    auto declared = contract;
    declared.probability_format = static_cast<int>(format);
    auto outputs = test::float_attention(c, {.p = test::Faults::p_rounded});
    BOOST_TEST((verdict::judge(c, declared, outputs, 2).outcome == Outcome::pass));
    // One unit in the last place: u_p and u_o would allow as much.
    const int shift = format == Format::bf16 ? 7 : 10;
    for (const int n : {0, 77, 1000}) {
      auto off = outputs;
      off.o[n] = std::ldexp(std::round(std::ldexp(off.o[n], shift - std::ilogb(off.o[n]))) + 1,
                            std::ilogb(off.o[n]) - shift);
      BOOST_REQUIRE(off.o[n] == cases::stored(off.o[n], format));
      BOOST_TEST(verdict::judge(c, declared, off, 2).output("o").failed == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_level_row_in_fp32_is_off_by_its_division_at_most) {
  const auto c = level_case(PLUMBLINE_NOPE, Format::fp32, 64);
  const auto outputs = test::float_attention(c);
  const auto failed = [&](double factor, std::size_t n) {
    auto off = outputs;
    off.o[n] = static_cast<float>(off.o[n] * factor);
    return verdict::judge(c, contract, off, 2).output("o").failed;
  };
  const std::size_t n =
      std::find_if(outputs.o.begin(), outputs.o.end(), [](float o) { return o != 0; }) -
      outputs.o.begin();
  BOOST_TEST(failed(1.0, n) == 0);
  BOOST_TEST(failed(1 + 0x1p-23, n) == 0);
  BOOST_TEST(failed(1 + 0x1p-21, n) == 1);
  auto lse = outputs;
  lse.lse[3] += 0x1p-19f;  // bound 2^-24 4.2 + 2^-22 5.2
  BOOST_TEST(verdict::judge(c, contract, lse, 2).output("lse").failed == 1);
}

BOOST_AUTO_TEST_CASE(what_is_stored_is_rounded_once_to_nearest) {
  using verdict::is_rounded_from;
  // bf16 has the multiples of 2^-7 from 1 to 2.
  const double below = 2 - 0x1p-7, tie = 2 - 0x1p-8;
  BOOST_TEST(is_rounded_from(tie - 1e-6, 1e-7, below, Format::bf16));
  BOOST_TEST(!is_rounded_from(tie - 1e-6, 1e-7, 2.0, Format::bf16));
  BOOST_TEST(!is_rounded_from(tie + 1e-6, 1e-7, below, Format::bf16));
  BOOST_TEST(is_rounded_from(tie + 1e-6, 1e-5, below, Format::bf16));
  BOOST_TEST(is_rounded_from(tie, 0, below, Format::bf16));
  BOOST_TEST(is_rounded_from(tie, 0, 2.0, Format::bf16));
  BOOST_TEST(is_rounded_from(-tie - 1e-6, 1e-7, -2.0, Format::bf16));
  BOOST_TEST(!is_rounded_from(-tie - 1e-6, 1e-7, -below, Format::bf16));
  BOOST_TEST(!is_rounded_from(1.0, 0.1, std::nan(""), Format::bf16));
  BOOST_TEST(is_rounded_from(0x1p-24 * 1.4, 0, 0x1p-24, Format::fp16));
  BOOST_TEST(!is_rounded_from(0x1p-24 * 1.6, 0, 0x1p-24, Format::fp16));
}

BOOST_AUTO_TEST_CASE(an_o_that_is_cut_to_bf16_fails_in_elements_that_their_bound_would_let_pass) {
  cases::Spec spec;
  spec.format = Format::bf16;
  spec.queries = spec.keys = 40;
  const auto c = cases::generate(spec);
  auto wide = c;
  wide.spec.format = Format::fp32;
  auto outputs = test::float_attention(wide);
  for (float& o : outputs.o) o = test::cut_to_bf16(o);
  const auto o = verdict::judge(c, contract, outputs, 2).output("o");
  // Half of the numbers are cut where they should be rounded up.
  BOOST_TEST(o.failed > 0.4 * o.elements);
  BOOST_TEST(o.failed < 0.55 * o.elements);
}

BOOST_AUTO_TEST_SUITE_END()
