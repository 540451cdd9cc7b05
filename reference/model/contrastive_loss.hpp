// SPDX-License-Identifier: Apache-2.0
// The contrastive loss over a batch, with hard negatives. CABLE, section 5.5, fine-tunes BERT on
// MS-MARCO with mined hard negatives and sentence-transformers; it names neither the loss nor the
// temperature. This is that framework's loss for such data, MultipleNegativesRankingLoss.
#pragma once

#include <cmath>
#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/model/l2_normalize.hpp"
#include "reference/model/linear_layer.hpp"
#include "reference/model/loss.hpp"

namespace plumbline::reference {

/// cosine: q . d / (|q| |d|), each length at least 1e-12, as PyTorch has it. dot: q . d.
enum class Similarity { cosine, dot };

/// sentence-transformers multiplies the cosine by 20.
inline constexpr double sentence_transformers_temperature = 0.05;

/// The embeddings of a batch. Query i belongs to positive i; hard negatives belong to the batch,
/// however many a query has: every query is held against all of them.
template <Real R>
struct ContrastiveBatch {
  Matrix<R> queries;         ///< [B, C]
  Matrix<R> positives;       ///< [B, C]
  Matrix<R> hard_negatives;  ///< [N, C]; N = 0 for in-batch negatives alone
};

/// @throws std::invalid_argument unless B >= 1, C >= 1, the shapes agree, and temperature is finite
/// and above 0.
template <Real R>
void check_contrastive(const ContrastiveBatch<R>& batch, const R& temperature) {
  const Matrix<R>& queries = batch.queries;
  require(queries.rows() >= 1, "queries.rows()", queries.rows(), "at least 1");
  require(queries.cols() >= 1, "queries.cols()", queries.cols(), "at least 1");
  require(batch.positives.rows() == queries.rows(), "positives.rows()", batch.positives.rows(),
          "the rows of the queries");
  require(batch.positives.cols() == queries.cols(), "positives.cols()", batch.positives.cols(),
          "the columns of the queries");
  require(batch.hard_negatives.cols() == queries.cols(), "hard_negatives.cols()",
          batch.hard_negatives.cols(), "the columns of the queries");
  const double t = representative(temperature);
  require(t > 0 && std::isfinite(t), "temperature", t, "finite and above 0");
}

/// Positives, then hard negatives: [B + N, C].
template <Real R>
Matrix<R> candidates(const ContrastiveBatch<R>& batch) {
  Matrix<R> all(batch.positives.rows() + batch.hard_negatives.rows(), batch.positives.cols());
  all.topRows(batch.positives.rows()) = batch.positives;
  all.bottomRows(batch.hard_negatives.rows()) = batch.hard_negatives;
  return all;
}

/// What the similarities are dot products of.
template <Real R>
Matrix<R> compared(const Matrix<R>& embeddings, Similarity similarity) {
  if (similarity == Similarity::dot) return embeddings;
  return l2_normalize(embeddings, R(pytorch_normalize_epsilon));
}

/// The target of query i is candidate i.
inline Targets own_positives(Eigen::Index queries) {
  Targets targets(static_cast<std::size_t>(queries));
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<int>(i);
  return targets;
}

/// z_ij = similarity(query i, candidate j) / temperature, candidates as `candidates` orders them.
/// Shapes: result [B, B + N]. @throws std::invalid_argument as check_contrastive does.
template <Real R>
Matrix<R> contrastive_logits(const ContrastiveBatch<R>& batch,
                             const std::type_identity_t<R>& temperature, Similarity similarity) {
  check_contrastive(batch, temperature);
  Matrix<R> logits = linear_layer(compared(batch.queries, similarity),
                                  compared(candidates(batch), similarity), zeros<R>(0));
  for (Eigen::Index n = 0; n < logits.size(); ++n) {
    logits.data()[n] = logits.data()[n] / temperature;
  }
  return logits;
}

/// L = -1/B sum_i ln(e^(z_ii) / sum_j e^(z_ij)): which of all positives and hard negatives of the
/// batch is the query's own. Source: van den Oord et al., "Representation Learning with Contrastive
/// Predictive Coding", arXiv:1807.03748, equation 4 (InfoNCE); in-batch negatives: Henderson et
/// al., arXiv:1705.00652, section 4.4; hard negatives added to them: Karpukhin et al.,
/// arXiv:2004.04906, section 3.2.
/// @throws std::invalid_argument as check_contrastive does.
template <Real R>
R contrastive_loss(const ContrastiveBatch<R>& batch, const std::type_identity_t<R>& temperature,
                   Similarity similarity) {
  return cross_entropy(contrastive_logits(batch, temperature, similarity),
                       own_positives(batch.queries.rows()));
}

template <Real R>
struct ContrastiveGrad {
  ContrastiveBatch<R> embeddings;  ///< shapes of the batch
  R temperature;
};

/// The adjoint. With dz that of the cross-entropy, s = z temperature, hats for what is compared:
/// d temperature = -sum_ij dz_ij z_ij / temperature, ds = dz / temperature, dq^_i = sum_j ds_ij
/// d^_j, dd^_j = sum_i ds_ij q^_i; for cosines then the adjoint of l2_normalize.
/// @throws std::invalid_argument as check_contrastive does.
template <Real R>
ContrastiveGrad<R> contrastive_loss_grad(const ContrastiveBatch<R>& batch,
                                         const std::type_identity_t<R>& temperature,
                                         Similarity similarity,
                                         const std::type_identity_t<R>& grad_loss) {
  const Matrix<R> logits = contrastive_logits(batch, temperature, similarity);
  Matrix<R> grad_logits = cross_entropy_grad(logits, own_positives(logits.rows()), grad_loss);
  R grad_temperature(0.0);
  for (Eigen::Index n = 0; n < logits.size(); ++n) {
    R& by_logit = grad_logits.data()[n];
    by_logit = by_logit / temperature;
    grad_temperature -= by_logit * logits.data()[n];
  }
  const Matrix<R> all = candidates(batch);
  LinearLayerGrad<R> grad = linear_layer_grad(compared(batch.queries, similarity),
                                              compared(all, similarity), grad_logits);
  if (similarity == Similarity::cosine) {
    const R epsilon(pytorch_normalize_epsilon);
    grad.x = l2_normalize_grad(batch.queries, epsilon, grad.x);
    grad.w = l2_normalize_grad(all, epsilon, grad.w);
  }
  return {{grad.x, grad.w.topRows(batch.positives.rows()),
           grad.w.bottomRows(batch.hard_negatives.rows())},
          grad_temperature};
}

}  // namespace plumbline::reference
