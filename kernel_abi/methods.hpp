// SPDX-License-Identifier: Apache-2.0
// The position methods that a kernel may have: one row a method says what it is called, what it
// reads, how a test draws that and how a model learns it. Names, shapes and ranges; no arithmetic,
// so that kernels and oracle may both read it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>

#include "plumbline_kernel.h"

namespace plumbline::methods {

/// A list that a constant may have. @tparam most items.
template <class Item, std::size_t most>
struct List {
  std::array<Item, most> items{};
  std::size_t count = 0;

  constexpr List() = default;
  constexpr List(std::initializer_list<Item> list) {
    for (const Item& item : list) add(item);
  }
  constexpr void add(const Item& item) { items.at(count++) = item; }
  constexpr const Item* begin() const { return items.data(); }
  constexpr const Item* end() const { return items.data() + count; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
};

/// What a parameter's shape is made of: sizes of the problem, and options of the method.
enum class Extent : std::uint8_t {
  one,
  batch,
  heads,
  twice_heads,
  queries,
  keys,
  head_dim,
  taps,              ///< of DAPE's convolutions
  hidden,            ///< option
  buckets,           ///< option
  positions,         ///< option
  distances,         ///< 0 to the option `largest`
  signed_distances,  ///< -largest to largest
  batch_or_1,        ///< by the option per_batch
  heads_or_1,        ///< per_head
  queries_or_1,      ///< per_query
  batch_or_none,     ///< slopes_per_batch: no axis at all where it is 0
};

/// Where a parameter's numbers come from in a generated case. With z standard normal:
enum class Draw : std::uint8_t {
  normal,      ///< a z
  uniform,     ///< in [a, b)
  whole,       ///< the same, rounded down
  slopes,      ///< ALiBi's official ones, or any
  increments,  ///< max(0, z) / 2 or |z| / 4
  gain,        ///< (z + sqrt(z^2 + 4)) / 2
  log_forget,  ///< (z - sqrt(z^2 + 4)) / 4
  theta_beta,  ///< in [-1, 1.5], 0 and 1 among them
  theta_mu,    ///< in [-0.25, 0.25], mostly 0
};

/// How a learned parameter begins in a model.
enum class Start : std::uint8_t {
  constant,  ///< a
  normal,    ///< N(0, a^2)
  uniform,   ///< in (0, a), raised to `least`
  by_head,   ///< a (h + 1) / heads; of constants of models alone
};

/// A parameter as one method reads it.
struct Parameter {
  plumbline_parameter id{};
  List<Extent, 4> shape;
  struct {
    Draw from;
    double a = 0, b = 0;
  } draw{};
  /// After ".position." among a layer's parameters; null: a model has it as a constant, [heads].
  const char* in_models = nullptr;
  /// In a model: a linear map of the layer's input for each head, not a parameter itself.
  bool from_input = false;
  struct {
    Start as = Start::constant;
    double a = 0;
  } start{};
  /// Where an update of a model's puts it back to.
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
  bool has_gradient = true;
  /// Its name in a custom bias; null: that of parameter_infos.
  const char* name = nullptr;
};

/// An option as one method reads it, and what a generated case draws it from.
struct Option {
  plumbline_option id{};
  std::array<double, 4> choices{};  ///< all 0: always the default
  plumbline_option drawn_with{};    ///< the option whose draw chooses: itself, or one it fits
};

/// Whether methods take prefix sums of it, along the keys.
constexpr bool is_summed(plumbline_parameter parameter) {
  return parameter == PLUMBLINE_INCREMENTS || parameter == PLUMBLINE_LOG_FORGET;
}

struct Method;

/// A bias, and what composes with it.
struct Bias {
  plumbline_bias method = PLUMBLINE_NOPE;
  int dape = 0;  ///< version of DAPE, 1 or 2; 0 for none
  plumbline_rope rope = PLUMBLINE_NO_ROPE;
  const Method* custom = nullptr;  ///< the row of a custom bias, which must outlive this

  constexpr Bias() = default;
  /// @param method implicit: mostly a bias is no more.
  constexpr Bias(plumbline_bias method, int dape = 0, plumbline_rope rope = PLUMBLINE_NO_ROPE)
      : method(method), dape(dape), rope(rope) {}
  constexpr auto operator<=>(const Bias&) const = default;

  constexpr bool has_rope() const { return rope != PLUMBLINE_NO_ROPE; }
  /// Width of DAPE's convolutions; 0 without DAPE.
  constexpr int dape_taps() const { return dape == 0 ? 0 : dape == 1 ? 1 : 3; }
};

/// Of a problem whose numbers is_bias has looked at.
constexpr Bias bias_of(const plumbline_problem& p) {
  return {static_cast<plumbline_bias>(p.bias), p.dape, static_cast<plumbline_rope>(p.rope)};
}

/// What a bias is made of, beside parameters of its head.
enum class Kind : std::uint8_t {
  none,         ///< 0
  distance,     ///< i - j alone
  prefix_sums,  ///< of a parameter, at i and j
  positions,    ///< i and j
  pairs,        ///< a number of each query row and key
  other_scores,
};

struct Method {
  plumbline_bias bias{};
  const char* name = nullptr;
  const char* formula = nullptr;  ///< of b_ij
  const char* source = "";
  Kind kind = Kind::distance;
  List<Parameter, 10> parameters{};
  List<Option, 5> options{};
  bool causal_only = false;  ///< has no meaning without a causal mask
  bool of_the_past = false;  ///< the same for all keys after the query
  bool in_models = true;     ///< has a meaning without inputs of its own from outside
  bool symmetric = false;    ///< without a causal mask b_ij is of |i - j| or |S_i - S_j|
  bool with_rope = true;
  bool with_dape = false;
  const char* short_name = nullptr;  ///< under which models know it, too
  double epsilon = 1e-5;             ///< default of that option
  int dape_taps = 0;                 ///< of a composed bias (of): width of DAPE's convolutions

  /// Whether what is added to a score depends on other scores.
  constexpr bool needs_scores() const { return dape_taps > 0 || kind == Kind::other_scores; }
  constexpr bool reads(plumbline_parameter parameter) const {
    for (const Parameter& one : parameters) {
      if (one.id == parameter) return true;
    }
    return false;
  }
  /// The parameter whose prefix sum it takes; -1 for none.
  constexpr int summed() const {
    for (const Parameter& parameter : parameters) {
      if (is_summed(parameter.id)) return parameter.id;
    }
    return -1;
  }
};

/// A parameter as files, messages and tables name it, and what its numbers must be.
struct ParameterInfo {
  const char* name;
  double least, most;  ///< infinite where there is no limit
  bool may_be_zero;
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// The code of Kerple clamps to 0.01, as a float has it.
inline constexpr float kerple_least = 0.01f;

// In the order of plumbline_parameter.
inline constexpr std::array<ParameterInfo, PLUMBLINE_PARAMETER_COUNT> parameter_infos{{
    {"ssmax_scale", -infinity, infinity, true},
    {"slopes", -infinity, infinity, true},
    {"increments", 0, infinity, true},
    {"gain", 0, infinity, true},
    {"theta_alpha", -infinity, infinity, true},
    {"theta_beta", -infinity, infinity, true},
    {"theta_mu", -infinity, infinity, true},
    {"p", kerple_least, infinity, true},
    {"a", kerple_least, infinity, true},
    {"table", -infinity, infinity, true},
    {"hidden_weight", -infinity, infinity, true},
    {"hidden_bias", -infinity, infinity, true},
    {"output_weight", -infinity, infinity, true},
    {"output_bias", -infinity, infinity, true},
    {"c", -infinity, infinity, false},
    {"L", -infinity, infinity, false},
    {"log_forget", -infinity, 0, true},
    {"position_embedding", -infinity, infinity, true},
    {"compression", 0, infinity, false},
    {"tensor", -infinity, infinity, true},
    {"sinks", -infinity, infinity, true},
    {"custom_0", -infinity, infinity, true},
    {"custom_1", -infinity, infinity, true},
    {"custom_2", -infinity, infinity, true},
    {"custom_3", -infinity, infinity, true},
    {"custom_4", -infinity, infinity, true},
    {"custom_5", -infinity, infinity, true},
}};
inline constexpr std::size_t most_custom_parameters =
    PLUMBLINE_PARAMETER_COUNT - PLUMBLINE_CUSTOM_0;
static_assert(PLUMBLINE_PARAMETER_COUNT == PLUMBLINE_CUSTOM_5 + 1,
              "parameters of custom biases are the last ones");

/// The largest size along one dimension that any case has.
inline constexpr int largest_size = 1 << 24;

/// An option, and what it is where nothing is said.
struct OptionInfo {
  const char* name;
  double otherwise, least, most;
  bool whole;
};

// In the order of plumbline_option. A fp32 kernel may take epsilon as a float.
inline constexpr std::array<OptionInfo, PLUMBLINE_OPTION_COUNT> option_infos{{
    {"epsilon", 1e-5, 0x1p-126, 0x1p127, false},
    {"buckets", 32, 2, 4096, true},
    {"max_distance", 128, 2, largest_size, true},
    {"largest", 256, 0, 4096, true},
    {"hidden", 32, 1, 256, true},
    {"L0", 512, 0x1p-20, largest_size, false},
    {"base", 10000, 1, 0x1p40, false},
    {"positions", 64, 1, 4096, true},
    {"per_batch", 1, 0, 1, true},
    {"per_head", 1, 0, 1, true},
    {"per_query", 1, 0, 1, true},
    {"in_format_of_o", 0, 0, 1, true},
    {"slopes_per_batch", 0, 0, 1, true},
}};

namespace rows {

using Parameters = List<Parameter, 10>;

/// The models' other linear layers begin so; biases with 0.
inline constexpr double linear = 0.02;

inline constexpr Parameter slopes{.id = PLUMBLINE_SLOPES,
                                  .shape = {Extent::batch_or_none, Extent::heads},
                                  .draw = {Draw::slopes},
                                  .has_gradient = false};
inline constexpr Parameter increments{.id = PLUMBLINE_INCREMENTS,
                                      .shape = {Extent::batch, Extent::heads, Extent::keys},
                                      .draw = {Draw::increments},
                                      .in_models = "increment",
                                      .from_input = true};
inline constexpr Parameter gain{.id = PLUMBLINE_GAIN,
                                .shape = {Extent::batch, Extent::heads, Extent::queries},
                                .draw = {Draw::gain},
                                .in_models = "gain",
                                .from_input = true};
inline constexpr Parameter log_forget{.id = PLUMBLINE_LOG_FORGET,
                                      .shape = {Extent::batch, Extent::heads, Extent::keys},
                                      .draw = {Draw::log_forget},
                                      .in_models = "forget_gate",
                                      .from_input = true};
/// BAM, section 2.4: a model learns one a head, which begins at 1.
inline constexpr Parameter ssmax_scale{.id = PLUMBLINE_SSMAX_SCALE,
                                       .shape = {Extent::heads},
                                       // From 1/4, about 1/ln(64), which makes the factor 1 at 64
                                       // keys, to 1, the published start.
                                       .draw = {Draw::uniform, 0.25, 1.0},
                                       .in_models = "scale",
                                       .start = {Start::constant, 1}};

/// A logit of each head in the denominator of the softmax, learned.
inline constexpr Parameter sinks{
    .id = PLUMBLINE_SINKS, .shape = {Extent::heads}, .draw = {Draw::normal, 3.0}};

inline constexpr Parameters alibi{slopes}, cable{increments, gain}, cable_nw{increments};

/// p >= 0.01, at most 2 for the power, a >= 0.01. They begin uniform in (0, 2) and (0, 1).
constexpr Parameters kerple(float most) {
  return {{.id = PLUMBLINE_P,
           .shape = {Extent::heads},
           .draw = {Draw::uniform, 0.0625, 2.0},
           .in_models = "p",
           .start = {Start::uniform, 2},
           .least = kerple_least,
           .most = most},
          {.id = PLUMBLINE_A,
           .shape = {Extent::heads},
           .draw = {Draw::uniform, 0.0625, 2.0},
           .in_models = "a",
           .start = {Start::uniform, 1},
           .least = kerple_least}};
}
inline constexpr Parameters kerple_log = kerple(std::numeric_limits<float>::infinity()),
                            kerple_power = kerple(2.0f);

inline constexpr Parameters ggd{{.id = PLUMBLINE_THETA_ALPHA,
                                 .shape = {Extent::heads},
                                 .draw = {Draw::uniform, -1.0, 1.5},
                                 .in_models = "theta_alpha"},
                                {.id = PLUMBLINE_THETA_BETA,
                                 .shape = {Extent::heads},
                                 .draw = {Draw::theta_beta},
                                 .in_models = "theta_beta"},
                                {.id = PLUMBLINE_THETA_MU,
                                 .shape = {Extent::heads},
                                 .draw = {Draw::theta_mu},
                                 .in_models = "theta_mu"}};

constexpr Parameters table(Extent rows) {
  return {{.id = PLUMBLINE_TABLE,
           .shape = {Extent::heads, rows},
           .draw = {Draw::normal, 1.0},
           .in_models = "table",
           .start = {Start::normal, linear}}};
}

/// A hidden layer and an output for each head; FIRE's and DAPE's have their own shapes and factors.
constexpr void add_network(Parameters& parameters, List<Extent, 4> hidden, List<Extent, 4> output,
                           double of_hidden, double of_output) {
  parameters.add({.id = PLUMBLINE_HIDDEN_WEIGHT,
                  .shape = hidden,
                  .draw = {Draw::normal, of_hidden},
                  .in_models = "hidden.weight",
                  .start = {Start::normal, linear}});
  parameters.add({.id = PLUMBLINE_HIDDEN_BIAS,
                  .shape = {Extent::hidden},
                  .draw = {Draw::normal, 0.5},
                  .in_models = "hidden.bias"});
  parameters.add({.id = PLUMBLINE_OUTPUT_WEIGHT,
                  .shape = output,
                  .draw = {Draw::normal, of_output},
                  .in_models = "output.weight",
                  .start = {Start::normal, linear}});
  parameters.add({.id = PLUMBLINE_OUTPUT_BIAS,
                  .shape = {Extent::heads},
                  .draw = {Draw::normal, 1.0},
                  .in_models = "output.bias"});
}

constexpr Parameters fire() {
  Parameters parameters;
  add_network(parameters, {Extent::hidden}, {Extent::heads, Extent::hidden}, 1.0, 0.5);
  parameters.add({.id = PLUMBLINE_C,
                  .shape = {Extent::one},
                  .draw = {Draw::uniform, 0.0625, 0.5},
                  .in_models = "c",
                  .start = {Start::constant, 0.1}});
  parameters.add({.id = PLUMBLINE_L,
                  .shape = {Extent::one},
                  .draw = {Draw::uniform, 0.5, 1.5},
                  .in_models = "L",
                  .start = {Start::constant, 1.0}});
  return parameters;
}

/// 8 h / H for head h = 1 .. H.
inline constexpr Parameters sandwich{{.id = PLUMBLINE_COMPRESSION,
                                      .shape = {Extent::heads},
                                      .draw = {Draw::uniform, 0.5, 8.0},
                                      .start = {Start::by_head, 8}}};

inline constexpr Parameters cope{// As published it begins without positions.
                                 {.id = PLUMBLINE_POSITION_EMBEDDING,
                                  .shape = {Extent::heads, Extent::positions, Extent::head_dim},
                                  .draw = {Draw::normal, 0.125},
                                  .in_models = "embedding"}};

inline constexpr Parameters bias_tensor{
    {.id = PLUMBLINE_TENSOR,
     .shape = {Extent::batch_or_1, Extent::heads_or_1, Extent::queries_or_1, Extent::keys},
     .draw = {Draw::normal, 1.0}}};
inline constexpr List<Option, 5> broadcasting{
    {PLUMBLINE_PER_BATCH, {1, 0, 1, 0}, PLUMBLINE_PER_BATCH},
    {PLUMBLINE_PER_HEAD, {1, 0, 1, 0}, PLUMBLINE_PER_HEAD},
    {PLUMBLINE_PER_QUERY, {1, 1, 1, 0}, PLUMBLINE_PER_QUERY},
    {PLUMBLINE_IN_FORMAT_OF_O, {1, 0, 1, 0}, PLUMBLINE_IN_FORMAT_OF_O}};

// With 20 buckets and a largest distance of 320 T5's logarithms meet whole numbers at 20, 40, 80,
// ..., where floating point may land a bucket too low.
inline constexpr List<Option, 5> t5{
    {PLUMBLINE_BUCKETS, {32, 16, 8, 20}, PLUMBLINE_BUCKETS},
    {PLUMBLINE_MAX_DISTANCE, {128, 64, 20, 320}, PLUMBLINE_BUCKETS}};
inline constexpr List<Option, 5> clipped{{PLUMBLINE_LARGEST, {0, 2, 16, 256}, PLUMBLINE_LARGEST}};

}  // namespace rows

/// The biases of i - j and numbers of the head, which every room has as one formula, by value of
/// plumbline_bias and type: ROW(KERPLE_LOG, KerpleLog).
#define PLUMBLINE_BIASES_OF_HEADS(ROW) \
  ROW(GGD, Ggd)                        \
  ROW(KERPLE_LOG, KerpleLog)           \
  ROW(KERPLE_POWER, KerplePower)       \
  ROW(SANDWICH, Sandwich)

/// In the order of plumbline_bias. In formulas x = |i - j|, g = gain, and S_i and F_i are the sums
/// of increments[0..i] and log_forget[0..i].
inline constexpr std::array<Method, PLUMBLINE_BIAS_COUNT> all{{
    {.bias = PLUMBLINE_NOPE, .name = "nope", .formula = "0", .kind = Kind::none},
    {.bias = PLUMBLINE_ALIBI,
     .name = "alibi",
     .formula = "-slopes[h] x",
     .source = "ALiBi, section 3; x for encoders too",
     .parameters = rows::alibi,
     // As FlashAttention-2 takes them.
     .options = {{PLUMBLINE_SLOPES_PER_BATCH, {0, 0, 0, 1}, PLUMBLINE_SLOPES_PER_BATCH}},
     .symmetric = true,
     .with_dape = true},
    {.bias = PLUMBLINE_CABLE,
     .name = "cable",
     .formula = "-g_i |S_i - S_j|",
     .source = "CABLE, equations 2-7, with the sign of its code",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable,
     .symmetric = true,
     .with_dape = true},
    {.bias = PLUMBLINE_CABLE_NW,
     .name = "cable_nw",
     .formula = "-|S_i - S_j|",
     .source = "CABLE without weights",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable_nw,
     .symmetric = true},
    {.bias = PLUMBLINE_K_CABLE,
     .name = "k_cable",
     .formula = "-g_i ln(1 + (S_i - S_j)^2)",
     .source = "CABLE's kernel form, the weight outside as in its code",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable,
     .symmetric = true},
    {.bias = PLUMBLINE_K_CABLE_NW,
     .name = "k_cable_nw",
     .formula = "-ln(1 + (S_i - S_j)^2)",
     .source = "CABLE's kernel form without weights",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable_nw,
     .symmetric = true},
    {.bias = PLUMBLINE_GGD,
     .name = "ggd",
     .formula = "-exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta, mu = exp(theta_mu) - "
                "exp(-theta_mu)",
     .source = "BAM, section 3 and appendix C: the generalised Gaussian prior",
     .parameters = rows::ggd,
     .options = {{PLUMBLINE_EPSILON}}},
    {.bias = PLUMBLINE_KERPLE_LOG,
     .name = "kerple_log",
     .formula = "-p ln(1 + a x)",
     .source = "KERPLE, its logarithmic form",
     .parameters = rows::kerple_log,
     .symmetric = true,
     .with_dape = true,
     .short_name = "kerple"},
    {.bias = PLUMBLINE_KERPLE_POWER,
     .name = "kerple_power",
     .formula = "-a x^p, 0 for x = 0",
     .source = "KERPLE, its power form",
     .parameters = rows::kerple_power,
     .symmetric = true},
    {.bias = PLUMBLINE_T5,
     .name = "t5",
     .formula =
         "table[h, bucket(max(i - j, 0))], n in bucket n below E = floor(buckets / 2), else in "
         "min(buckets - 1, E + floor(ln(n / E) / ln(max_distance / E) (buckets - E))), evaluated "
         "exactly",
     .source = "T5, relative_position_bucket for decoders; T5 itself has scale 1",
     .parameters = rows::table(Extent::buckets),
     .options = rows::t5,
     .of_the_past = true},
    {.bias = PLUMBLINE_T5_BIDIRECTIONAL,
     .name = "t5_bidirectional",
     .formula = "t5 with buckets / 2 for x, and the other half of the table where j > i",
     .source = "T5, relative_position_bucket for encoders",
     .parameters = rows::table(Extent::buckets),
     .options = rows::t5},
    {.bias = PLUMBLINE_T5_CLIPPED,
     .name = "t5_clipped",
     .formula = "table[h, min(max(i - j, 0), largest)]",
     .source = "T5 as CABLE's article has it",
     .parameters = rows::table(Extent::distances),
     .options = rows::clipped,
     .of_the_past = true},
    {.bias = PLUMBLINE_T5_CLIPPED_OFFSET,
     .name = "t5_clipped_offset",
     .formula = "table[h, largest + clamp(i - j, -largest, largest)]",
     .source = "T5 as CABLE's code has it",
     .parameters = rows::table(Extent::signed_distances),
     .options = rows::clipped},
    {.bias = PLUMBLINE_FIRE,
     .name = "fire",
     .formula = "output_bias[h] + sum_w output_weight[h, w] max(0, hidden_weight[w] y + "
                "hidden_bias[w]), y = ln(1 + |c| x) / (ln(1 + |c| max(i, |L L0|)) + epsilon)",
     .source = "FIRE, equation 8, with the constants of its code",
     .kind = Kind::positions,
     .parameters = rows::fire(),
     .options = {{PLUMBLINE_HIDDEN, {32, 8, 8, 5}, PLUMBLINE_HIDDEN},
                 {PLUMBLINE_L0, {512, 64, 16, 4}, PLUMBLINE_L0},
                 {PLUMBLINE_EPSILON}},
     .symmetric = true,
     .epsilon = 1e-6},
    {.bias = PLUMBLINE_FOX,
     .name = "fox",
     .formula = "F_i - F_j, under a causal mask only",
     .source = "Forgetting Transformer, equation 5; log_forget is the logarithm of the gates",
     .kind = Kind::prefix_sums,
     .parameters = {rows::log_forget},
     .causal_only = true},
    {.bias = PLUMBLINE_CABLE_PAPER,
     .name = "cable_paper",
     .formula = "+g_i (S_i - S_j), below 0 for j > i",
     .source = "CABLE, equations 2-7 as printed, which reward distance",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable},
    {.bias = PLUMBLINE_CABLE_NW_PAPER,
     .name = "cable_nw_paper",
     .formula = "+(S_i - S_j), below 0 for j > i",
     .source = "CABLE without weights, as printed",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable_nw},
    {.bias = PLUMBLINE_K_CABLE_PAPER,
     .name = "k_cable_paper",
     .formula = "-ln(1 + (g_i (S_i - S_j))^2)",
     .source = "CABLE's kernel form as printed, the weight inside",
     .kind = Kind::prefix_sums,
     .parameters = rows::cable},
    {.bias = PLUMBLINE_COPE,
     .name = "cope",
     .formula = "(1 - w) z_n + w z_(n+1), z_n = q_i . position_embedding[h, n], n + w = min(sum of "
                "1 / (1 + exp(-scale q_i . k_m)) over the visible keys m >= j, positions - 1), "
                "0 <= w < 1",
     .source = "CoPE, equations 3-5",
     .kind = Kind::other_scores,
     .parameters = rows::cope,
     .options = {{PLUMBLINE_POSITIONS, {64, 16, 5, 1}, PLUMBLINE_POSITIONS}},
     // With RoPE the gates and the table would need a convention.
     .with_rope = false},
    {.bias = PLUMBLINE_SANDWICH,
     .name = "sandwich",
     .formula = "(sum over k = 1 .. 64 of cos(x 10000^(-k / 64)) - 64) / compression[h]",
     .source = "Sandwich (Chi et al., ACL 2023), with 128 numbers an embedding, and 64 taken away "
               "as in its code",
     .parameters = rows::sandwich,
     .symmetric = true},
    {.bias = PLUMBLINE_BIAS_TENSOR,
     .name = "bias_tensor",
     .formula = "tensor[b, h, r, j] of query row r; an axis of size 1 has the same number for all",
     .source = "the attention mask of floats that PyTorch, JAX and others add to the scaled scores",
     .kind = Kind::pairs,
     .parameters = rows::bias_tensor,
     .options = rows::broadcasting,
     .in_models = false},
}};

/// Every method has a row, in its place.
constexpr bool is_in_order() {
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all[n].bias != static_cast<plumbline_bias>(n) || all[n].name == nullptr ||
        all[n].formula == nullptr)
      return false;
    if ((all[n].kind == Kind::prefix_sums) != (all[n].summed() >= 0)) return false;
  }
  return true;
}
static_assert(is_in_order(), "kernel_abi/methods.hpp: a row for each plumbline_bias, in its order");

constexpr bool is_method(int bias) { return bias >= 0 && bias < PLUMBLINE_BIAS_COUNT; }

/// The row of a plumbline_bias. @throws std::out_of_range
constexpr const Method& row(int bias) { return all.at(static_cast<std::size_t>(bias)); }
/// The same, or the custom bias's own.
constexpr const Method& row(Bias bias) { return bias.custom ? *bias.custom : row(bias.method); }

/// Whether there is such a method, DAPE and RoPE, and whether they compose. With DAPE there is no
/// RoPE: no paper has both.
/// @param method, dape, rope any numbers.
constexpr bool is_bias(int method, int dape, int rope) {
  if (!is_method(method) || dape < 0 || dape > 2 || rope < 0 || rope >= PLUMBLINE_ROPE_COUNT) {
    return false;
  }
  if (dape > 0) return row(method).with_dape && rope == PLUMBLINE_NO_ROPE;
  return row(method).with_rope || rope == PLUMBLINE_NO_ROPE;
}
constexpr bool is_bias(Bias bias) {
  // To all but its formula a custom bias is like NoPE.
  if (bias.custom) return bias.dape == 0 && is_bias(PLUMBLINE_NOPE, 0, bias.rope);
  return is_bias(bias.method, bias.dape, bias.rope);
}

/// "alibi", "rope_half_split", "alibi+rope_half_split", "dape_v1_alibi". @throws std::out_of_range
inline std::string name_of(Bias bias) {
  constexpr std::array<const char*, PLUMBLINE_ROPE_COUNT> ropes{"", "rope_interleaved",
                                                                "rope_half_split"};
  std::string name = row(bias).name;
  if (bias.dape > 0) name = "dape_v" + std::to_string(bias.dape) + "_" + name;
  if (!bias.has_rope()) return name;
  const std::string rope = ropes.at(static_cast<std::size_t>(bias.rope));
  return bias == Bias(PLUMBLINE_NOPE, 0, bias.rope) ? rope : name + "+" + rope;
}

/// What is added to a score, or done to q and k. @throws std::out_of_range
inline std::string formula_of(Bias bias) {
  std::string text = row(bias).formula;
  if (bias.dape > 0) {
    text = "B + f([A; B]), A = scale q.k and B = " + text +
           " of all heads and keys; f is a convolution along the keys from 2 heads to hidden "
           "channels, "
           "LeakyReLU (max(x, x / 100)), and one to heads, both " +
           (bias.dape == 1 ? "1 wide"
                           : "3 wide (element d meets key j + d - 1), with A and B 0 in f for keys "
                             "after the query");
  }
  if (bias.has_rope()) {
    text +=
        bias.rope == PLUMBLINE_ROPE_INTERLEAVED
            ? "; q and k are rotated: components (2k, 2k + 1) by position base^(-2k / rotary_dim)"
            : "; q and k are rotated: components (k, k + rotary_dim / 2) by position "
              "base^(-2k / rotary_dim)";
  }
  return text;
}

inline std::string source_of(Bias bias) {
  if (bias.dape > 0) return bias.dape == 1 ? "DAPE, equation 2" : "DAPE V2, with its code";
  if (!bias.has_rope()) return row(bias).source;
  if (bias.method != PLUMBLINE_NOPE) return std::string(row(bias).source) + "; and RoFormer";
  return bias.rope == PLUMBLINE_ROPE_INTERLEAVED
             ? "RoFormer, equation 15; head_dim is even"
             : "RoFormer, as GPT-NeoX and LLaMA's code have it; head_dim is even";
}

/// All that the bias reads: the method's row, with DAPE's network and RoPE's base.
/// @throws std::out_of_range for what is_bias is not true of.
constexpr Method of(Bias bias) {
  if (!is_bias(bias)) throw std::out_of_range("no such bias");
  Method method = row(bias);
  method.dape_taps = bias.dape_taps();
  if (bias.dape > 0) {
    if (method.reads(PLUMBLINE_SLOPES)) method.options = {};  // of all sequences the same slopes
    rows::add_network(method.parameters, {Extent::hidden, Extent::twice_heads, Extent::taps},
                      {Extent::heads, Extent::hidden, Extent::taps}, 0.125, 0.125);
    method.options.add({PLUMBLINE_HIDDEN, {32, 8, 4, 1}, PLUMBLINE_HIDDEN});
  }
  if (bias.has_rope()) {
    method.options.add({PLUMBLINE_BASE, {10000, 10000, 500000, 100}, PLUMBLINE_BASE});
  }
  return method;
}

/// Whether a parameter has a number for each query or each key.
constexpr bool has_numbers_of_tokens(const Method& method) {
  for (const Parameter& parameter : method.parameters) {
    for (const Extent extent : parameter.shape) {
      if (extent == Extent::queries || extent == Extent::keys) return true;
    }
  }
  return false;
}

/// What a problem's sizes and options make of a parameter's shape.
struct Sizes {
  std::int64_t batch = 1, heads = 1, queries = 1, keys = 1, head_dim = 1;
  const double* options = nullptr;  ///< by plumbline_option
};

constexpr std::int64_t size_of(Extent extent, const Method& method, const Sizes& s) {
  const auto option = [&](plumbline_option which) {
    return static_cast<std::int64_t>(s.options[which]);
  };
  switch (extent) {
    case Extent::one:
      return 1;
    case Extent::batch:
      return s.batch;
    case Extent::heads:
      return s.heads;
    case Extent::twice_heads:
      return 2 * s.heads;
    case Extent::queries:
      return s.queries;
    case Extent::keys:
      return s.keys;
    case Extent::head_dim:
      return s.head_dim;
    case Extent::taps:
      return method.dape_taps;
    case Extent::hidden:
      return option(PLUMBLINE_HIDDEN);
    case Extent::buckets:
      return option(PLUMBLINE_BUCKETS);
    case Extent::positions:
      return option(PLUMBLINE_POSITIONS);
    case Extent::distances:
      return option(PLUMBLINE_LARGEST) + 1;
    case Extent::signed_distances:
      return 2 * option(PLUMBLINE_LARGEST) + 1;
    case Extent::batch_or_1:
      return option(PLUMBLINE_PER_BATCH) != 0 ? s.batch : 1;
    case Extent::heads_or_1:
      return option(PLUMBLINE_PER_HEAD) != 0 ? s.heads : 1;
    case Extent::queries_or_1:
      return option(PLUMBLINE_PER_QUERY) != 0 ? s.queries : 1;
    case Extent::batch_or_none:
      return option(PLUMBLINE_SLOPES_PER_BATCH) != 0 ? s.batch : 1;
  }
  throw std::logic_error("an extent without a size");
}

constexpr const char* in_words(Extent extent) {
  switch (extent) {
    case Extent::one:
      return "1";
    case Extent::batch:
      return "batch";
    case Extent::heads:
      return "heads";
    case Extent::twice_heads:
      return "2 heads";
    case Extent::queries:
      return "queries";
    case Extent::keys:
      return "keys";
    case Extent::head_dim:
      return "head_dim";
    case Extent::taps:
      return "width of the convolution";
    case Extent::hidden:
      return "hidden";
    case Extent::buckets:
      return "buckets";
    case Extent::positions:
      return "positions";
    case Extent::distances:
      return "largest + 1";
    case Extent::signed_distances:
      return "2 largest + 1";
    case Extent::batch_or_1:
      return "batch or 1";
    case Extent::heads_or_1:
      return "heads or 1";
    case Extent::queries_or_1:
      return "queries or 1";
    case Extent::batch_or_none:
      return "batch or none";
  }
  throw std::logic_error("an extent without a name");
}

/// The parameter's shape and the numbers that it may have: "[batch, heads, keys] >= 0".
inline std::string in_words(const Parameter& parameter) {
  std::string text;
  for (const Extent extent : parameter.shape) {
    if (extent == Extent::batch_or_none) continue;  // mostly there is none
    text += (text.empty() ? "[" : ", ") + std::string(in_words(extent));
  }
  const ParameterInfo& info = parameter_infos[parameter.id];
  text += "]";
  if (info.least == 0) text += " >= 0";
  if (info.least == kerple_least) text += " >= 0.01";
  if (info.most == 0) text += " <= 0";
  if (parameter.most == 2.0f) text += ", <= 2";
  if (!info.may_be_zero) text += ", not 0";
  return text;
}

/// The method's parameter, or SSMax's scale or the sinks, which go with every method.
/// @throws std::out_of_range where the method does not read it.
constexpr const Parameter& parameter_of(const Method& method, plumbline_parameter id) {
  if (id == PLUMBLINE_SSMAX_SCALE) return rows::ssmax_scale;
  if (id == PLUMBLINE_SINKS) return rows::sinks;
  for (const Parameter& parameter : method.parameters) {
    if (parameter.id == id) return parameter;
  }
  throw std::out_of_range("a parameter that the method does not read");
}

}  // namespace plumbline::methods
