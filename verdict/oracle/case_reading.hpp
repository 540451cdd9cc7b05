// SPDX-License-Identifier: Apache-2.0
// A case as the equations read it: the same numbers in any scalar.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/cope.hpp"
#include "reference/attention/dape.hpp"
#include "reference/position/rope.hpp"
#include "verdict/bias/methods.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::verdict {

/// The case must outlive it.
inline reference::Mask mask_of(const cases::Case& c) {
  reference::Mask mask{c.spec.mask.causal, c.spec.mask.window, c.lengths, c.documents};
  const bool custom = c.spec.bias.custom && cases::custom_of(c.spec.bias).visible;
  if (custom || !c.mask.empty() || !c.query_lengths.empty()) {
    mask.also = [&c, custom](int batch, int head, int i, int j) {
      if (!c.may_see(batch, head, i - c.first_position(batch), j)) return false;
      return !custom || bias::is_visible(c, *cases::custom_of(c.spec.bias).visible, batch, i, j);
    };
  }
  return mask;
}

/// Rows [first, first + rows) of a tensor with `columns` numbers a row.
template <reference::Real R>
reference::Matrix<R> matrix_of(const std::vector<float>& tensor, std::size_t first, int rows,
                               int columns) {
  reference::Matrix<R> matrix(rows, columns);
  const float* source = tensor.data() + first * columns;
  for (Eigen::Index n = 0; n < matrix.size(); ++n) matrix.data()[n] = R(double{source[n]});
  return matrix;
}

template <reference::Real R>
reference::Vector<R> vector_of(const std::vector<float>& tensor, std::size_t first, int size) {
  return matrix_of<R>(tensor, first / size, 1, size).row(0);
}

/// How RoPE pairs the components; nothing for the other methods.
inline std::optional<reference::RopePairs> rope_pairs(cases::Bias bias) {
  if (bias.rope == PLUMBLINE_ROPE_INTERLEAVED) return reference::RopePairs::interleaved;
  if (bias.rope == PLUMBLINE_ROPE_HALF_SPLIT) return reference::RopePairs::half_split;
  return std::nullopt;
}

/// What CoPE or DAPE adds to the scores of one query, by key: a bias whose parameters are of no
/// use.
template <reference::Real R>
struct AddedToScores {
  reference::Vector<R> added;
  R operator()(int, int key) const { return added[key]; }
};

/// A bias of any type, for as long as that lives. What is done with it is compiled once, not once a
/// method.
template <reference::Real R>
class BiasRef {
 public:
  template <class Bias>
  explicit BiasRef(const Bias& bias)
      : bias_(&bias),
        at_([](const void* of, int i, int j) { return (*static_cast<const Bias*>(of))(i, j); }) {}
  R operator()(int i, int j) const { return at_(bias_, i, j); }

 private:
  const void* bias_;
  R (*at_)(const void*, int, int);
};

/// One query of DAPE, all heads, [heads, keys] each: logits = A + added, added = B + f([A; B]).
template <reference::Real R>
struct DapeRow {
  reference::Matrix<R> A, B, added;
};

/// Matrices of heads, each made when it is asked for, by one thread. Of a large case those that
/// were made last are kept, and others made again. Safe to call from several threads.
template <reference::Real R>
class Heads {
 public:
  using Matrix = reference::Matrix<R>;

  /// @param numbers of each matrix; @param make the matrix of a head
  Heads(std::size_t numbers, std::function<Matrix(std::size_t)> make)
      : kept_(std::max<std::size_t>(most_bytes / (numbers * sizeof(R)), 2)),
        make_(std::move(make)) {}

  std::shared_ptr<const Matrix> operator[](std::size_t head) const {
    const std::shared_ptr<Slot> slot = slot_of(head);
    std::call_once(slot->once, [&] { slot->matrix.emplace(make_(head)); });
    return {slot, &*slot->matrix};
  }

 private:
  struct Slot {
    std::once_flag once;
    std::optional<Matrix> matrix;
  };

  std::shared_ptr<Slot> slot_of(std::size_t head) const {
    const std::scoped_lock lock(mutex_);
    if (const auto found = slots_.find(head); found != slots_.end()) return found->second;
    if (order_.size() == kept_) {
      slots_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(head);
    return slots_[head] = std::make_shared<Slot>();
  }

  static constexpr std::size_t most_bytes = std::size_t{1} << 30;

  std::size_t kept_;
  std::function<Matrix(std::size_t)> make_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::shared_ptr<Slot>> slots_;
  mutable std::deque<std::size_t> order_;  // in which they were asked for
};

template <reference::Real R>
class CaseReading;

/// The numbers of a head that its bias is made of, for the query at a position.
template <reference::Real R>
class HeadOf {
 public:
  HeadOf(const CaseReading<R>& reading, int batch, int head, int position)
      : reading_(reading), case_(reading.case_), batch_(batch), head_(head), position_(position) {}

  /// A number of the head, and one that all heads share.
  R parameter(plumbline_parameter which) const {
    return R(double{case_.of_head(which, batch_, head_)});
  }
  R number(plumbline_parameter which) const { return R(double{case_[which][0]}); }
  double option(plumbline_option which) const { return case_.options[which]; }
  /// All numbers of a layer that the heads share, and `width` of the head's own.
  reference::Vector<R> layer(plumbline_parameter which) const {
    return vector_of<R>(case_[which], 0, static_cast<int>(case_[which].size()));
  }
  reference::Vector<R> of_head(plumbline_parameter which, int width) const {
    return vector_of<R>(case_[which], static_cast<std::size_t>(head_) * width, width);
  }
  reference::Vector<R> table() const {
    const std::size_t rows = case_[PLUMBLINE_TABLE].size() / case_.spec.heads;
    return of_head(PLUMBLINE_TABLE, static_cast<int>(rows));
  }
  /// Of a bias tensor, the numbers of the query: one row of all keys.
  reference::Matrix<R> tensor_row() const {
    const auto& s = case_.spec;
    const std::size_t first =
        cases::first_of_row(s, case_.options, batch_, head_, position_ - first_position());
    return matrix_of<R>(case_[PLUMBLINE_TENSOR], first / s.keys, 1, s.keys);
  }
  reference::Custom<R> custom() const {
    const cases::CustomBias& custom = cases::custom_of(case_.spec.bias);
    reference::Custom<R> bias{&custom.expression, head_, first_position(), {}};
    for (const auto& [name, per, id] : custom.declared) {
      using Per = reference::Formula::Per;
      if (per == Per::prefix_sum) {
        bias.numbers.push_back(prefix_sum());
      } else if (per != Per::query && per != Per::key) {
        const int first = per == Per::all ? 0 : per == Per::head ? head_ : batch_;
        bias.numbers.push_back(vector_of<R>(case_[id], first, 1));
      } else {
        const int size = per == Per::query ? case_.spec.queries : case_.spec.keys;
        bias.numbers.push_back(
            vector_of<R>(case_[id], static_cast<std::size_t>(row()) * size, size));
      }
    }
    return bias;
  }
  const reference::T5Buckets& buckets() const { return reading_.buckets_.value(); }
  int largest() const { return reading_.largest(); }
  reference::Vector<R> prefix_sum() const { return reading_.prefix_sum(row(), position_); }
  const reference::Vector<R>& gains() const { return reading_.gain_[row()]; }
  int first_position() const { return case_.first_position(batch_); }
  /// What the method's `prepare` made of the case.
  template <class Prepared>
  const Prepared& prepared() const {
    return *static_cast<const Prepared*>(reading_.prepared_.get());
  }

 private:
  int row() const { return batch_ * case_.spec.heads + head_; }

  const CaseReading<R>& reading_;
  const cases::Case& case_;
  int batch_, head_, position_;
};

/// A case in scalar R, ready to be read row by row.
template <reference::Real R>
class CaseReading {
 public:
  /// @param alibi_of_key ALiBi's bias is m j (is_alibi_of_key).
  explicit CaseReading(const cases::Case& c, bool alibi_of_key = false)
      : case_(c),
        mask_(mask_of(c)),
        alibi_of_key_(alibi_of_key),
        k_(numbers_of_head(c.spec, c.spec.head_dim),
           [this](std::size_t head) {
             const auto& s = case_.spec;
             return rotated(matrix_of<R>(case_.k, head * s.keys, s.keys, s.head_dim), 0);
           }),
        v_(numbers_of_head(c.spec, c.spec.value_width()), [this](std::size_t head) {
          const auto& s = case_.spec;
          return matrix_of<R>(case_.v, head * s.keys, s.keys, s.value_width());
        }) {
    const auto& s = c.spec;
    const auto& increments = c.summed();
    const auto& gain = c[PLUMBLINE_GAIN];
    for (int head = 0; head < s.batch * s.heads; ++head) {
      const std::size_t start = static_cast<std::size_t>(head);
      if (!increments.empty()) {
        increments_.push_back(vector_of<R>(increments, start * s.keys, s.keys));
      }
      if (!gain.empty()) gain_.push_back(vector_of<R>(gain, start * s.queries, s.queries));
    }
    if (s.bias.method == PLUMBLINE_T5 || s.bias.method == PLUMBLINE_T5_BIDIRECTIONAL) {
      buckets_.emplace(static_cast<int>(c.options[PLUMBLINE_BUCKETS]),
                       static_cast<int>(c.options[PLUMBLINE_MAX_DISTANCE]),
                       s.bias.method == PLUMBLINE_T5_BIDIRECTIONAL);
    }
    bias::visit(s.bias.method, [&](auto of) {
      if constexpr (requires { of.template prepare<R>(c); }) {
        prepared_ =
            std::make_shared<decltype(of.template prepare<R>(c))>(of.template prepare<R>(c));
      }
    });
    if (s.bias.dape_taps() > 0) {
      dape_rows_.resize(static_cast<std::size_t>(s.batch) * s.queries);
      dape_read_ = std::make_unique<std::once_flag[]>(dape_rows_.size());
    }
  }

  std::vector<int> visible(int batch, int head, int query) const {
    return reference::visible_keys(mask_, batch, case_.position(batch, query), case_.spec.keys,
                                   head);
  }

  /// Calls `use` with the bias of head `head` in sequence `batch`, for the query at `position`.
  template <class Use>
  auto with_bias(int batch, int head, int position, const Use& use) const {
    if (!cases::needs_scores(case_.spec.bias)) {
      return with_additive_bias(batch, head, position,
                                [&](const auto& bias) { return use(BiasRef<R>(bias)); });
    }
    const AddedToScores<R> added_to{added(batch, head, position - case_.first_position(batch))};
    return use(BiasRef<R>(added_to));
  }

  /// The same, but of DAPE with the bias that it corrects.
  template <class Use>
  auto with_additive_bias(int batch, int head, int position, const Use& use) const {
    const HeadOf<R> of_head(*this, batch, head, position);
    const auto method = case_.spec.bias.method;
    if (alibi_of_key_ && method == PLUMBLINE_ALIBI) {
      return use(reference::AlibiKeyPosition<R>{of_head.parameter(PLUMBLINE_SLOPES)});
    }
    return bias::visit(method, [&](auto of) { return use(of.reading(of_head)); });
  }

  /// The row of T5's table that the bias of i and j stands in.
  int table_row(int i, int j) const {
    const auto rows =
        methods::parameter_of(methods::row(case_.spec.bias), PLUMBLINE_TABLE).shape.items[1];
    if (rows == methods::Extent::distances) return reference::ClippedDistance(largest())(i, j);
    if (rows == methods::Extent::signed_distances) return reference::ClippedOffset(largest())(i, j);
    return buckets_.value()(i, j);
  }

  /// CoPE on its way to the logits.
  reference::CopeRow<R> cope_row(int batch, int head, int query,
                                 const std::vector<int>& visible) const {
    return reference::cope_row(q(batch, head, query), *k_[kv_row(batch, head)], visible,
                               R(case_.scale), position_embedding(head));
  }
  /// CoPE's table of a head, [positions, head_dim].
  reference::Matrix<R> position_embedding(int head) const {
    const int positions = static_cast<int>(case_.options[PLUMBLINE_POSITIONS]);
    return matrix_of<R>(case_[PLUMBLINE_POSITION_EMBEDDING],
                        static_cast<std::size_t>(head) * positions, positions, case_.spec.head_dim);
  }

  reference::DapeLayers<R> dape_layers() const {
    const int taps = case_.spec.bias.dape_taps(), heads = case_.spec.heads;
    const int hidden = static_cast<int>(case_.options[PLUMBLINE_HIDDEN]);
    return {{matrix_of<R>(case_[PLUMBLINE_HIDDEN_WEIGHT], 0, hidden, 2 * heads * taps),
             vector_of<R>(case_[PLUMBLINE_HIDDEN_BIAS], 0, hidden), taps},
            {matrix_of<R>(case_[PLUMBLINE_OUTPUT_WEIGHT], 0, heads, hidden * taps),
             vector_of<R>(case_[PLUMBLINE_OUTPUT_BIAS], 0, heads), taps}};
  }
  /// Keys that DAPE's network sees of a query.
  int dape_seen(int query) const {
    const auto& s = case_.spec;
    return s.bias.dape_taps() == 1 ? s.keys : query + s.query_offset + 1;
  }
  /// Computed once for all heads. Safe to call from several threads.
  const DapeRow<R>& dape_row(int batch, int query) const {
    const std::size_t n = static_cast<std::size_t>(batch) * case_.spec.queries + query;
    std::call_once(dape_read_[n], [&] { dape_rows_[n] = read_dape_row(batch, query); });
    return dape_rows_[n];
  }

  /// Keys and values of key head `kv`, counted over the batch; RoPE has rotated the keys.
  std::shared_ptr<const reference::Matrix<R>> k(int kv) const { return k_[kv]; }
  std::shared_ptr<const reference::Matrix<R>> v(int kv) const { return v_[kv]; }
  /// The query of a row, counted over batch and heads; RoPE has rotated it.
  reference::Vector<R> q(int batch, int head, int query) const {
    const auto& s = case_.spec;
    const std::size_t row = (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
    return rotated(matrix_of<R>(case_.q, row, 1, s.head_dim), case_.position(batch, query)).row(0);
  }

  std::optional<R> softcap() const {
    if (case_.spec.softcap == 0) return std::nullopt;
    return R(case_.spec.softcap);
  }

  /// m_j of the visible keys; empty without dropout.
  reference::Vector<R> dropout(int batch, int head, int query,
                               const std::vector<int>& visible) const {
    if (case_.spec.dropout == 0) return {};
    const R kept = R(1.0) / (R(1.0) - R(double{case_.spec.dropout}));
    reference::Vector<R> factors(static_cast<Eigen::Index>(visible.size()));
    for (std::size_t n = 0; n < visible.size(); ++n) {
      factors[n] = case_.kept(batch, head, query, visible[n]) == 0 ? R(0.0) : kept;
    }
    return factors;
  }

  std::optional<R> sink(int head) const {
    if (!case_.spec.sinks) return std::nullopt;
    return R(double{case_[PLUMBLINE_SINKS][head]});
  }

  reference::AttentionRow<R> row(int batch, int head, int query,
                                 const std::vector<int>& visible) const {
    const int kv = kv_row(batch, head);
    std::optional<R> ssmax;
    const auto& scales = case_[PLUMBLINE_SSMAX_SCALE];
    if (!scales.empty()) ssmax = R(double{scales[head]});
    const int position = case_.position(batch, query);
    const auto k = k_[kv], v = v_[kv];
    return with_bias(batch, head, position, [&](const auto& bias) {
      return reference::attention_row(q(batch, head, query), *k, *v, visible, R(case_.scale), bias,
                                      position, ssmax, softcap(), sink(head),
                                      dropout(batch, head, query, visible));
    });
  }

 private:
  static std::size_t numbers_of_head(const cases::Spec& s, int width) {
    return static_cast<std::size_t>(s.keys) * width;
  }
  int kv_row(int batch, int head) const {
    return batch * case_.spec.kv_heads + head / (case_.spec.heads / case_.spec.kv_heads);
  }
  /// By key; 0 where CoPE's query does not see one.
  reference::Vector<R> added(int batch, int head, int query) const {
    if (case_.spec.bias.method != PLUMBLINE_COPE) {
      return dape_row(batch, query).added.row(head).transpose();
    }
    const auto visible = this->visible(batch, head, query);
    const auto row = cope_row(batch, head, query, visible);
    reference::Vector<R> added = reference::zeros<R>(case_.spec.keys);
    for (std::size_t n = 0; n < visible.size(); ++n) {
      added[visible[n]] = row.logits[n] - row.scores[n];
    }
    return added;
  }
  DapeRow<R> read_dape_row(int batch, int query) const {
    const auto& s = case_.spec;
    std::vector<int> all(s.keys);
    std::iota(all.begin(), all.end(), 0);
    DapeRow<R> row{
        reference::Matrix<R>(s.heads, s.keys), reference::Matrix<R>(s.heads, s.keys), {}};
    for (int h = 0; h < s.heads; ++h) {
      row.A.row(h) =
          reference::scaled_scores(q(batch, h, query), *k_[kv_row(batch, h)], all, R(case_.scale))
              .transpose();
      const int position = case_.position(batch, query);
      with_additive_bias(batch, h, position, [&](const auto& bias) {
        for (int j = 0; j < s.keys; ++j) row.B(h, j) = bias(position, j);
      });
    }
    row.added = reference::dape_row(row.A, row.B, dape_layers(), dape_seen(query));
    for (Eigen::Index n = 0; n < row.added.size(); ++n) row.added.data()[n] -= row.A.data()[n];
    return row;
  }
  /// RoPE's rotation, the first row at position `offset`; the same matrix for the other methods.
  reference::Matrix<R> rotated(reference::Matrix<R> X, int offset) const {
    const auto pairs = rope_pairs(case_.spec.bias);
    if (!pairs) return X;
    return reference::rope(X, offset, R(case_.options[PLUMBLINE_BASE]), *pairs,
                           case_.spec.rotary_width());
  }
  /// S_j - S_i of the query at position i: a bias depends on differences alone, and these are sums
  /// of the increments in between, with no error from those before.
  reference::Vector<R> prefix_sum(int row, int i) const {
    const reference::Vector<R>& increments = increments_[row];
    reference::Vector<R> sums = reference::zeros<R>(static_cast<int>(increments.size()));
    if (i < 0) return sums;  // a row that sees no key
    for (int j = i - 1; j >= 0; --j) sums[j] = sums[j + 1] - increments[j + 1];
    for (int j = i + 1; j < sums.size(); ++j) sums[j] = sums[j - 1] + increments[j];
    return sums;
  }
  int largest() const { return static_cast<int>(case_.options[PLUMBLINE_LARGEST]); }

  friend class HeadOf<R>;
  const cases::Case& case_;
  reference::Mask mask_;
  bool alibi_of_key_;
  Heads<R> k_, v_;                                // [batch * kv_heads]
  std::vector<reference::Vector<R>> increments_;  // [batch * heads], of FoX log_forget
  std::vector<reference::Vector<R>> gain_;        // [batch * heads]
  std::optional<reference::T5Buckets> buckets_;
  std::shared_ptr<const void> prepared_;
  std::unique_ptr<std::once_flag[]> dape_read_;  // [batch * queries]
  mutable std::vector<DapeRow<R>> dape_rows_;
};

}  // namespace plumbline::verdict
