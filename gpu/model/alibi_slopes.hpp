// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace plumbline::gpu {

/// e with slope_h = 2^-e_h for every head, from the steepest on. Official (Press et al.,
/// arXiv:2108.12409, published code): for H = 2^a, 8 (h + 1) / H; otherwise those of the power of
/// two P below, then every second one of 2P's, from its first on. Geometric: 8 (h + 1) / H for
/// every H, as in the article. Shape [heads]. Domain: heads >= 1.
std::vector<double> alibi_exponents(int heads, bool geometric);

}  // namespace plumbline::gpu
