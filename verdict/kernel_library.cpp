// SPDX-License-Identifier: Apache-2.0
#include "verdict/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "cases/bias_parameters.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cache.hpp"
#include "verdict/last_words.hpp"

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

std::size_t bytes_of(Format format) {
  return format == Format::bf16 || format == Format::fp16 ? 2 : 4;
}

/// The numbers as the kernel reads them: floats, or their bits in the format.
class Stored {
 public:
  Stored(const std::vector<float>& values, Format format) : floats_(values), format_(format) {
    if (bytes_of(format) == 4) return;
    for (const float value : values) halves_.push_back(half(value));
  }
  const void* data() const {
    if (floats_.empty()) return nullptr;
    return halves_.empty() ? static_cast<const void*>(floats_.data()) : halves_.data();
  }
  /// Whether it still holds these values.
  bool holds(const std::vector<float>& values) const {
    if (halves_.empty()) {  // bits, for a page may hold NaN
      return floats_.size() == values.size() &&
             std::memcmp(floats_.data(), values.data(), sizeof(float) * values.size()) == 0;
    }
    return std::equal(values.begin(), values.end(), halves_.begin(), halves_.end(),
                      [&](float value, std::uint16_t bits) { return bits == half(value); });
  }

 private:
  std::uint16_t half(float value) const {
    return format_ == Format::bf16 ? cases::to_bf16(value) : cases::to_fp16(value);
  }

  std::vector<float> floats_;
  Format format_;
  std::vector<std::uint16_t> halves_;
};

template <class T>
const T* pointer_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

/// The values of a buffer in the format, widened.
std::vector<float> widened(const void* data, std::size_t count, Format format) {
  if (bytes_of(format) == 4) {
    const auto* values = static_cast<const float*>(data);
    return {values, values + count};
  }
  const auto* bits = static_cast<const std::uint16_t*>(data);
  std::vector<float> values(count);
  std::transform(bits, bits + count, values.begin(),
                 format == Format::bf16 ? cases::from_bf16 : cases::from_fp16);
  return values;
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
    require(kernel.forward || kernel.backward || kernel.decode,
            (name + ": forward, backward and decode").c_str(), "null", "one function at least");
    require(!kernel.backward || kernel.forward, (name + ": forward").c_str(), "null",
            "a function: backward is given its o and lse");
  }
}

plumbline_problem shape_of(const cases::Spec& spec) {
  plumbline_problem problem{};
  problem.struct_size = sizeof(plumbline_problem);
  problem.batch = spec.batch;
  problem.heads = spec.heads;
  problem.kv_heads = spec.kv_heads;
  problem.queries = spec.queries;
  problem.keys = spec.keys;
  problem.head_dim = spec.head_dim;
  problem.query_offset = spec.query_offset;
  problem.format = static_cast<std::int32_t>(spec.format);
  problem.bias = static_cast<std::int32_t>(spec.bias);
  problem.ssmax = spec.ssmax;
  problem.causal = spec.mask.causal;
  problem.window = spec.mask.window.value_or(-1);
  problem.page_size = spec.page_size;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(spec.head_dim));
  const cases::Options options = cases::drawn_options(spec);
  std::copy(options.begin(), options.end(), problem.options);
  // Not to be read: they say that the problem has such a thing.
  static constexpr std::int32_t there = 0;
  if (spec.mask.ragged) problem.lengths = &there;
  if (spec.mask.documents) problem.documents = &there;
  if (spec.page_size > 0) problem.pages = &there;
  return problem;
}

/// What a kernel is given: copies of its own, since what it does to its inputs must not reach the
/// oracle, laid out as the pass has them.
class Given {
 public:
  explicit Given(const cases::Case& c)
      : original_(c),
        parameters_(c.parameters),
        lengths_(c.lengths),
        documents_(c.documents),
        cache_(c),
        q_(c.q, c.spec.format),
        k_(cache_.pages(c.k), c.spec.format),
        v_(cache_.pages(c.v), c.spec.format),
        grad_o_(c.grad_o, c.spec.format) {}

  plumbline_problem problem() const {
    plumbline_problem problem = shape_of(original_.spec);
    problem.scale = original_.scale;
    std::copy(original_.options.begin(), original_.options.end(), problem.options);
    problem.q = q_.data();
    problem.k = k_.data();
    problem.v = v_.data();
    for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
      problem.parameters[p] = pointer_or_null(parameters_[p]);
    }
    problem.lengths = pointer_or_null(lengths_);
    problem.documents = pointer_or_null(documents_);
    if (original_.spec.pass == cases::Pass::decode) {
      problem.pages = pointer_or_null(cache_.page_table());
      problem.prefix_sums = pointer_or_null(cache_.prefix_sums());
      problem.parameters[PLUMBLINE_INCREMENTS] = problem.parameters[PLUMBLINE_LOG_FORGET] = nullptr;
    }
    return problem;
  }
  const void* grad_o() const { return grad_o_.data(); }

  /// The first input that the kernel wrote to, or nullptr.
  const char* changed() const {
    const Cache fresh(original_);
    if (cache_.page_table() != fresh.page_table()) return "pages";
    if (cache_.prefix_sums() != fresh.prefix_sums()) return "prefix_sums";
    if (!q_.holds(original_.q)) return "q";
    if (!k_.holds(fresh.pages(original_.k))) return "k";
    if (!v_.holds(fresh.pages(original_.v))) return "v";
    if (!grad_o_.holds(original_.grad_o)) return "grad_o";
    for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
      if (parameters_[p] != original_.parameters[p]) {
        return cases::info(static_cast<plumbline_parameter>(p)).name;
      }
    }
    if (lengths_ != original_.lengths) return "lengths";
    if (documents_ != original_.documents) return "documents";
    return nullptr;
  }

 private:
  const cases::Case& original_;
  std::array<std::vector<float>, PLUMBLINE_PARAMETER_COUNT> parameters_;
  std::vector<std::int32_t> lengths_, documents_;
  Cache cache_;
  Stored q_, k_, v_, grad_o_;
};

/// Outputs of one pass: a guarded buffer each.
class Collected {
 public:
  /// Room for `count` numbers in the format; the pointer is the kernel's.
  void* add(std::string name, std::vector<float>& into, std::size_t count, Format format) {
    outputs_.push_back({std::move(name), &into, count, format,
                        std::make_unique<GuardedBuffer>(count * bytes_of(format))});
    return outputs_.back().buffer->data();
  }
  /// What the kernel did outside of its outputs, or an empty text.
  std::string damage() const {
    for (const auto& output : outputs_) {
      if (const auto damage = output.buffer->damage()) {
        return fmt::format("the kernel wrote outside {}: first at byte {} from its start",
                           output.name, *damage);
      }
    }
    return {};
  }
  void deliver() {
    for (auto& output : outputs_) {
      *output.into = widened(output.buffer->data(), output.count, output.format);
    }
  }

 private:
  struct Output {
    std::string name;
    std::vector<float>* into;
    std::size_t count;
    Format format;
    std::unique_ptr<GuardedBuffer> buffer;
  };
  std::vector<Output> outputs_;
};

std::size_t count_of(const cases::Shape& shape) {
  return static_cast<std::size_t>(cases::elements(shape));
}

/// Calls the pass and says in `result` what went wrong; true when there are outputs.
template <class Call>
bool call(KernelRun& result, const Given& given, const Collected& collected, const Call& pass) {
  char message[512] = "";
  int status = 0;
  try {
    status = pass(message, sizeof message);
  } catch (const std::exception& error) {
    // Copied here: the exception's code may lie in the library, which may be unloaded on the way
    // out.
    result.failure = std::string("the kernel threw an exception: ") + error.what();
    return false;
  } catch (...) {
    result.failure = "the kernel threw an exception";
    return false;
  }
  message[sizeof message - 1] = '\0';
  result.device_lost = status == PLUMBLINE_DEVICE_LOST;
  if (status != 0) {
    result.failure = fmt::format("the kernel returned {}: {}", status, message);
  } else if (const char* input = given.changed()) {
    result.failure = fmt::format("the kernel changed its input {}", input);
  } else {
    result.failure = collected.damage();
  }
  return result.failure.empty();
}

}  // namespace

Kernel::Kernel(std::shared_ptr<void> library, const plumbline_kernel& kernel)
    : library_(std::move(library)), kernel_(&kernel), name_(kernel.name) {}

const Contract& Kernel::contract(cases::Format format) const {
  return kernel_->contracts[static_cast<int>(format)];
}

bool Kernel::deterministic() const { return kernel_->deterministic != 0; }

bool Kernel::asked(const plumbline_problem& problem, cases::Pass pass,
                   const cases::Spec& spec) const {
  const auto refuse = [&](const std::string& got) {
    throw BadInput(name_ + ": supports", got + " for '" + cases::to_line(spec) + "'", "0 or 1");
  };
  int answer = 0;
  try {
    const KernelRuns asked(" in supports() of " + name_ + ", asked about\n  '" +
                           cases::to_line(spec) + "'\n");
    answer = kernel_->supports(&problem, static_cast<std::int32_t>(pass));
  } catch (const std::exception& error) {
    refuse(std::string("an exception: ") + error.what());
  } catch (...) {
    refuse("an exception");
  }
  if (answer != 0 && answer != 1) refuse(std::to_string(answer));
  return answer == 1;
}

bool Kernel::supports(const cases::Spec& spec) const {
  const bool has = spec.pass == cases::Pass::forward    ? kernel_->forward != nullptr
                   : spec.pass == cases::Pass::backward ? kernel_->backward != nullptr
                                                        : kernel_->decode != nullptr;
  if (!has) return false;
  const plumbline_problem problem = shape_of(spec);
  const auto offers = [&](cases::Pass pass) { return asked(problem, pass, spec); };
  // The backward pass is given the outputs of the kernel's own forward pass.
  const bool needs_forward = spec.pass == cases::Pass::backward;
  return offers(spec.pass) &&
         (!needs_forward || (kernel_->forward != nullptr && offers(cases::Pass::forward)));
}

KernelRun Kernel::run(const cases::Case& the_case,
                      const std::function<void(cases::Pass)>& done) const {
  const auto& spec = the_case.spec;
  const Given given(the_case);
  const plumbline_problem problem = given.problem();
  const std::size_t q_count = count_of(cases::query_shape(spec)),
                    k_count = count_of(cases::key_shape(spec)),
                    rows = count_of(cases::per_query(spec));

  KernelRun result;
  Collected forward;
  plumbline_outputs outputs{};
  outputs.o = forward.add("o", result.outputs.o, q_count, spec.format);
  outputs.lse = static_cast<float*>(forward.add("lse", result.outputs.lse, rows, Format::fp32));
  const bool decodes = spec.pass == cases::Pass::decode;
  const auto forward_pass = decodes ? kernel_->decode : kernel_->forward;
  const bool forwarded = call(result, given, forward, [&](char* message, std::size_t size) {
    return forward_pass(&problem, &outputs, message, size);
  });
  if (done) done(decodes ? cases::Pass::decode : cases::Pass::forward);
  if (!forwarded) return result;
  forward.deliver();
  if (spec.pass != cases::Pass::backward) return result;

  Collected backward;
  const Stored o(result.outputs.o, spec.format), lse(result.outputs.lse, Format::fp32);
  plumbline_gradients gradients{};
  gradients.o = o.data();
  gradients.lse = static_cast<const float*>(lse.data());
  gradients.grad_o = given.grad_o();
  gradients.grad_q = backward.add("grad_q", result.outputs.grad_q, q_count, spec.format);
  gradients.grad_k = backward.add("grad_k", result.outputs.grad_k, k_count, spec.format);
  gradients.grad_v = backward.add("grad_v", result.outputs.grad_v, k_count, spec.format);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(spec, parameter)) continue;
    gradients.grad_parameters[n] = static_cast<float*>(
        backward.add(cases::gradient_name(parameter), result.outputs.grad_parameters[n],
                     the_case[parameter].size(), Format::fp32));
  }
  const bool both = call(result, given, backward, [&](char* message, std::size_t size) {
    return kernel_->backward(&problem, &gradients, message, size);
  });
  if (done) done(cases::Pass::backward);
  if (!both) return result;
  if (!o.holds(result.outputs.o)) result.failure = "the kernel changed its input o";
  if (!lse.holds(result.outputs.lse)) result.failure = "the kernel changed its input lse";
  if (result.failure.empty()) backward.deliver();
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
