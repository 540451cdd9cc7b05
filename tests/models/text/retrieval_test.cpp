// SPDX-License-Identifier: Apache-2.0
// Contrastive pairs, BEIR folders and nDCG.
#include <cmath>
#include <limits>

#include "models/text/beir.hpp"
#include "models/text/byte_tokenizer.hpp"
#include "models/text/pairs.hpp"
#include "refusal.hpp"
#include "support/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(retrieval_test)

using namespace plumbline;
using namespace plumbline::text;
using test::expect_refused;

namespace {

using Relevance = std::map<std::size_t, int>;

struct Fixture {
  test::TemporaryFolder folder;

  std::filesystem::path file(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder / name).parent_path());
    write_file(folder / name, bytes);
    return folder / name;
  }
  void good_task() const {
    file("corpus.jsonl",
         "{\"_id\": \"d1\", \"title\": \"One\", \"text\": \"first\"}\n"
         "{\"_id\": \"d2\", \"title\": \"\", \"text\": \"second\", \"metadata\": {\"url\": 1}}\n"
         "{\"_id\": \"d3\", \"text\": \"third\"}\n");
    file("queries.jsonl",
         "{\"_id\": \"q1\", \"text\": \"which?\"}\n{\"_id\": \"q2\", \"text\": \"who?\"}\n"
         "{\"_id\": \"q3\", \"text\": \"where?\"}\n");
    file("qrels/test.tsv",
         "query-id\tcorpus-id\tscore\nq1\td1\t2\r\nq1\td3\t1\nq1\td2\t0\n\nq2\td2\t0\nq3\td2\t1\n");
  }
  RetrievalTask task() const { return RetrievalTask(folder / ".", "test"); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(pairs_are_read_line_by_line, Fixture) {
  const Pairs pairs(file("p.jsonl",
                         "{\"query\": \"q\", \"positive\": \"p\", \"negatives\": [\"n\", \"m\"]}\n"
                         "\r\n{\"positive\": \"\\u00e9\\n\", \"query\": \"r\"}"));
  BOOST_REQUIRE(pairs.size() == 2);
  BOOST_TEST(pairs.at(0).query == "q");
  BOOST_TEST(pairs.at(0).positive == "p");
  BOOST_TEST((pairs.at(0).negatives == std::vector<std::string>{"n", "m"}));
  BOOST_TEST(pairs.at(1).query == "r");
  BOOST_TEST(pairs.at(1).positive == "\xc3\xa9\n");
  BOOST_TEST(pairs.at(1).negatives.empty());
}

BOOST_FIXTURE_TEST_CASE(a_damaged_pair_is_refused_with_file_line_and_field, Fixture) {
  const auto refused = [&](const std::string& line, const std::vector<std::string>& words) {
    const Pairs pairs(file("p.jsonl", "{\"query\": \"q\", \"positive\": \"p\"}\n\n" + line + "\n"));
    pairs.at(0);
    expect_refused([&] { pairs.at(1); }, words);
  };
  refused("{\"query\": \"q\"}", {"p.jsonl\", line 3", "positive"});
  refused("{\"query\": \"\", \"positive\": \"p\"}", {"line 3", "query", "empty"});
  refused("{\"query\": \"q\", \"positive\": 1}", {"positive", "1"});
  refused("{\"query\": \"q\", \"positive\": \"p\", \"negatives\": \"n\"}", {"negatives", "list"});
  refused("{\"query\": \"q\", \"positive\": \"p\", \"negatives\": [2]}", {"negatives", "texts"});
  refused("{\"query\": \"q\", \"positive\": \"p\", \"negatives\": [\"\"]}", {"negatives", "empty"});
  refused("{\"query\": \"q\", \"positive\": \"p\", \"x\": 1}", {"x"});
  refused("{\"query\": \"q\", \"query\": \"q\", \"positive\": \"p\"}", {"query"});
  refused("[1]", {"line 3"});
  refused("{\"query\": \"q\"", {"line 3"});
  refused("{\"query\": \"\xff\", \"positive\": \"p\"}", {"line 3"});
  expect_refused([&] { Pairs(file("p.jsonl", "\n\n")); }, {"p.jsonl", "empty"});
  expect_refused([&] { Pairs(folder / "none"); }, {"none", "No such file"});
}

BOOST_AUTO_TEST_CASE(a_text_is_framed_cut_and_padded) {
  const ByteTokenizer tokenizer;
  const auto padded = frame(tokenizer, "ab", 6);
  BOOST_TEST(padded.tokens == (std::vector<std::int32_t>{259, 'a', 'b', 260, 257, 257}));
  BOOST_TEST(padded.used == 4);
  const auto cut = frame(tokenizer, "abcde", 4);
  BOOST_TEST(cut.tokens == (std::vector<std::int32_t>{259, 'a', 'b', 260}));
  BOOST_TEST(cut.used == 4);
  BOOST_TEST(frame(tokenizer, "", 3).tokens == (std::vector<std::int32_t>{259, 260, 257}));
  expect_refused([&] { frame(tokenizer, "a", 2); }, {"length is 2", "at least 3"});
}

BOOST_FIXTURE_TEST_CASE(a_beir_folder_is_read, Fixture) {
  good_task();
  const auto read = task();
  BOOST_TEST(read.documents() == 3);
  BOOST_TEST(read.document(0) == "One first");
  BOOST_TEST(read.document(1) == "second");
  BOOST_TEST(read.document(2) == "third");
  BOOST_REQUIRE(read.queries().size() == 2);  // q2 has nothing to be found
  BOOST_TEST(read.queries()[0].id == "q1");
  BOOST_TEST(read.queries()[0].text == "which?");
  BOOST_TEST((read.queries()[0].relevance == Relevance{{0, 2}, {2, 1}, {1, 0}}));
  BOOST_TEST((read.queries()[1].relevance == Relevance{{1, 1}}));
}

BOOST_FIXTURE_TEST_CASE(a_damaged_beir_folder_is_refused_with_file_line_and_field, Fixture) {
  const auto refused = [&](const std::string& name, const std::string& bytes,
                           const std::vector<std::string>& words) {
    good_task();
    file(name, bytes);
    expect_refused([&] { task(); }, words);
  };
  const std::string header = "query-id\tcorpus-id\tscore\n";
  refused("corpus.jsonl", "{\"_id\": \"d1\"}\n", {"corpus.jsonl", "line 1", "text"});
  refused("corpus.jsonl", "{\"_id\": \"d\", \"text\": \"\"}\n{\"_id\": \"d\", \"text\": \"\"}\n",
          {"line 2", "_id", "second time", "line 1"});
  refused("queries.jsonl", "", {"queries.jsonl", "empty"});
  refused("qrels/test.tsv", "q1\td1\t1\n", {"test.tsv", "line 1", "header"});
  refused("qrels/test.tsv", header + "q9\td1\t1\n", {"line 2", "query-id", "q9"});
  refused("qrels/test.tsv", header + "q1\td9\t1\n", {"line 2", "corpus-id", "d9"});
  refused("qrels/test.tsv", header + "q1\td1\t1.5\n", {"line 2", "score", "1.5"});
  refused("qrels/test.tsv", header + "q1\td1\t\n", {"line 2", "score"});
  refused("qrels/test.tsv", header + "q1 d1 1\n", {"line 2", "three columns"});
  refused("qrels/test.tsv", header + "q1\td1\t1\t0\n", {"line 2", "three columns"});
  refused("qrels/test.tsv", header + "q1\td1\t1\nq1\td1\t2\n", {"line 3", "second judgement"});
  refused("qrels/test.tsv", header + "q1\td1\t0\n", {"without a relevant document"});
  good_task();
  expect_refused([&] { RetrievalTask(folder / ".", "dev"); }, {"dev.tsv", "No such file"});
}

BOOST_AUTO_TEST_CASE(the_best_documents_come_first_and_of_equal_ones_the_earlier) {
  const std::vector<float> scores{0.5f, 2, -1, 2, 0.5f};
  BOOST_TEST(ranking(scores, 10) == (std::vector<std::size_t>{1, 3, 0, 4, 2}));
  BOOST_TEST(ranking(scores, 3) == (std::vector<std::size_t>{1, 3, 0}));
  const std::vector<float> bad{1, std::numeric_limits<float>::quiet_NaN()};
  BOOST_CHECK_THROW(ranking(bad, 1), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(ndcg_of_rankings_small_enough_to_check_by_hand) {
  // Gains 2 and 1 at ranks 1 and 2 are ideal: 2 + 1 / log2(3).
  const Relevance relevance{{0, 2}, {2, 1}, {1, 0}, {5, -1}};
  const double third = 1 / std::log2(3.0), ideal = 2 + third;
  const auto value = [&](std::vector<std::size_t> ranked, std::size_t k = 10) {
    return ndcg(ranked, relevance, k);
  };
  // A handful of operations with numbers below 3: far below 1e-14.
  const auto close = [](double got, double expected) { return std::abs(got - expected) <= 1e-14; };
  BOOST_TEST(value({0, 2, 1}) == 1.0);
  BOOST_TEST(close(value({2, 0}), (1 + 2 * third) / ideal));
  BOOST_TEST(close(value({1, 5, 9, 0}), 2 / std::log2(5.0) / ideal));  // at rank 4
  BOOST_TEST(close(value({1, 2}), third / ideal));
  BOOST_TEST(value({2, 1, 0}, 1) == 0.5);  // of one place, the ideal is 2
  BOOST_TEST(value({1, 0, 2}, 1) == 0.0);
  BOOST_TEST(value({}) == 0.0);
  BOOST_CHECK_THROW(ndcg(std::vector<std::size_t>{0}, {{0, 0}}), std::invalid_argument);
  // Eleven relevant ones, ten places: the eleventh does not lower the ideal.
  Relevance many;
  std::vector<std::size_t> ranked;
  for (std::size_t n = 0; n < 11; ++n) many[n] = 1, ranked.push_back(n);
  BOOST_TEST(ndcg(ranked, many) == 1.0);
}

BOOST_AUTO_TEST_SUITE_END()
