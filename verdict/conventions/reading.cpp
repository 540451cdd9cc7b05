// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/reading.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "verdict/bounds/row.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;
using reference::Vector;

cases::Case changed(const Convention& convention, const cases::Case& the_case) {
  cases::Case result = the_case;
  if (convention.reads) convention.reads(result);
  return result;
}

}  // namespace

std::vector<int> visible_keys(const Convention& convention, const QueryRow& row,
                              const reference::Mask& own_mask, std::vector<int> of_read) {
  if (convention.keeps_mask) {
    of_read = reference::visible_keys(own_mask, row.batch, row.position, row.the_case.spec.keys,
                                      row.head);
  }
  if (convention.sees) {
    std::erase_if(of_read, [&](int key) { return !convention.sees(row, key); });
  }
  return of_read;
}

struct ConventionReading::Prepared {
  Prepared(const Convention& convention, const cases::Case& the_case, const Contract& contract,
           cases::Format o_format)
      : own(the_case),
        own_mask(mask_of(the_case)),
        read(changed(convention, the_case)),
        contract(contract),
        o_format(o_format),
        reading(read, is_alibi_of_key(contract, the_case.spec)),
        bounds(read, contract, o_format, reading) {}

  std::vector<int> visible(const Convention& convention, const QueryRow& row) const {
    return visible_keys(convention, row, own_mask, reading.visible(row.batch, row.head, row.query));
  }

  const cases::Case& own;
  reference::Mask own_mask;
  cases::Case read;
  Contract contract;
  cases::Format o_format;
  CaseReading<RunningError> reading;
  RowBounds bounds;
};

ConventionReading::ConventionReading(const Convention& convention, const cases::Case& the_case,
                                     const Contract& contract, cases::Format o_format)
    : convention_(convention),
      prepared_(std::make_unique<Prepared>(convention, the_case, contract, o_format)) {}
ConventionReading::~ConventionReading() = default;

OracleRow ConventionReading::row(int batch, int head, int query) const {
  OracleRow row = natural_row(batch, head, query);
  to_declared_base(prepared_->contract, row);
  return row;
}

OracleRow ConventionReading::natural_row(int batch, int head, int query) const {
  const Prepared& prepared = *prepared_;
  const auto& spec = prepared.read.spec;
  const QueryRow own{prepared.own, batch, head, query, prepared.own.position(batch, query)};
  const std::vector<int> visible = prepared.visible(convention_, own);
  OracleRow result;
  if (visible.empty() && sees_its_sink(prepared.contract, spec)) {
    result = row_of_sink(prepared.contract, prepared.bounds, prepared.read, head);
    if (convention_.lse) result.lse = convention_.lse(result.lse, result.lse.value, 1.0);
    return result;
  }
  if (visible.empty()) {
    result.sees_no_key = true;
    result.o.resize(spec.value_width());
    result.lse.value = convention_.empty_lse;
    return result;
  }

  const int kv = batch * spec.kv_heads + head / (spec.heads / spec.kv_heads);
  const int position = prepared.read.position(batch, query);
  const auto& reading = prepared.reading;
  Vector<RunningError> logits = reference::scaled_scores(
      reading.q(batch, head, query), *reading.k(kv), visible, RunningError(prepared.read.scale));
  const auto cap = [&](RunningError& x) {
    if (const auto softcap = reading.softcap()) x = reference::softcapped(x, *softcap);
  };
  if (!convention_.caps_bias) std::for_each(logits.begin(), logits.end(), cap);
  BoundedRow row = prepared.bounds.scores(logits, batch, head, query, visible);
  if (convention_.bias) {
    // As accurate, relative to its size, as the row's own bias can be.
    double relative = 0.0;
    for (std::size_t m = 0; m < visible.size(); ++m) {
      const double size = std::abs(row.bias[m]);
      if (size > 0) relative = std::max(relative, row.bias_error[m] / size);
    }
    reading.with_bias(batch, head, position, [&](const auto& b) {
      const auto of_key = [&](int j) { return b(position, j).value(); };
      for (std::size_t m = 0; m < visible.size(); ++m) {
        row.bias[m] = convention_.bias(of_key, own, visible[m]);
        row.bias_error[m] += relative * std::abs(row.bias[m]);
      }
    });
  }
  const double ssmax = row.factor;
  if (convention_.factor) {
    row.factor = convention_.factor(row.factor, own, static_cast<int>(visible.size()));
    row.forward.spread *= ssmax == 0 ? 0.0 : std::abs(row.factor / ssmax);
  }
  for (std::size_t m = 0; m < visible.size(); ++m) {
    const RunningError factor(row.factor), bias(row.bias[m]);
    if (convention_.caps_bias) {
      logits[m] += bias;
      cap(logits[m]);
      logits[m] = factor * logits[m];
      continue;
    }
    logits[m] =
        convention_.bias_without_factor ? factor * logits[m] + bias : factor * (logits[m] + bias);
  }
  const auto n = logits.size();
  Vector<RunningError> all = logits;
  if (const auto sink = reading.sink(head)) {
    all.conservativeResize(n + 1);
    all[n] = *sink;
  }
  const auto attended = reference::softmax(all);
  const Vector<RunningError> probability = attended.probability.head(n);
  row.score = values(logits);
  row.score_error = score_errors(prepared.contract, spec.head_dim, prepared.read.scale,
                                 spec.ssmax || convention_.factor, row.factor, row.score,
                                 row.products, row.bias_error);
  row.probability = values(probability);
  row.output = values(reference::weighted_sum(
      reference::dropped(probability, reading.dropout(batch, head, query, visible)), *reading.v(kv),
      visible));
  prepared.bounds.fill_forward(row, head, attended.lse.value());
  row.bounds = forward_row_bounds(prepared.contract, prepared.o_format, row.forward);

  for (int d = 0; d < spec.value_width(); ++d) {
    result.o.push_back({row.output[d], 0, row.bounds.output[d]});
  }
  result.lse = {row.forward.lse, 0, row.bounds.lse};
  if (convention_.lse) {
    const auto& all = row.forward.score;
    const double largest = *std::max_element(all.begin(), all.end());
    result.lse = convention_.lse(result.lse, largest, ssmax);
  }
  return result;
}

}  // namespace plumbline::verdict
