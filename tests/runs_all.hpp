// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace plumbline::test {

/// Whether `./plumbline test --all` runs: what takes minutes, in full. Else a part of it.
inline bool runs_all() { return std::getenv("PLUMBLINE_TEST_ALL") != nullptr; }

}  // namespace plumbline::test
