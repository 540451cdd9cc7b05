// SPDX-License-Identifier: Apache-2.0
// Token shards: the layout byte by byte, what is refused, streams of several, and their entropy.
#include "models/text/shard.hpp"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <numeric>

#include "models/text/byte_tokenizer.hpp"
#include "models/text/entropy.hpp"
#include "models/text/token_stream.hpp"
#include "refusal.hpp"
#include "support/atomic_file.hpp"
#include "support/draw.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(shard_test)

using namespace plumbline;
using namespace plumbline::text;
using test::expect_refused;

namespace {

struct Fixture {
  test::TemporaryFolder folder;
  std::filesystem::path path = folder / "shard.bin";

  void set_int(std::size_t index, std::int32_t value) const {
    std::string bytes = read_file(path);
    std::memcpy(bytes.data() + 4 * index, &value, 4);
    set_bytes(bytes);
  }
  /// Not by write_file, which waits for the disk each time.
  void set_bytes(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
};

std::vector<Token> tokens_of(const TokenStream& stream) {
  std::vector<Token> tokens(static_cast<std::size_t>(stream.size()));
  stream.read(0, tokens);
  return tokens;
}

std::vector<Token> counting(Token first, std::size_t count) {
  std::vector<Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_layout_is_that_of_llm_c, Fixture) {
  write_shard(path, std::vector<Token>{1, 256, 65535});
  const std::string bytes = read_file(path);
  BOOST_REQUIRE(bytes.size() == 1024 + 6);
  // 20240520 = 0x0134d888, little-endian.
  BOOST_TEST(bytes.substr(0, 4) == std::string("\x88\xd8\x34\x01"));
  BOOST_TEST(bytes.substr(4, 8) == std::string("\x01\x00\x00\x00\x03\x00\x00\x00", 8));
  BOOST_TEST(bytes.substr(12, 1012) == std::string(1012, '\0'));
  BOOST_TEST(bytes.substr(1024) == std::string("\x01\x00\x00\x01\xff\xff", 6));
}

BOOST_FIXTURE_TEST_CASE(what_is_written_is_read, Fixture) {
  const auto tokens = counting(0, 5000);
  write_shard(path, tokens);
  const Shard shard(path, 5000);
  BOOST_TEST(std::vector<Token>(shard.tokens().begin(), shard.tokens().end()) == tokens);
}

BOOST_FIXTURE_TEST_CASE(a_damaged_shard_is_refused_with_field_value_and_expected, Fixture) {
  const auto refused = [&](const std::vector<std::string>& words) {
    expect_refused([&] { Shard(path, 300); }, words);
    write_shard(path, counting(0, 10));
  };
  write_shard(path, counting(0, 10));
  set_int(0, 20240801);  // llama-3's
  refused({"shard.bin", "magic is 20240801; expected 20240520"});
  set_int(1, 7);
  refused({"version is 7; expected 1"});
  set_int(2, 11);
  refused({"count is 11", "22 bytes", "has 20"});
  set_int(2, 9);
  refused({"count is 9"});
  set_int(2, 0);
  refused({"count is 0", "at least 1"});
  set_int(2, -1);
  refused({"count is -1"});
  set_bytes(read_file(path).substr(0, 1043));
  refused({"count is 10", "has 19"});
  set_bytes(read_file(path).substr(0, 1023));
  refused({"1023 bytes long", "1024"});
  set_bytes("");
  refused({"0 bytes long"});
  write_shard(path, std::vector<Token>{299, 300, 301});
  refused({"token 1 is 300", "less than", "300"});
  std::filesystem::remove(path);
  expect_refused([&] { Shard(path, 300); }, {"No such file"});
}

BOOST_FIXTURE_TEST_CASE(no_damage_is_read_as_tokens_beyond_the_vocabulary_or_the_file, Fixture) {
  write_shard(path, counting(0, 40));
  const std::string good = read_file(path);
  const Draw draw(7, 0);
  int accepted = 0, refused = 0;
  for (std::uint64_t n = 0; n < 400; ++n) {
    std::string bytes = good;
    const auto size = static_cast<std::uint32_t>(bytes.size());
    switch (draw.below(4 * n, 3)) {
      case 0:
        bytes.resize(draw.below(4 * n + 1, size + 20));
        break;
      case 1:  // the three fields that count
        bytes[draw.below(4 * n + 1, 12)] ^= static_cast<char>(1 + draw.below(4 * n + 2, 255));
        break;
      default:
        bytes[1024 + draw.below(4 * n + 1, size - 1024)] =
            static_cast<char>(draw.below(4 * n + 2, 256));
    }
    set_bytes(bytes);
    try {
      const Shard shard(path, 50);
      ++accepted;
      BOOST_TEST(shard.tokens().size() == 40);
      for (const Token token : shard.tokens()) BOOST_TEST(token < 50);
    } catch (const BadInput&) {
      ++refused;
    }
  }
  BOOST_TEST(accepted > 10);
  BOOST_TEST(refused > 200);
}

BOOST_FIXTURE_TEST_CASE(a_shard_that_cannot_be_written_leaves_nothing_behind, Fixture) {
  expect_refused([&] { write_shard(path, {}); }, {"shard.bin", "is 0", "1 to 2147483647"});
  expect_refused([&] { write_shard(folder / "no" / "a.bin", counting(0, 3)); }, {"No such file"});
  write_shard(path, counting(0, 3));
  const std::string before = read_file(path);
  // A limit on the size of a file takes the place of a full disk.
  signal(SIGXFSZ, SIG_IGN);
  rlimit limits{};
  getrlimit(RLIMIT_FSIZE, &limits);
  const rlimit small{1500, limits.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  expect_refused([&] { write_shard(path, counting(0, 1000)); }, {"shard.bin", "File too large"});
  setrlimit(RLIMIT_FSIZE, &limits);
  BOOST_TEST(read_file(path) == before);
  const std::filesystem::directory_iterator files(folder / ".");
  BOOST_TEST(std::distance(begin(files), end(files)) == 1);
}

BOOST_FIXTURE_TEST_CASE(several_shards_are_one_stream, Fixture) {
  std::vector<std::filesystem::path> paths;
  Token first = 0;
  for (const std::size_t count : {3, 1, 5}) {
    paths.push_back(folder / (std::to_string(first) + ".bin"));
    write_shard(paths.back(), counting(first, count));
    first = static_cast<Token>(first + count);
  }
  const TokenStream stream = open_stream(paths, ByteTokenizer());
  BOOST_TEST(stream.size() == 9);
  BOOST_TEST(tokens_of(stream) == counting(0, 9));
  for (std::int64_t begin = 0; begin <= 9; ++begin) {
    for (std::int64_t count = 0; begin + count <= 9; ++count) {
      std::vector<Token> tokens(static_cast<std::size_t>(count));
      stream.read(begin, tokens);
      const auto expected = counting(static_cast<Token>(begin), static_cast<std::size_t>(count));
      BOOST_TEST(tokens == expected);
      BOOST_TEST(tokens_of(stream.part(begin, count)) == expected);
    }
  }
  std::vector<Token> three(3);
  BOOST_CHECK_THROW(stream.read(7, three), std::out_of_range);
  BOOST_CHECK_THROW(stream.read(-1, three), std::out_of_range);
  BOOST_CHECK_THROW(stream.part(0, 10), std::out_of_range);
}

BOOST_FIXTURE_TEST_CASE(texts_and_shards_mix_and_a_file_in_bin_is_always_a_shard, Fixture) {
  write_shard(path, std::vector<Token>{256, 'a'});
  write_file(folder / "b.txt", "b");
  BOOST_TEST(tokens_of(open_stream({path, folder / "b.txt", path}, ByteTokenizer())) ==
             (std::vector<Token>{256, 'a', 256, 'b', 256, 'a'}));
  set_bytes("a text\n");
  expect_refused([&] { open_stream({path}, ByteTokenizer()); }, {"shard.bin", "7 bytes"});
}

BOOST_AUTO_TEST_CASE(the_validation_part_is_the_end_of_the_stream) {
  const auto [training, validation] = split(TokenStream(counting(0, 10)), 0.25);
  BOOST_TEST(tokens_of(training) == counting(0, 8));
  BOOST_TEST(tokens_of(validation) == counting(8, 2));  // floor(2.5)
  for (const double fraction : {0.0, 1.0, -0.5, std::nan(""), 0.05}) {
    expect_refused([&] { split(TokenStream(counting(0, 10)), fraction); }, {"validation"});
  }
}

BOOST_AUTO_TEST_CASE(the_unigram_entropy_of_texts_small_enough_to_check_by_hand) {
  const auto entropy = [](std::vector<Token> tokens) {
    return unigram_entropy(token_counts(TokenStream(std::move(tokens)), 8));
  };
  // Eight equally likely tokens: ln 8. One: 0. Shares 1/2, 1/4, 1/4: (3/2) ln 2. Sums of at most
  // eight terms of size < 1, each with a logarithm rounded by 1 ulp: below 1e-14.
  BOOST_TEST(std::abs(entropy({0, 1, 2, 3, 4, 5, 6, 7}) - std::log(8.0)) <= 1e-14);
  BOOST_TEST(entropy({5, 5, 5}) == 0.0);
  BOOST_TEST(std::abs(entropy({1, 2, 3, 1}) - 1.5 * std::log(2.0)) <= 1e-14);
  BOOST_TEST(perplexity(0.0) == 1.0);
  BOOST_TEST(std::abs(perplexity(std::log(8.0)) - 8.0) <= 1e-14);
  BOOST_TEST(std::abs(bits_per_byte(std::log(2.0), 3, 6) - 0.5) <= 1e-15);
  expect_refused([] { unigram_entropy({0, 0}); }, {"number of tokens"});
  expect_refused([] { token_counts(TokenStream(std::vector<Token>{8}), 8); }, {"token is 8"});
  expect_refused([] { bits_per_byte(1, 1, 0); }, {"bytes"});
}

BOOST_AUTO_TEST_SUITE_END()
