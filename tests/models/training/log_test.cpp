// SPDX-License-Identifier: Apache-2.0
#include "models/training/log.hpp"

#include <boost/test/unit_test.hpp>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(log_test)

using plumbline::read_file;
using plumbline::write_file;
using plumbline::training::Log;

BOOST_AUTO_TEST_CASE(a_log_goes_on_after_the_update_that_is_resumed) {
  const plumbline::test::TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  {
    Log log(path, 0);
    for (int n = 1; n <= 5; ++n) log.write({{"update", n}, {"loss", 1.0 / n}});
  }
  write_file(path, read_file(path) + "{\"update\": 6, \"lo");  // killed in the middle of a line
  Log log(path, 3);
  log.write({{"update", 4}, {"loss", 0.5}});
  BOOST_TEST(read_file(path) ==
             "{\"update\":1,\"loss\":1.0}\n{\"update\":2,\"loss\":0.5}\n"
             "{\"update\":3,\"loss\":0.3333333333333333}\n{\"update\":4,\"loss\":0.5}\n");
}

BOOST_AUTO_TEST_CASE(another_file_is_no_log) {
  const plumbline::test::TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  for (const char* text : {"hello\n", "{\"loss\": 1}\n", "[1]\n", "{\"update\": \"1\"}\n"}) {
    write_file(path, text);
    BOOST_CHECK_THROW(Log(path, 3), plumbline::BadInput);
    BOOST_TEST(read_file(path) == text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
