// SPDX-License-Identifier: Apache-2.0
// A bias as an expression: what a user of the judge has written, read in any scalar.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/core/primitives.hpp"
#include "reference/core/real.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// b_ij as a graph of operations on i, j, the head's number, constants and parameters.
struct Formula {
  enum class Op : std::uint8_t {
    number,
    query,      ///< i
    key,        ///< j
    head,       ///< h, from 0
    parameter,  ///< its number at `place`
    negate,
    add,
    subtract,
    multiply,
    divide,
    power,  ///< of a base above 0; a base of positions alone may be 0 under an exponent above 0
    exp,
    log,
    log1p,
    sqrt,
    absolute,
    sin,
    cos,
    tanh,
    erf,
    minimum,
    maximum,
    // Of positions alone; NaN where fp32 may decide otherwise:
    floor,
    less,   ///< 1 or 0
    equal,  ///< 1 or 0
    where,  ///< the second where the first is not 0, else the third, which is then not evaluated
  };
  /// Which number of a parameter that has one a position: the query's or the key's.
  enum class Place : std::uint8_t { of_head, of_query, of_key };

  struct Node {
    Op op{};
    double number = 0;           ///< of a constant
    int parameter = -1;          ///< its place in the declaration
    Place place{};               ///< of a parameter
    int a = -1, b = -1, c = -1;  ///< the operands' places in `nodes`, before its own
    bool of_positions = false;   ///< no parameter below
  };
  std::vector<Node> nodes;  ///< the last is b_ij

  /// What a parameter has a number for.
  enum class Per : std::uint8_t {
    all,        ///< [1]
    head,       ///< [heads]
    query,      ///< [batch, heads, queries]
    key,        ///< [batch, heads, keys]
    sequence,   ///< [batch]
    prefix_sum  ///< [batch, heads, keys]; the formula reads S_i - S_j, S_n the sum of numbers 0 to
                ///< n
  };
  std::vector<Per> parameters;
};

namespace formula {

using Op = Formula::Op;

inline std::optional<double> leaf_of(const Formula::Node& node, int i, int j, int h) {
  if (node.op == Op::number) return node.number;
  if (node.op == Op::query) return i;
  if (node.op == Op::key) return j;
  if (node.op == Op::head) return h;
  return std::nullopt;
}

/// @param a, b give the operands.
template <Real S>
S applied(Op op, const auto& a, const auto& b) {
  switch (op) {
    case Op::negate:
      return -a();
    case Op::add:
      return a() + b();
    case Op::subtract:
      return a() - b();
    case Op::multiply:
      return a() * b();
    case Op::divide:
      return a() / b();
    case Op::power:
      return power(S(a()), S(b()));
    case Op::exp:
      return exp(S(a()));
    case Op::log:
      return log(S(a()));
    case Op::log1p:
      return log1p(S(a()));
    case Op::sqrt:
      return sqrt(S(a()));
    case Op::absolute:
      return absolute(S(a()));
    case Op::sin:
      return sin(S(a()));
    case Op::cos:
      return cos(S(a()));
    case Op::tanh:
      return tanh(S(a()));
    case Op::erf:
      return erf(S(a()));
    case Op::minimum:
      return -maximum(S(-a()), S(-b()));
    case Op::maximum:
      return maximum(S(a()), S(b()));
    case Op::number:
    case Op::query:
    case Op::key:
    case Op::head:
    case Op::parameter:
    case Op::floor:
    case Op::less:
    case Op::equal:
    case Op::where:
      break;
  }
  throw std::logic_error("an operation that is not one of numbers");
}

/// A number of positions, and whether nothing on the way to it was rounded.
struct InDouble {
  double value = 0;
  bool exact = true;
};

/// NaN where a kernel's fp32 may be on the other side: within 2^-20 of the limit, relative to what
/// is compared, unless both are exact.
inline double decided(double difference, double size, bool exact, double if_so) {
  const bool certain = exact || std::fabs(difference) > 0x1p-20 * size;
  return certain ? if_so : std::nan("");
}

/// A node that is no parameter, in double.
/// @param values of the nodes before it.
inline InDouble in_double(const Formula::Node& node, int i, int j, int h,
                          const std::vector<InDouble>& values) {
  const auto is_float = [](double x) {
    return std::fabs(x) <= 0x1p127 && static_cast<double>(static_cast<float>(x)) == x;
  };
  if (const auto leaf = leaf_of(node, i, j, h)) return {*leaf, is_float(*leaf)};
  const InDouble a = values[node.a], b = node.b >= 0 ? values[node.b] : InDouble{};
  const bool exact = a.exact && b.exact;
  if (node.op == Op::multiply && ((a.exact && a.value == 0) || (b.exact && b.value == 0))) {
    return {0.0, true};
  }
  if (node.op == Op::less || node.op == Op::equal) {
    const double holds = node.op == Op::less ? a.value < b.value : a.value == b.value;
    const double size = std::max(std::fabs(a.value), std::fabs(b.value));
    const bool is_number = a.value - b.value == a.value - b.value;
    return {is_number ? decided(a.value - b.value, size, exact, holds) : std::nan(""), true};
  }
  if (node.op == Op::where) {
    if (std::isnan(a.value)) return {a.value, true};
    return values[a.value != 0 ? node.b : node.c];
  }
  if (node.op == Op::floor) {
    const double below = std::floor(a.value), off = std::min(a.value - below, below + 1 - a.value);
    return {decided(off, std::max(1.0, std::fabs(a.value)), a.exact, below), true};
  }
  const double value = applied<double>(
      node.op, [&] { return a.value; }, [&] { return b.value; });
  // Of floats products are exact in double; of sums that is seen.
  const bool keeps = node.op == Op::negate || node.op == Op::absolute || node.op == Op::minimum ||
                     node.op == Op::maximum || node.op == Op::multiply;
  const double other = node.op == Op::subtract ? -b.value : b.value;
  const bool sums = (node.op == Op::add || node.op == Op::subtract) && value - a.value == other &&
                    value - other == a.value;
  int exponent = 0;
  const bool shifts = node.op == Op::divide && std::fabs(std::frexp(b.value, &exponent)) == 0.5;
  return {value, exact && (keeps || sums || shifts) && is_float(value)};
}

/// floor of a quotient of two exact whole numbers up to 2^24: a double quotient cannot cross a
/// whole number, and a kernel divides whole numbers.
inline bool is_floor_of_whole_quotient(const Formula& formula, const Formula::Node& node,
                                       const std::vector<InDouble>& values) {
  if (node.op != Op::floor || formula.nodes[node.a].op != Op::divide) return false;
  const auto is_whole = [&](int n) {
    const auto [value, exact] = values[n];
    return exact && std::trunc(value) == value && std::fabs(value) <= 0x1p24;
  };
  return is_whole(formula.nodes[node.a].a) && is_whole(formula.nodes[node.a].b);
}
inline InDouble node_in_double(const Formula& formula, int n, int i, int j, int h,
                               const std::vector<InDouble>& values) {
  const Formula::Node& node = formula.nodes[n];
  if (is_floor_of_whole_quotient(formula, node, values)) {
    return {std::floor(values[node.a].value), true};
  }
  return in_double(node, i, j, h, values);
}

/// The whole formula in double, comparisons of parameters included; NaN as `decided` says.
/// @param read as FormulaValues has it.
template <class Read>
double value_in_double(const Formula& formula, int i, int j, int h, const Read& read) {
  thread_local std::vector<InDouble> values;  // asked for every pair
  values.resize(formula.nodes.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const Formula::Node& node = formula.nodes[n];
    values[n] = node.op == Op::parameter
                    ? InDouble{read(node.parameter, node.place)}
                    : node_in_double(formula, static_cast<int>(n), i, j, h, values);
  }
  return values.back().value;
}

}  // namespace formula

/// One evaluation of a formula, with the values on the way, for its derivatives.
template <Real R>
class FormulaValues {
 public:
  /// @param read read(parameter, place) is the parameter's number.
  template <class Read>
  FormulaValues(const Formula& formula, int i, int j, int h, const Read& read)
      : formula_(formula),
        i_(i),
        j_(j),
        h_(h),
        positions_(formula.nodes.size()),
        values_(formula.nodes.size()) {
    for (int n = 0; n <= last(); ++n) {
      if (formula.nodes[n].of_positions) {
        positions_[n] = formula::node_in_double(formula, n, i, j, h, positions_);
      }
    }
    evaluate(last(), read);
  }

  const R& value() const { return *values_.back(); }

  /// Calls use(parameter, place, derivative of b_ij) for each time that the formula reads one.
  /// Derivatives of |x|, min and max at their kinks are those of core/primitives.hpp.
  /// @param of_itself d b_ij / d b_ij: 1
  template <class Use>
  void derivatives(const Use& use, const R& of_itself = R(1.0)) const {
    std::vector<std::optional<R>> adjoints(values_.size());
    adjoints.back() = of_itself;
    for (int n = last(); n >= 0; --n) {
      const Formula::Node& node = formula_.nodes[n];
      if (!adjoints[n] || node.of_positions) continue;
      if (node.op == Formula::Op::parameter) {
        use(node.parameter, node.place, *adjoints[n]);
      } else {
        pass_on(node, n, *adjoints[n], adjoints);
      }
    }
  }

 private:
  using Op = Formula::Op;

  int last() const { return static_cast<int>(values_.size()) - 1; }
  const R& at(int n) const { return *values_[n]; }

  template <class Read>
  void evaluate(int n, const Read& read) {
    if (values_[n]) return;
    const Formula::Node& node = formula_.nodes[n];
    if (node.op == Op::where) {
      const double condition = positions_[node.a].value;
      if (std::isnan(condition)) {
        values_[n] = R(condition);
        return;
      }
      const int taken = condition != 0 ? node.b : node.c;
      evaluate(taken, read);
      values_[n] = at(taken);
      return;
    }
    const bool decided = node.op == Op::floor || node.op == Op::less || node.op == Op::equal;
    for (const int operand : {node.a, node.b}) {
      if (operand >= 0 && !decided) evaluate(operand, read);
    }
    if (node.op == Op::parameter) {
      values_[n] = read(node.parameter, node.place);
    } else {
      values_[n] = decided ? R(positions_[n].value) : result(node);
    }
  }

  R result(const Formula::Node& node) const {
    if (node.op == Op::power && is_zero_of_positions(node.a) && representative(at(node.b)) > 0) {
      return R(0.0);
    }
    if (const auto leaf = formula::leaf_of(node, i_, j_, h_)) return R(*leaf);
    return formula::applied<R>(
        node.op, [&]() -> const R& { return at(node.a); },
        [&]() -> const R& { return at(node.b); });
  }

  bool is_zero_of_positions(int n) const {
    return formula_.nodes[n].of_positions && positions_[n].value == 0;
  }

  using Adjoints = std::vector<std::optional<R>>;

  static void add(Adjoints& adjoints, int n, const R& part) {
    adjoints[n] = adjoints[n] ? *adjoints[n] + part : part;
  }

  /// To the operands of node n, whose adjoint is g.
  void pass_on(const Formula::Node& node, int n, const R& g, Adjoints& adjoints) const {
    const auto a = [&]() -> const R& { return at(node.a); };
    const auto b = [&]() -> const R& { return at(node.b); };
    const auto to_a = [&](const auto& part) {
      if (!formula_.nodes[node.a].of_positions) add(adjoints, node.a, part());
    };
    const auto to_b = [&](const auto& part) {
      if (!formula_.nodes[node.b].of_positions) add(adjoints, node.b, part());
    };
    switch (node.op) {
      case Op::negate:
        return to_a([&] { return -g; });
      case Op::add:
        to_a([&] { return g; });
        return to_b([&] { return g; });
      case Op::subtract:
        to_a([&] { return g; });
        return to_b([&] { return -g; });
      case Op::multiply:
        to_a([&] { return g * b(); });
        return to_b([&] { return g * a(); });
      case Op::divide:
        to_a([&] { return g / b(); });
        return to_b([&] {
          if constexpr (requires { R::by_divisor(g, g, g); })
            return R::by_divisor(g, a(), b());
          else
            return -(g * (at(n) / b()));
        });
      case Op::power:
        if (is_zero_of_positions(node.a)) return;
        to_a([&] { return g * b() * power(a(), b() - R(1.0)); });
        return to_b([&] { return g * at(n) * log(a()); });
      case Op::exp:
        return to_a([&] { return g * at(n); });
      case Op::log:
        return to_a([&] { return g / a(); });
      case Op::log1p:
        return to_a([&] { return g / (R(1.0) + a()); });
      case Op::sqrt:
        return to_a([&] { return g / (R(2.0) * at(n)); });
      case Op::absolute:
        return to_a([&] { return g * sign(a()); });
      case Op::sin:
        return to_a([&] { return g * cos(a()); });
      case Op::cos:
        return to_a([&] { return -(g * sin(a())); });
      case Op::tanh:
        return to_a([&] { return g * (R(1.0) - at(n) * at(n)); });
      case Op::erf:
        return to_a([&] { return g * (R(2.0) / sqrt(pi<R>())) * exp(-(a() * a())); });
      case Op::minimum:
        to_a([&] { return g * step(b() - a()); });
        return to_b([&] { return g * (R(1.0) - step(b() - a())); });
      case Op::maximum:
        to_a([&] { return g * step(a() - b()); });
        return to_b([&] { return g * (R(1.0) - step(a() - b())); });
      case Op::where: {
        const int taken = positions_[node.a].value != 0 ? node.b : node.c;
        if (values_[taken] && !formula_.nodes[taken].of_positions) add(adjoints, taken, g);
        return;
      }
      case Op::number:
      case Op::query:
      case Op::key:
      case Op::head:
      case Op::parameter:
      case Op::floor:
      case Op::less:
      case Op::equal:
        return;
    }
  }

  const Formula& formula_;
  int i_, j_, h_;
  std::vector<formula::InDouble> positions_;  ///< of what has no parameter below
  std::vector<std::optional<R>> values_;      ///< of what was needed
};

}  // namespace plumbline::reference
