// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_vs_reference/model/cast_bound.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "model/parameters.hpp"

namespace plumbline::gpu_tests {

namespace {

/// The products of the draws' errors with each other, [draws, draws], and with the gradient.
struct Products {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(kDraws, kDraws);
  Eigen::VectorXd along = Eigen::VectorXd::Zero(kDraws);
  double squares = 0;

  Products& operator+=(const Products& other) {
    gram += other.gram;
    along += other.along;
    squares += other.squares;
    return *this;
  }

  /// Of the errors' covariance S the draws give tr S, their mean square, tr S^2, the mean square of
  /// the products of two of them, and more than |S|, the largest eigenvalue of what they have for
  /// S. Then (Hsu, Kakade, Zhang, "A tail inequality for quadratic forms of subgaussian random
  /// vectors", theorem 2.1)
  ///   |error|^2 <= tr S + 2 sqrt(t tr S^2) + 2 t |S|   but with probability e^-t.
  TensorBound bound(const std::string& name) const {
    constexpr double t = 25;
    const double trace = gram.trace() / kDraws;
    const double of_two =
        (gram.squaredNorm() - gram.diagonal().squaredNorm()) / (kDraws * (kDraws - 1));
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
    const double largest = solver.eigenvalues().maxCoeff() / kDraws;
    return {name, std::sqrt(squares),
            std::sqrt(trace + 2 * std::sqrt(t * of_two) + 2 * t * largest),
            kCastDeviations * std::sqrt(along.squaredNorm() / kDraws) / squares};
  }
};

}  // namespace

CastOracle cast_oracle(const CastStep& step, gpu::Format format) {
  const CastStepResult exact = step.run(Casts(format));
  double loss_squares = 0;
  std::map<std::string, Eigen::MatrixXd> errors;  // [numbers, draws]
  for (const auto& [name, gradient] : exact.gradients) errors[name].resize(gradient.size(), kDraws);
  for (int draw = 0; draw < kDraws; ++draw) {
    const CastStepResult drawn = step.run(Casts(format, static_cast<std::uint64_t>(draw)));
    loss_squares += std::pow(drawn.loss - exact.loss, 2);
    for (const auto& [name, gradient] : exact.gradients)
      errors.at(name).col(draw) = (drawn.gradients.at(name) - gradient).reshaped<Eigen::RowMajor>();
  }

  CastOracle oracle{{exact.loss, kCastDeviations * std::sqrt(loss_squares / kDraws), {}}, {}, 0, 0};
  Products of_model;
  double count = 0;
  const gpu::ParameterLayout layout(step.configuration);
  for (const gpu::Parameter& p : layout.all()) {
    const auto& gradient = exact.gradients.at(p.name);
    const Eigen::MatrixXd& z = errors.at(p.name);
    const Eigen::Map<const Eigen::VectorXd> g(gradient.data(), gradient.size());
    const Products products{z.transpose() * z, z.transpose() * g, g.squaredNorm()};
    oracle.tensors.push_back(products.bound(p.name));
    of_model += products;
    StepTensor& tensor =
        oracle.step.tensors.emplace_back(StepTensor{p.name, static_cast<int>(p.shape.size()), {}});
    for (Eigen::Index n = 0; n < g.size(); ++n) {
      const double square = z.row(n).squaredNorm() / kDraws;
      tensor.elements.push_back(
          {step.values.at(p.name).data()[n], g[n], kCastDeviations * std::sqrt(square)});
      if (square == 0) continue;
      oracle.shift += std::pow(z.row(n).sum(), 2) / (kDraws * square);
      oracle.kurtosis += z.row(n).array().pow(4).mean() / (square * square);
      ++count;
    }
  }
  oracle.tensors.push_back(of_model.bound("the model"));
  oracle.shift = std::sqrt(oracle.shift / count);
  oracle.kurtosis /= count;
  return oracle;
}

}  // namespace plumbline::gpu_tests
