// SPDX-License-Identifier: Apache-2.0
// What the built-in kernels make of a position method of the oracle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/builtin_kernels.hpp"
#include "golden/golden.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::cli {

/// The built-in kernels of one backend.
struct Backend {
  verdict::KernelLibrary attention;
  EmbeddingKernels embedding;
};

/// Those that can run here.
std::vector<Backend> available_backends();

/// A short check of one pass of all kernels under the method; none where no kernel computes it.
/// - A bias or rotation of the kernels' interface: random cases under it.
/// - alibi_geometric: alibi, given those slopes, for 3, 6 and 12 heads, where they are not the
///   official ones.
/// - local_rope, local_rope_keys: rope_interleaved under the mask that the oracle's method has.
/// - sinusoidal, sinusoidal_own_frequency, learnable: check_embedding, and attention under nope.
/// Every kernel that offers the method is checked in one of its formats.
std::optional<golden::FileResult> check_kernels(cases::Pass pass, const std::string& method,
                                                const std::vector<Backend>& backends);

}  // namespace plumbline::cli
