// SPDX-License-Identifier: Apache-2.0
// The kernel libraries that come with the program: lib/ beside bin/, built or installed.
#pragma once

#include <string>

#include "kernel_abi/plumbline_embedding.h"
#include "verdict/process/kernel_library.hpp"

namespace plumbline::cli {

/// Whether the built-in kernels were built for "emulated" or "cuda".
bool has_backend(const std::string& backend);

/// Whether NVIDIA's driver is there, without which no kernel runs on a GPU. Asked before a library
/// of kernels is looked at that may be older than the program: what is loaded once stays loaded.
bool has_gpu_driver();

/// @throws MachineLacks if they were not built or find no device; BadInput if they cannot be used.
verdict::KernelLibrary load_backend(const std::string& backend);

/// What the library exports under this name. @throws as load_backend.
void* builtin_symbol(const std::string& backend, const char* name);

/// What they have beside attention: positions that are added to the embeddings.
struct EmbeddingKernels {
  decltype(&plumbline_embedding_forward) forward;
  decltype(&plumbline_embedding_backward) backward;
};
/// @throws as load_backend.
EmbeddingKernels load_embedding_kernels(const std::string& backend);

}  // namespace plumbline::cli
