// SPDX-License-Identifier: Apache-2.0
#include "verdict/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.hpp"

namespace plumbline::verdict {
namespace {

using cases::Format;

/// What the guards around an output hold: no value a kernel would write by chance.
constexpr std::uint8_t canary = 0xA5;
constexpr std::size_t guard_bytes = 4096;

/// An output buffer of `bytes` bytes, all NaN in fp32 and in bf16, between two guards.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes)
      : bytes_(bytes), memory_(bytes + 2 * guard_bytes, canary) {
    std::fill_n(memory_.begin() + guard_bytes, bytes, std::uint8_t{0xFF});
  }
  void* data() { return memory_.data() + guard_bytes; }
  /// Offset of the first changed guard byte relative to the buffer's start, or nothing.
  std::optional<std::ptrdiff_t> damage() const {
    for (std::size_t n = 0; n < memory_.size(); ++n) {
      const bool guard = n < guard_bytes || n >= guard_bytes + bytes_;
      if (guard && memory_[n] != canary) {
        return static_cast<std::ptrdiff_t>(n) - static_cast<std::ptrdiff_t>(guard_bytes);
      }
    }
    return std::nullopt;
  }

 private:
  std::size_t bytes_;
  std::vector<std::uint8_t> memory_;
};

/// The numbers as the kernel reads them: floats, or their bf16 bits.
struct Stored {
  Stored(const std::vector<float>& values, Format format) : floats(values) {
    if (format == Format::bf16) {
      for (float value : values) halves.push_back(cases::to_bf16(value));
    }
  }
  const void* data() const {
    return halves.empty() ? static_cast<const void*>(floats.data()) : halves.data();
  }
  const std::vector<float>& floats;
  std::vector<std::uint16_t> halves;
};

template <class T>
const T* pointer_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

plumbline_forward shape_of(const cases::Spec& spec) {
  plumbline_forward problem{};
  problem.struct_size = sizeof(plumbline_forward);
  problem.batch = spec.batch;
  problem.heads = spec.heads;
  problem.kv_heads = spec.kv_heads;
  problem.queries = spec.queries;
  problem.keys = spec.keys;
  problem.head_dim = spec.head_dim;
  problem.query_offset = spec.query_offset;
  problem.format = static_cast<std::int32_t>(spec.format);
  problem.bias = static_cast<std::int32_t>(spec.bias);
  problem.causal = spec.mask.causal;
  problem.window = spec.mask.window.value_or(-1);
  return problem;
}

}  // namespace

Kernel::Kernel(std::shared_ptr<void> library, const plumbline_kernel& kernel)
    : library_(std::move(library)), kernel_(&kernel), name_(kernel.name) {}

bool Kernel::supports(const cases::Spec& spec) const {
  const plumbline_forward problem = shape_of(spec);
  return kernel_->supports(&problem) != 0;
}

KernelRun Kernel::run(const cases::Case& the_case) const {
  const auto& spec = the_case.spec;
  plumbline_forward problem = shape_of(spec);
  problem.scale = the_case.scale;
  problem.epsilon = the_case.epsilon;
  const Stored q(the_case.q, spec.format), k(the_case.k, spec.format), v(the_case.v, spec.format);
  problem.q = q.data();
  problem.k = k.data();
  problem.v = v.data();
  problem.slopes = pointer_or_null(the_case.slopes);
  problem.increments = pointer_or_null(the_case.increments);
  problem.gain = pointer_or_null(the_case.gain);
  problem.theta_alpha = pointer_or_null(the_case.theta_alpha);
  problem.theta_beta = pointer_or_null(the_case.theta_beta);
  problem.theta_mu = pointer_or_null(the_case.theta_mu);
  problem.ssmax_scale = pointer_or_null(the_case.ssmax_scale);
  problem.lengths = pointer_or_null(the_case.lengths);
  problem.documents = pointer_or_null(the_case.documents);

  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  const std::size_t elements = rows * spec.head_dim;
  const std::size_t element_bytes = spec.format == Format::fp32 ? 4 : 2;
  GuardedBuffer o(elements * element_bytes), lse(rows * sizeof(float));
  problem.o = o.data();
  problem.lse = static_cast<float*>(lse.data());

  KernelRun result;
  char message[512] = "";
  const int status = kernel_->forward(&problem, message, sizeof message);
  message[sizeof message - 1] = '\0';
  if (status != 0) {
    result.failure = fmt::format("the kernel returned {}: {}", status, message);
    return result;
  }
  for (const auto& [buffer, output] : {std::pair(&o, "o"), std::pair(&lse, "lse")}) {
    if (const auto damage = buffer->damage()) {
      result.failure = fmt::format("the kernel wrote outside {}: first at byte {} from its start",
                                   output, *damage);
      return result;
    }
  }
  const auto* lse_values = static_cast<const float*>(lse.data());
  result.outputs.lse.assign(lse_values, lse_values + rows);
  if (spec.format == Format::fp32) {
    const auto* values = static_cast<const float*>(o.data());
    result.outputs.o.assign(values, values + elements);
  } else {
    const auto* bits = static_cast<const std::uint16_t*>(o.data());
    result.outputs.o.resize(elements);
    std::transform(bits, bits + elements, result.outputs.o.begin(), cases::from_bf16);
  }
  return result;
}

KernelLibrary load_kernel_library(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw BadInput("--kernel", "'" + path.string() + "'", "the path of a shared library");
  }
  // Absolute: dlopen searches the system's folders for a name without a slash.
  void* handle = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw BadInput("--kernel", "'" + path.string() + "'",
                   fmt::format("a loadable shared library (the loader says: {})", dlerror()));
  }
  std::shared_ptr<void> keep(handle, [](void* library) { dlclose(library); });
  const auto entry = reinterpret_cast<decltype(&plumbline_kernel_library)>(
      dlsym(handle, "plumbline_kernel_library"));
  if (entry == nullptr) {
    throw BadInput("--kernel", "'" + path.string() + "'",
                   "a library that exports plumbline_kernel_library (plumbline_kernel.h)");
  }
  const plumbline_library* library = entry();
  if (library == nullptr) {
    throw MachineLacks(path.filename().string() +
                       " cannot run on this machine: it finds no device");
  }
  if (library->abi_version != PLUMBLINE_ABI_VERSION) {
    throw BadInput(path.string() + ": abi_version", std::to_string(library->abi_version),
                   std::to_string(PLUMBLINE_ABI_VERSION));
  }
  KernelLibrary result{library->name, library->device, {}};
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    validate(kernel.contract);
    result.kernels.emplace_back(keep, kernel);
  }
  return result;
}

}  // namespace plumbline::verdict
