// SPDX-License-Identifier: Apache-2.0
#include "golden/vector_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

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
  std::size_t size = 1;
  for (int extent : tensor.shape) size *= extent < 1 ? 0 : static_cast<std::size_t>(extent);
  if (tensor.data.size() != size) {
    throw BadInput("number of elements of " + name, std::to_string(tensor.data.size()),
                   std::to_string(size) + ", the product of its shape");
  }
  return tensor;
}

/// The input tensors of a case: name, shape, and where they live.
struct Slot {
  const char* name;
  std::vector<int> shape;
  std::vector<float> Problem::*of_problem = nullptr;
  std::vector<float> cases::Case::*of_case = nullptr;

  template <class P>
  auto& in(P& problem) const {
    return of_problem ? problem.*of_problem : problem.inputs.*of_case;
  }
};

std::vector<Slot> slots(const cases::Spec& s) {
  using C = cases::Case;
  const std::vector<int> rows = {s.batch, s.heads, s.queries},
                         kv = {s.batch, s.kv_heads, s.keys, s.head_dim};
  const std::vector<int> q = {s.batch, s.heads, s.queries, s.head_dim}, heads = {s.heads};
  return {{"q", q, nullptr, &C::q},
          {"k", kv, nullptr, &C::k},
          {"v", kv, nullptr, &C::v},
          {"slopes", heads, nullptr, &C::slopes},
          {"increments", {s.batch, s.heads, s.keys}, nullptr, &C::increments},
          {"gain", rows, nullptr, &C::gain},
          {"theta_alpha", heads, nullptr, &C::theta_alpha},
          {"theta_beta", heads, nullptr, &C::theta_beta},
          {"theta_mu", heads, nullptr, &C::theta_mu},
          {"ssmax_scale", heads, nullptr, &C::ssmax_scale},
          {"grad_o", q, &Problem::grad_o, nullptr},
          {"grad_lse", rows, &Problem::grad_lse, nullptr}};
}

Json json_of(const GoldenCase& golden) {
  const Problem& problem = golden.problem;
  const cases::Case& c = problem.inputs;
  const cases::Spec& s = c.spec;
  Json json;
  json["name"] = problem.name;
  json["shape"] = {{"batch", s.batch},
                   {"heads", s.heads},
                   {"kv_heads", s.kv_heads},
                   {"queries", s.queries},
                   {"keys", s.keys},
                   {"head_dim", s.head_dim},
                   {"query_offset", s.query_offset}};
  json["mask"] = {{"causal", s.mask.causal},
                  {"window", s.mask.window ? Json(*s.mask.window) : Json(nullptr)},
                  {"lengths", s.mask.ragged ? Json(c.lengths) : Json(nullptr)},
                  {"documents", s.mask.documents ? Json(c.documents) : Json(nullptr)}};
  json["scale"] = hex(c.scale);
  if (s.bias == cases::BiasMethod::ggd) json["epsilon"] = hex(c.epsilon);
  for (const Slot& slot : slots(s)) {
    const std::vector<float>& data = slot.in(problem);
    if (!data.empty()) json["inputs"][slot.name] = json_of(slot.shape, data);
  }
  for (const auto& [name, tensor] : golden.outputs) {
    json["outputs"][name] = json_of(tensor.shape, tensor.data);
  }
  return json;
}

GoldenCase case_from(const Json& json, cases::BiasMethod method) {
  GoldenCase golden;
  golden.problem.name = json.at("name").get<std::string>();
  cases::Case& c = golden.problem.inputs;
  cases::Spec& s = c.spec;
  s.bias = method;
  s.family = cases::Family::file;
  const Json& shape = json.at("shape");
  s.batch = shape.at("batch").get<int>();
  s.heads = shape.at("heads").get<int>();
  s.kv_heads = shape.at("kv_heads").get<int>();
  s.queries = shape.at("queries").get<int>();
  s.keys = shape.at("keys").get<int>();
  s.head_dim = shape.at("head_dim").get<int>();
  s.query_offset = shape.at("query_offset").get<int>();
  const Json& mask = json.at("mask");
  s.mask.causal = mask.at("causal").get<bool>();
  if (!mask.at("window").is_null()) s.mask.window = mask.at("window").get<int>();
  if ((s.mask.ragged = !mask.at("lengths").is_null())) mask.at("lengths").get_to(c.lengths);
  if ((s.mask.documents = !mask.at("documents").is_null()))
    mask.at("documents").get_to(c.documents);
  const Json& inputs = json.at("inputs");
  s.ssmax = inputs.contains("ssmax_scale");
  cases::validate(s);
  c.scale = from_hex(json.at("scale").get<std::string>());
  if (json.contains("epsilon")) c.epsilon = from_hex(json.at("epsilon").get<std::string>());
  std::size_t known = 0;
  for (const Slot& slot : slots(s)) {
    if (!inputs.contains(slot.name)) continue;
    ++known;
    const Tensor<float> tensor = tensor_from<float>(inputs.at(slot.name), slot.name);
    if (tensor.shape != slot.shape) {
      throw BadInput(std::string("shape of ") + slot.name, inputs.at(slot.name).at("shape").dump(),
                     Json(slot.shape).dump());
    }
    slot.in(golden.problem) = tensor.data;
  }
  if (known != inputs.size()) {
    throw BadInput("number of inputs", std::to_string(inputs.size()),
                   std::to_string(known) + ": some names are not known");
  }
  cases::validate(c);
  for (const char* needed : {"grad_o", "grad_lse"}) {
    if (!inputs.contains(needed))
      throw BadInput("inputs", "without " + std::string(needed), needed);
  }
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

std::string to_json_text(cases::BiasMethod method, const std::vector<GoldenCase>& cases) {
  Json json;
  json["format"] = "plumbline-golden-1";
  json["method"] = cases::name(method);
  for (const GoldenCase& golden : cases) json["cases"].push_back(json_of(golden));
  return json.dump(1) + "\n";
}

std::vector<GoldenCase> from_json_text(const std::string& text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "plumbline-golden-1") {
      throw BadInput("format", json.at("format").dump(), "\"plumbline-golden-1\"");
    }
    const cases::BiasMethod method =
        cases::bias_from(json.at("method").get<std::string>(), "method");
    std::vector<GoldenCase> all;
    for (const Json& one : json.at("cases")) all.push_back(case_from(one, method));
    return all;
  } catch (const Json::exception& error) {
    throw BadInput(file, in_quotes(error.what(), 200), "a golden file as golden/schema.json says");
  } catch (const BadInput& error) {
    throw BadInput(file, error);
  }
}

}  // namespace plumbline::golden
