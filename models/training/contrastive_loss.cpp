// SPDX-License-Identifier: Apache-2.0
#include "models/training/contrastive_loss.hpp"

#include <Eigen/Core>
#include <cmath>
#include <stdexcept>

namespace plumbline::training {

ContrastiveLoss contrastive_loss(const std::vector<float>& embeddings, int queries, int width,
                                 double temperature) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(embeddings.size());
  if (queries < 1 || width < 1 || size % width != 0 || size / width < 2L * queries)
    throw std::invalid_argument("embeddings are not those of queries, positives and negatives");
  if (!(std::isfinite(temperature) && temperature > 0))
    throw std::invalid_argument("temperature is not finite and above 0");

  const Matrix all =
      Eigen::Map<const Floats>(embeddings.data(), size / width, width).cast<double>();
  const auto q = all.topRows(queries);
  const auto d = all.bottomRows(all.rows() - queries);
  Matrix z = q * d.transpose() / temperature;
  ContrastiveLoss result{0.0, std::vector<float>(embeddings.size())};
  // z becomes its gradient: the softmax of every row, less 1 at the query's own positive.
  for (Eigen::Index i = 0; i < queries; ++i) {
    auto row = z.row(i).array();
    const double largest = row.maxCoeff(), own = row[i];
    row = (row - largest).exp();
    const double sum = row.sum();
    result.mean += (std::log(sum) - (own - largest)) / queries;
    row /= sum;
    row[i] -= 1.0;
  }
  z /= queries * temperature;
  Matrix grad(all.rows(), width);
  grad.topRows(queries) = z * d;
  grad.bottomRows(d.rows()) = z.transpose() * q;
  Eigen::Map<Floats>(result.grad.data(), all.rows(), width) = grad.cast<float>();
  return result;
}

}  // namespace plumbline::training
