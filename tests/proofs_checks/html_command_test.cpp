// SPDX-License-Identifier: Apache-2.0
// plumbline claims --html DIR: what it writes, and the folders that it refuses; and claims
// --coverage.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/program.hpp"

BOOST_AUTO_TEST_SUITE(html_command_test)

using plumbline::test::ProgramRun;
using plumbline::test::TemporaryFolder;
using plumbline::test::text_of;
namespace fs = std::filesystem;

namespace {

ProgramRun claims(const fs::path& folder, const std::string& more = "") {
  return plumbline::test::plumbline("claims alibi/eight_slopes " + more + " --html '" +
                                    folder.string() + "'");
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

int files_in(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_page_is_written_into_a_new_folder_beside_the_table) {
  const TemporaryFolder temporary;
  const ProgramRun run = claims(temporary / "new");
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.out.find("alibi/eight_slopes") != std::string::npos);
  BOOST_TEST(text_of(temporary / "new/index.html").find("id=\"alibi/eight_slopes\"") !=
             std::string::npos);
  BOOST_TEST(files_in(temporary / "new") == 1);
}

BOOST_AUTO_TEST_CASE(an_earlier_page_is_replaced_and_other_files_stay) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "pages";
  BOOST_TEST(claims(folder, "alibi/geometric_slopes").status == 0);
  write(folder / "mine.txt", "mine");
  BOOST_TEST(claims(folder).status == 0);
  BOOST_TEST(text_of(folder / "index.html").find("id=\"alibi/geometric_slopes\"") ==
             std::string::npos);
  BOOST_TEST(text_of(folder / "mine.txt") == "mine");
  BOOST_TEST(files_in(folder) == 2);
}

BOOST_AUTO_TEST_CASE(a_page_of_somebody_else_is_not_lost) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "site";
  fs::create_directory(folder);
  write(folder / "index.html", "<html>mine</html>");
  const ProgramRun run = claims(folder);
  BOOST_TEST(run.status == 2);
  BOOST_TEST(run.err.find("whose index.html this program did not write") != std::string::npos,
             run.err);
  BOOST_TEST(text_of(folder / "index.html") == "<html>mine</html>");
  BOOST_TEST(files_in(folder) == 1);
  BOOST_TEST(run.out.empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_folder_is_bad_input) {
  const TemporaryFolder temporary;
  write(temporary / "file", "text");
  const ProgramRun file = claims(temporary / "file");
  BOOST_TEST(file.status == 2);
  BOOST_TEST(file.err.find("which is not a folder") != std::string::npos, file.err);
  BOOST_TEST(text_of(temporary / "file") == "text");
  const ProgramRun missing = claims(temporary / "no/such");
  BOOST_TEST(missing.status == 2);
  BOOST_TEST(missing.err.find("No such file or directory") != std::string::npos, missing.err);
  BOOST_TEST(!fs::exists(temporary / "no"));
  BOOST_TEST(plumbline::test::plumbline("claims --html ''").status == 2);
  // An index.html that is a folder.
  fs::create_directories(temporary / "odd/index.html");
  BOOST_TEST(claims(temporary / "odd").status == 2);
}

BOOST_AUTO_TEST_CASE(a_folder_where_nothing_can_be_written_is_bad_input) {
  BOOST_TEST(claims("/proc/plumbline").status == 2);
  const ProgramRun run = claims("/proc");
  BOOST_TEST(run.status == 2);
  BOOST_TEST(run.err.find("--html") != std::string::npos, run.err);
}

BOOST_AUTO_TEST_CASE(a_run_that_fails_leaves_no_folder) {
  const TemporaryFolder temporary;
  const ProgramRun run =
      plumbline::test::plumbline("claims no/such --html '" + (temporary / "new").string() + "'");
  BOOST_TEST(run.status == 2);
  BOOST_TEST(!fs::exists(temporary / "new"));
}

BOOST_AUTO_TEST_CASE(json_on_standard_output_and_a_page_go_together) {
  const TemporaryFolder temporary;
  const ProgramRun run = claims(temporary / "new", "--json -");
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.out.front() == '{');
  BOOST_TEST(fs::exists(temporary / "new/index.html"));
}

BOOST_AUTO_TEST_CASE(a_claim_after_an_option_is_not_taken_for_its_file) {
  for (const char* words : {"--json alibi", "--junit alibi/eight_slopes", "--markdown bam"}) {
    const ProgramRun run = plumbline::test::plumbline(std::string("claims ") + words);
    BOOST_TEST(run.status == 2, words);
    BOOST_TEST(run.err.find("the claims stand before the option") != std::string::npos, run.err);
  }
}

BOOST_AUTO_TEST_CASE(the_index_is_printed_or_written_and_what_does_not_go_with_it_is_refused) {
  const auto coverage = [](const std::string& more) {
    return plumbline::test::plumbline("claims --coverage " + more);
  };
  const ProgramRun all = coverage("alibi/");
  BOOST_TEST(all.status == 0);
  BOOST_TEST(all.out.find("alibi/eight_slopes") != std::string::npos);
  BOOST_TEST(all.out.find(" passages: ") != std::string::npos);
  const ProgramRun json = coverage("alibi/eight_slopes --json -");
  BOOST_TEST(json.status == 0);
  BOOST_TEST(json.out.starts_with("{"));
  BOOST_TEST(json.out.find("\"alibi/eight_slopes\"") != std::string::npos);
  const ProgramRun unknown = coverage("alibi/nine_slopes");
  BOOST_TEST(unknown.status == 2);
  BOOST_TEST(unknown.err.find("claim is \"alibi/nine_slopes\"; expected a paper") !=
             std::string::npos);
  for (const char* other : {"--html page", "--junit -", "--markdown -"}) {
    const ProgramRun refused = coverage(other);
    BOOST_TEST(refused.status == 2, other);
    BOOST_TEST(refused.err.find("--coverage excludes --") != std::string::npos, refused.err);
  }
}

BOOST_AUTO_TEST_SUITE_END()
