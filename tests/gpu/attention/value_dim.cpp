// SPDX-License-Identifier: Apache-2.0
// Values narrower than the keys: every pass gives the bits that it gives of values that zeros make
// as wide, and no number more.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

#include "emulation/grid.hpp"
#include "tests/gpu/paged_case.hpp"

BOOST_AUTO_TEST_SUITE(value_dim_test)

namespace {

using namespace plumbline::gpu_tests;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Rows of `from` numbers as rows of `to`, with zeros or cut.
Floats of_width(const Floats& rows, int from, int to) {
  Floats result;
  for (std::size_t row = 0; row < rows.size() / from; ++row)
    for (int d = 0; d < to; ++d) result.push_back(d < from ? rows[row * from + d] : 0.0f);
  return result;
}

/// All that a kernel gives of fp32.
struct Results {
  Floats o, lse, q, k, v, parameters[PLUMBLINE_PARAMETER_COUNT];

  Results(const plumbline_kernel& kernel, const Case& made, const plumbline_problem& p,
          const Floats& grad_o)
      : o(made.rows * p.value_dim, kNan),
        lse(made.rows, kNan),
        q(made.q.size(), kNan),
        k(made.k.size(), kNan),
        v(made.keys * p.value_dim, kNan) {
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    const bool decodes = p.page_size > 0;
    const auto run = decodes ? kernel.decode : kernel.forward;
    BOOST_REQUIRE_MESSAGE(run(&p, &outputs, message, sizeof message) == 0, message);
    if (decodes || !kernel.backward) return;
    const Floats grad_lse = made.v_like_lse();
    plumbline_gradients to{o.data(), lse.data(), grad_o.data(), grad_lse.data(),
                           q.data(), k.data(),   v.data(),      {}};
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      parameters[n].assign(made.parameters.values[n].size(), 0.0f);
      to.grad_parameters[n] = parameters[n].data();
    }
    BOOST_REQUIRE_MESSAGE(kernel.backward(&p, &to, message, sizeof message) == 0, message);
  }
};

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
}

constexpr int kDim = 32;
constexpr Shape kShape{"small", 2, 4, 2, 19, 45, kDim, true, -1, true, false, false};

void check(const plumbline_kernel& kernel, Bias bias, int width, bool decodes) {
  const Case narrow(kShape.with_values(width), bias, PLUMBLINE_FP32);
  Case wide(kShape, bias, PLUMBLINE_FP32);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    wide.parameters.values[n] = narrow.parameters.values[n];
    if (wide.problem.parameters[n]) wide.problem.parameters[n] = wide.parameters.values[n].data();
  }
  wide.v = of_width(narrow.v, width, kDim);
  wide.problem.v = wide.v.data();
  const PagedCase narrow_pages(narrow, 16), wide_pages(wide, 16);
  plumbline_problem of_narrow = decodes ? narrow_pages.problem : narrow.problem;
  plumbline_problem of_wide = decodes ? wide_pages.problem : wide.problem;
  of_narrow.lse_gradient = of_wide.lse_gradient = 1;
  const Floats grad_o = narrow.v_like_o();
  const Results actual(kernel, narrow, of_narrow, grad_o);
  const Results expected(kernel, wide, of_wide, of_width(grad_o, width, kDim));
  BOOST_TEST(same_bits(actual.o, of_width(expected.o, kDim, width)));
  BOOST_TEST(same_bits(actual.lse, expected.lse));
  if (decodes || !kernel.backward) return;
  BOOST_TEST(same_bits(actual.q, expected.q));
  BOOST_TEST(same_bits(actual.k, expected.k));
  BOOST_TEST(same_bits(actual.v, of_width(expected.v, kDim, width)));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n)
    BOOST_TEST(same_bits(actual.parameters[n], expected.parameters[n]), "parameter " << n);
}

BOOST_AUTO_TEST_CASE(zeros_that_make_values_wider_change_no_bit) {
  plumbline::emulation::set_workers(1);  // atomic additions have an order then
  const plumbline_library* library = plumbline_kernel_library();
  int runs = 0;
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    for (const Bias bias :
         {Bias(PLUMBLINE_NOPE), Bias(PLUMBLINE_CABLE), kRopeInterleaved, Bias(PLUMBLINE_COPE),
          Bias(PLUMBLINE_KERPLE_LOG, 1), Bias(PLUMBLINE_CABLE, 2)}) {
      for (const int width : {1, 21, 31}) {
        for (const int pass : {PLUMBLINE_FORWARD, PLUMBLINE_DECODE}) {
          const Case made(kShape.with_values(width), bias, PLUMBLINE_FP32);
          if (kernel.supports(&made.problem, pass) != 1) continue;
          BOOST_TEST_CONTEXT(kernel.name << " " << name_of(bias) << " " << width << " pass "
                                         << pass) {
            check(kernel, bias, width, pass == PLUMBLINE_DECODE);
          }
          ++runs;
        }
      }
    }
  }
  BOOST_TEST(runs > 60);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
