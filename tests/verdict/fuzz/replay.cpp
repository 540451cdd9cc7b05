// SPDX-License-Identifier: Apache-2.0
// Runs the fuzzer's corpus through the parser with the ordinary build: no clang needed.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "support/atomic_file.hpp"
#include "tests/verdict/fuzz/parse_everything.hpp"

namespace plumbline::cases {
namespace {

bool accepts(auto&& parse) {
  try {
    parse();
    return true;
  } catch (const BadInput&) {
    return false;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_input_of_the_corpus_is_accepted_or_refused_as_its_name_says) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PLUMBLINE_TEST_DATA "/corpus")) {
    const std::string name = entry.path().filename(), text = read_file(entry.path());
    const auto bytes = std::as_bytes(std::span(text));
    BOOST_TEST_CONTEXT(name) {
      parse_everything(bytes);
      BOOST_TEST(accepts([&] { case_from_bytes(bytes, name); }) == name.starts_with("case-"));
      BOOST_TEST(accepts([&] { outputs_from_bytes(bytes, name, fuzzed_outputs_case()); }) ==
                 name.starts_with("outputs-"));
    }
    ++inputs;
  }
  BOOST_TEST(inputs >= 37);
}

BOOST_AUTO_TEST_CASE(every_prefix_and_every_flipped_bit_of_a_good_file_is_survived) {
  for (const char* file : {"/corpus/case-everything", "/corpus/case-wide-values"}) {
    const std::string good = read_file(std::string(PLUMBLINE_TEST_DATA) + file);
    const auto parse = [](const std::string& text) {
      parse_everything(std::as_bytes(std::span(text)));
    };
    for (std::size_t size = 0; size < good.size(); ++size) {
      parse(good.substr(0, size));
      BOOST_REQUIRE(
          !accepts([&] { parse_safetensors(std::as_bytes(std::span(good).first(size))); }));
    }
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      parse(flipped);
    }
  }
}

}  // namespace plumbline::cases
