// SPDX-License-Identifier: Apache-2.0
// A flat vector of inputs, read as the parameters of an equation, and gradients in the same order.
#pragma once

#include <vector>

#include "reference/core/linear_algebra.hpp"

namespace plumbline::reference {

template <Real R>
class Reader {
 public:
  explicit Reader(const Vector<R>& inputs) : inputs_(inputs) {}
  R number() { return inputs_[at_++]; }
  Vector<R> vector(int size) {
    Vector<R> x(size);
    for (R& element : x) element = number();
    return x;
  }
  Matrix<R> matrix(int rows, int columns) {
    Matrix<R> x(rows, columns);
    for (Eigen::Index n = 0; n < x.size(); ++n) x.data()[n] = number();
    return x;
  }
  std::vector<Matrix<R>> matrices(int count, int rows, int columns) {
    std::vector<Matrix<R>> x;
    for (int n = 0; n < count; ++n) x.push_back(matrix(rows, columns));
    return x;
  }

 private:
  const Vector<R>& inputs_;
  Eigen::Index at_ = 0;
};

template <Real R>
class Writer {
 public:
  void number(const R& x) { outputs_.push_back(x); }
  void vector(const Vector<R>& x) { outputs_.insert(outputs_.end(), x.begin(), x.end()); }
  void matrix(const Matrix<R>& x) {
    outputs_.insert(outputs_.end(), x.data(), x.data() + x.size());
  }
  void matrices(const std::vector<Matrix<R>>& x) {
    for (const Matrix<R>& each : x) matrix(each);
  }
  Vector<R> result() const {
    Vector<R> x(static_cast<Eigen::Index>(outputs_.size()));
    for (Eigen::Index n = 0; n < x.size(); ++n) x[n] = outputs_[n];
    return x;
  }

 private:
  std::vector<R> outputs_;
};

}  // namespace plumbline::reference
