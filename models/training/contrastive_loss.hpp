// SPDX-License-Identifier: Apache-2.0
// The loss that tells a query's answer from the other texts of a batch.
#pragma once

#include <vector>

namespace plumbline::training {

struct ContrastiveLoss {
  double mean;              ///< nats a query
  std::vector<float> grad;  ///< by the embeddings
};

/// InfoNCE with in-batch negatives and hard ones: with z_ij = q_i . d_j / temperature,
///   L = -1/B sum_i ln(e^(z_ii) / sum_j e^(z_ij)),
/// j over the positives of all B queries and all hard negatives of the batch. Sources: van den Oord
/// et al., arXiv:1807.03748, equation 4; Karpukhin et al., arXiv:2004.04906, section 3.2. In
/// double, for any finite embeddings.
/// @param embeddings [2 B + N, width]: of the B queries, of their positives in the same order, of N
/// hard negatives.
/// @throws std::invalid_argument unless B >= 1, width >= 1, N >= 0 fit the size, and temperature is
/// finite and above 0.
ContrastiveLoss contrastive_loss(const std::vector<float>& embeddings, int queries, int width,
                                 double temperature);

}  // namespace plumbline::training
