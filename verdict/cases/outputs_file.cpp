// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <climits>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "support/mapped_file.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/cases/tensor_io.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {
namespace {

using nlohmann::json;

std::string_view prefix_sum_name(int prefix_sum) {
  return prefix_sum == PLUMBLINE_PREFIX_SUM_FP64 ? "fp64" : "fp32";
}

int prefix_sum_from(const std::string& text, const std::string& field) {
  if (text == "fp64") return PLUMBLINE_PREFIX_SUM_FP64;
  if (text == "fp32") return PLUMBLINE_PREFIX_SUM_FP32;
  throw BadInput(field, in_quotes(text), "one of fp64, fp32");
}

/// The fields that name a format, and what they are called.
constexpr std::pair<const char*, std::int32_t plumbline_contract::*> kept_formats[] = {
    {"head_gradient_format", &plumbline_contract::head_gradient_format},
    {"gradient_sum_format", &plumbline_contract::gradient_sum_format},
    {"output_sum_format", &plumbline_contract::output_sum_format},
    {"score_format", &plumbline_contract::score_format},
    {"grad_probability_format", &plumbline_contract::grad_probability_format},
    {"delta_format", &plumbline_contract::delta_format},
    {"lse_format", &plumbline_contract::lse_format}};

constexpr std::string_view empty_rows_names[PLUMBLINE_EMPTY_ROWS_COUNT] = {
    "zero", "plus_inf", "mean", "nan", "not_mine"};

int empty_rows_from(const std::string& text, const std::string& field) {
  std::string names;
  for (int n = 0; n < PLUMBLINE_EMPTY_ROWS_COUNT; ++n) {
    if (text == empty_rows_names[n]) return n;
    names += (n > 0 ? ", " : "") + std::string(empty_rows_names[n]);
  }
  throw BadInput(field, in_quotes(text), "one of " + names);
}

std::uint32_t families_from(const json& list, const std::string& field) {
  if (!list.is_array()) throw BadInput(field, in_quotes(list.dump(), 80), "a list of names");
  std::uint32_t families = 0;
  for (const json& entry : list) {
    if (!entry.is_string()) throw BadInput(field, in_quotes(entry.dump(), 80), "a name");
    const Family family = family_from(entry.get_ref<const std::string&>(), field);
    if (family == Family::generic || family == Family::file) {
      throw BadInput(field, in_quotes(entry.get<std::string>()),
                     "names of families that may be left out: peaked, diffuse, tied, huge, "
                     "subnormal or level");
    }
    families |= 1U << static_cast<int>(family);
  }
  return families;
}

json families_in(std::uint32_t families) {
  json list = json::array();
  for (int n = 0; n < static_cast<int>(Family::file); ++n) {
    if (families >> n & 1U) list.push_back(name(static_cast<Family>(n)));
  }
  return list;
}

}  // namespace

plumbline_contract contract_from(const json& object, const std::string& place) {
  plumbline_contract contract = undeclared_contract();
  Fields fields(object, place);
  if (const auto value = fields.number("unit_roundoff")) contract.unit_roundoff = *value;
  if (const auto value = fields.number("operand_roundoff")) contract.operand_roundoff = *value;
  if (const auto value = fields.text("probability_format")) {
    contract.probability_format =
        static_cast<std::int32_t>(format_from(*value, fields.place("probability_format")));
  }
  if (const auto value = fields.boolean("sums_rounded_p")) contract.sums_rounded_p = *value;
  if (const auto value = fields.number("exp_error")) contract.exp_error = *value;
  if (const auto value = fields.number("skipped_mass")) contract.skipped_mass = *value;
  if (const auto value = fields.integer("splits", 1, INT_MAX)) {
    contract.splits = static_cast<std::int32_t>(*value);
  }
  if (const auto value = fields.text("prefix_sum")) {
    contract.prefix_sum = prefix_sum_from(*value, fields.place("prefix_sum"));
  }
  if (const auto value = fields.integer("prefix_tile", 0, INT_MAX)) {
    contract.prefix_tile = static_cast<std::int32_t>(*value);
  }
  if (const auto value = fields.boolean("flushes_subnormals")) contract.flushes_subnormals = *value;
  if (const auto value = fields.number("probability_scale")) contract.probability_scale = *value;
  for (const auto& [field, format] : kept_formats) {
    if (const auto value = fields.text(field)) {
      contract.*format = static_cast<std::int32_t>(format_from(*value, fields.place(field)));
    }
  }
  if (const auto value = fields.integer("sum_block", 0, INT_MAX)) {
    contract.sum_block = static_cast<std::int32_t>(*value);
  }
  if (const auto value = fields.boolean("saves_rounded_p")) contract.saves_rounded_p = *value;
  if (const auto value = fields.boolean("no_lse")) contract.no_lse = *value;
  if (const auto value = fields.boolean("inexact_exp_zero")) contract.inexact_exp_zero = *value;
  if (const auto value = fields.text("empty_rows")) {
    contract.empty_rows = empty_rows_from(*value, fields.place("empty_rows"));
  }
  if (const json* value = fields.any("families_left_out")) {
    contract.families_left_out = families_from(*value, fields.place("families_left_out"));
  }
  if (const auto value = fields.number("largest_score")) contract.largest_score = *value;
  if (const auto value = fields.boolean("alibi_of_key")) contract.alibi_of_key = *value;
  if (const auto value = fields.number("tanh_error")) contract.tanh_error = *value;
  if (const auto value = fields.number("log_error")) contract.log_error = *value;
  if (const auto value = fields.boolean("lse_base_2")) contract.lse_base_2 = *value;
  if (const auto value = fields.boolean("float_o")) contract.float_o = *value;
  if (const auto value = fields.boolean("float_gradients")) contract.float_gradients = *value;
  fields.finish();
  return contract;
}

plumbline_contract contract_from(const json& object, const std::string& place, Format format) {
  if (!object.is_string()) return contract_from(object, place);
  return contract_named(object.get_ref<const std::string&>(), format, place);
}

json to_json(const plumbline_contract& contract) {
  json object = {
      {"unit_roundoff", contract.unit_roundoff},
      {"operand_roundoff", contract.operand_roundoff},
      {"probability_format", name(static_cast<Format>(contract.probability_format))},
      {"sums_rounded_p", contract.sums_rounded_p != 0},
      {"exp_error", contract.exp_error},
      {"skipped_mass", contract.skipped_mass},
      {"splits", contract.splits},
      {"prefix_sum", prefix_sum_name(contract.prefix_sum)},
      {"prefix_tile", contract.prefix_tile},
      {"flushes_subnormals", contract.flushes_subnormals != 0},
      {"probability_scale", contract.probability_scale},
      {"sum_block", contract.sum_block},
      {"saves_rounded_p", contract.saves_rounded_p != 0},
      {"no_lse", contract.no_lse != 0},
      {"inexact_exp_zero", contract.inexact_exp_zero != 0},
      {"empty_rows", contract.empty_rows >= 0 && contract.empty_rows < PLUMBLINE_EMPTY_ROWS_COUNT
                         ? json(empty_rows_names[contract.empty_rows])
                         : json(contract.empty_rows)},
      {"families_left_out", families_in(contract.families_left_out)},
      {"largest_score", contract.largest_score},
      {"alibi_of_key", contract.alibi_of_key != 0},
      {"tanh_error", contract.tanh_error},
      {"log_error", contract.log_error},
      {"lse_base_2", contract.lse_base_2 != 0},
      {"float_o", contract.float_o != 0},
      {"float_gradients", contract.float_gradients != 0}};
  for (const auto& [field, format] : kept_formats) {
    object[field] = name(static_cast<Format>(contract.*format));
  }
  return object;
}

namespace {

OutputsFile outputs_from(std::span<const std::byte> bytes, const Case& of,
                         const plumbline_contract* instead) {
  const Spec& spec = of.spec;
  const SafetensorsView view = parse_safetensors(bytes);
  OutputsFile file;
  file.contract = undeclared_contract();
  // Without metadata the outputs come from "outside" and nothing is declared.
  if (const auto found = view.metadata.find(metadata_key); found != view.metadata.end()) {
    const json object = parse_strict_json(found->second, metadata_key);
    Fields fields(object, metadata_key);
    fields.required(fields.integer("format_version", format_version, format_version),
                    "format_version");
    // A file of outputs has no kind; this one is what somebody might take for it.
    if (object.contains("kind") && object["kind"] == "oracle") {
      throw BadInput("the file", "the oracle's", "the outputs of a kernel, which it judges");
    }
    file.kernel = fields.text("kernel").value_or(file.kernel);
    if (const json* contract = fields.any("contract")) {
      file.contract = contract_from(*contract, "plumbline: contract", spec.format);
    }
    fields.finish();
  }
  if (instead) file.contract = *instead;
  TensorReader reader(view);
  std::vector<Dtype> formats{dtype_of(output_format(spec.format))};
  if (formats.front() != Dtype::f32) formats.push_back(Dtype::f32);
  file.outputs.o = reader.floats("o", formats, output_shape(spec));
  // One that is there in spite of the contract is read as one that is not.
  if (!file.contract.no_lse || reader.has("lse")) {
    file.outputs.lse = reader.floats("lse", {Dtype::f32}, per_query(spec));
  }
  if (file.contract.no_lse) file.outputs.lse.clear();
  if (spec.pass == Pass::backward) {
    file.outputs.grad_q = reader.floats("grad_q", formats, query_shape(spec));
    file.outputs.grad_k = reader.floats("grad_k", formats, key_shape(spec));
    file.outputs.grad_v = reader.floats("grad_v", formats, value_shape(spec));
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      const auto parameter = static_cast<plumbline_parameter>(n);
      if (!has_gradient(spec, parameter)) continue;
      file.outputs.grad_parameters[parameter] = reader.floats(
          gradient_name(spec.bias, parameter), {Dtype::f32}, shape_of(spec, of.options, parameter));
    }
  }
  reader.finish("a file of outputs");
  return file;
}

}  // namespace

plumbline_contract undeclared_contract() {
  plumbline_contract contract{};
  contract.unit_roundoff = 0x1p-24;
  contract.probability_format = PLUMBLINE_FP32;
  contract.sums_rounded_p = 0;
  contract.exp_error = 0x1p-20;
  contract.splits = 1;
  contract.prefix_sum = PLUMBLINE_PREFIX_SUM_FP64;
  contract.prefix_tile = 0;
  return contract;
}

void write_outputs(const std::filesystem::path& path, const Case& of, const OutputsFile& file) {
  const Spec& spec = of.spec;
  validate(spec);
  TensorWriter writer;
  const auto add = [&](const std::string& tensor, const Shape& shape,
                       const std::vector<float>& values, Format format) {
    if (static_cast<std::int64_t>(values.size()) != elements(shape)) {
      throw BadInput(fmt::format("number of elements of {}", tensor), std::to_string(values.size()),
                     std::to_string(elements(shape)));
    }
    writer.add(tensor, shape, values, format);
  };
  const Outputs& outputs = file.outputs;
  const Format format = output_format(spec.format, file.contract.float_gradients);
  add("o", output_shape(spec), outputs.o, output_format(spec.format, file.contract.float_o));
  if (!file.contract.no_lse) add("lse", per_query(spec), outputs.lse, Format::fp32);
  if (spec.pass == Pass::backward) {
    add("grad_q", query_shape(spec), outputs.grad_q, format);
    add("grad_k", key_shape(spec), outputs.grad_k, format);
    add("grad_v", value_shape(spec), outputs.grad_v, format);
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      const auto parameter = static_cast<plumbline_parameter>(n);
      if (!has_gradient(spec, parameter)) continue;
      add(gradient_name(spec.bias, parameter), shape_of(spec, of.options, parameter),
          outputs.grad_parameters[parameter], Format::fp32);
    }
  }
  const json object = {{"format_version", format_version},
                       {"kernel", file.kernel},
                       {"contract", to_json(file.contract)}};
  write_safetensors(path, writer.tensors(),
                    {{metadata_key, object.dump(-1, ' ', false, json::error_handler_t::replace)}});
}

OutputsFile outputs_from_bytes(std::span<const std::byte> bytes, const std::string& file,
                               const Case& of, const plumbline_contract* contract) {
  try {
    return outputs_from(bytes, of, contract);
  } catch (const BadInput& error) {
    throw BadInput(file, error);
  }
}

bool is_of_the_oracle(const std::filesystem::path& path) {
  try {
    const MappedFile file(path);
    const SafetensorsView view = parse_safetensors(file.bytes());
    const auto found = view.metadata.find(metadata_key);
    if (found == view.metadata.end()) return false;
    const json object = parse_strict_json(found->second, metadata_key);
    return object.is_object() && object.value("kind", "") == "oracle";
  } catch (const WouldOverwrite&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

OutputsFile read_outputs(const std::filesystem::path& path, const Case& of,
                         const plumbline_contract* contract) {
  const std::string text = read_file(path);
  return outputs_from_bytes(std::as_bytes(std::span(text)), path.string(), of, contract);
}

}  // namespace plumbline::cases
