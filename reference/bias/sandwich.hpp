// SPDX-License-Identifier: Apache-2.0
// Sandwich: the products of sinusoidal embeddings as a bias. Source: Chi, Fan, Rudnicky, Ramadge,
// "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis", ACL 2023.
#pragma once

#include <array>
#include <cstdlib>
#include <tuple>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

template <Real R>
struct SandwichGrad {
  R compression;

  auto numbers() const { return std::tie(compression); }
};

/// b_ij = (sum_{k=1}^{64} cos((i - j) 10000^(-k/64)) - 64) / c: the embeddings have 128 numbers. 64
/// is taken away as in the published code; a constant of the row changes lse alone. Domain: c > 0,
/// per head; the authors' is 8 h / H for head h = 1 .. H, and is not learned.
/// @throws std::invalid_argument if c is not above 0.
template <Real R>
class Sandwich {
 public:
  static constexpr const char* name = "sandwich";
  static constexpr std::array parameters{"compression"};
  static constexpr std::array<const char*, 0> options{};
  static constexpr int frequencies = 64;

  explicit Sandwich(const R& compression) : compression_(compression) {
    require(representative(compression) > 0, "compression", representative(compression), "above 0");
  }
  /// @param sums by distance, those that there are; they must outlive the bias.
  Sandwich(const R& compression, const Vector<R>& sums) : Sandwich(compression) { sums_ = &sums; }

  using Grad = SandwichGrad<R>;

  /// The sum less 64 at a distance.
  static R sum(int distance) {
    R sum(0.0);
    if (distance == 0) return sum;  // every cosine is 1
    for (int k = 1; k <= frequencies; ++k) {
      const R frequency = power(R(10000.0), R(-k / static_cast<double>(frequencies)));
      sum += cos(R(distance) * frequency);
    }
    return sum - R(frequencies);
  }
  /// Those of 0 .. distances - 1, which all heads share.
  static Vector<R> sums(int distances) {
    Vector<R> all(distances);
    for (int distance = 0; distance < distances; ++distance) all[distance] = sum(distance);
    return all;
  }

  static std::array<double, 1> published(int h, int heads) { return {8.0 * (h + 1) / heads}; }

  R operator()(int i, int j) const { return at(i, j) / compression_; }

  Grad zero_grad() const { return {R(0.0)}; }

  /// dc = -b / c.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    grad.compression -= grad_bias * (at(i, j) / compression_) / compression_;
  }

 private:
  R at(int i, int j) const {
    const int distance = std::abs(i - j);
    return sums_ && distance < sums_->size() ? (*sums_)[distance] : sum(distance);
  }

  R compression_;
  const Vector<R>* sums_ = nullptr;
};

}  // namespace plumbline::reference
