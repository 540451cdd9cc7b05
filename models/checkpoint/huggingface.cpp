// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/huggingface.hpp"

#include <climits>
#include <nlohmann/json.hpp>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline::checkpoint {

namespace {

using nlohmann::json;

/// A configuration's fields, of which most are read by nobody here.
class Config {
 public:
  explicit Config(const json& object) : object_(object) {
    if (!object.is_object()) throw BadInput("config", shown(object), "a JSON object");
  }

  /// Null where the field is missing or null.
  const json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  int size(const char* name) const {
    const json* value = find(name);
    if (!value) throw BadInput(name, "missing", "a whole number of at least 1");
    return size_of(name, *value);
  }
  int size_or(const char* name, int otherwise) const {
    const json* value = find(name);
    return value ? size_of(name, *value) : otherwise;
  }
  double number_or(const char* name, double otherwise) const {
    const json* value = find(name);
    if (value && !value->is_number()) throw BadInput(name, shown(*value), "a number");
    return value ? value->get<double>() : otherwise;
  }
  /// @throws BadInput for a value that is there and none of these.
  void expect(const char* name, std::initializer_list<json> allowed) const {
    const json* value = find(name);
    if (!value) return;
    std::string list;
    for (const json& one : allowed) {
      if (*value == one) return;
      list += (list.empty() ? "" : " or ") + one.dump();
    }
    throw BadInput(name, shown(*value), list + ", which alone is computed here");
  }

 private:
  static int size_of(const char* name, const json& value) {
    const bool whole = value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 &&
                       value.get<std::uint64_t>() <= INT_MAX;
    if (!whole) throw BadInput(name, shown(value), "a whole number of at least 1");
    return value.get<int>();
  }

  const json& object_;
};

gpu::ModelConfiguration gpt2(const Config& config) {
  config.expect("activation_function", {"gelu_new", "gelu_pytorch_tanh"});
  config.expect("scale_attn_weights", {true});
  config.expect("scale_attn_by_inverse_layer_idx", {false});
  config.expect("add_cross_attention", {false});
  config.expect("tie_word_embeddings", {true});
  gpu::ModelConfiguration model;
  model.layers = config.size("n_layer");
  model.heads = model.kv_heads = config.size("n_head");
  model.width = config.size("n_embd");
  model.hidden = config.size_or("n_inner", 4 * model.width);
  model.vocabulary = config.size("vocab_size");
  model.context = config.size("n_positions");
  model.epsilon = config.number_or("layer_norm_epsilon", 1e-5);
  return model;
}

/// What BERT's and LLaMA's configurations name alike.
gpu::ModelConfiguration with_sizes(const Config& config, gpu::Architecture architecture) {
  gpu::ModelConfiguration model;
  model.architecture = architecture;
  model.layers = config.size("num_hidden_layers");
  model.heads = model.kv_heads = config.size("num_attention_heads");
  model.width = config.size("hidden_size");
  model.hidden = config.size("intermediate_size");
  model.vocabulary = config.size("vocab_size");
  model.context = config.size("max_position_embeddings");
  return model;
}

gpu::ModelConfiguration bert(const Config& config) {
  config.expect("hidden_act", {"gelu"});
  config.expect("position_embedding_type", {"absolute"});
  config.expect("is_decoder", {false});
  config.expect("tie_word_embeddings", {true});
  gpu::ModelConfiguration model = with_sizes(config, gpu::Architecture::bert);
  model.token_types = config.size_or("type_vocab_size", 2);
  model.epsilon = config.number_or("layer_norm_eps", 1e-12);
  return model;
}

gpu::ModelConfiguration llama(const Config& config) {
  config.expect("hidden_act", {"silu"});
  config.expect("attention_bias", {false});
  config.expect("mlp_bias", {false});
  config.expect("tie_word_embeddings", {false});
  gpu::ModelConfiguration model = with_sizes(config, gpu::Architecture::llama_style);
  model.kv_heads = config.size_or("num_key_value_heads", model.heads);
  config.expect("head_dim", {model.width / model.heads});
  model.epsilon = config.number_or("rms_norm_eps", 1e-6);
  model.position = "rope_half_split";
  model.options.base = config.number_or("rope_theta", 10000.0);
  // Older files say rope_scaling, newer ones have rope_theta in rope_parameters, too.
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    const json* const found = config.find(name);
    if (!found) continue;
    const Config rope(*found);
    rope.expect("rope_type", {"default"});
    rope.expect("type", {"default"});
    model.options.base = rope.number_or("rope_theta", model.options.base);
  }
  return model;
}

gpu::ModelConfiguration of_type(const Config& config) {
  const json* const type = config.find("model_type");
  if (!type) throw BadInput("model_type", "missing", "gpt2, bert or llama");
  if (*type == "gpt2") return gpt2(config);
  if (*type == "bert") return bert(config);
  if (*type == "llama") return llama(config);
  throw BadInput("model_type", shown(*type), "gpt2, bert or llama");
}

}  // namespace

gpu::ModelConfiguration huggingface_configuration(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  try {
    const json all = parse_strict_json(text, "config");
    const Config config(all);
    const gpu::ModelConfiguration model = of_type(config);
    gpu::validate(model);
    return model;
  } catch (const BadInput& error) {
    throw BadInput(path_in_quotes(path), error);
  }
}

}  // namespace plumbline::checkpoint
