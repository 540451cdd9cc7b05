// SPDX-License-Identifier: Apache-2.0
// docs/case-format.schema.json says what the reader does.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "tests/verdict/cases/file_builder.hpp"
#include "verdict/cases/case_file.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(schema_test)

namespace {

using nlohmann::json;

json definition(const char* name) {
  return json::parse(read_file(PLUMBLINE_TEST_DATA "/../../../docs/case-format.schema.json"))
      .at("$defs")
      .at(name);
}

std::set<std::string> properties_of(const json& schema) {
  std::set<std::string> names;
  for (const auto& [name, value] : schema.at("properties").items()) names.insert(name);
  return names;
}

FileBuilder tensors_of_a_case() {
  FileBuilder builder;
  for (const char* tensor : {"q", "k", "v"}) {
    builder.add(tensor, "F32", {1, 1, 1, 1}, raw<float>({1}));
  }
  for (const char* tensor : {"theta_alpha", "theta_beta", "theta_mu"}) {
    builder.add(tensor, "F32", {1}, raw<float>({1}));
  }
  builder.plumbline = {{"format_version", 1}, {"bias", "ggd"}, {"causal", true}};
  return builder;
}

FileBuilder tensors_of_outputs() {
  FileBuilder builder;
  builder.add("o", "F32", {1, 1, 1, 1}, raw<float>({1}));
  builder.add("lse", "F32", {1, 1, 1}, raw<float>({1}));
  return builder;
}

/// The names that the reader lists when it meets an unknown field.
std::set<std::string> names_in_refusal(auto&& read) {
  std::string message;
  try {
    read();
  } catch (const BadInput& error) {
    message = error.what();
  }
  const std::string marker = "expected one of ";
  const std::size_t start = message.find(marker);
  BOOST_REQUIRE(start != std::string::npos);
  std::set<std::string> names;
  std::string list = message.substr(start + marker.size()) + ", ";
  for (std::size_t comma; (comma = list.find(", ")) != std::string::npos;) {
    names.insert(list.substr(0, comma));
    list.erase(0, comma + 2);
  }
  return names;
}

void read_case_of(const FileBuilder& builder) { case_from_bytes(bytes_of(builder.file()), "f"); }

plumbline_contract contract_of(const FileBuilder& builder) {
  Case c;
  c.spec.head_dim = 1;
  return outputs_from_bytes(bytes_of(builder.file()), "f", c).contract;
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_has_exactly_the_fields_that_the_reader_knows) {
  // Each method has options of its own.
  std::set<std::string> names;
  FileBuilder builder = tensors_of_a_case();
  builder.plumbline["x"] = 1;
  for (const cases::Bias bias : all_biases()) {
    builder.plumbline["bias"] = name(bias);
    names.merge(names_in_refusal([&] { read_case_of(builder); }));
  }
  BOOST_CHECK(names == properties_of(definition("case")));
  builder = tensors_of_outputs();
  builder.plumbline["x"] = 1;
  BOOST_CHECK(names_in_refusal([&] { contract_of(builder); }) ==
              properties_of(definition("outputs")));
  builder = tensors_of_outputs();
  builder.plumbline["contract"]["x"] = 1;
  BOOST_CHECK(names_in_refusal([&] { contract_of(builder); }) ==
              properties_of(definition("contract")));
}

BOOST_AUTO_TEST_CASE(it_requires_exactly_the_fields_that_the_reader_requires) {
  const json required = definition("case").at("required");
  BOOST_TEST(required.size() == tensors_of_a_case().plumbline.size());
  read_case_of(tensors_of_a_case());
  for (const json& field : required) {
    FileBuilder builder = tensors_of_a_case();
    builder.plumbline.erase(field.get<std::string>());
    BOOST_CHECK_THROW(read_case_of(builder), BadInput);
  }
}

/// The names of the biases of which `holds`.
template <class Holds>
json names_of_biases(Holds holds) {
  json names = json::array();
  for (const Bias bias : every_bias()) {
    if (holds(bias)) names.push_back(name(bias));
  }
  return names;
}

/// The schema's lines with other names of biases. They stand on the line of what is no custom bias,
/// and on one for each option.
std::string with_biases(std::string schema) {
  const auto replace = [&](const std::string& before, const json& names, const std::string& after) {
    const std::size_t start = schema.find(before);
    BOOST_REQUIRE(start != std::string::npos);
    const std::size_t end = schema.find(after, start + before.size());
    std::string text = names.dump();
    for (std::size_t comma = 0; (comma = text.find("\",\"", comma)) != std::string::npos;) {
      text.insert(comma + 2, " ");
    }
    schema.replace(start + before.size(), end - start - before.size(), text);
  };
  replace(
      "{\"if\": {\"not\": {\"required\": [\"custom\"]}}, \"then\": {\"properties\": {\"bias\": "
      "{\"enum\": ",
      names_of_biases([](Bias) { return true; }), "}}}}");
  for (int n = 0; n < PLUMBLINE_OPTION_COUNT; ++n) {
    const auto option = static_cast<plumbline_option>(n);
    replace("{\"if\": {\"required\": [\"" + std::string(info(option).name) +
                "\"]}, \"then\": {\"properties\": {\"bias\": {\"enum\": ",
            names_of_biases([&](Bias bias) {
              const auto read = options_of(bias);
              return std::find(read.begin(), read.end(), option) != read.end();
            }),
            "}}}}");
  }
  return schema;
}

/// With PLUMBLINE_RENEW in the environment the file is written anew.
BOOST_AUTO_TEST_CASE(it_lists_every_bias_and_what_has_which_option) {
  const char* path = PLUMBLINE_TEST_DATA "/../../../docs/case-format.schema.json";
  const std::string schema = read_file(path), expected = with_biases(schema);
  if (std::getenv("PLUMBLINE_RENEW")) write_file(path, expected);
  BOOST_TEST((read_file(path) == expected),
             "docs/case-format.schema.json is not what kernel_abi/methods.hpp says: run "
             "PLUMBLINE_RENEW=1 ./plumbline test -R cases_schema_test");
}

/// The page's table, of all but what composes.
std::string with_formulas(std::string page) {
  const std::string head = "| bias | b_ij | tensors it needs |\n|---|---|---|\n";
  std::string rows;
  for (const Bias bias : all_biases()) {
    if (bias.dape > 0) continue;
    std::string formula = methods::formula_of(bias), tensors;
    for (std::size_t bar = 0; (bar = formula.find('|', bar)) != std::string::npos; bar += 2) {
      formula.insert(bar, "\\");
    }
    for (const auto parameter : parameters_of(bias)) {
      tensors += (tensors.empty() ? "`" : ", `") + std::string(info(parameter).name) + "`";
    }
    rows += "| `" + std::string(name(bias)) + "` | " + formula + " | " + tensors + " |\n";
  }
  const std::size_t start = page.find(head), end = page.find("| `X+rope", start);
  BOOST_REQUIRE(end != std::string::npos);
  return page.replace(start + head.size(), end - start - head.size(), rows);
}

BOOST_AUTO_TEST_CASE(the_page_has_every_formula) {
  const char* path = PLUMBLINE_TEST_DATA "/../../../docs/case-format.md";
  const std::string page = read_file(path), expected = with_formulas(page);
  if (std::getenv("PLUMBLINE_RENEW")) write_file(path, expected);
  BOOST_TEST((read_file(path) == expected),
             "docs/case-format.md is not what kernel_abi/methods.hpp says: run "
             "PLUMBLINE_RENEW=1 ./plumbline test -R cases_schema_test");
}

BOOST_AUTO_TEST_CASE(it_lists_every_format) {
  json formats = json::array();
  for (const Format format : all_formats()) formats.push_back(name(format));
  BOOST_TEST(definition("case").at("properties").at("dtype").at("enum") == formats);
}

BOOST_AUTO_TEST_CASE(its_defaults_are_those_of_an_undeclared_contract) {
  // A contract that spells the schema's defaults out reads as one that says nothing.
  FileBuilder builder = tensors_of_outputs();
  const json contract = definition("contract");
  BOOST_TEST(contract.at("properties").size() == 31u);
  for (const auto& [field, value] : contract.at("properties").items()) {
    builder.plumbline["contract"][field] = value.at("default");
  }
  const plumbline_contract spelt = contract_of(builder), silent = contract_of(tensors_of_outputs());
  BOOST_TEST(to_json(spelt) == to_json(silent));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
