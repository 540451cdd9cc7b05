// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "models/checkpoint/elements.hpp"
#include "models/checkpoint/float_parameters.hpp"
#include "support/error.hpp"
#include "support/mapped_file.hpp"
#include "support/text.hpp"

namespace plumbline::checkpoint {
namespace {

using Shape = std::vector<std::int64_t>;

struct Found {
  std::string shown;  ///< "tensor "name"", the name as it stands in the file
  TensorView tensor;
};

/// A tensor for every parameter, and how it lies in the file.
template <class Number>
struct Source {
  const Parameter<Number>* parameter;
  Found found;
  bool transposed;
};

std::string shown(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// The file's tensors under their full names.
std::map<std::string, Found> by_full_name(const SafetensorsView& file, const Naming& naming) {
  std::map<std::string, Found> tensors;
  for (const auto& [name, tensor] : file.tensors) {
    Found found{"tensor " + in_quotes(name, 200), tensor};
    const auto [place, added] = tensors.emplace(full_name(naming, name), found);
    if (!added) {
      throw BadInput(found.shown, "another name of " + place->second.shown, "one of the two");
    }
  }
  return tensors;
}

std::optional<Found> taken(std::map<std::string, Found>& tensors, const std::string& name) {
  const auto node = tensors.extract(name);
  if (node.empty()) return {};
  return node.mapped();
}

template <class Number>
Shape shape_in_file(const Parameter<Number>& parameter, bool transposed) {
  Shape shape = parameter.shape;
  if (transposed) std::reverse(shape.begin(), shape.end());
  return shape;
}

void require_numbers(const Found& found, const Shape& shape) {
  if (!is_floating_point(found.tensor.dtype)) {
    throw BadInput(found.shown + ": dtype", in_quotes(name(found.tensor.dtype)),
                   "F64, F32, BF16 or F16");
  }
  if (found.tensor.shape != shape) {
    throw BadInput(found.shown + ": shape", shown(found.tensor.shape), shown(shape));
  }
}

/// Calls use(begin, values) for the elements of a tensor, some thousands at a time.
template <class Use>
void for_each_piece(const TensorView& tensor, const Use& use) {
  constexpr std::size_t piece = 1 << 13;
  const std::size_t count = tensor.bytes.size() / size_of(tensor.dtype);
  std::vector<double> values(std::min(piece, count));
  for (std::size_t begin = 0; begin < count; begin += piece) {
    const std::span<double> part(values.data(), std::min(piece, count - begin));
    widen(tensor, begin, part);
    use(begin, part);
  }
}

/// Of a tensor that is to become Numbers.
template <class Number>
void require_finite(const Found& found) {
  for_each_piece(found.tensor, [&](std::size_t begin, std::span<const double> values) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (std::isfinite(static_cast<Number>(values[n]))) continue;
      throw BadInput(
          fmt::format("{}: element {}", found.shown, begin + n), fmt::format("{}", values[n]),
          std::is_same_v<Number, double> ? "a finite number" : "a finite number of 32 bits");
    }
  });
}

void require_equal(const Found& found, const Found& first) {
  for_each_piece(found.tensor, [&](std::size_t begin, std::span<const double> values) {
    std::vector<double> others(values.size());
    widen(first.tensor, begin, others);
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (values[n] == others[n]) continue;
      throw BadInput(
          fmt::format("{}: element {}", found.shown, begin + n), fmt::format("{}", values[n]),
          fmt::format("{} as in {}: the model has one parameter for both", others[n], first.shown));
    }
  });
}

/// Everything that could be wrong is found here, before any parameter is touched.
template <class Number>
std::vector<Source<Number>> checked(const SafetensorsView& file, const Naming& naming,
                                    const std::vector<Parameter<Number>>& parameters) {
  std::map<std::string, Found> tensors = by_full_name(file, naming);
  std::map<std::string, Source<Number>> sources;
  for (const Parameter<Number>& parameter : parameters) {
    const bool transposed = naming.in_by_out.contains(pattern_of(parameter.name));
    const Shape shape = shape_in_file(parameter, transposed);
    if (sources.contains(parameter.name)) {
      throw std::logic_error("two parameters have the name " + parameter.name);
    }
    const std::optional<Found> found = taken(tensors, parameter.name);
    if (!found) {
      throw BadInput("tensor " + in_quotes(parameter.name, 200), "missing",
                     "a tensor of that name and shape " + shown(shape));
    }
    require_numbers(*found, shape);
    require_finite<Number>(*found);
    sources.insert({parameter.name, {&parameter, *found, transposed}});
  }
  for (const auto& [second, first] : naming.tied) {
    const auto source = sources.find(first);
    if (source == sources.end()) continue;
    if (const std::optional<Found> found = taken(tensors, second)) {
      require_numbers(*found, source->second.found.tensor.shape);
      require_equal(*found, source->second.found);
    }
  }
  for (const auto& [full, found] : tensors) {
    if (naming.besides.contains(pattern_of(full))) continue;
    throw BadInput(found.shown, "unknown", "only parameters of " + naming.model + " as configured");
  }
  std::vector<Source<Number>> result;
  for (auto& [name, source] : sources) result.push_back(std::move(source));
  return result;
}

template <class Number>
void copy(const Source<Number>& source) {
  Number* values = source.parameter->values;
  const auto narrow = [](double value) { return static_cast<Number>(value); };
  if (!source.transposed) {
    for_each_piece(source.found.tensor, [&](std::size_t begin, std::span<const double> piece) {
      std::transform(piece.begin(), piece.end(), values + begin, narrow);
    });
    return;
  }
  const auto rows = static_cast<std::size_t>(source.parameter->shape.at(0));
  const auto columns = static_cast<std::size_t>(source.parameter->shape.at(1));
  std::vector<double> row_in_file(rows);
  for (std::size_t c = 0; c < columns; ++c) {
    widen(source.found.tensor, c * rows, row_in_file);
    for (std::size_t r = 0; r < rows; ++r) values[r * columns + c] = narrow(row_in_file[r]);
  }
}

template <class Number>
void load_numbers(const std::filesystem::path& path, const Naming& naming,
                  const std::vector<Parameter<Number>>& parameters) {
  const MappedFile file(path);
  try {
    const SafetensorsView view = parse_safetensors(file.bytes());
    for (const Source<Number>& source : checked(view, naming, parameters)) copy(source);
  } catch (const BadInput& error) {
    throw BadInput("file " + path_in_quotes(path), error);
  }
}

}  // namespace

void load_parameters(const std::filesystem::path& path, const Naming& naming,
                     const std::vector<Parameter<double>>& parameters) {
  load_numbers(path, naming, parameters);
}

void load_parameters(const std::filesystem::path& path, const Naming& naming,
                     const std::vector<Parameter<float>>& parameters) {
  load_numbers(path, naming, parameters);
}

}  // namespace plumbline::checkpoint
