// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/bias_tensor.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(bias_tensor_test)

using namespace plumbline::reference;

namespace {

/// Numbers in [-1, 1), with one row a query or one for all.
template <bool per_query>
struct TensorMethod {
  static constexpr const char* name = "bias_tensor";
  static int rows(const Positions& at) { return per_query ? at.queries : 1; }
  static std::vector<double> parameters(Numbers& numbers, const Positions& at) {
    return numbers.between(-1, 1, rows(at) * at.keys);
  }
  template <Real R>
  static BiasTensor<R> read(Reader<R>& reader, const Positions& at) {
    Matrix<R> values(rows(at), at.keys);
    for (int r = 0; r < rows(at); ++r) values.row(r) = reader.vector(at.keys).transpose();
    return {values, at.query_offset};
  }
  template <Real R>
  static void write(Writer<R>& writer, const Matrix<R>& grad) {
    for (Eigen::Index r = 0; r < grad.rows(); ++r) writer.vector(grad.row(r).transpose());
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_belongs_to_a_query_and_not_to_its_position) {
  Matrix<double> values(2, 3);
  values << 1, 2, 3, 4, 5, 6;
  const BiasTensor<double> bias{values, 1};
  BOOST_TEST(bias(1, 0) == 1);
  BOOST_TEST(bias(1, 2) == 3);
  BOOST_TEST(bias(2, 0) == 4);
  BOOST_TEST(bias(2, 1) == 5);
}

BOOST_AUTO_TEST_CASE(a_single_row_is_that_of_all_queries_and_sums_their_gradients) {
  Matrix<double> values(1, 3);
  values << 1, 2, 3;
  const BiasTensor<double> bias{values, 5};
  for (const int i : {5, 6, 7}) BOOST_TEST(bias(i, 1) == 2);
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, 5, 1, 0.25);
  bias.accumulate_grad(grad, 6, 1, 0.5);
  bias.accumulate_grad(grad, 6, 2, 8.0);
  BOOST_TEST(grad(0, 0) == 0.0);
  BOOST_TEST(grad(0, 1) == 0.75);
  BOOST_TEST(grad(0, 2) == 8.0);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_bias_is_right(TensorMethod<true>{}, seed);
    expect_bias_is_right(TensorMethod<false>{}, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
