// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/elements.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/container.hpp"

namespace plumbline::checkpoint {

BOOST_AUTO_TEST_SUITE(elements_test)

namespace {

std::vector<double> widened(Dtype dtype, const std::string& bytes, std::size_t begin,
                            std::size_t count) {
  std::vector<double> values(count);
  widen({dtype, {}, bytes_of(bytes)}, begin, values);
  return values;
}

}  // namespace

// The bits are laid out by hand from IEEE 754 (binary16: 5 bits of exponent, 10 of fraction) and,
// for BF16, as the upper half of binary32.
BOOST_AUTO_TEST_CASE(halves_are_widened_exactly) {
  const std::string bytes = raw<std::uint16_t>({0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x8000});
  const auto values = widened(Dtype::f16, bytes, 0, 6);
  BOOST_TEST(values == (std::vector{1.0, -2.0, 1365.0 / 4096, 65504.0, std::ldexp(1, -24), -0.0}),
             boost::test_tools::per_element());
  BOOST_TEST(std::signbit(values[5]));
}

BOOST_AUTO_TEST_CASE(bfloat16_is_widened_exactly) {
  const std::string bytes = raw<std::uint16_t>({0x3f80, 0xc000, 0x3eab, 0x7f7f, 0x0001});
  BOOST_TEST(widened(Dtype::bf16, bytes, 0, 5) ==
                 (std::vector{1.0, -2.0, 171.0 / 512, std::ldexp(255, 120), std::ldexp(1, -133)}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(single_and_double_precision_are_widened_exactly) {
  BOOST_TEST(widened(Dtype::f32, raw<float>({0.1f, -3}), 0, 2) == (std::vector<double>{0.1f, -3}),
             boost::test_tools::per_element());
  BOOST_TEST(widened(Dtype::f64, raw<double>({0.1, -3}), 0, 2) == (std::vector{0.1, -3.0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(elements_are_taken_from_the_middle_and_at_odd_addresses) {
  const std::string bytes = "x" + raw<float>({1, 2, 3, 4});
  std::vector<double> values(2);
  widen({Dtype::f32, {4}, bytes_of(bytes).subspan(1)}, 1, values);
  BOOST_TEST(values == (std::vector<double>{2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(whole_numbers_are_no_floating_point_numbers) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16}) {
    BOOST_TEST(is_floating_point(dtype));
  }
  for (const Dtype dtype : {Dtype::i32, Dtype::i64, Dtype::u8, Dtype::boolean}) {
    BOOST_TEST(!is_floating_point(dtype));
    BOOST_CHECK_THROW(widened(dtype, "12345678", 0, 1), std::logic_error);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::checkpoint
