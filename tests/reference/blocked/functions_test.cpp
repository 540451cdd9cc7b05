// SPDX-License-Identifier: Apache-2.0
// The vectorised functions against MPFR, in every instruction set that the machine has. What they
// are held to is what docs/blocked.md derives its bounds from.
#include <algorithm>
#include <limits>

#include "reference/blocked/kernels.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(functions_test)

using namespace plumbline::reference;

namespace {

constexpr double u = 0x1p-53, tiny = std::numeric_limits<double>::min();

/// The largest |computed - exact| / |exact| in units of u, over numbers whose result is not tiny;
/// checks that the others are within `tiny`.
template <class Exact>
double largest_error(const std::vector<double>& x, const std::vector<double>& computed,
                     const Exact& exact) {
  double largest = 0.0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const MpReal expected = exact(MpReal(x[n]));
    const MpReal error = abs(MpReal(computed[n]) - expected);
    if (abs(expected) < MpReal(2 * tiny)) {
      BOOST_TEST((error <= MpReal(2 * tiny)), x[n] << " gives " << computed[n]);
      continue;
    }
    largest = std::max(largest, static_cast<double>(error / abs(expected)) / u);
  }
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_exponential_is_within_3_u_below_zero) {
  Numbers numbers(1);
  std::vector<double> x{0.0, -0.0, -745.2, -800.0, -1e9, -1e300, -708.3, -709.0, -744.0};
  for (int e = -60; e < 10; ++e) x.push_back(-std::exp2(e));
  for (double low : {-1.0, -10.0, -100.0, -745.0}) {
    for (double each : numbers.between(low, 0.0, 20000)) x.push_back(each);
  }
  for (const blocked::Kernels* kernels : blocked::available_kernels()) {
    std::vector<double> y(x.size());
    kernels->exponential(x, y.data());
    const double error =
        largest_error(x, y, [](const MpReal& a) { return Primitives<MpReal>::exp(a); });
    BOOST_TEST_MESSAGE(kernels->instruction_set << ": exp within " << error << " u");
    BOOST_TEST(!!(error <= 3.0), kernels->instruction_set << ": " << error << " u");
    BOOST_TEST(y[0] == 1.0);
  }
}

BOOST_AUTO_TEST_CASE(the_log_kernel_is_within_8_u) {
  Numbers numbers(2);
  std::vector<double> d{0.0, 1.0, -1.0};
  for (int e = -200; e < 200; ++e) d.push_back(std::exp2(e) * numbers.between(-2, 2));
  for (double size : {1e-9, 1e-7, 1e-3, 1.0, 10.0, 1e4}) {
    for (double each : numbers.between(-size, size, 10000)) d.push_back(each);
  }
  for (const blocked::Kernels* kernels : blocked::available_kernels()) {
    std::vector<double> y(d.size());
    kernels->log_kernel(d, y.data());
    const double error = largest_error(
        d, y, [](const MpReal& a) { return Primitives<MpReal>::log1p(MpReal(a * a)); });
    BOOST_TEST_MESSAGE(kernels->instruction_set << ": ln(1 + d^2) within " << error << " u");
    BOOST_TEST(!!(error <= 8.0), kernels->instruction_set << ": " << error << " u");
    BOOST_TEST(y[0] == 0.0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
