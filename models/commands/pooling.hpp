// SPDX-License-Identifier: Apache-2.0
// --pooling, which contrastive training and retrieval have.
#pragma once

#include <string>

#include "ops/pooling.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cli {

/// mean | cls. @throws BadInput for another name.
inline gpu::Pooling pooling_from(const std::string& name) {
  if (name == "mean") return gpu::Pooling::mean;
  if (name == "cls") return gpu::Pooling::cls;
  throw BadInput("--pooling", in_quotes(name), "mean or cls");
}

}  // namespace plumbline::cli
