// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/custom.hpp"

#include <cmath>
#include <vector>

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(custom_test)

using namespace plumbline::reference;

namespace {

using Op = Formula::Op;
using Place = Formula::Place;
using Per = Formula::Per;

/// Puts a formula together, node by node.
class Builder {
 public:
  explicit Builder(std::vector<Per> parameters) { formula_.parameters = std::move(parameters); }

  int operator()(Op op, int a = -1, int b = -1, int c = -1) {
    Formula::Node node{.op = op, .a = a, .b = b, .c = c};
    node.of_positions = true;
    for (const int operand : {a, b, c}) {
      if (operand >= 0) node.of_positions &= formula_.nodes[operand].of_positions;
    }
    return add(node);
  }
  int number(double x) { return add({.op = Op::number, .number = x, .of_positions = true}); }
  int parameter(int which, Place place = Place::of_head) {
    return add({.op = Op::parameter, .parameter = which, .place = place});
  }
  const Formula& formula() const { return formula_; }

 private:
  int add(const Formula::Node& node) {
    formula_.nodes.push_back(node);
    return static_cast<int>(formula_.nodes.size()) - 1;
  }
  Formula formula_;
};

/// Every operation and every kind of parameter once at least; the numbers are all in [0.2, 1.2).
Formula every_operation() {
  Builder f({Per::all, Per::head, Per::query, Per::key, Per::sequence, Per::prefix_sum});
  const int a = f.parameter(0), r = f.parameter(1), g = f.parameter(2, Place::of_query),
            wi = f.parameter(3, Place::of_query), wj = f.parameter(3, Place::of_key),
            c = f.parameter(4), s = f.parameter(5);
  const int i = f(Op::query), j = f(Op::key), h = f(Op::head), one = f.number(1),
            distance = f(Op::absolute, f(Op::subtract, i, j));
  const auto plus = [&](int x, int y) { return f(Op::add, x, y); };
  const auto times = [&](int x, int y) { return f(Op::multiply, x, y); };
  const std::vector<int> terms{
      f(Op::negate, times(a, f(Op::absolute, f(Op::subtract, f.number(0.1), r)))),
      f(Op::divide, g, plus(one, times(wj, wj))),
      times(f(Op::exp, f(Op::negate, wi)), f(Op::log, plus(one, r))),
      f(Op::log1p, times(a, c)),
      f(Op::sqrt, plus(one, times(r, r))),
      times(f(Op::sin, a), f(Op::cos, g)),
      times(f(Op::tanh, s), f(Op::erf, r)),
      f(Op::minimum, times(a, wj), plus(r, c)),
      f(Op::minimum, plus(a, c), times(f.number(0.1), r)),
      f(Op::maximum, wi, f(Op::subtract, s, f.number(0.7))),
      f(Op::maximum, times(f.number(0.1), c), g),
      f(Op::power, plus(one, a), r),
      f(Op::power, distance, plus(one, a)),
      f(Op::where, f(Op::less, i, j), times(a, wj), times(r, s)),
      f(Op::where, f(Op::equal, i, j), times(a, a), f(Op::log, times(distance, c))),
      times(f(Op::floor, f(Op::divide, i, f.number(2))), times(f(Op::subtract, h, one), r)),
  };
  int sum = terms[0];
  for (std::size_t n = 1; n < terms.size(); ++n) sum = plus(sum, terms[n]);
  return f.formula();
}

const Formula& formula_of_all() {
  static const Formula formula = every_operation();
  return formula;
}

struct FormulaMethod {
  static constexpr const char* name = "custom";
  static std::vector<double> parameters(Numbers& numbers, const Positions& at) {
    return numbers.between(0.2, 1.2, 3 + at.queries + 2 * at.keys);
  }
  template <Real R>
  static Custom<R> read(Reader<R>& reader, const Positions& at) {
    const auto one = [&] { return reader.vector(1); };
    Custom<R> bias{&formula_of_all(), 3, at.query_offset, {}};
    bias.numbers.push_back(one());
    bias.numbers.push_back(one());
    bias.numbers.push_back(reader.vector(at.queries));
    bias.numbers.push_back(reader.vector(at.keys));
    bias.numbers.push_back(one());
    bias.numbers.push_back(prefix_sum(reader.vector(at.keys)));
    return bias;
  }
  template <Real R>
  static void write(Writer<R>& writer, const std::vector<Vector<R>>& grad) {
    for (std::size_t n = 0; n + 1 < grad.size(); ++n) writer.vector(grad[n]);
    writer.vector(prefix_sum_grad(grad.back()));
  }
};

double value(const Builder& f, int i, int j) {
  return FormulaValues<double>(f.formula(), i, j, 0, [](int, Place) { return 2.0; }).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  for (std::uint64_t seed : {1, 2, 3}) expect_bias_is_right(FormulaMethod{}, seed);
}

BOOST_AUTO_TEST_CASE(where_evaluates_the_side_that_it_takes) {
  Builder f({Per::all});
  const int distance = f(Op::absolute, f(Op::subtract, f(Op::query), f(Op::key)));
  f(Op::where, f(Op::less, f.number(0), distance), f(Op::log, distance), f.parameter(0));
  BOOST_TEST(value(f, 3, 3) == 2.0);
  BOOST_TEST(value(f, 3, 2) == 0.0);
}

BOOST_AUTO_TEST_CASE(a_decision_that_fp32_may_take_otherwise_is_no_number) {
  // floor(d * 0.29 * 100) is 28 in double and 29 in fp32 for d = 1; 0.5 is exact in both.
  Builder unsure({}), exact({}), quotient({});
  unsure(Op::floor,
         unsure(Op::multiply, unsure(Op::multiply, unsure(Op::query), unsure.number(0.29)),
                unsure.number(100)));
  exact(Op::floor, exact(Op::multiply, exact(Op::query), exact.number(0.5)));
  quotient(Op::floor, quotient(Op::divide, quotient(Op::query), quotient.number(7)));
  BOOST_TEST(std::isnan(value(unsure, 1, 0)));
  BOOST_TEST(value(unsure, 0, 0) == 0);
  for (int i = 0; i < 50; ++i) {
    BOOST_TEST(value(exact, i, 0) == i / 2);
    BOOST_TEST(value(quotient, i, 0) == i / 7);
  }
}

BOOST_AUTO_TEST_SUITE_END()
