// SPDX-License-Identifier: Apache-2.0
// One query row of a case in double, with the bounds of its forward pass.
#pragma once

#include <vector>

#include "verdict/bounds/bias_error.hpp"
#include "verdict/bounds/forward.hpp"
#include "verdict/bounds/lse_errors.hpp"
#include "verdict/bounds/score_method_errors.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/oracle/certified.hpp"

namespace plumbline::verdict {

/// What a kernel may lose when RoPE rotates a row: each component a cos - b sin or a sin + b cos,
/// with tables in fp32, each within 2u, two products and a sum, is off by at most 4u (|a| + |b|). 0
/// for the other methods.
/// @param x one row of q or k as the case holds it.
std::vector<double> rotation_error(const cases::Spec&, const float* x);

/// m_ij of what dropout keeps: 1 without it.
double dropout_factor(const cases::Spec&);
/// Relative error of m_ij p_ij, or of m_ij (dO . v_j), beside that of what m_ij multiplies: dropout
/// as a float, 1 - dropout, its reciprocal and a product. 0 without dropout.
double dropout_error(const cases::Spec&);

/// `forward` views the vectors beside it.
struct BoundedRow {
  BoundedRow() = default;
  BoundedRow(BoundedRow&&) = default;
  BoundedRow& operator=(BoundedRow&&) = default;
  BoundedRow(const BoundedRow&) = delete;

  std::vector<double> bias;  ///< exact b_ij
  /// tau sum_d |q_d| |k_jd|, of what RoPE has rotated; times a softcap's largest slope.
  std::vector<double> products;
  std::vector<double> softcap_derivative, softcap_derivative_error;  ///< empty without a softcap
  std::vector<double> bias_error, score, score_error, probability, output;
  double factor = 1.0;  ///< c
  /// A sink among the keys of `forward`: the last one, whose value is 0. Or empty.
  std::vector<double> with_sink_score, with_sink_error, with_sink_probability;
  ForwardRow forward;
  ForwardRowBounds bounds;
  LseErrors lse_errors;  ///< with random signs
};

/// Bounds the rows of a case.
class RowBounds {
 public:
  using Reading = CaseReading<reference::RunningError>;

  /// @param o_format in which o is stored. The case and the reading must outlive this.
  RowBounds(const cases::Case& the_case, const Contract& contract, cases::Format o_format,
            const Reading& reading);

  /// @param row the same row, exact. @param visible its n >= 1 keys.
  template <class R>
  BoundedRow row(const reference::AttentionRow<R>& row, int batch, int head, int query,
                 const std::vector<int>& visible) const {
    BoundedRow result;
    result.score = values(row.logits);
    result.probability = values(row.probability);
    result.output = values(row.output);
    fill_scores(result, batch, head, query, visible);
    fill_spread(result, batch, head, query, visible);
    fill_bounds(result, head, certified(row.lse).value);
    return result;
  }

  /// Without the bounds of o and lse, and without what only they need.
  BoundedRow scores(const reference::Vector<reference::RunningError>& logits, int batch, int head,
                    int query, const std::vector<int>& visible) const {
    BoundedRow result;
    result.score = values(logits);
    fill_scores(result, batch, head, query, visible);
    return result;
  }

  /// Makes `forward` of the row's vectors, with the head's sink where there is one.
  void fill_forward(BoundedRow& row, int head, double lse) const;

  /// How far a kernel's sink may be off as a logit: log2 e may be folded in, and it may be rounded
  /// as scores are.
  double sink_error(double sink) const;

  const BiasError& bias_error() const { return bias_error_; }
  const ScoreMethodErrors& score_method_errors() const { return score_method_errors_; }

 private:
  void fill_scores(BoundedRow& row, int batch, int head, int query,
                   const std::vector<int>& visible) const;
  /// Caps key m's product, exact but for tau: scales what an error of it does by the softcap's
  /// slope. @param beside_sum of that error, what is not of the sum's; @returns the error of what
  /// is capped without the sum's.
  double cap(BoundedRow& row, std::size_t m, double product, double beside_sum) const;
  /// What only data with random signs needs.
  void fill_spread(BoundedRow& row, int batch, int head, int query,
                   const std::vector<int>& visible) const;
  void fill_bounds(BoundedRow& row, int head, double lse) const;

  const cases::Case& case_;
  Contract contract_;
  cases::Format o_format_;
  const Reading& reading_;
  std::vector<float> no_value_;  ///< zeros, [value_dim]: of a sink, and of a dropped key
  BiasError bias_error_;
  ScoreMethodErrors score_method_errors_;
};

}  // namespace plumbline::verdict
