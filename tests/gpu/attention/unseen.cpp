// SPDX-License-Identifier: Apache-2.0
// What no query sees, and a query that sees nothing, may be anything: padding is often never
// written. Not a bit of any output depends on it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "emulation/grid.hpp"
#include "plumbline_kernel.h"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(unseen_test)

namespace {

using namespace plumbline::gpu_tests;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool sees(const Case& made, int b, int head, int query, int key) {
  const plumbline_problem& p = made.problem;
  const int position = query + (p.queries_at_end ? p.lengths[b] - p.queries : p.query_offset);
  if (position < 0 || !made.mask_shows(b, head, query, key)) return false;
  if (p.lengths && (position >= p.lengths[b] || key >= p.lengths[b])) return false;
  if (p.causal && key > position) return false;
  if (p.window_left >= 0 && position - key > p.window_left) return false;
  if (p.window_right >= 0 && key - position > p.window_right) return false;
  const std::int32_t* documents = p.documents + std::size_t(b) * p.keys;
  return !p.documents || documents[position] == documents[key];
}

/// A tensor [batch, heads, rows, dim], as floats and in 16 bits.
struct Tensor {
  Floats& wide;
  std::vector<std::uint16_t>& narrow;
  int heads, rows, dim;

  void poison(int b, int head, int row) {
    const std::size_t first = ((std::size_t(b) * heads + head) * rows + row) * dim;
    std::fill_n(wide.begin() + first, dim, kNan);
    std::fill_n(narrow.begin() + first, dim, std::uint16_t{0x7fff});  // NaN in bf16 and in fp16
  }
};

/// A case, its dO and dL/dlse; `poisoned`: what nobody sees is NaN.
struct Inputs {
  Inputs(const Shape& shape, Bias bias, int format, const std::vector<std::int32_t>& lengths,
         bool poisoned)
      : made(shape, bias, format), grad_o(made.v_like_o()), grad_o16(truncated(grad_o)) {
    made.lengths = lengths;
    made.problem.lengths = made.lengths.empty() ? nullptr : made.lengths.data();
    const Shape& s = made.s;
    Tensor of_queries[] = {{made.q, made.q16, s.heads, s.queries, s.head_dim},
                           {grad_o, grad_o16, s.heads, s.queries, s.value_width()}};
    Tensor of_keys[] = {{made.k, made.k16, s.kv_heads, s.keys, s.head_dim},
                        {made.v, made.v16, s.kv_heads, s.keys, s.value_width()}};
    made.problem.lse_gradient = 1;
    const auto poison = [&](int b, int head, const std::vector<bool>& kept, auto& tensors) {
      for (std::size_t row = 0; row < kept.size(); ++row) {
        if (kept[row]) continue;
        ++unseen;
        for (Tensor& tensor : tensors)
          if (poisoned) tensor.poison(b, head, static_cast<int>(row));
      }
    };
    for (int b = 0; b < s.batch; ++b) {
      std::vector<std::vector<bool>> key_is_seen(s.kv_heads, std::vector<bool>(s.keys));
      for (int head = 0; head < s.heads; ++head) {
        std::vector<bool> query_sees(s.queries),
            &of_head = key_is_seen[head * s.kv_heads / s.heads];
        for (int i = 0; i < s.queries; ++i)
          for (int j = 0; j < s.keys; ++j)
            if (sees(made, b, head, i, j)) query_sees[i] = of_head[j] = true;
        poison(b, head, query_sees, of_queries);
        for (int i = 0; i < s.queries; ++i)
          if (poisoned && !s.sinks && !query_sees[i])
            grad_lse[(std::size_t(b) * s.heads + head) * s.queries + i] = kNan;
      }
      for (int head = 0; head < s.kv_heads; ++head) poison(b, head, key_is_seen[head], of_keys);
    }
  }

  Case made;
  Floats grad_o;
  std::vector<std::uint16_t> grad_o16;
  Floats grad_lse = made.v_like_lse();
  int unseen = 0;  // rows of q and k
};

/// All that the kernel's passes give, as floats whatever the format: bits.
struct Results {
  Results(const plumbline_kernel& kernel, Inputs& in) {
    Case& made = in.made;
    Floats o(made.rows * made.s.value_width()), lse(made.rows);
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    if (kernel.decode && kernel.supports(&made.problem, PLUMBLINE_DECODE) == 1) {
      BOOST_REQUIRE_MESSAGE(kernel.decode(&made.problem, &outputs, message, sizeof message) == 0,
                            message);
      tensors.insert(tensors.end(), {o, lse});
    }
    if (!kernel.forward) return;
    BOOST_REQUIRE_MESSAGE(kernel.forward(&made.problem, &outputs, message, sizeof message) == 0,
                          message);
    tensors.insert(tensors.end(), {o, lse});
    if (!kernel.backward) return;
    BOOST_REQUIRE(kernel.supports(&made.problem, PLUMBLINE_BACKWARD) == 1);
    Floats q(made.q.size()), k(made.k.size()), v(made.v.size());
    Floats parameters[PLUMBLINE_PARAMETER_COUNT];
    plumbline_gradients gradients{
        o.data(),           lse.data(), made.of_format(in.grad_o, in.grad_o16),
        in.grad_lse.data(), q.data(),   k.data(),
        v.data(),           {}};
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      parameters[n].resize(made.parameters.values[n].size());
      gradients.grad_parameters[n] = parameters[n].data();
    }
    BOOST_REQUIRE_MESSAGE(kernel.backward(&made.problem, &gradients, message, sizeof message) == 0,
                          message);
    tensors.insert(tensors.end(), {q, k, v});
    tensors.insert(tensors.end(), std::begin(parameters), std::end(parameters));
  }

  static int differ(const Floats& a, const Floats& b) {
    int count = 0;
    for (std::size_t n = 0; n < a.size(); ++n) count += std::memcmp(&a[n], &b[n], sizeof a[n]) != 0;
    return count;
  }

  std::vector<Floats> tensors;
};

void check(const Shape& shape, const std::vector<std::int32_t>& lengths) {
  // With one worker atomic additions have an order, too.
  plumbline::emulation::set_workers(1);
  const plumbline_library* library = plumbline_kernel_library();
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    // DAPE's network reads keys that are hidden.
    BOOST_TEST(kernel.ignores_hidden_keys == (kernel.name == std::string("unfused") ? 0 : 1));
    for (const Bias bias : {Bias(PLUMBLINE_NOPE), Bias(PLUMBLINE_FIRE), Bias(PLUMBLINE_BIAS_TENSOR),
                            kRopeHalfSplit, Bias(PLUMBLINE_COPE)}) {
      for (int format = PLUMBLINE_FP32; format <= PLUMBLINE_TF32; ++format) {
        Inputs clean(shape, bias, format, lengths, false),
            poisoned(shape, bias, format, lengths, true);
        const int pass = kernel.forward ? PLUMBLINE_FORWARD : PLUMBLINE_DECODE;
        if (kernel.supports(&clean.made.problem, pass) != 1) continue;
        BOOST_TEST_REQUIRE(clean.unseen > 0);
        BOOST_TEST_CONTEXT(kernel.name << " " << name_of(bias) << " " << kFormats[format] << " "
                                       << shape.name) {
          const Results expected(kernel, clean), actual(kernel, poisoned);
          BOOST_TEST_REQUIRE(!expected.tensors.empty());
          for (std::size_t t = 0; t < expected.tensors.size(); ++t)
            BOOST_TEST(Results::differ(actual.tensors[t], expected.tensors[t]) == 0,
                       "tensor " << t);
          ++runs;
        }
      }
    }
  }
  BOOST_TEST(runs > 40);
}

BOOST_AUTO_TEST_CASE(rows_beyond_the_length_of_a_sequence) {
  check({"padded", 1, 2, 1, 8, 8, 32, false, -1, true, false, false}, {5});
  check({"padded, with sinks", 1, 2, 1, 8, 8, 32, false, -1, true, false, false, 0, true}, {5});
}

BOOST_AUTO_TEST_CASE(rows_before_the_first_token_of_a_sequence) {
  check({"at the end", 2, 2, 1, 70, 70, 32, true, -1, true, false, false, 0, false, true}, {61, 3});
  check({"at the end, with a window and SSMax", 2, 2, 1, 40, 90, 64, false, 20, true, false, true,
         0, true, true},
        {90, 21});
}

BOOST_AUTO_TEST_CASE(rows_beyond_the_keys) {
  // A window of 2 ends at row 9; rows from 10 on see nothing.
  check({"beyond", 1, 2, 1, 64, 8, 32, false, 2, false, false, false, 0, false, false, 56}, {});
}

BOOST_AUTO_TEST_CASE(documents_before_those_of_the_queries) {
  // Documents are of 13 keys: the query sees one of two keys.
  check({"one query", 1, 2, 1, 1, 15, 32, true, -1, false, true, false}, {});
}

BOOST_AUTO_TEST_CASE(rows_and_keys_that_a_tensor_hides) {
  check(Shape{"tensor", 2, 4, 2, 37, 45, 32, false, -1, false, false, false}.with_mask(true, true),
        {});
  check(Shape{"tensor, with sinks", 2, 4, 2, 37, 45, 32, true, 9, true, false, false, 0, true}
            .with_mask(false, true)
            .with_values(21),
        {45, 30});
  check(
      Shape{"tensor, three queries", 2, 4, 1, 3, 70, 48, false, -1, false, false, false}.with_mask(
          true, false),
      {});
}

BOOST_AUTO_TEST_CASE(all_kinds_of_masks_across_tiles) {
  check({"masks", 2, 2, 1, 60, 150, 64, false, 40, true, true, true}, {150, 131});
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
