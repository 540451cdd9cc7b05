// SPDX-License-Identifier: Apache-2.0
// o and lse against the oracle, in fp32, of values that are no wider or narrower than the keys, of
// masks that are tensors, of partial RoPE and of dropout.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

#include "tests/gpu/paged_case.hpp"
#include "tests/gpu_vs_reference/compare.hpp"
#include "tests/gpu_vs_reference/gradient_oracle.hpp"

BOOST_AUTO_TEST_SUITE(forward_test)

namespace {

using namespace plumbline::gpu_tests;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const plumbline_kernel& kernel_named(const std::string& name) {
  const plumbline_library* library = plumbline_kernel_library();
  return *std::find_if(library->kernels, library->kernels + library->kernel_count,
                       [&](const auto& kernel) { return kernel.name == name; });
}

/// Forward, or decoding from pages of 16 keys. Returns the rows that see nothing.
int check(const std::string& name, const Shape& shape, Bias bias) {
  int empty = 0;
  BOOST_TEST_CONTEXT(name << " " << name_of(bias) << " " << shape.name << " " << shape.head_dim
                          << " / " << shape.value_width()) {
    const Case made(shape, bias, PLUMBLINE_FP32);
    const plumbline_kernel& kernel = kernel_named(name);
    const int pass = kernel.forward ? PLUMBLINE_FORWARD : PLUMBLINE_DECODE;
    const PagedCase paged(made, 16);
    const plumbline_problem& p = kernel.forward ? made.problem : paged.problem;
    const auto width = static_cast<std::size_t>(shape.value_width());
    std::vector<float> o(made.rows * width, kNan), lse(made.rows, kNan);
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    BOOST_REQUIRE_EQUAL(kernel.supports(&p, pass), 1);
    const auto run = kernel.forward ? kernel.forward : kernel.decode;
    BOOST_REQUIRE_MESSAGE(run(&p, &outputs, message, sizeof message) == 0, message);

    const auto rows =
        bias.method == PLUMBLINE_ALIBI
            ? ref::attention(inputs_of(made),
                             [&](int, int h) {
                               return ref::Alibi<R>(R(made.parameters.values[PLUMBLINE_SLOPES][h]));
                             })
            : ref::attention(inputs_of(made), [](int, int) { return ref::Nope<R>{}; });
    Expected expected_o, expected_lse;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto head = static_cast<int>(row) / shape.queries % shape.heads;
      if (rows[row].probability.size() == 0) {
        ++empty;
        BOOST_TEST(lse[row] ==
                   (shape.sinks ? made.parameters.values[PLUMBLINE_SINKS][head] : -kInfinity));
        lse[row] = 0.0f;
        for (std::size_t d = 0; d < width; ++d) {
          BOOST_TEST(o[row * width + d] == 0.0f);
          expected_o.push_back(R(0.0));
        }
        expected_lse.push_back(R(0.0));
        continue;
      }
      for (std::size_t d = 0; d < width; ++d) expected_o.push_back(rows[row].output[d]);
      expected_lse.push_back(rows[row].lse);
    }
    compare("o", o, expected_o);
    compare("lse", lse, expected_lse);
  }
  return empty;
}

constexpr Shape kPlain{"plain", 2, 4, 2, 7, 45, 64, true, -1, true, false, false};
constexpr Shape kWindow{"window, sinks", 2, 4,     2,     7,     45, 64,
                        false,           9, false, false, false, 0,  true};
constexpr Shape kDocuments{"documents", 1, 2, 1, 33, 70, 64, true, -1, false, true, false};
constexpr const char* kCompiled[] = {"tiled", "fused", "fused_skipping", "split_kv"};

Shape of_widths(Shape shape, int head_dim, int value_dim) {
  shape.head_dim = head_dim;
  shape.value_dim = value_dim;
  return shape;
}

BOOST_AUTO_TEST_CASE(naive_takes_any_width) {
  for (const auto& [head_dim, value_dim] :
       {std::pair{576, 512}, {192, 128}, {40, 24}, {32, 100}, {34, 65}, {64, 1}, {2, 1024}})
    for (const Bias bias : {Bias(PLUMBLINE_NOPE), kRopeHalfSplit, kRopeInterleaved})
      for (const Shape& shape : {kPlain, kWindow})
        check("naive", of_widths(shape, head_dim, value_dim), bias);
  check("naive", of_widths(kPlain, 33, 17), PLUMBLINE_ALIBI);
  check("naive", of_widths(kPlain, 1, 1), PLUMBLINE_NOPE);
}

BOOST_AUTO_TEST_CASE(the_others_take_values_narrower_than_keys) {
  for (const char* name : kCompiled)
    for (const Shape& shape : {kPlain, kWindow, kDocuments})
      for (const auto& [head_dim, value_dim] : {std::pair{64, 40}, {64, 63}, {48, 33}, {32, 1}})
        for (const Bias bias : {Bias(PLUMBLINE_NOPE), kRopeHalfSplit})
          check(name, of_widths(shape, head_dim, value_dim), bias);
}

BOOST_AUTO_TEST_CASE(a_mask_tensor_hides_keys_of_sequences_and_heads) {
  for (const char* name : {"naive", "tiled", "fused", "fused_skipping", "split_kv"})
    for (const Shape& shape : {kPlain, kWindow, kDocuments})
      for (const bool per_batch : {false, true})
        for (const bool per_head : {false, true})
          BOOST_TEST(check(name, shape.with_mask(per_batch, per_head), PLUMBLINE_NOPE) > 0);
  for (const char* name : {"naive", "tiled", "fused", "split_kv"})
    check(name, kPlain.with_mask(true, true).with_values(29), PLUMBLINE_ALIBI);
}

BOOST_AUTO_TEST_CASE(rope_turns_some_of_the_components) {
  for (const char* name : {"naive", "tiled", "fused", "fused_skipping", "split_kv"})
    for (const Shape& shape : {kPlain, kWindow})
      for (const int rotary_dim : {2, 20, 62})
        for (const Bias bias : {kRopeHalfSplit, kRopeInterleaved})
          check(name, shape.with_rotary_dim(rotary_dim), bias);
  check("naive", of_widths(kPlain, 33, 17).with_rotary_dim(32), kRopeHalfSplit);
}

BOOST_AUTO_TEST_CASE(dropout_keeps_some_pairs_of_sequences_and_heads) {
  for (const char* name : {"naive", "tiled", "fused"})
    for (const Shape& shape : {kPlain, kWindow, kDocuments})
      for (const Bias bias : {Bias(PLUMBLINE_NOPE), Bias(PLUMBLINE_ALIBI)})
        check(name, shape.with_dropout(0.3f), bias);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
