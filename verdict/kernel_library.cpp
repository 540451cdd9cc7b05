// SPDX-License-Identifier: Apache-2.0
#include "verdict/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.hpp"
#include "support/text.hpp"

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
  /// Whether it still holds these values. None of them is NaN (cases::validate).
  bool holds(const std::vector<float>& values) const {
    if (halves.empty()) return floats == values;
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (halves[n] != cases::to_bf16(values[n])) return false;
    }
    return true;
  }
  const std::vector<float>& floats;
  std::vector<std::uint16_t> halves;
};

template <class T>
const T* pointer_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

/// The first input that the kernel wrote to, or nullptr.
const char* changed_input(const cases::Case& original, const cases::Case& given, const Stored& q,
                          const Stored& k, const Stored& v) {
  if (!q.holds(original.q)) return "q";
  if (!k.holds(original.k)) return "k";
  if (!v.holds(original.v)) return "v";
  if (given.slopes != original.slopes) return "slopes";
  if (given.increments != original.increments) return "increments";
  if (given.gain != original.gain) return "gain";
  if (given.theta_alpha != original.theta_alpha) return "theta_alpha";
  if (given.theta_beta != original.theta_beta) return "theta_beta";
  if (given.theta_mu != original.theta_mu) return "theta_mu";
  if (given.ssmax_scale != original.ssmax_scale) return "ssmax_scale";
  if (given.lengths != original.lengths) return "lengths";
  if (given.documents != original.documents) return "documents";
  return nullptr;
}

/// What the library says of itself must be there before anything points to it.
void validate_library(const plumbline_library& library, const std::string& path) {
  const auto require = [&](bool good, const char* field, const char* value, const char* expected) {
    if (!good) throw BadInput(path + ": " + field, value, expected);
  };
  require(library.name != nullptr, "name", "null", "a text");
  require(library.device != nullptr, "device", "null", "a text");
  require(library.kernel_count >= 1 && library.kernel_count <= 1000, "kernel_count",
          std::to_string(library.kernel_count).c_str(), "from 1 to 1000");
  require(library.kernels != nullptr, "kernels", "null", "an array of kernel_count kernels");
  for (int n = 0; n < library.kernel_count; ++n) {
    const plumbline_kernel& kernel = library.kernels[n];
    const std::string at = "kernel " + std::to_string(n);
    require(kernel.name != nullptr, (at + ": name").c_str(), "null", "a text");
    const std::string name = kernel.name;
    const bool plain = !name.empty() &&
                       name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
    require(plain, (at + ": name").c_str(), in_quotes(name).c_str(), "letters a-z, digits and _");
    require(kernel.supports != nullptr, (name + ": supports").c_str(), "null", "a function");
    require(kernel.forward != nullptr, (name + ": forward").c_str(), "null", "a function");
    try {
      validate(kernel.contract);
    } catch (const BadInput& error) {
      throw BadInput(path + ": " + name, error);
    }
  }
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
  // The kernel gets a copy of its own: what it does to its inputs must not reach the oracle.
  const cases::Case given = the_case;
  const Stored q(given.q, spec.format), k(given.k, spec.format), v(given.v, spec.format);
  problem.q = q.data();
  problem.k = k.data();
  problem.v = v.data();
  problem.slopes = pointer_or_null(given.slopes);
  problem.increments = pointer_or_null(given.increments);
  problem.gain = pointer_or_null(given.gain);
  problem.theta_alpha = pointer_or_null(given.theta_alpha);
  problem.theta_beta = pointer_or_null(given.theta_beta);
  problem.theta_mu = pointer_or_null(given.theta_mu);
  problem.ssmax_scale = pointer_or_null(given.ssmax_scale);
  problem.lengths = pointer_or_null(given.lengths);
  problem.documents = pointer_or_null(given.documents);

  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  const std::size_t elements = rows * spec.head_dim;
  const std::size_t element_bytes = spec.format == Format::fp32 ? 4 : 2;
  GuardedBuffer o(elements * element_bytes), lse(rows * sizeof(float));
  problem.o = o.data();
  problem.lse = static_cast<float*>(lse.data());

  KernelRun result;
  char message[512] = "";
  int status = 0;
  try {
    status = kernel_->forward(&problem, message, sizeof message);
  } catch (const std::exception& error) {
    // Copied here: the exception's code may lie in the library, which may be unloaded on the way
    // out.
    result.failure = std::string("the kernel threw an exception: ") + error.what();
    return result;
  } catch (...) {
    result.failure = "the kernel threw an exception";
    return result;
  }
  message[sizeof message - 1] = '\0';
  result.device_lost = status == PLUMBLINE_DEVICE_LOST;
  if (status != 0) {
    result.failure = fmt::format("the kernel returned {}: {}", status, message);
    return result;
  }
  if (const char* input = changed_input(the_case, given, q, k, v)) {
    result.failure = fmt::format("the kernel changed its input {}", input);
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
  // Never unloaded: a device context or a thread of the library may outlive the last kernel.
  // Absolute: dlopen searches the system's folders for a name without a slash.
  void* handle =
      dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
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
                       " cannot run on this machine: it finds no device that it can use");
  }
  if (library->abi_version != PLUMBLINE_ABI_VERSION) {
    throw BadInput(path.string() + ": abi_version", std::to_string(library->abi_version),
                   std::to_string(PLUMBLINE_ABI_VERSION));
  }
  validate_library(*library, path.string());
  KernelLibrary result{library->name, library->device, {}};
  for (int n = 0; n < library->kernel_count; ++n) {
    const plumbline_kernel& kernel = library->kernels[n];
    result.kernels.emplace_back(keep, kernel);
  }
  return result;
}

}  // namespace plumbline::verdict
