// SPDX-License-Identifier: Apache-2.0
// Every method with parameters, made from a flat vector: for harnesses that run over all of them.
#pragma once

#include <boost/test/unit_test.hpp>

#include "kernel_abi/methods.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/bias/nope.hpp"
#include "tests/reference/bias/baseline_methods.hpp"
#include "tests/reference/bias/positions.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

namespace plumbline::reference {

struct NopeMethod {
  static constexpr const char* name = "nope";
  static std::vector<double> parameters(Numbers&, const Positions&) { return {}; }
  template <Real R>
  static Nope<R> read(Reader<R>&, const Positions&) {
    return {};
  }
  template <Real R>
  static void write(Writer<R>&, const typename Nope<R>::Grad&) {}
};

/// The slope is not learned, so it is no parameter here.
struct AlibiMethod {
  static constexpr const char* name = "alibi";
  static std::vector<double> parameters(Numbers&, const Positions&) { return {}; }
  template <Real R>
  static Alibi<R> read(Reader<R>&, const Positions&) {
    return {R(0.35)};
  }
  template <Real R>
  static void write(Writer<R>&, const typename Alibi<R>::Grad&) {}
};

/// Increments in [0.1, 1.1), summed up, and gains in [0.2, 1.2).
template <template <class> class B>
struct WeightedMethod {
  static constexpr const char* name = "cable with weights";
  static std::vector<double> parameters(Numbers& numbers, const Positions& at) {
    std::vector<double> x = numbers.between(0.1, 1.1, at.keys);
    for (double gain : numbers.between(0.2, 1.2, at.queries)) x.push_back(gain);
    return x;
  }
  template <Real R>
  static B<R> read(Reader<R>& reader, const Positions& at) {
    const Vector<R> sums = prefix_sum(reader.vector(at.keys));
    return {sums, reader.vector(at.queries), at.query_offset};
  }
  template <Real R>
  static void write(Writer<R>& writer, const CableGrad<R>& grad) {
    writer.vector(prefix_sum_grad(grad.prefix_sum));
    writer.vector(grad.gain);
  }
};

template <template <class> class B>
struct UnweightedMethod {
  static constexpr const char* name = "cable without weights";
  static std::vector<double> parameters(Numbers& numbers, const Positions& at) {
    return numbers.between(0.1, 1.1, at.keys);
  }
  template <Real R>
  static B<R> read(Reader<R>& reader, const Positions& at) {
    return {prefix_sum(reader.vector(at.keys))};
  }
  template <Real R>
  static void write(Writer<R>& writer, const CableNwGrad<R>& grad) {
    writer.vector(prefix_sum_grad(grad.prefix_sum));
  }
};

/// theta_alpha, theta_beta, theta_mu in [-0.7, 0.7); mu is then no integer, so no x is at the kink.
struct GgdMethod {
  static constexpr const char* name = "ggd";
  static std::vector<double> parameters(Numbers& numbers, const Positions&) {
    return numbers.between(-0.7, 0.7, 3);
  }
  template <Real R>
  static Ggd<R> read(Reader<R>& reader, const Positions&) {
    const R alpha = reader.number(), beta = reader.number(), mu = reader.number();
    return {alpha, beta, mu, R(1e-5)};
  }
  template <Real R>
  static void write(Writer<R>& writer, const GgdGrad<R>& grad) {
    writer.number(grad.theta_alpha);
    writer.number(grad.theta_beta);
    writer.number(grad.theta_mu);
  }
};

using CableMethod = WeightedMethod<Cable>;
using CablePaperMethod = WeightedMethod<CablePaper>;
using KCableMethod = WeightedMethod<KCable>;
using KCablePaperMethod = WeightedMethod<KCablePaper>;
using CableNwMethod = UnweightedMethod<CableNw>;
using CableNwPaperMethod = UnweightedMethod<CableNwPaper>;
using KCableNwMethod = UnweightedMethod<KCableNw>;

/// Calls `visit(Method{})` for every method.
template <class Visit>
void for_each_method(const Visit& visit) {
  visit(NopeMethod{});
  visit(AlibiMethod{});
  visit(CableMethod{});
  visit(CablePaperMethod{});
  visit(CableNwMethod{});
  visit(CableNwPaperMethod{});
  visit(KCableMethod{});
  visit(KCablePaperMethod{});
  visit(KCableNwMethod{});
  visit(GgdMethod{});
#define PLUMBLINE_VISIT(number, Form) \
  if constexpr (Form<double>::options.empty()) visit(OfHeadsMethod<Form>{});
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_VISIT)
#undef PLUMBLINE_VISIT
  visit(T5CausalMethod{});
  visit(T5BidirectionalMethod{});
  visit(T5ClippedMethod{});
  visit(T5ClippedOffsetMethod{});
  visit(FireMethod{});
}

/// All b_ij of a 4x4 problem in every reading, and the adjoint of sum_ij weight_ij b_ij, with fixed
/// weights, against the dual reading.
template <class Method>
void expect_bias_is_right(Method, std::uint64_t seed) {
  const Positions at{3, 4, 1};
  Numbers numbers(seed);
  const std::vector<double> inputs = Method::parameters(numbers, at);
  const std::vector<double> weights = numbers.between(-1, 1, at.queries * at.keys);
  BOOST_TEST_CONTEXT(Method::name << ", seed " << seed) {
    expect_readings_agree(
        [&](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Reader<R> reader(x);
          const auto bias = Method::read(reader, at);
          Writer<R> results;
          for (int r = 0; r < at.queries; ++r) {
            for (int j = 0; j < at.keys; ++j) results.number(bias(r + at.query_offset, j));
          }
          return results.result();
        },
        inputs);
    expect_adjoint(
        [&](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Reader<R> reader(x);
          const auto bias = Method::read(reader, at);
          Vector<R> total = zeros<R>(1);
          for (int r = 0; r < at.queries; ++r) {
            for (int j = 0; j < at.keys; ++j) {
              total[0] += R(weights[r * at.keys + j]) * bias(r + at.query_offset, j);
            }
          }
          return total;
        },
        [&](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Reader<R> reader(x);
          const auto bias = Method::read(reader, at);
          auto grad = bias.zero_grad();
          for (int r = 0; r < at.queries; ++r) {
            for (int j = 0; j < at.keys; ++j) {
              bias.accumulate_grad(grad, r + at.query_offset, j, R(weights[r * at.keys + j]));
            }
          }
          Writer<R> results;
          Method::template write<R>(results, grad);
          return results.result();
        },
        inputs);
  }
}

}  // namespace plumbline::reference
