// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/load.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "support/atomic_file.hpp"
#include "tests/models/checkpoint/toy_model.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline::checkpoint {

BOOST_AUTO_TEST_SUITE(load_test)

namespace {

ToyModel loaded(const std::string& bytes) {
  const test::TemporaryFolder folder;
  write_file(folder.path / "toy", bytes);
  ToyModel model;
  load(folder.path / "toy", toy_naming(), model);
  return model;
}

std::string text(const ToyModel& model) {
  std::ostringstream out;
  const Eigen::IOFormat one_line(Eigen::FullPrecision, Eigen::DontAlignCols, " ", "; ");
  out << model.table.format(one_line) << " | " << model.weight.format(one_line) << " | "
      << model.bias.transpose().format(one_line);
  return out.str();
}

const char* const as_laid_out = "1; 2 | 11 12 13; 21 22 23 | -1 0.5";

/// The file must be refused in words that contain each of `parts`, and the model left as it was.
void expect_refusal(const std::string& bytes, std::initializer_list<const char*> parts) {
  const test::TemporaryFolder folder;
  write_file(folder.path / "toy", bytes);
  ToyModel model;
  model.table.setConstant(7);
  const std::string before = text(model);
  expect_bad_input([&] { load(folder.path / "toy", toy_naming(), model); }, parts);
  expect_bad_input([&] { load(folder.path / "toy", toy_naming(), model); },
                   {"file \"", "/toy\": "});
  BOOST_TEST(text(model) == before);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_weight_of_in_by_out_is_turned_and_everything_is_widened) {
  BOOST_TEST(text(loaded(ToyFile().file())) == as_laid_out);
}

BOOST_AUTO_TEST_CASE(every_floating_point_type_is_read_and_types_may_differ_in_a_file) {
  ToyFile toy;
  toy.tensors["t.table"] = {"F64", {2, 1}, raw<double>({1, 2})};
  toy.tensors["t.h.0.norm.bias"] = {"F16", {2}, raw<std::uint16_t>({0xbc00, 0x3800})};
  BOOST_TEST(text(loaded(toy.file())) == as_laid_out);
  toy.tensors["t.h.0.norm.bias"] = {"BF16", {2}, raw<std::uint16_t>({0xbf80, 0x3f00})};
  BOOST_TEST(text(loaded(toy.file())) == as_laid_out);
}

BOOST_AUTO_TEST_CASE(the_prefix_may_be_absent_and_endings_may_be_old) {
  ToyFile toy;
  toy.rename("t.table", "table");
  toy.rename("t.h.0.weight", "h.0.weight");
  toy.rename("t.h.0.norm.bias", "h.0.norm.beta");
  BOOST_TEST(text(loaded(toy.file())) == as_laid_out);
}

BOOST_AUTO_TEST_CASE(a_tied_tensor_that_equals_its_parameter_is_accepted) {
  ToyFile toy;
  toy.tensors["head.weight"] = toy.tensors["t.table"];
  BOOST_TEST(text(loaded(toy.file())) == as_laid_out);
}

BOOST_AUTO_TEST_CASE(a_tied_tensor_that_differs_is_refused) {
  ToyFile toy;
  toy.tensors["head.weight"] = {"F32", {2, 1}, raw<float>({1, 2.5})};
  expect_refusal(toy.file(), {"tensor \"head.weight\": element 1 is 2.5",
                              "expected 2 as in tensor \"t.table\": the model has one parameter"});
  toy.tensors["head.weight"] = {"F32", {2}, raw<float>({1, 2})};
  expect_refusal(toy.file(), {"tensor \"head.weight\": shape is [2]; expected [2, 1]"});
  toy.tensors["head.weight"] = {"F32", {2, 1}, raw<float>({NAN, 2})};
  expect_refusal(toy.file(), {"tensor \"head.weight\": element 0 is nan"});
}

BOOST_AUTO_TEST_CASE(masks_are_passed_over_by_their_name_whatever_their_type) {
  ToyFile toy;
  toy.tensors["t.h.0.mask"] = {"BOOL", {1, 1, 2, 2}, std::string(4, '\1')};
  BOOST_TEST(text(loaded(toy.file())) == as_laid_out);
  toy.rename("t.h.0.mask", "h.11.mask");
  BOOST_TEST(text(loaded(toy.file())) == as_laid_out);
  toy.rename("h.11.mask", "h.x.mask");
  expect_refusal(toy.file(), {"tensor \"h.x.mask\" is unknown"});
}

BOOST_AUTO_TEST_CASE(a_missing_tensor_is_refused) {
  ToyFile toy;
  toy.tensors.erase("t.h.0.weight");
  expect_refusal(toy.file(), {"tensor \"t.h.0.weight\" is missing", "shape [3, 2]"});
}

BOOST_AUTO_TEST_CASE(an_unknown_tensor_is_refused) {
  ToyFile toy;
  toy.tensors["t.h.1.weight"] = toy.tensors["t.h.0.weight"];
  expect_refusal(toy.file(), {"tensor \"t.h.1.weight\" is unknown", "the toy as configured"});
}

BOOST_AUTO_TEST_CASE(a_tensor_under_two_names_is_refused) {
  ToyFile toy;
  toy.tensors["table"] = toy.tensors["t.table"];
  expect_refusal(toy.file(), {"tensor \"table\"", "another name of", "\"t.table\""});
}

BOOST_AUTO_TEST_CASE(a_wrong_shape_is_refused) {
  ToyFile toy;
  toy.tensors["t.h.0.weight"].shape = {2, 3};
  expect_refusal(toy.file(), {"tensor \"t.h.0.weight\": shape is [2, 3]; expected [3, 2]"});
  toy = {};
  toy.tensors["t.h.0.norm.bias"].shape = {2, 1};
  expect_refusal(toy.file(), {"tensor \"t.h.0.norm.bias\": shape is [2, 1]; expected [2]"});
}

BOOST_AUTO_TEST_CASE(whole_numbers_are_refused) {
  ToyFile toy;
  toy.tensors["t.h.0.norm.bias"] = {"I32", {2}, raw<int>({1, 2})};
  expect_refusal(toy.file(), {"tensor \"t.h.0.norm.bias\": dtype is \"I32\"", "F64, F32, BF16"});
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_refused) {
  ToyFile toy;
  toy.tensors["t.h.0.weight"].bytes = raw<float>({11, 21, 12, 22, 13, NAN});
  expect_refusal(toy.file(), {"tensor \"t.h.0.weight\": element 5 is nan", "a finite number"});
  toy.tensors["t.h.0.weight"].bytes = raw<float>({11, 21, -INFINITY, 22, 13, 23});
  expect_refusal(toy.file(), {"element 2 is -inf"});
}

BOOST_AUTO_TEST_CASE(a_number_far_into_a_large_tensor_is_found_and_told_by_its_index) {
  reference::Vector<double> values = reference::Vector<double>::Zero(20000);
  const Parameter<double> parameter{"t.long", {20000}, values.data()};
  ToyFile toy;
  std::vector<float> numbers(20000);
  for (int n = 0; n < 20000; ++n) numbers[n] = static_cast<float>(n);
  toy.tensors = {{"t.long", {"F32", {20000}, raw(numbers)}}};
  const test::TemporaryFolder folder;
  write_file(folder.path / "toy", toy.file());
  load_parameters(folder.path / "toy", toy_naming(), {parameter});
  BOOST_TEST(values[19999] == 19999.0);
  BOOST_TEST(values.sum() == 199990000.0);
  Naming naming = toy_naming();
  naming.tied = {{"head.weight", "t.long"}};
  toy.tensors["head.weight"] = toy.tensors["t.long"];
  write_file(folder.path / "toy", toy.file());
  load_parameters(folder.path / "toy", naming, {parameter});
  numbers[17777] = INFINITY;
  toy.tensors["t.long"].bytes = raw(numbers);
  write_file(folder.path / "toy", toy.file());
  expect_bad_input([&] { load_parameters(folder.path / "toy", toy_naming(), {parameter}); },
                   {"element 17777 is inf"});
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_refused_at_every_length) {
  const std::string good = ToyFile().file();
  const test::TemporaryFolder folder;
  for (std::size_t size = 0; size < good.size(); ++size) {
    ToyModel model;
    std::ofstream(folder.path / "toy") << good.substr(0, size);
    BOOST_CHECK_THROW(load(folder.path / "toy", toy_naming(), model), BadInput);
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_refused) {
  ToyModel model;
  expect_bad_input([&] { load("no/such.safetensors", toy_naming(), model); },
                   {"no/such.safetensors", "No such file"});
}

BOOST_AUTO_TEST_CASE(two_parameters_of_one_name_are_the_programs_mistake) {
  const test::TemporaryFolder folder;
  write_file(folder.path / "toy", ToyFile().file());
  double values[2];
  const Parameter<double> bias{"t.h.0.norm.bias", {2}, values};
  BOOST_CHECK_THROW(load_parameters(folder.path / "toy", toy_naming(), {bias, bias}),
                    std::logic_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::checkpoint
