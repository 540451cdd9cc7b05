// SPDX-License-Identifier: Apache-2.0
// plumbline tokenize: what it writes and says, and what it refuses, with nothing left behind.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cli/program.hpp"

BOOST_AUTO_TEST_SUITE(command_test)

using namespace plumbline;

namespace {

struct Fixture {
  test::TemporaryFolder folder;
  std::string text = (folder / "text.txt").string(), shard = (folder / "out.bin").string();

  Fixture() { std::ofstream(text) << "abab"; }
  std::ptrdiff_t files() const {
    const std::filesystem::directory_iterator all(folder / ".");
    return std::distance(begin(all), end(all));
  }
  /// Status 2, a message that holds these words, and no file but those that were there.
  void refused(const std::string& arguments, const std::vector<std::string>& words) const {
    const auto before = files();
    const auto run = test::plumbline("tokenize " + arguments);
    BOOST_TEST_CONTEXT(arguments << "\nstandard error: " << run.err) {
      BOOST_TEST(run.status == 2);
      BOOST_TEST(run.out == "");
      for (const auto& word : words) BOOST_TEST(run.err.find(word) != std::string::npos, word);
      BOOST_TEST(files() == before);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_text_becomes_a_shard_and_the_report_says_how_hard_it_is, Fixture) {
  const auto run = test::plumbline("tokenize --out " + shard + " " + text + " --json -");
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.err == "");
  const auto report = nlohmann::json::parse(run.out);
  BOOST_TEST(report["tokens"] == 5);
  BOOST_TEST(report["documents"] == 1);
  BOOST_TEST(report["bytes"] == 4);
  // Shares 2/5, 2/5, 1/5: 1.0549201679861442, the last bits as libm has them.
  BOOST_TEST(std::abs(report["unigram_entropy_nats"].get<double>() - 1.0549201679861442) <= 1e-14);
  BOOST_TEST(test::text_of(shard).size() == 1024 + 10);
  BOOST_TEST(test::text_of(shard).substr(1024) == std::string("\0\1a\0b\0a\0b\0", 10));
  const auto printed = test::plumbline("tokenize --out " + shard + " " + text);
  BOOST_TEST(printed.status == 0);
  BOOST_TEST(printed.out.find("5 tokens") != std::string::npos);
  BOOST_TEST(printed.out.find("1.0549") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(passkeys_to_train_on_become_a_shard, Fixture) {
  const std::string command = "tokenize --passkeys 3 --passkey-length 200 --out " + shard;
  const auto run = test::plumbline(command + " --seed 4");
  BOOST_TEST(run.status == 0, run.err);
  BOOST_TEST(run.out.find("600 tokens") != std::string::npos);
  const std::string written = test::text_of(shard);
  BOOST_TEST(written.size() == 1024 + 2 * 600);
  for (const std::size_t document : {0, 1, 2}) {
    BOOST_TEST(written.substr(1024 + 400 * document, 4) == std::string("\0\1A\0", 4));
  }
  BOOST_TEST(test::plumbline(command + " --seed 5").status == 0);
  BOOST_TEST(test::text_of(shard) != written);
  refused("--out " + shard + " --passkeys 3 " + text, {"texts", "--passkeys"});
  refused("--out " + shard + " --passkeys 0", {"--passkeys is 0", "at least 1"});
  refused("--out " + shard + " --passkeys 3 --passkey-length 100",
          {"--passkey-length is 100", "at least"});
  refused("--out " + shard + " --passkey-length 300 " + text, {"--passkeys"});
  refused("--out " + shard + " --passkeys 3 --separator %", {"--passkeys", "--separator"});
  refused("--out " + shard + " --passkeys 4194304", {"--passkeys is 4194304", "most 4194303"});
  refused("--out " + shard + " --passkeys 9223372036854775808", {"--passkeys is", "below 2^63"});
  refused("--out " + shard + " --passkeys 1e3", {"--passkeys is \"1e3\"", "a whole number"});
}

BOOST_FIXTURE_TEST_CASE(bad_input_is_refused_and_leaves_nothing_behind, Fixture) {
  const std::string out = "--out " + shard + " ";
  std::ofstream(folder / "empty.txt");
  std::filesystem::create_directory(folder / "sub");
  refused(out + (folder / "none.txt").string(), {"none.txt", "No such file"});
  refused(out + text + " " + (folder / "empty.txt").string(), {"empty.txt", "is empty"});
  refused(out + (folder / "sub").string(), {"sub", "directory"});
  refused(out + "/dev/null", {"/dev/null", "not readable"});
  refused("--out " + (folder / "no" / "out.bin").string() + " " + text,
          {"out.bin", "No such file"});
  refused("--out " + (folder / "sub").string() + " " + text, {"sub", "directory"});
  refused("--out /dev/full " + text, {"/dev/full", "No space left"});
  refused(out + "--tokenizer " + text + " " + text, {"tokenizer", "text.txt", "SentencePiece"});
  refused(out + "--tokenizer " + (folder / "none.model").string() + " " + text, {"none.model"});
  refused(out + "--tokenizer gpt2 " + text, {"tokenizer is gpt2", "byte-pair", "token shards"});
  refused(out + "--separator % " + text, {"--separator is \"%\"", "no line of the texts"});
  refused(out, {"texts"});
  refused(text, {"--out"});
  refused(out + "''", {"texts", "empty"});
}

BOOST_FIXTURE_TEST_CASE(a_text_is_not_replaced_by_its_shard, Fixture) {
  refused("--out " + text + " " + text, {"--out", "which is read (texts "});
  std::filesystem::create_symlink("text.txt", folder / "link.bin");
  refused("--out " + (folder / "link.bin").string() + " " + text, {"which is read (texts "});
  refused("--out " + shard + " --json " + text + " " + text, {"--json", "which is read (texts "});
  BOOST_TEST(test::text_of(text) == "abab");
  refused("--out " + shard + " " + text + " --json " + shard, {"for both", "two files"});
}

BOOST_AUTO_TEST_SUITE_END()
