// SPDX-License-Identifier: Apache-2.0
// What a case is, short of its numbers: the shape, the method, the mask, where the data comes from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_abi/methods.hpp"
#include "reference/core/mask.hpp"

namespace plumbline::cases {

// In the order of plumbline_kernel.h, with the same numbers.
enum class Format { fp32, bf16, fp16, tf32, e4m3, e5m2 };
/// In which k and v of a cache are stored.
enum class CacheFormat { in_format, e4m3, e5m2, int8 };
enum class Pass { forward, backward, decode };
using methods::Bias;
using reference::Window;

/// Where the numbers of a generated case come from. `file` means that they were read, not
/// generated.
enum class Family {
  generic,    ///< standard normal q, k, v
  peaked,     ///< scores of large spread: softmax close to one-hot
  diffuse,    ///< scores of small spread: softmax close to uniform
  tied,       ///< all keys equal: every score of a row tied up to the bias
  huge,       ///< values near the top of the range that keeps scores finite in fp32
  subnormal,  ///< q, k, v subnormal in the case's format: scores come mostly from the bias
  level,      ///< q all 0, v whole numbers: every score is the bias, and 0 without one
  file
};

/// What a mask tensor shows of keys j to a query at position i, beside what the rest of the mask
/// hides.
enum class Pattern {
  none,         ///< there is no mask tensor
  prefix,       ///< prefix-LM: the keys of a prefix, and those up to i
  chunks,       ///< keys of the query's own chunk
  blocks,       ///< block-sparse: blocks of queries and keys, half of them hidden at random
  tree,         ///< a tree of drafted tokens at the end: those before it, ancestors and the token
  scattered,    ///< each pair at random; some queries see none
  sink_tokens,  ///< a window, and beside it the first keys, as StreamingLLM keeps them
  file          ///< as it was read
};

/// How q, k, v and o, and their gradients, lie in the memory that a kernel is given. Their numbers
/// are the same.
enum class Layout {
  contiguous,    ///< as plumbline_kernel.h has them, [batch, heads, tokens, width]
  tokens_first,  ///< [batch, tokens, heads, width]
  spaced,        ///< contiguous, but for a row of NaN after each row
  packed_qkv,    ///< q, k and v as parts of an array that has all three of each token; not decoding
  packed_sequences  ///< [tokens of all sequences, heads, width], none beyond a sequence's length
};

struct Mask {
  bool causal = true;
  Window window;           ///< i - j <= window.left, j - i <= window.right
  bool ragged = false;     ///< lengths are given
  bool documents = false;  ///< document ids are given
  Pattern pattern = Pattern::none;
  /// Whether each sequence and each head has a mask tensor of its own; or all have the same.
  bool per_batch = false, per_head = false;
  bool operator==(const Mask&) const = default;
};

/// Shape: q [batch, heads, queries, head_dim]; k [batch, kv_heads, keys, head_dim]; v [batch,
/// kv_heads, keys, value_width()].
/// Query row r stands at position r + query_offset (Case::position).
struct Spec {
  Pass pass = Pass::forward;
  Bias bias;
  Format format = Format::fp32;
  bool ssmax = false;
  int batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, head_dim = 64;
  int value_dim = 0;            ///< components of a row of v and o; 0: head_dim
  bool values_in_keys = false;  ///< v is the first value_width() components of k; not backward
  int query_offset = 0;         ///< above -queries
  bool queries_at_end = false;  ///< the last row of a sequence stands at its own last key
  int page_size = 0;            ///< decode: keys in a page of the cache; 0: k and v are contiguous
  CacheFormat cache = CacheFormat::in_format;  ///< decode, of formats other than e4m3 and e5m2
  bool scale_per_key = false;  ///< of such a cache: each key has its scale, not each key head
  Mask mask;
  Family family = Family::generic;
  std::uint64_t seed = 0;
  double scale = 0;           ///< multiplies q . k; 0: 1/sqrt(head_dim)
  double softcap = 0;         ///< cap of the scaled product; 0: none
  bool sinks = false;         ///< a logit of each head in the softmax's denominator
  bool lse_gradient = false;  ///< backward: a gradient comes in through lse, too
  int rotary_dim = 0;         ///< RoPE: components that it rotates, the first; 0: all of them
  float dropout = 0;          ///< probability with which p_ij is dropped; 0: none is
  bool keep_given = false;    ///< which are kept is not what the generator gives
  Layout layout = Layout::contiguous;
  bool operator==(const Spec&) const = default;

  bool is_packed() const { return layout == Layout::packed_sequences; }
  /// Rows do not lie one after the other; not of packed sequences.
  bool is_strided() const { return layout != Layout::contiguous && !is_packed(); }
  int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  /// Components that are rotated; 0 without RoPE.
  int rotary_width() const { return !bias.has_rope() ? 0 : rotary_dim > 0 ? rotary_dim : head_dim; }
  /// One more than the largest position of a key or a query.
  int positions() const { return std::max(keys, query_offset + queries); }
};

/// What multiplies q . k.
double scale_of(const Spec&);

// Names as the command line, the case files and the tables spell them.
std::string_view name(Format);
std::string_view name(Pass);
/// "alibi", "rope_half_split", "alibi+rope_half_split", "dape_v1_alibi".
std::string_view name(Bias);
std::string_view name(Family);
std::string_view name(CacheFormat);
std::string_view name(Pattern);
std::string_view name(Layout);
/// Whether what is added to a score depends on other scores: CoPE and DAPE.
bool needs_scores(Bias);
/// @throws BadInput naming `field`, the text and the known names.
Format format_from(std::string_view text, std::string_view field);
Pass pass_from(std::string_view text, std::string_view field);
Bias bias_from(std::string_view text, std::string_view field);
Family family_from(std::string_view text, std::string_view field);
CacheFormat cache_from(std::string_view text, std::string_view field);
Pattern pattern_from(std::string_view text, std::string_view field);
Layout layout_from(std::string_view text, std::string_view field);
/// Every method alone, RoPE without a bias, DAPE with every bias that it composes with.
const std::vector<Bias>& all_biases();
/// And RoPE with every bias that it composes with.
const std::vector<Bias>& every_bias();
const std::vector<Format>& all_formats();
const std::vector<Pass>& all_passes();

/// Largest size along one dimension, and largest number of elements of a tensor: beyond what an
/// index of 32 bits reaches, signed or not, and low enough that none of 64 bits overflows.
inline constexpr int largest_size = methods::largest_size;
inline constexpr std::int64_t largest_tensor = std::int64_t{1} << 33;

/// Whether every query row must stand at the position of a key: in decoding, with documents, and
/// with a number for each key that the bias reads at the query's position.
bool has_rows_at_keys(const Spec&);

/// Of packed sequences, whether some may have more queries than keys: where the mask is causal, and
/// hides all keys from the first of them.
bool may_have_more_queries(const Spec&);

/// Every field within its range: sizes in [1, largest_size], value_dim 0 or one of them, heads a
/// multiple of kv_heads, query_offset above -queries, query rows at positions of keys where
/// has_rows_at_keys, a bias that composes so (methods::is_bias), sides of the window >= -1, scale
/// and softcap 0 or normal fp32 numbers, no softcap, sinks or mask tensor with CoPE and DAPE, no
/// tensor above largest_tensor elements, page_size 0 but for decode, lse_gradient only backward,
/// values_in_keys only elsewhere and with values no wider than keys, FoX under a causal mask, RoPE
/// with an even head_dim or rotary_dim <= head_dim, dropout 0 or in [2^-24, 1 - 2^-10] and neither
/// in decoding nor with CoPE and DAPE, a cache of 8 bits only in decoding, of a format of more and
/// of a family that is neither subnormal nor level, packed sequences as plumbline_kernel.h allows
/// them.
/// @throws BadInput naming the first field that is not.
void validate(const Spec&);

/// One line of key=value pairs, e.g. "bias=alibi,dtype=bf16,batch=1,...,seed=7"; from_line inverts
/// it.
std::string to_line(const Spec&);
/// Keys may come in any order; a key that is left out keeps the default of Spec.
/// @throws BadInput for an unknown or repeated key, a value that does not parse, or a spec that is
/// not valid.
Spec from_line(std::string_view line);

}  // namespace plumbline::cases
