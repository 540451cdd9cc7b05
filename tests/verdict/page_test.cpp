// SPDX-License-Identifier: Apache-2.0
// The page of a check: well-formed, loading nothing, saying what the JSON report says; and the
// distributions and maps that it draws, counted by hand.
#include "verdict/report/page/page.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/page.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/method_inputs.hpp"

BOOST_AUTO_TEST_SUITE(page_test)

using namespace plumbline;
using test::Element;
using test::Markup;
using verdict::Distribution;

namespace {

verdict::Kernel kernel(const std::string& name) {
  for (const auto& kernel : verdict::load_kernel_library(TEST_KERNELS).kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

verdict::CellResult check(const std::string& name) {
  return verdict::check_cell(kernel(name), cases::Pass::forward, PLUMBLINE_NOPE,
                             cases::Format::fp32, 20, 3, 2, [](int) {});
}

/// One kernel that is right, one that is wrong from five keys on, and one that gives no outputs.
const verdict::VerifyReport& report() {
  static const verdict::VerifyReport report = [] {
    verdict::VerifyReport made;
    made.library = "test kernels";
    made.device = "CPU <&>";
    made.kernel_option = "--kernel ./mine.so";
    made.seconds = 12.5;
    made.cells = {check("right"), check("drops_the_last_key_from_five_on"), check("gives_up")};
    return made;
  }();
  return report;
}

const std::vector<Element>& elements() {
  static const std::vector<Element> all = Markup::elements(verdict::to_html(report()));
  return all;
}

const Element& with_id(const std::string& id) { return test::with_id(elements(), id); }

/// The text with XML's entities resolved.
std::string plain(std::string text) {
  for (const auto& [entity, character] :
       {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""),
        std::pair("&#39;", "'"), std::pair("&amp;", "&")}) {
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at)) {
      text.replace(at, std::string(entity).size(), character);
    }
  }
  return text;
}

long elements_of(const Distribution& distribution) {
  long total = 0;
  for (int bin = 0; bin <= Distribution::last_bin; ++bin) total += distribution.count(bin);
  return total;
}

double largest(const verdict::ErrorMap& map) {
  double largest = 0;
  for (const auto& row : map.cells) {
    for (const double value : row) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_ratio_falls_into_its_bin_and_none_beyond_1_into_one_within) {
  const auto bin_of = [](double ratio) {
    Distribution distribution;
    distribution.add(ratio);
    int found = -1;
    for (int bin = 0; bin <= Distribution::last_bin; ++bin) {
      if (distribution.count(bin) == 1) found = bin;
    }
    return found;
  };
  // Eight bins a decade from 10^-6 to 10^2, one for 0 and one for what is larger.
  BOOST_TEST(Distribution::last_bin == 65);
  BOOST_TEST(bin_of(0) == 0);
  BOOST_TEST(bin_of(1e-300) == 1);
  BOOST_TEST(bin_of(1e-6) == 1);
  BOOST_TEST(bin_of(1.4e-6) == 2);  // above 10^(-6 + 1/8) = 1.33e-6
  BOOST_TEST(bin_of(0.74) == 47);   // 10^(-1/8) = 0.7499
  BOOST_TEST(bin_of(0.76) == 48);
  BOOST_TEST(bin_of(1) == 48);
  BOOST_TEST(bin_of(std::nextafter(1.0, 2.0)) == 49);
  BOOST_TEST(bin_of(99) == 64);
  BOOST_TEST(bin_of(101) == 65);
  BOOST_TEST(bin_of(INFINITY) == 65);
  BOOST_TEST(bin_of(NAN) == 65);
  BOOST_TEST(Distribution::upper_edge(48) == 1.0);
}

BOOST_AUTO_TEST_CASE(a_map_shows_the_slice_of_the_worst_element) {
  verdict::OutputJudgement o{"o", {"batch", "head", "query", "component"}};
  o.shape = {2, 2, 2, 3};
  for (int n = 0; n < 24; ++n) o.ratios.push_back(n);
  o.worst.index = {1, 0, 1, 2};
  const auto map = verdict::error_map(o);
  BOOST_TEST(map.slice == "batch 1, head 0");
  BOOST_TEST(map.row_axis == "query");
  BOOST_TEST(map.column_axis == "component");
  BOOST_TEST((map.cells == std::vector<std::vector<double>>{{12, 13, 14}, {15, 16, 17}}));

  verdict::OutputJudgement weights{"grad_hidden_bias", {"unit"}};
  weights.shape = {40};  // on 32 cells: floor(n * 32 / 40) is 0 for units 0 and 1, 31 for 39
  for (int n = 0; n < 40; ++n) weights.ratios.push_back(n);
  const auto row = verdict::error_map(weights);
  BOOST_TEST(row.slice == "");
  BOOST_TEST(row.row_axis == "");
  BOOST_REQUIRE(row.cells.size() == 1u);
  BOOST_REQUIRE(row.cells[0].size() == 32u);
  BOOST_TEST(row.cells[0][0] == 1);
  BOOST_TEST(row.cells[0][1] == 2);
  BOOST_TEST(row.cells[0][31] == 39);

  weights.axes = {"key", "component"};
  weights.shape = {40, 1};
  const auto column = verdict::error_map(weights);
  BOOST_REQUIRE(column.cells.size() == 32u);
  BOOST_TEST(column.cells[0][0] == 1);
  BOOST_TEST(column.cells[1][0] == 2);
  BOOST_TEST(column.cells[31][0] == 39);

  BOOST_TEST(verdict::error_map({"grad_c", {}}).cells.empty());
}

BOOST_AUTO_TEST_CASE(every_output_has_as_many_elements_as_its_axes_say) {
  const auto size_of = [](const auto& shape) {
    long size = 1;
    for (const auto length : shape) size *= length;
    return size;
  };
  for (const cases::Bias bias :
       {cases::Bias(PLUMBLINE_CABLE), cases::Bias(PLUMBLINE_FIRE), cases::Bias(PLUMBLINE_T5),
        cases::Bias(PLUMBLINE_COPE), cases::Bias(PLUMBLINE_ALIBI, 1),
        cases::Bias(PLUMBLINE_ALIBI, 2)}) {
    cases::Spec spec;
    spec.pass = cases::Pass::backward;
    spec.bias = bias;
    spec.batch = 2;
    spec.heads = spec.kv_heads = 3;
    spec.queries = spec.keys = 4;
    spec.head_dim = 8;
    const auto the_case = cases::generate(spec);
    const auto zeros = [](long size) { return std::vector<float>(static_cast<std::size_t>(size)); };
    cases::Outputs outputs;
    outputs.o = outputs.grad_q = outputs.grad_k = outputs.grad_v = zeros(2 * 3 * 4 * 8);
    outputs.lse = zeros(2 * 3 * 4);
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      const auto parameter = static_cast<plumbline_parameter>(n);
      if (!cases::has_gradient(spec, parameter)) continue;
      outputs.grad_parameters[static_cast<std::size_t>(n)] =
          zeros(size_of(cases::shape_of(spec, the_case.options, parameter)));
    }
    const auto judgement = verdict::judge(the_case, cases::undeclared_contract(), outputs, 1);
    for (const auto& output : judgement.outputs) {
      BOOST_TEST_CONTEXT(cases::name(bias) << " " << output.name) {
        BOOST_TEST(output.axes.size() == output.shape.size());
        BOOST_TEST(size_of(output.shape) == output.elements);
        BOOST_TEST(output.ratios.size() == static_cast<std::size_t>(output.elements));
        // The worst element's index leads to its ratio.
        std::size_t at = 0;
        for (std::size_t axis = 0; axis < output.axes.size(); ++axis) {
          at = at * static_cast<std::size_t>(output.shape[axis]) +
               static_cast<std::size_t>(output.worst.index[axis]);
        }
        BOOST_TEST(output.ratios.at(at) == output.worst.ratio);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_element_of_every_case_is_counted_and_the_worst_is_on_the_map) {
  for (const auto& cell : report().cells) {
    for (const auto& [output, summary] : cell.outputs) {
      BOOST_TEST_CONTEXT(cell.kernel << " " << output) {
        BOOST_TEST(elements_of(summary.distribution) == summary.elements);
        BOOST_TEST(largest(summary.worst_map) == summary.worst);
        const auto alone = verdict::check_spec(kernel(cell.kernel), summary.worst_case, 1);
        BOOST_TEST(alone.outputs.at(output).worst == summary.worst);
      }
    }
  }
  const auto& wrong = report().cells[1];
  BOOST_REQUIRE(wrong.counterexample.has_value());
  for (const auto& output : wrong.counterexample->judgement.outputs) {
    const auto fail = std::count_if(output.ratios.begin(), output.ratios.end(),
                                    [](double ratio) { return !(ratio <= 1); });
    BOOST_TEST(fail == output.failed, output.name);
  }
}

BOOST_AUTO_TEST_CASE(the_page_says_what_the_json_report_says) {
  const auto json = verdict::to_json(report());
  BOOST_TEST(elements()[0].name == "html");
  const Element& heading = *std::find_if(elements().begin(), elements().end(),
                                         [](const Element& one) { return one.name == "h1"; });
  BOOST_TEST(heading.text == "test kernels: FAIL");
  std::vector<std::string> rows;
  for (const Element& one : elements()) {
    const std::size_t at = one.text.find("forwardnopefp32");  // at 0: a table of one case
    if (one.name == "tr" && at > 0 && at != std::string::npos) rows.push_back(one.text);
  }
  BOOST_REQUIRE(rows.size() == 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    const auto& cell = json["cells"][n];
    BOOST_TEST(rows[n].starts_with(cell["kernel"].get<std::string>() + "forwardnopefp32" +
                                   cell["cases"].dump() + cell["rows"].dump()));
    BOOST_TEST(rows[n].ends_with(cell["outcome"].get<std::string>()));
    const std::string text = plain(with_id("cell_" + std::to_string(n + 1)).text);
    for (const auto& [name, output] : cell["outputs"].items()) {
      BOOST_TEST(text.find(output["worst_case"].get<std::string>()) != std::string::npos, name);
      BOOST_TEST(text.find(name + output["elements"].dump()) != std::string::npos, text);
    }
    if (!cell.contains("counterexample")) {
      BOOST_TEST(text.find("smallest failing case") == std::string::npos);
      continue;
    }
    const auto& found = cell["counterexample"];
    BOOST_TEST(text.find(found["repeat"].get<std::string>()) != std::string::npos, text);
    BOOST_TEST(text.find(found["judgement"]["kind"].get<std::string>()) != std::string::npos);
  }
  // The shrunk case has five keys; o and lse of it have a map, and o one of the case found first.
  const std::string wrong = with_id("cell_2").text;
  BOOST_TEST(wrong.find("elements fail") != std::string::npos);
  for (const char* map : {"cell_2_smallest_o", "cell_2_smallest_lse", "cell_2_distribution"}) {
    BOOST_CHECK_NO_THROW(with_id(std::string("title-") + map));
  }
  BOOST_CHECK_THROW(with_id("title-cell_1_smallest_o"), std::logic_error);
  BOOST_TEST(plain(with_id("cell_3").text).find("the kernel returned 7: no room") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_page_loads_nothing_and_no_id_stands_there_twice) {
  test::check_links(elements());
  test::check_loads_nothing(elements());
  for (const Element& one : elements()) BOOST_TEST(one.name != "script");
}

BOOST_AUTO_TEST_CASE(the_same_results_are_the_same_page_however_long_they_took) {
  auto later = report();
  later.seconds = 99;
  BOOST_TEST((verdict::to_html(later) == verdict::to_html(report())));
}

BOOST_AUTO_TEST_CASE(names_that_are_markup_stay_names) {
  const std::string name = "</p><script>\"x\" & 'y'</script>\x1b";
  auto hostile = report();
  hostile.library = hostile.device = hostile.kernel_option = hostile.shard = name;
  hostile.not_offered = {name};
  for (auto& cell : hostile.cells) {
    cell.kernel = name;
    cell.outputs["grad_p"] = {.worst = NAN, .elements = 1, .nonzero = 1, .blind = 1};
    if (!cell.counterexample) continue;
    auto& judgement = cell.counterexample->judgement;
    judgement.kind = judgement.remark = name;
    judgement.opened_files = {name};
    if (!judgement.failure.empty()) judgement.failure = name;
  }
  for (const Element& one : Markup::elements(verdict::to_html(hostile))) {
    BOOST_TEST(one.name != "script");
  }
}

BOOST_AUTO_TEST_SUITE_END()
