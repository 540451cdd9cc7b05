// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_HEAD_DIMS_CUH
#define PLUMBLINE_GPU_ATTENTION_HEAD_DIMS_CUH

#include <string>
#include <utility>

// A build may have fewer, to be quick: planted faults are compiled for one.
#ifndef PLUMBLINE_HEAD_DIMS
#ifdef PLUMBLINE_THIRD_HEAD_DIM  // three of them: nvcc's options take no commas
#define PLUMBLINE_HEAD_DIMS 32, 64, PLUMBLINE_THIRD_HEAD_DIM
#else
#define PLUMBLINE_HEAD_DIMS 32, 48, 64, 80, 96, 128
#endif
#endif

namespace plumbline::gpu {

/// The head dimensions that kernels are compiled for.
using HeadDims = std::integer_sequence<int, PLUMBLINE_HEAD_DIMS>;

/// Calls use.template operator()<D>() for D = head_dim; false where that is none of HeadDims.
template <class Use, int... D>
bool with_head_dim(int head_dim, const Use& use, std::integer_sequence<int, D...>) {
  return ((head_dim == D && (use.template operator()<D>(), true)) || ...);
}

template <class Use>
bool with_head_dim(int head_dim, const Use& use) {
  return with_head_dim(head_dim, use, HeadDims{});
}

template <int... D>
bool is_among(int head_dim, std::integer_sequence<int, D...>) {
  return ((head_dim == D) || ...);
}

/// "32, 48, ..."
template <int... D>
std::string list_of(std::integer_sequence<int, D...>) {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + std::to_string(D)), ...);
  return text;
}

}  // namespace plumbline::gpu

#endif
