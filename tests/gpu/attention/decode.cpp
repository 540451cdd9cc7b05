// SPDX-License-Identifier: Apache-2.0
// Decoding through the C interface: by hand where a softmax is that simple, and what pages, splits
// and the order of threads must not change.
#include "attention/decode.cuh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../paged_case.hpp"
#include "emulation/grid.hpp"
#include "plumbline_kernel.h"

BOOST_AUTO_TEST_SUITE(decode_test)

namespace {

using namespace plumbline::gpu_tests;
using plumbline::gpu::split_count;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int D = 32;

const plumbline_kernel& kernel() {
  const plumbline_library* library = plumbline_kernel_library();
  return *std::find_if(library->kernels, library->kernels + library->kernel_count,
                       [](const auto& k) { return k.name == std::string("split_kv"); });
}

/// fp32, one head, D = 32, scale 1, causal; q = 0, so that only the bias speaks. V has 1 + j in
/// every column of key j. The one query is the last position.
struct Small {
  explicit Small(int length)
      : q(D, 0.0f), k(length * D, 1.0f), v(length * D), o(D, kNan), lse(1, kNan) {
    for (int n = 0; n < length * D; ++n) v[n] = static_cast<float>(1 + n / D);
    problem.struct_size = sizeof problem;
    problem.batch = problem.heads = problem.kv_heads = problem.queries = 1;
    problem.keys = length;
    problem.query_offset = length - 1;
    problem.head_dim = problem.value_dim = D;
    problem.causal = 1;
    problem.window_left = problem.window_right = -1;
    problem.scale = 1.0;
    problem.q = q.data();
    problem.k = k.data();
    problem.v = v.data();
  }

  std::string run() {
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    return kernel().decode(&problem, &outputs, message, sizeof message) == 0 ? "" : message;
  }

  std::vector<float> q, k, v, o, lse;
  plumbline_problem problem{};
};

/// 8 ulp: the rounding of one exponential, one sum and one quotient of a few terms.
constexpr double kFewUlp = 8 * 0x1p-24;

void check(const Small& small, double o, double lse) {
  for (int d = 0; d < D; ++d) BOOST_TEST(std::abs(small.o[d] - o) <= kFewUlp * o);
  BOOST_TEST(std::abs(small.lse[0] - lse) <= kFewUlp * (1.0 + std::abs(lse)));
}

BOOST_AUTO_TEST_CASE(without_bias_a_row_is_the_mean_of_all_values_whatever_the_split) {
  // The sums of whole numbers stay below 2^24: exact in fp32.
  for (const int length : {1, 31, 32, 33, 64, 65, 129, 1000, 4200}) {
    Small small(length);
    BOOST_TEST(small.run() == "");
    BOOST_TEST_INFO("length " << length);
    check(small, (1 + length) / 2.0, std::log(length));
  }
}

BOOST_AUTO_TEST_CASE(splits_follow_from_the_problem) {
  const auto splits = [](int keys, auto change) {
    plumbline_problem p = Small(1).problem;
    p.keys = keys;
    change(p);
    return split_count(p);
  };
  using Problem = plumbline_problem;
  const auto as_it_is = [](Problem&) {};
  BOOST_TEST(splits(1, as_it_is) == 1);
  BOOST_TEST(splits(64, as_it_is) == 1);
  BOOST_TEST(splits(65, as_it_is) == 2);
  BOOST_TEST(splits(100000, as_it_is) == 64);
  // 32 key heads and 4 batches fill a quarter of the wanted 512 blocks.
  BOOST_TEST(splits(100000, [](Problem& p) { p.batch = 4, p.heads = p.kv_heads = 32; }) == 4);
  // 12 rows of a key head make two blocks.
  BOOST_TEST(splits(100000, [](Problem& p) { p.batch = 64, p.heads = 6, p.queries = 2; }) == 4);
  BOOST_TEST(splits(100000, [](Problem& p) { p.batch = 1000; }) == 1);
  // Windows leave 201 keys, and 101 where the mask is causal.
  const auto window = [](Problem& p) { p.window_left = p.window_right = 100, p.causal = 0; };
  BOOST_TEST(splits(100000, window) == 4);
  BOOST_TEST(splits(100000, [](Problem& p) { p.window_left = 100, p.causal = 1; }) == 2);
}

BOOST_AUTO_TEST_CASE(splits_of_very_different_weight_are_rescaled) {
  // Weights 2^-x at distance x: their sum is 2, the mean distance 1; the tail beyond 200 is 2^-199.
  const float slope = std::log(2.0f);
  for (const int length : {200, 600}) {
    Small small(length);
    small.problem.bias = PLUMBLINE_ALIBI;
    small.problem.parameters[PLUMBLINE_SLOPES] = &slope;
    BOOST_TEST(small.run() == "");
    // The slope is ln 2 within 2^-25, and the mean distance moves by its variance, 2, times that.
    check(small, length - 1.0, std::log(2.0));
  }
}

BOOST_AUTO_TEST_CASE(splits_without_a_visible_key_leave_no_trace) {
  std::vector<int> documents(600, 0);
  std::fill(documents.begin() + 300, documents.begin() + 303, 7);
  documents.back() = 7;
  Small small(600);
  small.problem.documents = documents.data();
  std::fill(small.v.begin(), small.v.begin() + 300 * D, kInfinity);
  small.k[5 * D] = kNan;
  BOOST_TEST(small.run() == "");
  check(small, (301 + 302 + 303 + 600) / 4.0, std::log(4.0));
}

BOOST_AUTO_TEST_CASE(a_window_is_read_alone) {
  Small small(600);
  small.problem.window_left = small.problem.window_right = 99;
  std::fill(small.k.begin(), small.k.begin() + 500 * D, kNan);
  BOOST_TEST(small.run() == "");
  check(small, 550.5, std::log(100.0));
}

BOOST_AUTO_TEST_CASE(a_position_beyond_the_length_is_zero_with_lse_minus_infinity) {
  const int length = 599;
  Small small(600);
  small.problem.lengths = &length;
  BOOST_TEST(small.run() == "");
  for (const float o : small.o) BOOST_TEST(o == 0.0f);
  BOOST_TEST(small.lse[0] == -kInfinity);
}

BOOST_AUTO_TEST_CASE(a_row_whose_keys_a_tensor_hides_is_zero_and_another_has_what_it_shows) {
  std::vector<std::uint8_t> mask(600, 0);
  Small small(600);
  small.problem.mask = mask.data();
  BOOST_TEST(small.run() == "");
  for (const float o : small.o) BOOST_TEST(o == 0.0f);
  BOOST_TEST(small.lse[0] == -kInfinity);
  const float sink = 1.5f;
  small.problem.sinks = 1;
  small.problem.parameters[PLUMBLINE_SINKS] = &sink;
  BOOST_TEST(small.run() == "");
  for (const float o : small.o) BOOST_TEST(o == 0.0f);
  BOOST_TEST(small.lse[0] == sink);
  small.problem.sinks = 0;
  mask[3] = mask[300] = 1;
  BOOST_TEST(small.run() == "");
  check(small, (4 + 301) / 2.0, std::log(2.0));
}

BOOST_AUTO_TEST_CASE(scores_that_are_not_numbers_are_not_hidden) {
  Small small(600);
  std::fill(small.k.begin(), small.k.end(), kNan);
  BOOST_TEST(small.run() == "");
  for (const float o : small.o) BOOST_TEST(std::isnan(o));
}

BOOST_AUTO_TEST_CASE(cached_prefix_sums_keep_their_last_digits) {
  // In fp32 all of these sums are the same: their spacing there is 64.
  std::vector<double> sums;
  for (int j = 0; j < 3; ++j) sums.push_back(1e9 + j * std::log(2.0));
  Small small(3);
  small.problem.bias = PLUMBLINE_CABLE_NW;
  small.problem.prefix_sums = sums.data();
  BOOST_TEST(small.run() == "");
  // Sums near 2^30 are rounded to 2^-23 in double: ln 2 is off by as much, and o by twice that.
  const double bound = 4 * 0x1p-23 + kFewUlp * 3;
  for (const float o : small.o) BOOST_TEST(std::abs(o - (1 / 4.0 + 2 / 2.0 + 3) / 1.75) <= bound);
  BOOST_TEST(std::abs(small.lse[0] - std::log(1.75)) <= bound);
}

struct Result {
  std::vector<float> o, lse;
  bool operator==(const Result&) const = default;
};

Result decode(const Case& made, const plumbline_problem& problem) {
  Result result{std::vector<float>(made.rows * made.s.value_width()),
                std::vector<float>(made.rows)};
  const plumbline_outputs outputs{result.o.data(), result.lse.data()};
  char message[256] = "";
  BOOST_REQUIRE_MESSAGE(kernel().decode(&problem, &outputs, message, sizeof message) == 0, message);
  return result;
}

constexpr Shape kShapes[] = {
    {"one", 2, 6, 2, 1, 300, 48, true, -1, false, false, false},
    {"several", 1, 4, 2, 7, 203, 128, true, -1, false, true, true},
    {"window", 2, 2, 1, 64, 290, 32, false, 40, true, false, false},
    Shape{"narrow values and a mask", 2, 6, 2, 5, 203, 48, true, -1, true, false, false}
        .with_values(19)
        .with_mask(true, true),
};

BOOST_AUTO_TEST_CASE(where_a_key_lies_changes_no_bit) {
  for (const Shape& shape : kShapes)
    for (const Bias bias : fused_biases())
      for (const int page_size : {1, 16, 256, 1000}) {
        BOOST_TEST_INFO(shape.name << " " << name_of(bias) << " " << page_size);
        const Case made(shape, bias, bias.method % (PLUMBLINE_TF32 + 1));
        const PagedCase paged(made, page_size);
        BOOST_TEST((decode(made, made.problem) == decode(made, paged.problem)));
      }
}

/// Stored numbers times their scales: `count` of a key head or of a key, one after the other.
std::vector<float> numbers(const std::vector<std::uint8_t>& codes, int format,
                           const std::vector<float>& scales) {
  const std::size_t count = codes.size() / scales.size();
  std::vector<float> result;
  for (std::size_t n = 0; n < codes.size(); ++n)
    result.push_back(number_of_8_bits(static_cast<plumbline::gpu::CacheFormat>(format), codes[n]) *
                     scales[n / count]);
  return result;
}

BOOST_AUTO_TEST_CASE(a_cache_of_8_bits_has_the_bits_of_its_numbers_times_their_scales) {
  for (const Shape& shape : kShapes)
    for (const Bias bias : {Bias(PLUMBLINE_NOPE), kRopeHalfSplit})
      for (int format = 1; format < PLUMBLINE_CACHE_FORMAT_COUNT; ++format)
        for (const bool per_key : {false, true}) {
          BOOST_TEST_INFO(shape.name << " " << name_of(bias) << " " << format << " " << per_key);
          const Case made(shape, bias, PLUMBLINE_FP32);
          const CachedCase cached(made, format, per_key);
          const std::vector<float> k = numbers(cached.k, format, cached.k_scale);
          const std::vector<float> v = numbers(cached.v, format, cached.v_scale);
          plumbline_problem floats = made.problem;
          floats.k = k.data();
          floats.v = v.data();
          const Result expected = decode(made, floats);
          BOOST_TEST((decode(made, cached.problem) == expected));
          for (const int page_size : {16, 1000})
            BOOST_TEST(
                (decode(made, PagedCase(made, cached.problem, page_size).problem) == expected));
        }
}

BOOST_AUTO_TEST_CASE(a_cache_of_8_bits_leaves_q_in_its_own_format) {
  const Case made(kShapes[0], kRopeHalfSplit, PLUMBLINE_BF16);
  const CachedCase cached(made, PLUMBLINE_CACHE_INT8, true);
  std::vector<float> q;
  for (const std::uint16_t x : made.q16)
    q.push_back(plumbline::gpu::to_float(plumbline::gpu::bfloat16{x}));
  plumbline_problem floats = cached.problem;
  floats.format = PLUMBLINE_FP32;
  floats.q = q.data();
  BOOST_TEST((decode(made, cached.problem).lse == decode(made, floats).lse));
}

BOOST_AUTO_TEST_CASE(a_paged_int8_cache_with_a_scale_for_each_key) {
  // Two heads, three keys, pages of two keys in the order 1, 0. k is 0, -1 and 1 in the first
  // column and 0 elsewhere, of the second head twice that; q is ln 2 and half of it: the weights
  // are 1, 1/2 and 2. What a page has beyond the last key is 99 with the scale NaN.
  constexpr int kOfKey[] = {2, 3, 0, 1};  // key 2 is the first of page 0
  constexpr int k[] = {0, -4, 2, 99}, v[] = {7, -4, 127, 99};
  constexpr float k_scale[] = {3.0f, 0.25f, 0.5f, kNan}, v_scale[] = {1.0f, 0.5f, 0.25f, kNan};
  std::vector<std::int8_t> keys(8 * D, 0), values(8 * D);
  std::vector<float> key_scales(8), value_scales(8);
  for (int head = 0; head < 2; ++head)
    for (int j = 0; j < 4; ++j) {
      const int row = (kOfKey[j] / 2 * 2 + head) * 2 + kOfKey[j] % 2;
      keys[row * D] = static_cast<std::int8_t>(k[j]);
      std::fill_n(values.begin() + row * D, D, static_cast<std::int8_t>(v[j]));
      key_scales[row] = (1 + head) * k_scale[j];
      value_scales[row] = (1 + 2 * head) * v_scale[j];
    }
  static const int pages[] = {1, 0};
  Small small(3);
  small.q.resize(2 * D);
  small.q[0] = std::log(2.0f);
  small.q[D] = small.q[0] / 2;
  small.o.resize(2 * D);
  small.lse.resize(2);
  plumbline_problem& p = small.problem;
  p.heads = p.kv_heads = 2;
  p.q = small.q.data();
  p.k = keys.data();
  p.v = values.data();
  p.k_scale = key_scales.data();
  p.v_scale = value_scales.data();
  p.cache_format = PLUMBLINE_CACHE_INT8;
  p.scale_per_key = 1;
  p.page_size = 2;
  p.pages = pages;
  BOOST_TEST(small.run() == "");
  const double o = (7 - 4 * 0.5 / 2 + 2 * 127 * 0.25) / 3.5;
  check(small, o, std::log(3.5));
  small.o.erase(small.o.begin(), small.o.begin() + D);
  small.lse.erase(small.lse.begin());
  check(small, 3 * o, std::log(3.5));
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  for (const Shape& shape : kShapes) {
    const Case made(shape, PLUMBLINE_CABLE, PLUMBLINE_BF16);
    const PagedCase paged(made, 16);
    const Result first = decode(made, paged.problem);
    for (const std::uint64_t seed : {1, 2, 3}) {
      plumbline::emulation::set_thread_order_seed(seed);
      plumbline::emulation::set_workers(static_cast<unsigned>(seed));
      BOOST_TEST((decode(made, paged.problem) == first));
    }
    plumbline::emulation::set_thread_order_seed(1);
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_refused_with_the_reason) {
  const auto refusal = [](auto change) {
    Small small(3);
    change(small.problem);
    return small.run();
  };
  using Problem = plumbline_problem;
  BOOST_TEST(refusal([](Problem& p) { p.page_size = -1; }) == "page_size must be 0 .. 2^30");
  BOOST_TEST(refusal([](Problem& p) { p.page_size = 2; }) == "pages is missing");
  static const int pages[] = {0, -3};
  BOOST_TEST(refusal([](Problem& p) { p.page_size = 2, p.pages = pages; }) ==
             "pages[1] = -3 is negative");
  BOOST_TEST(refusal([](Problem& p) { p.bias = PLUMBLINE_CABLE_NW; }) == "increments is missing");
  BOOST_TEST(refusal([](Problem& p) { p.dropout = 0.5f; }) == "dropout must be 0 when decoding");
  for (const int format : {-1, 4})
    BOOST_TEST(refusal([&](Problem& p) { p.cache_format = format; }) ==
               "cache_format must be 0 .. 3");
  BOOST_TEST(refusal([](Problem& p) { p.cache_format = 1, p.scale_per_key = 2; }) ==
             "scale_per_key must be 0 or 1");
  BOOST_TEST(refusal([](Problem& p) { p.scale_per_key = 1; }) ==
             "scale_per_key must be 0 without cache_format");
  static const float scale = 1.0f;
  BOOST_TEST(refusal([](Problem& p) { p.cache_format = 3, p.q_scale = &scale; }) ==
             "q_scale must be NULL with cache_format");
  BOOST_TEST(refusal([](Problem& p) { p.cache_format = 3, p.v_scale = &scale; }) ==
             "k_scale is missing");
  BOOST_TEST(refusal([](Problem& p) { p.cache_format = 3, p.k_scale = &scale; }) ==
             "v_scale is missing");
  BOOST_TEST(refusal([](Problem& p) { p.value_dim = 33; }) == "value_dim must be 1 .. head_dim");
  const auto many = [](Problem& p) { p.keys = 100, p.queries = 65, p.query_offset = 35; };
  BOOST_TEST(refusal(many) == "decoding takes at most 64 queries");
  Small small(3);
  BOOST_TEST(kernel().supports(&small.problem, PLUMBLINE_DECODE) == 1);
  BOOST_TEST(kernel().supports(&small.problem, PLUMBLINE_FORWARD) == 0);
  many(small.problem);
  BOOST_TEST(kernel().supports(&small.problem, PLUMBLINE_DECODE) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
