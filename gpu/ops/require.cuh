// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_REQUIRE_CUH
#define PLUMBLINE_GPU_OPS_REQUIRE_CUH

#include <sstream>
#include <stdexcept>

namespace plumbline::gpu {

/// Throws std::invalid_argument "NAME is VALUE, must be EXPECTED" unless `holds`.
template <class T>
void require(bool holds, const char* name, const T& value, const char* expected) {
  if (holds) return;
  std::ostringstream message;
  message << name << " is " << value << ", must be " << expected;
  throw std::invalid_argument(message.str());
}

}  // namespace plumbline::gpu

#endif
