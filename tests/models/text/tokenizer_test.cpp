// SPDX-License-Identifier: Apache-2.0
// Tokenizers: texts come back, special tokens give no text, damaged models are refused.
#include "models/text/tokenizer.hpp"

#include <rapidcheck.h>

#include <algorithm>

#include "models/text/byte_tokenizer.hpp"
#include "models/text/passkey.hpp"
#include "models/text/token_stream.hpp"
#include "models/text/tokenize.hpp"
#include "refusal.hpp"
#include "sentencepiece_model.hpp"
#include "support/draw.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(tokenizer_test)

using namespace plumbline;
using namespace plumbline::text;
using test::expect_refused;

namespace {

struct Fixture {
  test::TemporaryFolder folder;
  std::filesystem::path file(const std::string& name, const std::string& bytes) const {
    write_file(folder / name, bytes);
    return folder / name;
  }
};

/// Every test that needs a model uses this one: training takes a moment.
const std::filesystem::path& small_model() {
  static const test::TemporaryFolder folder;
  static const auto path = test::train_small_model(
      folder / ".",
      "--vocab_size=350 --model_type=bpe --byte_fallback=true --normalization_rule_name=identity "
      "--remove_extra_whitespaces=false --split_digits=true --pad_id=3 "
      "--user_defined_symbols=[MASK],[CLS]");
  return path;
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_bytes_come_back_from_the_byte_tokenizer) {
  const ByteTokenizer tokenizer;
  const bool holds = rc::check([&](const std::string& text) {
    const auto tokens = tokenizer.encode(text);
    RC_ASSERT(tokens.size() == text.size());
    RC_ASSERT(tokenizer.decode(tokens) == text);
  });
  BOOST_TEST(holds);
  std::string all;  // valid UTF-8 it is not
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  BOOST_TEST(tokenizer.decode(tokenizer.encode(all)) == all);
}

BOOST_AUTO_TEST_CASE(the_byte_tokenizers_tokens_are_the_bytes_and_then_the_special_ones) {
  const auto tokenizer = open_tokenizer("byte");
  BOOST_TEST((tokenizer->encode("A\xff") == std::vector<Token>{65, 255}));
  const auto special = tokenizer->specials();
  BOOST_TEST(special.end_of_text == 256);
  BOOST_TEST((special.pad == Token{257} && special.mask == Token{258} &&
              special.cls == Token{259} && special.sep == Token{260}));
  BOOST_TEST(tokenizer->vocabulary() == 261);
  BOOST_TEST(tokenizer->decode(std::vector<Token>{256, 72, 105, 257, 258, 259, 260}) == "Hi");
  BOOST_TEST((tokenizer->token_of("7") == Token{55}));
  BOOST_TEST(!tokenizer->token_of("77").has_value());
  expect_refused(
      [&] {
        tokenizer->decode(std::vector<Token>{1, 261});
      },
      {"token 1", "261", "less than"});
}

BOOST_AUTO_TEST_CASE(a_text_comes_back_from_a_model_with_bytes_for_what_it_does_not_know) {
  const auto tokenizer = open_tokenizer(small_model());
  BOOST_TEST(tokenizer->vocabulary() == 350);
  for (const std::string text :
       {"The mason waits", "caf\xc3\xa9 \xe2\x82\xac 3", "a\nb\tc  d", ""}) {
    BOOST_TEST(tokenizer->decode(tokenizer->encode(text)) == text);
  }
  const bool holds = rc::check([&] {
    const auto text = *rc::gen::container<std::string>(rc::gen::inRange(' ', '~'));
    RC_ASSERT(tokenizer->decode(tokenizer->encode(text)) == text);
  });
  BOOST_TEST(holds);
  BOOST_TEST(tokenizer->encode("The plumb line hangs").size() < 12);  // pieces, not letters
}

BOOST_AUTO_TEST_CASE(a_models_special_tokens_are_found_and_give_no_text) {
  const auto tokenizer = open_tokenizer(small_model());
  const auto special = tokenizer->specials();
  BOOST_TEST(special.end_of_text == 2);  // </s>
  BOOST_TEST((special.pad == Token{3} && special.mask == Token{4} && special.cls == Token{5}));
  BOOST_TEST(!special.sep.has_value());
  // <unk>, <s>, </s>, <pad>, [MASK], [CLS]
  BOOST_TEST((tokenizer->without_text() == std::vector<Token>{0, 1, 2, 3, 4, 5}));
  auto tokens = tokenizer->encode("The stone falls");
  tokens.insert(tokens.begin(), {2, 5});
  tokens.insert(tokens.end() - 1, {3, 4});
  BOOST_TEST(tokenizer->decode(tokens) == "The stone falls");
  for (const Token token : tokenizer->encode("</s> <s> <pad>")) {
    BOOST_TEST(token > 5);  // a text cannot name a control token
  }
}

BOOST_AUTO_TEST_CASE(digits_have_tokens_of_their_own) {
  const auto tokenizer = open_tokenizer(small_model());
  for (const char* digit : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) {
    const auto token = tokenizer->token_of(digit);
    BOOST_REQUIRE(token.has_value());
    BOOST_TEST(tokenizer->decode(std::vector<Token>{*token}) == digit);
  }
  BOOST_TEST(!tokenizer->token_of("no such piece").has_value());
  BOOST_TEST(!tokenizer->token_of("</s>").has_value());
}

BOOST_AUTO_TEST_CASE(a_models_passkey_has_a_token_for_every_digit) {
  const auto tokenizer = open_tokenizer(small_model());
  for (std::uint64_t number = 0; number < 20; ++number) {
    const auto passkey = passkey_prompt(*tokenizer, {600, 10, 20, 1, number});
    BOOST_TEST(passkey.prompt.size() + passkey.answer.size() == 600);
    BOOST_TEST(passkey.answer.size() == 5);
    BOOST_TEST(tokenizer->decode(passkey.answer) == passkey.key);
    BOOST_TEST(std::equal(passkey.answer.begin(), passkey.answer.end(),
                          passkey.prompt.begin() + passkey.key_place));
    // Parts are encoded for themselves, and this model puts a blank before each.
    BOOST_TEST(tokenizer->decode(passkey.prompt).find("is " + passkey.key + " .") !=
               std::string::npos);
  }
}

BOOST_FIXTURE_TEST_CASE(what_is_no_model_is_refused_by_its_name_and_the_reason, Fixture) {
  expect_refused([&] { open_tokenizer((folder / "none.model").string()); },
                 {"none.model", "No such file"});
  expect_refused([&] { open_tokenizer(file("empty.model", "").string()); },
                 {"empty.model", "empty", "SentencePiece model"});
  expect_refused([&] { open_tokenizer(file("text.model", "This is a text.\n").string()); },
                 {"text.model", "not readable as a model"});
  expect_refused([&] { open_tokenizer((folder / ".").string()); }, {"directory"});
}

BOOST_FIXTURE_TEST_CASE(a_damaged_model_is_refused_or_still_a_tokenizer, Fixture) {
  const std::string good = read_file(small_model());
  const Draw draw(1, 0);
  int refused = 0;
  for (std::uint32_t n = 0; n < 60; ++n) {
    std::string bytes = good;
    if (n % 2 == 0) {
      bytes.resize(draw.below(3 * n, static_cast<std::uint32_t>(good.size())));
    } else {
      // Within the pieces, where most of the file is.
      bytes[draw.below(3 * n, static_cast<std::uint32_t>(good.size()))] ^=
          static_cast<char>(1u << draw.below(3 * n + 1, 8));
    }
    try {
      const auto tokenizer = open_tokenizer(file("damaged.model", bytes).string());
      for (const Token token : tokenizer->encode("The stone falls")) {
        BOOST_TEST(token < tokenizer->vocabulary());
      }
    } catch (const BadInput&) {
      ++refused;
    }
  }
  BOOST_TEST(refused >= 30);  // every one that was cut off, at least
}

BOOST_FIXTURE_TEST_CASE(end_of_text_stands_before_every_document, Fixture) {
  const ByteTokenizer tokenizer;
  const auto both = tokenize({file("a", "ab"), file("b", "c\n")}, tokenizer);
  BOOST_TEST((both.tokens == std::vector<Token>{256, 'a', 'b', 256, 'c', '\n'}));
  BOOST_TEST(both.documents == 2);
  BOOST_TEST(both.bytes == 4);
}

BOOST_FIXTURE_TEST_CASE(a_line_that_is_the_separator_ends_a_document, Fixture) {
  const ByteTokenizer tokenizer;
  // Not "%%", "% " or " %"; the empty document between two separators is none.
  const auto path = file("fortunes", "%\na%\n%%\n%\n%\n% \n %\nb\n%");
  const auto result = tokenize({path}, tokenizer, "%");
  BOOST_TEST(tokenizer.decode(result.tokens) == "a%\n%%\n% \n %\nb\n");
  BOOST_TEST(result.documents == 2);
  BOOST_TEST(std::count(result.tokens.begin(), result.tokens.end(), Token{256}) == 2);
  BOOST_TEST(result.tokens[7] == 256);
  BOOST_TEST(result.separators == 4);
  // In one of two texts is enough; in none, it is a slip.
  BOOST_TEST(open_stream({path, file("one", "c\n")}, tokenizer, "%").size() == 19);
  expect_refused([&] { open_stream({path}, tokenizer, "%%%"); }, {"separator", "%%%", "no line"});
  expect_refused([&] { tokenize({file("s", "%\n%\n")}, tokenizer, "%"); },
                 {"nothing but separators"});
}

BOOST_FIXTURE_TEST_CASE(a_document_is_encoded_whole_by_a_model, Fixture) {
  const auto tokenizer = open_tokenizer(small_model());
  const std::string text = "The plumb line hangs.\nMy neighbour sings.\n";
  auto expected = tokenizer->encode(text);
  expected.insert(expected.begin(), 2);
  BOOST_TEST((tokenize({file("t", text)}, *tokenizer).tokens == expected));
}

BOOST_FIXTURE_TEST_CASE(texts_that_cannot_be_read_are_refused_by_name, Fixture) {
  const ByteTokenizer tokenizer;
  const auto good = file("good", "text");
  expect_refused([&] { tokenize({good, folder / "none"}, tokenizer); }, {"none\"", "No such file"});
  expect_refused([&] { tokenize({good, file("empty", "")}, tokenizer); }, {"empty\"", "text"});
  expect_refused([&] { tokenize({folder / "."}, tokenizer); }, {"directory"});
}

BOOST_AUTO_TEST_SUITE_END()
