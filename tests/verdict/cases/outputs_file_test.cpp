// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"
#include "tests/verdict/cases/file_builder.hpp"
#include "verdict/cases/case_file.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(outputs_file_test)

namespace {

Spec small_spec(Format format = Format::bf16) {
  Spec spec;
  spec.format = format;
  spec.heads = 2;
  spec.queries = 1;
  spec.keys = 1;
  spec.head_dim = 2;
  return spec;
}

FileBuilder small_outputs() {
  FileBuilder builder;
  builder.add("o", "BF16", {1, 2, 1, 2}, raw<std::uint16_t>({0x3f80, 0x4000, 0x7fc0, 0}));
  builder.add("lse", "F32", {1, 2, 1}, raw<float>({0.5, -INFINITY}));
  return builder;
}

Case of(const Spec& spec) {
  Case c;
  c.spec = spec;
  return c;
}

OutputsFile parsed(const FileBuilder& builder, const Spec& spec = small_spec()) {
  return outputs_from_bytes(bytes_of(builder.file()), "given.safetensors", of(spec));
}

void expect_refusal(auto&& spoil, std::initializer_list<const char*> parts) {
  FileBuilder builder = small_outputs();
  parsed(builder);  // it was right before
  spoil(builder);
  expect_bad_input([&] { parsed(builder); }, {"given.safetensors: "});
  expect_bad_input([&] { parsed(builder); }, parts);
}

bool same(const plumbline_contract& a, const plumbline_contract& b) {
  return to_json(a) == to_json(b);
}

/// Every field other than its default.
plumbline_contract all_declared() {
  plumbline_contract contract{};
  contract.unit_roundoff = 0x1p-23;
  contract.operand_roundoff = 0x1p-11;
  contract.probability_format = PLUMBLINE_FP16;
  contract.sums_rounded_p = 1;
  contract.exp_error = 0x1p-16;
  contract.skipped_mass = 0x1p-14;
  contract.splits = 4;
  contract.prefix_sum = PLUMBLINE_PREFIX_SUM_FP32;
  contract.prefix_tile = 64;
  contract.flushes_subnormals = 1;
  contract.probability_scale = 256;
  contract.head_gradient_format = PLUMBLINE_BF16;
  contract.gradient_sum_format = PLUMBLINE_FP16;
  contract.output_sum_format = PLUMBLINE_BF16;
  contract.sum_block = 32;
  contract.score_format = PLUMBLINE_FP16;
  contract.grad_probability_format = PLUMBLINE_BF16;
  contract.delta_format = PLUMBLINE_FP16;
  contract.saves_rounded_p = 1;
  contract.lse_format = PLUMBLINE_BF16;
  contract.no_lse = 1;
  contract.inexact_exp_zero = 1;
  contract.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
  contract.families_left_out = PLUMBLINE_FAMILY_HUGE | PLUMBLINE_FAMILY_LEVEL;
  contract.largest_score = 100;
  contract.alibi_of_key = 1;
  contract.tanh_error = 0x1p-11;
  contract.log_error = 0x1p-22;
  contract.lse_base_2 = 1;
  contract.float_o = contract.float_gradients = 1;
  return contract;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_are_widened_and_nan_and_infinity_are_kept_for_the_judge) {
  const Outputs outputs = parsed(small_outputs()).outputs;
  BOOST_TEST(outputs.o[0] == 1.0f);
  BOOST_TEST(outputs.o[1] == 2.0f);
  BOOST_TEST(std::isnan(outputs.o[2]));
  BOOST_TEST(outputs.lse[1] == -INFINITY);
}

BOOST_AUTO_TEST_CASE(outputs_are_as_wide_as_the_values) {
  Spec spec = small_spec();
  spec.value_dim = 3;
  FileBuilder builder;
  builder.add("o", "F32", {1, 2, 1, 3}, raw<float>({1, 2, 3, 4, 5, 6}));
  builder.add("lse", "F32", {1, 2, 1}, raw<float>({0, 0}));
  BOOST_CHECK(parsed(builder, spec).outputs.o == (std::vector<float>{1, 2, 3, 4, 5, 6}));
  expect_bad_input([&] { parsed(small_outputs(), spec); },
                   {"tensor \"o\": shape is [1, 2, 1, 2]", "[1, 2, 1, 3]"});
  spec.pass = Pass::backward;
  builder.add("grad_q", "F32", {1, 2, 1, 2}, raw<float>({1, 2, 3, 4}));
  builder.add("grad_k", "F32", {1, 1, 1, 2}, raw<float>({1, 2}));
  FileBuilder narrow = builder;
  builder.add("grad_v", "F32", {1, 1, 1, 3}, raw<float>({7, 8, 9}));
  BOOST_CHECK(parsed(builder, spec).outputs.grad_v == (std::vector<float>{7, 8, 9}));
  narrow.add("grad_v", "F32", {1, 1, 1, 2}, raw<float>({7, 8}));
  expect_bad_input([&] { parsed(narrow, spec); },
                   {"tensor \"grad_v\": shape is [1, 1, 1, 2]", "[1, 1, 1, 3]"});
}

BOOST_AUTO_TEST_CASE(a_file_that_declares_nothing_gets_the_strictest_contract) {
  const OutputsFile file = parsed(small_outputs());
  BOOST_TEST(file.kernel == "outside");
  BOOST_TEST(same(file.contract, undeclared_contract()));
  const FileBuilder builder = small_outputs();
  const std::string bare = container(builder.header.dump(), builder.data);
  BOOST_TEST(same(outputs_from_bytes(bytes_of(bare), "f", of(small_spec())).contract,
                  undeclared_contract()));
}

BOOST_AUTO_TEST_CASE(a_declared_contract_is_read_field_by_field) {
  FileBuilder builder = small_outputs();
  builder.plumbline["kernel"] = "flash";
  builder.plumbline["contract"] = {{"unit_roundoff", 0x1p-23},
                                   {"operand_roundoff", 0x1p-11},
                                   {"skipped_mass", 0x1p-14},
                                   {"probability_format", "fp16"},
                                   {"sums_rounded_p", true},
                                   {"exp_error", 0x1p-16},
                                   {"splits", 4},
                                   {"prefix_sum", "fp32"},
                                   {"prefix_tile", 64},
                                   {"flushes_subnormals", true},
                                   {"probability_scale", 256},
                                   {"head_gradient_format", "bf16"},
                                   {"gradient_sum_format", "fp16"},
                                   {"output_sum_format", "bf16"},
                                   {"sum_block", 32},
                                   {"score_format", "fp16"},
                                   {"grad_probability_format", "bf16"},
                                   {"delta_format", "fp16"},
                                   {"saves_rounded_p", true},
                                   {"lse_format", "bf16"},
                                   {"no_lse", true},
                                   {"inexact_exp_zero", true},
                                   {"empty_rows", "mean"},
                                   {"families_left_out", {"huge", "level"}},
                                   {"largest_score", 100},
                                   {"alibi_of_key", true},
                                   {"tanh_error", 0x1p-11},
                                   {"log_error", 0x1p-22},
                                   {"lse_base_2", true},
                                   {"float_o", true},
                                   {"float_gradients", true}};
  const OutputsFile file = parsed(builder);
  BOOST_TEST(file.kernel == "flash");
  BOOST_TEST(same(file.contract, all_declared()));
  // None is forgotten above: each differs from what an undeclared contract has.
  const auto declared = to_json(all_declared()), undeclared = to_json(undeclared_contract());
  BOOST_TEST(builder.plumbline["contract"].size() == declared.size());
  for (const auto& [field, value] : declared.items()) BOOST_TEST(value != undeclared.at(field));
}

BOOST_AUTO_TEST_CASE(outputs_without_an_lse_are_read_where_the_contract_says_so) {
  FileBuilder builder = small_outputs();
  builder.plumbline["contract"] = {{"no_lse", true}};
  BOOST_TEST(parsed(builder).outputs.lse.empty());  // one that is there is not read
  const test::TemporaryFolder folder;
  const auto path = folder.path / "outputs.safetensors";
  OutputsFile written;
  written.contract = undeclared_contract();
  written.contract.no_lse = 1;
  written.outputs.o = {1, 2, 3, 4};
  write_outputs(path, of(small_spec()), written);
  BOOST_TEST(read_outputs(path, of(small_spec())).outputs.o == written.outputs.o);
}

BOOST_AUTO_TEST_CASE(outputs_read_back_bit_for_bit) {
  const test::TemporaryFolder folder;
  const auto path = folder.path / "outputs.safetensors";
  for (const Format format : all_formats()) {
    OutputsFile written;
    written.kernel = "a \"name\"";
    written.contract = all_declared();
    written.contract.no_lse = 0;
    written.outputs.o = {1.5f, -0.0f, INFINITY, stored(0.1f, output_format(format))};
    written.outputs.lse = {0x1.234568p-3f, -INFINITY};
    write_outputs(path, of(small_spec(format)), written);
    const OutputsFile read = read_outputs(path, of(small_spec(format)));
    BOOST_TEST(read.kernel == written.kernel);
    BOOST_TEST(same(read.contract, written.contract));
    BOOST_TEST(std::memcmp(read.outputs.o.data(), written.outputs.o.data(), 16) == 0);
    BOOST_TEST(std::memcmp(read.outputs.lse.data(), written.outputs.lse.data(), 8) == 0);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_a_backward_case_read_back_and_must_all_be_there) {
  const test::TemporaryFolder folder;
  const auto path = folder.path / "outputs.safetensors";
  const Case c =
      generate(from_line("pass=backward,bias=cable,heads=2,keys=3,queries=2,head_dim=2"));
  OutputsFile written{"k", undeclared_contract(), {}};
  Outputs& outputs = written.outputs;
  outputs.o = outputs.grad_q = c.q;
  outputs.lse = {1, 2, 3, 4};
  outputs.grad_k = c.k;
  outputs.grad_v = c.v;
  outputs.grad_parameters[PLUMBLINE_INCREMENTS] = c[PLUMBLINE_INCREMENTS];
  expect_bad_input([&] { write_outputs(path, c, written); }, {"elements of grad_gain is 0"});
  outputs.grad_parameters[PLUMBLINE_GAIN] = c[PLUMBLINE_GAIN];
  write_outputs(path, c, written);
  const OutputsFile read = read_outputs(path, c);
  BOOST_CHECK(read.outputs.grad_q == c.q && read.outputs.grad_k == c.k);
  BOOST_CHECK(read.outputs.grad_v == c.v);
  BOOST_CHECK(read.outputs.grad_parameters == outputs.grad_parameters);
  // A file of the forward pass alone is not enough.
  Case forward = c;
  forward.spec.pass = Pass::forward;
  write_outputs(path, forward, written);
  expect_bad_input([&] { read_outputs(path, c); }, {"tensor \"grad_q\" is missing"});
}

BOOST_AUTO_TEST_CASE(a_kernel_name_that_is_no_utf8_does_not_stop_the_writing) {
  const test::TemporaryFolder folder;
  const auto path = folder.path / "outputs.safetensors";
  OutputsFile written{"\xff", undeclared_contract(), {}};
  written.outputs.o = {1, 2, 3, 4};
  written.outputs.lse = {1, 2};
  write_outputs(path, of(small_spec()), written);
  BOOST_TEST(read_outputs(path, of(small_spec())).kernel == "\xef\xbf\xbd");
}

BOOST_AUTO_TEST_CASE(sizes_are_checked_before_writing) {
  expect_bad_input(
      [] {
        OutputsFile short_o{"k", undeclared_contract(), {}};
        short_o.outputs.o = {1};
        short_o.outputs.lse = {1, 2};
        write_outputs("unused", of(small_spec()), short_o);
      },
      {"elements of o is 1", "expected 4"});
}

BOOST_AUTO_TEST_CASE(o_may_be_fp32_but_not_bf16_for_an_fp32_case) {
  FileBuilder builder;
  builder.add("o", "F32", {1, 2, 1, 2}, raw<float>({1, 2, 3, 4}));
  builder.add("lse", "F32", {1, 2, 1}, raw<float>({0, 0}));
  BOOST_TEST(parsed(builder).outputs.o[3] == 4.0f);
  expect_bad_input([] { parsed(small_outputs(), small_spec(Format::fp32)); },
                   {"tensor \"o\": dtype is \"BF16\"", "expected F32"});
}

BOOST_AUTO_TEST_CASE(wrong_shapes_missing_and_unknown_tensors) {
  expect_refusal(
      [](auto& b) {
        b.header["o"]["shape"] = {1, 1, 2, 2};
      },
      {"tensor \"o\": shape is [1, 1, 2, 2]", "[1, 2, 1, 2]"});
  expect_refusal([](auto& b) { b.header["lse"]["shape"] = {2}; }, {"tensor \"lse\": shape is [2]"});
  expect_refusal([](auto& b) { b.header["l"] = b.header["lse"], b.header.erase("lse"); },
                 {"tensor \"lse\" is missing"});
  expect_refusal([](auto& b) { b.add("q", "F32", {1}, raw<float>({1})); },
                 {"tensor \"q\" is unknown", "outputs"});
}

BOOST_AUTO_TEST_CASE(a_contract_that_makes_no_sense) {
  const auto contract = [](const char* field, auto value) {
    return [=](FileBuilder& b) { b.plumbline["contract"][field] = value; };
  };
  expect_refusal(contract("splits", 0), {"plumbline: contract: splits is 0"});
  expect_refusal(contract("prefix_sum", "fp16"), {"prefix_sum is \"fp16\"", "fp64, fp32"});
  expect_refusal(contract("probability_format", "fp8"), {"probability_format is \"fp8\""});
  expect_refusal(contract("sums_rounded_p", 1), {"sums_rounded_p is 1", "true or false"});
  expect_refusal(contract("exp_error", "small"), {"exp_error is \"small\"", "a number"});
  expect_refusal(contract("prefix_tile", -1), {"prefix_tile is -1"});
  expect_refusal(contract("score_format", "half"), {"score_format is \"half\""});
  expect_refusal(contract("empty_rows", "none"),
                 {"empty_rows is \"none\"; expected one of zero, plus_inf, mean, nan, not_mine"});
  expect_refusal(contract("families_left_out", "huge"), {"families_left_out", "a list of names"});
  expect_refusal(contract("families_left_out", nlohmann::json::array({1})),
                 {"families_left_out", "a name"});
  expect_refusal(contract("families_left_out", nlohmann::json::array({"small"})),
                 {"families_left_out is", "small"});
  expect_refusal(contract("families_left_out", nlohmann::json::array({"huge", "generic"})),
                 {"families_left_out is \"generic\"", "may be left out"});
  expect_refusal(contract("families_left_out", nlohmann::json::array({"file"})),
                 {"families_left_out is \"file\"", "may be left out"});
  expect_refusal(contract("unit_round", 1), {"field \"unit_round\" is unknown", "unit_roundoff"});
  expect_refusal([](auto& b) { b.plumbline["contract"] = 1; }, {"contract is 1", "object"});
  expect_refusal([](auto& b) { b.plumbline["kernel"] = 1; }, {"kernel is 1", "a text"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
