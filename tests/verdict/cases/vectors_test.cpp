// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/vectors.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"
#include "verdict/cases/case_file.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(vectors_test)

BOOST_AUTO_TEST_CASE(vectors_are_written_under_the_names_that_the_index_lists) {
  const test::TemporaryFolder temporary;
  const auto folder = temporary.path / "not" / "there";
  const std::vector<Spec> specs{from_line("bias=alibi,heads=2,keys=3,queries=3,seed=4"),
                                from_line("bias=k_cable,dtype=bf16,keys=2,family=peaked")};
  std::size_t last = 0;
  write_vectors(folder, specs, [&](std::size_t done) { BOOST_TEST(done == ++last); });
  BOOST_TEST(last == 2u);
  const auto index = nlohmann::json::parse(read_file(folder / "index.json"));
  BOOST_TEST(index["cases"].size() == 2u);
  BOOST_TEST(index["cases"][0]["file"] == "0000-alibi-fp32-generic.safetensors");
  BOOST_TEST(index["cases"][1]["file"] == "0001-k_cable-bf16-peaked.safetensors");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto& entry = index["cases"][i];
    BOOST_CHECK(from_line(entry["spec"].get<std::string>()) == specs[i]);
    BOOST_CHECK(read_case(folder / entry["file"].get<std::string>()).q == generate(specs[i]).q);
  }
  const std::filesystem::directory_iterator files(folder);
  BOOST_TEST(std::distance(begin(files), end(files)) == 3);
}

BOOST_AUTO_TEST_CASE(a_folder_with_cases_is_refused_and_one_with_other_files_is_not) {
  const test::TemporaryFolder temporary;
  write_file(temporary.path / "notes.txt", "mine");
  const std::vector<Spec> one{from_line("bias=nope,keys=2")};
  write_vectors(temporary.path, one);
  expect_bad_input([&] { write_vectors(temporary.path, one); }, {"in use", "a new folder"});
  std::filesystem::remove(temporary.path / "index.json");
  expect_bad_input([&] { write_vectors(temporary.path, one); }, {"0000-nope", "a new folder"});
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_named) {
  expect_bad_input([] { write_vectors("/dev/null/folder", {}); },
                   {"folder \"/dev/null/folder\"", "not writable"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
