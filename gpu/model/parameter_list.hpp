// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/parameters.hpp"

namespace plumbline::gpu {

/// Every parameter of a valid configuration, in the order of docs/models.md's models, without
/// places. A parameter that two layers share (the tied head) stands once, under its first name.
std::vector<Parameter> parameter_list(const ModelConfiguration&);

/// Those of the position method and of SSMax in one layer; `attention` is attention_name's.
std::vector<Parameter> position_parameters(const ModelConfiguration&, const std::string& attention);

}  // namespace plumbline::gpu
