// SPDX-License-Identifier: Apache-2.0
// Passkeys and needles: what is asked for is there, once, where it should be.
#include "models/text/needles.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "models/text/byte_tokenizer.hpp"
#include "models/text/filler.hpp"
#include "models/text/passkey.hpp"
#include "refusal.hpp"

BOOST_AUTO_TEST_SUITE(needles_test)

using namespace plumbline;
using namespace plumbline::text;
using test::expect_refused;

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_passkey_prompt_has_the_length_and_the_key_that_it_says) {
  const ByteTokenizer tokenizer;
  std::set<std::string> keys;
  for (const int length : {400, 513, 2048}) {
    for (int depth = 0; depth < 20; ++depth) {
      PasskeyOptions options{length, depth, 20, 7, static_cast<std::uint64_t>(length + depth)};
      const auto passkey = passkey_prompt(tokenizer, options);
      BOOST_TEST(passkey.prompt.size() + passkey.answer.size() == static_cast<std::size_t>(length));
      BOOST_TEST(passkey.prompt.front() == 256);
      BOOST_TEST(tokenizer.decode(passkey.answer) == passkey.key);
      BOOST_TEST((passkey.key >= "10000" && passkey.key <= "99999" && passkey.key.size() == 5));
      const std::string text = tokenizer.decode(passkey.prompt);
      BOOST_TEST(occurrences(text, passkey.key) == 1);
      // The decoded text lacks end-of-text, which is the first token.
      BOOST_TEST(text.substr(static_cast<std::size_t>(passkey.key_place) - 1, 5) == passkey.key);
      BOOST_TEST(text.ends_with("The pass key is "));
      keys.insert(passkey.key);
    }
  }
  BOOST_TEST(keys.size() >= 58);  // of 60 out of 90,000: two alike by chance in 2 % of seeds
}

BOOST_AUTO_TEST_CASE(twenty_depths_are_evenly_spaced_from_all_filler_behind_to_all_before) {
  const ByteTokenizer tokenizer;
  const int length = 3000;
  std::vector<int> places;
  for (int depth = 0; depth < 20; ++depth) {
    places.push_back(passkey_prompt(tokenizer, {length, depth, 20, 1, 0}).key_place);
  }
  const std::string front =
      tokenizer.decode(passkey_prompt(tokenizer, {length, 0, 20, 1, 0}).prompt);
  const std::string back =
      tokenizer.decode(passkey_prompt(tokenizer, {length, 19, 20, 1, 0}).prompt);
  BOOST_TEST(front.find("\nThe pass key is ") < front.find("river"));
  BOOST_TEST(back.rfind("river") < back.find("\nThe pass key is "));
  const double step = (places.back() - places.front()) / 19.0;
  for (int depth = 0; depth < 20; ++depth) {
    BOOST_TEST(std::abs(places[depth] - places[0] - depth * step) <= 0.5);  // rounded once
  }
  // The filler is one text that the key interrupts.
  const auto without_key = [](std::string text) {
    const auto begin = text.find("\nThe pass key is"), end = text.find("Remember it.\n");
    return text.erase(begin, end + 13 - begin);
  };
  for (int depth = 0; depth < 20; ++depth) {
    const auto passkey = passkey_prompt(tokenizer, {length, depth, 20, 1, 0});
    BOOST_TEST(without_key(tokenizer.decode(passkey.prompt)) == without_key(front));
  }
}

BOOST_AUTO_TEST_CASE(a_passkey_prompt_depends_on_its_options_only) {
  const ByteTokenizer tokenizer;
  const auto key = [&](std::uint64_t seed, std::uint64_t number) {
    return passkey_prompt(tokenizer, {500, 3, 20, seed, number}).key;
  };
  BOOST_TEST(key(1, 2) == key(1, 2));
  BOOST_TEST(key(1, 2) != key(1, 3));
  BOOST_TEST(key(1, 2) != key(2, 2));
  expect_refused(
      [&] {
        passkey_prompt(tokenizer, {100, 0, 20, 1, 0});
      },
      {"length is 100", "at least"});
  expect_refused([&] { passkey_prompt(tokenizer, {-5, 0, 20, 1, 0}); }, {"length is -5"});
  for (const int depth : {-1, 20}) {
    expect_refused([&] { passkey_prompt(tokenizer, {500, depth, 20, 1, 0}); }, {"depth"});
  }
}

BOOST_AUTO_TEST_CASE(passkeys_to_train_on_are_prompts_with_their_answers_at_all_depths) {
  const ByteTokenizer tokenizer;
  const int length = 300, count = 40, depths = 4;
  PasskeyOptions options{length, 0, depths, 7, 3};
  const auto documents = passkey_documents(tokenizer, options, count);
  BOOST_TEST_REQUIRE(documents.size() == static_cast<std::size_t>(length * count));
  std::set<int> seen;
  for (int n = 0; n < count; ++n) {
    const std::vector<Token> document(documents.begin() + n * length,
                                      documents.begin() + (n + 1) * length);
    // One of the prompts of this number, which differ in their depths.
    options.number = static_cast<std::uint64_t>(3 + n);
    for (options.depth = 0; options.depth < depths; ++options.depth) {
      const auto passkey = passkey_prompt(tokenizer, options);
      auto expected = passkey.prompt;
      expected.insert(expected.end(), passkey.answer.begin(), passkey.answer.end());
      if (document == expected) break;
    }
    BOOST_TEST(options.depth < depths);
    seen.insert(options.depth);
  }
  BOOST_TEST(seen.size() == 4u);
  expect_refused([&] { passkey_documents(tokenizer, options, 0); }, {"count is 0", "at least 1"});
}

BOOST_AUTO_TEST_CASE(every_needle_is_in_its_haystack_once_and_the_question_asks_for_it) {
  const ByteTokenizer tokenizer;
  for (const NeedleTask& task : needle_tasks()) {
    BOOST_TEST_CONTEXT(task.name) {
      const auto prompt = needle_prompt(tokenizer, task, {6000, 128, 3, 0, {}, {}});
      BOOST_TEST(prompt.tokens.size() + 128 <= 6000u);
      BOOST_TEST(prompt.tokens.size() + 128 > 5700u);  // another sentence would not fit
      BOOST_TEST(prompt.tokens.front() == 256);
      BOOST_TEST(tokenizer.decode(prompt.tokens) == prompt.text);
      BOOST_TEST(prompt.answers.size() == static_cast<std::size_t>(task.queries * task.values));
      const std::string form = task.value == Secret::uuids
                                   ? "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                     "[0-9a-f]{12}"
                                   : "[1-9][0-9]{6}";
      for (const std::string& answer : prompt.answers) {
        BOOST_TEST(std::regex_match(answer, std::regex(form)), answer);
        BOOST_TEST(occurrences(prompt.text, answer) == 1);
        // The key before it is one that the question names, twice.
        const auto end = prompt.text.rfind(" is " + answer);
        const auto begin = prompt.text.rfind(" of ", end) + 4;
        const std::string key = prompt.text.substr(begin, end - begin);
        const std::string question = prompt.text.substr(prompt.text.find("\nWhat "));
        BOOST_TEST(occurrences(question, key) == 2);
        BOOST_TEST(occurrences(prompt.text, key) == static_cast<std::size_t>(2 + task.values));
      }
      const auto sentences = occurrences(prompt.text, "One of the secret ");
      if (task.haystack == Haystack::needles) {
        BOOST_TEST(sentences > 40);
      } else {
        BOOST_TEST(sentences == static_cast<std::size_t>(task.keys * task.values));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(as_many_sentences_as_fit_stand_in_the_haystack_and_no_more) {
  const ByteTokenizer tokenizer;
  std::size_t full = 0;
  const std::size_t sentence = noise_sentence.size() + 1;
  for (std::size_t length = 2000; length < 2000 + sentence; ++length) {
    const NeedleOptions options{static_cast<int>(length), 128, 1, 0, {}, {}};
    const auto prompt = needle_prompt(tokenizer, needle_task("single_1"), options);
    BOOST_TEST(prompt.tokens.size() + 128 <= length);
    BOOST_TEST(prompt.tokens.size() + 128 + sentence > length);
    full += prompt.tokens.size() + 128 == length;
  }
  BOOST_TEST(full == 1);
}

BOOST_AUTO_TEST_CASE(the_tasks_are_rulers_eight) {
  std::vector<std::string> names;
  for (const auto& task : needle_tasks()) names.emplace_back(task.name);
  BOOST_TEST(
      (names == std::vector<std::string>{"single_1", "single_2", "single_3", "multikey_1",
                                         "multikey_2", "multikey_3", "multivalue", "multiquery"}));
  BOOST_TEST(needle_task("multiquery").queries == 4);
  expect_refused([] { needle_task("single_4"); }, {"single_4", "single_1, single_2"});
}

BOOST_AUTO_TEST_CASE(a_needle_stands_at_the_depth_that_is_asked_for) {
  const ByteTokenizer tokenizer;
  for (const char* name : {"single_1", "single_2", "multikey_2"}) {
    std::vector<double> places;
    for (const double depth : {0.0, 0.5, 1.0}) {
      NeedleOptions options{4000, 128, 1, 0, depth, {}};
      const auto prompt = needle_prompt(tokenizer, needle_task(name), options);
      places.push_back(static_cast<double>(prompt.text.find(prompt.answers[0])) /
                       static_cast<double>(prompt.text.size()));
    }
    BOOST_TEST(places[0] < 0.1);
    BOOST_TEST((places[1] > 0.4 && places[1] < 0.6));
    BOOST_TEST(places[2] > 0.9);
  }
  expect_refused(
      [&] {
        needle_prompt(tokenizer, needle_task("multivalue"), {4000, 128, 1, 0, 0.5, {}});
      },
      {"depth", "one needle"});
  expect_refused(
      [&] {
        needle_prompt(tokenizer, needle_task("single_1"), {4000, 128, 1, 0, 1.5, {}});
      },
      {"depth is 1.5"});
}

BOOST_AUTO_TEST_CASE(prompts_of_other_numbers_and_seeds_have_other_secrets) {
  const ByteTokenizer tokenizer;
  const auto text = [&](std::uint64_t seed, std::uint64_t number) {
    return needle_prompt(tokenizer, needle_task("multikey_1"), {3000, 128, seed, number, {}, {}})
        .text;
  };
  BOOST_TEST(text(1, 0) == text(1, 0));
  BOOST_TEST(text(1, 0) != text(1, 1));
  BOOST_TEST(text(1, 0) != text(2, 0));
}

BOOST_AUTO_TEST_CASE(the_haystack_may_be_a_text_of_the_users) {
  const ByteTokenizer tokenizer;
  const std::string essay = "Alpha stood first.  Beta\ncame 3.5 later! Was gamma last? End";
  BOOST_TEST(
      (sentences_of(essay) == std::vector<std::string>{"Alpha stood first.", "Beta came 3.5 later!",
                                                       "Was gamma last?", "End"}));
  const auto prompt =
      needle_prompt(tokenizer, needle_task("single_2"), {2000, 128, 1, 0, 0.0, essay});
  BOOST_TEST(occurrences(prompt.text, "Alpha stood first. Beta came 3.5 later!") > 5);
  expect_refused(
      [&] {
        needle_prompt(tokenizer, needle_task("single_2"), {2000, 128, 1, 0, 0.0, " "});
      },
      {"essay"});
  expect_refused(
      [&] {
        needle_prompt(tokenizer, needle_task("single_2"), {300, 128, 1, 0, {}, {}});
      },
      {"length is 300", "at least", "single_2"});
}

BOOST_AUTO_TEST_CASE(secrets_do_not_repeat) {
  const Secrets secrets(5);
  std::set<std::string> words, numbers, uuids;
  for (std::int64_t n = 0; n < 65536; ++n) words.insert(secrets.words(n));
  for (std::int64_t n = 0; n < 5000; ++n) {
    numbers.insert(secrets.number(n));
    uuids.insert(secrets.uuid(n));
  }
  BOOST_TEST(words.size() == 65536);
  BOOST_TEST(numbers.size() == 5000);
  BOOST_TEST(uuids.size() == 5000);
  expect_refused([&] { secrets.words(65536); }, {"number of names"});
}

BOOST_AUTO_TEST_CASE(the_share_of_the_answers_found_counts) {
  BOOST_TEST(answers_found({"abc", "123"}, "It is 123.") == 0.5);
  BOOST_TEST(answers_found({"abc"}, "ABC") == 1.0);
  BOOST_TEST(answers_found({"1234567"}, "123456") == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
