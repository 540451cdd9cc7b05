// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/case_file.hpp"

#include <rapidcheck.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>

#include "support/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/any_spec.hpp"
#include "tests/verdict/cases/bad_input.hpp"
#include "tests/verdict/cases/file_builder.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(case_file_test)

namespace {

const test::TemporaryFolder folder;
const std::filesystem::path path = folder.path / "case.safetensors";

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0);
}

bool same_numbers(const Case& a, const Case& b) {
  return a.scale == b.scale && a.options == b.options && same_bits(a.q, b.q) &&
         same_bits(a.k, b.k) && same_bits(a.v, b.v) && same_bits(a.grad_o, b.grad_o) &&
         same_bits(a.q_scale, b.q_scale) && same_bits(a.k_scale, b.k_scale) &&
         same_bits(a.v_scale, b.v_scale) && same_bits(a.grad_lse, b.grad_lse) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    [](const auto& x, const auto& y) { return same_bits(x, y); }) &&
         same_bits(a.lengths, b.lengths) && same_bits(a.documents, b.documents) &&
         same_bits(a.mask, b.mask) && same_bits(a.keep, b.keep);
}

/// What a file tells of a spec: neither seed nor family, nor what its tensors' shapes leave open.
Spec as_read(Spec spec) {
  spec.family = Family::file;
  spec.seed = 0;
  if (spec.value_dim == spec.head_dim) spec.value_dim = 0;
  spec.values_in_keys = false;
  spec.keep_given = spec.dropout > 0;
  if (spec.mask.pattern == Pattern::none) return spec;
  spec.mask.pattern = Pattern::file;
  spec.mask.per_batch = spec.mask.per_batch && spec.batch > 1;
  spec.mask.per_head = spec.mask.per_head && spec.heads > 1;
  return spec;
}

/// batch 1, heads 2, kv_heads 1, queries 2, keys 3, head_dim 1; bias alibi.
FileBuilder small_case(const std::vector<int>& shape_of_v = {1, 1, 3, 1}) {
  FileBuilder builder;
  builder.plumbline = {{"format_version", 1}, {"bias", "alibi"}, {"causal", true}};
  builder.add("q", "F32", {1, 2, 2, 1}, raw<float>({1, 2, 3, 4}));
  builder.add("k", "F32", {1, 1, 3, 1}, raw<float>({1, 2, 3}));
  std::string values;
  for (int n = 1, count = shape_of_v[0] * shape_of_v[1] * shape_of_v[2] * shape_of_v[3]; n <= count;
       ++n) {
    values += raw<float>({static_cast<float>(n)});
  }
  builder.add("v", "F32", shape_of_v, values);
  builder.add("slopes", "F32", {2}, raw<float>({0.5, 0.25}));
  return builder;
}

Case parsed(const FileBuilder& builder) {
  return case_from_bytes(bytes_of(builder.file()), "given.safetensors");
}

/// The small case with one thing spoilt must be refused in these words, and in the file's name.
void expect_refusal(auto&& spoil, std::initializer_list<const char*> parts) {
  FileBuilder builder = small_case();
  parsed(builder);  // it was right before
  spoil(builder);
  expect_bad_input([&] { parsed(builder); }, {"given.safetensors: "});
  expect_bad_input([&] { parsed(builder); }, parts);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_case_reads_back_bit_for_bit) {
  BOOST_TEST(rc::check([] {
    const Spec spec = *any_spec();
    const Case written = generate(spec);
    write_case(path, written);
    const Case read = read_case(path);
    RC_ASSERT(same_numbers(written, read));
    RC_ASSERT(read.spec == as_read(spec));
  }));
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(scale_and_epsilon_read_back_bit_for_bit) {
  Spec spec;
  spec.bias = PLUMBLINE_GGD;
  Case written = generate(spec);
  written.scale = 0.1;
  written.options[PLUMBLINE_EPSILON] = 0x1.23456789abcdep-20;
  write_case(path, written);
  BOOST_TEST(same_numbers(written, read_case(path)));
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(a_minimal_file_takes_its_shape_from_the_tensors_and_the_rest_from_defaults) {
  const Case c = parsed(small_case());
  Spec expected;
  expected.bias = PLUMBLINE_ALIBI;
  expected.heads = 2;
  expected.queries = 2;
  expected.keys = 3;
  expected.head_dim = 1;
  expected.query_offset = 1;
  expected.family = Family::file;
  BOOST_CHECK(c.spec == expected);
  BOOST_TEST(c.scale == 1.0);
  BOOST_CHECK(c.q == (std::vector<float>{1, 2, 3, 4}));
  BOOST_CHECK(c[PLUMBLINE_SLOPES] == (std::vector<float>{0.5, 0.25}));
}

BOOST_AUTO_TEST_CASE(optional_tensors_turn_their_feature_on) {
  FileBuilder builder = small_case();
  builder.add("ssmax_scale", "F32", {2}, raw<float>({1, 1}));
  builder.add("lengths", "I32", {1}, raw<std::int32_t>({2}));
  builder.add("documents", "I32", {1, 3}, raw<std::int32_t>({0, 0, 7}));
  builder.plumbline["window"] = 2;
  builder.plumbline["softcap"] = 50;
  const Spec spec = parsed(builder).spec;
  BOOST_TEST((spec.ssmax && spec.mask.ragged && spec.mask.documents && spec.mask.window == 2));
  BOOST_TEST(spec.softcap == 50.0);
  for (const double refused : {0.0, -1.0}) {
    builder.plumbline["softcap"] = refused;
    expect_bad_input([&] { parsed(builder); }, {"softcap", "a number above 0"});
  }
}

BOOST_AUTO_TEST_CASE(values_may_have_another_width_and_the_gradient_of_outputs_has_it_too) {
  BOOST_TEST(parsed(small_case()).spec.value_dim == 0);
  FileBuilder builder = small_case({1, 1, 3, 2});
  const Case wide = parsed(builder);
  BOOST_TEST(wide.spec.value_dim == 2);
  BOOST_TEST(wide.spec.head_dim == 1);
  BOOST_CHECK(wide.v == (std::vector<float>{1, 2, 3, 4, 5, 6}));
  builder.add("grad_o", "F32", {1, 2, 2, 2}, raw<float>({1, 2, 3, 4, 5, 6, 7, 8}));
  BOOST_CHECK(parsed(builder).grad_o == (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  builder = small_case({1, 1, 3, 2});
  builder.add("grad_o", "F32", {1, 2, 2, 1}, raw<float>({1, 2, 3, 4}));
  expect_bad_input([&] { parsed(builder); },
                   {"tensor \"grad_o\": shape is [1, 2, 2, 1]", "[1, 2, 2, 2]"});
}

BOOST_AUTO_TEST_CASE(values_whose_other_sizes_are_not_those_of_the_keys) {
  const auto refused = [](const std::vector<int>& shape, const char* is, const char* expected) {
    expect_bad_input([&] { parsed(small_case(shape)); },
                     {"given.safetensors: tensor \"v\": shape is ", is, expected});
  };
  refused({1, 1, 2, 2}, "[1, 1, 2, 2]", "[1, 1, 3, 2]");
  refused({1, 2, 3, 2}, "[1, 2, 3, 2]", "[1, 1, 3, 2]");
  refused({2, 1, 3, 1}, "[2, 1, 3, 1]", "[1, 1, 3, 1]");
  refused({1, 1, 3, 0}, "one with a size of 0", "sizes from 1");
  expect_refusal(
      [](auto& b) {
        b.header["v"]["shape"] = {3, 1};
      },
      {"tensor \"v\": shape is 2 sizes", "[batch, kv_heads, keys, value_dim]"});
}

BOOST_AUTO_TEST_CASE(a_mask_tensor_says_which_row_may_see_which_key) {
  const auto in_words = [](const Case& c) {
    std::string seen;
    for (int head = 0; head < 2; ++head) {
      for (int query = 0; query < 2; ++query) {
        for (int key = 0; key < 3; ++key) seen += c.may_see(0, head, query, key) ? '1' : '0';
        seen += ' ';
      }
    }
    return seen;
  };
  const Case without = parsed(small_case());
  BOOST_CHECK(without.spec.mask.pattern == Pattern::none);
  BOOST_TEST(in_words(without) == "111 111 111 111 ");

  FileBuilder builder = small_case();
  builder.add("mask", "BOOL", {1, 1, 2, 3}, raw<std::uint8_t>({1, 0, 0, 0, 1, 1}));
  const Case shared = parsed(builder);
  BOOST_CHECK(shared.spec.mask.pattern == Pattern::file);
  BOOST_TEST((!shared.spec.mask.per_batch && !shared.spec.mask.per_head));
  BOOST_TEST(in_words(shared) == "100 011 100 011 ");

  builder = small_case();
  builder.add("mask", "U8", {1, 2, 2, 3}, raw<std::uint8_t>({1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1}));
  const Case own = parsed(builder);
  BOOST_TEST((!own.spec.mask.per_batch && own.spec.mask.per_head));
  BOOST_TEST(in_words(own) == "100 011 000 101 ");
  write_case(path, own);
  BOOST_CHECK(same_numbers(own, read_case(path)));
  BOOST_CHECK(read_case(path).spec == own.spec);
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(masks_that_are_refused) {
  const auto refused = [](const char* dtype, std::vector<int> shape, const std::string& bytes,
                          std::initializer_list<const char*> parts) {
    expect_refusal([&](auto& b) { b.add("mask", dtype, shape, bytes); }, parts);
  };
  const std::string ones(12, 1);
  refused("U8", {1, 1, 2, 3}, raw<std::uint8_t>({1, 0, 1, 1, 0, 2}), {"mask[5] is 2", "0 or 1"});
  refused("BOOL", {1, 1, 2, 3}, raw<std::uint8_t>({255, 0, 1, 1, 0, 1}), {"mask[0] is 255"});
  refused("U8", {1, 1, 2, 2}, ones.substr(0, 4),
          {"tensor \"mask\": shape is [1, 1, 2, 2]", "[1, 1, 2, 3]"});
  refused("U8", {2, 3}, ones.substr(0, 6), {"tensor \"mask\": shape is [2, 3]", "[1, 1, 2, 3]"});
  refused("U8", {1, 2, 1, 3}, ones.substr(0, 6),
          {"tensor \"mask\": shape is [1, 2, 1, 3]", "[1, 2, 2, 3]"});
  refused("U8", {2, 1, 2, 3}, ones, {"tensor \"mask\": shape is [2, 1, 2, 3]", "[1, 1, 2, 3]"});
  refused("U8", {1, 0, 2, 3}, "", {"tensor \"mask\": shape is [1, 0, 2, 3]", "[1, 2, 2, 3]"});
  refused("I32", {1, 1, 2, 3}, raw<std::int32_t>({1, 1, 1, 1, 1, 1}),
          {"tensor \"mask\": dtype is \"I32\"", "U8 or BOOL"});
  expect_refusal(
      [&](auto& b) {
        b.add("mask", "U8", {1, 1, 2, 3}, ones.substr(0, 6));
        b.plumbline["bias"] = "cope";
      },
      {"mask is file with bias cope", "expected none"});
}

BOOST_AUTO_TEST_CASE(dropout_comes_with_what_is_kept) {
  const std::string kept = raw<std::uint8_t>({1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0});
  FileBuilder builder = small_case();
  builder.add("keep", "BOOL", {1, 2, 2, 3}, kept);
  builder.plumbline["dropout"] = 0.75;
  const Case c = parsed(builder);
  BOOST_TEST((c.spec.dropout == 0.75F && c.spec.keep_given));
  BOOST_TEST(c.kept(0, 0, 0, 0) == 4.0);
  BOOST_TEST(c.kept(0, 0, 0, 1) == 0.0);
  BOOST_TEST(c.kept(0, 0, 1, 2) == 4.0);
  BOOST_TEST(c.kept(0, 1, 1, 0) == 0.0);
  write_case(path, c);
  BOOST_CHECK(same_numbers(c, read_case(path)));
  BOOST_CHECK(read_case(path).spec == c.spec);
  std::filesystem::remove(path);

  const auto refused = [&](double dropout, const char* dtype, std::vector<int> shape,
                           const std::string& bytes, std::initializer_list<const char*> parts) {
    expect_refusal(
        [&](auto& b) {
          if (!bytes.empty()) b.add("keep", dtype, shape, bytes);
          if (dropout != 0) b.plumbline["dropout"] = dropout;
        },
        parts);
  };
  refused(0.5, "U8", {}, "", {"tensor \"keep\" is missing", "\"dropout\""});
  refused(0, "U8", {1, 2, 2, 3}, kept, {"tensor \"keep\" is given", "\"dropout\" above 0"});
  refused(1, "U8", {1, 2, 2, 3}, kept, {"dropout is 1", "1 - 2^-10"});
  refused(-0.5, "U8", {1, 2, 2, 3}, kept, {"dropout is -0.5", "1 - 2^-10"});
  refused(0.5, "U8", {1, 1, 2, 3}, kept.substr(0, 6),
          {"tensor \"keep\": shape is [1, 1, 2, 3]", "[1, 2, 2, 3]"});
  refused(0.5, "I32", {1, 2, 2, 3}, kept + kept + kept + kept,
          {"tensor \"keep\": dtype is \"I32\"", "U8 or BOOL"});
  refused(0.5, "U8", {1, 2, 2, 3}, kept.substr(0, 11) + "\2", {"keep[11] is 2", "0 or 1"});
}

BOOST_AUTO_TEST_CASE(a_gradient_of_lse_comes_with_one_of_the_outputs) {
  const auto backward = [] {
    FileBuilder builder = small_case();
    builder.add("grad_o", "F32", {1, 2, 2, 1}, raw<float>({1, 2, 3, 4}));
    return builder;
  };
  FileBuilder builder = backward();
  BOOST_TEST(!parsed(builder).spec.lse_gradient);
  builder.add("grad_lse", "F32", {1, 2, 2}, raw<float>({4, 3, 2, 1}));
  const Case c = parsed(builder);
  BOOST_TEST(c.spec.lse_gradient);
  BOOST_CHECK(c.grad_lse == (std::vector<float>{4, 3, 2, 1}));

  const auto refused = [&](const char* dtype, std::vector<int> shape, const std::string& bytes,
                           std::initializer_list<const char*> parts) {
    builder = backward();
    builder.add("grad_lse", dtype, std::move(shape), bytes);
    expect_bad_input([&] { parsed(builder); }, parts);
  };
  refused("F32", {1, 4}, raw<float>({4, 3, 2, 1}),
          {"tensor \"grad_lse\": shape is [1, 4]", "[1, 2, 2]"});
  refused("F32", {1, 2, 2}, raw<float>({4, 3, 2, INFINITY}), {"grad_lse[3] is inf", "finite"});
  refused("BF16", {1, 2, 2}, raw<std::uint16_t>({0, 0, 0, 0}),
          {"tensor \"grad_lse\": dtype is \"BF16\"", "F32"});
  expect_refusal(
      [](auto& b) {
        b.add("grad_lse", "F32", {1, 2, 2}, raw<float>({4, 3, 2, 1}));
      },
      {"lse_gradient is 1 with pass forward", "backward"});
}

/// The small case in e4m3 but for one tensor; 0x38 is 1, 0x40 2 and 0x44 3. 0.1 is no short scale.
FileBuilder small_case_of_8_bits(const std::string& left_out = "") {
  FileBuilder builder;
  builder.plumbline = {{"format_version", 1}, {"bias", "nope"}, {"causal", true}};
  const auto add = [&](const std::string& tensor, const char* dtype, std::vector<int> shape,
                       const std::string& bytes) {
    if (tensor != left_out) builder.add(tensor, dtype, std::move(shape), bytes);
  };
  add("q", "F8_E4M3", {1, 2, 2, 1}, raw<std::uint8_t>({0x38, 0x40, 0x44, 0xb8}));
  add("k", "F8_E4M3", {1, 1, 3, 1}, raw<std::uint8_t>({0x38, 0x40, 0x44}));
  add("v", "F8_E4M3", {1, 1, 3, 1}, raw<std::uint8_t>({0x7e, 0x01, 0x80}));
  add("q_scale", "F32", {1, 1}, raw<float>({0.1f}));
  add("k_scale", "F32", {1, 1}, raw<float>({2}));
  add("v_scale", "F32", {1, 1}, raw<float>({0.5}));
  return builder;
}

BOOST_AUTO_TEST_CASE(numbers_of_8_bits_are_read_with_their_scales) {
  const Case c = parsed(small_case_of_8_bits());
  BOOST_CHECK(c.spec.format == Format::e4m3);
  // 3 * 0.1f needs two bits more than a float has: the nearest float, and back the same 3.
  BOOST_CHECK(c.q == (std::vector<float>{0.1f, 0.2f, 3 * 0.1f, -0.1f}));
  BOOST_CHECK(c.k == (std::vector<float>{2, 4, 6}));
  BOOST_CHECK(c.v == (std::vector<float>{224, 0x1p-10f, -0.0f}));
  write_case(path, c);
  BOOST_CHECK(same_numbers(c, read_case(path)));
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(scales_are_needed_positive_and_of_8_bits_only) {
  FileBuilder builder = small_case_of_8_bits("k_scale");
  const auto refused = [&](std::initializer_list<const char*> parts) {
    expect_bad_input([&] { parsed(builder); }, parts);
  };
  refused({"tensor \"k_scale\"", "missing"});
  builder.add("k_scale", "F32", {1, 1}, raw<float>({0}));
  refused({"k_scale[0] is 0", "from 2^-48 to 2^48"});
  builder = small_case_of_8_bits("k_scale");
  builder.add("k_scale", "F32", {1, 2}, raw<float>({1, 1}));
  refused({"tensor \"k_scale\": shape", "[1, 1]"});
  builder = small_case_of_8_bits("v");
  builder.add("v", "F8_E4M3", {1, 1, 3, 1}, raw<std::uint8_t>({0x7f, 0, 0}));
  refused({"v[0] is nan", "finite"});
  builder = small_case();
  builder.add("q_scale", "F32", {1, 1}, raw<float>({1}));
  refused({"tensor \"q_scale\"", "unknown"});
}

BOOST_AUTO_TEST_CASE(an_invalid_case_is_not_written) {
  Case c = generate(Spec{});
  c.q[0] = std::nanf("");
  expect_bad_input([&] { write_case(path, c); }, {"q[0] is nan"});
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(a_cache_has_no_file) {
  Spec spec;
  spec.pass = Pass::decode;
  expect_bad_input([&] { write_case(path, generate(spec)); }, {"pass is decode"});
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(options_that_do_not_fit_together) {
  Case c = generate(from_line("bias=t5,heads=1,keys=4"));
  c.options[PLUMBLINE_BUCKETS] = 32;
  c.options[PLUMBLINE_MAX_DISTANCE] = 16;
  expect_bad_input([&] { write_case(path, c); }, {"max_distance is 16", "above 16"});
  c.options[PLUMBLINE_BUCKETS] = 2.5;
  expect_bad_input([&] { write_case(path, c); }, {"buckets is 2.5", "whole number from 2"});
}

BOOST_AUTO_TEST_CASE(a_file_of_zero_bytes_is_named) {
  write_file(path, "");
  expect_bad_input([] { read_case(path); }, {path.c_str(), "file length is 0 bytes"});
  std::filesystem::remove(path);
}
BOOST_AUTO_TEST_CASE(a_file_that_does_not_exist_is_named) {
  expect_bad_input([] { read_case("no/such.safetensors"); },
                   {"no/such.safetensors", "No such file"});
}
BOOST_AUTO_TEST_CASE(missing_metadata) {
  FileBuilder builder = small_case();
  const std::string file = container(builder.header.dump(), builder.data);
  expect_bad_input([&] { case_from_bytes(bytes_of(file), "f"); }, {"\"plumbline\" is missing"});
}
BOOST_AUTO_TEST_CASE(a_version_that_is_missing_or_unknown) {
  expect_refusal([](auto& b) { b.plumbline.erase("format_version"); },
                 {"plumbline: format_version is missing"});
  expect_refusal([](auto& b) { b.plumbline["format_version"] = 2; },
                 {"format_version is 2", "expected 1"});
}
BOOST_AUTO_TEST_CASE(an_unknown_bias) {
  expect_refusal([](auto& b) { b.plumbline["bias"] = "rope"; },
                 {"plumbline: bias is \"rope\"", "alibi, cable"});
  expect_refusal([](auto& b) { b.plumbline.erase("bias"); }, {"plumbline: bias is missing"});
  expect_refusal([](auto& b) { b.plumbline["bias"] = 1; }, {"plumbline: bias is 1", "a text"});
}
BOOST_AUTO_TEST_CASE(an_unknown_field) {
  expect_refusal([](auto& b) { b.plumbline["windw"] = 2; },
                 {"plumbline: field \"windw\" is unknown", "window"});
  expect_refusal([](auto& b) { b.plumbline["epsilon"] = 1e-5; }, {"field \"epsilon\" is unknown"});
}
BOOST_AUTO_TEST_CASE(fields_of_the_wrong_type_or_range) {
  expect_refusal([](auto& b) { b.plumbline["causal"] = 1; }, {"causal is 1", "true or false"});
  expect_refusal([](auto& b) { b.plumbline.erase("causal"); }, {"causal is missing"});
  expect_refusal([](auto& b) { b.plumbline["window"] = -1; }, {"window is -1"});
  expect_refusal([](auto& b) { b.plumbline["window"] = 1.5; }, {"window is 1.5"});
  expect_refusal([](auto& b) { b.plumbline["window"] = {1, -1}; }, {"window is [1,-1]", "null"});
  expect_refusal([](auto& b) { b.plumbline["window"] = {1, 2, 3}; }, {"window is [1,2,3]", "two"});
  expect_refusal([](auto& b) { b.plumbline["queries_at_end"] = true; }, {"queries_at_end is 1"});
  expect_refusal([](auto& b) { b.plumbline["window"] = 18446744073709551615u; },
                 {"window is 18446744073709551615"});
  expect_refusal([](auto& b) { b.plumbline["query_offset"] = -2; }, {"query_offset is -2"});
  expect_refusal([](auto& b) { b.plumbline["scale"] = "1"; }, {"scale is \"1\"", "a number"});
  expect_refusal([](auto& b) { b.plumbline["scale"] = 0; }, {"scale is 0"});
  expect_refusal([](auto& b) { b.plumbline = nlohmann::json::array(); }, {"plumbline is []"});
}
BOOST_AUTO_TEST_CASE(a_dtype_that_contradicts_the_tensors) {
  expect_refusal([](auto& b) { b.plumbline["dtype"] = "bf16"; },
                 {"plumbline: dtype is \"bf16\"", "\"fp32\", in which q is stored"});
  FileBuilder tf32 = small_case();
  tf32.plumbline["dtype"] = "tf32";
  BOOST_CHECK(parsed(tf32).spec.format == Format::tf32);
  expect_refusal([](auto& b) { b.header["v"]["dtype"] = "I32"; },
                 {"tensor \"v\": dtype is \"I32\"", "F32"});
  expect_refusal([](auto& b) { b.header["slopes"]["dtype"] = "I32"; },
                 {"tensor \"slopes\": dtype"});
  expect_refusal([](auto& b) { b.header["q"]["dtype"] = "I32"; },
                 {"tensor \"q\": dtype is \"I32\""});
}
BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_together) {
  expect_refusal(
      [](auto& b) {
        b.header["q"]["shape"] = {1, 4, 1};
      },
      {"tensor \"q\": shape is 3 sizes", "[batch, heads, queries, head_dim]"});
  expect_refusal(
      [](auto& b) {
        b.header["q"]["shape"] = {1, 4, 1, 1};
        b.header["k"]["shape"] = {3, 1, 1, 1};
      },
      {"tensor \"k\": shape is [3, 1, 1, 1]", "[1, 1, 1, 1]"});
  expect_refusal(
      [](auto& b) {
        b.header["v"]["shape"] = {1, 3, 1, 1};
      },
      {"tensor \"v\": shape is [1, 3, 1, 1]", "[1, 1, 3, 1]"});
  expect_refusal(
      [](auto& b) {
        b.header["slopes"]["shape"] = {1, 2};
      },
      {"tensor \"slopes\": shape is [1, 2]", "[2]"});
}
BOOST_AUTO_TEST_CASE(heads_that_kv_heads_do_not_divide) {
  expect_refusal(
      [](auto& b) {
        b.header["k"]["shape"] = b.header["v"]["shape"] = {1, 3, 1, 1};
        b.header["q"]["shape"] = {1, 4, 1, 1};
      },
      {"heads is 4 with kv_heads 3"});
}
BOOST_AUTO_TEST_CASE(more_queries_than_keys_and_a_window_of_two_sides) {
  FileBuilder builder;
  builder.plumbline = {{"format_version", 1}, {"bias", "nope"}, {"causal", false}};
  builder.add("q", "F32", {1, 1, 4, 1}, raw<float>({1, 2, 3, 4}));
  builder.add("k", "F32", {1, 1, 3, 1}, raw<float>({1, 2, 3}));
  builder.add("v", "F32", {1, 1, 3, 1}, raw<float>({1, 2, 3}));
  BOOST_TEST(parsed(builder).spec.query_offset == 0);
  builder.plumbline["query_offset"] = -1;
  builder.plumbline["window"] = {2, nullptr};
  const Spec spec = parsed(builder).spec;
  BOOST_TEST(spec.query_offset == -1);
  BOOST_TEST((spec.mask.window == Window{2, -1}));
  builder.plumbline["query_offset"] = 0;
  builder.add("documents", "I32", {1, 3}, raw<std::int32_t>({0, 0, 0}));
  expect_bad_input([&] { parsed(builder); }, {"query_offset is 0 with 4 queries and 3 keys"});
}
BOOST_AUTO_TEST_CASE(packed_sequences_with_queries_of_their_own) {
  FileBuilder builder;
  builder.plumbline = {
      {"format_version", 1}, {"bias", "nope"}, {"causal", true}, {"queries_at_end", true}};
  builder.add("q", "F32", {2, 1, 3, 1}, raw<float>({1, 2, 3, 4, 5, 6}));
  builder.add("k", "F32", {2, 1, 2, 1}, raw<float>({1, 2, 3, 4}));
  builder.add("v", "F32", {2, 1, 2, 1}, raw<float>({1, 2, 3, 4}));
  builder.add("lengths", "I32", {2}, raw<std::int32_t>({2, 1}));
  BOOST_TEST(!parsed(builder).spec.is_packed());
  FileBuilder with_rows = builder;
  with_rows.add("query_lengths", "I32", {2}, raw<std::int32_t>({1, 3}));
  const Case c = parsed(with_rows);
  BOOST_TEST(c.spec.is_packed());
  BOOST_TEST((c.query_lengths == std::vector<std::int32_t>{1, 3}));
  BOOST_TEST((!c.has_row(0, 1) && c.has_row(0, 2) && c.has_row(1, 0)));
  with_rows.plumbline["queries_at_end"] = false;
  expect_bad_input([&] { parsed(with_rows); },
                   {"tensor \"query_lengths\" is given", "\"queries_at_end\" true"});
  with_rows.plumbline["queries_at_end"] = true;
  with_rows.plumbline["causal"] = false;
  expect_bad_input([&] { parsed(with_rows); },
                   {"query_lengths[1] is 3", "from 0 to 1 (lengths[1])"});
  for (const auto& [lengths, said] :
       {std::pair{std::vector<std::int32_t>{-1, 1},
                  "query_lengths[0] is -1; expected a whole number from 0 to 3"},
        {{0, 0}, "query_lengths is without a query"}}) {
    FileBuilder wrong = builder;
    wrong.add("query_lengths", "I32", {2}, raw<std::int32_t>(lengths));
    expect_bad_input([&] { parsed(wrong); }, {said});
  }
}
BOOST_AUTO_TEST_CASE(an_empty_sequence) {
  FileBuilder builder = small_case();
  builder.data.clear();
  for (const char* tensor : {"q", "k", "v", "slopes"}) {
    builder.header[tensor]["shape"][2] = 0;
    builder.header[tensor]["data_offsets"] = {0, 0};
  }
  builder.header["slopes"]["shape"] = {0};
  expect_bad_input([&] { parsed(builder); }, {"tensor \"q\": shape is one with a size of 0"});
}
BOOST_AUTO_TEST_CASE(a_missing_tensor) {
  FileBuilder builder;
  builder.plumbline = small_case().plumbline;
  builder.add("q", "F32", {1, 1, 1, 1}, raw<float>({1}));
  expect_bad_input([&] { parsed(builder); }, {"tensor \"k\" is missing"});
  builder.add("k", "F32", {1, 1, 1, 1}, raw<float>({1}));
  builder.add("v", "F32", {1, 1, 1, 1}, raw<float>({1}));
  expect_bad_input([&] { parsed(builder); }, {"tensor \"slopes\" is missing"});
}
BOOST_AUTO_TEST_CASE(an_unknown_tensor_or_one_that_the_bias_does_not_use) {
  expect_refusal([](auto& b) { b.add("slope", "F32", {1}, raw<float>({1})); },
                 {"tensor \"slope\" is unknown", "bias alibi"});
  expect_refusal([](auto& b) { b.plumbline["bias"] = "nope"; },
                 {"tensor \"slopes\" is unknown", "bias nope"});
}
BOOST_AUTO_TEST_CASE(nan_slopes) {
  FileBuilder builder = small_case();
  const float nan = std::nanf("");
  std::memcpy(builder.data.data() + builder.data.size() - 4, &nan, 4);
  expect_bad_input([&] { parsed(builder); }, {"given.safetensors: slopes[1] is nan", "finite"});
}
BOOST_AUTO_TEST_CASE(lengths_beyond_the_keys_and_int64_ids) {
  expect_refusal([](auto& b) { b.add("lengths", "I32", {1}, raw<std::int32_t>({4})); },
                 {"lengths[0] is 4"});
  expect_refusal(
      [](auto& b) {
        b.add("documents", "F32", {1, 3}, raw<float>({0, 0, 0}));
      },
      {"tensor \"documents\": dtype is \"F32\"", "I32"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
