// SPDX-License-Identifier: Apache-2.0
// Which tokens a training step sees: a function of the step, so that nothing but the step needs to
// be saved, and any number of ranks and of accumulated parts see the same batch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/text/token_stream.hpp"

namespace plumbline::text {

inline constexpr std::int32_t no_label = -100;  ///< no loss here: PyTorch's ignore_index

enum class Order { sequential, shuffled };

/// What stands around a row of BERT: cls before, sep behind.
struct Frame {
  Token cls, sep;
};

struct SamplerOptions {
  int batch = 1;   ///< B, rows of the whole batch: of all ranks and all accumulated parts together
  int length = 1;  ///< T, tokens a row
  Order order = Order::sequential;
  std::uint64_t seed = 1;      ///< of the shuffled order
  Token end_of_text = 0;       ///< begins a document
  std::optional<Frame> frame;  ///< for BERT; then there are no next-token labels
};

/// Rows of a batch, row-major [rows, length] but for `starts`.
struct Batch {
  int rows = 0, length = 0;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> labels;     ///< the next token of the stream; no_label with a frame
  std::vector<std::int32_t> documents;  ///< 0 at the row's begin, 1 more at every end-of-text
  std::vector<std::int32_t> positions;  ///< places since the row's begin or its last end-of-text
  std::vector<std::int64_t> starts;     ///< [rows]: where in the stream the row begins
};

/// Rows first, ..., first + count - 1 of a batch.
struct Rows {
  int first = 0, count = 0;
};

/// The rows of part `part` of `parts` equal ones: of a rank, or of a step of gradient accumulation.
/// @throws BadInput unless parts divides batch, naming `what` has the parts ("ranks").
Rows rows_of_part(int batch, int part, int parts, const char* what);

/// Windows of length T at 0, T, 2T, ... of the stream; row r of step s is window number
/// n = s B + r of an endless sequence: an epoch after the other has each window once, in the
/// stream's order or in one shuffled anew (models/text/permutation.hpp). A window's last label is
/// the token behind it, so that there are floor((size - 1) / T) of them; with a frame, floor(size /
/// (T
/// - 2)), between cls and sep. llm.c's sequential order is the same but for an epoch's end: it
/// leaves out what does not fill a batch, where here the next epoch begins within the batch.
class Sampler {
 public:
  /// @throws BadInput naming the field: batch or length below 1, a frame and length below 3, a
  /// stream that is shorter than one window.
  Sampler(TokenStream stream, const SamplerOptions& options);

  std::int64_t windows() const { return windows_; }  ///< in an epoch
  /// Full batches in an epoch.
  std::int64_t steps_of_an_epoch() const { return windows_ / options_.batch; }
  const SamplerOptions& options() const { return options_; }

  /// Some rows of step `step`. @throws std::out_of_range for rows that the batch does not have, or
  /// a negative step.
  Batch batch(std::int64_t step, Rows rows) const;
  Batch batch(std::int64_t step) const { return batch(step, {0, options_.batch}); }

 private:
  std::int64_t window(std::int64_t number) const;

  TokenStream stream_;
  SamplerOptions options_;
  std::int64_t windows_ = 0;
};

/// A short name for a stream's tokens, to notice that a run is resumed on other data: its length
/// and 4096 evenly spaced tokens, mixed (FNV-1a). Equal streams have equal ones; unequal ones that
/// differ in none of those tokens, too.
std::uint64_t fingerprint(const TokenStream& stream);

}  // namespace plumbline::text
