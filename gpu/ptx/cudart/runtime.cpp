// SPDX-License-Identifier: Apache-2.0
#include "ptx/cudart/runtime.hpp"

namespace plumbline::ptx::cudart {

using cuda::Error;

Error& last_error() {
  static thread_local Error error = Error::success;
  return error;
}

Error kept(Error error) {
  if (error != Error::success) last_error() = error;
  return error;
}

void make_current(cuda::Process& process) {
  process.initialised = process.runtime_uses_primary = true;
  auto& stack = process.stack();
  if (stack.empty()) stack.push_back(nullptr);
  if (!process.is_context(stack.back())) stack.back() = &process.primary();
}

}  // namespace plumbline::ptx::cudart
