// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <climits>

#include "cases/case_file.hpp"
#include "cases/tensor_io.hpp"
#include "cases/tensor_shapes.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline::cases {
namespace {

using nlohmann::json;

constexpr int format_version = 1;
constexpr const char* metadata_key = "plumbline";

std::string_view prefix_sum_name(int prefix_sum) {
  return prefix_sum == PLUMBLINE_PREFIX_SUM_FP64 ? "fp64" : "fp32";
}

int prefix_sum_from(const std::string& text, const std::string& field) {
  if (text == "fp64") return PLUMBLINE_PREFIX_SUM_FP64;
  if (text == "fp32") return PLUMBLINE_PREFIX_SUM_FP32;
  throw BadInput(field, in_quotes(text), "one of fp64, fp32");
}

plumbline_contract contract_from(const json& object) {
  plumbline_contract contract = undeclared_contract();
  Fields fields(object, "plumbline: contract");
  if (const auto value = fields.number("unit_roundoff")) contract.unit_roundoff = *value;
  if (const auto value = fields.text("probability_format")) {
    const Format format = format_from(*value, fields.place("probability_format"));
    contract.probability_format = format == Format::bf16 ? PLUMBLINE_BF16 : PLUMBLINE_FP32;
  }
  if (const auto value = fields.boolean("sums_rounded_p")) contract.sums_rounded_p = *value;
  if (const auto value = fields.number("exp_error")) contract.exp_error = *value;
  if (const auto value = fields.integer("splits", 1, INT_MAX)) {
    contract.splits = static_cast<std::int32_t>(*value);
  }
  if (const auto value = fields.text("prefix_sum")) {
    contract.prefix_sum = prefix_sum_from(*value, fields.place("prefix_sum"));
  }
  if (const auto value = fields.integer("prefix_tile", 0, INT_MAX)) {
    contract.prefix_tile = static_cast<std::int32_t>(*value);
  }
  fields.finish();
  return contract;
}

}  // namespace

json to_json(const plumbline_contract& contract) {
  return {{"unit_roundoff", contract.unit_roundoff},
          {"probability_format",
           name(contract.probability_format == PLUMBLINE_BF16 ? Format::bf16 : Format::fp32)},
          {"sums_rounded_p", contract.sums_rounded_p != 0},
          {"exp_error", contract.exp_error},
          {"splits", contract.splits},
          {"prefix_sum", prefix_sum_name(contract.prefix_sum)},
          {"prefix_tile", contract.prefix_tile}};
}

namespace {

OutputsFile outputs_from(std::span<const std::byte> bytes, const Spec& spec) {
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
    if (const json* contract = fields.any("contract")) file.contract = contract_from(*contract);
    fields.finish();
  }
  TensorReader reader(view);
  std::vector<Dtype> formats{dtype_of(spec.format)};
  if (spec.format != Format::fp32) formats.push_back(Dtype::f32);
  file.outputs.o = reader.floats("o", formats, query_shape(spec));
  file.outputs.lse = reader.floats("lse", {Dtype::f32}, per_query(spec));
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

void write_outputs(const std::filesystem::path& path, const Spec& spec, const OutputsFile& file) {
  validate(spec);
  const auto require_size = [](const char* tensor, const auto& values, const Shape& shape) {
    std::size_t size = 1;
    for (const std::int64_t dimension : shape) size *= static_cast<std::size_t>(dimension);
    if (values.size() != size) {
      throw BadInput(fmt::format("number of elements of {}", tensor), std::to_string(values.size()),
                     std::to_string(size));
    }
  };
  require_size("o", file.outputs.o, query_shape(spec));
  require_size("lse", file.outputs.lse, per_query(spec));
  TensorWriter writer;
  writer.add("o", query_shape(spec), file.outputs.o, spec.format);
  writer.add("lse", per_query(spec), file.outputs.lse);
  const json object = {{"format_version", format_version},
                       {"kernel", file.kernel},
                       {"contract", to_json(file.contract)}};
  write_safetensors(path, writer.tensors(),
                    {{metadata_key, object.dump(-1, ' ', false, json::error_handler_t::replace)}});
}

OutputsFile outputs_from_bytes(std::span<const std::byte> bytes, const std::string& file,
                               const Spec& spec) {
  try {
    return outputs_from(bytes, spec);
  } catch (const BadInput& error) {
    throw BadInput(file, error);
  }
}

OutputsFile read_outputs(const std::filesystem::path& path, const Spec& spec) {
  const std::string text = read_file(path);
  return outputs_from_bytes(std::as_bytes(std::span(text)), path.string(), spec);
}

}  // namespace plumbline::cases
