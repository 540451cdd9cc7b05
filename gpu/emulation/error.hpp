// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_EMULATION_ERROR_HPP
#define PLUMBLINE_GPU_EMULATION_ERROR_HPP

#include <source_location>
#include <stdexcept>
#include <string>

namespace plumbline::emulation {

/// What a GPU would have answered with an error, a hang or silence. The message begins with the
/// file and line of the kernel or of its launch.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline std::string text(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

}  // namespace plumbline::emulation

#endif
