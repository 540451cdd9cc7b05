// SPDX-License-Identifier: Apache-2.0
// The products of P and dZ with matrices: dQ, dK and dV of one key head and its query heads.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reference/scalars/running_error.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/oracle/gradient_oracle.hpp"

namespace plumbline::verdict {

using Numbers = reference::Matrix<double>;

/// A product's exact values, their radii, and the error and magnitudes of a kernel's.
struct Product {
  Numbers value, radius, error, magnitude;
};

/// What one query head tells its products with matrices about: [queries, keys], 0 where the mask
/// hides a key.
struct HeadPairs {
  Numbers p, p_radius, z, z_radius;  ///< P, with dropout m P, and dZ = c dS
  Numbers p_error, p_magnitude;      ///< of the kernel's P as an operand of dV
  Numbers z_error, z_magnitude;      ///< of its dZ as an operand of dK
  Numbers row_error;                 ///< of its dZ as an operand of dQ, but for what a row shares
  Numbers p_of_products;  ///< P times a softcap's derivative, without dropout; or empty: P
  std::vector<double> growth, common;    ///< that, by row
  std::vector<double> keys;              ///< that the row sees
  std::vector<double> underflow_factor;  ///< as in rounded_operand(), by row
  Numbers left_out, left_out_rate;       ///< as in BackwardRowErrors, times |c|; empty if no key is
  Product added;  ///< [queries, head_dim], what dQ has beside the product; or empty
  HeadPairs(int queries, int count, bool keys_left_out)
      : growth(queries), common(queries), keys(queries), underflow_factor(queries, 1.0) {
    if (keys_left_out) left_out = left_out_rate = Numbers::Zero(queries, count);
    for (auto* m : {&p, &p_radius, &z, &z_radius, &p_error, &p_magnitude, &z_error, &z_magnitude,
                    &row_error}) {
      *m = Numbers::Zero(queries, count);
    }
  }
};

class HeadProducts {
 public:
  using Reading = CaseReading<reference::RunningError>;

  /// The arguments must outlive this.
  HeadProducts(const cases::Case& the_case, const Contract& contract,
               const GradientFormats& formats, const Reading& reading)
      : case_(the_case), contract_(contract), formats_(formats), reading_(reading) {}

  /// Writes the gradients of key head `kv`, counted over the batch, and of the query heads that
  /// read it. @param heads those, in order.
  void add(int kv, std::span<const HeadPairs> heads, OracleGradients& result) const;

 private:
  void finish(const Product& product, cases::Format format, std::span<const double> additions,
              double other, std::optional<int> first_position, OracleNumber* result) const;

  const cases::Case& case_;
  const Contract& contract_;
  GradientFormats formats_;
  const Reading& reading_;
};

}  // namespace plumbline::verdict
