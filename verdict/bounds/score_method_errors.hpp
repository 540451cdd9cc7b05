// SPDX-License-Identifier: Apache-2.0
// CoPE's and DAPE's errors for the rows of a case.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "verdict/bounds/bias_error.hpp"
#include "verdict/bounds/cope_error.hpp"
#include "verdict/bounds/dape_error.hpp"
#include "verdict/oracle/case_reading.hpp"

namespace plumbline::verdict {

/// A query row of one head. `errors` refers to nothing.
struct CopeRowErrors {
  reference::CopeRow<reference::RunningError> exact;
  std::vector<double> score_error, table_size;
  CopeErrors errors;
  CopeNumbers numbers(int head_dim) const { return {exact, score_error, table_size, head_dim}; }
};

/// A query row of all heads.
struct DapeRowErrors {
  DapeNumbers numbers;
  DapeErrors errors;
};

class ScoreMethodErrors {
 public:
  using Reading = CaseReading<reference::RunningError>;

  /// The arguments must outlive this.
  ScoreMethodErrors(const cases::Case& the_case, const Contract& contract, const Reading& reading,
                    const BiasError& bias_error);

  /// Bounds of the errors of what the method adds to the scores of the visible keys.
  std::vector<double> added(int batch, int head, int query, const std::vector<int>& visible) const;

  CopeRowErrors cope(int batch, int head, int query, const std::vector<int>& visible) const;
  /// Computed once for all heads. Safe to call from several threads.
  const DapeRowErrors& dape(int batch, int query) const;
  const reference::DapeLayers<double>& layers() const { return layers_; }

 private:
  /// Of A = tau q.k, for the keys in their order.
  std::vector<double> product_errors(int batch, int head, int query,
                                     const std::vector<int>& keys) const;
  DapeRowErrors read_dape(int batch, int query) const;

  const cases::Case& case_;
  const Contract& contract_;
  const Reading& reading_;
  const BiasError& bias_error_;
  reference::DapeLayers<double> layers_;
  std::unique_ptr<std::once_flag[]> dape_read_;  // [batch * queries]
  mutable std::vector<DapeRowErrors> dape_rows_;
};

}  // namespace plumbline::verdict
