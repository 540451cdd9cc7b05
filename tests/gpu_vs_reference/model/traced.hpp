// SPDX-License-Identifier: Apache-2.0
// A double that remembers how it was computed: every operation is a node, with its derivatives and
// with a bound of what rounding it to fp32 may change. One sweep backwards then tells what all
// roundings together can do to any result: docs/bounds-model.md.
#pragma once

#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// The nodes in the order of their computation. Node 0 stands for all exact constants.
class Tape {
 public:
  struct Edge {
    std::uint32_t from;
    double derivative;
  };

  /// `roundings` of them, each of at most `error`.
  std::uint32_t node(std::span<const Edge> edges, double error, int roundings) {
    for (const Edge& edge : edges)
      if (edge.from != 0) edges_.push_back(edge);
    ends_.push_back(static_cast<std::uint32_t>(edges_.size()));
    errors_.push_back({error, roundings});
    return static_cast<std::uint32_t>(ends_.size() - 1);
  }
  void clear() {
    edges_.clear();
    ends_ = {0};
    errors_ = {{}};
  }

  /// What the errors of all nodes can do, to first order, to a result whose derivatives by some
  /// nodes are `seeds`: all of them with the same sign, or independent of each other (the root of
  /// the sum of squares).
  struct Reach {
    double all, independent;
  };
  static constexpr std::size_t kAtOnce = 8;
  /// Of up to kAtOnce results, each with its seeds.
  std::vector<Reach> reach(std::span<const std::vector<Edge>> seeds) const {
    std::vector<std::array<double, kAtOnce>> adjoint(ends_.size());
    for (std::size_t k = 0; k < seeds.size(); ++k)
      for (const Edge& seed : seeds[k]) adjoint[seed.from][k] += seed.derivative;
    std::array<double, kAtOnce> all{}, squares{};
    for (std::size_t n = ends_.size(); n-- > 1;) {
      const std::array<double, kAtOnce> own = adjoint[n];
      for (std::size_t k = 0; k < kAtOnce; ++k) {
        const double off = std::fabs(own[k]) * errors_[n].largest;
        all[k] += off * errors_[n].count;
        squares[k] += off * off * errors_[n].count;
      }
      for (std::uint32_t e = ends_[n - 1]; e < ends_[n]; ++e)
        for (std::size_t k = 0; k < kAtOnce; ++k)
          adjoint[edges_[e].from][k] += own[k] * edges_[e].derivative;
    }
    std::vector<Reach> result;
    for (std::size_t k = 0; k < seeds.size(); ++k)
      result.push_back({all[k], std::sqrt(squares[k])});
    return result;
  }

  /// Of every node the square of Reach::independent, as the mean square of kSamples draws: every
  /// rounding is drawn normal with its bound as standard deviation and carried forwards.
  static constexpr int kSamples = 64;
  std::vector<double> sampled_squares() const {
    std::vector<double> squares(ends_.size());
    std::vector<std::array<double, kAtOnce>> off(ends_.size());
    boost::random::mt19937_64 engine(1);
    boost::random::normal_distribution<double> normal;  // faster than the standard library's
    for (std::size_t done = 0; done < kSamples; done += kAtOnce) {
      for (std::size_t n = 1; n < ends_.size(); ++n) {
        const double own = errors_[n].largest * std::sqrt(errors_[n].count);
        std::array<double, kAtOnce> sum{};
        for (std::size_t k = 0; own > 0 && k < kAtOnce; ++k) sum[k] = own * normal(engine);
        for (std::uint32_t e = ends_[n - 1]; e < ends_[n]; ++e)
          for (std::size_t k = 0; k < kAtOnce; ++k)
            sum[k] += edges_[e].derivative * off[edges_[e].from][k];
        for (std::size_t k = 0; k < kAtOnce; ++k) squares[n] += sum[k] * sum[k] / kSamples;
        off[n] = sum;
      }
    }
    return squares;
  }

 private:
  struct Roundings {
    double largest = 0.0;
    int count = 0;
  };

  std::vector<Edge> edges_;  // those of node n end at ends_[n]
  std::vector<std::uint32_t> ends_{0};
  std::vector<Roundings> errors_{{}};
};

class Traced {
 public:
  using Edge = Tape::Edge;
  static constexpr double u = 0x1p-24;  ///< half an ulp of fp32
  inline static Tape tape;

  Traced() = default;
  explicit Traced(double value) : value_(value) {}
  /// A result off by `units` u |value| of its own.
  Traced(double value, std::initializer_list<Edge> edges, double units = 1.0)
      : Traced(value, std::span<const Edge>(edges.begin(), edges.size()),
               units * u * std::fabs(value), 1) {}
  Traced(double value, std::span<const Edge> edges, double error, int roundings)
      : value_(value), node_(tape.node(edges, error, roundings)) {}

  double value() const { return value_; }
  std::uint32_t node() const { return node_; }
  bool is_zero() const { return node_ == 0 && value_ == 0; }

  friend Traced operator+(const Traced& a, const Traced& b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    return {a.value_ + b.value_, {{a.node_, 1.0}, {b.node_, 1.0}}};
  }
  friend Traced operator-(const Traced& a, const Traced& b) {
    if (b.is_zero()) return a;
    return {a.value_ - b.value_, {{a.node_, 1.0}, {b.node_, -1.0}}};
  }
  friend Traced operator-(const Traced& a) { return {-a.value_, {{a.node_, -1.0}}, 0.0}; }
  friend Traced operator*(const Traced& a, const Traced& b) {
    if (a.is_zero() || b.is_zero()) return Traced(0.0);
    return {a.value_ * b.value_, {{a.node_, b.value_}, {b.node_, a.value_}}};
  }
  friend Traced operator/(const Traced& a, const Traced& b) {
    if (a.is_zero()) return a;
    const double v = a.value_ / b.value_;
    return {v, {{a.node_, 1 / b.value_}, {b.node_, -v / b.value_}}};
  }
  Traced& operator+=(const Traced& b) { return *this = *this + b; }
  Traced& operator-=(const Traced& b) { return *this = *this - b; }

 private:
  double value_ = 0.0;
  std::uint32_t node_ = 0;
};

/// Units of the functions: what CUDA documents for its own in fp32, and more where they are made of
/// several.
template <>
struct Primitives<Traced> {
  using P = Primitives<double>;

  static Traced exp(const Traced& a) {
    const double v = std::exp(a.value());
    return {v, {{a.node(), v}}, a.is_zero() ? 0.0 : 4.0};
  }
  static Traced log(const Traced& a) {
    return {std::log(a.value()), {{a.node(), 1 / a.value()}}, 2.0};
  }
  static Traced log1p(const Traced& a) {
    return {std::log1p(a.value()), {{a.node(), 1 / (1 + a.value())}}, 2.0};
  }
  static Traced sqrt(const Traced& a) {
    const double v = std::sqrt(a.value());
    return {v, {{a.node(), 0.5 / v}}};
  }
  static Traced power(const Traced& x, const Traced& y) {
    const double v = std::pow(x.value(), y.value()), l = std::log(x.value());
    return {v,
            {{x.node(), y.value() * v / x.value()}, {y.node(), v * l}},
            16 + 4 * std::fabs(y.value() * l)};
  }
  static Traced absolute(const Traced& a) {
    return {std::fabs(a.value()), {{a.node(), P::sign(a.value())}}, 0.0};
  }
  static Traced relu(const Traced& a) { return a.value() > 0 ? a : Traced(0.0); }
  static Traced maximum(const Traced& a, const Traced& b) { return a.value() >= b.value() ? a : b; }
  static Traced sign(const Traced& a) { return Traced(P::sign(a.value())); }
  static Traced step(const Traced& a) { return Traced(P::step(a.value())); }
  static Traced softplus(const Traced& a) {
    return {P::softplus(a.value()), {{a.node(), P::logistic(a.value())}}, 6.0};
  }
  static Traced logistic(const Traced& a) {
    const double v = P::logistic(a.value());
    return {v, {{a.node(), v * P::logistic(-a.value())}}, 6.0};
  }
  static Traced sin(const Traced& a) {
    return {std::sin(a.value()), {{a.node(), std::cos(a.value())}}, 2.0};
  }
  static Traced cos(const Traced& a) {
    return {std::cos(a.value()), {{a.node(), -std::sin(a.value())}}, 2.0};
  }
  static Traced erf(const Traced& a) {
    const double slope = 2 / std::sqrt(P::pi()) * std::exp(-a.value() * a.value());
    return {std::erf(a.value()), {{a.node(), slope}}, 4.0};
  }
  static Traced tanh(const Traced& a) {
    const double v = std::tanh(a.value());
    return {v, {{a.node(), 1 - v * v}}, 4.0};
  }
  static Traced pi() { return {P::pi(), {}}; }
  static double representative(const Traced& a) { return a.value(); }
};

static_assert(Real<Traced>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::reference::Traced> : GenericNumTraits<plumbline::reference::Traced> {
  using Real = plumbline::reference::Traced;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return Real(0x1p-52); }
  static Real dummy_precision() { return Real(0x1p-40); }
};
}  // namespace Eigen

namespace plumbline::reference {

/// A sum of n products as one node. In any order there are n - 1 additions, none of more than
/// M = sum |terms|, and the products' roundings are u M together: as n roundings of u M each.
class TracedSum {
 public:
  void add(const Traced& x, const Traced& y) {
    if (x.is_zero() || y.is_zero()) return;
    edges_.push_back({x.node(), y.value()});
    edges_.push_back({y.node(), x.value()});
    count(x.value() * y.value());
  }
  void add(const Traced& x) {
    if (x.is_zero()) return;
    edges_.push_back({x.node(), 1.0});
    count(x.value());
  }
  Traced total() const {
    return terms_ == 0 ? Traced(0.0) : Traced(value_, edges_, Traced::u * magnitude_, terms_);
  }

 private:
  void count(double term) {
    value_ += term;
    magnitude_ += std::fabs(term);
    ++terms_;
  }

  std::vector<Tape::Edge> edges_;
  double value_ = 0.0, magnitude_ = 0.0;
  int terms_ = 0;
};

template <>
struct Summation<Traced> {
  static Traced sum(std::span<const Traced> terms) {
    TracedSum total;
    for (const Traced& term : terms) total.add(term);
    return total.total();
  }
  static Traced dot(std::span<const Traced> x, std::span<const Traced> y) {
    TracedSum total;
    for (std::size_t n = 0; n < x.size(); ++n) total.add(x[n], y[n]);
    return total.total();
  }
  static Vector<Traced> weighted_sum(std::span<const Traced> weights, const Matrix<Traced>& rows,
                                     const std::vector<int>& chosen) {
    Vector<Traced> result(rows.cols());
    for (Eigen::Index d = 0; d < rows.cols(); ++d) {
      TracedSum total;
      for (std::size_t n = 0; n < chosen.size(); ++n) total.add(weights[n], rows(chosen[n], d));
      result[d] = total.total();
    }
    return result;
  }
};

}  // namespace plumbline::reference
