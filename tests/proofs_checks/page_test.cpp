// SPDX-License-Identifier: Apache-2.0
// The page of claims: well-formed, complete, loading nothing, and what is hostile in it escaped.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <regex>
#include <stdexcept>

#include "proofs_checks/page/page.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "tests/support/page.hpp"

BOOST_AUTO_TEST_SUITE(page_test)

using namespace plumbline::proofs_checks;
using plumbline::test::attribute;
using plumbline::test::Element;
using plumbline::test::Markup;
using plumbline::test::with_id;

namespace {

const ClaimsReport& report() {
  static const ClaimsReport all = run_claims();
  return all;
}
const std::string& page() {
  static const std::string text = html(report());
  return text;
}
const std::vector<Element>& elements() {
  static const std::vector<Element> all = Markup::elements(page());
  return all;
}

/// A claim whose every text tries to be markup.
ClaimsReport hostile() {
  const std::string text = "</p><script>\"x\" & 'y'</script>";
  Claim claim;
  claim.id = "bam/<b>\"&";
  claim.title = claim.source.paper = claim.source.version = claim.source.place = text;
  claim.statement = claim.condition = claim.correction = claim.proof.derivation =
      claim.mutant.statement = text;
  claim.hypotheses = {Hypothesis(text)};
  Check check;
  check.what = check.reading = text;
  check.rigorous = true;
  check.samples = 1;
  check.outcome = Outcome::refuted;
  check.counterexample = Counterexample{Sample{{text, {1, 0.1}}}, text};
  ClaimResult result;
  result.claim = claim;
  result.checks = {check};
  result.verdict = Verdict::refuted;
  result.hypotheses = {{Hypothesis(text), Origin::stated, {check}, Verdict::refuted, ""}};
  result.hypotheses[0].hypothesis.need = Need::needed;
  result.hypotheses[0].hypothesis.why = text;
  return {{result}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_reader_of_these_tests_refuses_what_is_not_well_formed) {
  const std::string doctype = "<!DOCTYPE html>\n";
  BOOST_TEST(Markup::elements(doctype + "<a b=\"c\">x<br/></a>\n").size() == 2u);
  for (const char* bad :
       {"<a><b></a></b>", "<a>", "<a b=c></a>", "<a b=\"1\" b=\"2\"></a>", "<a>x < y</a>",
        "<a>x & y</a>", "<a b=\"&\"></a>", "<a></a><b></b>", "x<a></a>", "<a b=\"<\"></a>"}) {
    BOOST_CHECK_THROW(Markup::elements(doctype + bad), std::runtime_error);
  }
}

BOOST_AUTO_TEST_CASE(the_page_is_well_formed_and_no_id_stands_there_twice) {
  plumbline::test::check_links(elements());
}

BOOST_AUTO_TEST_CASE(every_claim_stands_there_once_with_its_verdict) {
  std::map<std::string, std::string> articles;
  for (const Element& one : elements()) {
    if (one.name == "article") {
      BOOST_TEST(articles.emplace(attribute(one, "id"), attribute(one, "class")).second);
    }
  }
  BOOST_TEST(articles.size() == report().results.size());
  for (const ClaimResult& result : report().results) {
    const std::string& id = result.claim.id;
    BOOST_TEST(articles[id] ==
               "claim " + std::string(name(result.verdict)) + " " + id.substr(0, id.find('/')));
    if (result.verdict != Verdict::holds) continue;
    BOOST_TEST(with_id(elements(), id).text.find("Counterexample to") == std::string::npos, id);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_loaded_from_anywhere) {
  plumbline::test::check_loads_nothing(elements());
}

BOOST_AUTO_TEST_CASE(the_counts_are_those_of_the_verdicts) {
  std::map<Verdict, int> counts;
  for (const ClaimResult& result : report().results) ++counts[result.verdict];
  const Element& first =
      *std::find_if(elements().begin(), elements().end(),
                    [](const Element& one) { return attribute(one, "class") == "total"; });
  std::string expected = "all";
  for (const char* paper : {"bam/", "cable/", "alibi/"}) {
    expected += std::to_string(std::count_if(
        report().results.begin(), report().results.end(),
        [&](const ClaimResult& result) { return result.claim.id.starts_with(paper); }));
  }
  BOOST_TEST(first.text == expected + std::to_string(report().results.size()));
  for (const auto& [verdict, number] : counts) {
    std::string words(name(verdict));
    std::replace(words.begin(), words.end(), '_', ' ');
    const auto row = std::find_if(elements().begin(), elements().end(), [&](const Element& one) {
      return one.name == "tr" && one.text.ends_with(std::to_string(number)) &&
             one.text.starts_with(words.substr(0, 7));
    });
    BOOST_TEST((row != elements().end()), name(verdict));
  }
}

BOOST_AUTO_TEST_CASE(a_refuted_claim_has_its_numbers_and_what_is_true_instead) {
  const std::string text = with_id(elements(), "bam/z_overlap_maximal").text;
  for (const char* part :
       {"Counterexample to the statement as printed", "f=(1,0)", "g=(2,0)", "=−0.0692", "not ≥0",
        "interval, 64 bits", "interval, 168 bits", "True instead", "The overlap is not largest",
        "Hypotheses", "Derivation", "Mutant"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part);
  }
  BOOST_TEST(text.find("(double)") == std::string::npos);  // what is shown is what refutes
  const std::string lemma = with_id(elements(), "bam/lemma_4").text;
  BOOST_TEST(lemma.find("Condition") != std::string::npos);
  BOOST_TEST(page().find("bam/lemma_4") < page().find("<main>"));  // in the list at the side
  BOOST_TEST(page().find("What is refuted") < page().find("What holds under a condition"));
}

BOOST_AUTO_TEST_CASE(the_page_says_what_the_verdicts_mean) {
  for (const char* part : {"What the verdicts mean", "from the hypotheses that the paper states",
                           "a hypothesis fails that the paper does\nnot state"}) {
    BOOST_TEST(page().find(part) != std::string::npos, part);
  }
}

BOOST_AUTO_TEST_CASE(a_title_has_its_place_and_says_not_where_it_is_refuted) {
  const auto titles = [](const std::string& id) {
    std::vector<std::string> all;
    for (const Element& one : elements()) {
      if (one.name == "a" && attribute(one, "href") == "#" + id && !one.text.empty()) {
        all.push_back(one.text);
      }
    }
    return all;
  };
  // At the side, in the list of its verdict, and above the claim. (Texts link it by its id.)
  const auto refuted = titles("bam/theorem_4");
  BOOST_TEST(std::ranges::count_if(refuted, [](const std::string& text) {
               return text.starts_with("Theorem 4 Not: ");
             }) == 3);
  const auto holds = titles("bam/theorem_1");
  BOOST_TEST(std::ranges::count_if(holds, [](const std::string& text) {
               return text.starts_with("Theorem 1 An additive score");
             }) == 3);
}

BOOST_AUTO_TEST_CASE(a_claim_that_needs_an_unstated_hypothesis_has_it_and_its_witness) {
  const std::string text = with_id(elements(), "cable/rope_relative").text;
  for (const char* part :
       {"holds under a condition", "Condition. The distance is signed", "without the condition"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);
  }
}

BOOST_AUTO_TEST_CASE(every_picture_is_drawn_once_and_linked_where_it_is_needed_again) {
  std::map<std::string, int> uses;
  for (const ClaimResult& result : report().results) {
    for (const auto draw : result.claim.pictures) ++uses[draw().name];
  }
  BOOST_TEST(uses.size() == 22u);
  for (const auto& [name, number] : uses) {
    int figures = 0, links = 0;
    for (const Element& one : elements()) {
      figures += one.name == "figure" && attribute(one, "id") == "picture-" + name ? 1 : 0;
      links += attribute(one, "href") == "#picture-" + name ? 1 : 0;
    }
    BOOST_TEST(figures == 1, name);
    BOOST_TEST(links == number - 1, name);
  }
}

BOOST_AUTO_TEST_CASE(the_same_report_gives_the_same_page) {
  BOOST_TEST(
      (html(run_claims({"bam/lemma_4", "alibi"})) == html(run_claims({"bam/lemma_4", "alibi"}))));
}

BOOST_AUTO_TEST_CASE(texts_that_are_markup_stay_texts) {
  const auto all = Markup::elements(html(hostile()));
  int scripts = 0;
  for (const Element& one : all) scripts += one.name == "script" ? 1 : 0;
  BOOST_TEST(scripts == 1);
  BOOST_TEST(with_id(all, "bam/&lt;b&gt;&quot;&amp;").name == "article");
}

BOOST_AUTO_TEST_CASE(a_page_of_no_claims_is_a_page) {
  BOOST_TEST(Markup::elements(html(ClaimsReport{})).size() > 5u);
}

BOOST_AUTO_TEST_SUITE_END()
