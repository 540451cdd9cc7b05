// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/case_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"
#include "verdict/cases/custom_bias.hpp"
#include "verdict/cases/tensor_io.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {
namespace {

using nlohmann::json;

/// The JSON that stands as a text in the metadata.
json spec_from(const SafetensorsView& view) {
  const auto found = view.metadata.find(metadata_key);
  if (found == view.metadata.end()) {
    throw BadInput("__metadata__: \"plumbline\"", "missing", "a JSON object written as a text");
  }
  return parse_strict_json(found->second, "plumbline");
}

void require_version(Fields& fields) {
  fields.required(fields.integer("format_version", format_version, format_version),
                  "format_version");
}

/// A number for both sides, or [left, right], null for a side without limit.
Window window_of(Fields& fields) {
  const json* found = fields.any("window");
  if (!found) return {};
  const auto side = [&](const json& limit) {
    if (limit.is_null()) return -1;
    if (limit.is_number_unsigned() && limit.get<std::uint64_t>() <= largest_size) {
      return limit.get<int>();
    }
    throw BadInput(
        fields.place("window"), found->dump(),
        fmt::format("whole numbers from 0 to {}, or null for a side without limit", largest_size));
  };
  if (!found->is_array()) return side(*found);
  if (found->size() != 2) {
    throw BadInput(fields.place("window"), found->dump(), "a number, or two: [left, right]");
  }
  return {side((*found)[0]), side((*found)[1])};
}

json json_of(const Window& window) {
  const auto side = [](int limit) { return limit < 0 ? json() : json(limit); };
  if (window.left == window.right) return side(window.left);
  return {side(window.left), side(window.right)};
}

/// Sizes from the shapes of q, k and v; whether the others agree is checked as they are read.
void set_sizes(Spec& spec, const TensorReader& reader) {
  const auto sizes = [&](const char* tensor, const char* expected) -> const Shape& {
    const Shape& shape = reader.peek(tensor).shape;
    const std::string field = "tensor " + in_quotes(tensor) + ": shape";
    if (shape.size() != 4) {
      throw BadInput(field, std::to_string(shape.size()) + " sizes", expected);
    }
    for (const std::int64_t size : shape) {
      if (size < 1 || size > largest_size) {
        throw BadInput(field, "one with a size of " + std::to_string(size),
                       "sizes from 1 to " + std::to_string(largest_size));
      }
    }
    return shape;
  };
  const Shape& q = sizes("q", "[batch, heads, queries, head_dim]");
  const Shape& k = sizes("k", "[batch, kv_heads, keys, head_dim]");
  spec.batch = static_cast<int>(q[0]);
  spec.heads = static_cast<int>(q[1]);
  spec.queries = static_cast<int>(q[2]);
  spec.head_dim = static_cast<int>(q[3]);
  spec.kv_heads = static_cast<int>(k[1]);
  spec.keys = static_cast<int>(k[2]);
  const auto value_dim = static_cast<int>(sizes("v", "[batch, kv_heads, keys, value_dim]")[3]);
  spec.value_dim = value_dim == spec.head_dim ? 0 : value_dim;
}

/// What axes a mask tensor has.
void set_mask(Spec& spec, const TensorReader& reader) {
  if (!reader.has("mask")) return;
  const Shape& shape = reader.peek("mask").shape;
  spec.mask.pattern = Pattern::file;
  // Other sizes are refused as it is read.
  spec.mask.per_batch = shape.size() == 4 && shape[0] != 1;
  spec.mask.per_head = shape.size() == 4 && shape[1] != 1;
}

/// The case's format: what q is stored in. "dtype" may repeat it, and must then agree; floats are
/// fp32, or tf32 where it says so.
Format format_of(Fields& fields, const TensorReader& reader) {
  const Dtype stored = reader.peek("q").dtype;
  const auto& formats = all_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](Format format) { return dtype_of(format) == stored; });
  if (found == formats.end()) {
    throw BadInput("tensor \"q\": dtype", in_quotes(name(stored)),
                   "F32, BF16, F16, F8_E4M3 or F8_E5M2");
  }
  const auto said = fields.text("dtype");
  if (!said) return *found;
  const Format format = format_from(*said, fields.place("dtype"));
  if (dtype_of(format) != stored) {
    throw BadInput(fields.place("dtype"), in_quotes(*said),
                   "\"" + std::string(name(*found)) + "\", in which q is stored");
  }
  return format;
}

/// Of the method's name, or of the declaration that the file has.
Bias bias_of(const std::string& name, const json* declaration, const Fields& fields) {
  if (declaration) {
    const Bias declared = declare_custom_bias(*declaration, fields.place("custom"));
    for (const auto rope :
         {PLUMBLINE_NO_ROPE, PLUMBLINE_ROPE_INTERLEAVED, PLUMBLINE_ROPE_HALF_SPLIT}) {
      Bias bias = declared;
      bias.rope = rope;
      if (name == cases::name(bias)) return bias;
    }
    throw BadInput(fields.place("bias"), in_quotes(name),
                   in_quotes(cases::name(declared)) + ", the name of custom, alone or with RoPE");
  }
  const Bias bias = bias_from(name, fields.place("bias"));
  if (bias.custom) {
    throw BadInput(fields.place("custom"), "missing",
                   "the declaration of " + in_quotes(name) + ", which is no method's name");
  }
  return bias;
}

void read_tensors(Case& c, TensorReader& reader) {
  const Spec& spec = c.spec;
  const std::vector<Dtype> stored{dtype_of(spec.format)}, f32{Dtype::f32};
  if (has_scales(spec.format)) {
    c.q_scale = reader.floats("q_scale", f32, per_key_head(spec));
    c.k_scale = reader.floats("k_scale", f32, per_key_head(spec));
    c.v_scale = reader.floats("v_scale", f32, per_key_head(spec));
  }
  c.q = scaled(reader.floats("q", stored, query_shape(spec)), c.q_scale);
  c.k = scaled(reader.floats("k", stored, key_shape(spec)), c.k_scale);
  c.v = scaled(reader.floats("v", stored, value_shape(spec)), c.v_scale);
  if (spec.pass == Pass::backward) {
    c.grad_o = reader.floats("grad_o", {dtype_of(output_format(spec.format))}, output_shape(spec));
  }
  if (spec.lse_gradient) c.grad_lse = reader.floats("grad_lse", f32, per_query(spec));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!reads(spec, parameter)) continue;
    const Shape shape = shape_of(spec, c.options, parameter);
    c[parameter] = reader.floats(parameter_name(spec.bias, parameter), f32, shape);
  }
  if (spec.mask.ragged) c.lengths = reader.integers("lengths", {spec.batch});
  if (spec.is_packed()) c.query_lengths = reader.integers("query_lengths", {spec.batch});
  if (spec.mask.documents) c.documents = reader.integers("documents", {spec.batch, spec.keys});
  if (spec.mask.pattern != Pattern::none) c.mask = reader.bytes("mask", mask_shape(spec));
  if (spec.keep_given) c.keep = reader.bytes("keep", keep_shape(spec));
  reader.finish("a case with bias " + std::string(name(spec.bias)));
}

Case case_from(std::span<const std::byte> bytes) {
  const SafetensorsView view = parse_safetensors(bytes);
  const json object = spec_from(view);
  Fields fields(object, metadata_key);
  require_version(fields);
  TensorReader reader(view);

  Case c;
  Spec& spec = c.spec;
  spec.family = Family::file;
  const auto* declaration = fields.any("custom");
  spec.bias = bias_of(fields.required(fields.text("bias"), "bias"), declaration, fields);
  c.options = default_options(spec.bias);
  spec.format = format_of(fields, reader);
  set_sizes(spec, reader);
  spec.ssmax = reader.has("ssmax_scale");
  spec.sinks = reader.has("sinks");
  spec.pass = reader.has("grad_o") ? Pass::backward : Pass::forward;
  // Not optional: a case judged under the wrong direction of the mask fails far from its cause.
  spec.mask.causal = fields.required(fields.boolean("causal"), "causal");
  spec.mask.window = window_of(fields);
  spec.mask.ragged = reader.has("lengths");
  if (reader.has("query_lengths")) spec.layout = Layout::packed_sequences;
  spec.mask.documents = reader.has("documents");
  set_mask(spec, reader);
  spec.lse_gradient = reader.has("grad_lse");
  spec.queries_at_end = fields.boolean("queries_at_end").value_or(false);
  if (spec.is_packed() && !(spec.mask.ragged && spec.queries_at_end)) {
    throw BadInput("tensor \"query_lengths\"", "given",
                   "the tensor \"lengths\" and \"queries_at_end\" true with it");
  }
  spec.rotary_dim =
      static_cast<int>(fields.integer("rotary_dim", 1, largest_size).value_or(spec.rotary_dim));
  spec.keep_given = reader.has("keep");
  if (const auto dropout = fields.number("dropout")) spec.dropout = static_cast<float>(*dropout);
  if (spec.keep_given != (spec.dropout != 0)) {
    throw BadInput("tensor \"keep\"", spec.keep_given ? "given" : "missing",
                   spec.keep_given ? "\"dropout\" above 0 with it" : "as there is \"dropout\"");
  }
  // The last query stands at the last key's position, as in training and in decoding.
  spec.query_offset =
      static_cast<int>(fields.integer("query_offset", -largest_size, largest_size)
                           .value_or(spec.queries_at_end ? spec.keys - spec.queries
                                                         : std::max(0, spec.keys - spec.queries)));
  c.scale = fields.number("scale").value_or(scale_of(spec));
  if (const auto softcap = fields.number("softcap")) {
    if (!(*softcap > 0)) {
      throw BadInput(fields.place("softcap"), fmt::format("{}", *softcap), "a number above 0");
    }
    spec.softcap = *softcap;
  }
  for (const plumbline_option option : options_of(spec.bias)) {
    c.options[option] = fields.number(info(option).name).value_or(c.options[option]);
  }
  fields.text("origin");  // where the case came from: for people
  fields.finish();
  validate(spec);
  validate_options(c);
  read_tensors(c, reader);
  validate(c);
  return c;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

void write_case(const std::filesystem::path& path, const Case& c) {
  validate(c);
  const Spec& spec = c.spec;
  if (spec.pass == Pass::decode) {
    throw BadInput("pass", "decode", "forward or backward: a file holds no cache");
  }
  json object = {{"format_version", format_version},  {"bias", name(spec.bias)},
                 {"dtype", name(spec.format)},        {"causal", spec.mask.causal},
                 {"query_offset", spec.query_offset}, {"scale", c.scale}};
  if (spec.bias.custom) object["custom"] = custom_of(spec.bias).declaration;
  if (spec.mask.window.hides()) object["window"] = json_of(spec.mask.window);
  if (spec.queries_at_end) object["queries_at_end"] = true;
  if (spec.softcap != 0) object["softcap"] = spec.softcap;
  if (spec.rotary_dim != 0) object["rotary_dim"] = spec.rotary_dim;
  if (spec.dropout != 0) object["dropout"] = spec.dropout;
  for (const plumbline_option option : options_of(spec.bias)) {
    object[info(option).name] = c.options[option];
  }
  if (spec.family != Family::file) object["origin"] = to_line(spec);

  TensorWriter writer;
  const auto add = [&](const char* tensor, const Shape& shape, const auto& values, auto... format) {
    if (!values.empty()) writer.add(tensor, shape, values, format...);
  };
  const auto stored = [&](const std::vector<float>& numbers, const std::vector<float>& scales) {
    return unscaled(numbers, scales, spec.format);
  };
  const std::vector<float> q = stored(c.q, c.q_scale), k = stored(c.k, c.k_scale),
                           v = stored(c.v, c.v_scale);
  add("q", query_shape(spec), q, spec.format);
  add("k", key_shape(spec), k, spec.format);
  add("v", value_shape(spec), v, spec.format);
  add("q_scale", per_key_head(spec), c.q_scale);
  add("k_scale", per_key_head(spec), c.k_scale);
  add("v_scale", per_key_head(spec), c.v_scale);
  add("grad_o", output_shape(spec), c.grad_o, output_format(spec.format));
  add("grad_lse", per_query(spec), c.grad_lse);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!reads(spec, parameter)) continue;
    add(parameter_name(spec.bias, parameter), shape_of(spec, c.options, parameter), c[parameter]);
  }
  add("lengths", {spec.batch}, c.lengths);
  add("query_lengths", {spec.batch}, c.query_lengths);
  add("documents", {spec.batch, spec.keys}, c.documents);
  add("mask", mask_shape(spec), c.mask);
  add("keep", keep_shape(spec), c.keep);
  write_safetensors(path, writer.tensors(), {{metadata_key, object.dump()}});
}

Case case_from_bytes(std::span<const std::byte> bytes, const std::string& file) {
  try {
    return case_from(bytes);
  } catch (const BadInput& error) {
    throw BadInput(file, error);
  }
}

Case read_case(const std::filesystem::path& path) {
  return case_from_bytes(bytes_of(read_file(path)), path.string());
}

}  // namespace plumbline::cases
