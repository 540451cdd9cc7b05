// SPDX-License-Identifier: Apache-2.0
// Retrieval by a BERT's embeddings: CABLE, section 5.5 and table 3 (MLDR in BEIR's layout).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inference/scorer.hpp"
#include "models/text/beir.hpp"
#include "models/text/tokenizer.hpp"

namespace plumbline::evaluation {

struct EncoderSettings {
  int length = 512;  ///< tokens of a text, with cls and sep; what is longer is cut
  gpu::Pooling pooling = gpu::Pooling::mean;
  int part = 32;  ///< texts that go through the model at once
};

/// @throws BadInput for another model than BERT, a length below 3 or beyond the table of learnable
/// positions, a part below 1, a tokenizer whose vocabulary is larger than the model's.
void validate(const EncoderSettings&, const gpu::ModelConfiguration&, const text::Tokenizer&);

/// Texts to embeddings of length 1. For one thread.
class TextEncoder {
 public:
  /// @throws BadInput as validate. The tokenizer must outlive it.
  TextEncoder(const gpu::ModelConfiguration&, const std::vector<float>& parameters,
              const text::Tokenizer&, const EncoderSettings&);

  int width() const { return width_; }
  /// [texts, width]. @throws BadInput as text::frame, for a tokenizer without cls, sep and pad.
  std::vector<float> embeddings(std::span<const std::string> texts);

 private:
  const text::Tokenizer& tokenizer_;
  const EncoderSettings settings_;
  const int width_;
  gpu::Scorer scorer_;
};

/// Of every query the `count` documents whose embeddings have the largest cosines with its own,
/// best first (text::ranking). The embeddings of all documents are in memory.
std::vector<std::vector<std::size_t>> rankings(TextEncoder&, const text::RetrievalTask&,
                                               std::size_t count);

/// nDCG@10 of every query (text::ndcg).
std::vector<double> ndcg_at_10(const text::RetrievalTask&,
                               const std::vector<std::vector<std::size_t>>& rankings);

/// Training data out of rankings, as the text of a file: for every query and every document that is
/// relevant to it a line of models/text/pairs.hpp, with the `negatives` best documents that are not
/// relevant: hard negatives, as Xuan et al., ECCV 2020, and Karpukhin et al., arXiv:2004.04906,
/// section 3.2, take them. Those that nobody has judged may be relevant nevertheless.
std::string mined_pairs(const text::RetrievalTask&,
                        const std::vector<std::vector<std::size_t>>& rankings,
                        std::size_t negatives);

}  // namespace plumbline::evaluation
