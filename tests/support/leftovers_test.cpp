// SPDX-License-Identifier: Apache-2.0
#include "support/leftovers.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "support/atomic_file.hpp"
#include "support/folder_lock.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

/// How a process ends that does this.
template <class Work>
int status_of(const Work& work) {
  const pid_t process = fork();
  if (process == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(leftovers_test, test::TemporaryFolder)

BOOST_AUTO_TEST_CASE(they_go_with_their_object_unless_they_are_kept) {
  for (const char* name : {"goes", "stays", "moved"}) write_file(path / name, "text");
  {
    const Leftover goes = Leftover::file(path / "goes");
    Leftover stays = Leftover::file(path / "stays");
    stays.keep();
    Leftover moved;
    {
      Leftover first = Leftover::file(path / "moved");
      moved = std::move(first);
    }
    BOOST_TEST(fs::exists(path / "moved"));
  }
  BOOST_TEST(!fs::exists(path / "goes"));
  BOOST_TEST(fs::exists(path / "stays"));
  BOOST_TEST(!fs::exists(path / "moved"));
}

BOOST_AUTO_TEST_CASE(folders_that_were_made_go_if_they_are_empty_and_no_others) {
  std::error_code error;
  fs::create_directory(path / "old");
  {
    auto made = make_folders(path / "old" / "a" / "b", error);
    BOOST_TEST(fs::is_directory(path / "old" / "a" / "b"));
    made.add(Leftover::file(path / "old" / "a" / "b" / "file"));
    write_file(path / "old" / "a" / "b" / "file", "text");
  }
  BOOST_TEST(fs::is_empty(path / "old"));
  {
    const auto made = make_folders(path / "c", error);
    write_file(path / "c" / "file", "text");
  }
  BOOST_TEST(fs::exists(path / "c" / "file"));
  {
    auto made = make_folders(path / "kept", error);
    made.keep();
  }
  BOOST_TEST(fs::exists(path / "kept"));
  make_folders(path / "c" / "file" / "d", error);
  BOOST_TEST(bool(error));
}

BOOST_AUTO_TEST_CASE(a_signal_takes_them_away_and_ends_the_program_as_it_would) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    write_file(path / "a", "old");
    const int status = status_of([&] {
      std::signal(signal, SIG_DFL);
      Leftover::remove_all_on_signals();
      std::error_code error;
      const auto made = make_folders(path / "b" / "c", error);
      AtomicFile committed(path / "d");
      committed.commit();
      AtomicFile file(path / "a"), other(path / "b" / "c" / "e");
      const FolderLock lock(path);
      file.write("new");
      std::raise(signal);
    });
    BOOST_TEST(WIFSIGNALED(status));
    BOOST_TEST(WTERMSIG(status) == signal);
    BOOST_TEST(read_file(path / "a") == "old");
    BOOST_TEST(fs::remove(path / "d"));
    const fs::directory_iterator entries(path);
    BOOST_TEST(std::distance(begin(entries), end(entries)) == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_signal_that_is_ignored_or_handled_stays_so) {
  BOOST_TEST(status_of([] {
               std::signal(SIGHUP, SIG_IGN);
               std::signal(SIGTERM, [](int) { _exit(7); });
               Leftover::remove_all_on_signals();
               std::raise(SIGHUP);
               std::raise(SIGTERM);
             }) == 7 << 8);
}

BOOST_AUTO_TEST_CASE(a_lock_leaves_no_file_and_holds_against_another) {
  {
    const FolderLock lock(path);
    expect_bad_input([&] { FolderLock second(path); }, {"no other process"});
  }
  BOOST_TEST(fs::is_empty(path));
  const FolderLock again(path);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline
