// SPDX-License-Identifier: Apache-2.0
// Positions that are added to the embeddings: position/learnable.hpp, position/sinusoidal.hpp.
#pragma once

#include "reference/model/layer_parameters.hpp"
#include "reference/position/learnable.hpp"
#include "reference/position/sinusoidal.hpp"

namespace plumbline::reference {

enum class EmbeddedPositions {
  none,
  learnable,   ///< a table of as many positions as the model has; nothing beyond it
  sinusoidal,  ///< computed, any length
};

/// Which positions a model adds to its embeddings. The default is GPT-2's; CABLE's sinusoidal
/// baseline has the amplitude 0.1, BAM's the cosines' own frequency.
struct PositionEmbedding {
  EmbeddedPositions kind = EmbeddedPositions::learnable;
  double base = 10000, amplitude = 1;
  SinusoidalCosine cosine = SinusoidalCosine::shared_frequency;

  /// The table to learn: [positions, width], or empty.
  template <Real R>
  Matrix<R> zero_table(int positions, int width) const {
    return kind == EmbeddedPositions::learnable ? zeros<R>(positions, width) : zeros<R>(0, 0);
  }

  /// X += P, row t of X being the token at position t + offset. Shapes: X [T, C], table as above.
  /// @throws std::invalid_argument if the table ends before the last token, C differs, or C is odd
  /// for sinusoidal positions.
  template <Real R>
  void add(Matrix<R>& X, const Matrix<R>& table, int offset) const {
    const int length = static_cast<int>(X.rows()), width = static_cast<int>(X.cols());
    if (kind == EmbeddedPositions::learnable) add_to(X, learnable_positions(table, offset, length));
    if (kind == EmbeddedPositions::sinusoidal) {
      const Matrix<R> all =
          sinusoidal_table<R>(offset + length, width, R(base), cosine, R(amplitude));
      add_to(X, all.bottomRows(length));
    }
  }

  /// The adjoint: adds to `grad_table` what comes from dX, of positions 0, 1, ..
  template <Real R>
  void add_grad(const Matrix<R>& grad_x, Matrix<R>& grad_table) const {
    if (kind != EmbeddedPositions::learnable) return;
    const int rows = static_cast<int>(grad_table.rows());
    add_to(grad_table, learnable_positions_grad(rows, 0, grad_x));
  }
};

}  // namespace plumbline::reference
