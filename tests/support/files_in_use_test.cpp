// SPDX-License-Identifier: Apache-2.0
#include "support/files_in_use.hpp"

#include <boost/test/unit_test.hpp>

#include "support/atomic_file.hpp"
#include "support/mapped_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

/// What is in use stays so until the program ends: every test has files of its own.
struct FolderOfFiles : test::TemporaryFolder {
  fs::path file(const std::string& name, const std::string& text = "text") const {
    write_file(path / name, text);
    return path / name;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(files_in_use_test, FolderOfFiles)

BOOST_AUTO_TEST_CASE(an_output_is_no_input_whichever_is_told_first) {
  will_read("in", file("a"));
  expect_bad_input([&] { will_write("--out", path / "a"); },
                   {"--out is ", "/a\", which is read (in ", "another file"});
  will_write("--out", file("b"));
  expect_bad_input([&] { will_read("in", path / "b"); }, {"--out is ", "/b\", which is read (in "});
}

BOOST_AUTO_TEST_CASE(a_file_has_many_names) {
  file("a");
  fs::create_directory(path / "sub");
  fs::create_symlink("a", path / "link");
  fs::create_hard_link(path / "a", path / "hard");
  fs::create_symlink("nothing", path / "dangling");
  will_read("in", path / "a");
  for (const fs::path name : {"link", "hard", "sub/../a"})
    expect_bad_input([&] { will_write("--out", path / name); },
                     {"--out is ", "which is read (in "});
  will_write("--json", path / "dangling");
  expect_bad_input([&] { will_write("--out", path / "nothing"); },
                   {"--json and --out is ", "two files"});
}

BOOST_AUTO_TEST_CASE(what_is_opened_counts_whoever_named_it) {
  will_write("--out", file("a"));
  expect_bad_input([&] { read_file(path / "a"); }, {"--out is ", "/a\", which is read; "});
  read_file(file("b"));
  expect_bad_input([&] { will_write("--out", path / "b"); }, {"--out is ", "which is read; "});
  const MappedFile mapped(file("c"));
  expect_bad_input([&] { will_write("--out", path / "c"); }, {"--out is ", "which is read; "});
}

BOOST_AUTO_TEST_CASE(of_a_folder_that_is_read_only_earlier_reports_are_written_over) {
  fs::create_directories(path / "run" / "sub");
  file("run/other");
  file("run/sub/deep");
  file("run/report.json", "{\n  \"format\": \"plumbline-generate-1\"\n}\n");
  file("run/golden.json", "{\n  \"format\": \"plumbline-golden-1\"\n}\n");
  file("run/picture.svg", "<svg></svg>");
  file("runner");
  will_read("model", path / "run");
  for (const char* name : {"other", "sub/deep", "golden.json"})
    expect_bad_input([&] { will_write("--json", path / "run" / name); },
                     {"--json is ", "which lies in a folder that is read (model "});
  for (const char* name : {"new", "report.json", "picture.svg", "../runner"})
    will_write("--json", path / "run" / name);
}

BOOST_AUTO_TEST_CASE(standard_output_is_one_and_devices_are_no_files) {
  will_write("--json", "-");
  expect_bad_input([&] { will_write("--svg", "-"); }, {"--json and --svg", "at most one"});
  for (const char* option : {"--json", "--svg"}) will_write(option, "/dev/null");
  will_write("--none", "");
  will_read("in", "/dev/null");
  will_read("in", path / "missing");
  will_write("--out", path / "missing");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline
