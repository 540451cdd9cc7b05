// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "models/checkpoint/float_parameters.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::checkpoint {
namespace {

/// A parameter as it is written: rows of a matrix, one row for a vector.
template <class Number>
struct Rows {
  const Parameter<const Number>& parameter;
  bool transposed;  ///< a row of the file is a column in memory
  std::size_t count = 1, length = 1;

  Rows(const Parameter<const Number>& p, const Naming& naming)
      : parameter(p), transposed(naming.in_by_out.contains(pattern_of(p.name))) {
    length = static_cast<std::size_t>(p.shape.back());
    if (p.shape.size() == 2) count = static_cast<std::size_t>(p.shape.front());
    if (transposed) std::swap(count, length);
  }

  std::vector<std::int64_t> shape() const {
    std::vector<std::int64_t> shape = parameter.shape;
    if (transposed) std::reverse(shape.begin(), shape.end());
    return shape;
  }

  double at(std::size_t row, std::size_t n) const {
    return parameter.values[transposed ? n * count + row : row * length + n];
  }
};

template <class Stored, class Number>
void write_rows(SafetensorsWriter& writer, const Rows<Number>& rows) {
  std::vector<Stored> row(rows.length);
  for (std::size_t r = 0; r < rows.count; ++r) {
    for (std::size_t n = 0; n < rows.length; ++n) {
      const double value = rows.at(r, n);
      row[n] = static_cast<Stored>(value);
      if (std::isfinite(row[n])) continue;
      throw BadInput(fmt::format("tensor {}: element {}", in_quotes(rows.parameter.name, 200),
                                 r * rows.length + n),
                     fmt::format("{}", value),
                     fmt::format("a finite number of {} bits", 8 * sizeof(Stored)));
    }
    writer.write(std::as_bytes(std::span(row)));
  }
}

template <class Number>
void save_numbers(const std::filesystem::path& path, const Naming& naming,
                  const std::vector<Parameter<const Number>>& parameters, Dtype dtype,
                  const std::map<std::string, std::string>& metadata) {
  if (dtype != Dtype::f64 && dtype != Dtype::f32) {
    throw std::invalid_argument(fmt::format("dtype is {}; expected F64 or F32", name(dtype)));
  }
  std::vector<Rows<Number>> tensors;
  std::vector<TensorHeader> headers;
  for (const Parameter<const Number>& parameter : parameters) {
    const Rows<Number>& rows = tensors.emplace_back(parameter, naming);
    headers.push_back({parameter.name, dtype, rows.shape()});
  }
  SafetensorsWriter writer(path, headers, metadata);
  for (const Rows<Number>& rows : tensors) {
    dtype == Dtype::f64 ? write_rows<double>(writer, rows) : write_rows<float>(writer, rows);
  }
  writer.commit();
}

}  // namespace

void save_parameters(const std::filesystem::path& path, const Naming& naming,
                     const std::vector<Parameter<const double>>& parameters, Dtype dtype,
                     const std::map<std::string, std::string>& metadata) {
  save_numbers(path, naming, parameters, dtype, metadata);
}

void save_parameters(const std::filesystem::path& path, const Naming& naming,
                     const std::vector<Parameter<const float>>& parameters,
                     const std::map<std::string, std::string>& metadata) {
  save_numbers(path, naming, parameters, Dtype::f32, metadata);
}

}  // namespace plumbline::checkpoint
