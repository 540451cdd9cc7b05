// SPDX-License-Identifier: Apache-2.0
// A model to be trained or run, as plain numbers. Host code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/formats.cuh"

namespace plumbline::gpu {

enum class Architecture { gpt2, bert, llama_style };

/// How BAM's prior begins: all thetas 0 (a bias of -1 everywhere), or theta_beta 1 and theta_alpha
/// the logarithm of ALiBi's official slope. BAM, section 3.3.
enum class PriorStart { uniform, slope };

/// What the position methods fix beside what they learn. A method reads its own and no others.
struct PositionOptions {
  double base = 10000;     ///< RoPE, sinusoidal; BAM's RoPE has 500000
  double amplitude = 1;    ///< sinusoidal; CABLE's published code has 0.1
  int window = 64;         ///< local RoPE: the largest |i - j|; `local_rope_keys`: the visible keys
  int buckets = 32;        ///< T5: rows of the table
  int max_distance = 128;  ///< T5
  int largest = 256;       ///< T5 clipped: the largest distance that has a row of its own
  int hidden = 32;         ///< FIRE, DAPE: width of the hidden layer
  int positions = 64;      ///< CoPE: rows of a head's table
  double L0 = 512;         ///< FIRE
  double fire_epsilon = 1e-6, prior_epsilon = 1e-5;
  PriorStart prior_start = PriorStart::slope;
  bool trains_mu = false;  ///< whether BAM's theta_mu is trained; it is 0 at first
};

/// The sizes of a model, its position method and what it computes in.
struct ModelConfiguration {
  Architecture architecture = Architecture::gpt2;
  int layers = 12, heads = 12;
  int kv_heads = 12;  ///< key heads, each shared by heads / kv_heads query heads (LLaMA-style)
  int width = 768;    ///< C
  int hidden = 3072;  ///< width inside of the feed-forward layers
  int vocabulary = 50304;
  int context = 1024;     ///< tokens of a training sequence; rows of a table of learnable positions
  int token_types = 2;    ///< BERT
  double epsilon = 1e-5;  ///< of the norms
  std::string position = "learnable";  ///< a name of position_method.hpp
  PositionOptions options = {};
  bool ssmax = false;
  Format format = Format::fp32;
  double dropout = 0.0;  ///< of embeddings and of what the residual stream receives

  int head_dim() const { return width / heads; }
};

/// The configuration of a name among preset_names(), with the position method that the model was
/// published with: nano (GPT-2 for a CPU), gpt2_tiny, gpt2_small, gpt2_medium (CABLE, section 4.1),
/// bert_base, bam_120m, bam_432m, bam_1b (BAM, table 1). @throws BadInput for any other name.
ModelConfiguration preset(std::string_view name);
const std::vector<std::string_view>& preset_names();

/// @throws BadInput naming the field, its value and what was expected: a size below 1; heads that
/// do not divide width, kv_heads that do not divide heads, or differ from them in GPT-2 and BERT; a
/// head dimension that no kernel is compiled for; an unknown position method, or in BERT one for
/// causal models alone; an option outside of its domain, where the method reads it; an odd width
/// for sinusoidal positions; dropout outside [0, 1).
void validate(const ModelConfiguration&);

}  // namespace plumbline::gpu
