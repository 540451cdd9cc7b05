// SPDX-License-Identifier: Apache-2.0
// The points at which the claims are examined: planted ones first, then generated ones.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks {

/// What one axis of a grid runs through: {"m", {0.5, 0.25}}, boxes(...), or one quantity for all:
/// {"m", 0.5}, within("d", 1, 2).
struct GridAxis {
  std::vector<Quantity> points;
  GridAxis(const std::string& name, double value) : points{{name, value}} {}
  GridAxis(const std::string& name, const std::vector<double>& values);
  GridAxis(Quantity quantity) : points{std::move(quantity)} {}  // NOLINT: a quantity is an axis
  GridAxis(std::vector<Quantity> points) : points(std::move(points)) {}  // NOLINT
};
/// The boxes between neighbours of `edges`.
GridAxis boxes(const std::string& name, const std::vector<double>& edges);
/// One vector of numbers after the other.
GridAxis vectors(const std::string& name, const std::vector<std::vector<double>>& values);
/// first, first ratio, first ratio^2, ..., up to the first that is not below `last`.
std::vector<double> growing(double first, double last, double ratio);

/// first, ..., last in so many equal steps.
std::vector<double> evenly(double first, double last, int steps);

/// Every combination of the axes' points; the first axis runs slowest.
Samples grid(const std::vector<GridAxis>& axes);
/// For each of `more`, each of `samples` with the quantities of that one after its own.
Samples with(const Samples& samples, const Samples& more);
/// What makes a sample of numbers by these names, in their order: numbers_of({"m", "d"})(0.5, 2).
inline auto numbers_of(const std::vector<std::string>& names) {
  return [=](auto... numbers) {
    Sample sample;
    std::size_t k = 0;
    (sample.with({names.at(k++), static_cast<double>(numbers)}), ...);
    return sample;
  };
}

/// A content score f_j and a positional score g_j for each of n keys.
Sample scores(std::vector<double> f, std::vector<double> g);

/// Pairs of score vectors: 2 keys, equal and constant scores, opposed peaks, a positional score
/// that falls linearly; then `generated` pairs of 2 to 9 keys, all multiples of 1/64 in [-8, 8].
/// The scores are finite and exact in every reading. With `also_one_key`, one key as well.
Samples score_pairs(bool also_one_key, int generated = 60);

/// The content scores alone, f.
Samples contents(bool also_one_key, int generated = 60);

/// CABLE: increments x_k >= 0 ("f") and one gain g > 0 of the query ("g"), multiples of 1/64.
/// The increments contain zeros unless `positive`.
Samples increments_and_gains(bool positive, int generated = 60);

}  // namespace plumbline::proofs_checks
