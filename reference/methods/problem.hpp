// SPDX-License-Identifier: Apache-2.0
// A problem that a position method can be asked: the shape, the mask, and numbers by name.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/attention/attention.hpp"

namespace plumbline::reference::methods {

/// Where a method enters a transformer.
enum class Kind {
  bias,       ///< a number b_ij added to the scaled logits
  rotation,   ///< queries and keys rotated by their positions
  embedding,  ///< a table added to the embeddings, before the first layer
  logits,     ///< logits of its own, from queries, keys and more
};

/// Numbers with their shape, row-major.
template <class Number>
struct Tensor {
  std::vector<int> shape;
  std::vector<Number> data;
};

template <class Number>
using Tensors = std::map<std::string, Tensor<Number>>;

/// The name and shape of a tensor that a method reads.
struct NamedShape {
  std::string name;
  std::vector<int> shape;
};

/// All of a problem but its tensors. A method that is added to the embeddings has none of the
/// attention that the rest is for; of the shape it takes the width C = heads * head_dim, `queries`
/// embeddings at the positions from query_offset on, and, where it has a table, `keys` rows of it.
struct Problem {
  AttentionShape shape;
  Mask mask;
  double scale = 1.0;                     ///< multiplies q . k
  std::optional<double> softcap = {};     ///< cap of the scaled products, or none
  std::map<std::string, double> options;  ///< what the method fixes beside its parameters
};

/// @throws std::invalid_argument if the problem has no such option.
inline double option(const Problem& problem, const std::string& name) {
  const auto found = problem.options.find(name);
  if (found == problem.options.end()) throw std::invalid_argument("there is no option " + name);
  return found->second;
}

/// An option that counts something. @throws std::invalid_argument if there is none, or it is no
/// whole number in [0, 2^24].
inline int whole_option(const Problem& problem, const std::string& name) {
  const double value = option(problem, name);
  require(value >= 0 && value <= 0x1p24 && std::trunc(value) == value, name.c_str(), value,
          "a whole number in [0, 2^24]");
  return static_cast<int>(value);
}

/// What the adaptor of a method reads: the problem, and its tensors in scalar R.
template <Real R>
class MethodInputs {
 public:
  MethodInputs(const Problem& problem, const Tensors<R>& tensors)
      : problem_(problem), tensors_(tensors) {}

  const Problem& problem() const { return problem_; }
  const AttentionShape& shape() const { return problem_.shape; }
  bool has(const std::string& name) const { return tensors_.count(name) > 0; }

  /// @throws std::invalid_argument if there is no such tensor.
  const Tensor<R>& tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::invalid_argument("there is no tensor " + name);
    return found->second;
  }

  /// Rows [first, first + rows) of the tensor, read as rows of `columns` numbers.
  /// @throws std::invalid_argument if it has not as many.
  Matrix<R> matrix(const std::string& name, int first, int rows, int columns) const {
    const Tensor<R>& from = tensor(name);
    const std::size_t start = static_cast<std::size_t>(first) * columns;
    if (from.data.size() < start + static_cast<std::size_t>(rows) * columns) {
      throw std::invalid_argument("the tensor " + name + " has too few numbers");
    }
    Matrix<R> part(rows, columns);
    for (Eigen::Index n = 0; n < part.size(); ++n) part.data()[n] = from.data[start + n];
    return part;
  }
  Vector<R> vector(const std::string& name, int row, int size) const {
    return matrix(name, row, 1, size).row(0);
  }
  R number(const std::string& name, int index) const { return vector(name, index, 1)[0]; }

  R option(const std::string& name) const { return R(methods::option(problem_, name)); }
  int whole_option(const std::string& name) const { return methods::whole_option(problem_, name); }

 private:
  const Problem& problem_;
  const Tensors<R>& tensors_;
};

/// Adds `values` to the tensor `name`, which is 0 at first, from element `first` on.
template <Real R>
void add(Tensors<R>& out, const std::string& name, const std::vector<int>& shape, std::size_t first,
         std::span<const R> values) {
  Tensor<R>& tensor = out[name];
  if (tensor.data.empty()) {
    std::size_t size = 1;
    for (int extent : shape) size *= static_cast<std::size_t>(extent);
    tensor = {shape, std::vector<R>(size, R(0.0))};
  }
  for (std::size_t n = 0; n < values.size(); ++n) tensor.data.at(first + n) += values[n];
}

template <Real R>
void add(Tensors<R>& out, const std::string& name, const std::vector<int>& shape, std::size_t first,
         const Vector<R>& values) {
  add<R>(out, name, shape, first, view(values));
}

template <Real R>
void add(Tensors<R>& out, const std::string& name, const std::vector<int>& shape, std::size_t first,
         const Matrix<R>& values) {
  add<R>(out, name, shape, first,
         std::span<const R>(values.data(), static_cast<std::size_t>(values.size())));
}

template <Real R>
void add(Tensors<R>& out, const std::string& name, const std::vector<int>& shape, std::size_t first,
         const R& value) {
  add<R>(out, name, shape, first, std::span<const R>(&value, 1));
}

}  // namespace plumbline::reference::methods
