// SPDX-License-Identifier: Apache-2.0
// What a kernel of another convention gives for a case, with the bounds of its arithmetic.
#pragma once

#include <memory>
#include <vector>

#include "reference/core/mask.hpp"
#include "verdict/conventions/convention.hpp"

namespace plumbline::verdict {

/// The keys that a row sees by the convention.
/// @param of_read those of the case as the convention reads it.
std::vector<int> visible_keys(const Convention& convention, const QueryRow& row,
                              const reference::Mask& own_mask, std::vector<int> of_read);

/// The outputs of one convention for one case, row by row: the equations of reference/ read with
/// what the convention changes, and the bounds of docs/bounds.md for what comes out.
class ConventionReading {
 public:
  /// @param the_case must outlive it. @param o_format in which o is stored.
  ConventionReading(const Convention& convention, const cases::Case& the_case,
                    const Contract& contract, cases::Format o_format);
  ~ConventionReading();

  OracleRow row(int batch, int head, int query) const;

 private:
  OracleRow natural_row(int batch, int head, int query) const;

  struct Prepared;
  const Convention& convention_;
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace plumbline::verdict
