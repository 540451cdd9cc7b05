// SPDX-License-Identifier: Apache-2.0
// What not all of verify's cases have: faults of it are tried in cases that do.
#pragma once

#include <cstdint>

#include "verdict/cases/spec.hpp"

namespace plumbline::bench {

enum class Feature {
  none,
  softcap,       ///< of the scaled product
  sinks,         ///< in half of the backward cases a gradient through lse, too
  lone_sinks,    ///< the same of sequences that end before the last key, all backward cases
  more_queries,  ///< than keys; not in decoding
  mask_tensor,
  sink_tokens,  ///< a mask tensor of a window and the first keys
  value_dim,  ///< values of another width than keys; not in the backward pass also a part of them;
              ///< in half of the small cases the widths of latent attention
  lse_gradient,  ///< backward alone
  dropout,       ///< not in decoding
  partial_rope,  ///< with RoPE alone
  lengths,       ///< sequences that end before the last key
  cache,         ///< of 8 bits, of heads' scales or of keys'; decoding of other formats alone
  strides,       ///< rows that do not lie one after the other
  packed         ///< sequences; forward and backward, of biases without numbers for each token
};

/// The spec with the feature, drawn from `seed`. With CoPE and DAPE, of which verify draws none of
/// them but lengths, the spec as it is.
cases::Spec with_feature(cases::Spec spec, Feature feature, std::uint64_t seed);

/// The same with each of them by chance.
cases::Spec with_some_features(cases::Spec spec, std::uint64_t seed);

}  // namespace plumbline::bench
