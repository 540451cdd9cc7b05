// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/bias.hpp"

#include <stdexcept>

namespace plumbline::bench {
namespace {

/// T5's bucket of n >= 0. A quotient of logarithms that is a whole number is found as one: others
/// are farther from whole numbers than 1e-9 for any n below 10^6.
int bucket(int n, int buckets, double max_distance, const Fault& fault) {
  const int exact = buckets / 2;
  if (fault.is(FaultKind::t5_max_distance_doubled)) max_distance *= 2;
  if (n < exact) return n;
  double step =
      std::log(static_cast<double>(n) / exact) / std::log(max_distance / exact) * (buckets - exact);
  if (fault.is(FaultKind::t5_bucket_too_low)) step -= 2e-9;  // whole numbers fall one too low
  if (fault.is(FaultKind::t5_bucket_too_high)) step += 1;
  return std::min(buckets - 1, exact + static_cast<int>(std::floor(step + 1e-9)));
}

}  // namespace

template <class Real>
int Bias<Real>::table_row(const Pair& at) const {
  const int signed_distance = at.i - at.j;
  const int x = static_cast<int>(distance(at));
  const int buckets = static_cast<int>(in_.option(PLUMBLINE_BUCKETS));
  const int largest = static_cast<int>(in_.option(PLUMBLINE_LARGEST));
  const double most = in_.option(PLUMBLINE_MAX_DISTANCE);
  switch (static_cast<plumbline_bias>(in_.p.bias)) {
    case PLUMBLINE_T5:
      return bucket(signed_distance > 0 ? x : 0, buckets, most, fault_);
    case PLUMBLINE_T5_BIDIRECTIONAL: {
      const bool ahead = fault_.is(FaultKind::t5_bidirectional_swapped) ? at.j < at.i : at.j > at.i;
      const int half = buckets / 2;
      return std::min(buckets - 1, bucket(std::abs(x), half, most, fault_) + (ahead ? half : 0));
    }
    case PLUMBLINE_T5_CLIPPED:
      return std::min(signed_distance > 0 ? x : 0, largest);
    case PLUMBLINE_T5_CLIPPED_OFFSET: {
      const int shifted = signed_distance + (x - std::abs(signed_distance));
      return largest + std::clamp(shifted, -largest, largest);
    }
    default:
      throw std::invalid_argument("a table that the campaign's kernel does not have");
  }
}

template <class Real>
typename Bias<Real>::Reach Bias<Real>::reach(const Pair& at) const {
  const Real c = std::abs(Real(in_.parameter(PLUMBLINE_C)[0]));
  const Real threshold = std::abs(static_cast<Real>(in_.parameter(PLUMBLINE_L)[0]) *
                                  static_cast<Real>(in_.option(PLUMBLINE_L0)));
  Reach r{};
  const Real position = static_cast<Real>(at.i);
  r.by_threshold = threshold > position && !fault_.is(FaultKind::fire_threshold_ignored);
  r.threshold = r.by_threshold ? threshold : position;
  const Real x = std::abs(distance(at));
  if (fault_.is(FaultKind::fire_log_missing)) {
    r.numerator = c * x;
    r.denominator = c * r.threshold + epsilon();
  } else {
    r.numerator = std::log1p(c * x);
    r.denominator = std::log1p(c * r.threshold) + epsilon();
  }
  r.y = r.numerator / r.denominator;
  return r;
}

template <class Real>
Real Bias<Real>::fire(const Pair& at) const {
  const Reach r = reach(at);
  Real sum = fault_.is(FaultKind::fire_without_output_bias)
                 ? Real(0)
                 : Real(in_.parameter(PLUMBLINE_OUTPUT_BIAS)[at.head]);
  for (int w = 0; w < hidden(); ++w) {
    Real in = unit(r, w);
    if (!fault_.is(FaultKind::fire_without_relu)) in = std::max(in, Real(0));
    sum += in_.parameter(PLUMBLINE_OUTPUT_WEIGHT)[at.head * hidden() + w] * in;
  }
  return sum;
}

template <class Real>
Real Bias<Real>::value(const Pair& at) const {
  const auto absolute = [&](Real d) {
    if (fault_.is(FaultKind::cable_squared)) return d * d;
    return fault_.is(FaultKind::signed_distance) ? d : std::abs(d);
  };
  switch (method()) {
    case PLUMBLINE_NOPE:
      return 0;
    case PLUMBLINE_ALIBI:
      return -slope(at) * distance(at);
    case PLUMBLINE_CABLE:
      return -gain(at) * absolute(difference(at));
    case PLUMBLINE_CABLE_NW:
      return -absolute(difference(at));
    case PLUMBLINE_K_CABLE: {
      const Real d = difference(at);
      return -gain(at) * logarithm(1 + d * d);
    }
    case PLUMBLINE_K_CABLE_NW: {
      const Real d = difference(at);
      return -logarithm(1 + d * d);
    }
    case PLUMBLINE_K_CABLE_PAPER: {
      const Real t = gain(at) * difference(at);
      return -logarithm(1 + t * t);
    }
    case PLUMBLINE_CABLE_PAPER:
      return gain(at) * difference(at);
    case PLUMBLINE_CABLE_NW_PAPER:
    case PLUMBLINE_FOX:
      return difference(at);
    case PLUMBLINE_GGD: {
      const Real from = static_cast<Real>(at.j - at.i) - mu(at);
      const Real x = (fault_.is(FaultKind::signed_distance) ? from : std::abs(from)) + epsilon();
      const Real alpha = of_head(PLUMBLINE_THETA_ALPHA, at);
      const Real factor = fault_.is(FaultKind::alpha_not_exponentiated) ? alpha : std::exp(alpha);
      const Real power = fault_.is(FaultKind::power_of_negative) ? -beta(at) : beta(at);
      return -factor * std::pow(x, power);
    }
    case PLUMBLINE_KERPLE_LOG:
      return -of_head(PLUMBLINE_P, at) *
             logarithm(1 + in_.parameter(PLUMBLINE_A)[at.head] * distance(at));
    case PLUMBLINE_KERPLE_POWER: {
      const Real x = distance(at), p = in_.parameter(PLUMBLINE_P)[at.head];
      if (x == 0) return 0;
      return -of_head(PLUMBLINE_A, at) * std::pow(x, fault_.is(FaultKind::p_squared) ? p * p : p);
    }
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL:
    case PLUMBLINE_T5_CLIPPED:
    case PLUMBLINE_T5_CLIPPED_OFFSET: {
      const bool clipped = in_.p.bias == PLUMBLINE_T5_CLIPPED;
      const int largest = static_cast<int>(in_.option(PLUMBLINE_LARGEST));
      const int rows = clipped ? largest + 1
                       : in_.p.bias == PLUMBLINE_T5_CLIPPED_OFFSET
                           ? 2 * largest + 1
                           : static_cast<int>(in_.option(PLUMBLINE_BUCKETS));
      return in_.parameter(PLUMBLINE_TABLE)[at.head * rows + table_row(at)];
    }
    case PLUMBLINE_FIRE:
      return fire(at);
    case PLUMBLINE_BIAS_TENSOR: {
      const auto& p = in_.p;
      int row = at.row, key = at.key;
      if (fault_.is(FaultKind::tensor_transposed)) {
        row = std::min(at.key, p.queries - 1);
        key = at.row;
      }
      if (fault_.is(FaultKind::tensor_row_of_position)) row = std::clamp(at.i, 0, p.queries - 1);
      return in_.parameter(PLUMBLINE_TENSOR)[in_.tensor_row(at.batch, at.head, row) * p.keys + key];
    }
    case PLUMBLINE_CUSTOM:
      return custom(at).value;
  }
  return plain(at).value;
}

/// A bias of the head that no fault is planted in.
template <class Real>
test::BiasOfHead<Real> Bias<Real>::plain(const Pair& at) const {
  const auto& parameters = methods::row(method()).parameters;
  std::array<Real, 3> numbers{};
  for (std::size_t n = 0; n < std::min<std::size_t>(3, parameters.size()); ++n) {
    numbers[n] = of_head(parameters.items[n].id, at);
  }
  const int offset = static_cast<int>(distance(at));
  return test::bias_of_head(method(), in_.p.options, numbers, offset);
}

template class Bias<float>;
template class Bias<double>;

}  // namespace plumbline::bench
