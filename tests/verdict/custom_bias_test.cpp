// SPDX-License-Identifier: Apache-2.0
// A bias of a file: kernels in C with it, and case files.
#include "verdict/cases/custom_bias.hpp"

#include <boost/test/unit_test.hpp>
#include <set>

#include "support/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/verdict/cases/bad_input.hpp"
#include "verdict/bias/methods.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/property/property.hpp"

namespace plumbline::verdict {

BOOST_AUTO_TEST_SUITE(custom_bias_test)

namespace {

using cases::Format;
using cases::Pass;

const methods::Bias log_decay = cases::declare_custom_bias_of_file(LOG_DECAY);

CellResult check(const std::string& name, Pass pass) {
  for (const auto& kernel : load_kernel_library(FIXED_SHAPE_KERNELS).kernels) {
    if (kernel.name() == name) {
      return check_cell(kernel, pass, log_decay, Format::fp32, 30, 1, 2, [](int) {});
    }
  }
  throw std::logic_error("no kernel " + name);
}

nlohmann::json declaration(const std::string& formula, const std::string& per = "head") {
  return {{"name", "mine"},
          {"formula", formula},
          {"parameters", {{{"name", "r"}, {"per", per}, {"uniform", {0.5, 1}}}}}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_kernel_passes_and_its_wrong_twin_fails_in_every_pass) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::decode}) {
    const CellResult right = check("log_decay", pass), wrong = check("log_decay_wrong", pass);
    BOOST_TEST((right.outcome == Outcome::pass));
    BOOST_TEST(right.cases == 30);
    BOOST_TEST((wrong.outcome == Outcome::fail));
    if (pass != Pass::backward) continue;
    BOOST_TEST(right.outputs.at("grad_r").worst > 0.001);
    BOOST_TEST(right.outputs.at("grad_a").worst > 0.001);
    BOOST_TEST(wrong.outputs.at("grad_r").worst > 1);
  }
}

BOOST_AUTO_TEST_CASE(a_case_file_holds_the_formula) {
  const test::TemporaryFolder folder;
  const auto path = folder.path / "case.safetensors";
  cases::Spec spec;
  spec.bias = log_decay;
  spec.bias.rope = PLUMBLINE_ROPE_HALF_SPLIT;
  spec.pass = Pass::backward;
  spec.heads = spec.kv_heads = 3;
  spec.queries = spec.keys = 5;
  spec.head_dim = 8;
  const cases::Case written = cases::generate(spec);
  cases::write_case(path, written);
  // Another bias of this name does not change what the file says.
  auto other = nlohmann::json::parse(read_file(LOG_DECAY));
  other["formula"] = "-r * a * abs(i - j)";
  const methods::Bias second = cases::declare_custom_bias(other, "bias");
  BOOST_TEST((cases::bias_from("log_decay", "bias") == second));
  const cases::Case read = cases::read_case(path);
  BOOST_TEST((read.spec.bias == spec.bias));
  BOOST_TEST((read.parameters == written.parameters));
  BOOST_TEST(cases::name(read.spec.bias) == "log_decay+rope_half_split");
  BOOST_TEST((cases::bias_from("log_decay", "bias") == log_decay));
  BOOST_TEST(cases::gradient_name(read.spec.bias, PLUMBLINE_CUSTOM_1) == "grad_a");
}

BOOST_AUTO_TEST_CASE(every_kind_of_parameter_has_its_shape_and_its_range) {
  const methods::Bias bias = cases::declare_custom_bias(
      {{"formula", "c + r * s + g[i] * w[j] - w[i]"},
       {"parameters",
        {{{"name", "c"}, {"per", "all"}, {"normal", 2}},
         {{"name", "r"}, {"per", "head"}, {"uniform", {-3, -2}}},
         {{"name", "s"}, {"per", "prefix_sum"}, {"uniform", {0.25, 0.5}}},
         {{"name", "g"}, {"per", "query"}, {"uniform", {4, 5}}},
         {{"name", "w"}, {"per", "key"}, {"uniform", {6, 7}}}}}},
      "bias");
  cases::Spec spec;
  spec.bias = bias;
  spec.batch = 2;
  spec.heads = spec.kv_heads = 3;
  spec.queries = 4;
  spec.keys = 5;
  spec.query_offset = 1;
  const cases::Case c = cases::generate(spec);
  const auto is_within = [&](plumbline_parameter p, std::size_t size, double least, double most) {
    BOOST_TEST(c[p].size() == size);
    BOOST_TEST(*std::min_element(c[p].begin(), c[p].end()) >= least);
    BOOST_TEST(*std::max_element(c[p].begin(), c[p].end()) < most);
  };
  is_within(PLUMBLINE_CUSTOM_0, 1, -12, 12);
  is_within(PLUMBLINE_CUSTOM_1, 3, -3, -2);
  is_within(PLUMBLINE_INCREMENTS, 30, 0.25, 0.5);
  is_within(PLUMBLINE_CUSTOM_2, 24, 4, 5);
  is_within(PLUMBLINE_CUSTOM_3, 30, 6, 7);
  // By hand, of every pair.
  const CaseReading<double> reading(c);
  for (int b = 0; b < 2; ++b) {
    for (int h = 0; h < 3; ++h) {
      const int row = b * 3 + h;
      for (int i = 1; i < 5; ++i) {
        reading.with_bias(b, h, i, [&](const auto& of_row) {
          for (int j = 0; j < 5; ++j) {
            double sum = 0;
            for (int n = std::min(i, j) + 1; n <= std::max(i, j); ++n) {
              sum += c[PLUMBLINE_INCREMENTS][row * 5 + n];
            }
            const double expected = c[PLUMBLINE_CUSTOM_0][0] +
                                    c[PLUMBLINE_CUSTOM_1][h] * (i > j ? sum : -sum) +
                                    double{c[PLUMBLINE_CUSTOM_2][row * 4 + i - 1]} *
                                        c[PLUMBLINE_CUSTOM_3][row * 5 + j] -
                                    c[PLUMBLINE_CUSTOM_3][row * 5 + i];
            BOOST_TEST(of_row(i, j) == expected, boost::test_tools::tolerance(1e-13));
          }
        });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_declarations_are_refused_in_words) {
  const auto refuse = [](const nlohmann::json& given, std::initializer_list<const char*> parts) {
    expect_bad_input([&] { cases::declare_custom_bias(given, "bias"); }, parts);
  };
  cases::declare_custom_bias(declaration("r * i"), "bias");
  refuse(declaration("r * k"), {"formula", "character 5", "i, j, h or one of the parameters r"});
  refuse(declaration("r[j]", "query"),
         {"character 3", "expected i: it has a number for each query"});
  refuse(declaration("r", "row"), {"bias: parameters[0]: per is \"row\"", "prefix_sum"});
  refuse({{"name", "mine"}}, {"bias: formula is missing"});
  refuse({{"formula", "i"}, {"unit", 1}}, {"unit"});
  refuse({{"formula", "i"}, {"name", "alibi"}},
         {"bias: name is \"alibi\"", "not the name of a method"});
  nlohmann::json twice = declaration("r");
  twice["parameters"].push_back(twice["parameters"][0]);
  refuse(twice, {"parameters[1]: name is \"r\"", "each name once"});
  nlohmann::json undrawn = declaration("r");
  undrawn["parameters"][0].erase("uniform");
  refuse(undrawn, {"without a distribution", "\"uniform\""});
  const test::TemporaryFolder folder;
  const auto path = folder.path / "bias.json";
  write_file(path, "{\"formula\": ");
  expect_bad_input([&] { cases::declare_custom_bias_of_file(path); }, {path.c_str()});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::verdict
