// SPDX-License-Identifier: Apache-2.0
// Runs the fuzzers' corpus with the ordinary build: no clang needed.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/gpu/ptx/fuzz/launch_everything.hpp"
#include "tests/gpu/ptx/fuzz/translate_everything.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_CASE(every_input_of_the_corpus_is_run_or_refused) {
  int inputs = 0;
  Device device;
  for (const auto& entry : std::filesystem::directory_iterator(PLUMBLINE_TEST_DATA "/corpus")) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    BOOST_TEST_CONTEXT(entry.path().filename()) {
      translate_everything(device, text.str(), true);
      // A profile on a cluster; a launch of several blocks, in another order; one without checks.
      for (const std::size_t hash : {0x100u, 0x310bu, 0x000cu})
        launch_everything(text.str(), 200, hash);
    }
    ++inputs;
  }
  BOOST_TEST(inputs >= 10);
}

}  // namespace plumbline::ptx
