// SPDX-License-Identifier: Apache-2.0
// Which slopes, gains, sums and constants a bias is made of.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "verdict/cases/method_inputs.hpp"
#include "verdict/conventions/convention.hpp"

namespace plumbline::verdict {
namespace {
using cases::Case;
using OfKey = std::function<double(int)>;

bool is_alibi(const Case& c) { return c.spec.bias.method == PLUMBLINE_ALIBI; }
bool has_slopes_of_sequences(const Case& c) {
  return c[PLUMBLINE_SLOPES].size() > static_cast<std::size_t>(c.spec.heads);
}
bool has_gain(const Case& c) { return !c[PLUMBLINE_GAIN].empty(); }
bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

/// The slopes 2^(-exponent(h)), h = 0 .. heads - 1.
template <class Exponent>
void set_slopes(Case& c, Exponent exponent) {
  auto& slopes = c[PLUMBLINE_SLOPES];
  for (std::size_t n = 0; n < slopes.size(); ++n) {
    const auto h = static_cast<int>(n % static_cast<std::size_t>(c.spec.heads));
    slopes[n] = static_cast<float>(std::exp2(-exponent(h)));
  }
}

/// Each sequence's and head's numbers along the keys, changed one by one.
template <class Change>
void change_increments(Case& c, Change change) {
  for (const auto parameter : {PLUMBLINE_INCREMENTS, PLUMBLINE_LOG_FORGET}) {
    auto& numbers = c[parameter];
    for (auto first = numbers.begin(); first != numbers.end(); first += c.spec.keys) {
      change(first, first + c.spec.keys);
    }
  }
}

void reverse_heads(Case& c) {
  const auto heads = static_cast<std::size_t>(c.spec.heads);
  const methods::Method method = methods::of(c.spec.bias);
  for (const auto parameter : cases::parameters_of(c.spec.bias)) {
    const auto shape = cases::shape_of(c.spec, c.options, parameter);
    const bool by_batch = (shape.size() >= 3 && parameter != PLUMBLINE_POSITION_EMBEDDING) ||
                          (shape.size() == 2 && parameter == PLUMBLINE_SLOPES);
    const auto first = methods::parameter_of(method, parameter).shape.items[0];
    if (shape.size() == 1 && first != methods::Extent::heads && parameter != PLUMBLINE_SLOPES) {
      continue;
    }
    if (shape.empty() || (by_batch ? shape[1] : shape[0]) != c.spec.heads) continue;
    if (parameter == PLUMBLINE_HIDDEN_WEIGHT || parameter == PLUMBLINE_HIDDEN_BIAS) continue;
    auto& numbers = c[parameter];
    const std::size_t of_batch = by_batch ? numbers.size() / shape[0] : numbers.size();
    const std::size_t of_head = of_batch / heads;
    std::vector<float> reversed;
    for (std::size_t start = 0; start < numbers.size(); start += of_batch) {
      for (std::size_t h = heads; h-- > 0;) {
        const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(start + h * of_head);
        reversed.insert(reversed.end(), from, from + static_cast<std::ptrdiff_t>(of_head));
      }
    }
    numbers = std::move(reversed);
  }
}

bool has_tensor(const Case& c) { return c.spec.bias.method == PLUMBLINE_BIAS_TENSOR; }

/// The tensor with the number of (b, h, r, j) taken from where `from` moves these.
template <class From>
void read_tensor_from(Case& c, From from) {
  const auto shape = cases::shape_of(c.spec, c.options, PLUMBLINE_TENSOR);
  const std::vector<float> given = c[PLUMBLINE_TENSOR];
  std::size_t n = 0;
  std::array<std::int64_t, 4> at{};
  for (at[0] = 0; at[0] < shape[0]; ++at[0])
    for (at[1] = 0; at[1] < shape[1]; ++at[1])
      for (at[2] = 0; at[2] < shape[2]; ++at[2])
        for (at[3] = 0; at[3] < shape[3]; ++at[3]) {
          std::array<std::int64_t, 4> moved = at;
          from(moved);
          std::int64_t place = 0;
          for (std::size_t axis = 0; axis < 4; ++axis) place = place * shape[axis] + moved[axis];
          c[PLUMBLINE_TENSOR][n++] = given[static_cast<std::size_t>(place)];
        }
}

/// Whether the tensor has more than one number along the axis.
bool tensor_has(const Case& c, std::size_t axis) {
  return has_tensor(c) && cases::shape_of(c.spec, c.options, PLUMBLINE_TENSOR)[axis] > 1;
}

double ggd_of_published_code(const OfKey&, const QueryRow& row, int key) {
  const Case& c = row.the_case;
  const double alpha = c[PLUMBLINE_THETA_ALPHA][row.head], beta = c[PLUMBLINE_THETA_BETA][row.head];
  const double theta_mu = c[PLUMBLINE_THETA_MU][row.head];
  const double mu = std::exp(theta_mu) - std::exp(-theta_mu);
  return -std::pow(
      std::abs((key - row.position - mu) * std::exp(alpha)) + c.options[PLUMBLINE_EPSILON], beta);
}

const std::vector<Convention> parameter_conventions{
    {.name = "gain_missing",
     .words = "whose bias is not multiplied by g_i",
     .remedy = "multiply it by the gain of the query",
     .concerns = has_gain,
     .reads = [](Case& c) { std::fill(c[PLUMBLINE_GAIN].begin(), c[PLUMBLINE_GAIN].end(), 1.0F); }},
    {.name = "gain_of_key",
     .words = "whose bias is multiplied by the gain of the key",
     .remedy = "take the gain of the query, g_i",
     // -g ln(1 + (S_i - S_j)^2) and -g |S_i - S_j| are multiples of it.
     .concerns =
         [](const Case& c) {
           return has_gain(c) && c.spec.bias.dape_taps() == 0 &&
                  c.spec.bias.method != PLUMBLINE_K_CABLE_PAPER && c.spec.queries == c.spec.keys;
         },
     .bias =
         [](const OfKey& b, const QueryRow& row, int j) {
           const auto& s = row.the_case.spec;
           const float* gain = row.the_case[PLUMBLINE_GAIN].data() +
                               static_cast<std::size_t>(row.batch * s.heads + row.head) * s.queries;
           return b(j) * gain[j] / gain[row.query];
         }},
    {.name = "slopes_from_one",
     .words = "whose slopes are 2^(-8 h / H), h from 0",
     .remedy = "read slopes[h]: they begin with 2^(-8 / H)",
     .concerns = is_alibi,
     .reads = [](Case& c) { set_slopes(c, [&](int h) { return 8.0 * h / c.spec.heads; }); }},
    {.name = "slopes_without_interleaving",
     .words = "whose slopes are 2^(-8 (h+1) / H) for this H too, which is no power of two",
     .remedy = "read slopes[h], or take those of the power of two below, then every second one of "
               "the power above",
     .concerns = [](const Case& c) { return is_alibi(c) && !is_power_of_two(c.spec.heads); },
     .reads = [](Case& c) { set_slopes(c, [&](int h) { return 8.0 * (h + 1) / c.spec.heads; }); }},
    {.name = "slopes_of_power_below",
     .words = "whose slopes go on with the ratio of the power of two below H",
     .remedy = "read slopes[h]: those beyond it are every second one of the power above",
     .concerns = [](const Case& c) { return is_alibi(c) && !is_power_of_two(c.spec.heads); },
     .reads =
         [](Case& c) {
           const auto power = std::bit_floor(static_cast<unsigned>(c.spec.heads));
           set_slopes(c, [&](int h) { return 8.0 * (h + 1) / power; });
         }},
    {.name = "slopes_of_power_above",
     .words = "whose slopes are the first ones of the power of two above H",
     .remedy = "read slopes[h]: only those beyond the power of two below come from it",
     .concerns = [](const Case& c) { return is_alibi(c) && !is_power_of_two(c.spec.heads); },
     .reads =
         [](Case& c) {
           const auto power = std::bit_ceil(static_cast<unsigned>(c.spec.heads));
           set_slopes(c, [&](int h) { return 8.0 * (h + 1) / power; });
         }},
    {.name = "slopes_sorted",
     .words = "whose slopes are sorted",
     .remedy = "read slopes[h]: those of the power of two above H follow the others",
     .concerns = [](const Case& c) { return is_alibi(c) && !is_power_of_two(c.spec.heads); },
     .reads =
         [](Case& c) {
           auto& slopes = c[PLUMBLINE_SLOPES];
           for (auto at = slopes.begin(); at != slopes.end(); at += c.spec.heads) {
             std::sort(at, at + c.spec.heads, std::greater<>());
           }
         }},
    {.name = "slopes_of_first_sequence",
     .words = "whose slopes are those of the first sequence in all",
     .remedy = "with the option slopes_per_batch read slopes[b, h]",
     .concerns = has_slopes_of_sequences,
     .reads =
         [](Case& c) {
           auto& slopes = c[PLUMBLINE_SLOPES];
           const auto heads = static_cast<std::size_t>(c.spec.heads);
           for (std::size_t n = 0; n < slopes.size(); ++n) slopes[n] = slopes[n % heads];
         }},
    {.name = "bias_heads_reversed",
     .words = "whose bias has the parameters of the heads in reverse order",
     .remedy = "read those of head h for head h",
     .concerns =
         [](const Case& c) {
           return c.spec.heads > 1 && !cases::parameters_of(c.spec.bias).empty();
         },
     .reads = reverse_heads},
    {.name = "tensor_of_first_sequence",
     .words = "that reads the bias tensor of the first sequence for all",
     .remedy = "read that of sequence b where the tensor has one for each",
     .concerns = [](const Case& c) { return tensor_has(c, 0); },
     .reads = [](Case& c) { read_tensor_from(c, [](auto& at) { at[0] = 0; }); }},
    {.name = "tensor_of_first_head",
     .words = "that reads the bias tensor of the first head for all",
     .remedy = "read that of head h where the tensor has one for each",
     .concerns = [](const Case& c) { return tensor_has(c, 1); },
     .reads = [](Case& c) { read_tensor_from(c, [](auto& at) { at[1] = 0; }); }},
    {.name = "tensor_of_first_query",
     .words = "that reads the bias tensor's first row for all queries",
     .remedy = "read row r where the tensor has one for each query",
     .concerns = [](const Case& c) { return tensor_has(c, 2); },
     .reads = [](Case& c) { read_tensor_from(c, [](auto& at) { at[2] = 0; }); }},
    {.name = "tensor_transposed",
     .words = "that reads the bias tensor with queries and keys exchanged",
     .remedy = "its last axis counts keys",
     .concerns = [](const Case& c) { return tensor_has(c, 2) && c.spec.queries == c.spec.keys; },
     .reads = [](Case& c) { read_tensor_from(c, [](auto& at) { std::swap(at[2], at[3]); }); }},
    {.name = "bias_of_key_alone",
     .words = "whose bias is slope j, without the -slope i that is the same for a whole row",
     .remedy = "add -slope |i - j|, since lse depends on it; a contract may say alibi_of_key, for "
               "causal masks without a window",
     .concerns = [](const Case& c) { return is_alibi(c) && c.spec.bias.dape == 0; },
     .bias =
         [](const OfKey&, const QueryRow& row, int j) {
           return double{row.the_case.of_head(PLUMBLINE_SLOPES, row.batch, row.head)} * j;
         }},
    {.name = "prefix_exclusive",
     .words = "whose prefix sums are exclusive: the key's own token counts, the query's does not",
     .remedy = "sum the increments of the tokens from j + 1 to i",
     .concerns = has_prefix_sum,
     .reads =
         [](Case& c) {
           change_increments(c, [](auto first, auto last) {
             std::copy_backward(first, last - 1, last);
             *first = 0.0F;
           });
         }},
    {.name = "prefix_reversed",
     .words = "whose increments are summed from the last token on",
     .remedy = "sum from the first token: S_i is the sum of those from 0 to i",
     .concerns = [](const Case& c) { return !c[PLUMBLINE_LOG_FORGET].empty(); },
     // S_i - S_j of suffix sums: minus the sum from j to i - 1.
     .reads =
         [](Case& c) {
           change_increments(c, [](auto first, auto last) {
             std::copy_backward(first, last - 1, last);
             *first = 0.0F;
             for (auto x = first; x != last; ++x) *x = -*x;
           });
         }},
    {.name = "tokens_reversed",
     .words = "that reads the increments from the last token to the first",
     .remedy = "read those of token t for token t",
     .concerns = has_prefix_sum,
     .reads =
         [](Case& c) {
           change_increments(c, [](auto first, auto last) { std::reverse(first, last); });
         }},
    {.name = "epsilon_missing",
     .words = "whose bias has no epsilon",
     .remedy = "add options[PLUMBLINE_EPSILON]",
     .concerns =
         [](const Case& c) {
           return c.spec.bias.method == PLUMBLINE_GGD || c.spec.bias.method == PLUMBLINE_FIRE;
         },
     // So small that it is lost in every sum; the equations take no 0.
     .reads = [](Case& c) { c.options[PLUMBLINE_EPSILON] = 0x1p-1000; }},
    {.name = "mu_sign",
     .words = "whose mu has the opposite sign",
     .remedy = "take |j - i - mu|",
     .concerns = [](const Case& c) { return c.spec.bias.method == PLUMBLINE_GGD; },
     .reads =
         [](Case& c) {
           for (float& mu : c[PLUMBLINE_THETA_MU]) mu = -mu;
         }},
    {.name = "ggd_of_published_code",
     .words = "whose bias is -(|(j - i - mu) e^theta_alpha| + epsilon)^theta_beta, as in BAM's "
              "published inference code",
     .remedy = "take -e^theta_alpha (|j - i - mu| + epsilon)^theta_beta",
     .concerns = [](const Case& c) { return c.spec.bias.method == PLUMBLINE_GGD; },
     .bias = ggd_of_published_code},
};

}  // namespace

const std::vector<Convention>& conventions_of_parameters() { return parameter_conventions; }

}  // namespace plumbline::verdict
