// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_SUBLAYER_NAMES_CUH
#define PLUMBLINE_GPU_MODEL_SUBLAYER_NAMES_CUH

#include <string>

#include "model/attention_layer.cuh"
#include "model/feed_forward.cuh"

namespace plumbline::gpu {

/// The names of sublayer n: attention for even n, the feed-forward network for odd n.
struct SublayerNames {
  std::string norm;
  AttentionNames attention;
  FeedForwardNames feed_forward;
};

inline SublayerNames names_of(Architecture architecture, int n) {
  const std::string layer = std::to_string(n / 2);
  const bool attention = n % 2 == 0;
  switch (architecture) {
    case Architecture::bert: {
      const std::string name = "bert.encoder.layer." + layer;
      const std::string self = name + ".attention.self.", out = name + ".attention.output.";
      return {attention ? out + "LayerNorm" : name + ".output.LayerNorm",
              {{self + "query", self + "key", self + "value"}, out + "dense"},
              {"", name + ".intermediate.dense", name + ".output.dense"}};
    }
    case Architecture::llama_style: {
      const std::string name = "model.layers." + layer;
      const std::string self = name + ".self_attn.", mlp = name + ".mlp.";
      return {name + (attention ? ".input_layernorm" : ".post_attention_layernorm"),
              {{self + "q_proj", self + "k_proj", self + "v_proj"}, self + "o_proj"},
              {mlp + "gate_proj", mlp + "up_proj", mlp + "down_proj"}};
    }
    default: {
      const std::string name = "transformer.h." + layer;
      return {name + (attention ? ".ln_1" : ".ln_2"),
              {{name + ".attn.c_attn"}, name + ".attn.c_proj"},
              {"", name + ".mlp.c_fc", name + ".mlp.c_proj"}};
    }
  }
}

}  // namespace plumbline::gpu

#endif
