// SPDX-License-Identifier: Apache-2.0
#include "golden/vector_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::golden {
namespace {

using Json = nlohmann::ordered_json;

template <class Number>
Json json_of(const std::vector<int>& shape, const std::vector<Number>& data) {
  std::string text;
  for (Number number : data) text += (text.empty() ? "" : " ") + hex(number);
  return {{"shape", shape}, {"data", text}};
}

template <class Number>
Tensor<Number> tensor_from(const Json& json, const std::string& name) {
  Tensor<Number> tensor{json.at("shape").get<std::vector<int>>(), {}};
  std::istringstream words(json.at("data").get<std::string>());
  for (std::string word; words >> word;) {
    const double number = from_hex(word);
    tensor.data.push_back(static_cast<Number>(number));
    if (static_cast<double>(tensor.data.back()) != number) {
      throw BadInput(name, word, "a number that float represents exactly");
    }
  }
  double size = 1;  // no size overflows it
  for (int extent : tensor.shape) size *= extent < 1 ? 0 : extent;
  if (static_cast<double>(tensor.data.size()) != size) {
    throw BadInput("number of elements of " + name, std::to_string(tensor.data.size()),
                   "the product of its shape");
  }
  return tensor;
}

/// null, a number for both sides, or [left, right] with null for no limit.
Json json_of(const reference::Window& window) {
  const auto side = [](int limit) { return limit < 0 ? Json(nullptr) : Json(limit); };
  if (window.left == window.right) return side(window.left);
  return {side(window.left), side(window.right)};
}
reference::Window window_from(const Json& json) {
  const auto side = [](const Json& limit) { return limit.is_null() ? -1 : limit.get<int>(); };
  if (!json.is_array()) return side(json);
  return {side(json.at(0)), side(json.at(1))};
}

Json json_of(const GoldenCase& golden) {
  const Problem& problem = golden.problem;
  const reference::AttentionShape& s = problem.setting.shape;
  const reference::Mask& mask = problem.setting.mask;
  const methods::MethodInfo& method = methods::method_of(problem.method);
  Json json;
  json["name"] = problem.name;
  json["shape"] = {{"batch", s.batch},
                   {"heads", s.heads},
                   {"kv_heads", s.kv_heads},
                   {"queries", s.queries},
                   {"keys", s.keys},
                   {"head_dim", s.head_dim},
                   {"query_offset", s.query_offset}};
  json["mask"] = {{"causal", mask.causal},
                  {"window", json_of(mask.window)},
                  {"lengths", mask.lengths.empty() ? Json(nullptr) : Json(mask.lengths)},
                  {"documents", mask.documents.empty() ? Json(nullptr) : Json(mask.documents)}};
  json["scale"] = hex(problem.setting.scale);
  for (const std::string& option : method.options) {
    json[option] = hex(problem.setting.options.at(option));
  }
  const bool ssmax = problem.inputs.count("ssmax_scale") > 0;
  for (const methods::NamedShape& input : method.inputs(problem.setting, ssmax)) {
    json["inputs"][input.name] = json_of(input.shape, problem.inputs.at(input.name).data);
  }
  for (const auto& [name, tensor] : golden.outputs) {
    json["outputs"][name] = json_of(tensor.shape, tensor.data);
  }
  return json;
}

GoldenCase case_from(const Json& json, const methods::MethodInfo& method) {
  GoldenCase golden;
  golden.problem.name = json.at("name").get<std::string>();
  golden.problem.method = method.name;
  methods::Problem& setting = golden.problem.setting;
  const Json& shape = json.at("shape");
  setting.shape = {shape.at("batch").get<int>(),       shape.at("heads").get<int>(),
                   shape.at("kv_heads").get<int>(),    shape.at("queries").get<int>(),
                   shape.at("keys").get<int>(),        shape.at("head_dim").get<int>(),
                   shape.at("query_offset").get<int>()};
  const Json& mask = json.at("mask");
  setting.mask.causal = mask.at("causal").get<bool>();
  setting.mask.window = window_from(mask.at("window"));
  if (!mask.at("lengths").is_null()) mask.at("lengths").get_to(setting.mask.lengths);
  if (!mask.at("documents").is_null()) mask.at("documents").get_to(setting.mask.documents);
  setting.scale = from_hex(json.at("scale").get<std::string>());
  for (const std::string& option : method.options) {
    setting.options[option] = from_hex(json.at(option).get<std::string>());
  }
  const std::size_t known = 6 + method.options.size();
  if (json.size() != known) {
    throw BadInput("number of fields", std::to_string(json.size()),
                   std::to_string(known) + ": some names are not known");
  }
  for (const auto& [name, tensor] : json.at("inputs").items()) {
    golden.problem.inputs[name] = tensor_from<float>(tensor, name);
  }
  validate(golden.problem);
  for (const auto& [name, tensor] : json.at("outputs").items()) {
    golden.outputs[name] = tensor_from<double>(tensor, name);
  }
  return golden;
}

}  // namespace

std::string hex(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", number);
  return text;
}

double from_hex(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || hex(number) != text) {
    throw BadInput("number", in_quotes(text),
                   "a hexadecimal floating-point number such as 0x1.8p+1");
  }
  return number;
}

std::string to_json_text(const std::string& method, const std::vector<GoldenCase>& cases) {
  Json json;
  json["format"] = "plumbline-golden-1";
  json["method"] = method;
  for (const GoldenCase& golden : cases) json["cases"].push_back(json_of(golden));
  return json.dump(1) + "\n";
}

std::vector<GoldenCase> from_json_text(const std::string& text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "plumbline-golden-1") {
      throw BadInput("format", json.at("format").dump(), "\"plumbline-golden-1\"");
    }
    const auto& method = methods::method_of(json.at("method").get<std::string>());
    std::vector<GoldenCase> all;
    for (const Json& one : json.at("cases")) all.push_back(case_from(one, method));
    return all;
  } catch (const Json::exception& error) {
    throw BadInput(file, in_quotes(error.what(), 200), "a golden file as golden/schema.json says");
  } catch (const std::invalid_argument& error) {  // an unknown method, an option out of range
    throw BadInput(file, in_quotes(error.what(), 200), "a problem that the method takes");
  } catch (const BadInput& error) {
    throw BadInput(file, error);
  }
}

}  // namespace plumbline::golden
