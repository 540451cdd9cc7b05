// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/save.hpp"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <string>

#include "models/checkpoint/load.hpp"
#include "reference/model/gpt2_parameters.hpp"
#include "support/atomic_file.hpp"
#include "tests/models/checkpoint/toy_model.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline::checkpoint {

BOOST_AUTO_TEST_SUITE(save_test)

namespace {

ToyModel toy() {
  ToyModel model;
  model.table << 1, 2;
  model.weight << 11, 12, 13, 21, 22, 23;
  model.bias << -1, 0.5;
  return model;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_file_has_the_names_shapes_and_bytes_laid_out_by_hand) {
  const test::TemporaryFolder folder;
  save(folder.path / "toy", toy_naming(), toy(), Dtype::f32);
  const std::string written = read_file(folder.path / "toy"), by_hand = ToyFile().file();
  const SafetensorsView ours = parse_safetensors(bytes_of(written));
  const SafetensorsView expected = parse_safetensors(bytes_of(by_hand));
  BOOST_TEST(ours.metadata.at("format") == "pt");
  BOOST_TEST_REQUIRE(ours.tensors.size() == expected.tensors.size());
  for (const auto& [name, tensor] : expected.tensors) {
    const TensorView& found = ours.tensors.at(name);
    BOOST_CHECK(found.dtype == tensor.dtype);
    BOOST_TEST(found.shape == tensor.shape, boost::test_tools::per_element());
    BOOST_TEST(std::ranges::equal(found.bytes, tensor.bytes));
  }
}

BOOST_AUTO_TEST_CASE(gpt2_saved_as_f64_and_loaded_again_has_the_same_bits) {
  using namespace reference;
  Gpt2Configuration<> configuration = gpt2(2, 2, 6);
  configuration.vocabulary = 11;
  configuration.positions = 5;
  auto model = Gpt2Parameters<double>::zero(configuration);
  // Every bit pattern of a finite double is possible, subnormal ones and -0 among them.
  std::mt19937_64 random(2026);
  for_each_parameter(model, [&](const std::string&, auto& tensor) {
    for (Eigen::Index n = 0; n < tensor.size(); ++n) {
      do {
        tensor.data()[n] = std::bit_cast<double>(random());
      } while (!std::isfinite(tensor.data()[n]));
    }
  });
  model.wte(0, 0) = -0.0;
  model.wte(0, 1) = 5e-324;
  const test::TemporaryFolder folder;
  save(folder.path / "gpt2", gpt2_naming(), model);
  auto again = Gpt2Parameters<double>::zero(configuration);
  load(folder.path / "gpt2", gpt2_naming(), again);
  const auto first = parameters_of(model), second = parameters_of(again);
  for (std::size_t p = 0; p < first.size(); ++p) {
    std::size_t count = 1;
    for (const auto size : first[p].shape) count *= static_cast<std::size_t>(size);
    BOOST_TEST(std::memcmp(first[p].values, second[p].values, count * sizeof(double)) == 0,
               first[p].name);
  }
}

BOOST_AUTO_TEST_CASE(f32_is_rounded_to_nearest) {
  ToyModel model = toy();
  model.bias[0] = 0.1;
  const test::TemporaryFolder folder;
  save(folder.path / "toy", toy_naming(), model, Dtype::f32);
  ToyModel again;
  load(folder.path / "toy", toy_naming(), again);
  BOOST_TEST(again.bias[0] == static_cast<double>(0.1f));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_again_is_not_written) {
  const test::TemporaryFolder folder;
  ToyModel model = toy();
  model.weight(1, 2) = NAN;
  expect_bad_input([&] { save(folder.path / "toy", toy_naming(), model); },
                   {"tensor \"t.h.0.weight\": element 5 is nan", "a finite number of 64 bits"});
  model.weight(1, 2) = 1e39;  // beyond the largest float
  expect_bad_input([&] { save(folder.path / "toy", toy_naming(), model, Dtype::f32); },
                   {"tensor \"t.h.0.weight\": element 5 is 1e+39", "a finite number of 32 bits"});
  BOOST_TEST(std::filesystem::is_empty(folder.path));
}

BOOST_AUTO_TEST_CASE(other_types_than_f64_and_f32_are_not_written) {
  const test::TemporaryFolder folder;
  BOOST_CHECK_THROW(save(folder.path / "toy", toy_naming(), toy(), Dtype::bf16),
                    std::invalid_argument);
  BOOST_TEST(std::filesystem::is_empty(folder.path));
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_leaves_the_one_before) {
  const test::TemporaryFolder folder;
  const auto path = folder.path / "toy";
  save(path, toy_naming(), toy());
  const std::string before = read_file(path);
  ToyModel model = toy();
  model.bias[1] = INFINITY;
  expect_bad_input([&] { save(path, toy_naming(), model); }, {"t.h.0.norm.bias"});
  BOOST_TEST((read_file(path) == before));
  expect_bad_input([&] { save(folder.path / "no" / "such", toy_naming(), toy()); },
                   {"not writable"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::checkpoint
