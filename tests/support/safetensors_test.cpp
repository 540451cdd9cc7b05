// SPDX-License-Identifier: Apache-2.0
#include "support/safetensors.hpp"

#include <boost/test/unit_test.hpp>
#include <tuple>

#include "support/atomic_file.hpp"
#include "tests/support/container.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline {

BOOST_AUTO_TEST_SUITE(safetensors_test)

namespace {

void expect_refusal(const std::string& file, std::initializer_list<const char*> parts) {
  expect_bad_input([&] { parse_safetensors(bytes_of(file)); }, parts);
}

/// One tensor "t" whose header entry is `entry`, with `size` bytes of data.
std::string with_tensor(const std::string& entry, std::size_t size) {
  return container("{\"t\":" + entry + "}", std::string(size, 'x'));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_file_is_read_as_it_was_laid_out_by_hand) {
  const std::string file = container(
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},)"
      R"("y":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
      R"("none":{"dtype":"I32","shape":[0],"data_offsets":[4,4]}})",
      "abcdefghijkl");
  const SafetensorsView view = parse_safetensors(bytes_of(file));
  BOOST_CHECK(view.metadata == (std::map<std::string, std::string>{{"a", "b"}}));
  BOOST_TEST(view.tensors.size() == 3u);
  const TensorView& x = view.tensors.at("x");
  BOOST_CHECK(x.dtype == Dtype::f32);
  BOOST_CHECK(x.shape == (std::vector<std::int64_t>{1, 2}));
  BOOST_TEST(std::memcmp(x.bytes.data(), "efghijkl", 8) == 0);
  BOOST_CHECK(view.tensors.at("y").dtype == Dtype::bf16);
  BOOST_TEST(view.tensors.at("none").bytes.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_header_without_tensors_is_a_file) {
  BOOST_TEST(parse_safetensors(bytes_of(container("{}"))).tensors.empty());
}

BOOST_AUTO_TEST_CASE(a_file_of_zero_bytes) {
  expect_refusal("", {"file length is 0 bytes", "8 bytes", "safetensors"});
}
BOOST_AUTO_TEST_CASE(a_file_shorter_than_its_header_length) {
  expect_refusal("1234567", {"file length is 7 bytes"});
}
BOOST_AUTO_TEST_CASE(a_header_length_beyond_the_file) {
  expect_refusal(with_length(3, "{}"),
                 {"file length is 10 bytes", "at least 11 bytes", "damaged or was cut short"});
  expect_refusal(with_length(3, ""), {"file length is 8 bytes", "at least 11 bytes"});
}
BOOST_AUTO_TEST_CASE(a_file_of_another_kind) {
  expect_refusal("In the beginning God created",
                 {"no safetensors file", "\"In the beginning\"..."});
  expect_refusal(with_length(3, "[]"), {"no safetensors file"});
  expect_refusal("GGUF\x3\xff\xff\xff", {"no safetensors file", "\"GGUF\\x03\\xff"});
}
BOOST_AUTO_TEST_CASE(a_header_length_beyond_the_limit) {
  expect_refusal(with_length(~std::uint64_t{0}, "{}"),
                 {"header length is 18446744073709551615 bytes", "at most 1048576"});
}
BOOST_AUTO_TEST_CASE(a_header_that_is_no_json) {
  expect_refusal(container("{\"t\":"), {"header is not JSON from byte 6 on"});
  expect_refusal(container(""), {"header is not JSON"});
  expect_refusal(container("{}x"), {"header is not JSON"});
  expect_refusal(container("{\"\xff\":1}"), {"header is not JSON"});
}
BOOST_AUTO_TEST_CASE(a_header_that_is_no_object) {
  expect_refusal(container("[1,2]"), {"header is [1,2]", "object"});
}
BOOST_AUTO_TEST_CASE(a_number_that_no_double_holds) {
  expect_refusal(container("{\"t\":1e999}"), {"header", "number that no double holds"});
}
BOOST_AUTO_TEST_CASE(deep_nesting) {
  expect_refusal(container(std::string(9, '[') + std::string(9, ']')), {"nested too deeply", "8"});
  expect_refusal(container(std::string(100000, '[')), {"nested too deeply"});
  expect_refusal(container(std::string(8, '[') + std::string(8, ']')), {"header is", "object"});
}
BOOST_AUTO_TEST_CASE(a_key_given_twice) {
  expect_refusal(container("{\"a\":{},\"a\":{}}"), {"key \"a\" is given twice"});
  expect_refusal(
      with_tensor(R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})", 4),
      {"key \"dtype\" is given twice"});
}
BOOST_AUTO_TEST_CASE(metadata_of_other_things_than_texts) {
  expect_refusal(container(R"({"__metadata__":[1]})"), {"__metadata__ is [1]"});
  expect_refusal(container(R"({"__metadata__":{"plumbline":{}}})"),
                 {"__metadata__: \"plumbline\" is an object", "a text"});
}
BOOST_AUTO_TEST_CASE(a_dtype_that_is_unknown) {
  expect_refusal(
      with_tensor(R"({"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]})", 4),
      {"tensor \"t\": dtype is \"F8_E8M0\"", "F16, F8_E4M3, F8_E5M2, I32, I64, U8, BOOL"});
  expect_refusal(with_tensor(R"({"dtype":7,"shape":[1],"data_offsets":[0,4]})", 4), {"dtype is 7"});
}
BOOST_AUTO_TEST_CASE(a_shape_that_is_negative_or_no_shape) {
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4),
                 {"tensor \"t\": shape is [-1]"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", 4),
                 {"shape is [1.0]"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})", 4),
                 {"shape is 1;"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":["x"],"data_offsets":[0,4]})", 4),
                 {"shape is an array of other things than numbers"});
  expect_refusal(
      with_tensor(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})", 4),
      {"shape is an array of 9", "at most 8"});
  expect_refusal(
      with_tensor(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})", 4),
      {"shape is [18446744073709551615]"});
}
BOOST_AUTO_TEST_CASE(a_shape_whose_product_overflows) {
  // 4 * 2^31 * 2^31 = 2^64, which wraps to the 0 bytes that the offsets claim.
  expect_refusal(
      with_tensor(R"({"dtype":"F32","shape":[2147483648,2147483648],"data_offsets":[0,0]})", 0),
      {"data_offsets is [0, 0]", "2147483648, 2147483648"});
}
BOOST_AUTO_TEST_CASE(a_shape_that_does_not_match_the_bytes) {
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4),
                 {"data_offsets is [0, 4]", "8 bytes for F32 of shape [2]"});
  expect_refusal(with_tensor(R"({"dtype":"BF16","shape":[1],"data_offsets":[0,4]})", 4),
                 {"2 bytes for BF16"});
}
BOOST_AUTO_TEST_CASE(offsets_out_of_range) {
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 3),
                 {"length of the data is 3 bytes", "4 bytes", "damaged or was cut short"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4),
                 {"data_offsets is [4,0]"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})", 4),
                 {"data_offsets is [-4,0]"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", 4),
                 {"data_offsets is [0]"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":"0"})", 4),
                 {"data_offsets is \"0\""});
}
BOOST_AUTO_TEST_CASE(tensors_that_overlap) {
  expect_refusal(container(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                           R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                           "12345678"),
                 {"tensor \"b\": data_offsets is [4, 8]", "begin 8", "overlap"});
}
BOOST_AUTO_TEST_CASE(bytes_that_belong_to_no_tensor) {
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8),
                 {"data_offsets is [4, 8]", "begin 0", "bytes of no tensor"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 5),
                 {"length of the data is 5 bytes", "4 bytes"});
}
BOOST_AUTO_TEST_CASE(fields_that_are_missing_or_unknown) {
  expect_refusal(with_tensor(R"({"shape":[1],"data_offsets":[0,4]})", 4), {"dtype is missing"});
  expect_refusal(with_tensor(R"({"dtype":"F32","data_offsets":[0,4]})", 4), {"shape is missing"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1]})", 4), {"data_offsets is missing"});
  expect_refusal(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})", 4),
                 {"tensor \"t\": field \"x\" is unknown"});
  expect_refusal(with_tensor("3", 0), {"tensor \"t\" is 3", "object"});
}
BOOST_AUTO_TEST_CASE(a_name_with_control_characters_is_shown_escaped) {
  expect_refusal(container(R"({"\u001b[31m":3})"), {"tensor \"\\x1b[31m\""});
}

BOOST_AUTO_TEST_CASE(what_is_written_begins_its_data_at_a_multiple_of_eight) {
  const test::TemporaryFolder folder;
  const auto path = folder.path / "x.safetensors";
  const std::vector<float> x{1, 2, 3};
  for (const char* metadata : {"", "1", "12", "123", "1234", "12345", "123456", "1234567"}) {
    write_safetensors(path, {{"x", {Dtype::f32, {3}, std::as_bytes(std::span(x))}}},
                      {{"m", metadata}});
    const std::string file = read_file(path);
    const SafetensorsView view = parse_safetensors(bytes_of(file));
    BOOST_TEST((file.size() - sizeof(float) * x.size()) % 8 == 0u);
    BOOST_TEST(view.metadata.at("m") == metadata);
    BOOST_TEST(std::memcmp(view.tensors.at("x").bytes.data(), x.data(), 12) == 0);
  }
}

BOOST_AUTO_TEST_CASE(every_dtype_has_the_bytes_that_the_format_gives_it) {
  // The sizes stand in the names (BOOL: one byte, as Rust's and PyTorch's bool).
  for (const auto& [dtype, text, size] : {std::tuple{Dtype::f32, "F32", 4},
                                          {Dtype::f64, "F64", 8},
                                          {Dtype::bf16, "BF16", 2},
                                          {Dtype::f16, "F16", 2},
                                          {Dtype::f8_e4m3, "F8_E4M3", 1},
                                          {Dtype::f8_e5m2, "F8_E5M2", 1},
                                          {Dtype::i32, "I32", 4},
                                          {Dtype::i64, "I64", 8},
                                          {Dtype::u8, "U8", 1},
                                          {Dtype::boolean, "BOOL", 1}}) {
    BOOST_TEST(name(dtype) == text);
    const std::string entry = std::string(R"({"dtype":")") + text +
                              R"(","shape":[3],"data_offsets":[0,)" + std::to_string(3 * size) +
                              "]}";
    const std::string file = with_tensor(entry, static_cast<std::size_t>(3 * size));
    BOOST_CHECK(parse_safetensors(bytes_of(file)).tensors.at("t").dtype == dtype);
  }
}

BOOST_AUTO_TEST_CASE(a_file_written_in_pieces_is_the_file_written_at_once) {
  const test::TemporaryFolder folder;
  const std::vector<float> x{1, 2, 3};
  const auto bytes = std::as_bytes(std::span(x));
  write_safetensors(folder.path / "once", {{"x", {Dtype::f32, {3}, bytes}}}, {{"m", "1"}});
  SafetensorsWriter writer(folder.path / "pieces", {{"x", Dtype::f32, {3}}}, {{"m", "1"}});
  writer.write(bytes.first(5));
  writer.write(bytes.subspan(5));
  BOOST_TEST(!std::filesystem::exists(folder.path / "pieces"));
  writer.commit();
  BOOST_TEST(read_file(folder.path / "pieces") == read_file(folder.path / "once"));
}

BOOST_AUTO_TEST_CASE(a_file_with_fewer_or_more_bytes_than_its_header_tells_is_not_written) {
  const test::TemporaryFolder folder;
  const std::vector<float> x{1, 2, 3};
  const auto bytes = std::as_bytes(std::span(x));
  const auto path = folder.path / "x";
  {
    SafetensorsWriter writer(path, {{"x", Dtype::f32, {3}}}, {});
    writer.write(bytes.first(11));
    BOOST_CHECK_THROW(writer.commit(), std::logic_error);
    writer.write(bytes.last(1));
    BOOST_CHECK_THROW(writer.write(bytes.last(1)), std::logic_error);
  }
  BOOST_TEST(std::filesystem::is_empty(folder.path));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline
