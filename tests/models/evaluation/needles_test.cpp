// SPDX-License-Identifier: Apache-2.0
// Needles asked of scripts whose scores can be counted by hand.
#include "models/evaluation/needles.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/evaluation/needles_report.hpp"
#include "models/text/needles.hpp"
#include "scripted_answerer.hpp"
#include "tests/models/text/refusal.hpp"

BOOST_AUTO_TEST_SUITE(needles_test)

using namespace plumbline;
using namespace plumbline::evaluation;
using test::expect_refused;
using test::ScriptedAnswerer;

namespace {

const text::ByteTokenizer bytes;
const Progress quiet = [](long, const std::string&) {};

/// The values of the keys that the question names, read from the prompt as a person would.
std::vector<std::string> values_asked_for(const std::string& prompt) {
  const std::string question = prompt.substr(prompt.rfind("\nWhat "));
  std::vector<std::string> values;
  const std::string_view needle = "One of the secret ";
  for (auto at = prompt.find(needle); at != prompt.npos; at = prompt.find(needle, at + 1)) {
    const auto key = prompt.find(" of ", at + needle.size()) + 4, is = prompt.find(" is ", key);
    if (question.find(prompt.substr(key, is - key)) == question.npos) continue;
    values.push_back(prompt.substr(is + 4, prompt.find('.', is) - is - 4));
  }
  return values;
}

/// The first `count` of the values, listed.
std::string listed(const std::vector<std::string>& values, std::size_t count) {
  std::string text;
  for (std::size_t n = 0; n < std::min(count, values.size()); ++n) text += " " + values[n] + ",";
  return text;
}

std::vector<std::string> all_tasks() {
  std::vector<std::string> names;
  for (const auto& task : text::needle_tasks()) names.emplace_back(task.name);
  return names;
}

double score(const std::string& task, ScriptedAnswerer::Script script) {
  ScriptedAnswerer answerer(std::move(script));
  const NeedleSettings settings{.tasks = {task}, .lengths = {1500}, .prompts = 4, .batch = 3};
  return measure_needles(answerer, bytes, settings, quiet).cells.at(0).score;
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_finds_everything_scores_1_in_every_task_and_who_finds_one_its_share) {
  for (const std::string& task : all_tasks()) {
    BOOST_TEST_CONTEXT(task) {
      const auto finding = [&](std::size_t count) {
        return score(task,
                     [=](const std::string& p) { return listed(values_asked_for(p), count); });
      };
      const bool four = task == "multivalue" || task == "multiquery";
      BOOST_TEST(finding(4) == 1.0);
      BOOST_TEST(finding(1) == (four ? 0.25 : 1.0));
      BOOST_TEST(finding(3) == (four ? 0.75 : 1.0));
      BOOST_TEST(finding(0) == 0.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_score_is_the_mean_over_the_prompts) {
  int asked = 0;
  const double mean = score("single_2", [&](const std::string& prompt) {
    return asked++ == 2 ? listed(values_asked_for(prompt), 1) : std::string(" 1234567");
  });
  BOOST_TEST(mean == 0.25);
}

BOOST_AUTO_TEST_CASE(an_answer_counts_in_upper_case_but_not_behind_end_of_text) {
  BOOST_TEST(score("single_3", [](const std::string& prompt) {
               std::string value = values_asked_for(prompt).at(0);
               for (char& c : value) c = static_cast<char>(std::toupper(c));
               return value;
             }) == 1.0);

  // Tokens, not a text: end-of-text is 256 here, and 300 a row of the embedding without a meaning.
  struct Special final : Answerer {
    std::vector<text::Token> before;
    std::string refusal(int) const override { return ""; }
    std::vector<Tokens> answers(std::span<const Tokens> prompts, int count) override {
      std::vector<Tokens> result;
      for (const Tokens& prompt : prompts) {
        Tokens said = before;
        for (const auto t : bytes.encode(values_asked_for(bytes.decode(prompt)).at(0)))
          said.push_back(t);
        said.resize(static_cast<std::size_t>(count), 32);
        result.push_back(said);
      }
      return result;
    }
  } special;
  const NeedleSettings settings{.tasks = {"single_1"}, .lengths = {1500}, .prompts = 2};
  special.before = {300};
  BOOST_TEST(measure_needles(special, bytes, settings, quiet).cells.at(0).score == 1.0);
  special.before = {256};
  BOOST_TEST(measure_needles(special, bytes, settings, quiet).cells.at(0).score == 0.0);
}

BOOST_AUTO_TEST_CASE(tasks_and_lengths_are_reported_in_order_and_what_is_too_long_is_said) {
  ScriptedAnswerer answerer(
      [](const std::string& prompt) { return listed(values_asked_for(prompt), 2); }, 2000);
  std::vector<long> done;
  const NeedleResult result = measure_needles(
      answerer, bytes,
      {.tasks = {"multivalue", "single_1"}, .lengths = {2500, 1500}, .prompts = 3, .batch = 2},
      [&](long now, const std::string&) { done.push_back(now); });
  BOOST_TEST((done == std::vector<long>{3, 4, 5, 6, 9, 10, 11, 12}));
  const nlohmann::json json = to_json(result);
  BOOST_TEST(json["format"] == "plumbline-needles-1");
  BOOST_TEST(
      (json["scores"] ==
       nlohmann::json{
           {{"task", "multivalue"}, {"length", 2500}, {"refused", "it is too long for the script"}},
           {{"task", "multivalue"}, {"length", 1500}, {"score", 0.5}},
           {{"task", "single_1"}, {"length", 2500}, {"refused", "it is too long for the script"}},
           {{"task", "single_1"}, {"length", 1500}, {"score", 1.0}}}));
  BOOST_TEST(table(result) ==
             "task           2500     1500\n"
             "multivalue        -    0.500\n"
             "single_1          -    1.000\n"
             "2500 tokens not measured: it is too long for the script\n");
  const pictures::HeatMap map = heat_map(result, "a script");
  BOOST_TEST((map.rows == std::vector<std::string>{"multivalue", "single_1"}));
  BOOST_TEST((map.columns == std::vector<std::string>{"2500", "1500"}));
  for (const std::size_t task : {0, 1}) {
    BOOST_TEST(std::isnan(map.values.at(task).at(0)));
    BOOST_TEST(map.values.at(task).at(1) == (task == 0 ? 0.5 : 1.0));
  }
}

BOOST_AUTO_TEST_CASE(a_text_of_the_users_stands_around_the_needles) {
  NeedleSettings settings{.tasks = {"single_2"}, .lengths = {1500}, .prompts = 1};
  settings.essay = "The mason built it. The miller sold it.";
  bool seen = false;
  ScriptedAnswerer answerer([&](const std::string& prompt) {
    seen = prompt.find("The miller sold it. The mason built it.") != prompt.npos;
    return "";
  });
  measure_needles(answerer, bytes, settings, quiet);
  BOOST_TEST(seen);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_asked_is_refused_by_name) {
  NeedleSettings settings{.tasks = all_tasks(), .lengths = {1500}, .prompts = 5};
  const int shortest = shortest_length(settings, bytes);
  ScriptedAnswerer answerer([](const std::string&) { return ""; });
  settings.lengths = {shortest};
  measure_needles(answerer, bytes, settings, quiet);
  settings.lengths = {shortest - 1};
  expect_refused(
      [&] { measure_needles(answerer, bytes, settings, quiet); },
      {"lengths is " + std::to_string(shortest - 1), "at least " + std::to_string(shortest)});

  const auto refused = [](NeedleSettings s, const std::vector<std::string>& words) {
    expect_refused([&] { validate(s, bytes); }, words);
  };
  refused({.tasks = {}, .lengths = {1500}}, {"tasks is empty"});
  refused({.tasks = {"single_4"}, .lengths = {1500}}, {"single_4", "single_1, single_2"});
  refused({.tasks = {"single_1", "single_1"}, .lengths = {1500}}, {"\"single_1\" twice"});
  refused({.tasks = {"single_1"}, .lengths = {}}, {"lengths is empty"});
  refused({.tasks = {"single_1"}, .lengths = {1500}, .prompts = 0}, {"prompts is 0"});
  refused({.tasks = {"single_1"}, .lengths = {1500}, .answer_room = 0}, {"answer_room is 0"});
  refused({.tasks = {"single_1"}, .lengths = {1500}, .batch = 0}, {"batch is 0"});
}

BOOST_AUTO_TEST_SUITE_END()
