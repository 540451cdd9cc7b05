// SPDX-License-Identifier: Apache-2.0
// Passkeys asked of scripts whose scores can be counted by hand.
#include "models/evaluation/passkey.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "models/evaluation/lengths.hpp"
#include "models/evaluation/passkey_report.hpp"
#include "models/text/passkey.hpp"
#include "scripted_answerer.hpp"
#include "tests/models/text/refusal.hpp"

BOOST_AUTO_TEST_SUITE(passkey_test)

using namespace plumbline;
using namespace plumbline::evaluation;
using test::expect_refused;
using test::ScriptedAnswerer;

namespace {

const text::ByteTokenizer bytes;
const std::string before_key = "\nThe pass key is ", after_key = "Remember it.\n";
const Progress quiet = [](long, const std::string&) {};

std::string key_in(const std::string& prompt) {
  return prompt.substr(prompt.find(before_key) + before_key.size(), 5);
}

/// The key's depth in quarters, by the filler on both of its sides.
int quarter_of(const std::string& prompt) {
  const auto begin = prompt.find('\n') + 1, key = prompt.find(before_key);
  const auto behind = prompt.find(after_key) + after_key.size(), end = prompt.find("\nWhat is");
  const double before = static_cast<double>(key - begin), after = static_cast<double>(end - behind);
  return static_cast<int>(std::lround(4 * before / (before + after)));
}

std::string with_wrong(std::string key, std::size_t first, std::size_t count) {
  for (std::size_t n = first; n < first + count; ++n) key[n] = key[n] == '9' ? '0' : key[n] + 1;
  return key;
}

/// Right and wrong digits of the two prompts at each of five depths, in 400 bytes; in more bytes,
/// none is right.
struct Script {
  std::map<int, int> asked;  // prompts, by depth

  std::string operator()(const std::string& prompt) {
    const std::string key = key_in(prompt);
    const std::string wrong = with_wrong(key, 0, 5);
    if (prompt.size() > 400) return wrong;
    const int depth = quarter_of(prompt);
    const bool first = asked[depth]++ == 0;
    switch (depth) {
      case 0:
        return key;
      case 1:
        return first ? key : with_wrong(key, 4, 1);
      case 2:
        return wrong;
      case 3:
        return with_wrong(key, 0, 1);
      default:
        return first ? key : wrong;
    }
  }
};

PasskeyResult scripted() {
  ScriptedAnswerer answerer(Script(), 900);
  return measure_passkey(
      answerer, bytes,
      {.lengths = {400, 800, 1000}, .depths = 5, .prompts = 2, .seed = 3, .batch = 4}, quiet);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_length_and_depth_has_the_accuracy_that_the_script_gives_it) {
  const PasskeyResult result = scripted();
  BOOST_TEST_REQUIRE(result.lengths.size() == 3);
  const PasskeyLength& short_one = result.lengths[0];
  BOOST_TEST_REQUIRE(short_one.cells.size() == 5);
  const int keys[] = {2, 1, 0, 0, 1}, digits[] = {10, 9, 0, 8, 5};
  for (std::size_t depth = 0; depth < 5; ++depth) {
    BOOST_TEST(short_one.cells[depth].keys == keys[depth]);
    BOOST_TEST(short_one.cells[depth].digits == digits[depth]);
  }
  BOOST_TEST(result.accuracy(short_one) == 4 / 10.);
  BOOST_TEST(result.digit_accuracy(short_one) == 32 / 50.);
  BOOST_TEST(result.accuracy(result.lengths[1]) == 0.);
  BOOST_TEST(result.digit_accuracy(result.lengths[1]) == 0.);
  // Over the two lengths that could be asked.
  BOOST_TEST(result.accuracy_at_depth(0) == 0.5);
  BOOST_TEST(result.accuracy_at_depth(1) == 0.25);
  BOOST_TEST(result.accuracy_at_depth(3) == 0.);
}

BOOST_AUTO_TEST_CASE(the_report_has_the_same_numbers_and_says_what_was_not_measured) {
  const nlohmann::json json = to_json(scripted());
  BOOST_TEST(json["format"] == "plumbline-passkey-1");
  BOOST_TEST(json["prompts"] == 2);
  BOOST_TEST((json["depths"] == nlohmann::json{0.0, 0.25, 0.5, 0.75, 1.0}));
  BOOST_TEST(json["lengths"].size() == 3);
  BOOST_TEST(
      (json["lengths"][0] == nlohmann::json{{"length", 400},
                                            {"accuracy", 0.4},
                                            {"digit_accuracy", 0.64},
                                            {"accuracy_by_depth", {1.0, 0.5, 0.0, 0.0, 0.5}}}));
  BOOST_TEST((json["lengths"][2] ==
              nlohmann::json{{"length", 1000}, {"refused", "it is too long for the script"}}));
  BOOST_TEST((json["accuracy_by_depth"] == nlohmann::json{0.5, 0.25, 0.0, 0.0, 0.25}));
  const std::string printed = table(scripted());
  BOOST_TEST(printed.find("     400     0.400   0.640  #5..5\n") != printed.npos, printed);
  BOOST_TEST(printed.find("    1000  not measured: it is too long") != printed.npos, printed);
}

BOOST_AUTO_TEST_CASE(the_heat_map_has_the_means_beside_and_below) {
  const pictures::HeatMap map = heat_map(scripted(), "a script");
  BOOST_TEST((map.columns == std::vector<std::string>{"400", "800", "1000", "mean"}));
  BOOST_TEST(
      (map.rows == std::vector<std::string>{"0.00", "0.25", "0.50", "0.75", "1.00", "mean"}));
  const std::vector<std::vector<double>> expected{{1, 0, 0.5}, {0.5, 0, 0.25}, {0, 0, 0},
                                                  {0, 0, 0},   {0.5, 0, 0.25}, {0.4, 0, 0.2}};
  BOOST_TEST_REQUIRE(map.values.size() == expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row) {
    const auto& values = map.values[row];
    BOOST_TEST_REQUIRE(values.size() == 4);
    BOOST_TEST(values[0] == expected[row][0]);
    BOOST_TEST(values[1] == expected[row][1]);
    BOOST_TEST(std::isnan(values[2]));  // refused
    BOOST_TEST(values[3] == expected[row][2]);
  }
}

BOOST_AUTO_TEST_CASE(who_sees_the_end_of_the_prompt_only_finds_the_deep_keys_only) {
  // A prompt of 995 tokens, end-of-text first: depth 3 of 4 has its key near byte 730.
  ScriptedAnswerer answerer([](const std::string& prompt) {
    const std::string seen = prompt.substr(prompt.size() - 400);
    return seen.find(after_key) == seen.npos ? "00000" : seen.substr(seen.find(after_key) - 7, 5);
  });
  const PasskeyResult result =
      measure_passkey(answerer, bytes, {.lengths = {1000}, .depths = 5}, quiet);
  for (int depth = 0; depth < 5; ++depth) {
    BOOST_TEST(result.accuracy_at_depth(depth) == (depth < 3 ? 0. : 1.));
  }
}

BOOST_AUTO_TEST_CASE(batches_and_other_lengths_change_no_answer) {
  std::vector<std::string> keys;
  const auto keys_of = [&](std::vector<int> lengths, int batch, std::vector<int> batches) {
    keys.clear();
    ScriptedAnswerer answerer([&](const std::string& prompt) {
      keys.push_back(key_in(prompt));
      return keys.back();
    });
    long done = -1;
    const auto result = measure_passkey(
        answerer, bytes, {.lengths = lengths, .depths = 4, .prompts = 3, .seed = 5, .batch = batch},
        [&](long now, const std::string&) {
          BOOST_TEST(now >= done);
          done = now;
        });
    BOOST_TEST(done == static_cast<long>(12 * lengths.size()));
    BOOST_TEST(answerer.batches == batches, boost::test_tools::per_element());
    BOOST_TEST(result.accuracy(result.lengths.back()) == 1.);
    return keys;
  };
  const auto one_by_one = keys_of({500}, 1, std::vector<int>(12, 1));
  BOOST_TEST((keys_of({500}, 5, {5, 5, 2}) == one_by_one));
  const auto with_another = keys_of({300, 500}, 12, {12, 12});
  BOOST_TEST((std::vector(with_another.begin() + 12, with_another.end()) == one_by_one));
  BOOST_TEST((std::vector(with_another.begin(), with_another.begin() + 12) == one_by_one));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_asked_is_refused_by_name) {
  const int shortest = text::shortest_passkey_prompt(bytes);
  text::passkey_prompt(bytes, {.length = shortest});
  expect_refused([&] { text::passkey_prompt(bytes, {.length = shortest - 1}); }, {"at least"});

  const auto refused = [](PasskeySettings settings, const std::vector<std::string>& words) {
    expect_refused([&] { validate(settings, bytes); }, words);
  };
  validate(PasskeySettings{.lengths = {shortest, 500}}, bytes);
  refused({.lengths = {500, shortest - 1}},
          {"lengths is " + std::to_string(shortest - 1), "at least " + std::to_string(shortest)});
  refused({.lengths = {}}, {"lengths is empty"});
  refused({.lengths = {500, 600, 500}}, {"lengths is 500 twice"});
  refused({.lengths = {2000000000}}, {"lengths is 2000000000", "to 16777216"});
  refused({.lengths = {500}, .prompts = 2000000000}, {"prompts is 2000000000"});
  refused({.lengths = {500}, .depths = 1}, {"depths is 1", "from 2 to"});
  refused({.lengths = {500}, .prompts = 0}, {"prompts is 0", "from 1 to"});
  refused({.lengths = {500}, .batch = 0}, {"batch is 0", "from 1 to"});
}

BOOST_AUTO_TEST_CASE(usual_lengths_are_doublings_that_a_prompt_fits_into) {
  BOOST_TEST((usual_lengths(512, 203) == std::vector{512, 1024, 2048, 4096}));
  BOOST_TEST((usual_lengths(64, 203) == std::vector{256, 512}));
  BOOST_TEST((usual_lengths(8, 203) == std::vector{256}));
}

BOOST_AUTO_TEST_SUITE_END()
