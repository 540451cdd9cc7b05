// SPDX-License-Identifier: Apache-2.0
// What all layers of a model share: the stream, the flat buffers, and room to work in.
#ifndef PLUMBLINE_GPU_MODEL_STEP_CUH
#define PLUMBLINE_GPU_MODEL_STEP_CUH

#include <string>
#include <type_traits>

#include "core/device_buffer.cuh"
#include "core/fill_zero.cuh"
#include "model/arena.cuh"
#include "model/parameters.hpp"
#include "ops/cast.cuh"
#include "ops/dropout.cuh"
#include "ops/linear.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// batch x length tokens, and what attention must not see of them; in device memory. Ids and types
/// are in their tables: who uploads them has looked.
struct Tokens {
  int batch = 0, length = 0;
  const int* ids = nullptr;        ///< [batch, length]
  const int* types = nullptr;      ///< [batch, length], BERT; else null
  const int* lengths = nullptr;    ///< [batch]: tokens before padding; or null
  const int* documents = nullptr;  ///< [batch, length]: keys of other documents are hidden; or null
  int position_offset = 0;         ///< of the first token, for positions in the embeddings

  int rows() const { return batch * length; }
  bool operator==(const Tokens&) const = default;
};

/// Element is float (fp32 and tf32), bfloat16 or float16.
template <class Element>
class Step {
 public:
  static constexpr bool has_copies = !std::is_same_v<Element, float>;

  /// A step that does not `train` has no gradients.
  Step(const Stream& stream_of_all, const ModelConfiguration& c, int batch, int length,
       bool trains = true)
      : stream(stream_of_all),
        configuration(c),
        layout(c),
        max_batch(batch),
        max_length(length),
        linear(stream),
        master(stream, layout.size()),
        gradients(stream, trains ? layout.size() : 0),
        copies(stream, has_copies ? layout.size() : 0),
        dropout_draw(stream, 1) {
    fill_zero(stream, master.data(), master.size());
    if (trains) fill_zero(stream, gradients.data(), gradients.size());
  }

  /// A parameter in fp32, its gradient, and the parameter as a linear layer reads it.
  const float* value(const std::string& name) const { return master.data() + layout[name].offset; }
  float* gradient(const std::string& name) const {
    return gradients.size() > 0 ? gradients.data() + layout[name].offset : nullptr;
  }
  const Element* operand(const std::string& name) const {
    if constexpr (has_copies)
      return copies.data() + layout[name].offset;
    else
      return value(name);
  }

  /// Casts the master weights, after they changed.
  void refresh_copies() {
    if constexpr (has_copies) cast(stream, master.data(), copies.data(), master.size());
  }

  std::size_t max_rows() const { return static_cast<std::size_t>(max_batch) * max_length; }

  const Stream& stream;
  const ModelConfiguration configuration;
  const ParameterLayout layout;
  const int max_batch, max_length;
  Linear linear;
  DeviceBuffer<float> master, gradients;
  DeviceBuffer<Element> copies;  ///< of the master weights; of no size for float
  std::uint64_t dropout_seed = 0;
  DeviceBuffer<std::uint64_t> dropout_draw;  ///< of the step's first place in the model
  bool drops = false;  ///< whether dropout is at work: not when a model is evaluated
};

}  // namespace plumbline::gpu

#endif
