// SPDX-License-Identifier: Apache-2.0
#include "model/parameter_list.hpp"

#include <cmath>

#include "model/position_method.hpp"

namespace plumbline::gpu {

namespace {

/// GPT-2's and BERT's; the published LLaMA has it, too.
constexpr double kStandardDeviation = 0.02;

class List {
 public:
  explicit List(const ModelConfiguration& c) : c_(c) {}

  void table(const std::string& name, int rows) {
    add(name, {rows, c_.width}, {Start::Kind::normal, kStandardDeviation});
  }
  void constant(const std::string& name, int size, double value) {
    add(name, {size}, {Start::Kind::constant, value});
  }
  /// weight [out, in], bias [out]
  void linear(const std::string& name, int out, int in, bool with_bias,
              double deviation = kStandardDeviation) {
    add(name + ".weight", {out, in}, {Start::Kind::normal, deviation});
    if (with_bias) constant(name + ".bias", out, 0.0);
  }
  void layernorm(const std::string& name) {
    constant(name + ".weight", c_.width, 1.0);
    constant(name + ".bias", c_.width, 0.0);
  }
  void rmsnorm(const std::string& name) { constant(name + ".weight", c_.width, 1.0); }
  void learnable_positions(const std::string& name) {
    if (position_method(c_.position).embedded == EmbeddedPositions::learnable)
      table(name, c_.context);
  }
  void positions_of_layer(const std::string& attention) {
    for (Parameter& parameter : position_parameters(c_, attention))
      list_.push_back(std::move(parameter));
  }
  std::vector<Parameter> take() { return std::move(list_); }

 private:
  void add(std::string name, std::vector<std::int64_t> shape, Start start) {
    list_.push_back({.name = std::move(name), .shape = std::move(shape), .start = start});
  }

  const ModelConfiguration& c_;
  std::vector<Parameter> list_;
};

std::vector<Parameter> of_gpt2(const ModelConfiguration& c) {
  // Radford et al., 2019, section 2.3: what adds to the residual stream begins smaller, by the
  // root of the number of such layers.
  const double residual = kStandardDeviation / std::sqrt(2.0 * c.layers);
  List list(c);
  list.table("transformer.wte.weight", c.vocabulary);
  list.learnable_positions("transformer.wpe.weight");
  for (int layer = 0; layer < c.layers; ++layer) {
    const std::string name = "transformer.h." + std::to_string(layer);
    list.layernorm(name + ".ln_1");
    list.linear(name + ".attn.c_attn", 3 * c.width, c.width, true);
    list.linear(name + ".attn.c_proj", c.width, c.width, true, residual);
    list.positions_of_layer(name + ".attn");
    list.layernorm(name + ".ln_2");
    list.linear(name + ".mlp.c_fc", c.hidden, c.width, true);
    list.linear(name + ".mlp.c_proj", c.width, c.hidden, true, residual);
  }
  list.layernorm("transformer.ln_f");
  return list.take();
}

std::vector<Parameter> of_bert(const ModelConfiguration& c) {
  const std::string embeddings = "bert.embeddings.", head = "cls.predictions.";
  List list(c);
  list.table(embeddings + "word_embeddings.weight", c.vocabulary);
  list.learnable_positions(embeddings + "position_embeddings.weight");
  list.table(embeddings + "token_type_embeddings.weight", c.token_types);
  list.layernorm(embeddings + "LayerNorm");
  for (int layer = 0; layer < c.layers; ++layer) {
    const std::string name = "bert.encoder.layer." + std::to_string(layer);
    for (const char* projection : {"query", "key", "value"})
      list.linear(name + ".attention.self." + projection, c.width, c.width, true);
    list.positions_of_layer(name + ".attention.self");
    list.linear(name + ".attention.output.dense", c.width, c.width, true);
    list.layernorm(name + ".attention.output.LayerNorm");
    list.linear(name + ".intermediate.dense", c.hidden, c.width, true);
    list.linear(name + ".output.dense", c.width, c.hidden, true);
    list.layernorm(name + ".output.LayerNorm");
  }
  list.linear(head + "transform.dense", c.width, c.width, true);
  list.layernorm(head + "transform.LayerNorm");
  list.constant(head + "bias", c.vocabulary, 0.0);
  return list.take();
}

std::vector<Parameter> of_llama_style(const ModelConfiguration& c) {
  const int key_width = c.kv_heads * c.head_dim();
  List list(c);
  list.table("model.embed_tokens.weight", c.vocabulary);
  list.learnable_positions("model.position_embeddings.weight");
  for (int layer = 0; layer < c.layers; ++layer) {
    const std::string name = "model.layers." + std::to_string(layer);
    const std::string attention = name + ".self_attn";
    list.rmsnorm(name + ".input_layernorm");
    list.linear(attention + ".q_proj", c.width, c.width, false);
    list.linear(attention + ".k_proj", key_width, c.width, false);
    list.linear(attention + ".v_proj", key_width, c.width, false);
    list.linear(attention + ".o_proj", c.width, c.width, false);
    list.positions_of_layer(attention);
    list.rmsnorm(name + ".post_attention_layernorm");
    list.linear(name + ".mlp.gate_proj", c.hidden, c.width, false);
    list.linear(name + ".mlp.up_proj", c.hidden, c.width, false);
    list.linear(name + ".mlp.down_proj", c.width, c.hidden, false);
  }
  list.rmsnorm("model.norm");
  list.table("lm_head.weight", c.vocabulary);
  return list.take();
}

}  // namespace

std::vector<Parameter> parameter_list(const ModelConfiguration& c) {
  switch (c.architecture) {
    case Architecture::bert:
      return of_bert(c);
    case Architecture::llama_style:
      return of_llama_style(c);
    default:
      return of_gpt2(c);
  }
}

std::string attention_name(Architecture architecture, int layer) {
  const std::string n = std::to_string(layer);
  switch (architecture) {
    case Architecture::bert:
      return "bert.encoder.layer." + n + ".attention.self";
    case Architecture::llama_style:
      return "model.layers." + n + ".self_attn";
    default:
      return "transformer.h." + n + ".attn";
  }
}

}  // namespace plumbline::gpu
