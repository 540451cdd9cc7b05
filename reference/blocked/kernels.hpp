// SPDX-License-Identifier: Apache-2.0
// The loops that need the machine's vector instructions, and how the others reach them.
//
// Everything in simd/ is compiled once for each instruction set into a shared library of its own,
// from which the linker exports one function and nothing else: neither Eigen's nor the standard
// library's inline functions of one instruction set can then be taken for those of another. What
// crosses the border is plain: pointers, spans, structs of them, and TileBias.
#pragma once

#include <cstdint>
#include <span>

#include "reference/blocked/stored.hpp"
#include "reference/blocked/tile_bias.hpp"

namespace plumbline::reference::blocked {

/// Rows and keys of a tile. They fix the order of the sums, hence the bits of the results: three
/// tiles and the rows they come from stay in a cache of 1 MiB.
inline constexpr int row_tile = 128, key_tile = 256;

/// One head of attention.
struct Head {
  Stored q, k, v;
  double scale = 1.0;
  const TileBias* bias = nullptr;  ///< null: 0
  const int* document = nullptr;   ///< [keys]; null: no documents
};

/// Query rows of a head. All spans have one element a row.
struct QueryRows {
  std::span<const int> row;       ///< of q
  std::span<const int> position;  ///< where it stands among the keys
  std::span<const KeyRange> visible;
  std::span<const double> log_count;  ///< ln n, n visible keys; empty without SSMax
  double ssmax_scale = 0.0;           ///< s_h
};

/// Room for one thread's tiles. Pointers are aligned to 64 bytes.
struct Scratch {
  double* tile[3];  ///< each [row_tile, key_tile]
  double* q;        ///< [row_tile, head_dim]
  double* grad_output;
  double* k;  ///< [key_tile, head_dim]
  double* v;
};

/// What the backward pass knows of each row. p_j = e^(s_j - lse), ds_j = p_j (dp_j - shift).
struct RowUpstream {
  Stored grad_output;             ///< [any, head_dim]
  std::span<const int> grad_row;  ///< of grad_output, one a row
  std::span<const double> lse;    ///< one element a row
  std::span<const double> shift;  ///< likewise: sum_d do_d o_d - dL/dlse
};

/// Where the backward pass adds up. Null: not wanted.
struct GradientSums {
  double* q = nullptr;  ///< [rows, head_dim]
  double* k = nullptr;  ///< [keys, head_dim]
  double* v = nullptr;
  BiasSums* bias = nullptr;
  double* ssmax_scale = nullptr;
};

/// How the bias of CABLE's family depends on d = S_i - S_j and the gain g.
enum class PrefixForm {
  linear,      ///< g d
  absolute,    ///< -g |d|
  log_of_d,    ///< -g ln(1 + d^2)
  log_of_gain  ///< -ln(1 + (g d)^2)
};
struct PrefixArguments {
  PrefixForm form;
  const double* prefix_sum;  ///< by position
  const double* gain;        ///< null: 1
  int first_gain;            ///< position of gain[0]
};
/// Where their gradients add up; laid out alike.
struct PrefixSums {
  double *prefix_sum, *gain;
};

/// FIRE's network and what it reads. c is |c|, m the reach of a query.
struct FireArguments {
  int width;
  const double *hidden_weight, *hidden_bias, *output_weight;  ///< [width]
  double output_bias;
  const double* log_distance;    ///< by distance: ln(1 + c d)
  const double* distance_rate;   ///< by distance: d / (1 + c d)
  const double* divisor;         ///< by position: ln(1 + c m) + epsilon
  const double* reach_rate;      ///< by position: m / (1 + c m)
  const double* threshold_rate;  ///< by position: c / (1 + c m), or 0 where the query is farther
};
struct FireSums {
  double *hidden_weight, *hidden_bias, *output_weight;
  double *output_bias, *c, *threshold;  ///< of |c| and |L L0|
};

/// A dense matrix inside another, row-major: element (r, c) is data[r * stride + c].
struct Dense {
  const double* data;
  std::ptrdiff_t stride;
  bool transposed = false;
};

struct Kernels {
  const char* instruction_set;

  /// output = sum_j p_j v_j [rows, head_dim] and lse [rows] over those of `keys` that a row sees;
  /// both 0, and sees_no_key 1, where there are none. At most row_tile rows; any number of keys.
  void (*forward)(const Head&, const QueryRows&, std::span<const int> keys, const Scratch&,
                  double* output, double* lse, std::uint8_t* sees_no_key);
  /// Adds the gradients that a tile of at most row_tile rows and key_tile keys contributes.
  void (*backward)(const Head&, const QueryRows&, std::span<const int> keys, const RowUpstream&,
                   const Scratch&, const GradientSums&);

  /// scores(r, n) += zero[key n - query r], and the transpose: sums by that difference.
  void (*add_table)(const Tile&, const double* zero, double* scores);
  void (*accumulate_table)(const Tile&, const double* grad, double* zero);
  void (*add_prefix)(const Tile&, const PrefixArguments&, double* scores);
  void (*accumulate_prefix)(const Tile&, const PrefixArguments&, const double* grad,
                            const PrefixSums&);
  void (*add_fire)(const Tile&, const FireArguments&, double* scores);
  void (*accumulate_fire)(const Tile&, const FireArguments&, const double* grad, const FireSums&);

  /// C = A B, [m, k] times [k, n].
  void (*multiply)(int m, int n, int k, Dense a, Dense b, double* c, std::ptrdiff_t c_stride);
  /// sum_d a(r, d) b(r, d) for the chosen rows.
  void (*row_products)(const Stored& a, const Stored& b, std::span<const int> rows, double* sums);
  bool (*all_finite)(const Stored&);
  /// The functions themselves, for the tests of their errors.
  void (*exponential)(std::span<const double> x, double* y);
  void (*log_kernel)(std::span<const double> d, double* y);  ///< ln(1 + d^2)
};

/// Those of the widest instruction set that this machine has.
const Kernels& kernels();

/// Those of every instruction set that this machine has, the narrowest first.
std::span<const Kernels* const> available_kernels();

/// Makes kernels() return others from now on, for the tests. Not while something is computed.
void use_kernels(const Kernels& others);

}  // namespace plumbline::reference::blocked
