// SPDX-License-Identifier: Apache-2.0
// CABLE and its kin at real size: biases of S_i - S_j, a row of a tile at a time.
#pragma once

#include <utility>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/bias/bias.hpp"
#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/blocked/kernels.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

/// The form and the sign of the equation's bias as add_prefix has it: FoX is the linear form.
template <class B>
struct PrefixFormOf;
template <PrefixForm form_, bool has_gain_>
struct PrefixFormIs {
  static constexpr PrefixForm form = form_;
  static constexpr bool has_gain = has_gain_;
};
template <>
struct PrefixFormOf<Cable<double>> : PrefixFormIs<PrefixForm::absolute, true> {};
template <>
struct PrefixFormOf<CablePaper<double>> : PrefixFormIs<PrefixForm::linear, true> {};
template <>
struct PrefixFormOf<CableNw<double>> : PrefixFormIs<PrefixForm::absolute, false> {};
template <>
struct PrefixFormOf<CableNwPaper<double>> : PrefixFormIs<PrefixForm::linear, false> {};
template <>
struct PrefixFormOf<KCable<double>> : PrefixFormIs<PrefixForm::log_of_d, true> {};
template <>
struct PrefixFormOf<KCableNw<double>> : PrefixFormIs<PrefixForm::log_of_d, false> {};
template <>
struct PrefixFormOf<KCablePaper<double>> : PrefixFormIs<PrefixForm::log_of_gain, true> {};

/// Whether b_ij is one of these functions of S_i - S_j and the query's gain.
template <class B>
concept PrefixDifferenceBias = DifferentiableBias<B, double> && requires {
  PrefixFormOf<B>::form;
};

/// @throws std::invalid_argument if a position has no S or a query no gain.
template <class B>
void check_positions(const B& bias, const AttentionShape& shape) {
  if constexpr (requires { bias.prefix_sum; }) {
    require(bias.prefix_sum.size() >= shape.keys, "prefix_sum.size()", bias.prefix_sum.size(),
            "one a key");
  }
  if constexpr (requires { bias.gain; }) {
    const int first = bias.query_offset, last = shape.query_offset + shape.queries - 1;
    require(first <= shape.query_offset, "query_offset of the bias", first,
            "at most that of the queries");
    require(last < first + bias.gain.size(), "gain.size()", bias.gain.size(), "one a query");
  }
}

template <PrefixDifferenceBias B>
class PrefixBias final : public DifferentiableTileBias<typename B::Grad> {
 public:
  using Grad = typename B::Grad;

  /// @throws std::invalid_argument if a position has no S or a query no gain.
  PrefixBias(B bias, const AttentionShape& shape) : bias_(std::move(bias)) {
    check_positions(bias_, shape);
  }

  void check(const AttentionShape& shape, const Mask&) const override {
    check_positions(bias_, shape);
  }

  void add_to(const Tile& tile, double* scores) const override {
    kernels().add_prefix(tile, arguments(), scores);
  }

  std::unique_ptr<BiasSums> zero_sums() const override {
    return std::make_unique<Sums>(bias_.zero_grad());
  }
  void accumulate(const Tile& tile, const double* grad, BiasSums& sums) const override {
    kernels().accumulate_prefix(tile, arguments(), grad, places(static_cast<Sums&>(sums).grad));
  }
  void merge(BiasSums& sums, const BiasSums& more) const override {
    Grad& grad = static_cast<Sums&>(sums).grad;
    const Grad& other = static_cast<const Sums&>(more).grad;
    grad.prefix_sum += other.prefix_sum;
    if constexpr (has_gain) grad.gain += other.gain;
  }

  Grad grad(const BiasSums& sums) const override { return static_cast<const Sums&>(sums).grad; }

 private:
  static constexpr bool has_gain = PrefixFormOf<B>::has_gain;
  struct Sums final : BiasSums {
    explicit Sums(Grad zero) : grad(std::move(zero)) {}
    Grad grad;
  };

  PrefixArguments arguments() const {
    PrefixArguments of{PrefixFormOf<B>::form, bias_.prefix_sum.data(), nullptr, 0};
    if constexpr (has_gain) of.gain = bias_.gain.data(), of.first_gain = bias_.query_offset;
    return of;
  }
  static PrefixSums places(Grad& grad) {
    PrefixSums sums{grad.prefix_sum.data(), nullptr};
    if constexpr (has_gain) sums.gain = grad.gain.data();
    return sums;
  }

  B bias_;
};

}  // namespace plumbline::reference::blocked
