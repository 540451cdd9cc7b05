// SPDX-License-Identifier: Apache-2.0
// Adaptors of the biases with learned tables, networks and gates: T5, FIRE, FoX; and of a bias
// tensor.
#pragma once

#include "reference/bias/bias_tensor.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/fox.hpp"
#include "reference/bias/t5.hpp"
#include "reference/methods/cable_methods.hpp"

namespace plumbline::reference::methods {

/// table [heads, rows].
/// RowOf::row(problem) gives the row of a pair of positions.
template <class RowOf>
struct TableMethod {
  static constexpr Kind kind = Kind::bias;
  static std::vector<NamedShape> parameters(const Problem& p) {
    return {{"table", {p.shape.heads, RowOf::row(p).rows()}}};
  }
  template <Real R>
  static auto bias(const MethodInputs<R>& in, int, int h) {
    const auto row = RowOf::row(in.problem());
    return RelativeTable<R, decltype(row)>(in.vector("table", h, row.rows()), row);
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int, int h, const RelativeTableGrad<R>& grad,
                       Tensors<R>& out) {
    const int rows = static_cast<int>(grad.table.size());
    add(out, "grad_table", {in.shape().heads, rows}, static_cast<std::size_t>(h) * rows,
        grad.table);
  }
};

template <bool bidirectional>
struct T5Row {
  static std::vector<const char*> options() { return {"buckets", "max_distance"}; }
  /// At most 256 buckets: the borders between them are found in integers of as many digits.
  static T5Buckets row(const Problem& p) {
    const int buckets = whole_option(p, "buckets");
    require(buckets <= 256, "buckets", buckets, "at most 256");
    return {buckets, whole_option(p, "max_distance"), bidirectional};
  }
};

template <class Clipped>
struct ClippedRow {
  static std::vector<const char*> options() { return {"largest"}; }
  static Clipped row(const Problem& p) { return Clipped(whole_option(p, "largest")); }
};

/// T5's own bias for decoders. T5 has the scale 1; CABLE's baseline scales.
struct T5Method : TableMethod<T5Row<false>>, T5Row<false> {
  static constexpr const char* name = "t5";
};
struct T5BidirectionalMethod : TableMethod<T5Row<true>>, T5Row<true> {
  static constexpr const char* name = "t5_bidirectional";
};
struct T5ClippedMethod : TableMethod<ClippedRow<ClippedDistance>>, ClippedRow<ClippedDistance> {
  static constexpr const char* name = "t5_clipped";
};
struct T5ClippedOffsetMethod : TableMethod<ClippedRow<ClippedOffset>>, ClippedRow<ClippedOffset> {
  static constexpr const char* name = "t5_clipped_offset";
};

/// tensor [batch or 1, heads or 1, queries or 1, keys], by the options per_batch, per_head and
/// per_query; gradients are summed over the axes of size 1.
struct BiasTensorMethod {
  static constexpr const char* name = "bias_tensor";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {"per_batch", "per_head", "per_query"}; }
  static std::vector<NamedShape> parameters(const Problem& p) { return {{"tensor", shape(p)}}; }
  template <Real R>
  static BiasTensor<R> bias(const MethodInputs<R>& in, int b, int h) {
    const std::vector<int> s = shape(in.problem());
    return {in.matrix("tensor", head(s, b, h) * s[2], s[2], s[3]), in.shape().first_position(b)};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int b, int h, const Matrix<R>& grad,
                       Tensors<R>& out) {
    const std::vector<int> s = shape(in.problem());
    add(out, "grad_tensor", s, static_cast<std::size_t>(head(s, b, h)) * s[2] * s[3], grad);
  }

 private:
  static std::vector<int> shape(const Problem& p) {
    const auto full = [&](const char* option, int size) {
      const int per = whole_option(p, option);
      require(per <= 1, option, per, "0 or 1");
      return per == 1 ? size : 1;
    };
    return {full("per_batch", p.shape.batch), full("per_head", p.shape.heads),
            full("per_query", p.shape.queries), p.shape.keys};
  }
  static int head(const std::vector<int>& shape, int b, int h) {
    return (shape[0] > 1 ? b : 0) * shape[1] + (shape[1] > 1 ? h : 0);
  }
};

/// hidden_weight, hidden_bias [hidden], output_weight [heads, hidden], output_bias [heads]; c, L
/// [1]. The hidden layer, c and L serve all heads: their gradients are summed over them.
struct FireMethod {
  static constexpr const char* name = "fire";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {"hidden", "L0", "epsilon"}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    const int hidden = whole_option(p, "hidden");
    return {{"hidden_weight", {hidden}},
            {"hidden_bias", {hidden}},
            {"output_weight", {p.shape.heads, hidden}},
            {"output_bias", {p.shape.heads}},
            {"c", {1}},
            {"L", {1}}};
  }
  template <Real R>
  static Fire<R> bias(const MethodInputs<R>& in, int, int h) {
    const int hidden = in.whole_option("hidden");
    return {{in.vector("hidden_weight", 0, hidden), in.vector("hidden_bias", 0, hidden),
             in.vector("output_weight", h, hidden), in.number("output_bias", h), in.number("c", 0),
             in.number("L", 0)},
            in.option("L0"),
            in.option("epsilon")};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int, int h, const FireParameters<R>& grad,
                       Tensors<R>& out) {
    const int heads = in.shape().heads, hidden = static_cast<int>(grad.hidden_weight.size());
    add(out, "grad_hidden_weight", {hidden}, 0, grad.hidden_weight);
    add(out, "grad_hidden_bias", {hidden}, 0, grad.hidden_bias);
    add(out, "grad_output_weight", {heads, hidden}, static_cast<std::size_t>(h) * hidden,
        grad.output_weight);
    add(out, "grad_output_bias", {heads}, h, grad.output_bias);
    add(out, "grad_c", {1}, 0, grad.c);
    add(out, "grad_L", {1}, 0, grad.L);
  }
};

/// From the layer's input on: x [batch, keys, width], w_f [heads, width], b_f [heads]. The gradient
/// of x is that through the gates alone.
struct FoxMethod {
  static constexpr const char* name = "fox";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {"width"}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    const AttentionShape& s = p.shape;
    const int width = whole_option(p, "width");
    return {{"x", {s.batch, s.keys, width}}, {"w_f", {s.heads, width}}, {"b_f", {s.heads}}};
  }
  template <Real R>
  static Matrix<R> layer_input(const MethodInputs<R>& in, int b) {
    const int keys = in.shape().keys;
    return in.matrix("x", b * keys, keys, in.whole_option("width"));
  }
  template <Real R>
  static Fox<R> bias(const MethodInputs<R>& in, int b, int h) {
    return {prefix_sum(log_forget_gates(
        layer_input(in, b), in.vector("w_f", h, in.whole_option("width")), in.number("b_f", h)))};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int b, int h, const CableNwGrad<R>& grad,
                       Tensors<R>& out) {
    const AttentionShape& s = in.shape();
    const int width = in.whole_option("width");
    const auto by_gates =
        log_forget_gates_grad(layer_input(in, b), in.vector("w_f", h, width), in.number("b_f", h),
                              prefix_sum_grad(grad.prefix_sum));
    add(out, "grad_x", {s.batch, s.keys, width}, static_cast<std::size_t>(b) * s.keys * width,
        by_gates.x);
    add(out, "grad_w_f", {s.heads, width}, static_cast<std::size_t>(h) * width, by_gates.w);
    add(out, "grad_b_f", {s.heads}, h, by_gates.b);
  }
};

}  // namespace plumbline::reference::methods
