// SPDX-License-Identifier: Apache-2.0
// Where rows lie in the memory that a kernel is given, and kernels that take strides or packed
// sequences.
#include "verdict/process/layout.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "verdict/property/property.hpp"

BOOST_AUTO_TEST_SUITE(layout_test)

using namespace plumbline;
using cases::Layout;
using cases::Spec;
using kernel_process::CaseRows;
using kernel_process::Rows;

namespace {

Spec small(Layout layout) {
  Spec spec;
  spec.batch = 2;
  spec.heads = 4;
  spec.kv_heads = 2;
  spec.queries = 3;
  spec.keys = 5;
  spec.query_offset = 2;
  spec.head_dim = 8;
  spec.value_dim = 6;
  spec.layout = layout;
  return spec;
}

std::vector<std::int64_t> numbers(const plumbline_strides& s) { return {s.batch, s.head, s.token}; }

std::vector<std::byte> bytes(const std::string& text) {
  std::vector<std::byte> result;
  for (const char c : text) result.push_back(static_cast<std::byte>(c));
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(strides_of_each_layout) {
  using Numbers = std::vector<std::int64_t>;
  const auto check = [](Layout layout, const Numbers& q, const Numbers& k, const Numbers& v,
                        const Numbers& o) {
    const auto s = kernel_process::strides_of(small(layout));
    BOOST_TEST(numbers(s.q) == q, boost::test_tools::per_element());
    BOOST_TEST(numbers(s.k) == k, boost::test_tools::per_element());
    BOOST_TEST(numbers(s.v) == v, boost::test_tools::per_element());
    BOOST_TEST(numbers(s.o) == o, boost::test_tools::per_element());
  };
  check(Layout::contiguous, {96, 24, 8}, {80, 40, 8}, {60, 30, 6}, {72, 18, 6});
  check(Layout::tokens_first, {96, 8, 32}, {80, 8, 16}, {60, 6, 12}, {72, 6, 24});
  check(Layout::spaced, {192, 48, 16}, {160, 80, 16}, {120, 60, 12}, {144, 36, 12});
  // A token's q, k and v: 4 * 8 + 2 * 8 + 2 * 6 numbers.
  check(Layout::packed_qkv, {180, 8, 60}, {300, 8, 60}, {300, 6, 60}, {72, 6, 24});
  check(Layout::packed_sequences, {0, 8, 32}, {0, 8, 16}, {0, 6, 12}, {0, 6, 24});
}

BOOST_AUTO_TEST_CASE(strides_of_a_paged_cache_are_of_its_pages) {
  Spec spec = small(Layout::tokens_first);
  spec.pass = cases::Pass::decode;
  spec.page_size = 4;
  BOOST_TEST(numbers(kernel_process::strides_of(spec).k) == (std::vector<std::int64_t>{64, 8, 16}),
             boost::test_tools::per_element());
  // Two pages of each of the two sequences.
  BOOST_TEST(CaseRows(cases::generate(spec)).k.begin.size() == 2u * 2 * 2 * 4);
}

BOOST_AUTO_TEST_CASE(rows_of_packed_sequences) {
  Spec spec = small(Layout::packed_sequences);
  spec.batch = 3;
  spec.heads = spec.kv_heads = 1;
  spec.mask.ragged = spec.queries_at_end = true;
  cases::Case c = cases::generate(spec);
  c.lengths = {2, 0, 5};
  c.query_lengths = {1, 0, 3};
  const CaseRows rows(c);
  const std::vector<std::int32_t> of_q{0, 1, 1, 4}, of_k{0, 2, 2, 7};
  BOOST_TEST(rows.cu_seqlens_q == of_q, boost::test_tools::per_element());
  BOOST_TEST(rows.cu_seqlens_k == of_k, boost::test_tools::per_element());
  // The last rows of a sequence are its queries.
  const std::vector<std::int64_t> q{-1, -1, 0, -1, -1, -1, 8, 16, 24},
      k{0, 8, -1, -1, -1, -1, -1, -1, -1, -1, 16, 24, 32, 40, 48},
      lse{-1, -1, 0, -1, -1, -1, 1, 2, 3};
  BOOST_TEST(rows.q.begin == q, boost::test_tools::per_element());
  BOOST_TEST(rows.k.begin == k, boost::test_tools::per_element());
  BOOST_TEST(rows.lse.begin == lse, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rows_are_spread_and_gathered) {
  const Rows rows{2, {3, Rows::none, 0}};
  const std::vector<std::byte> array = rows.spread(bytes("abcdef"), 1);
  std::vector<std::byte> expected = bytes("ef.ab");
  expected[2] = std::byte{0x7F};
  BOOST_TEST((array == expected));
  BOOST_TEST((rows.gathered(array, 1, bytes("......")) == bytes("ab..ef")));
  // Of floats a NaN, and not that of an output which nobody has written.
  const std::vector<std::byte> floats = Rows{1, {2, 0}}.spread(bytes("abcdefgh"), 4);
  BOOST_TEST((std::vector(floats.begin() + 4, floats.begin() + 8) ==
              std::vector{std::byte{0}, std::byte{0}, std::byte{0xC0}, std::byte{0x7F}}));
  expected[2] = std::byte{0xFF};  // of an output
  BOOST_TEST(!rows.first_written_between(expected, 1));
  expected[2] = std::byte{0};
  BOOST_TEST(rows.first_written_between(expected, 1).value() == 2u);
  BOOST_TEST((Rows{2, {Rows::none}}.extent() == 1u));
}

BOOST_AUTO_TEST_CASE(packed_sequences_are_refused_where_they_have_no_meaning) {
  const auto message = [](auto change) {
    Spec spec = small(Layout::packed_sequences);
    spec.mask.ragged = spec.queries_at_end = true;
    change(spec);
    try {
      cases::validate(spec);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  BOOST_TEST(message([](Spec&) {}) == "");
  BOOST_TEST(message([](Spec& s) {
               s.bias = PLUMBLINE_CABLE;
             }).starts_with("bias is cable with layout packed_sequences"));
  BOOST_TEST(message([](Spec& s) { s.dropout = 0.5F; }).starts_with("dropout is 0.5 with layout"));
  BOOST_TEST(message([](Spec& s) { s.mask.documents = true; }).starts_with("documents is 1 with"));
  BOOST_TEST(message([](Spec& s) { s.queries_at_end = false; }).starts_with("queries_at_end is 0"));
  BOOST_TEST(message([](Spec& s) {
               s.pass = cases::Pass::backward;
               s.sinks = s.lse_gradient = true;
             }).starts_with("lse_gradient is 1 and sinks 1"));
}

BOOST_AUTO_TEST_CASE(kernels_of_strides_and_of_packed_sequences_are_judged) {
  const auto library = verdict::load_kernel_library(LAYOUT_KERNELS);
  std::map<std::string, std::string> ends;
  for (const auto& kernel : library.kernels) {
    if (kernel.name().starts_with("float_o")) continue;
    const auto cell = verdict::check_cell(kernel, cases::Pass::forward, PLUMBLINE_NOPE,
                                          cases::Format::fp32, 40, 3, 2, [](int) {});
    std::string& end = ends[kernel.name()];
    end = cell.outcome == verdict::Outcome::pass ? "pass" : "fail";
    if (!cell.counterexample) continue;
    const std::string& failure = cell.counterexample->judgement.failure;
    if (failure.find("wrote between the rows of o") != std::string::npos) end = "between";
    BOOST_TEST((cell.counterexample->spec.layout == Layout::packed_sequences) ==
               kernel.name().starts_with("packed"));
  }
  const std::map<std::string, std::string> expected{{"strided", "pass"},
                                                    {"strided_ignores", "fail"},
                                                    {"strided_writes_between", "between"},
                                                    {"packed", "pass"},
                                                    {"packed_from_the_start", "fail"},
                                                    {"packed_beyond", "fail"},
                                                    {"packed_full", "fail"},
                                                    {"packed_clamped", "fail"},
                                                    {"packed_plus_inf", "pass"}};
  for (const auto& [name, end] : expected) BOOST_TEST(ends[name] == end, name + ": " + ends[name]);
  BOOST_TEST(ends.size() == expected.size());
}

BOOST_AUTO_TEST_CASE(an_o_of_floats_is_not_rounded_to_the_case_s_format) {
  for (const auto& kernel : verdict::load_kernel_library(LAYOUT_KERNELS).kernels) {
    if (kernel.name() != "float_o" && kernel.name() != "float_o_rounded") continue;
    const auto cell = verdict::check_cell(kernel, cases::Pass::forward, PLUMBLINE_NOPE,
                                          cases::Format::bf16, 20, 1, 2, [](int) {});
    const bool is_right = kernel.name() == "float_o";
    BOOST_TEST((cell.outcome == verdict::Outcome::pass) == is_right, kernel.name());
  }
}

BOOST_AUTO_TEST_SUITE_END()
