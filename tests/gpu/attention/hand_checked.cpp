// SPDX-License-Identifier: Apache-2.0
// Attention small enough to check by hand, through the C interface; and what every variant must
// keep: the caller's poison, the thread order's irrelevance, the refusal of what it cannot do.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulation/grid.hpp"
#include "plumbline_kernel.h"

BOOST_AUTO_TEST_SUITE(hand_checked_test)

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int D = 32;

/// fp32, one batch, one head, D = 32, scale 1; q = 0, so that only the bias speaks. V has 1 + j in
/// every column of key j.
struct Small {
  explicit Small(int length)
      : q(length * D, 0.0f),
        k(length * D, 1.0f),
        v(length * D),
        o(length * D, kNan),
        lse(length, kNan) {
    for (int j = 0; j < length; ++j)
      for (int d = 0; d < D; ++d) v[j * D + d] = static_cast<float>(1 + j);
    problem.struct_size = sizeof problem;
    problem.batch = problem.heads = problem.kv_heads = 1;
    problem.queries = problem.keys = length;
    problem.head_dim = problem.value_dim = D;
    problem.window_left = problem.window_right = -1;
    problem.scale = 1.0;
    problem.options[PLUMBLINE_EPSILON] = 0.5;
    problem.q = q.data();
    problem.k = k.data();
    problem.v = v.data();
  }

  std::string run(const plumbline_kernel& kernel) {
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    return kernel.forward(&problem, &outputs, message, sizeof message) == 0 ? "" : message;
  }

  std::vector<float> q, k, v, o, lse;
  plumbline_problem problem{};
};

/// 8 ulp: the rounding of one exponential, one sum and one quotient of a few terms.
constexpr double kFewUlp = 8 * 0x1p-24;

void check(const Small& small, int row, double o, double lse) {
  BOOST_TEST_INFO("row " << row);
  for (int d = 0; d < D; ++d) BOOST_TEST(std::abs(small.o[row * D + d] - o) <= kFewUlp * o);
  BOOST_TEST(std::abs(small.lse[row] - lse) <= kFewUlp * (1.0 + std::abs(lse)));
}

template <class Test>
void for_every_kernel(Test test) {
  const plumbline_library* library = plumbline_kernel_library();
  BOOST_REQUIRE(library != nullptr);
  BOOST_TEST(std::string(library->device) == "CPU emulation");
  for (int n = 0; n < library->kernel_count; ++n) {
    // The numbers are floats; kernels on tensor cores are judged by verify.
    plumbline_problem probe{};
    probe.struct_size = sizeof probe;
    probe.batch = probe.heads = probe.kv_heads = probe.queries = probe.keys = 1;
    probe.head_dim = probe.value_dim = 64;
    probe.window_left = probe.window_right = -1;
    probe.scale = 1.0;
    if (!library->kernels[n].supports(&probe, PLUMBLINE_FORWARD)) continue;
    BOOST_TEST_CONTEXT(library->kernels[n].name) { test(library->kernels[n]); }
  }
}

BOOST_AUTO_TEST_CASE(without_bias_a_row_is_the_mean_of_the_values_it_sees) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    Small small(3);
    small.problem.causal = 1;
    BOOST_TEST(small.run(kernel) == "");
    check(small, 0, 1.0, 0.0);
    check(small, 1, 1.5, std::log(2.0));
    check(small, 2, 2.0, std::log(3.0));
  });
}

BOOST_AUTO_TEST_CASE(alibi_with_slope_ln_2_halves_the_weight_at_each_step) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    Small small(3);
    const float slope = std::log(2.0f);
    small.problem.bias = PLUMBLINE_ALIBI;
    small.problem.parameters[PLUMBLINE_SLOPES] = &slope;
    BOOST_TEST(small.run(kernel) == "");
    check(small, 0, (1 + 2 / 2.0 + 3 / 4.0) / 1.75, std::log(1.75));
    check(small, 1, (1 / 2.0 + 2 + 3 / 2.0) / 2.0, std::log(2.0));
    check(small, 2, (1 / 4.0 + 2 / 2.0 + 3) / 1.75, std::log(1.75));
  });
}

BOOST_AUTO_TEST_CASE(each_sequence_may_have_slopes_of_its_own) {
  // Two sequences of two heads, two queries and three keys: a step divides weights by 1, 2, 4, 2.
  const float slopes[] = {0.0f, std::log(2.0f), std::log(4.0f), std::log(2.0f)};
  const double divisor[] = {1, 2, 4, 2};
  for_every_kernel([&](const plumbline_kernel& kernel) {
    Small small(8);
    plumbline_problem& p = small.problem;
    p.batch = p.heads = p.queries = 2;
    p.keys = 3;
    p.bias = PLUMBLINE_ALIBI;
    p.options[PLUMBLINE_SLOPES_PER_BATCH] = 1;
    p.parameters[PLUMBLINE_SLOPES] = slopes;
    BOOST_TEST(small.run(kernel) == "");
    for (int row = 0; row < 8; ++row) {
      double sum = 0, o = 0;
      for (int j = 0; j < 3; ++j) {
        const double weight = std::pow(divisor[row / 2], -std::abs(row % 2 - j));
        sum += weight;
        o += weight * (1 + row / 4 * 3 + j);
      }
      check(small, row, o / sum, std::log(sum));
    }
    p.options[PLUMBLINE_SLOPES_PER_BATCH] = 2;
    BOOST_TEST(small.run(kernel) == "slopes_per_batch must be 0 or 1");
  });
}

BOOST_AUTO_TEST_CASE(the_cable_biases_take_the_distance_of_prefix_sums) {
  // S = 1, 3, 6 and g = 1, 2, 0.5.
  const std::array<float, 3> increments{1.0f, 2.0f, 3.0f}, gain{1.0f, 2.0f, 0.5f};
  const auto value = [&](int bias, int i, int j) {
    const double s[] = {1.0, 3.0, 6.0}, d = std::abs(s[i] - s[j]), g = gain[i];
    switch (bias) {
      case PLUMBLINE_CABLE:
        return std::exp(-g * d);
      case PLUMBLINE_CABLE_NW:
        return std::exp(-d);
      case PLUMBLINE_K_CABLE:
        return std::pow(1.0 + d * d, -g);
      case PLUMBLINE_K_CABLE_NW:
        return 1.0 / (1.0 + d * d);
      case PLUMBLINE_CABLE_PAPER:
        return std::exp(g * (s[i] - s[j]));
      case PLUMBLINE_CABLE_NW_PAPER:
        return std::exp(s[i] - s[j]);
      case PLUMBLINE_K_CABLE_PAPER:
        return 1.0 / (1.0 + g * d * g * d);
      default:
        throw std::invalid_argument("no CABLE");
    }
  };
  for_every_kernel([&](const plumbline_kernel& kernel) {
    for (const int bias :
         {PLUMBLINE_CABLE, PLUMBLINE_CABLE_NW, PLUMBLINE_K_CABLE, PLUMBLINE_K_CABLE_NW,
          PLUMBLINE_CABLE_PAPER, PLUMBLINE_CABLE_NW_PAPER, PLUMBLINE_K_CABLE_PAPER}) {
      Small small(3);
      small.problem.bias = bias;
      small.problem.parameters[PLUMBLINE_INCREMENTS] = increments.data();
      small.problem.parameters[PLUMBLINE_GAIN] = gain.data();
      BOOST_TEST(small.run(kernel) == "");
      BOOST_TEST_INFO("bias " << bias);
      for (int i = 0; i < 3; ++i) {
        const double a = value(bias, i, 0), b = value(bias, i, 1), c = value(bias, i, 2);
        check(small, i, (a + 2 * b + 3 * c) / (a + b + c), std::log(a + b + c));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(ggd_measures_from_mu_and_keeps_epsilon) {
  // theta_alpha = 0, theta_beta = 1: b = -(|j - i - mu| + 1/2), mu = e - 1/e.
  const float zero = 0.0f, one = 1.0f;
  const double mu = std::exp(1.0) - std::exp(-1.0);
  for_every_kernel([&](const plumbline_kernel& kernel) {
    Small small(2);
    small.problem.bias = PLUMBLINE_GGD;
    small.problem.parameters[PLUMBLINE_THETA_ALPHA] = &zero;
    small.problem.parameters[PLUMBLINE_THETA_BETA] = &one;
    small.problem.parameters[PLUMBLINE_THETA_MU] = &one;
    BOOST_TEST(small.run(kernel) == "");
    for (int i = 0; i < 2; ++i) {
      const double a = std::exp(-(std::abs(0 - i - mu) + 0.5));
      const double b = std::exp(-(std::abs(1 - i - mu) + 0.5));
      check(small, i, (a + 2 * b) / (a + b), std::log(a + b));
    }
  });
}

BOOST_AUTO_TEST_CASE(ssmax_multiplies_content_and_bias_by_s_ln_n) {
  // Slope ln 2 and s = 1 / ln 3: three visible keys keep the weights, two change them.
  const float slope = std::log(2.0f), s = 1.0f / std::log(3.0f);
  for_every_kernel([&](const plumbline_kernel& kernel) {
    Small small(3);
    small.problem.bias = PLUMBLINE_ALIBI;
    small.problem.parameters[PLUMBLINE_SLOPES] = &slope;
    small.problem.ssmax = 1;
    small.problem.parameters[PLUMBLINE_SSMAX_SCALE] = &s;
    small.problem.causal = 1;
    BOOST_TEST(small.run(kernel) == "");
    const double weight = std::exp(-std::log(2.0) * std::log(2.0) / std::log(3.0));
    check(small, 0, 1.0, 0.0);
    check(small, 1, (weight + 2) / (weight + 1), std::log(weight + 1));
    check(small, 2, (1 / 4.0 + 2 / 2.0 + 3) / 1.75, std::log(1.75));
  });
}

BOOST_AUTO_TEST_CASE(rows_that_see_no_key_are_zero_with_lse_minus_infinity) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    Small small(40);
    const int length = 35;
    small.problem.lengths = &length;
    small.k[39 * D] = small.v[39 * D] = kNan;  // nobody may look there
    BOOST_TEST(small.run(kernel) == "");
    for (int i = 35; i < 40; ++i) {
      for (int d = 0; d < D; ++d) BOOST_TEST(small.o[i * D + d] == 0.0f);
      BOOST_TEST(small.lse[i] == -kInfinity);
    }
    check(small, 34, 18.0, std::log(35.0));
  });
}

BOOST_AUTO_TEST_CASE(an_invisible_infinity_of_v_stays_invisible) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    Small small(3);
    small.problem.causal = 1;
    small.v[2 * D] = kInfinity;
    BOOST_TEST(small.run(kernel) == "");
    BOOST_TEST(small.o[0] == 1.0f);
    BOOST_TEST(small.o[D] == 1.5f);
    BOOST_TEST(small.o[2 * D] == kInfinity);
  });
}

BOOST_AUTO_TEST_CASE(a_tensor_hides_keys_or_all_of_them) {
  const std::uint8_t mask[] = {1, 0, 1, 0, 0, 0, 0, 255, 0};
  for_every_kernel([&](const plumbline_kernel& kernel) {
    Small small(3);
    small.problem.mask = mask;
    small.k[D + 3] = kNan;  // which the third row alone sees
    BOOST_TEST(small.run(kernel) == "");
    check(small, 0, 2.0, std::log(2.0));
    for (int d = 0; d < D; ++d) BOOST_TEST(small.o[D + d] == 0.0f);
    BOOST_TEST(small.lse[1] == -kInfinity);
    BOOST_TEST(std::isnan(small.lse[2]));
    small.k[D + 3] = 1.0f;
    BOOST_TEST(small.run(kernel) == "");
    check(small, 2, 2.0, 0.0);
  });
}

BOOST_AUTO_TEST_CASE(a_row_without_keys_has_the_lse_of_its_sink) {
  const std::uint8_t mask[9] = {};
  const float sink = -0.5f;
  for_every_kernel([&](const plumbline_kernel& kernel) {
    Small small(3);
    small.problem.mask = mask;
    small.problem.sinks = 1;
    small.problem.parameters[PLUMBLINE_SINKS] = &sink;
    BOOST_TEST(small.run(kernel) == "");
    for (const float o : small.o) BOOST_TEST(o == 0.0f);
    for (const float lse : small.lse) BOOST_TEST(lse == sink);
  });
}

/// What the generator gives two sequences of two heads, two queries and three keys for the seed and
/// the offset below: u is above a half.
constexpr std::uint8_t kKept[] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0,
                                  1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0};

BOOST_AUTO_TEST_CASE(a_dropped_key_counts_in_the_denominator_alone) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    for (const int generator : {0, 1}) {
      std::vector<std::uint8_t> keep(std::begin(kKept), std::end(kKept));
      if (kernel.name == std::string("naive") && generator == 1)
        for (std::uint8_t& kept : keep) kept ^= 1;  // it does not look there
      Small small(8);
      plumbline_problem& p = small.problem;
      p.batch = p.heads = p.queries = 2;
      p.keys = 3;
      p.dropout = 0.5f;
      p.dropout_generator = generator;
      p.dropout_seed = 0x123456789abcdef0;
      p.dropout_offset = 0x1fffffffa;
      p.keep = keep.data();
      if (kernel.name == std::string("fused_skipping")) {
        BOOST_TEST(kernel.supports(&p, PLUMBLINE_FORWARD) == 0);
        BOOST_TEST(small.run(kernel) == "dropout must be 0 for this kernel");
        continue;
      }
      BOOST_TEST(small.run(kernel) == "");
      // The second sequence has the values 4, 5 and 6.
      const double o[] = {0, 2 * 2 / 3.0, 2 * 3 / 3.0, 2 * 1 / 3.0, 2 * 15 / 3.0, 2 * 11 / 3.0, 0,
                          0};
      for (int row = 0; row < 8; ++row) check(small, row, o[row], std::log(3.0));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_factors_of_dropout_stand_in_every_gradient) {
  // Both scores are 0: p = 1/2, m = 2 and 0, o = v_0 = 1. dO is the first unit vector: dP = 2 and
  // 0, D = 1, dS = 1/2 and -1/2.
  const std::uint8_t keep[] = {1, 0};
  for_every_kernel([&](const plumbline_kernel& kernel) {
    if (!kernel.backward) return;
    Small small(2);
    small.problem.queries = 1;
    small.problem.dropout = 0.5f;
    small.problem.keep = keep;
    small.q[1] = 4.0f;
    small.k[1] = small.k[D + 1] = 0.0f;
    std::fill(small.k.begin() + D + 2, small.k.end(), 3.0f);
    BOOST_TEST(small.run(kernel) == "");
    check(small, 0, 1.0, std::log(2.0));
    std::vector<float> grad_o(D, 0.0f), q(D, kNan), k(2 * D, kNan), v(k);
    grad_o[0] = 1.0f;
    const plumbline_gradients gradients{small.o.data(), small.lse.data(), grad_o.data(), nullptr,
                                        q.data(),       k.data(),         v.data(),      {}};
    char message[256] = "";
    BOOST_TEST(kernel.backward(&small.problem, &gradients, message, sizeof message) == 0, message);
    for (int d = 0; d < D; ++d) {
      const double of_q = d < 2 ? 0.0 : -1.0, of_k = d == 1 ? 2.0 : 0.0, of_v = d == 0 ? 1.0 : 0.0;
      BOOST_TEST(std::abs(q[d] - of_q) <= 2 * kFewUlp);
      BOOST_TEST(std::abs(k[d] - of_k) <= 2 * kFewUlp);
      BOOST_TEST(std::abs(k[D + d] + of_k) <= 2 * kFewUlp);
      BOOST_TEST(std::abs(v[d] - of_v) <= kFewUlp);
      BOOST_TEST(v[D + d] == 0.0f);
    }
  });
}

BOOST_AUTO_TEST_CASE(partial_rope_leaves_the_last_components) {
  // Of four components two pairs turn by i and i / 2; two of the others add 1/2.
  const auto score = [](int i, int j) { return std::cos(i - j) + std::cos((i - j) / 2.0) + 0.5; };
  for_every_kernel([&](const plumbline_kernel& kernel) {
    for (const int rope : {PLUMBLINE_ROPE_INTERLEAVED, PLUMBLINE_ROPE_HALF_SPLIT}) {
      Small small(2);
      small.problem.rope = rope;
      small.problem.rotary_dim = 4;
      small.problem.options[PLUMBLINE_BASE] = 4;
      std::fill(small.k.begin(), small.k.end(), 0.0f);
      for (std::vector<float>* x : {&small.q, &small.k})
        for (float* row : {x->data(), x->data() + D}) {
          row[0] = row[rope == PLUMBLINE_ROPE_INTERLEAVED ? 2 : 1] = 1.0f;
          row[D / 2] = 0.5f;
          row[D - 1] = x == &small.q ? 0.25f : 1.0f;
        }
      BOOST_TEST(small.run(kernel) == "");
      for (int i = 0; i < 2; ++i) {
        const double a = std::exp(score(i, 0)), b = std::exp(score(i, 1));
        check(small, i, (a + 2 * b) / (a + b), std::log(a + b));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(tensor_cores_leave_out_masks_dropout_narrow_values_and_slopes_of_a_sequence) {
  const plumbline_library* library = plumbline_kernel_library();
  static const std::uint8_t mask[9] = {};
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    const std::string name = kernel.name;
    if (!name.starts_with("mma") || name == "mma_fp8") continue;
    const bool has_rope = name == "mma_rope";
    BOOST_TEST_CONTEXT(kernel.name) {
      const auto refusal = [&](auto change) {
        Small small(3);
        small.problem.format = name == "mma_skipping" ? PLUMBLINE_BF16 : PLUMBLINE_TF32;
        if (has_rope) small.problem.rope = PLUMBLINE_ROPE_HALF_SPLIT;
        if (has_rope) small.problem.rotary_dim = D;
        small.problem.options[PLUMBLINE_BASE] = 10000;
        BOOST_TEST(kernel.supports(&small.problem, PLUMBLINE_FORWARD) == 1);
        change(small.problem);
        for (const int pass : {PLUMBLINE_FORWARD, PLUMBLINE_BACKWARD})
          BOOST_TEST(kernel.supports(&small.problem, pass) == 0);
        const std::string reason = small.run(kernel);
        if (kernel.backward) {
          char message[256] = "";
          const plumbline_gradients gradients{};
          BOOST_TEST(kernel.backward(&small.problem, &gradients, message, sizeof message) == 1);
          BOOST_TEST(reason == message);
        }
        return reason;
      };
      BOOST_TEST(refusal([](auto& p) { p.mask = mask; }) == "mask must be NULL for this kernel");
      BOOST_TEST(refusal([](auto& p) { p.value_dim = 16; }) ==
                 "value_dim must be head_dim for this kernel");
      BOOST_TEST(refusal([](auto& p) { p.dropout = 0.5f, p.keep = mask; }) ==
                 "dropout must be 0 for this kernel");
      BOOST_TEST(refusal([](auto& p) {
                   p.bias = PLUMBLINE_ALIBI, p.options[PLUMBLINE_SLOPES_PER_BATCH] = 1;
                 }) == "slopes_per_batch must be 0 for this kernel");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_gradient_through_lse_alone_moves_a_query_by_its_mean_key) {
  // dL/dq_i = scale dL/dlse_i sum_j p_ij k_j, which is o_i where the values are the keys. CoPE's
  // table is 0, so that it adds nothing to a score.
  const plumbline_library* library = plumbline_kernel_library();
  const std::vector<float> table(2 * D, 0.0f);
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    for (const int bias : {PLUMBLINE_NOPE, PLUMBLINE_COPE}) {
      for (const int format : {PLUMBLINE_FP32, PLUMBLINE_TF32}) {
        Small small(40);
        small.problem.bias = bias;
        small.problem.format = format;
        small.problem.causal = small.problem.lse_gradient = 1;
        small.problem.scale = 0.5;
        small.problem.options[PLUMBLINE_POSITIONS] = 2;
        small.problem.parameters[PLUMBLINE_POSITION_EMBEDDING] = table.data();
        if (!kernel.backward || !kernel.supports(&small.problem, PLUMBLINE_BACKWARD)) continue;
        for (std::size_t m = 0; m < small.q.size(); ++m) {
          small.q[m] = std::sin(static_cast<float>(m));
          small.k[m] = small.v[m] = std::cos(static_cast<float>(3 * m));
        }
        BOOST_TEST_CONTEXT(kernel.name << " " << bias << " " << format) {
          BOOST_TEST(small.run(kernel) == "");
          const std::vector<float> grad_o(small.o.size(), 0.0f);
          std::vector<float> grad_lse, q(small.q.size(), kNan), k = q, v = q;
          for (int i = 0; i < 40; ++i) grad_lse.push_back(static_cast<float>(i - 15));
          const plumbline_gradients gradients{
              small.o.data(), small.lse.data(), grad_o.data(), grad_lse.data(),
              q.data(),       k.data(),         v.data(),      {}};
          char message[256] = "";
          BOOST_TEST(kernel.backward(&small.problem, &gradients, message, sizeof message) == 0,
                     message);
          // Of keys up to 1; tf32 rounds P and dS by 2^-11.
          for (std::size_t m = 0; m < q.size(); ++m) {
            const double by_lse = grad_lse[m / D];
            BOOST_TEST(std::abs(q[m] - 0.5 * by_lse * small.o[m]) <= 0x1p-8 * std::abs(by_lse));
          }
          BOOST_TEST(std::all_of(v.begin(), v.end(), [](float x) { return x == 0.0f; }));
          ++runs;
        }
      }
    }
  }
  // fused, fused_atomic and unfused of two formats, mma and mma_atomic of one.
  BOOST_TEST(runs == 8);
}

BOOST_AUTO_TEST_CASE(a_gradient_through_lse_needs_grad_lse) {
  const plumbline_library* library = plumbline_kernel_library();
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    Small small(3);
    if (!kernel.backward || !kernel.supports(&small.problem, PLUMBLINE_BACKWARD)) continue;
    small.problem.lse_gradient = 1;
    plumbline_gradients gradients{};
    gradients.o = gradients.grad_o = small.o.data();
    gradients.lse = small.lse.data();
    char message[256] = "";
    BOOST_TEST(kernel.backward(&small.problem, &gradients, message, sizeof message) == 1);
    BOOST_TEST(std::string(message) == "grad_lse is missing");
    ++runs;
  }
  BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    std::vector<float> first;
    for (const std::uint64_t seed : {1, 2, 3}) {
      plumbline::emulation::set_thread_order_seed(seed);
      plumbline::emulation::set_workers(static_cast<unsigned>(seed));
      Small small(70);
      for (std::size_t n = 0; n < small.q.size(); ++n) {
        small.q[n] = std::sin(static_cast<float>(n));
        small.k[n] = std::cos(static_cast<float>(3 * n));
      }
      BOOST_TEST(small.run(kernel) == "");
      if (first.empty()) first = small.o;
      BOOST_TEST(first == small.o);
    }
    plumbline::emulation::set_thread_order_seed(1);
  });
}

BOOST_AUTO_TEST_CASE(the_contract_counts_ulps_from_the_exact_value) {
  // 2 ulp from the rounded result are up to 2.5 ulp from the exact one, an ulp up to 2^-23 of it.
  for_every_kernel([](const plumbline_kernel& kernel) {
    for (int format = PLUMBLINE_FP32; format <= PLUMBLINE_TF32; ++format)
      BOOST_TEST(kernel.contracts[format].exp_error == 2.5 * 0x1p-23);
  });
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_refused_with_the_reason) {
  for_every_kernel([](const plumbline_kernel& kernel) {
    const auto refusal = [&](auto change) {
      Small small(3);
      change(small.problem);
      return small.run(kernel);
    };
    using Problem = plumbline_problem;
    const bool any_width = kernel.name == std::string("naive");
    BOOST_TEST(refusal([&](Problem& p) { p.head_dim = any_width ? 1025 : 33; }) ==
               (any_width ? "head_dim must be 1 .. 1024"
                          : "head_dim must be one of 32, 48, 64, 80, 96, 128"));
    for (const int width : {-1, 0, any_width ? 1025 : 33})
      BOOST_TEST(refusal([&](Problem& p) { p.value_dim = width; }) ==
                 (any_width ? "value_dim must be 1 .. 1024" : "value_dim must be 1 .. head_dim"));
    BOOST_TEST(refusal([](Problem& p) { p.rotary_dim = 2; }) ==
               "rotary_dim must be 0 without RoPE");
    for (const int dim : {-2, 0, 3, 34})
      BOOST_TEST(refusal([&](Problem& p) {
                   p.rotary_dim = dim, p.rope = PLUMBLINE_ROPE_HALF_SPLIT;
                 }) == "rotary_dim must be even, from 2 to head_dim, with RoPE");
    static const std::uint8_t mask[9] = {};
    const bool drops = kernel.name != std::string("fused_skipping");
    const char* no_dropout = "dropout must be 0 for this kernel";
    for (const float dropout : {-0.5f, 1.0f, kNan})
      BOOST_TEST(refusal([&](Problem& p) { p.dropout = dropout, p.keep = mask; }) ==
                 (drops ? "dropout must be at least 0 and below 1" : no_dropout));
    BOOST_TEST(refusal([](Problem& p) { p.dropout_generator = 2; }) ==
               "dropout_generator must be 0 or 1");
    BOOST_TEST(refusal([](Problem& p) { p.keep = mask; }) == "keep must be NULL without dropout");
    BOOST_TEST(refusal([](Problem& p) { p.dropout = 0.5f; }) ==
               (drops ? "keep is missing" : no_dropout));
    BOOST_TEST(refusal([](Problem& p) { p.mask_per_head = 1; }) ==
               "mask_per_batch and mask_per_head must be 0 without mask");
    BOOST_TEST(refusal([](Problem& p) { p.mask = mask, p.mask_per_batch = 2; }) ==
               "mask_per_batch and mask_per_head must be 0 or 1");
    BOOST_TEST(refusal([](Problem& p) { p.mask = mask, p.ssmax = 1; }) ==
               "mask must be NULL with SSMax");
    BOOST_TEST(refusal([](Problem& p) { p.lse_gradient = 2; }) == "lse_gradient must be 0 or 1");
    BOOST_TEST(refusal([](Problem& p) { p.struct_size = 8; }).starts_with("struct_size is 8"));
    BOOST_TEST(refusal([](Problem& p) { p.bias = PLUMBLINE_ALIBI; }) == "slopes is missing");
    BOOST_TEST(refusal([](Problem& p) { p.bias = 99; }) == "unknown bias");
    BOOST_TEST(refusal([](Problem& p) { p.keys = 0; }) == "keys must be 1 .. 2^30");
    BOOST_TEST(refusal([](Problem& p) { p.query_offset = -3; }) ==
               "query_offset must be above -queries, and query_offset + queries at most 2^30");
    BOOST_TEST(refusal([](Problem& p) { p.query_offset = 1, p.bias = PLUMBLINE_CABLE_NW; }) ==
               "query_offset + queries must be within keys, with this bias");
    BOOST_TEST(refusal([](Problem& p) {
                 p.cache_format = PLUMBLINE_CACHE_INT8, p.k_scale = p.v_scale = &p.dropout;
               }) == "cache_format must be 0 but when decoding");
    static const int whole = 3;
    BOOST_TEST(refusal([](Problem& p) { p.queries_at_end = 1; }) ==
               "queries_at_end must be 0 without lengths");
    BOOST_TEST(refusal([](Problem& p) {
                 p.queries_at_end = 1, p.lengths = &whole, p.query_offset = -1;
               }) == "query_offset must be keys - queries, with queries_at_end");
    BOOST_TEST(refusal([](Problem& p) { p.window_right = -2; }) ==
               "window_right must be -1 or more");
    BOOST_TEST(refusal([](Problem& p) { p.batch = p.heads = p.kv_heads = 65535; }) ==
               "batch * heads must be below 2^31");
    BOOST_TEST(refusal([](Problem& p) { p.heads = 3, p.kv_heads = 2; }) ==
               "kv_heads must divide heads");
    static const int too_long = 4;
    BOOST_TEST(refusal([](Problem& p) { p.lengths = &too_long; }) ==
               "lengths[0] = 4 is not between 0 and 3");
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
