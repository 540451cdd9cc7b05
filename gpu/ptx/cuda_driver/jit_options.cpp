// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda_driver/jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ptx/cuda/errors.hpp"

namespace plumbline::ptx::cuda_driver {
namespace {

enum Option : int {
  info_log = 3,
  info_log_bytes = 4,
  error_log = 5,
  error_log_bytes = 6,
  symbol_names = 17,
  symbol_addresses = 18,
  symbol_count = 19,
  option_count = 35
};

}  // namespace

JitOptions::JitOptions(unsigned count, const int* options, void** values)
    : count_(count), options_(options), values_(values) {
  cuda::expect(count == 0 || (options != nullptr && values != nullptr));
  for (unsigned n = 0; n < count; ++n) {
    cuda::expect(options[n] >= 0 && options[n] < option_count);
    if (options[n] >= symbol_names && options[n] <= symbol_count) {
      throw Refused(Refused::Reason::not_supported,
                    "CU_JIT_GLOBAL_SYMBOL_NAMES: an option that this device lacks");
    }
  }
}

void** JitOptions::value_of(int option) const {
  for (unsigned n = 0; n < count_; ++n) {
    if (options_[n] == option) return &values_[n];
  }
  return nullptr;
}

void JitOptions::fill(int buffer, int size, const std::string& text) const {
  void **into = value_of(buffer), **room = value_of(size);
  if (into == nullptr || *into == nullptr || room == nullptr) return;
  // An unsigned number in the pointer's place. CUDA writes there how many bytes it has used.
  const std::size_t most = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*room));
  if (most == 0) return;
  const std::size_t used = std::min(text.size(), most - 1);
  std::memcpy(*into, text.data(), used);
  static_cast<char*>(*into)[used] = '\0';
  *room = reinterpret_cast<void*>(text.empty() ? 0 : used + 1);
}

void JitOptions::tell(const std::string& error) const {
  fill(info_log, info_log_bytes, "");
  fill(error_log, error_log_bytes, error);
}

cuda::Module& load_image(cuda::Process& process, const void* image, const cuda::Context* context,
                         const JitOptions& options) {
  process.streams.expect_no_capture();
  try {
    cuda::Module& module = process.modules.load_image(image, context);
    options.tell("");
    return module;
  } catch (const std::runtime_error& error) {
    options.tell(error.what());
    throw;
  }
}

}  // namespace plumbline::ptx::cuda_driver
