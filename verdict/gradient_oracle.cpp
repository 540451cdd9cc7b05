// SPDX-License-Identifier: Apache-2.0
#include "verdict/gradient_oracle.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/backward_bounds.hpp"
#include "verdict/parameter_sums.hpp"
#include "verdict/row_bounds.hpp"
#include "verdict/rows.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;
using Numbers = reference::Matrix<double>;

constexpr double u = fp32_roundoff;
/// Rows that one thread takes at a time: parts of a sum, so that it does not depend on the threads.
constexpr int rows_at_a_time = 16;

/// What one query head tells its products with matrices about: [queries, keys], 0 where the mask
/// hides a key.
struct HeadPairs {
  Numbers p, p_radius, z, z_radius;    ///< P and dZ = c dS
  Numbers p_error, p_magnitude;        ///< of the kernel's P as an operand of dV
  Numbers z_error, z_magnitude;        ///< of its dZ as an operand of dK
  Numbers row_error;                   ///< of its dZ as an operand of dQ, but for what a row shares
  std::vector<double> growth, common;  ///< that, by row
  std::vector<double> keys;            ///< that the row sees
  HeadPairs(int queries, int count) : growth(queries), common(queries), keys(queries) {
    for (auto* m : {&p, &p_radius, &z, &z_radius, &p_error, &p_magnitude, &z_error, &z_magnitude,
                    &row_error}) {
      *m = Numbers::Zero(queries, count);
    }
  }
};

/// A product's exact values, their radii, and the error and magnitudes of a kernel's.
struct Product {
  Numbers value, radius, error, magnitude;
};

Numbers absolute(const Numbers& x) { return x.cwiseAbs(); }

Numbers as_numbers(const float* first, int rows, int columns) {
  return Eigen::Map<const reference::Matrix<float>>(first, rows, columns).cast<double>();
}

/// A^T B or A B of coefficients that are known within a radius, B exact within its own: n terms.
/// |computed - exact| <= gamma_n |A||B| + r_A (|B| + r_B) + |A| r_B, in any order of summation.
struct Operands {
  const Numbers &value, &radius;
};
void multiply(Product& to, const Numbers& A, const Numbers& A_radius, const Operands& B,
              double scale, double n) {
  const Numbers size = absolute(B.value) + B.radius;
  const double rounding = gamma(n + 8, 0x1p-53);
  to.value.noalias() += scale * (A * B.value);
  to.radius.noalias() += std::abs(scale) * (1 + 0x1p-40) *
                         ((rounding * absolute(A) + A_radius) * size + absolute(A) * B.radius);
}

double largest(const Numbers& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

class Work {
 public:
  Work(const cases::Case& c, const Contract& contract, const GradientFormats& formats, int threads)
      : case_(c),
        contract_(contract),
        formats_(formats),
        threads_(threads),
        reading_(c),
        row_bounds_(c, contract, formats.o, reading_),
        bias_gradient_(c, contract, reading_, row_bounds_.bias_error()) {}

  OracleGradients run() {
    const auto& s = case_.spec;
    OracleGradients result;
    result.q.resize(case_.q.size());
    result.k.resize(case_.k.size());
    result.v.resize(case_.v.size());
    std::vector<ParameterSums> sums;
    for (int kv = 0; kv < s.batch * s.kv_heads; ++kv) {
      std::vector<HeadPairs> heads;
      const int group = s.heads / s.kv_heads;
      for (int n = 0; n < group; ++n) {
        heads.emplace_back(s.queries, s.keys);
        sums.push_back(read_head(kv / s.kv_heads, kv % s.kv_heads * group + n, heads.back()));
      }
      multiply_out(kv, heads, result);
    }
    result.parameters = parameter_gradients(case_, contract_, sums);
    return result;
  }

 private:
  /// Everything nonlinear: the rows of one query head.
  ParameterSums read_head(int batch, int head, HeadPairs& pairs) const {
    const int queries = case_.spec.queries;
    const int parts = (queries + rows_at_a_time - 1) / rows_at_a_time;
    std::vector<ParameterSums> sums(parts, ParameterSums(case_));
    for_each_index(parts, threads_, [&](std::size_t part) {
      const int first = static_cast<int>(part) * rows_at_a_time;
      for (int query = first; query < std::min(first + rows_at_a_time, queries); ++query) {
        read_row(batch, head, query, pairs, sums[part]);
      }
    });
    for (int part = 1; part < parts; ++part) sums[0].add(sums[part]);
    return std::move(sums[0]);
  }

  void read_row(int batch, int head, int query, HeadPairs& pairs, ParameterSums& sums) const;
  /// The products of P and dZ with matrices, for one key head.
  void multiply_out(int kv, const std::vector<HeadPairs>& heads, OracleGradients& result) const;
  void finish(const Product& product, cases::Format format, std::span<const double> additions,
              double other, int first_position, OracleNumber* result) const;

  const cases::Case& case_;
  const Contract& contract_;
  GradientFormats formats_;
  int threads_;
  CaseReading<RunningError> reading_;
  RowBounds row_bounds_;
  BiasGradient bias_gradient_;
};

void Work::read_row(int batch, int head, int query, HeadPairs& pairs, ParameterSums& sums) const {
  const auto& s = case_.spec;
  const auto visible = reading_.visible(batch, query);
  if (visible.empty()) return;
  const int n = static_cast<int>(visible.size()), position = query + s.query_offset;
  const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
  const std::size_t q_row = (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
  const auto exact = reading_.row(batch, head, query, visible);
  const BoundedRow bounded = row_bounds_.row(exact, batch, head, query, visible);

  // The adjoint, as in reference/attention/attention_grad.hpp.
  const auto grad_o = vector_of<RunningError>(case_.grad_o, q_row * s.head_dim, s.head_dim);
  reference::Vector<RunningError> grad_p(n), grad_s(n), grad_z(n);
  std::vector<double> grad_products(n);
  for (int m = 0; m < n; ++m) {
    const auto v = reference::row(reading_.v(kv), visible[m]);
    grad_p[m] = reference::dot(reference::view(grad_o), v);
    for (int d = 0; d < s.head_dim; ++d) {
      grad_products[m] += std::abs(grad_o[d].value() * v[d].value());
    }
  }
  const RunningError common = reference::dot(exact.probability, grad_p);
  RunningError factor(1.0);
  if (s.ssmax) {
    factor = reference::ssmax_factor(RunningError(double{case_[PLUMBLINE_SSMAX_SCALE][head]}), n);
  }
  for (int m = 0; m < n; ++m) {
    grad_s[m] = exact.probability[m] * (grad_p[m] - common);
    grad_z[m] = s.ssmax ? factor * grad_s[m] : grad_s[m];
  }

  BackwardRow row;
  const auto grad_p_values = values(grad_p);
  row.score = bounded.score;
  row.score_error = bounded.score_error;
  row.probability = bounded.probability;
  row.lse = bounded.forward.lse;
  row.lse_error = bounded.bounds.lse;
  row.grad_probability = grad_p_values;
  row.grad_products = grad_products;
  row.common = common.value();
  row.common_error = common_error(contract_, bounded.forward, bounded.bounds,
                                  std::span(case_.grad_o).subspan(q_row * s.head_dim, s.head_dim),
                                  grad_p_values, common.value());
  row.scale = case_.scale;
  row.factor = bounded.factor;
  row.ssmax = s.ssmax;
  row.head_dim = s.head_dim;
  const BackwardRowErrors errors = backward_row_errors(contract_, row);

  const double c = std::abs(bounded.factor), tau = std::abs(case_.scale);
  const double largest_factor = std::max({c, tau, c * tau});
  pairs.growth[query] = errors.growth;
  pairs.common[query] = c * errors.common;
  pairs.keys[query] = n;
  for (int m = 0; m < n; ++m) {
    const int j = visible[m];
    const double size = std::abs(grad_z[m].value());
    const Operand p = rounded_operand(contract_, bounded.probability[m], errors.probability[m]);
    const Operand z = rounded_operand(contract_, size, c * errors.total[m], largest_factor);
    pairs.p(query, j) = exact.probability[m].value();
    pairs.p_radius(query, j) = exact.probability[m].error();
    pairs.z(query, j) = grad_z[m].value();
    pairs.z_radius(query, j) = grad_z[m].error();
    pairs.p_error(query, j) = p.error;
    pairs.p_magnitude(query, j) = p.magnitude;
    pairs.z_error(query, j) = z.error;
    pairs.z_magnitude(query, j) = z.magnitude;
    pairs.row_error(query, j) = z.error - c * (errors.total[m] - errors.own[m]);
  }

  ParameterSums::Row parameters{position,
                                visible,
                                exact.probability,
                                grad_s,
                                grad_z,
                                errors,
                                bounded.factor,
                                bias_gradient_.row(batch, head, position, visible, bounded.bias)};
  reference::Vector<RunningError> logits;
  std::vector<double> logit_error;
  if (s.ssmax) {
    logits = reading_.with_bias(batch, head, position, [&](const auto& bias) {
      return reference::biased_scores(reading_.q(batch, head, query), reading_.k(kv), visible,
                                      RunningError(case_.scale), bias, position);
    });
    logit_error = score_errors(contract_, s.head_dim, case_.scale, false, 1.0, values(logits),
                               bounded.products, bounded.bias_error);
    for (int m = 0; m < n; ++m) logit_error[m] += 8 * u * std::abs(logits[m].value());
    parameters.logits = &logits;
    parameters.logit_error = &logit_error;
  }
  sums.add(contract_, parameters);
}

void Work::multiply_out(int kv, const std::vector<HeadPairs>& heads,
                        OracleGradients& result) const {
  const auto& s = case_.spec;
  const int D = s.head_dim, group = s.heads / s.kv_heads;
  const int batch = kv / s.kv_heads;
  const double tau = std::abs(case_.scale);
  const auto numbers = [&](const auto& rows, Numbers& value, Numbers& radius) {
    value.resize(rows.rows(), rows.cols());
    radius.resize(rows.rows(), rows.cols());
    for (Eigen::Index n = 0; n < rows.size(); ++n) {
      value.data()[n] = rows.data()[n].value();
      radius.data()[n] = rows.data()[n].error();
    }
  };
  const auto errors_of = [&](const float* first, int rows) {
    Numbers error(rows, D);
    for (int r = 0; r < rows; ++r) {
      const auto of_row = rotation_error(s.bias, first + std::size_t(r) * D, D);
      std::copy(of_row.begin(), of_row.end(), &error(r, 0));
    }
    return error;
  };
  Numbers K, K_radius;
  numbers(reading_.k(kv), K, K_radius);
  const Numbers K_size =
      absolute(K) + errors_of(case_.k.data() + std::size_t(kv) * s.keys * D, s.keys);
  const Numbers K_error = K_size - absolute(K);

  Product grad_k, grad_v;
  for (auto* product : {&grad_k, &grad_v}) {
    for (auto* m : {&product->value, &product->radius, &product->error, &product->magnitude}) {
      *m = Numbers::Zero(s.keys, D);
    }
  }
  std::vector<double> queries(s.keys, 0.0);  // that see the key
  for (int n = 0; n < group; ++n) {
    const HeadPairs& pairs = heads[n];
    const int head = batch * s.heads + (kv % s.kv_heads) * group + n;
    const std::size_t first = std::size_t(head) * s.queries * D;
    reference::Matrix<RunningError> turned(s.queries, D);
    for (int r = 0; r < s.queries; ++r) {
      turned.row(r) = reading_.q(batch, head % s.heads, r).transpose();
    }
    Numbers Q, Q_radius;
    numbers(turned, Q, Q_radius);
    const Numbers Q_error = errors_of(case_.q.data() + first, s.queries);
    const Numbers Q_size = absolute(Q) + Q_error;
    const Numbers dO = as_numbers(case_.grad_o.data() + first, s.queries, D);
    const Numbers exact = Numbers::Zero(s.queries, D);
    for (int j = 0; j < s.keys; ++j) {
      queries[j] += static_cast<double>((pairs.p_magnitude.col(j).array() > 0.0).count());
    }

    Product grad_q;
    grad_q.value = grad_q.radius = Numbers::Zero(s.queries, D);
    multiply(grad_q, pairs.z, pairs.z_radius, {K, K_radius}, case_.scale, s.keys);
    const Numbers by_p = absolute(pairs.p * K) + 0x1p-30 * (pairs.p * absolute(K));
    grad_q.error = tau * (pairs.row_error * K_size + pairs.z_magnitude * K_error);
    grad_q.magnitude = tau * (pairs.z_magnitude * K_size);
    for (int r = 0; r < s.queries; ++r) {
      grad_q.error.row(r) +=
          pairs.growth[r] * (grad_q.value.row(r).cwiseAbs() + grad_q.radius.row(r)) +
          tau * pairs.common[r] * by_p.row(r);
    }
    finish(grad_q, formats_.q, pairs.keys, largest(K), s.query_offset, &result.q[first]);

    multiply(grad_k, pairs.z.transpose(), pairs.z_radius.transpose(), {Q, Q_radius}, case_.scale,
             s.queries * group);
    grad_k.error +=
        tau * (pairs.z_error.transpose() * Q_size + pairs.z_magnitude.transpose() * Q_error);
    grad_k.magnitude += tau * (pairs.z_magnitude.transpose() * Q_size);
    multiply(grad_v, pairs.p.transpose(), pairs.p_radius.transpose(), {dO, exact}, 1.0,
             s.queries * group);
    grad_v.error += pairs.p_error.transpose() * absolute(dO);
    grad_v.magnitude += pairs.p_magnitude.transpose() * absolute(dO);
  }
  const std::size_t first = std::size_t(kv) * s.keys * D;
  const double largest_q = std::abs(*std::max_element(
      case_.q.begin(), case_.q.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
  finish(grad_k, formats_.k, queries, largest_q, 0, &result.k[first]);
  finish(grad_v, formats_.v, queries, 1.0, -1, &result.v[first]);
}

void Work::finish(const Product& product, cases::Format format, std::span<const double> additions,
                  double other, int first_position, OracleNumber* result) const {
  const auto& s = case_.spec;
  const int rows = static_cast<int>(product.value.rows()), D = s.head_dim;
  const auto pairs = first_position >= 0 ? rope_pairs(s.bias) : std::nullopt;
  for (int r = 0; r < rows; ++r) {
    const double n = additions[r];
    if (!pairs) {
      for (int d = 0; d < D; ++d) {
        const double value = product.value(r, d);
        result[r * D + d] = {value, product.radius(r, d) + (n > 0 ? 0x1p-1000 : 0.0),
                             gradient_bound(contract_, format, value, product.error(r, d),
                                            product.magnitude(r, d), n, other)};
      }
      continue;
    }
    // RoPE: the gradient is turned back, with the tables and three roundings (4u), from fp32.
    reference::Matrix<RunningError> turned(1, D);
    std::vector<double> bound(D);
    for (int d = 0; d < D; ++d) {
      turned(0, d) = RunningError(product.value(r, d), product.radius(r, d));
      bound[d] = gradient_bound(contract_, cases::Format::fp32, product.value(r, d),
                                product.error(r, d), product.magnitude(r, d), n, other);
    }
    const double base = case_.options[PLUMBLINE_BASE];
    const int position = r + first_position;
    const auto back = reference::rope_grad(turned, position, RunningError(base), *pairs);
    for (int k = 0; k < D / 2; ++k) {
      const auto [a, b] = reference::rope_pair(*pairs, k, D);
      const double phi = position * std::pow(base, -2.0 * k / D);
      const double cosine = std::abs(std::cos(phi)), sine = std::abs(std::sin(phi));
      const double size =
          std::abs(turned(0, a).value()) + std::abs(turned(0, b).value()) + bound[a] + bound[b];
      const double of_a = bound[a] * cosine + bound[b] * sine + 4 * u * size;
      const double of_b = bound[a] * sine + bound[b] * cosine + 4 * u * size;
      for (const auto& [d, off] : {std::pair{a, of_a}, std::pair{b, of_b}}) {
        const double value = back(0, d).value();
        result[r * D + d] = {value, back(0, d).error(),
                             gradient_bound(contract_, format, value, off, 0.0, 0, 0.0)};
      }
    }
  }
}

}  // namespace

OracleGradients gradient_oracle(const cases::Case& the_case, const Contract& contract,
                                const GradientFormats& formats, int threads) {
  return Work(the_case, contract, formats, threads).run();
}

}  // namespace plumbline::verdict
