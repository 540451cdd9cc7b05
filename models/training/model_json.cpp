// SPDX-License-Identifier: Apache-2.0
#include "models/training/model_json.hpp"

#include <fmt/format.h>

#include <climits>
#include <vector>

#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline::training {

namespace {

/// The names of an enumeration's values.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

constexpr Named<gpu::Architecture> architectures[] = {
    {"gpt2", gpu::Architecture::gpt2},
    {"bert", gpu::Architecture::bert},
    {"llama_style", gpu::Architecture::llama_style}};
constexpr Named<gpu::Format> formats[] = {{"fp32", gpu::Format::fp32},
                                          {"bf16", gpu::Format::bf16},
                                          {"fp16", gpu::Format::fp16},
                                          {"tf32", gpu::Format::tf32}};
constexpr Named<gpu::PriorStart> prior_starts[] = {{"uniform", gpu::PriorStart::uniform},
                                                   {"slope", gpu::PriorStart::slope}};

template <class T, std::size_t count>
std::string_view name_in(const Named<T> (&all)[count], T value) {
  for (const auto& named : all)
    if (named.value == value) return named.name;
  throw std::logic_error("a value without a name");
}

template <class T, std::size_t count>
T value_in(const Named<T> (&all)[count], std::string_view name, const std::string& field) {
  std::string names;
  for (const auto& named : all) {
    if (named.name == name) return named.value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", named.name);
  }
  throw BadInput(field, in_quotes(name), "one of " + names);
}

/// Reads the fields into place, or writes them: the list of fields stands once.
class Reader {
 public:
  Reader(const nlohmann::json& json, const char* what) : fields_(json, what) {}
  void operator()(const char* name, int& value) {
    value = static_cast<int>(fields_.required(fields_.integer(name, INT_MIN, INT_MAX), name));
  }
  void operator()(const char* name, double& value) {
    value = fields_.required(fields_.number(name), name);
  }
  void operator()(const char* name, bool& value) {
    value = fields_.required(fields_.boolean(name), name);
  }
  void operator()(const char* name, std::string& value) {
    value = fields_.required(fields_.text(name), name);
  }
  void operator()(const char* name, gpu::Architecture& value) {
    enumerated(architectures, name, value);
  }
  void operator()(const char* name, gpu::Format& value) { enumerated(formats, name, value); }
  void operator()(const char* name, gpu::PriorStart& value) {
    enumerated(prior_starts, name, value);
  }
  void operator()(const char* name, gpu::PositionOptions& value);
  void finish() { fields_.finish(); }

 private:
  template <class T, std::size_t count>
  void enumerated(const Named<T> (&all)[count], const char* name, T& value) {
    value = value_in(all, fields_.required(fields_.text(name), name), fields_.place(name));
  }
  Fields fields_;
};

class Writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    json[name] = value;
  }
  void operator()(const char* name, gpu::Architecture value) {
    json[name] = name_in(architectures, value);
  }
  void operator()(const char* name, gpu::Format value) { json[name] = name_in(formats, value); }
  void operator()(const char* name, gpu::PriorStart value) {
    json[name] = name_in(prior_starts, value);
  }
  void operator()(const char* name, const gpu::PositionOptions& value);

  nlohmann::json json = nlohmann::json::object();
};

template <class Archive, class Options>
void fields_of_options(Archive& archive, Options& o) {
  archive("base", o.base);
  archive("amplitude", o.amplitude);
  archive("window", o.window);
  archive("buckets", o.buckets);
  archive("max_distance", o.max_distance);
  archive("largest", o.largest);
  archive("hidden", o.hidden);
  archive("positions", o.positions);
  archive("L0", o.L0);
  archive("fire_epsilon", o.fire_epsilon);
  archive("prior_epsilon", o.prior_epsilon);
  archive("prior_start", o.prior_start);
  archive("trains_mu", o.trains_mu);
}

template <class Archive, class Model>
void fields_of_model(Archive& archive, Model& m) {
  archive("architecture", m.architecture);
  archive("layers", m.layers);
  archive("heads", m.heads);
  archive("kv_heads", m.kv_heads);
  archive("width", m.width);
  archive("hidden", m.hidden);
  archive("vocabulary", m.vocabulary);
  archive("context", m.context);
  archive("token_types", m.token_types);
  archive("epsilon", m.epsilon);
  archive("position", m.position);
  archive("options", m.options);
  archive("ssmax", m.ssmax);
  archive("format", m.format);
  archive("dropout", m.dropout);
}

void Reader::operator()(const char* name, gpu::PositionOptions& value) {
  const nlohmann::json* json = fields_.any(name);
  if (!json) throw BadInput(fields_.place(name), "missing", "the position method's options");
  Reader reader(*json, "options");
  fields_of_options(reader, value);
  reader.finish();
}

void Writer::operator()(const char* name, const gpu::PositionOptions& value) {
  Writer writer;
  fields_of_options(writer, value);
  json[name] = std::move(writer.json);
}

}  // namespace

std::string_view name(gpu::Architecture value) { return name_in(architectures, value); }
std::string_view name(gpu::Format value) { return name_in(formats, value); }
std::string_view name(gpu::PriorStart value) { return name_in(prior_starts, value); }

gpu::Architecture architecture_from(std::string_view name, const std::string& field) {
  return value_in(architectures, name, field);
}
gpu::Format format_from(std::string_view name, const std::string& field) {
  return value_in(formats, name, field);
}
gpu::PriorStart prior_start_from(std::string_view name, const std::string& field) {
  return value_in(prior_starts, name, field);
}

nlohmann::json to_json(const gpu::ModelConfiguration& model) {
  Writer writer;
  fields_of_model(writer, model);
  return std::move(writer.json);
}

gpu::ModelConfiguration model_from_json(const nlohmann::json& json) {
  gpu::ModelConfiguration model;
  Reader reader(json, "model");
  fields_of_model(reader, model);
  reader.finish();
  gpu::validate(model);
  return model;
}

}  // namespace plumbline::training
