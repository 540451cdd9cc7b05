// SPDX-License-Identifier: Apache-2.0
// A right kernel at a length that the oracle would take long for, and broken twins, each with the
// identity that catches it.
#include "verdict/identities/identities.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "support/error.hpp"

BOOST_AUTO_TEST_SUITE(identities_test)

using namespace plumbline;
using cases::Pass;
using verdict::Outcome;

namespace {

/// What is wrong with the twin.
enum class Twin {
  right,
  adds_to_o,
  k_on_a_grid,
  keys_of_first_batch,
  own_slopes,
  values_lost,
  o_not_below_zero,
  score_of_position,
  lse_base_2,
  scores_capped,
  lse_without_maximum,
  nan_to_zero,
  key_nan_ignored,
  nan_everywhere,
  nan_value_to_zero,
  grad_o_clamped,
  grad_k_on_a_grid,
  grad_v_off,
  grad_k_unscaled,
  d_missing
};
Twin twin = Twin::right;

float rounded_to(float x, float grid) { return std::round(x / grid) * grid; }

/// Plain loops over one row: the scores, and with what bias.
class Rows {
 public:
  explicit Rows(const plumbline_problem& p) : p_(p), score(p.keys), visible(p.keys) {}

  void read(int row) {
    const int r = row % p_.queries, h = row / p_.queries % p_.heads,
              b = row / p_.queries / p_.heads;
    position = r + p_.query_offset;
    head = h;
    slope_at = p_.options[PLUMBLINE_SLOPES_PER_BATCH] != 0 ? b * p_.heads + h : h;
    kv = b * p_.kv_heads + h / (p_.heads / p_.kv_heads);
    const int of_keys = twin == Twin::keys_of_first_batch ? kv % p_.kv_heads : kv;
    q = static_cast<const float*>(p_.q) + row * p_.head_dim;
    k = static_cast<const float*>(p_.k) + of_keys * p_.keys * p_.head_dim;
    v = static_cast<const float*>(p_.v) + kv * p_.keys * p_.head_dim;
    largest = -INFINITY;
    for (int j = 0; j < p_.keys; ++j) {
      visible[j] =
          !(p_.causal && j > position) &&
          (!p_.documents || p_.documents[b * p_.keys + j] == p_.documents[b * p_.keys + position]);
      if (!visible[j]) continue;
      float dot = 0;
      for (int d = 0; d < p_.head_dim; ++d) {
        const float key = k[j * p_.head_dim + d];
        dot += q[d] * (twin == Twin::k_on_a_grid ? rounded_to(key, 0.125f) : key);
      }
      score[j] = static_cast<float>(p_.scale) * dot + bias(j);
      if (twin == Twin::score_of_position) score[j] += 1e-3f * static_cast<float>(j);
      if (twin == Twin::scores_capped) score[j] = std::min(score[j], 4.0f);
      if (twin == Twin::key_nan_ignored && std::isnan(score[j])) score[j] = -INFINITY;
      largest = std::max(largest, score[j]);
    }
  }

  int position = 0, head = 0, slope_at = 0, kv = 0;
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  float largest = 0;

 private:
  float bias(int j) const {
    const auto distance = static_cast<float>(std::abs(position - j));
    if (p_.bias == PLUMBLINE_ALIBI) {
      const float slope = twin == Twin::own_slopes
                              ? std::exp2(-4.0f * static_cast<float>(head + 1)) * 1.5f
                              : p_.parameters[PLUMBLINE_SLOPES][slope_at];
      return -slope * distance;
    }
    if (p_.bias == PLUMBLINE_T5_CLIPPED) return p_.parameters[PLUMBLINE_TABLE][entry(j)];
    return 0;
  }
  const plumbline_problem& p_;

 public:
  int entry(int j) const {
    const int most = static_cast<int>(p_.options[PLUMBLINE_LARGEST]);
    return head * (most + 1) + std::min(std::max(position - j, 0), most);
  }
  std::vector<float> score;
  std::vector<char> visible;
};

int forward(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  const int dim = p->head_dim;
  Rows row(*p);
  for (int n = 0; n < p->batch * p->heads * p->queries; ++n) {
    row.read(n);
    float* o = static_cast<float*>(out->o) + n * dim;
    std::fill_n(o, dim, 0.0f);
    float total = 0;
    for (int j = 0; j < p->keys; ++j) {
      if (!row.visible[j]) continue;
      const float weight = std::exp(row.score[j] - row.largest);
      total += weight;
      if (twin == Twin::values_lost && j % 8 == 3) continue;
      for (int d = 0; d < dim; ++d) o[d] += weight * row.v[j * dim + d];
    }
    static bool seen;  // by an earlier row of this call
    seen = (n > 0 && seen) || std::isnan(total);
    if (twin == Twin::nan_everywhere && seen) total = NAN;
    for (int d = 0; d < dim; ++d) {
      o[d] /= total;
      if (twin == Twin::nan_to_zero && std::isnan(total)) o[d] = 0;
      if (twin == Twin::nan_value_to_zero && std::isnan(o[d])) o[d] = 0;
      if (twin == Twin::adds_to_o) o[d] += 1e-6f;
      if (twin == Twin::o_not_below_zero) o[d] = std::max(o[d], 0.0f);
    }
    out->lse[n] = row.largest + std::log(total);
    if (twin == Twin::lse_base_2) out->lse[n] *= 1.44269504f;
    if (twin == Twin::lse_without_maximum) out->lse[n] = std::log(total);
  }
  return 0;
}

int backward(const plumbline_problem* p, const plumbline_gradients* g, char*, size_t) {
  const int dim = p->head_dim;
  const auto scale = static_cast<float>(p->scale);
  float *dq = static_cast<float*>(g->grad_q), *dk = static_cast<float*>(g->grad_k),
        *dv = static_cast<float*>(g->grad_v), *table = g->grad_parameters[PLUMBLINE_TABLE];
  const int keys = p->batch * p->kv_heads * p->keys * dim;
  std::fill_n(dq, p->batch * p->heads * p->queries * dim, 0.0f);
  std::fill_n(dk, keys, 0.0f);
  std::fill_n(dv, keys, 0.0f);
  if (table)
    std::fill_n(table, p->heads * (static_cast<int>(p->options[PLUMBLINE_LARGEST]) + 1), 0.0f);
  Rows row(*p);
  for (int n = 0; n < p->batch * p->heads * p->queries; ++n) {
    row.read(n);
    const float* o = static_cast<const float*>(g->o) + n * dim;
    std::vector<float> grad_o(dim);
    float of_row = 0;  // D
    for (int d = 0; d < dim; ++d) {
      grad_o[d] = static_cast<const float*>(g->grad_o)[n * dim + d];
      if (twin == Twin::grad_o_clamped) grad_o[d] = std::min(grad_o[d], 1.5f);
      of_row += grad_o[d] * o[d];
    }
    if (twin == Twin::d_missing) of_row = 0;
    for (int j = 0; j < p->keys; ++j) {
      if (!row.visible[j]) continue;
      const float weight = std::exp(row.score[j] - g->lse[n]);
      const int at = (row.kv * p->keys + j) * dim;
      float dp = 0;
      for (int d = 0; d < dim; ++d) dp += grad_o[d] * row.v[j * dim + d];
      const float ds = weight * (dp - of_row);
      for (int d = 0; d < dim; ++d) {
        dv[at + d] += weight * grad_o[d] * (twin == Twin::grad_v_off ? 1.1f : 1.0f);
        dq[n * dim + d] += ds * scale * row.k[j * dim + d];
        dk[at + d] += ds * (twin == Twin::grad_k_unscaled ? 1.0f : scale) * row.q[d];
      }
      if (table) table[row.entry(j)] += ds;
    }
  }
  if (twin == Twin::grad_k_on_a_grid) {
    for (int n = 0; n < keys; ++n) dk[n] = rounded_to(dk[n], 0x1p-20f);
  }
  return 0;
}

int supports(const plumbline_problem* p, int32_t pass) {
  return pass != PLUMBLINE_DECODE && p->format == PLUMBLINE_FP32 && !p->ssmax &&
         (p->bias == PLUMBLINE_NOPE || p->bias == PLUMBLINE_ALIBI ||
          p->bias == PLUMBLINE_T5_CLIPPED) &&
         p->dape == 0 && p->rope == 0;
}

/// glibc's exp is within 1 ulp. A Kernel refers to what it is made of.
verdict::Kernel kernel(bool deterministic = true) {
  static plumbline_kernel kernels[2];
  plumbline_kernel& k = kernels[deterministic];
  k.name = "loops";
  for (auto& contract : k.contracts) {
    contract = {};
    contract.unit_roundoff = 0x1p-24;
    contract.exp_error = 0x1.4p-22;
    contract.splits = 1;
  }
  k.deterministic = deterministic;
  k.supports = supports;
  k.forward = forward;
  k.backward = backward;
  return verdict::Kernel(nullptr, k);
}

cases::Spec spec_of(Pass pass, cases::Bias bias, bool causal, int keys) {
  cases::Spec spec;
  spec.pass = pass;
  spec.bias = bias;
  spec.batch = spec.heads = spec.kv_heads = 2;
  spec.queries = 2;
  spec.keys = keys;
  spec.query_offset = spec.keys - spec.queries;
  spec.head_dim = 8;
  spec.mask.causal = causal;
  spec.seed = 3;
  return spec;
}

struct Asked {
  Pass pass;
  cases::Bias bias;
  bool causal;
};
constexpr Asked nope{Pass::forward, PLUMBLINE_NOPE, false},
    alibi{Pass::forward, PLUMBLINE_ALIBI, true}, t5{Pass::forward, PLUMBLINE_T5_CLIPPED, true},
    nope_backward{Pass::backward, PLUMBLINE_NOPE, false},
    t5_backward{Pass::backward, PLUMBLINE_T5_CLIPPED, true};

std::vector<verdict::Identity> identities(const Asked& asked, Twin wrong, int keys) {
  twin = wrong;
  auto result =
      verdict::check_identities(kernel(), spec_of(asked.pass, asked.bias, asked.causal, keys));
  twin = Twin::right;
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_kernel_keeps_every_identity) {
  int asked_in_all = 0;
  for (const Asked& asked : {nope, alibi, t5, nope_backward, t5_backward}) {
    for (const auto& identity : identities(asked, Twin::right, 32768)) {
      BOOST_TEST((identity.outcome == Outcome::pass), identity.name << ": " << identity.where);
      asked_in_all += identity.not_asked.empty();
      BOOST_TEST_MESSAGE(cases::name(asked.bias) << " " << identity.name << " " << identity.worst
                                                 << " " << identity.not_asked);
    }
  }
  BOOST_TEST(asked_in_all > 30);
}

BOOST_AUTO_TEST_CASE(each_identity_catches_a_broken_twin) {
  struct Broken {
    Twin twin;
    Asked asked;
    const char* identity;
  };
  const Broken broken[] = {
      {Twin::adds_to_o, nope, "values_doubled"},
      {Twin::k_on_a_grid, alibi, "scale_moved"},
      {Twin::keys_of_first_batch, nope, "batches_reversed"},
      {Twin::own_slopes, alibi, "heads_reversed"},
      {Twin::values_lost, t5, "values_of_one"},
      {Twin::o_not_below_zero, nope, "values_split"},
      {Twin::score_of_position, nope, "keys_reversed"},
      {Twin::lse_base_2, nope, "keys_twice"},
      {Twin::scores_capped, t5, "scores_shifted"},
      {Twin::lse_without_maximum, t5, "ranges_merged"},
      {Twin::nan_to_zero, nope, "nan_in_query"},
      {Twin::nan_everywhere, alibi, "nan_in_query"},
      {Twin::key_nan_ignored, t5, "nan_in_key"},
      {Twin::nan_value_to_zero, nope, "nan_in_value"},
      {Twin::grad_o_clamped, nope_backward, "gradient_doubled"},
      {Twin::grad_k_on_a_grid, nope_backward, "scale_moved"},
      {Twin::grad_v_off, nope_backward, "values_paired"},
      {Twin::grad_k_unscaled, nope_backward, "keys_paired"},
      {Twin::d_missing, t5_backward, "table_balanced"},
  };
  for (const Broken& b : broken) {
    const auto all = identities(b.asked, b.twin, 4096);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& i) { return i.name == b.identity; });
    BOOST_REQUIRE(found != all.end());
    BOOST_TEST((found->outcome == Outcome::fail), b.identity << " " << found->worst);
    BOOST_TEST(!found->where.empty());
  }
}

BOOST_AUTO_TEST_CASE(bits_are_not_asked_of_a_kernel_whose_bits_may_differ) {
  auto spec = spec_of(Pass::forward, PLUMBLINE_NOPE, false, 64);
  for (const auto& identity : verdict::check_identities(kernel(false), spec)) {
    const bool bits = identity.name == "values_doubled" || identity.name == "scale_moved" ||
                      identity.name == "batches_reversed" || identity.name == "heads_reversed";
    BOOST_TEST((identity.not_asked == "its bits may differ from run to run") == bits);
  }
}

BOOST_AUTO_TEST_CASE(a_spec_that_the_identities_do_not_know_is_bad_input) {
  auto spec = spec_of(Pass::forward, PLUMBLINE_NOPE, false, 64);
  spec.ssmax = true;
  BOOST_CHECK_THROW(verdict::check_identities(kernel(), spec), BadInput);
  spec = spec_of(Pass::decode, PLUMBLINE_NOPE, false, 64);
  BOOST_CHECK_THROW(verdict::check_identities(kernel(), spec), BadInput);
  spec = spec_of(Pass::forward, PLUMBLINE_NOPE, false, 64);
  spec.query_offset = 0;
  BOOST_CHECK_THROW(verdict::check_identities(kernel(), spec), BadInput);
}

BOOST_AUTO_TEST_SUITE_END()
