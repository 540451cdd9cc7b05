// SPDX-License-Identifier: Apache-2.0
// What the fuzzer and the replay of its corpus do with one input.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>

#include "support/error.hpp"
#include "support/safetensors.hpp"
#include "verdict/cases/case_file.hpp"

namespace plumbline::cases {

/// The shape that the corpus's files of outputs have.
inline Case fuzzed_outputs_case() {
  Case c;
  Spec& spec = c.spec;
  spec.format = Format::bf16;
  spec.heads = 2;
  spec.kv_heads = 1;
  spec.queries = 3;
  spec.keys = 4;
  spec.head_dim = 2;
  return c;
}

/// Reads the bytes as a container, as a case and as outputs. BadInput is the right answer to bad
/// bytes; any other exception, a case that does not satisfy its own validation, or a view that
/// leaves the bytes is a finding.
inline void parse_everything(std::span<const std::byte> bytes) {
  try {
    const SafetensorsView view = parse_safetensors(bytes);
    for (const auto& [name, tensor] : view.tensors) {
      if (tensor.bytes.empty()) continue;
      const std::byte* end = tensor.bytes.data() + tensor.bytes.size();
      if (tensor.bytes.data() < bytes.data() || end > bytes.data() + bytes.size()) std::abort();
    }
  } catch (const BadInput&) {
    return;  // what is no container is neither of the other two
  }
  try {
    Case c = case_from_bytes(bytes, "fuzz");
    try {
      validate(c);
    } catch (const BadInput&) {
      std::abort();
    }
  } catch (const BadInput&) {
  }
  try {
    outputs_from_bytes(bytes, "fuzz", fuzzed_outputs_case());
  } catch (const BadInput&) {
  }
}

}  // namespace plumbline::cases
