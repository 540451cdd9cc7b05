// SPDX-License-Identifier: Apache-2.0
// Other conventions than this project's, as ways to read a case differently.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/oracle/oracle.hpp"

namespace plumbline::verdict {

/// A query row of a case. The position is the case's own.
struct QueryRow {
  const cases::Case& the_case;
  int batch = 0, head = 0, query = 0, position = 0;
};

/// What a kernel of another convention computes from a case. It starts from the case as `reads`
/// changes it; a function that is null changes nothing. In the notation of plumbline_kernel.h:
/// s_ij = factor * (scale q_i . k_j + bias), the product capped where there is a softcap.
struct Convention {
  std::string_view name;        ///< one word for programs
  std::string_view words;       ///< "a kernel whose ...": what it computes
  std::string_view remedy;      ///< what to do about it
  bool of_natural_lse = false;  ///< not of a contract that has lse to base 2
  /// Whether it differs for this case at all; null: it may for every case.
  bool (*concerns)(const cases::Case&) = nullptr;
  void (*reads)(cases::Case&) = nullptr;
  /// What is visible is what the case itself says, not what `reads` makes of it.
  bool keeps_mask = false;
  /// Keys that are visible besides: one more condition.
  bool (*sees)(const QueryRow&, int key) = nullptr;
  /// The bias, of what the case as read adds at any key.
  double (*bias)(const std::function<double(int)>& of_key, const QueryRow&, int key) = nullptr;
  /// In place of c_i, from that and the number of visible keys.
  double (*factor)(double factor, const QueryRow&, int visible) = nullptr;
  /// s_ij = factor * scale q_i . k_j + bias.
  bool bias_without_factor = false;
  /// The softcap is of the sum with the bias.
  bool caps_bias = false;
  /// What is returned as lse, with its bound. `ssmax` is the case's own c_i.
  OracleNumber (*lse)(const OracleNumber& lse, double largest_score, double ssmax) = nullptr;
  /// What is returned as lse where no key is visible.
  double empty_lse = -std::numeric_limits<double>::infinity();
  /// The row of o, counted from 0, that a query's result is written to.
  std::size_t (*place)(const QueryRow&) = nullptr;
};

inline bool has_prefix_sum(const cases::Case& c) { return !c.summed().empty(); }
inline bool has_dropout(const cases::Case& c) { return c.spec.dropout > 0; }
inline void drop_dropout(cases::Case& c) {
  c.spec.dropout = 0;
  c.spec.keep_given = false;
  c.keep.clear();
}
inline bool has_rope(const cases::Case& c) { return c.spec.bias.has_rope(); }

/// Of a bias's sign, distance and factor.
const std::vector<Convention>& conventions_of_biases();
/// Of the parameters that a bias reads: slopes, gains, sums, constants.
const std::vector<Convention>& conventions_of_parameters();
/// Of masks, and of the positions of queries.
const std::vector<Convention>& conventions_of_masks();
/// Of which weights are dropped, and where.
const std::vector<Convention>& conventions_of_dropout();
/// Of the scale, the softcap, SSMax, the logarithm, heads, RoPE and layouts.
const std::vector<Convention>& conventions_of_scores();
/// Of numbers of 8 bits: their scales, and the format in which they are read.
const std::vector<Convention>& conventions_of_8_bits();
/// All of these.
std::vector<const Convention*> conventions_of_the_forward_pass();

}  // namespace plumbline::verdict
