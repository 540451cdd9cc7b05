// SPDX-License-Identifier: Apache-2.0
// Causal attention with a bias that no list has. As a library it is judged by
// plumbline verify --kernel; as a program it prints the declaration for --bias-file.
#include <cstdio>
#include "plumbline_custom_bias.hpp"

struct LogDecay {
  template <class T>
  struct Parameters {
    T r, a;
    template <class D>
    PLUMBLINE_BOTH void declare(D& d) {
      d.per_head("r", r, plumbline::uniform(0.0625, 2));
      d.per_head("a", a, plumbline::uniform(0.0625, 2));
    }
  };
  template <class T>
  PLUMBLINE_BOTH T operator()(T i, T j, const Parameters<T>& p) const {
    return -p.r * log1p(p.a * abs(i - j));
  }
};

int main() { fputs(plumbline::declaration<LogDecay>("log_decay").c_str(), stdout); }

static int supports(const plumbline_problem* p, int32_t pass) {
  return pass == PLUMBLINE_FORWARD && p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_CUSTOM &&
         p->causal && !(plumbline_features(p) & ~PLUMBLINE_HAS_FEWER_QUERIES);
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, char*, size_t) {
  const int D = p->head_dim;
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) {
    const int i = row % p->queries + p->query_offset, head = row / p->queries;  // of all batches
    const auto bias = plumbline::parameters<LogDecay>(*p, head / p->heads, head % p->heads);
    const float* q = (const float*)p->q + size_t(row) * D;
    const float* k = (const float*)p->k + size_t(head) * p->keys * D;
    const float* v = (const float*)p->v + size_t(head) * p->keys * D;
    float *o = (float*)out->o + size_t(row) * D, largest = -INFINITY, sum = 0;
    for (int j = 0; j <= i; ++j) {  // the softmax as it goes along
      float dot = 0;
      for (int d = 0; d < D; ++d) dot += q[d] * k[j * D + d];
      const float s = float(p->scale) * dot + LogDecay{}(float(i), float(j), bias);
      const float now = fmaxf(largest, s), shrink = expf(largest - now), weight = expf(s - now);
      for (int d = 0; d < D; ++d) o[d] = (j ? shrink * o[d] : 0) + weight * v[j * D + d];
      sum = shrink * sum + weight, largest = now;
    }
    for (int d = 0; d < D; ++d) o[d] /= sum;
    out->lse[row] = largest + logf(sum);
  }
  return 0;
}

constexpr plumbline_contract fp32{0x1p-24, 0, PLUMBLINE_FP32, 0, 0x1p-20, 0, 1, 0, 0, 0, 0};
static const plumbline_kernel kernel = {"custom_bias", {fp32}, 1, supports, forward};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "C++ example", "CPU", 1, &kernel};
extern "C" const plumbline_library* plumbline_kernel_library() { return &library; }
