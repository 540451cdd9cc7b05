// SPDX-License-Identifier: Apache-2.0
// Prints small problems of the blocks and of what is not an additive bias, for pytorch_check.py: a
// JSON object a line, with numbers in C's hexadecimal form. `gradient` are the derivatives of
// sum_n weights_n values_n in the inputs; values and gradient each with their error bounds.
#include <cstdio>

#include "reference/attention/cope.hpp"
#include "reference/attention/dape.hpp"
#include "reference/model/contrastive_loss.hpp"
#include "reference/model/gelu.hpp"
#include "reference/model/layernorm.hpp"
#include "reference/model/mlm_loss.hpp"
#include "reference/model/pooling.hpp"
#include "reference/position/rope.hpp"
#include "tests/reference/weighted.hpp"

using namespace plumbline::reference;
using E = RunningError;

namespace {

template <class Range, class Number>
void print(const char* name, const Range& range, const Number& number) {
  std::printf(", \"%s\": \"", name);
  for (const auto& x : range) std::printf("%a ", number(x));
  std::printf("\"");
}

/// `values` and `gradient` as functions of a Reader of the inputs; the latter of the weights, too.
template <class Values, class Gradient>
void print_block(const char* name, int inputs, const Values& values, const Gradient& gradient) {
  Numbers numbers(17);
  const Vector<E> x = lifted<E>(numbers.between(-1, 1, inputs));
  Reader<E> for_values(x), for_gradient(x);
  const Vector<E> y = values(for_values);
  const Vector<E> weights = lifted<E>(numbers.between(-1, 1, static_cast<int>(y.size())));
  Reader<E> upstream(weights);
  const Vector<E> grad = gradient(for_gradient, upstream);
  const auto value = [](const E& number) { return number.value(); };
  const auto error = [](const E& number) { return number.error(); };
  std::printf("{\"name\": \"%s\"", name);
  print("inputs", x, value);
  print("weights", weights, value);
  print("values", y, value);
  print("value_errors", y, error);
  print("gradient", grad, value);
  print("gradient_errors", grad, error);
  std::printf("}\n");
}

Vector<E> flat(const Matrix<E>& x) {
  Writer<E> results;
  results.matrix(x);
  return results.result();
}

void print_rope(const char* name, RopePairs pairs) {
  print_block(
      name, 12, [&](auto& x) { return flat(rope<E>(x.matrix(3, 4), 5, E(10000.0), pairs)); },
      [&](auto&, auto& dy) { return flat(rope_grad<E>(dy.matrix(3, 4), 5, E(10000.0), pairs)); });
}

DapeLayers<E> dape_layers(Reader<E>& x, int width) {
  const Matrix<E> first = x.matrix(3, 4 * width);
  const Vector<E> first_bias = x.vector(3);
  const Matrix<E> second = x.matrix(2, 3 * width);
  return {{first, first_bias, width}, {second, x.vector(2), width}};
}

void print_dape(const char* name, int width, int seen) {
  print_block(
      name, 16 + 3 * (4 * width + 1) + 2 * (3 * width + 1),
      [&](auto& x) {
        const Matrix<E> A = x.matrix(2, 4), B = x.matrix(2, 4);
        return flat(dape_row(A, B, dape_layers(x, width), seen));
      },
      [&](auto& x, auto& dy) {
        const Matrix<E> A = x.matrix(2, 4), B = x.matrix(2, 4);
        const auto grad = dape_row_grad(A, B, dape_layers(x, width), seen, dy.matrix(2, 4));
        Writer<E> results;
        results.matrix(grad.A);
        results.matrix(grad.B);
        results.matrix(grad.first.weight);
        results.vector(grad.first.bias);
        results.matrix(grad.second.weight);
        results.vector(grad.second.bias);
        return results.result();
      });
}

void print_gelu(const char* name, E (*gelu)(const E&), E (*derivative)(const E&)) {
  print_block(
      name, 8,
      [&](auto& x) {
        Vector<E> y = x.vector(8);
        for (E& element : y) element = gelu(element);
        return y;
      },
      [&](auto& x, auto& dy) {
        Vector<E> grad = dy.vector(8), at = x.vector(8);
        for (int n = 0; n < 8; ++n) grad[n] = grad[n] * derivative(at[n]);
        return grad;
      });
}

void print_pooling(const char* name, Pooling pooling) {
  const std::vector<int> visible = {0, 1, 3};
  print_block(
      name, 12, [&](auto& x) { return pooled(x.matrix(4, 3), visible, pooling); },
      [&](auto&, auto& dy) { return flat(pooled_grad(4, visible, pooling, dy.vector(3))); });
}

ContrastiveBatch<E> contrastive_batch(Reader<E>& x) {
  const Matrix<E> queries = x.matrix(2, 3), positives = x.matrix(2, 3);
  return {queries, positives, x.matrix(3, 3)};
}

void print_contrastive(const char* name, Similarity similarity) {
  print_block(
      name, 21,
      [&](auto& x) {
        Vector<E> loss(1);
        loss[0] = contrastive_loss(contrastive_batch(x), E(0.25), similarity);
        return loss;
      },
      [&](auto& x, auto& dy) {
        const ContrastiveBatch<E> grad =
            contrastive_loss_grad(contrastive_batch(x), E(0.25), similarity, dy.number())
                .embeddings;
        Writer<E> results;
        results.matrix(grad.queries);
        results.matrix(grad.positives);
        results.matrix(grad.hard_negatives);
        return results.result();
      });
}

}  // namespace

int main() {
  print_rope("rope interleaved", RopePairs::interleaved);
  print_rope("rope half-split", RopePairs::half_split);
  print_dape("dape version 1", 1, 4);
  print_dape("dape version 2", 3, 3);  // of 4 keys, the query is the third
  print_gelu("gelu erf", gelu_erf<E>, gelu_erf_derivative<E>);
  print_gelu("gelu tanh", gelu_tanh<E>, gelu_tanh_derivative<E>);
  print_block(
      "cope", 3 + 15 + 9,
      [](auto& x) {
        const Vector<E> q = x.vector(3);
        const Matrix<E> K = x.matrix(5, 3);
        return cope_row(q, K, {0, 1, 2, 3, 4}, E(0.5), x.matrix(3, 3)).logits;
      },
      [](auto& x, auto& dy) {
        const Vector<E> q = x.vector(3);
        const Matrix<E> K = x.matrix(5, 3);
        const auto grad =
            cope_row_grad(q, K, {0, 1, 2, 3, 4}, E(0.5), x.matrix(3, 3), dy.vector(5));
        Writer<E> results;
        results.vector(grad.q);
        results.matrix(grad.k);
        results.matrix(grad.table);
        return results.result();
      });
  print_block(
      "layernorm", 12 + 8,
      [](auto& x) {
        const Matrix<E> X = x.matrix(3, 4);
        const Vector<E> gamma = x.vector(4);
        return flat(layernorm(X, gamma, x.vector(4), E(1e-5)));
      },
      [](auto& x, auto& dy) {
        const Matrix<E> X = x.matrix(3, 4);
        const auto grad = layernorm_grad(X, x.vector(4), E(1e-5), dy.matrix(3, 4));
        Writer<E> results;
        results.matrix(grad.x);
        results.vector(grad.gamma);
        results.vector(grad.beta);
        return results.result();
      });
  const Targets targets = {2, std::nullopt, 0};
  print_block(
      "cross-entropy", 12,
      [&](auto& x) {
        Vector<E> loss(1);
        loss[0] = cross_entropy(x.matrix(3, 4), targets);
        return loss;
      },
      [&](auto& x, auto& dy) {
        return flat(cross_entropy_grad(x.matrix(3, 4), targets, dy.number()));
      });
  const std::vector<int> original = {3, 1, 0, 2}, selected = {3, 1};
  print_block(
      "mlm loss", 16,
      [&](auto& x) {
        Vector<E> loss(1);
        loss[0] = mlm_loss(x.matrix(4, 4), original, selected);
        return loss;
      },
      [&](auto& x, auto& dy) {
        return flat(mlm_loss_grad(x.matrix(4, 4), original, selected, dy.number()));
      });
  print_pooling("mean pooling", Pooling::mean);
  print_pooling("cls pooling", Pooling::cls);
  print_pooling("last pooling", Pooling::last);
  print_contrastive("contrastive loss, cosine", Similarity::cosine);
  print_contrastive("contrastive loss, dot", Similarity::dot);
}
