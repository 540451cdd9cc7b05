// SPDX-License-Identifier: Apache-2.0
// The claims' plain text as HTML: what is a formula, how it is set, what is escaped.
#include <boost/test/unit_test.hpp>
#include <iterator>
#include <regex>
#include <string>

#include "proofs_checks/formula/mathml.hpp"
#include "proofs_checks/formula/text.hpp"
#include "support/markup.hpp"

BOOST_AUTO_TEST_SUITE(formula_test)

using plumbline::escaped_markup;
using plumbline::proofs_checks::formula::html_of;

namespace {

/// The formula alone, without the row around it and without thin spaces.
std::string set(const std::string& text) {
  std::string html = html_of(text);
  html = std::regex_replace(html, std::regex("<mspace width=\"0.17em\"/>"), "");
  html = std::regex_replace(html, std::regex("<math><mrow>|</mrow></math>"), "");
  return std::regex_replace(html, std::regex("<(mo|mi)( [a-z]+=\"[^\"]*\")+>"), "<$1>");
}

bool has_formula(const std::string& text) {
  return html_of(text).find("<math") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(text_is_escaped_for_tags_and_for_attributes) {
  BOOST_TEST(escaped_markup("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&#39;");
  BOOST_TEST(html_of("<script>").find('<' + std::string("script")) == std::string::npos);
  BOOST_TEST(html_of("tom & jerry") == "tom &amp; jerry");
  BOOST_TEST(set("x < y").find("&lt;") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(quotation_marks_and_apostrophes_are_those_of_a_printer) {
  BOOST_TEST(html_of("\"the own\" is ALiBi's") == "“the own” is ALiBi’s");
}

BOOST_AUTO_TEST_CASE(a_subscript_and_an_exponent) {
  BOOST_TEST(set("p_ij") == "<msub><mi>p</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>");
  BOOST_TEST(set("p_cont") == "<msub><mi>p</mi><mrow><mtext>cont</mtext></mrow></msub>");
  BOOST_TEST(set("2^-10") == "<msup><mn>2</mn><mrow><mo>−</mo><mn>10</mn></mrow></msup>");
  BOOST_TEST(set("e^(2 F)") == "<msup><mi>e</mi><mrow><mn>2</mn><mi>F</mi></mrow></msup>");
  BOOST_TEST(set("m_h^2") ==
             "<msubsup><mi>m</mi><mrow><mi>h</mi></mrow><mrow><mn>2</mn></mrow></msubsup>");
  BOOST_TEST(set("theta_beta") == "<msub><mi>θ</mi><mrow><mi>β</mi></mrow></msub>");
  BOOST_TEST(set("B_i,j+1") ==
             "<msub><mi>B</mi><mrow><mi>i</mi><mo>,</mo><mi>j</mi><mo>+</mo><mn>1</mn></mrow>"
             "</msub>");
}

BOOST_AUTO_TEST_CASE(a_spaced_slash_is_a_fraction_and_a_tight_one_a_solidus) {
  BOOST_TEST(set("a_i b / Z") ==
             "<mfrac><mrow><msub><mi>a</mi><mrow><mi>i</mi></mrow></msub><mi>b</mi></mrow>"
             "<mrow><mi>Z</mi></mrow></mfrac>");
  BOOST_TEST(set("m/2") == "<mi>m</mi><mo>/</mo><mn>2</mn>");
  // The bar does what the brackets did.
  BOOST_TEST(set("x / (m d)") ==
             "<mfrac><mrow><mi>x</mi></mrow><mrow><mi>m</mi><mi>d</mi></mrow></mfrac>");
  BOOST_TEST(set("x / (m) (d)").find("<mo>(</mo>") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bars_and_angles_know_their_ends) {
  BOOST_TEST(set("-m |j - i|") ==
             "<mo>−</mo><mi>m</mi><mrow><mo>|</mo><mi>j</mi><mo>−</mo><mi>i</mi><mo>|</mo></mrow>");
  BOOST_TEST(set("<p, q>") == "<mrow><mo>⟨</mo><mi>p</mi><mo>,</mo><mi>q</mi><mo>⟩</mo></mrow>");
  BOOST_TEST(set("|x|^beta") ==
             "<msup><mrow><mo>|</mo><mi>x</mi><mo>|</mo></mrow><mrow><mi>β</mi></mrow></msup>");
}

BOOST_AUTO_TEST_CASE(a_bar_between_two_names_is_given_that) {
  BOOST_TEST(set("E_{j|i}") ==
             "<msub><mi>E</mi><mrow><mi>j</mi><mo>|</mo><mi>i</mi></mrow></msub>");
  BOOST_TEST(set("m|j|") == "<mi>m</mi><mrow><mo>|</mo><mi>j</mi><mo>|</mo></mrow>");
  BOOST_TEST(html_of("self-attention(q)").starts_with("self-attention"));
}

BOOST_AUTO_TEST_CASE(sums_roots_and_limits) {
  BOOST_TEST(set("sum_{d < n} x") ==
             "<munder><mo>∑</mo><mrow><mi>d</mi><mo>&lt;</mo><mi>n</mi></mrow></munder><mi>x</mi>");
  BOOST_TEST(set("sqrt(d)") == "<msqrt><mrow><mi>d</mi></mrow></msqrt>");
  BOOST_TEST(set("x -> infinity") == "<mi>x</mi><mo>→</mo><mn>∞</mn>");
  BOOST_TEST(set("3 x 512") == "<mn>3</mn><mo>×</mo><mn>512</mn>");
  BOOST_TEST(set("c x + 1") == "<mi>c</mi><mi>x</mi><mo>+</mo><mn>1</mn>");
}

BOOST_AUTO_TEST_CASE(prose_stays_prose) {
  for (const char* text :
       {"a sum over a set", "eqs 2-7 and Table 4", "GPT-2 Small has 12 heads", "120M and 8K",
        "appendix K of T5", "The softmax of the scores", "GGD-BAM with CABLE_NW", "section 2.3"}) {
    BOOST_TEST(!has_formula(text), text);
  }
  BOOST_TEST(has_formula("for a > 0"));
  BOOST_TEST(html_of("a window").find("<") == std::string::npos);
  BOOST_TEST(html_of("get_alibi_slopes") == "<code>get_alibi_slopes</code>");
}

BOOST_AUTO_TEST_CASE(a_mark_stays_on_the_line_of_its_formula) {
  BOOST_TEST(html_of("if m > 0, then") ==
             "if <span class=\"nobr\"><math><mrow><mi>m</mi><mo form=\"infix\">&gt;</mo><mn>0</mn>"
             "</mrow></math>,</span> then");
  BOOST_TEST(html_of("m > 0 then").find("nobr") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(claims_are_links_where_the_page_shows_them) {
  const auto shown = [](const std::string& id) { return id == "bam/z_sum"; };
  BOOST_TEST(html_of("(bam/z_sum)", shown) ==
             "(<a href=\"#bam/z_sum\"><code>bam/z_sum</code></a>)");
  BOOST_TEST(html_of("bam/other", shown) == "<code>bam/other</code>");
}

BOOST_AUTO_TEST_CASE(what_fits_no_rule_is_set_as_it_stands_and_ends) {
  for (const char* text : {"x ^", "_", "((x", "x))", "|x", "p_", "/ /", "x_{", "= = <", "{", "a^^b",
                           "- - x", "sum_", "sqrt(", "x in", "p_i,", "\xce\xb1 = \xff"}) {
    BOOST_TEST(!html_of(text).empty(), text);
  }
}

BOOST_AUTO_TEST_CASE(a_bracket_around_words_is_prose_and_one_without_partner_is_set_alone) {
  const std::string html = html_of("m = 1 (the slope m)");
  BOOST_TEST(html.find("</math> (the slope <span") != std::string::npos, html);
  using plumbline::proofs_checks::formula::Kind;
  const plumbline::proofs_checks::formula::Token bracket{Kind::close, ")", false};
  BOOST_TEST(plumbline::proofs_checks::formula::mathml({&bracket, 1}) ==
             "<math><mrow><mo>)</mo></mrow></math>");
}

BOOST_AUTO_TEST_CASE(a_long_formula_may_be_broken_before_its_relations) {
  const std::string html = html_of("p_ij = softmax(f + g)_j = p(f_j) p(g_j) + 1");
  const std::regex place("<wbr/>");
  BOOST_TEST(std::distance(std::sregex_iterator(html.begin(), html.end(), place),
                           std::sregex_iterator()) == 3);
  BOOST_TEST(html_of("x = y").find("<wbr/>") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
