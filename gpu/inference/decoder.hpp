// SPDX-License-Identifier: Apache-2.0
// A trained model that continues sequences of tokens with a cache, as host code sees it: no type of
// CUDA is named here.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/parameters.hpp"

namespace plumbline::gpu {

struct DecoderRun {
  int batch = 1;     ///< sequences
  int capacity = 0;  ///< most tokens of a sequence, those given and those continued with
  /// Every sequence goes through the layers by itself: its logits have the same bits whatever else
  /// is in the batch. Otherwise those of a call go together, which on a GPU is faster.
  bool deterministic = true;
};

/// GPT-2 or the LLaMA-style decoder with a cache of every layer's keys, values and, for CABLE and
/// FoX, prefix sums (S_j of CABLE, section 3; the gain is the new query's). Sequences have lengths
/// of their own; each begins at position 0, so that nothing is padded. A capacity beyond the
/// training context is allowed where the positions have no table to end.
///
/// DAPE's second version is decoded as if another token followed, which its wider convolutions
/// notice: so every token but the last of a training sequence is computed, and only so is what the
/// cache holds of a token the same whatever follows it.
///
/// Memory is linear in batch x capacity; for CoPE and DAPE there are also heads x 64 x capacity
/// scores. For one thread.
class Decoder {
 public:
  /// Allocates everything but the graphs of single tokens; `parameters` is a flat buffer of the
  /// configuration's ParameterLayout.
  /// @throws BadInput naming the field: BERT, a batch or a capacity below 1, a capacity beyond the
  /// table of learnable positions, and as validate(configuration); std::invalid_argument for a
  /// buffer of another size; InvalidProblem if attention cannot be run.
  Decoder(const ModelConfiguration&, const DecoderRun&, const std::vector<float>& parameters);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  const ModelConfiguration& configuration() const;
  int batch() const;
  int capacity() const;
  int vocabulary() const { return configuration().vocabulary; }
  /// Tokens that the cache holds of a sequence.
  int length(int sequence) const;
  /// Nodes of the CUDA graph by which a sequence's single tokens are computed, from the second of
  /// them on; 0 while there is none, with CoPE and DAPE, and under emulation.
  std::size_t graph_nodes(int sequence) const;

  /// Appends tokens[b] to sequence b, none, one or many, and returns the logits [batch, vocabulary]
  /// after the last token of every sequence; those of a sequence that was given nothing are as they
  /// were, at first 0. How tokens are cut into calls changes rounding, nothing else: within a call
  /// up to 512 of a sequence (CoPE, DAPE: 64) go through the layers at once. A sequence's single
  /// token, where it is alone, has kernels of its own (inference/token_step.cuh).
  /// @throws BadInput, and changes nothing, for another number of sequences, a token outside of the
  /// vocabulary, or more tokens than the capacity.
  const std::vector<float>& append(const std::vector<std::vector<int>>& tokens);

  /// Forgets all but the first `length` tokens of a sequence; its logits stay those of the last
  /// append. @throws BadInput for more tokens than there are.
  void truncate(int sequence, int length);

  /// Makes sequence `to` what `from` is, cache and logits: a prompt that has many continuations
  /// goes through the model once. @throws BadInput for a sequence that there is not.
  void copy(int from, int to);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::gpu
