// SPDX-License-Identifier: Apache-2.0
// Attention on device memory: what workspace, calls and modes must not change, and what is refused.
// The numbers themselves are judged through the kernel library.
#include "attention/attention.cuh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/check_problem.cuh"
#include "attention/device_problem.cuh"
#include "attention/score_methods.cuh"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(attention_test)

namespace {

using namespace plumbline::gpu;
using namespace plumbline::gpu_tests;
using Floats = std::vector<float>;

constexpr Shape kShape{"small", 2, 4, 2, 37, 45, 32, true, -1, true, false, true};
constexpr Bias kMethods[] = {PLUMBLINE_NOPE,      PLUMBLINE_K_CABLE, PLUMBLINE_GGD,
                             PLUMBLINE_T5,        PLUMBLINE_FIRE,    PLUMBLINE_FOX,
                             kRopeInterleaved,    PLUMBLINE_COPE,    {PLUMBLINE_KERPLE_LOG, 1},
                             {PLUMBLINE_CABLE, 2}};

Floats from_device(const Stream& stream, const DeviceBuffer<float>& buffer) {
  Floats values(buffer.size());
  buffer.copy_to_host(stream, values.data());
  stream.wait();
  return values;
}

template <class T>
DeviceBuffer<T> on_device(const Stream& stream, const std::vector<T>& values) {
  DeviceBuffer<T> buffer(stream, values.size());
  buffer.copy_from_host(stream, values.data(), 0, values.size());
  return buffer;
}

/// The parameters that belong to heads, of all methods.
constexpr int kOfHeads[] = {PLUMBLINE_SSMAX_SCALE, PLUMBLINE_THETA_ALPHA,
                            PLUMBLINE_THETA_BETA,  PLUMBLINE_THETA_MU,
                            PLUMBLINE_P,           PLUMBLINE_A,
                            PLUMBLINE_TABLE,       PLUMBLINE_HIDDEN_WEIGHT,
                            PLUMBLINE_HIDDEN_BIAS, PLUMBLINE_OUTPUT_WEIGHT,
                            PLUMBLINE_OUTPUT_BIAS, PLUMBLINE_C,
                            PLUMBLINE_L,           PLUMBLINE_POSITION_EMBEDDING};

/// Forward and backward; `before` stands in every gradient of a parameter beforehand.
struct Run {
  Run(const Stream& stream, Case& made, const plumbline_problem& p, const Attention& attention,
      Gradient mode, float before) {
    const DeviceBuffer<float> o(stream, made.q.size()), lse(stream, made.rows),
        q(stream, made.q.size()), k(stream, made.k.size()), v(stream, made.v.size());
    const auto grad_o = on_device(stream, made.v_like_o());
    attention.forward(p, {o.data(), lse.data()});
    plumbline_gradients to{o.data(), lse.data(), grad_o.data(), nullptr,
                           q.data(), k.data(),   v.data(),      {}};
    std::vector<DeviceBuffer<float>> buffers;
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      buffers.push_back(on_device(
          stream, Floats(std::max<std::size_t>(made.parameters.values[n].size(), 1), before)));
      if (p.parameters[n] && n != PLUMBLINE_SLOPES) to.grad_parameters[n] = buffers[n].data();
    }
    attention.backward(p, to, mode);
    activations = {from_device(stream, o), from_device(stream, lse), from_device(stream, q),
                   from_device(stream, k), from_device(stream, v)};
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      const bool of_head =
          std::find(std::begin(kOfHeads), std::end(kOfHeads), n) != std::end(kOfHeads);
      (of_head ? parameters : activations).push_back(from_device(stream, buffers[n]));
    }
  }
  std::vector<Floats> activations, parameters;
};

BOOST_AUTO_TEST_CASE(room_for_more_changes_no_bit) {
  for (const Bias bias : kMethods) {
    BOOST_TEST_CONTEXT(name_of(bias)) {
      const Stream stream;
      Case made(kShape, bias, PLUMBLINE_FP32);
      const DeviceProblem device(stream, made.problem);
      const plumbline_problem& p = device.problem();
      plumbline_problem larger = p;
      larger.batch = 3;
      larger.queries = 70;
      larger.keys = 100;
      larger.query_offset = 0;
      const auto kernels = attention_kernels(Format::fp32, false, true);
      const Attention exact(stream, p, kernels, {.backward = true});
      const Attention roomy(stream, larger, kernels, {.backward = true});
      const Run expected(stream, made, p, exact, Gradient::overwrite, 0.0f);
      const Run actual(stream, made, p, roomy, Gradient::overwrite, 0.0f);
      BOOST_TEST((actual.activations == expected.activations));
      BOOST_TEST((actual.parameters == expected.parameters));
    }
  }
}

BOOST_AUTO_TEST_CASE(parameters_of_heads_are_added_to_what_is_there_and_activations_are_not) {
  constexpr float before = 3.0f;
  for (const Bias bias : kMethods) {
    BOOST_TEST_CONTEXT(name_of(bias)) {
      const Stream stream;
      Case made(kShape, bias, PLUMBLINE_FP32);
      const DeviceProblem device(stream, made.problem);
      const plumbline_problem& p = device.problem();
      const Attention attention(stream, p, attention_kernels(Format::fp32, false, true),
                                {.backward = true});
      const Run alone(stream, made, p, attention, Gradient::overwrite, before);
      const Run added(stream, made, p, attention, Gradient::accumulate, before);
      BOOST_TEST((added.activations == alone.activations));
      for (std::size_t n = 0; n < alone.parameters.size(); ++n) {
        if (!p.parameters[kOfHeads[n]]) continue;
        const Floats& one = alone.parameters[n];
        for (std::size_t i = 0; i < one.size(); ++i) {
          // Each is rounded once from the same sum in double.
          const double sum = double(one[i]) + before;
          const double bound = 0x1p-24 * (std::abs(one[i]) + std::abs(sum) * (1 + 0x1p-20));
          // Beyond the method's own table nothing is written.
          const bool untouched = one[i] == before && added.parameters[n][i] == before;
          BOOST_TEST((untouched || std::abs(added.parameters[n][i] - sum) <= bound),
                     name_of(static_cast<plumbline_parameter>(kOfHeads[n])) << "[" << i << "]");
        }
      }
    }
  }
}

constexpr Bias kScoreMethods[] = {PLUMBLINE_COPE, {PLUMBLINE_KERPLE_LOG, 1}, {PLUMBLINE_CABLE, 2}};

/// Room for the scores of so many rows at once.
AttentionWorkspace room_for_rows(const plumbline_problem& p, int rows) {
  const int wide = static_cast<int>(
      p.options[p.bias == PLUMBLINE_COPE ? PLUMBLINE_POSITIONS : PLUMBLINE_HIDDEN]);
  const auto scores =
      row_scores(static_cast<plumbline_bias>(p.bias), p.batch, p.heads, p.keys, wide);
  return {.backward = true, .most_scores = static_cast<std::size_t>(scores * rows)};
}

// Two key heads of two query heads each, two sequences: every sum over rows goes on where the chunk
// before ended.
BOOST_AUTO_TEST_CASE(scores_of_few_rows_at_once_change_no_bit) {
  for (const Bias bias : kScoreMethods) {
    const Stream stream;
    Case made(kShape, bias, PLUMBLINE_FP32);
    const DeviceProblem device(stream, made.problem);
    const plumbline_problem& p = device.problem();
    const auto kernels = attention_kernels(Format::fp32, false, true);
    const Attention whole(stream, p, kernels, {.backward = true});
    for (const Gradient mode : {Gradient::overwrite, Gradient::accumulate}) {
      const Run expected(stream, made, p, whole, mode, 2.0f);
      // 37 rows: four chunks, the last one of 1 row; and a row at a time, as for too few scores.
      for (const int rows : {12, 0}) {
        BOOST_TEST_CONTEXT(name_of(bias) << ", " << rows << " rows at once") {
          const Attention chunks(stream, p, kernels, room_for_rows(p, rows));
          const Run actual(stream, made, p, chunks, mode, 2.0f);
          BOOST_TEST((actual.activations == expected.activations));
          BOOST_TEST((actual.parameters == expected.parameters));
        }
      }
    }
  }
}

// Shorter sequences leave room for more of their rows, but not for more rows than there were.
BOOST_AUTO_TEST_CASE(room_for_few_rows_of_long_sequences_does_for_short_ones) {
  for (const Bias bias : kScoreMethods) {
    BOOST_TEST_CONTEXT(name_of(bias)) {
      const Stream stream;
      Case made(kShape, bias, PLUMBLINE_FP32);
      const DeviceProblem device(stream, made.problem);
      const plumbline_problem& p = device.problem();
      plumbline_problem larger = p;
      larger.batch = 3;
      larger.queries = larger.keys = 200;
      larger.query_offset = 0;
      const auto kernels = attention_kernels(Format::fp32, false, true);
      const Attention whole(stream, p, kernels, {.backward = true});
      const Attention roomy(stream, larger, kernels, room_for_rows(larger, 5));
      const Run expected(stream, made, p, whole, Gradient::overwrite, 0.0f);
      const Run actual(stream, made, p, roomy, Gradient::overwrite, 0.0f);
      BOOST_TEST((actual.activations == expected.activations));
      BOOST_TEST((actual.parameters == expected.parameters));
    }
  }
}

// GPT-2 small at the longest length of CABLE's tables has 12 x 15,360^2 scores, 10.5 GiB a matrix.
BOOST_AUTO_TEST_CASE(more_than_2_31_scores_take_bounded_memory) {
  for (const Bias bias : kScoreMethods) {
    BOOST_TEST_CONTEXT(name_of(bias)) {
      plumbline_problem p = Case({"gpt2_small", 1, 12, 12, 2, 2, 64, true, -1, false, false, true},
                                 bias, PLUMBLINE_FP32)
                                .problem;
      p.queries = p.keys = 15360;
      p.query_offset = 0;
      BOOST_TEST(unsupported_reason(p) == "");
      const Stream stream;
      const std::size_t before = DeviceMemory::used;
      const Attention attention(stream, p, attention_kernels(Format::fp32, false, true),
                                room_for_rows(p, 4));
      // A dozen matrices of 4 rows, 3 MiB each, and the sums of K's and V's gradients, 45 MiB each.
      BOOST_TEST(DeviceMemory::used - before < std::size_t{150} << 20);
      p.batch = 1 << 14;
      BOOST_TEST(unsupported_reason(p).find("must be below 2^31") != std::string::npos);
      p.batch = 1, p.keys = (1 << 24) + 1;
      BOOST_TEST(unsupported_reason(p) == "keys must be at most 2^24");
    }
  }
}

// A cache of a larger capacity: one page a sequence, the prefix sums with its stride.
BOOST_AUTO_TEST_CASE(decoding_from_a_cache_of_a_larger_capacity_gives_the_same_bits) {
  constexpr int kCapacity = 60;
  for (const Bias bias :
       {Bias(PLUMBLINE_NOPE), Bias(PLUMBLINE_CABLE), Bias(PLUMBLINE_FOX), Bias(PLUMBLINE_T5),
        kRopeHalfSplit, Bias(PLUMBLINE_COPE), Bias(PLUMBLINE_CABLE, 2)}) {
    BOOST_TEST_CONTEXT(name_of(bias)) {
      const Stream stream;
      Shape shape = kShape;
      shape.queries = 3;
      Case made(shape, bias, PLUMBLINE_FP32);
      const auto spread = [&](const auto& values, int rows, int width) {
        auto wide = values;
        wide.assign(std::size_t(rows) * kCapacity * width, -7);
        for (int row = 0; row < rows; ++row)
          std::copy_n(values.begin() + row * shape.keys * width, shape.keys * width,
                      wide.begin() + row * kCapacity * width);
        return wide;
      };
      const int kv_rows = shape.batch * shape.kv_heads, rows = shape.batch * shape.heads;
      const Floats& increments =
          made.parameters
              .values[bias == PLUMBLINE_FOX ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS];
      std::vector<double> sums(increments.size());
      for (int row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (int j = 0; j < shape.keys; ++j)
          sums[row * shape.keys + j] = sum += increments[row * shape.keys + j];
      }
      made.problem.prefix_sums = sums.data();
      const DeviceProblem device(stream, made.problem);
      plumbline_problem p = device.problem();
      plumbline_problem largest = p;
      largest.keys = kCapacity;
      const Attention attention(stream, largest, {}, {.decode = true});
      const DeviceBuffer<float> o(stream, made.q.size()), lse(stream, made.rows);
      attention.decode(p, {o.data(), lse.data()});
      const Floats expected_o = from_device(stream, o), expected_lse = from_device(stream, lse);

      const auto k = on_device(stream, spread(made.k, kv_rows, shape.head_dim));
      const auto v = on_device(stream, spread(made.v, kv_rows, shape.head_dim));
      const auto wide_sums = on_device(stream, spread(sums, rows, 1));
      const auto pages = on_device(stream, std::vector<int>{0, 1});
      p.k = k.data();
      p.v = v.data();
      p.pages = pages.data();
      p.page_size = kCapacity;
      if (p.prefix_sums) p.prefix_sums = wide_sums.data();
      const DeviceBuffer<float> cached_o(stream, o.size()), cached_lse(stream, lse.size());
      // CoPE and DAPE with a row of scores at a time.
      const Attention other(stream, largest, {}, {.decode = true, .most_scores = 1});
      for (const Attention* of_cache : {&attention, &other}) {
        of_cache->decode(p, {cached_o.data(), cached_lse.data()}, kCapacity);
        BOOST_TEST((from_device(stream, cached_o) == expected_o));
        BOOST_TEST((from_device(stream, cached_lse) == expected_lse));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_bias_that_there_is_not_is_refused) {
  struct Numbers {
    int bias, dape, rope;
    const char* why;
  };
  const char* composes =
      "dape must be 0, 1 or 2 and rope 0, 1 or 2, and the bias must compose with them";
  const plumbline_library* library = plumbline_kernel_library();
  for (const auto& [bias, dape, rope, why] :
       {Numbers{-1, 0, 0, "unknown bias"},
        {PLUMBLINE_BIAS_COUNT, 0, 0, "unknown bias"},
        {PLUMBLINE_ALIBI, -1, 0, composes},
        {PLUMBLINE_ALIBI, 3, 0, composes},
        {PLUMBLINE_ALIBI, 0, -1, composes},
        {PLUMBLINE_ALIBI, 0, PLUMBLINE_ROPE_COUNT, composes},
        {PLUMBLINE_ALIBI, 1, PLUMBLINE_ROPE_HALF_SPLIT, composes},
        {PLUMBLINE_GGD, 2, 0, composes},
        {PLUMBLINE_COPE, 0, PLUMBLINE_ROPE_HALF_SPLIT, composes}}) {
    Case made(kShape, PLUMBLINE_ALIBI, PLUMBLINE_FP32);
    made.problem.bias = bias;
    made.problem.dape = dape;
    made.problem.rope = rope;
    BOOST_TEST(unsupported_reason(made.problem) == why);
    for (int n = 0; n < library->kernel_count; ++n)
      for (const int pass : {PLUMBLINE_FORWARD, PLUMBLINE_BACKWARD, PLUMBLINE_DECODE})
        BOOST_TEST(library->kernels[n].supports(&made.problem, pass) == 0);
  }
}

BOOST_AUTO_TEST_CASE(cope_and_dape_take_no_dropout_and_no_cache_of_8_bits) {
  for (const Bias bias : kScoreMethods) {
    Case made(kShape.with_dropout(0.5f), bias, PLUMBLINE_FP32);
    BOOST_TEST(unsupported_reason(made.problem) == "dropout must be 0 with CoPE and DAPE");
    made.problem.dropout = 0;
    made.problem.keep = nullptr;
    made.problem.cache_format = PLUMBLINE_CACHE_INT8;
    BOOST_TEST(unsupported_reason(made.problem) == "cache_format must be 0 with CoPE and DAPE");
  }
  Case made(kShape, {PLUMBLINE_ALIBI, 1}, PLUMBLINE_FP32);
  made.problem.options[PLUMBLINE_SLOPES_PER_BATCH] = 1;
  BOOST_TEST(unsupported_reason(made.problem) == "slopes_per_batch must be 0 with DAPE");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_by_name) {
  const Stream stream;
  Case made(kShape, PLUMBLINE_GGD, PLUMBLINE_FP32);
  const DeviceProblem device(stream, made.problem);
  const plumbline_problem& good = device.problem();
  const Attention attention(stream, good, attention_kernels(Format::fp32, false, true));
  const DeviceBuffer<float> o(stream, made.q.size()), lse(stream, made.rows);
  const plumbline_outputs outputs{o.data(), lse.data()};
  attention.forward(good, outputs);
  const auto refused = [&](const std::string& name, auto change) {
    plumbline_problem p = good;
    change(p);
    BOOST_CHECK_EXCEPTION(attention.forward(p, outputs), InvalidProblem, [&](const auto& error) {
      return std::string(error.what()).find(name) != std::string::npos;
    });
  };
  refused("batch", [](auto& p) { p.batch = 3; });
  refused("queries", [](auto& p) { p.queries = 38, p.query_offset = 0; });
  refused("keys", [](auto& p) { p.keys = 46; });
  refused("heads", [](auto& p) { p.heads = 2; });
  refused("kv_heads", [](auto& p) { p.kv_heads = 4; });
  refused("head_dim", [](auto& p) { p.head_dim = 48; });
  refused("value_dim", [](auto& p) { p.value_dim = 16; });
  refused("format", [](auto& p) { p.format = PLUMBLINE_TF32; });
  refused("bias", [](auto& p) { p.bias = PLUMBLINE_NOPE; });
  refused("ssmax", [](auto& p) { p.ssmax = 0; });
  refused("keep", [](auto& p) { p.dropout = 0.5f; });
  refused("options", [](auto& p) { p.options[PLUMBLINE_EPSILON] = 1e-4; });
  refused("q is missing", [](auto& p) { p.q = nullptr; });
  refused("theta_mu", [](auto& p) { p.parameters[PLUMBLINE_THETA_MU] = nullptr; });
  BOOST_CHECK_THROW(attention.forward(good, {nullptr, lse.data()}), InvalidProblem);
  BOOST_CHECK_THROW(attention.backward(good, {}), std::logic_error);
  BOOST_CHECK_THROW(attention.decode(good, outputs), std::logic_error);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
