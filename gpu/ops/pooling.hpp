// SPDX-License-Identifier: Apache-2.0
// Host code.
#pragma once

namespace plumbline::gpu {

/// Which tokens an embedding is the mean of: all before the padding, or the first, BERT's [CLS].
/// Source: Reimers, Gurevych, "Sentence-BERT", arXiv:1908.10084, section 3.
enum class Pooling { mean, cls };

}  // namespace plumbline::gpu
