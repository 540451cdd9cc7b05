// SPDX-License-Identifier: Apache-2.0
#include "support/atomic_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

/// With the number of files in it.
struct Folder : test::TemporaryFolder {
  std::ptrdiff_t files() const {
    const fs::directory_iterator entries(path);
    return std::distance(begin(entries), end(entries));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(atomic_file_test, Folder)

BOOST_AUTO_TEST_CASE(nothing_stands_under_the_name_before_the_commit) {
  AtomicFile file(path / "a");
  file.write("text");
  BOOST_TEST(!fs::exists(path / "a"));
  file.commit();
  BOOST_TEST(read_file(path / "a") == "text");
  BOOST_TEST(files() == 1);
}

BOOST_AUTO_TEST_CASE(without_a_commit_nothing_remains_and_the_old_file_stays) {
  write_file(path / "a", "old");
  {
    AtomicFile file(path / "a");
    file.write("new");
  }
  BOOST_TEST(read_file(path / "a") == "old");
  BOOST_TEST(files() == 1);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_completed_leaves_the_old_one) {
  write_file(path / "a", "old");
  // A limit on the size of files stands in for a disk that is full.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{16, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const auto write_too_much = [&] { write_file(path / "a", std::string(1000, 'x')); };
  try {
    expect_bad_input(write_too_much, {"/a\"", "not writable", "File too large"});
  } catch (...) {
    BOOST_ERROR("another exception");
  }
  setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(read_file(path / "a") == "old");
  BOOST_TEST(files() == 1);
}

BOOST_AUTO_TEST_CASE(a_pipe_that_nobody_reads_is_refused_and_not_waited_for) {
  mkfifo((path / "pipe").c_str(), 0600);
  expect_bad_input([&] { AtomicFile file(path / "pipe"); }, {"/pipe\"", "nobody reads"});
  BOOST_TEST(fs::is_fifo(path / "pipe"));
}

BOOST_AUTO_TEST_CASE(a_pipe_is_written_to_and_not_replaced) {
  // Not /dev/null: run by root, a fault here would replace the machine's own.
  mkfifo((path / "pipe").c_str(), 0600);
  const int reader = open((path / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write_file(path / "pipe", "text");
  std::string got(5, '.');
  BOOST_TEST(read(reader, got.data(), got.size()) == 4);
  BOOST_TEST(got == "text.");
  BOOST_TEST(fs::is_fifo(path / "pipe"));
  close(reader);
}

BOOST_AUTO_TEST_CASE(a_pipe_behind_the_link_of_a_descriptor_is_written_to) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  write_file("/dev/fd/" + std::to_string(ends[1]), "a report");
  char text[8];
  BOOST_TEST(read(ends[0], text, sizeof text) == 8);
  BOOST_TEST(std::string(text, 8) == "a report");
  close(ends[0]);
  close(ends[1]);
}

BOOST_AUTO_TEST_CASE(a_symbolic_link_is_followed) {
  write_file(path / "target", "old");
  fs::create_symlink("target", path / "link");
  write_file(path / "link", "new");
  BOOST_TEST(fs::is_symlink(path / "link"));
  BOOST_TEST(read_file(path / "target") == "new");
}

BOOST_AUTO_TEST_CASE(a_link_to_nothing_gets_its_target_and_stays_a_link) {
  fs::create_directory(path / "sub");
  fs::create_symlink("../target", path / "sub" / "second");
  fs::create_symlink("sub/second", path / "link");
  write_file(path / "link", "new");
  BOOST_TEST(fs::is_symlink(path / "link"));
  BOOST_TEST(fs::is_symlink(path / "sub" / "second"));
  BOOST_TEST(read_file(path / "target") == "new");
  fs::create_symlink("no/target", path / "far");
  expect_bad_input([&] { AtomicFile file(path / "far"); }, {"/far\"", "No such file"});
  fs::create_symlink("ring", path / "ring");
  expect_bad_input([&] { AtomicFile file(path / "ring"); }, {"/ring\"", "symbolic links"});
}

BOOST_AUTO_TEST_CASE(the_umask_decides_who_may_read) {
  const mode_t before = umask(022);
  write_file(path / "a", "text");
  umask(before);
  BOOST_TEST((fs::status(path / "a").permissions() == fs::perms(0644)));
}

BOOST_AUTO_TEST_CASE(paths_that_cannot_be_written_are_named_with_the_reason) {
  expect_bad_input([&] { AtomicFile file(path / "no" / "a"); }, {"/no/a\"", "No such file"});
  expect_bad_input([&] { AtomicFile file{path}; }, {"not writable", "directory"});
  expect_bad_input([&] { AtomicFile file(""); }, {"not writable"});
  expect_bad_input([&] { AtomicFile file(path / std::string(300, 'x')); }, {"File name too long"});
}

BOOST_AUTO_TEST_CASE(a_read_only_file_is_not_replaced) {
  write_file(path / "a", "old");
  if (geteuid() == 0) return;  // nothing is read-only to root
  chmod((path / "a").c_str(), 0444);
  expect_bad_input([&] { write_file(path / "a", "new"); }, {"not writable", "Permission denied"});
}

BOOST_AUTO_TEST_CASE(only_regular_files_are_read) {
  expect_bad_input([&] { read_file(path); }, {"not readable", "directory"});
  expect_bad_input([&] { read_file("/dev/zero"); }, {"/dev/zero", "regular file"});
  expect_bad_input([&] { read_file(path / "none"); }, {"/none\"", "No such file"});
  mkfifo((path / "pipe").c_str(), 0600);
  expect_bad_input([&] { read_file(path / "pipe"); }, {"/pipe\"", "regular file"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline
