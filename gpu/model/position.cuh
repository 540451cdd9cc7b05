// SPDX-License-Identifier: Apache-2.0
// The position method in the attention layers of a model: what a layer learns for it, and how that
// reaches the attention kernels. Learnable and sinusoidal positions are added to the embeddings and
// are not here.
#ifndef PLUMBLINE_GPU_MODEL_POSITION_CUH
#define PLUMBLINE_GPU_MODEL_POSITION_CUH

#include <optional>
#include <vector>

#include "core/device_buffer.cuh"
#include "methods.hpp"
#include "model/parameters.hpp"
#include "ops/head_gate.cuh"
#include "ops/row_products.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// One thing that a method's kernels read. Without a gate it is a learned parameter itself; with
/// one it is computed from the layer's input by a learned linear map, NAME.weight and NAME.bias.
struct PositionInput {
  const char* name;  ///< in the layer's parameters, after ".position."
  plumbline_parameter parameter;
  std::optional<HeadGate> gate = {};
};

/// Those of a bias. Constants, as ALiBi's slopes are, are no inputs.
/// @throws std::invalid_argument for a bias that no attention layer has.
std::vector<PositionInput> position_inputs(methods::Bias bias);

/// What the layers of a model share: the method's constants, and room for one backward pass.
class PositionWorkspace {
 public:
  /// Allocates, for at most batch x length tokens. The configuration must be valid.
  PositionWorkspace(const Stream& stream, const ModelConfiguration& configuration, int batch,
                    int length);

  /// Into problem.parameters.
  void give_constants(plumbline_problem& problem) const;
  std::size_t numbers() const { return values_; }  ///< batch x heads x length
  /// For the gradients of gate number `gate` of the method.
  float* gradient(int gate) const { return gradients_.data() + gate * values_; }
  float* workspace() const { return workspace_.data(); }

 private:
  std::size_t values_;
  std::vector<plumbline_parameter> constants_;
  int heads_;
  DeviceBuffer<float> constant_numbers_, gradients_, workspace_;  // the first [constants, heads]
};

/// The method, and SSMax's scale, in one layer. Element is that of the layer's input, float,
/// bfloat16 or float16; parameters and gates are fp32.
template <class Element>
class LayerPosition {
 public:
  /// Floats of memory in which a layer keeps its gates from the forward to the backward pass.
  static std::size_t activations(const ModelConfiguration& configuration, int batch, int length);

  /// `values` and `gradients` are flat buffers of the layout, `activations` as many floats as said
  /// above; all in device memory, and not read here. Everything given must outlive the object.
  LayerPosition(const Stream& stream, const ModelConfiguration& configuration,
                const ParameterLayout& layout, int layer, const float* values, float* gradients,
                float* activations, const PositionWorkspace& workspace);

  /// Computes the gates of x [batch, length, width] and puts everything that the method reads into
  /// problem.parameters. At most as many tokens as there is room for.
  void forward(int batch, int length, const Element* x, plumbline_problem& problem) const;

  /// What `forward` does for one token, in two parts: the maps of its row that are the gates, and
  /// what the method reads when they are computed.
  std::vector<RowMap> gate_maps() const;
  void give(plumbline_problem& problem) const;

  /// The same without computing, after forward; and where the gradients go, as Attention::backward
  /// takes them with Gradient::accumulate.
  void prepare_backward(plumbline_problem& problem, plumbline_gradients& gradients) const;

  /// After Attention::backward: adds the gradients of the linear maps to the flat buffer, and what
  /// comes through the gates to grad_x [batch, length, width].
  void backward(int batch, int length, const Element* x, Element* grad_x) const;

 private:
  struct Given {
    plumbline_parameter parameter;
    const float* value;
    float* gradient;  // null: not trained
  };
  struct Gate {
    plumbline_parameter parameter;
    HeadGate gate;
    const float *weight, *bias;
    float *grad_weight, *grad_bias;
    float *values, *grad_values;  // [batch, heads, length]
  };

  HeadGateShape shape(int batch, int length) const { return {batch, length, width_, heads_}; }

  const Stream& stream_;
  const PositionWorkspace& workspace_;
  int width_, heads_;
  std::vector<Given> given_;
  std::vector<Gate> gates_;
};

}  // namespace plumbline::gpu

#endif
