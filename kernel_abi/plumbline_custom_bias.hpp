// SPDX-License-Identifier: Apache-2.0
// A bias of one's own, written once: the kernel evaluates it in float, and declaration() writes it
// as the JSON that `plumbline verify --bias-file` reads. C++17, host or CUDA.
//
//   struct LogDecay {
//     template <class T>
//     struct Parameters {
//       T r, a;
//       template <class D>
//       PLUMBLINE_BOTH void declare(D& d) {
//         d.per_head("r", r, plumbline::uniform(0.0625, 2));
//         d.per_head("a", a, plumbline::uniform(0.0625, 2));
//       }
//     };
//     template <class T>
//     PLUMBLINE_BOTH T operator()(T i, T j, const Parameters<T>& p) const {
//       return -p.r * log1p(p.a * abs(i - j));
//     }
//   };
//
//   const auto p = plumbline::parameters<LogDecay>(problem, batch, head);    // in the kernel
//   score += LogDecay{}(float(i), float(j), p);
//   std::cout << plumbline::declaration<LogDecay>("log_decay");             // in a program
//
// A formula may use + - * /, comparisons, && || !, plumbline::where(condition, x, y) and these
// functions of <math.h>: abs, fabs, cos, erf, exp, floor, fmax, fmin, log, log1p, pow, sin, sqrt,
// tanh. Nothing else compiles, nor what would compute in double: write 0.1f or T(0.1) for 0.1, and
// fmax(x, T(0)) for fmax(x, 0). Write x * x for the square of x, which pow may compute less
// exactly.
//
// declare() names the parameters in the order in which a kernel gets them, and how they are drawn:
//   d.shared        [1]                       T
//   d.per_head      [heads]                   T
//   d.per_sequence  [batch]                   T
//   d.per_query     [batch, heads, queries]   plumbline::Positions<T>: p.x[i]
//   d.per_key       [batch, heads, keys]      plumbline::Positions<T>: p.x[i], p.x[j]
//   d.prefix_sum    [batch, heads, keys], uniform and >= 0, at most one    T, which is S_i - S_j
// d.head(h) makes the T h the head's number from 0; it is no parameter.
#pragma once

// Not <cmath>: these also declare abs(float) and the others outside of std.
#include <math.h>
#include <stdlib.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "plumbline_kernel.h"

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PLUMBLINE_BOTH __host__ __device__
#else
#define PLUMBLINE_BOTH
#endif
#ifdef __NVCC__  // of functions that formulas reach on the host alone
#define PLUMBLINE_ON_HOST _Pragma("nv_exec_check_disable") PLUMBLINE_BOTH
#else
#define PLUMBLINE_ON_HOST PLUMBLINE_BOTH
#endif

namespace plumbline {

/// How the judge draws the numbers of a parameter.
struct Draw {
  const char* kind;
  double a, b;
};
/// From [least, most), least < most.
PLUMBLINE_BOTH constexpr Draw uniform(double least, double most) {
  return {"uniform", least, most};
}
/// Whole numbers from least to most - 1.
PLUMBLINE_BOTH constexpr Draw whole(double least, double most) { return {"whole", least, most}; }
/// From a normal distribution of this standard deviation, > 0.
PLUMBLINE_BOTH constexpr Draw normal(double deviation) { return {"normal", deviation, 0}; }

/// The T with which declaration() calls a formula: a number that is written down as a text.
class Expression {
 public:
  /// How tightly an operation binds: an operand that binds less gets parentheses.
  enum Binding { comparison, sum, product, sign, power, atom };

  Expression() = default;
  template <class N, class = std::enable_if_t<std::is_same_v<N, float> || std::is_integral_v<N>>>
  PLUMBLINE_BOTH Expression(N constant) : Expression(static_cast<double>(constant)) {}
  PLUMBLINE_ON_HOST explicit Expression(double constant)
      : Expression(text_of(constant), constant < 0 ? sign : atom) {}
  PLUMBLINE_ON_HOST Expression(const std::string& text, Binding binding)
      : text_(kept(text)), binding_(binding) {}
  explicit operator bool() const = delete;  // for ?: and if write plumbline::where(condition, x, y)

  /// With the fewest digits that read back as this number.
  static std::string text_of(double number) {
    char text[32];
    const bool is_whole = std::floor(number) == number && std::fabs(number) < 0x1p53;
    for (int digits = is_whole ? 16 : 1;; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      if (digits >= 17 || std::strtod(text, nullptr) == number) return text;
    }
  }
  /// As an operand. @throws std::invalid_argument for a T that was given no value.
  std::string text(Binding binding = comparison) const {
    if (!text_) throw std::invalid_argument("the formula reads a T that declare() does not name");
    return binding_ >= binding ? text_ : "(" + std::string(text_) + ")";
  }
  PLUMBLINE_ON_HOST static Expression infix(Expression x, const char* symbol, Expression y,
                                            Binding left, Binding right, Binding result) {
    return {x.text(left) + symbol + y.text(right), result};
  }
  PLUMBLINE_BOTH static Expression list(Expression x, Expression y) {
    return infix(x, ", ", y, comparison, comparison, comparison);
  }
  PLUMBLINE_ON_HOST static Expression call(const char* name, Expression operands) {
    return {name + ("(" + operands.text() + ")"), atom};
  }

 private:
  /// So that copies need nothing of the host.
  static const char* kept(const std::string& text) {
    thread_local std::list<std::string> texts;
    return texts.emplace_back(text).c_str();
  }

  const char* text_ = nullptr;
  Binding binding_ = atom;

 public:
  PLUMBLINE_BOTH friend Expression fabs(Expression x) { return abs(x); }
  PLUMBLINE_BOTH friend Expression operator+(Expression x) { return x; }
  PLUMBLINE_ON_HOST friend Expression operator-(Expression x) { return {"-" + x.text(sign), sign}; }
  PLUMBLINE_BOTH friend Expression operator!(Expression x) { return 1 - x; }
  PLUMBLINE_BOTH friend Expression operator&&(Expression x, Expression y) { return x * y; }
  PLUMBLINE_BOTH friend Expression operator||(Expression x, Expression y) { return fmax(x, y); }
  PLUMBLINE_BOTH Expression& operator+=(Expression y) { return *this = *this + y; }
  PLUMBLINE_BOTH Expression& operator-=(Expression y) { return *this = *this - y; }
  PLUMBLINE_BOTH Expression& operator*=(Expression y) { return *this = *this * y; }
  PLUMBLINE_BOTH Expression& operator/=(Expression y) { return *this = *this / y; }

#define PLUMBLINE_INFIX(op, left, right, result)                             \
  PLUMBLINE_BOTH friend Expression operator op(Expression x, Expression y) { \
    return infix(x, " " #op " ", y, left, right, result);                    \
  }
#define PLUMBLINE_FUNCTION(name) \
  PLUMBLINE_BOTH friend Expression name(Expression x) { return call(#name, x); }
// Of a T and an int those of <math.h> compute in double.
#define PLUMBLINE_FUNCTION_OF_TWO(name, written)                                           \
  PLUMBLINE_BOTH friend Expression name(Expression x, Expression y) { return written; }    \
  template <class N> /* for fmax(x, 0) write fmax(x, T(0)) */                              \
  friend std::enable_if_t<std::is_integral_v<N>, Expression> name(Expression, N) = delete; \
  template <class N>                                                                       \
  friend std::enable_if_t<std::is_integral_v<N>, Expression> name(N, Expression) = delete;
  // clang-format off
  PLUMBLINE_INFIX(+, sum, product, sum) PLUMBLINE_INFIX(-, sum, product, sum)
  PLUMBLINE_INFIX(*, product, sign, product) PLUMBLINE_INFIX(/, product, sign, product)
  PLUMBLINE_INFIX(<, sum, sum, comparison) PLUMBLINE_INFIX(<=, sum, sum, comparison)
  PLUMBLINE_INFIX(>, sum, sum, comparison) PLUMBLINE_INFIX(>=, sum, sum, comparison)
  PLUMBLINE_INFIX(==, sum, sum, comparison) PLUMBLINE_INFIX(!=, sum, sum, comparison)
  PLUMBLINE_FUNCTION(abs) PLUMBLINE_FUNCTION(cos) PLUMBLINE_FUNCTION(erf) PLUMBLINE_FUNCTION(exp)
  PLUMBLINE_FUNCTION(floor) PLUMBLINE_FUNCTION(log) PLUMBLINE_FUNCTION(log1p)
  PLUMBLINE_FUNCTION(sin) PLUMBLINE_FUNCTION(sqrt) PLUMBLINE_FUNCTION(tanh)
  PLUMBLINE_FUNCTION_OF_TWO(fmax, call("max", list(x, y)))
  PLUMBLINE_FUNCTION_OF_TWO(fmin, call("min", list(x, y)))
  PLUMBLINE_FUNCTION_OF_TWO(pow, infix(x, "**", y, atom, sign, power))
  // clang-format on
#undef PLUMBLINE_INFIX
#undef PLUMBLINE_FUNCTION
#undef PLUMBLINE_FUNCTION_OF_TWO
};

/// x where the condition holds, else y.
template <class X, class Y, class R = std::common_type_t<X, Y>>
PLUMBLINE_BOTH constexpr R where(bool condition, X x, Y y) {
  return condition ? R(x) : R(y);
}
PLUMBLINE_BOTH inline Expression where(Expression condition, Expression x, Expression y) {
  return Expression::call("where", Expression::list(condition, Expression::list(x, y)));
}

/// A parameter with a number for each query, [i], or for each key, [i] and [j].
template <class T>
struct Positions {
  const float* numbers;
  int first;  ///< position of numbers[0]
  PLUMBLINE_BOTH T operator[](T position) const { return numbers[int(position) - first]; }
};
template <>
struct Positions<Expression> {
  const char* name;
  PLUMBLINE_ON_HOST Expression operator[](Expression position) const {
    return {name + ("[" + position.text() + "]"), Expression::atom};
  }
};

/// What Parameters<float>::declare gets where a kernel runs; see parameters().
struct ParameterReader {
  const plumbline_problem& problem;
  int batch, of_head, count = 0;

  PLUMBLINE_BOTH const float* next() { return problem.parameters[PLUMBLINE_CUSTOM_0 + count++]; }
  PLUMBLINE_BOTH size_t row() const { return size_t(batch) * problem.heads + of_head; }
  PLUMBLINE_BOTH void head(float& h) { h = float(of_head); }
  PLUMBLINE_BOTH void shared(const char*, float& x, Draw) { x = next()[0]; }
  PLUMBLINE_BOTH void per_head(const char*, float& x, Draw) { x = next()[of_head]; }
  PLUMBLINE_BOTH void per_sequence(const char*, float& x, Draw) { x = next()[batch]; }
  PLUMBLINE_BOTH void per_query(const char*, Positions<float>& x, Draw) {
    const bool at_end = problem.queries_at_end != 0;
    x = {next() + row() * problem.queries,
         at_end ? problem.lengths[batch] - problem.queries : problem.query_offset};
  }
  PLUMBLINE_BOTH void per_key(const char*, Positions<float>& x, Draw) {
    x = {next() + row() * problem.keys, 0};
  }
  PLUMBLINE_BOTH void prefix_sum(const char*, float& x, Draw) { x = NAN; }
};

/// What Parameters<Expression>::declare gets; see declaration().
struct ParameterWriter {
  std::string list;

  PLUMBLINE_ON_HOST void add(const char* name, const char* per, Draw draw) {
    std::string drawn = Expression::text_of(draw.a);
    if (draw.kind[0] != 'n') drawn = "[" + drawn + ", " + Expression::text_of(draw.b) + "]";
    list += std::string(list.empty() ? "" : ",") + "\n    {\"name\": \"" + name +
            "\", \"per\": \"" + per + "\", \"" + draw.kind + "\": " + drawn + "}";
  }
  PLUMBLINE_ON_HOST void head(Expression& h) { h = {"h", Expression::atom}; }
#define PLUMBLINE_KIND(kind, per, Field, ...)                          \
  PLUMBLINE_ON_HOST void kind(const char* name, Field& x, Draw draw) { \
    x = {__VA_ARGS__}, add(name, per, draw);                           \
  }
  PLUMBLINE_KIND(shared, "all", Expression, name, Expression::atom)
  PLUMBLINE_KIND(per_head, "head", Expression, name, Expression::atom)
  PLUMBLINE_KIND(per_sequence, "sequence", Expression, name, Expression::atom)
  PLUMBLINE_KIND(prefix_sum, "prefix_sum", Expression, name, Expression::atom)
  PLUMBLINE_KIND(per_query, "query", Positions<Expression>, name)
  PLUMBLINE_KIND(per_key, "key", Positions<Expression>, name)
#undef PLUMBLINE_KIND
};

/// The parameters of a problem, of one batch entry and one head; called where the problem's
/// pointers can be read, which in CUDA is in the kernel. One of prefix sums is NaN: set it to S_i -
/// S_j for each pair.
template <class Bias>
PLUMBLINE_BOTH typename Bias::template Parameters<float> parameters(
    const plumbline_problem& problem, int batch, int head) {
  typename Bias::template Parameters<float> result;
  ParameterReader reader{problem, batch, head};
  result.declare(reader);
  return result;
}

/// Whether a bias has the member visible(i, j, p).
template <class Bias, class P, class = void>
constexpr bool has_visible = false;
template <class Bias, class P>
constexpr bool has_visible<Bias, P,
                           std::void_t<decltype(std::declval<Bias&>().visible(
                               Expression(), Expression(), std::declval<P>()))>> = true;

/// The JSON that --bias-file reads. A member visible(i, j, p) of the bias says which keys a query
/// sees besides.
/// @param error_factor at least 1: by how much more the bias may be off than one that evaluates the
/// formula in float, operation by operation.
/// @throws std::invalid_argument where the formula reads a T that declare() does not name. What
/// else is wrong, such as a name that is taken or a constant that is not finite, --bias-file tells.
template <class Bias>
std::string declaration(const std::string& name, double error_factor = 1, const Bias& bias = {}) {
  typename Bias::template Parameters<Expression> p;
  ParameterWriter writer;
  p.declare(writer);
  const Expression i("i", Expression::atom), j("j", Expression::atom);
  std::string text = "{\n  \"name\": \"" + name + "\",\n  \"formula\": \"";
  text += Expression(bias(i, j, p)).text() + "\",\n";
  if constexpr (has_visible<Bias, decltype(p)>) {
    text += "  \"visible\": \"" + Expression(bias.visible(i, j, p)).text() + "\",\n";
  }
  if (error_factor != 1) text += "  \"error_factor\": " + Expression::text_of(error_factor) + ",\n";
  return text + "  \"parameters\": [" + writer.list + "\n  ]\n}\n";
}

}  // namespace plumbline
