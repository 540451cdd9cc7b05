// SPDX-License-Identifier: Apache-2.0
// A layer position (reference/position/layer_position.hpp) in double, with its parameters by name,
// as cast_step.hpp calls it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/core/mask.hpp"
#include "reference/position/layer_position.hpp"

namespace plumbline::gpu_tests {

/// By the parameters' names; a vector is a matrix of one column.
using Tensors = std::map<std::string, reference::Matrix<double>>;

/// The biases of a layer's heads for one sequence, and their gradients.
struct LayerBiases {
  virtual ~LayerBiases() = default;
  virtual double operator()(int head, int i, int j) const = 0;
  virtual void add_grad(int head, int i, int j, double grad_bias) = 0;
  /// Adds the parameters' gradients to `grads` and returns the shares of dL/dX, [T, width], one for
  /// each of the linear maps that the method has of it.
  virtual std::vector<reference::Matrix<double>> finish(Tensors& grads) const = 0;
};

struct CastPosition {
  using Matrix = reference::Matrix<double>;
  virtual ~CastPosition() = default;
  /// Of the layer's input X [T, width]; `name` is that of the layer's position.
  virtual std::unique_ptr<LayerBiases> biases(const Tensors& values, const std::string& name,
                                              const Matrix& X, int heads) const = 0;
  virtual bool rotates() const = 0;  ///< whether queries and keys are rotated
  virtual Matrix rotated(const Matrix& X) const = 0;
  virtual Matrix rotated_grad(const Matrix& grad) const = 0;
  virtual reference::Mask mask(const reference::Mask& of_model) const = 0;
};

template <class Position>
class CastPositionOf : public CastPosition {
 public:
  explicit CastPositionOf(Position position) : position_(std::move(position)) {}

  std::unique_ptr<LayerBiases> biases(const Tensors& values, const std::string& name,
                                      const Matrix& X, int heads) const override {
    return std::make_unique<Biases>(position_, values, name, X, heads);
  }
  bool rotates() const override { return !std::is_base_of_v<reference::BiasAlone, Position>; }
  Matrix rotated(const Matrix& X) const override { return position_.rotated(X, 0); }
  Matrix rotated_grad(const Matrix& grad) const override { return position_.rotated_grad(grad, 0); }
  reference::Mask mask(const reference::Mask& of_model) const override {
    return position_.mask(of_model);
  }

 private:
  using Parameters = typename Position::template Parameters<double>;
  using Bias = typename decltype(std::declval<const Position&>().biases(
      std::declval<const Parameters&>(), std::declval<const Matrix&>(), 0,
      std::declval<typename Position::template Cache<double>&>()))::value_type;
  using Grads = std::vector<typename Bias::Grad>;

  class Biases : public LayerBiases {
   public:
    Biases(const Position& position, const Tensors& values, std::string name, const Matrix& X,
           int heads)
        : position_(position),
          name_(std::move(name)),
          X_(X),
          parameters_(position.template zero_parameters<double>(heads, static_cast<int>(X.cols()))),
          zero_(parameters_) {
      Parameters::each(parameters_, name_, [&](const std::string& tensor_name, auto& tensor) {
        tensor = values.at(tensor_name);
      });
      typename Position::template Cache<double> nothing_before{};
      biases_ = position.biases(parameters_, X, heads, nothing_before);
      for (const Bias& bias : biases_) grads_.push_back(bias.zero_grad());
    }

    double operator()(int head, int i, int j) const override { return biases_[head](i, j); }
    void add_grad(int head, int i, int j, double grad_bias) override {
      biases_[head].accumulate_grad(grads_[head], i, j, grad_bias);
    }
    std::vector<Matrix> finish(Tensors& grads) const override {
      std::vector<Matrix> shares;
      if constexpr (requires { grads_[0].gain; }) {
        Grads increments = grads_, gains = grads_;
        for (auto& grad : increments) grad.gain.setZero();
        for (auto& grad : gains) grad.prefix_sum.setZero();
        add(increments, grads, shares);
        add(gains, grads, shares);
      } else {
        add(grads_, grads, shares);
      }
      return shares;
    }

   private:
    void add(const Grads& of_heads, Tensors& grads, std::vector<Matrix>& shares) const {
      Parameters by = zero_;
      Matrix share = position_.biases_grad(parameters_, X_, of_heads, by);
      Parameters::each(by, name_, [&](const std::string& tensor_name, const auto& tensor) {
        grads.at(tensor_name) += tensor;
      });
      if (share.size() > 0) shares.push_back(std::move(share));
    }

    const Position& position_;
    std::string name_;
    Matrix X_;
    Parameters parameters_, zero_;
    std::vector<Bias> biases_;
    Grads grads_;
  };

  Position position_;
};

template <class Position>
std::shared_ptr<const CastPosition> cast_position(Position position) {
  return std::make_shared<CastPositionOf<Position>>(std::move(position));
}

}  // namespace plumbline::gpu_tests
