// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/naming.hpp"

#include <algorithm>

namespace plumbline::checkpoint {
namespace {

/// The first part of a name: "lm_head" of "lm_head.weight".
std::string_view first_part(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string pattern_of(std::string_view name) {
  std::string pattern;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool number = !part.empty() && std::all_of(part.begin(), part.end(),
                                                     [](char c) { return '0' <= c && c <= '9'; });
    pattern += number ? "*" : part;
    if (dot == std::string_view::npos) return pattern;
    pattern += '.';
    name.remove_prefix(dot + 1);
  }
}

std::string full_name(const Naming& naming, std::string_view name_in_file) {
  std::string name(name_in_file);
  for (const auto& [old, today] : naming.old_endings) {
    if (name.ends_with(old)) name.replace(name.size() - old.size(), old.size(), today);
  }
  const bool whole =
      name.starts_with(naming.prefix) || naming.heads.contains(std::string(first_part(name)));
  return whole ? name : naming.prefix + name;
}

const Naming& gpt2_naming() {
  static const Naming naming{
      .model = "GPT-2",
      .prefix = "transformer.",
      .heads = {"lm_head"},
      .in_by_out = {"transformer.h.*.attn.c_attn.weight", "transformer.h.*.attn.c_proj.weight",
                    "transformer.h.*.mlp.c_fc.weight", "transformer.h.*.mlp.c_proj.weight"},
      .old_endings = {},
      .tied = {{"lm_head.weight", "transformer.wte.weight"}},
      // The causal mask and what masked scores were set to.
      .besides = {"transformer.h.*.attn.bias", "transformer.h.*.attn.masked_bias"}};
  return naming;
}

const Naming& bert_naming() {
  static const Naming naming{
      .model = "BERT",
      .prefix = "bert.",
      .heads = {"cls"},
      .in_by_out = {},
      .old_endings = {{".LayerNorm.gamma", ".LayerNorm.weight"},
                      {".LayerNorm.beta", ".LayerNorm.bias"}},
      .tied = {{"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
               {"cls.predictions.decoder.bias", "cls.predictions.bias"}},
      .besides = {"bert.embeddings.position_ids", "bert.pooler.dense.weight",
                  "bert.pooler.dense.bias", "cls.seq_relationship.weight",
                  "cls.seq_relationship.bias"}};
  return naming;
}

const Naming& llama_naming() {
  static const Naming naming{.model = "the LLaMA-style model",
                             .prefix = "model.",
                             .heads = {"lm_head"},
                             .in_by_out = {},
                             .old_endings = {},
                             .tied = {},
                             .besides = {"model.layers.*.self_attn.rotary_emb.inv_freq"}};
  return naming;
}

}  // namespace plumbline::checkpoint
