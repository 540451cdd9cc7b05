// SPDX-License-Identifier: Apache-2.0
// Where a model's parameters lie: all of them in one flat buffer, and their gradients, the
// optimizer's moments and the casts for bf16 at the same places of other buffers. A function of the
// configuration alone. Host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/configuration.hpp"

namespace plumbline::gpu {

/// How a parameter begins (model/initial_values.hpp).
struct Start {
  enum class Kind {
    constant,         ///< every number is `value`
    normal,           ///< N(0, value^2)
    uniform,          ///< in (0, value), raised to the parameter's `least`
    log_alibi_slope,  ///< number h is the logarithm of ALiBi's official slope of head h
  };
  Kind kind = Kind::constant;
  double value = 0.0;
};

struct Parameter {
  std::string name;                 ///< Hugging Face's, as docs/models.md has them
  std::vector<std::int64_t> shape;  ///< row-major; weights are [out, in]
  Start start = {};
  bool trained = true;  ///< false: stays as it begins
  /// After every update the optimizer's result is clamped to [least, most].
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
  std::size_t offset = 0;  ///< of its first number in every flat buffer

  std::size_t size() const;
  /// Weight decay: matrices, tables and everything else of rank 2 or more.
  bool decays() const { return trained && shape.size() >= 2; }
};

/// Numbers [begin, end) of the flat buffers.
struct ParameterRange {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

/// The flat buffers: first what decays, then what does not, then what is not trained, each in the
/// order of `all`. Every parameter begins at a multiple of `alignment` numbers; those between are
/// padding, 0 in every buffer, which every step of an optimizer leaves 0.
class ParameterLayout {
 public:
  static constexpr std::size_t alignment = 64;

  /// @throws BadInput as validate does, and for a model of more than 2^40 numbers.
  explicit ParameterLayout(const ModelConfiguration&);

  const std::vector<Parameter>& all() const { return all_; }
  /// @throws std::logic_error if the model has no parameter of that name.
  const Parameter& operator[](std::string_view name) const;
  bool has(std::string_view name) const;

  std::size_t size() const { return not_trained_.end; }  ///< of a flat buffer, padding included
  std::size_t count() const;  ///< what the model learns, and its constants
  ParameterRange decaying() const { return decaying_; }
  ParameterRange not_decaying() const { return not_decaying_; }
  ParameterRange not_trained() const { return not_trained_; }

 private:
  std::vector<Parameter> all_;
  std::map<std::string, std::size_t, std::less<>> place_;  ///< name -> place in all_
  ParameterRange decaying_{}, not_decaying_{}, not_trained_{};
};

/// The name before ".position." and ".ssmax." of a layer's attention, such as
/// "transformer.h.0.attn".
std::string attention_name(Architecture, int layer);

}  // namespace plumbline::gpu
