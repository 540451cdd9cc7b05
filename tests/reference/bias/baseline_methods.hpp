// SPDX-License-Identifier: Apache-2.0
// The papers' baselines with parameters, made from a flat vector: the second half of the methods of
// bias_readings.hpp.
#pragma once

#include "reference/bias/all.hpp"
#include "tests/reference/bias/positions.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

namespace plumbline::reference {

/// A form of bias/of_heads.hpp without options, its numbers in [0.3, 1.7).
template <template <class> class Form>
struct OfHeadsMethod {
  static constexpr const char* name = Form<double>::name;
  static std::vector<double> parameters(Numbers& numbers, const Positions&) {
    return numbers.between(0.3, 1.7, static_cast<int>(Form<double>::parameters.size()));
  }
  template <Real R>
  static Form<R> read(Reader<R>& reader, const Positions&) {
    return bias_of_head<Form, R>([&](const char*) { return reader.number(); },
                                 [](const char*) { return R(0.0); });
  }
  template <Real R>
  static void write(Writer<R>& writer, const typename Form<R>::Grad& grad) {
    each_of_head<Form, R>(grad, [&](const char*, const R& by) { writer.number(by); });
  }
};

using KerpleLogMethod = OfHeadsMethod<KerpleLog>;
using KerplePowerMethod = OfHeadsMethod<KerplePower>;

/// A table in [-1, 1), small enough that 4 positions reach its last row.
template <class Row, int... size>
struct TableMethod {
  static constexpr const char* name = "t5";
  static Row row() { return Row(size...); }
  static std::vector<double> parameters(Numbers& numbers, const Positions&) {
    return numbers.between(-1, 1, row().rows());
  }
  template <Real R>
  static RelativeTable<R, Row> read(Reader<R>& reader, const Positions&) {
    return {reader.vector(row().rows()), row()};
  }
  template <Real R>
  static void write(Writer<R>& writer, const RelativeTableGrad<R>& grad) {
    writer.vector(grad.table);
  }
};

using T5CausalMethod = TableMethod<T5Buckets, 3, 2, false>;
using T5BidirectionalMethod = TableMethod<T5Buckets, 6, 2, true>;
using T5ClippedMethod = TableMethod<ClippedDistance, 2>;
using T5ClippedOffsetMethod = TableMethod<ClippedOffset, 2>;

/// Three hidden units, all numbers in [-1, 1), but c in [0.1, 1.1) and L L0 in [0.9, 2.7): queries
/// stand on both sides of it.
struct FireMethod {
  static constexpr const char* name = "fire";
  static constexpr int width = 3;
  static std::vector<double> parameters(Numbers& numbers, const Positions&) {
    std::vector<double> x = numbers.between(-1, 1, 3 * width + 1);
    x.push_back(numbers.between(0.1, 1.1));
    x.push_back(numbers.between(0.3, 0.9));
    return x;
  }
  template <Real R>
  static Fire<R> read(Reader<R>& reader, const Positions&) {
    FireParameters<R> x;
    x.hidden_weight = reader.vector(width);
    x.hidden_bias = reader.vector(width);
    x.output_weight = reader.vector(width);
    x.output_bias = reader.number();
    x.c = reader.number();
    x.L = reader.number();
    return {x, R(3.0)};
  }
  template <Real R>
  static void write(Writer<R>& writer, const FireParameters<R>& grad) {
    writer.vector(grad.hidden_weight);
    writer.vector(grad.hidden_bias);
    writer.vector(grad.output_weight);
    writer.number(grad.output_bias);
    writer.number(grad.c);
    writer.number(grad.L);
  }
};

}  // namespace plumbline::reference
