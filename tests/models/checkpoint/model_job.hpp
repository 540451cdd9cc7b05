// SPDX-License-Identifier: Apache-2.0
// A model, a sequence and its targets as JSON, and what the models have in common in reading
// weights and writing gradients: pytorch_check.py asks for them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/checkpoint/load.hpp"
#include "models/checkpoint/save.hpp"
#include "reference/model/loss.hpp"
#include "reference/model/position_embedding.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/layer_position.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"

namespace plumbline::checkpoint {

struct Job {
  nlohmann::json fields;

  int size(const char* name) const { return fields.at(name).get<int>(); }
  std::string text(const char* name) const { return fields.at(name).get<std::string>(); }
  bool is(const char* name) const { return fields.at(name).get<bool>(); }
  std::vector<int> ids() const { return fields.at("ids").get<std::vector<int>>(); }

  reference::Targets targets() const {
    reference::Targets targets;
    for (const auto& target : fields.at("targets")) {
      targets.push_back(target.is_null() ? std::optional<int>() : target.get<int>());
    }
    return targets;
  }

  reference::EmbeddedPositions embedding() const {
    using enum reference::EmbeddedPositions;
    return std::map<std::string, reference::EmbeddedPositions>{
        {"none", none}, {"learnable", learnable}, {"sinusoidal", sinusoidal}}
        .at(text("embedding"));
  }

  /// The gradients under the parameters' names, and the logits and the loss beside them.
  template <class Model>
  void write(const Naming& naming, const Model& grad, const reference::Matrix<double>& logits,
             double loss) const {
    auto tensors = parameters_of(grad);
    tensors.push_back({"logits", {logits.rows(), logits.cols()}, logits.data()});
    tensors.push_back({"loss", {1}, &loss});
    save_parameters(text("output"), naming, tensors);
  }
};

/// Calls run(position) for the method of that name.
template <class Run>
void with_position(const std::string& name, const Run& run) {
  using namespace reference;
  if (name == "nope") return run(NopePosition());
  if (name == "alibi") return run(AlibiPosition());
  if (name == "cable") return run(CablePosition());
  if (name == "cable_nw") return run(CableNwPosition());
  if (name == "k_cable") return run(KCablePosition());
  if (name == "k_cable_nw") return run(KCableNwPosition());
  if (name == "fox") return run(FoxPosition());
  if (name == "ggd") return run(GgdPosition());
  if (name == "kerple_log") return run(KerpleLogPosition());
  if (name == "kerple_power") return run(KerplePowerPosition());
  if (name == "fire") return run(FirePosition());
  if (name == "t5") return run(t5_position(false));
  if (name == "rope") return run(RopePosition());
  RopePosition rope;
  if (name == "rope_half_split") {
    rope.pairs = RopePairs::half_split;
    return run(rope);
  }
  if (name == "rope_local") {
    rope.base = 500000;
    rope.window = 3;
    return run(rope);
  }
  throw std::invalid_argument("position is " + name);
}

}  // namespace plumbline::checkpoint
