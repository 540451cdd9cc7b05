// SPDX-License-Identifier: Apache-2.0
// Layer positions (reference/position/layer_position.hpp) whose type is not known when a model is
// compiled, so that each model is compiled once for all of them: for one scalar, without decoding.
#pragma once

#include <any>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/position/layer_position.hpp"
#include "tests/gpu_vs_reference/model/traced.hpp"

namespace plumbline::gpu_tests {

using reference::Matrix;
using reference::Traced;
using reference::Vector;

/// The bias of one head.
class AnyBias {
 public:
  using Grad = std::any;

  template <class Bias>
  explicit AnyBias(Bias bias) : holder_(std::make_shared<Holder<Bias>>(std::move(bias))) {}

  Traced operator()(int i, int j) const { return holder_->value(i, j); }
  Grad zero_grad() const { return holder_->zero_grad(); }
  void accumulate_grad(Grad& grad, int i, int j, const Traced& by) const {
    holder_->accumulate_grad(grad, i, j, by);
  }
  template <class Bias>
  const Bias& as() const {
    return dynamic_cast<const Holder<Bias>&>(*holder_).bias;
  }

 private:
  struct AnyHolder {
    virtual ~AnyHolder() = default;
    virtual Traced value(int i, int j) const = 0;
    virtual Grad zero_grad() const = 0;
    virtual void accumulate_grad(Grad& grad, int i, int j, const Traced& by) const = 0;
  };
  template <class Bias>
  struct Holder : AnyHolder {
    Bias bias;
    explicit Holder(Bias b) : bias(std::move(b)) {}
    Traced value(int i, int j) const override { return bias(i, j); }
    Grad zero_grad() const override { return bias.zero_grad(); }
    void accumulate_grad(Grad& grad, int i, int j, const Traced& by) const override {
      bias.accumulate_grad(std::any_cast<typename Bias::Grad&>(grad), i, j, by);
    }
  };
  std::shared_ptr<const AnyHolder> holder_;
};

/// A parameter of a layer: a vector or a matrix.
struct AnyTensor {
  std::string name;  ///< after that of the position
  bool is_vector;
  Matrix<Traced> matrix;
  Vector<Traced> vector;
};
struct AnyTensors {
  int heads = 0, width = 0;
  std::vector<AnyTensor> all = {};
};

/// The functions of a layer position, as layer_position.hpp has them.
struct PositionFunctions {
  using Matrices = std::vector<Matrix<Traced>>;
  using Inputs = reference::AttentionInputs<Traced>;
  using Biases = std::vector<AnyBias>;
  using BiasGrads = std::vector<AnyBias::Grad>;

  virtual ~PositionFunctions() = default;
  virtual bool own_logits() const = 0;
  virtual bool causal_only() const = 0;
  virtual AnyTensors zero_parameters(int heads, int width) const = 0;
  virtual Biases biases(const AnyTensors& p, const Matrix<Traced>& X, int heads) const = 0;
  virtual Matrix<Traced> biases_grad(const AnyTensors& p, const Matrix<Traced>& X,
                                     const BiasGrads& grads, AnyTensors& grad) const = 0;
  virtual Matrix<Traced> rotated(const Matrix<Traced>& X, int offset) const = 0;
  virtual Matrix<Traced> rotated_grad(const Matrix<Traced>& grad, int offset) const = 0;
  virtual reference::Mask mask(const reference::Mask& of_model) const = 0;
  virtual Matrices logits(const AnyTensors& p, const Inputs& x, const Biases& biases) const = 0;
  virtual BiasGrads logits_grad(const AnyTensors& p, const Inputs& x, const Biases& biases,
                                const Matrices& grad_logits, AnyTensors& grad, Matrices& grad_q,
                                Matrices& grad_k) const = 0;
};

template <class Position>
class FunctionsOf : public PositionFunctions {
 public:
  explicit FunctionsOf(Position position) : position_(std::move(position)) {}

  bool own_logits() const override { return reference::HasOwnLogits<Position>; }
  bool causal_only() const override { return position_.causal_only(); }
  AnyTensors zero_parameters(int heads, int width) const override {
    return written(position_.template zero_parameters<Traced>(heads, width), {heads, width});
  }
  Biases biases(const AnyTensors& p, const Matrix<Traced>& X, int heads) const override {
    typename Position::template Cache<Traced> nothing_before{};
    Biases any;
    for (auto& bias : position_.biases(read(p), X, heads, nothing_before)) any.emplace_back(bias);
    return any;
  }
  Matrix<Traced> biases_grad(const AnyTensors& p, const Matrix<Traced>& X, const BiasGrads& grads,
                             AnyTensors& grad) const override {
    std::vector<typename Bias::Grad> own;
    for (const AnyBias::Grad& of_head : grads)
      own.push_back(std::any_cast<const typename Bias::Grad&>(of_head));
    Parameters to = read(grad);
    const Matrix<Traced> grad_x = position_.biases_grad(read(p), X, own, to);
    grad = written(to, grad);
    return grad_x;
  }
  Matrix<Traced> rotated(const Matrix<Traced>& X, int offset) const override {
    return position_.rotated(X, offset);
  }
  Matrix<Traced> rotated_grad(const Matrix<Traced>& grad, int offset) const override {
    return position_.rotated_grad(grad, offset);
  }
  reference::Mask mask(const reference::Mask& of_model) const override {
    return position_.mask(of_model);
  }
  Matrices logits(const AnyTensors& p, const Inputs& x, const Biases& biases) const override {
    if constexpr (reference::HasOwnLogits<Position>)
      return position_.logits(read(p), x, own_biases(biases));
    return {};
  }
  BiasGrads logits_grad(const AnyTensors& p, const Inputs& x, const Biases& biases,
                        const Matrices& grad_logits, AnyTensors& grad, Matrices& grad_q,
                        Matrices& grad_k) const override {
    BiasGrads any;
    if constexpr (reference::HasOwnLogits<Position>) {
      Parameters to = read(grad);
      for (auto& of_head :
           position_.logits_grad(read(p), x, own_biases(biases), grad_logits, to, grad_q, grad_k))
        any.emplace_back(of_head);
      grad = written(to, grad);
    }
    return any;
  }

 private:
  using Parameters = typename Position::template Parameters<Traced>;
  using Bias = typename decltype(std::declval<const Position&>().biases(
      std::declval<const Parameters&>(), std::declval<const Matrix<Traced>&>(), 0,
      std::declval<typename Position::template Cache<Traced>&>()))::value_type;

  static std::vector<Bias> own_biases(const Biases& biases) {
    std::vector<Bias> own;
    for (const AnyBias& bias : biases) own.push_back(bias.as<Bias>());
    return own;
  }
  static AnyTensors written(const Parameters& p, const AnyTensors& like) {
    AnyTensors tensors{like.heads, like.width};
    Parameters::each(p, "", [&](const std::string& name, const auto& tensor) {
      if constexpr (std::decay_t<decltype(tensor)>::ColsAtCompileTime == 1)
        tensors.all.push_back({name, true, {}, tensor});
      else
        tensors.all.push_back({name, false, tensor, {}});
    });
    return tensors;
  }
  Parameters read(const AnyTensors& tensors) const {
    Parameters p = position_.template zero_parameters<Traced>(tensors.heads, tensors.width);
    auto next = tensors.all.begin();
    Parameters::each(p, "", [&](const std::string&, auto& tensor) {
      if constexpr (std::decay_t<decltype(tensor)>::ColsAtCompileTime == 1)
        tensor = (next++)->vector;
      else
        tensor = (next++)->matrix;
    });
    return p;
  }

  Position position_;
};

/// A layer position made of the functions; `own` says whether they have logits of their own.
template <bool own>
struct AnyPosition {
  static constexpr bool own_logits = own;
  std::shared_ptr<const PositionFunctions> functions;

  template <class R>
  struct Parameters {
    AnyTensors tensors;

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      for (auto& tensor : self.tensors.all) {
        if (tensor.is_vector)
          visit(name + tensor.name, tensor.vector);
        else
          visit(name + tensor.name, tensor.matrix);
      }
    }
  };
  template <class R>
  struct Cache {};
  using OfTraced = Parameters<Traced>;
  using Functions = PositionFunctions;

  bool causal_only() const { return functions->causal_only(); }
  template <class R>
  OfTraced zero_parameters(int heads, int width) const {
    return {functions->zero_parameters(heads, width)};
  }
  Functions::Biases biases(const OfTraced& p, const Matrix<Traced>& X, int heads,
                           Cache<Traced>&) const {
    return functions->biases(p.tensors, X, heads);
  }
  Matrix<Traced> biases_grad(const OfTraced& p, const Matrix<Traced>& X,
                             const Functions::BiasGrads& grads, OfTraced& grad) const {
    return functions->biases_grad(p.tensors, X, grads, grad.tensors);
  }
  Matrix<Traced> rotated(const Matrix<Traced>& X, int offset) const {
    return functions->rotated(X, offset);
  }
  Matrix<Traced> rotated_grad(const Matrix<Traced>& grad, int offset) const {
    return functions->rotated_grad(grad, offset);
  }
  reference::Mask mask(const reference::Mask& of_model) const { return functions->mask(of_model); }
  Functions::Matrices logits(const OfTraced& p, const Functions::Inputs& x,
                             const Functions::Biases& biases) const {
    return functions->logits(p.tensors, x, biases);
  }
  Functions::BiasGrads logits_grad(const OfTraced& p, const Functions::Inputs& x,
                                   const Functions::Biases& biases,
                                   const Functions::Matrices& grad_logits, OfTraced& grad,
                                   Functions::Matrices& grad_q, Functions::Matrices& grad_k) const {
    return functions->logits_grad(p.tensors, x, biases, grad_logits, grad.tensors, grad_q, grad_k);
  }
};

/// Those of a layer position.
template <class Position>
std::shared_ptr<const PositionFunctions> functions_of(Position position) {
  return std::make_shared<FunctionsOf<Position>>(std::move(position));
}

}  // namespace plumbline::gpu_tests
