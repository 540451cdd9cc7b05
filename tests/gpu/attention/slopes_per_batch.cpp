// SPDX-License-Identifier: Apache-2.0
// ALiBi with slopes of each sequence: every pass gives a batch the bits that it gives its sequences
// by themselves.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "emulation/grid.hpp"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(slopes_per_batch_test)

namespace {

using namespace plumbline::gpu_tests;
using Floats = std::vector<float>;

constexpr Shape kShape{"small", 2, 4, 2, 19, 45, 32, true, -1, true, false, false};

/// All that a kernel gives.
struct Results {
  Floats o, lse, q, k, v;

  explicit Results(const Case& made)
      : o(made.q.size()), lse(made.rows), q(made.q.size()), k(made.k.size()), v(made.v.size()) {}

  /// Of p.batch sequences from `first` on.
  void run(const plumbline_kernel& kernel, const Case& made, plumbline_problem p, int first,
           bool decodes) {
    const std::size_t rows = static_cast<std::size_t>(first) * p.heads * p.queries;
    const std::size_t row = rows * p.head_dim;
    const std::size_t key = static_cast<std::size_t>(first) * p.kv_heads * p.keys * p.head_dim;
    p.q = made.q.data() + row;
    p.k = made.k.data() + key;
    p.v = made.v.data() + key;
    p.lengths += first;
    p.parameters[PLUMBLINE_SLOPES] += first * p.heads;
    const plumbline_outputs outputs{o.data() + row, lse.data() + rows};
    char message[256] = "";
    BOOST_TEST(kernel.supports(&p, decodes ? PLUMBLINE_DECODE : PLUMBLINE_FORWARD) == 1);
    const auto pass = decodes ? kernel.decode : kernel.forward;
    BOOST_REQUIRE_MESSAGE(pass(&p, &outputs, message, sizeof message) == 0, message);
    if (decodes || !kernel.backward) return;
    const Floats grad_o = made.v_like_o();
    const plumbline_gradients to{outputs.o,      outputs.lse,    grad_o.data() + row, nullptr,
                                 q.data() + row, k.data() + key, v.data() + key,      {}};
    BOOST_REQUIRE_MESSAGE(kernel.backward(&p, &to, message, sizeof message) == 0, message);
  }
  bool operator==(const Results&) const = default;
};

BOOST_AUTO_TEST_CASE(a_batch_has_the_bits_of_its_sequences) {
  plumbline::emulation::set_workers(1);  // atomic additions have an order then
  const plumbline_library* library = plumbline_kernel_library();
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    for (const int pass : {PLUMBLINE_FORWARD, PLUMBLINE_DECODE}) {
      const Case made(kShape, PLUMBLINE_ALIBI, PLUMBLINE_FP32);
      const Floats slopes = Numbers(5).many(kShape.batch * kShape.heads, 0.0f, 0.5f);
      plumbline_problem one = made.problem, all = one;
      one.batch = 1;
      one.parameters[PLUMBLINE_SLOPES] = all.parameters[PLUMBLINE_SLOPES] = slopes.data();
      all.options[PLUMBLINE_SLOPES_PER_BATCH] = 1;
      if (kernel.supports(&one, pass) != 1) continue;
      BOOST_TEST_CONTEXT(kernel.name) {
        Results expected(made), actual(made);
        for (int b = 0; b < kShape.batch; ++b)
          expected.run(kernel, made, one, b, pass == PLUMBLINE_DECODE);
        actual.run(kernel, made, all, 0, pass == PLUMBLINE_DECODE);
        BOOST_TEST((actual == expected));
      }
      ++runs;
    }
  }
  BOOST_TEST(runs == 6);  // naive, tiled, fused, fused_atomic, fused_skipping, split_kv
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
