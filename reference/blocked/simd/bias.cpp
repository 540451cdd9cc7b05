// SPDX-License-Identifier: Apache-2.0
// Biases and their adjoints, a row of a tile at a time. The formulas are those of reference/bias.
#include <cstdlib>

#include "reference/blocked/simd/functions.hpp"
#include "reference/blocked/simd/matrices.hpp"

namespace plumbline::reference::blocked::simd {
namespace {

int key_count(const Tile& tile) { return static_cast<int>(tile.key.size()); }
int row_count(const Tile& tile) { return static_cast<int>(tile.query.size()); }

/// numbers[key] for every key of the tile.
TileRow at_keys(const Tile& tile, const double* numbers) {
  TileRow row(key_count(tile));
  for (int n = 0; n < row.size(); ++n) row[n] = numbers[tile.key[n]];
  return row;
}

double gain_of(const PrefixArguments& of, int i) {
  return of.gain ? of.gain[i - of.first_gain] : 1.0;
}

/// numbers[|i - key|] for every key of the tile.
TileRow at_distances(const Tile& tile, int i, const double* numbers) {
  TileRow row(key_count(tile));
  for (int n = 0; n < row.size(); ++n) row[n] = numbers[std::abs(i - tile.key[n])];
  return row;
}

}  // namespace

void add_table(const Tile& tile, const double* zero, double* scores) {
  const int keys = key_count(tile);
  for (int r = 0; r < row_count(tile); ++r) {
    ArrayMap row = row_of(scores, r, keys);
    if (tile.keys_are_neighbours()) {
      row += ConstArrayMap(zero + (tile.key[0] - tile.query[r]), keys);
    } else {
      for (int n = 0; n < keys; ++n) row[n] += zero[tile.key[n] - tile.query[r]];
    }
  }
}

void accumulate_table(const Tile& tile, const double* grad, double* zero) {
  const int keys = key_count(tile);
  for (int r = 0; r < row_count(tile); ++r) {
    const ConstArrayMap row = row_of(grad, r, keys);
    if (tile.keys_are_neighbours()) {
      ArrayMap(zero + (tile.key[0] - tile.query[r]), keys) += row;
    } else {
      for (int n = 0; n < keys; ++n) zero[tile.key[n] - tile.query[r]] += row[n];
    }
  }
}

void add_prefix(const Tile& tile, const PrefixArguments& of, double* scores) {
  const TileRow key_sums = at_keys(tile, of.prefix_sum);
  for (int r = 0; r < row_count(tile); ++r) {
    const int i = tile.query[r];
    const double g = gain_of(of, i);
    const TileRow d = of.prefix_sum[i] - key_sums;
    ArrayMap s = row_of(scores, r, key_count(tile));
    switch (of.form) {
      case PrefixForm::linear:
        s += g * d;
        break;
      case PrefixForm::absolute:
        s -= g * d.abs();
        break;
      case PrefixForm::log_of_d:
        s -= g * log_1_plus(d.square());
        break;
      case PrefixForm::log_of_gain:
        s -= log_1_plus((g * d).square());
        break;
    }
  }
}

void accumulate_prefix(const Tile& tile, const PrefixArguments& of, const double* grad,
                       const PrefixSums& sums) {
  const TileRow key_sums = at_keys(tile, of.prefix_sum);
  TileRow by_key = TileRow::Zero(key_count(tile));
  for (int r = 0; r < row_count(tile); ++r) {
    const int i = tile.query[r];
    const double g = gain_of(of, i);
    const TileRow d = of.prefix_sum[i] - key_sums, db = row_of(grad, r, key_count(tile));
    TileRow by_d, by_gain;  // db times the derivatives in d and in g
    switch (of.form) {
      case PrefixForm::linear:
        by_d = g * db;
        by_gain = db * d;
        break;
      case PrefixForm::absolute:
        by_d = -(g * db) * d.sign();
        by_gain = -db * d.abs();
        break;
      case PrefixForm::log_of_d:
        by_d = -(g * db) * (d + d) / (1.0 + d.square());
        by_gain = -db * log_1_plus(d.square());
        break;
      case PrefixForm::log_of_gain: {
        const TileRow e = g * d;
        const TileRow by_e = -db * (e + e) / (1.0 + e.square());
        by_d = g * by_e;
        by_gain = by_e * d;
        break;
      }
    }
    sums.prefix_sum[i] += by_d.sum();
    by_key += by_d;
    if (sums.gain) sums.gain[i - of.first_gain] += by_gain.sum();
  }
  for (int n = 0; n < key_count(tile); ++n) sums.prefix_sum[tile.key[n]] -= by_key[n];
}

void add_fire(const Tile& tile, const FireArguments& of, double* scores) {
  for (int r = 0; r < row_count(tile); ++r) {
    const int i = tile.query[r];
    const TileRow x = at_distances(tile, i, of.log_distance) / of.divisor[i];
    TileRow b = TileRow::Zero(key_count(tile));
    for (int w = 0; w < of.width; ++w) {
      b += of.output_weight[w] * (of.hidden_weight[w] * x + of.hidden_bias[w]).max(0.0);
    }
    row_of(scores, r, key_count(tile)) += b + of.output_bias;
  }
}

void accumulate_fire(const Tile& tile, const FireArguments& of, const double* grad,
                     const FireSums& sums) {
  for (int r = 0; r < row_count(tile); ++r) {
    const int i = tile.query[r];
    const TileRow db = row_of(grad, r, key_count(tile));
    const TileRow x = at_distances(tile, i, of.log_distance) / of.divisor[i];
    TileRow dx = TileRow::Zero(key_count(tile));
    for (int w = 0; w < of.width; ++w) {
      const TileRow y = of.hidden_weight[w] * x + of.hidden_bias[w];
      const TileRow dy = (y > 0.0).select(of.output_weight[w] * db, 0.0);
      sums.output_weight[w] += (db * y.max(0.0)).sum();
      sums.hidden_weight[w] += (dy * x).sum();
      sums.hidden_bias[w] += dy.sum();
      dx += of.hidden_weight[w] * dy;
    }
    *sums.output_bias += db.sum();
    const double by_x = (dx * x).sum() / of.divisor[i];
    const double by_distance = (dx * at_distances(tile, i, of.distance_rate)).sum() / of.divisor[i];
    *sums.c += by_distance - by_x * of.reach_rate[i];
    *sums.threshold -= by_x * of.threshold_rate[i];
  }
}

}  // namespace plumbline::reference::blocked::simd
