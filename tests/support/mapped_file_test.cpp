// SPDX-License-Identifier: Apache-2.0
#include "support/mapped_file.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>

#include "support/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline {

BOOST_AUTO_TEST_SUITE(mapped_file_test)

BOOST_AUTO_TEST_CASE(the_bytes_are_those_of_the_file) {
  const test::TemporaryFolder folder;
  const std::string text(100'001, 'x');
  write_file(folder.path / "a", text + "end");
  const MappedFile file(folder.path / "a");
  BOOST_TEST_REQUIRE(file.bytes().size() == text.size() + 3);
  BOOST_TEST(std::memcmp(file.bytes().data(), (text + "end").data(), text.size() + 3) == 0);
}

BOOST_AUTO_TEST_CASE(an_empty_file_has_no_bytes) {
  const test::TemporaryFolder folder;
  write_file(folder.path / "a", "");
  BOOST_TEST(MappedFile(folder.path / "a").bytes().empty());
}

BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_by_renaming_is_still_read_as_it_was) {
  const test::TemporaryFolder folder;
  write_file(folder.path / "a", "before");
  const MappedFile file(folder.path / "a");
  write_file(folder.path / "a", "");
  BOOST_TEST(std::memcmp(file.bytes().data(), "before", 6) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_refused) {
  const test::TemporaryFolder folder;
  const auto refused = [](const std::filesystem::path& path, const char* reason) {
    expect_bad_input([&] { const MappedFile file(path); },
                     {path.filename().c_str(), "not readable", reason, "a regular file"});
  };
  refused(folder.path / "none", "No such file");
  refused(folder.path, "Is a directory");
  BOOST_TEST_REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  refused(folder.path / "pipe", "not supported");  // and nobody waits for a writer
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline
