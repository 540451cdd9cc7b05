// SPDX-License-Identifier: Apache-2.0
// A kernel library with one right kernel and several wrong ones, for fp32 without bias and mask.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "plumbline_kernel.h"

namespace {

int supports(const plumbline_problem* p, int32_t) {
  constexpr std::int32_t not_computed =
      PLUMBLINE_HAS_ROPE | PLUMBLINE_HAS_SOFTCAP | PLUMBLINE_HAS_SINKS | PLUMBLINE_HAS_MASK |
      PLUMBLINE_HAS_VALUE_DIM | PLUMBLINE_HAS_LSE_GRADIENT | PLUMBLINE_HAS_DROPOUT |
      PLUMBLINE_HAS_STRIDES | PLUMBLINE_HAS_PACKED_SEQUENCES;
  return p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_NOPE &&
         (plumbline_features(p) & not_computed) == 0;
}

bool visible(const plumbline_problem* p, int b, int i, int j) {
  if (p->lengths && (i >= p->lengths[b] || j >= p->lengths[b])) return false;
  if (p->causal && j > i) return false;
  if (p->window_left >= 0 && i - j > p->window_left) return false;
  if (p->window_right >= 0 && j - i > p->window_right) return false;
  if (i < 0) return false;
  return !p->documents || p->documents[b * p->keys + i] == p->documents[b * p->keys + j];
}

int attend(const plumbline_problem* p, const plumbline_outputs* out, int keys_dropped) {
  const float* scales = p->parameters[PLUMBLINE_SSMAX_SCALE];
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) {
    const int r = row % p->queries, h = row / p->queries % p->heads,
              b = row / p->queries / p->heads;
    const int i = r + (p->queries_at_end ? p->lengths[b] - p->queries : p->query_offset),
              kv = b * p->kv_heads + h / (p->heads / p->kv_heads);
    const float* q = static_cast<const float*>(p->q) + row * p->head_dim;
    float* o = static_cast<float*>(out->o) + row * p->head_dim;
    std::vector<float> score;
    std::vector<int> keys;
    for (int j = 0; j < p->keys - keys_dropped; ++j) {
      if (!visible(p, b, i, j)) continue;
      const float* k = static_cast<const float*>(p->k) + (kv * p->keys + j) * p->head_dim;
      float dot = 0;
      for (int d = 0; d < p->head_dim; ++d) dot += q[d] * k[d];
      keys.push_back(j);
      score.push_back(static_cast<float>(p->scale) * dot);
    }
    float largest = -INFINITY, total = 0;
    const float n = static_cast<float>(keys.size());
    for (float& s : score) {
      if (scales) s *= scales[h] * std::log(n);
      largest = std::fmax(largest, s);
    }
    for (int d = 0; d < p->head_dim; ++d) o[d] = 0;
    for (std::size_t m = 0; m < keys.size(); ++m) {
      const float* v = static_cast<const float*>(p->v) + (kv * p->keys + keys[m]) * p->head_dim;
      const float weight = std::exp(score[m] - largest);
      total += weight;
      for (int d = 0; d < p->head_dim; ++d) o[d] += weight * v[d];
    }
    for (int d = 0; d < p->head_dim && !keys.empty(); ++d) o[d] /= total;
    out->lse[row] = keys.empty() ? -INFINITY : largest + std::log(total);
  }
  return 0;
}

int right(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  return attend(p, out, 0);
}
int drops_the_last_key_from_five_on(const plumbline_problem* p, const plumbline_outputs* out, char*,
                                    size_t) {
  return attend(p, out, p->keys >= 5);
}
int drops_the_last_key_from_many_on(const plumbline_problem* p, const plumbline_outputs* out, char*,
                                    size_t) {
  return attend(p, out, p->keys >= 100);
}
int wrong_for_head_dim_80(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  attend(p, out, 0);
  for (int row = 0; row < p->batch * p->heads * p->queries && p->head_dim == 80; ++row) {
    out->lse[row] += 1;
  }
  return 0;
}
/// Of an mpirun's ranks.
int right_on_rank_0(const plumbline_problem* p, const plumbline_outputs* out, char* message,
                    size_t size) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr || std::string(rank) == "0") return attend(p, out, 0);
  std::snprintf(message, size, "not here");
  return 1;
}
int writes_nothing(const plumbline_problem*, const plumbline_outputs*, char*, size_t) { return 0; }
int writes_before_o(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  attend(p, out, 0);
  static_cast<float*>(out->o)[-1] = 0;
  return 0;
}
int writes_after_lse(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  attend(p, out, 0);
  out->lse[p->batch * p->heads * p->queries] = 0;
  return 0;
}
int gives_up(const plumbline_problem*, const plumbline_outputs*, char* message, size_t size) {
  std::snprintf(message, size, "no room for the bias matrix");
  return 7;
}

int throws_on_the_second_call(const plumbline_problem* p, const plumbline_outputs* out, char*,
                              size_t) {
  static int calls = 0;
  struct OwnException : std::exception {
    const char* what() const noexcept override { return "thrown by the test kernel"; }
  };
  if (++calls % 2 == 0) throw OwnException();
  return attend(p, out, 0);
}
/// Zeroes q and v, and gives what would be right for them.
int changes_its_inputs(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  float* q = const_cast<float*>(static_cast<const float*>(p->q));
  float* v = const_cast<float*>(static_cast<const float*>(p->v));
  std::fill_n(q, p->batch * p->heads * p->queries * p->head_dim, 0.0f);
  std::fill_n(v, p->batch * p->kv_heads * p->keys * p->head_dim, 0.0f);
  return attend(p, out, 0);
}
int offers_head_dim_128_only(const plumbline_problem* p, int32_t pass) {
  return supports(p, pass) && p->head_dim == 128;
}
int loses_the_device(const plumbline_problem*, const plumbline_outputs*, char* message,
                     size_t size) {
  std::snprintf(message, size, "an illegal memory access");
  return PLUMBLINE_DEVICE_LOST;
}

int ends_the_program(const plumbline_problem*, const plumbline_outputs*, char*, size_t) {
  std::exit(0);
}
int crashes(const plumbline_problem* p, const plumbline_outputs*, char*, size_t) {
  *const_cast<volatile int*>(static_cast<const int*>(nullptr)) = p->keys;
  return 0;
}

/// Right, and off by a unit in the last place of an lse in every second run.
int differs_from_run_to_run(const plumbline_problem* p, const plumbline_outputs* out, char*,
                            size_t) {
  static int calls = 0;
  attend(p, out, 0);
  if (++calls % 2 == 0 && std::isfinite(out->lse[0])) {
    out->lse[0] = std::nextafter(out->lse[0], 0.0f);
  }
  return 0;
}

/// Its answers to earlier calls by shape: right for the first of each.
int keeps_what_it_gave(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  struct Given {
    std::vector<float> o, lse;
  };
  static std::map<std::array<int, 6>, Given> all;
  const auto [given, is_new] =
      all.try_emplace({p->batch, p->heads, p->kv_heads, p->queries, p->keys, p->head_dim});
  auto& [shape, outputs] = *given;
  const auto rows = static_cast<std::size_t>(p->batch) * p->heads * p->queries;
  float* o = static_cast<float*>(out->o);
  if (is_new) {
    attend(p, out, 0);
    outputs.o.assign(o, o + rows * p->head_dim);
    outputs.lse.assign(out->lse, out->lse + rows);
  }
  std::ranges::copy(outputs.o, o);
  std::ranges::copy(outputs.lse, out->lse);
  return 0;
}
/// The same of the first row's lse alone.
int keeps_an_lse(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  static std::map<std::array<int, 3>, float> all;
  attend(p, out, 0);
  out->lse[0] = all.try_emplace({p->keys, p->queries, p->heads}, out->lse[0]).first->second;
  return 0;
}

/// Wrong numbers in every seventh run.
int wrong_now_and_then(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  static int calls = 0;
  attend(p, out, 0);
  if (++calls % 7 == 0) static_cast<float*>(out->o)[0] += 1;
  return 0;
}
/// In small cases what the error of an exponential may be, in others not.
int lse_too_large(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  attend(p, out, 0);
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) out->lse[row] *= 1.00001f;
  return 0;
}

int supports_forty_two(const plumbline_problem*, int32_t) { return 42; }
int supports_throws(const plumbline_problem*, int32_t) {
  throw std::runtime_error("thrown by the test kernel");
}

constexpr plumbline_contract declared(double operand_roundoff) {
  plumbline_contract contract{};
  contract.unit_roundoff = 0x1p-24;
  contract.operand_roundoff = operand_roundoff;
  contract.exp_error = 0x1p-20;
  contract.splits = 1;
  return contract;
}
constexpr plumbline_contract contract = declared(0), rounds_operands = declared(0x1p-11);

constexpr plumbline_kernel forward_only(const char* name, decltype(&supports) supported,
                                        decltype(plumbline_kernel::forward) forward) {
  return {name,    {contract, contract, contract, contract},
          1,       supported,
          forward, nullptr,
          nullptr, PLUMBLINE_HOST_MEMORY};
}

const plumbline_kernel kernels[] = {
    forward_only("right", supports, right),
    forward_only("drops_the_last_key_from_five_on", supports, drops_the_last_key_from_five_on),
    forward_only("drops_the_last_key_from_many_on", supports, drops_the_last_key_from_many_on),
    forward_only("wrong_for_head_dim_80", supports, wrong_for_head_dim_80),
    forward_only("right_on_rank_0", supports, right_on_rank_0),
    forward_only("writes_nothing", supports, writes_nothing),
    forward_only("writes_before_o", supports, writes_before_o),
    forward_only("writes_after_lse", supports, writes_after_lse),
    forward_only("gives_up", supports, gives_up),
    forward_only("throws_on_the_second_call", supports, throws_on_the_second_call),
    forward_only("changes_its_inputs", supports, changes_its_inputs),
    forward_only("wrong_for_head_dim_128_only", offers_head_dim_128_only,
                 drops_the_last_key_from_five_on),
    forward_only("loses_the_device", supports, loses_the_device),
    forward_only("ends_the_program", supports, ends_the_program),
    forward_only("crashes", supports, crashes),
    forward_only("differs_from_run_to_run", supports, differs_from_run_to_run),
    forward_only("wrong_now_and_then", supports, wrong_now_and_then),
    forward_only("keeps_what_it_gave", supports, keeps_what_it_gave),
    forward_only("keeps_an_lse", supports, keeps_an_lse),
    forward_only("lse_too_large", supports, lse_too_large),
    {"may_differ_from_run_to_run",
     {contract, contract, contract, contract},
     0,
     supports,
     differs_from_run_to_run,
     nullptr,
     nullptr,
     PLUMBLINE_HOST_MEMORY},
    forward_only("supports_forty_two", supports_forty_two, right),
    forward_only("supports_throws", supports_throws, right),
    {"declares_tf32_products_in_fp32",
     {rounds_operands, contract, contract, contract},
     1,
     supports,
     right,
     nullptr,
     nullptr,
     PLUMBLINE_HOST_MEMORY},
};
const plumbline_library library{PLUMBLINE_ABI_VERSION, "test kernels", "CPU",
                                static_cast<int32_t>(std::size(kernels)), kernels};

}  // namespace

extern "C" const plumbline_library* plumbline_kernel_library() { return &library; }
