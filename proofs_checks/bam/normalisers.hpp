// SPDX-License-Identifier: Apache-2.0
// The quantities of BAM's Theorem 1 and appendix K for one query, from the reference's own softmax.
#pragma once

#include "proofs_checks/bam/source.hpp"

namespace plumbline::proofs_checks::bam {

/// p_cont = softmax(f), p_pos = softmax(g), p_joint = softmax(f + g), with ln Z_cont, ln Z_pos,
/// ln Z_joint (K.1) as their LSE. Sums run in ascending key order.
template <class R>
struct Normalisers {
  reference::Softmax<R> content, position, joint;

  /// Of a sample's f and g: a formula may take Normalisers<R> in place of Inputs<R>.
  Normalisers(const Inputs<R>& in)  // NOLINT
      : Normalisers(in, Vector<R>(in["f"] + in["g"])) {}
  /// With another score in place of f + g.
  Normalisers(const Inputs<R>& in, const Vector<R>& score)
      : content(softmax(in["f"])), position(softmax(in["g"])), joint(softmax(score)) {}

  int keys() const { return static_cast<int>(joint.probability.size()); }
  const R& p_cont(int j) const { return content.probability[j]; }
  const R& p_pos(int j) const { return position.probability[j]; }
  const R& p_joint(int j) const { return joint.probability[j]; }

  /// <p_cont, p_pos> = sum_j p_cont(j) p_pos(j): the Z of Theorem 1.
  R overlap() const { return dot(content.probability, position.probability); }
  /// ln (Z_cont Z_pos / Z_joint).
  R log_ratio() const { return content.lse + position.lse - joint.lse; }
  /// sum_j p_joint(j) ln(p_joint(j) / (p_cont(j) p_pos(j))): the I(cont; pos) of K.3.
  R information() const {
    Vector<R> log_quotient(keys());
    for (int j = 0; j < keys(); ++j) {
      log_quotient[j] = log(p_joint(j)) - log(p_cont(j)) - log(p_pos(j));
    }
    return dot(joint.probability, log_quotient);
  }
  /// ||p_cont||_2^2 and ||p_pos||_2^2.
  R content_square() const { return dot(content.probability, content.probability); }
  R position_square() const { return dot(position.probability, position.probability); }
};

/// A formula of the normalisers, with the score f_j g_j in place of f_j + g_j.
template <class F>
auto of_product(const F& formula) {
  return [=]<class R>(const Inputs<R>& in) {
    return formula(Normalisers<R>(in, Vector<R>(in["f"].cwiseProduct(in["g"]))));
  };
}

/// p_joint - p_cont p_pos / Z at the first key.
inline constexpr auto first_key = []<class R>(const Normalisers<R>& n) {
  return n.p_joint(0) - n.p_cont(0) * n.p_pos(0) / n.overlap();
};

}  // namespace plumbline::proofs_checks::bam
