// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

namespace plumbline::ptx::cuda {
namespace {

/// CUDA C++ Programming Guide, technical specifications by compute capability; multiprocessors of
/// one GPU that has it (T4, A100, A10, L4, H100, B200, RTX PRO 6000).
struct Architecture {
  const char* name;
  int major, minor;
  unsigned multiprocessors, threads, blocks;
  std::size_t shared_kibibytes;  ///< of a multiprocessor
};
constexpr Architecture architectures[] = {
    {"7.5", 7, 5, 40, 1024, 16, 64},     {"8.0", 8, 0, 108, 2048, 32, 164},
    {"8.6", 8, 6, 72, 1536, 16, 100},    {"8.9", 8, 9, 58, 1536, 24, 100},
    {"9.0", 9, 0, 132, 2048, 32, 228},   {"10.0", 10, 0, 148, 2048, 32, 228},
    {"12.0", 12, 0, 188, 1536, 24, 100},
};

/// Shared memory that a block takes for the system, from compute capability 8.0 on.
std::size_t reserved_of(const Architecture& architecture) {
  return architecture.major >= 8 ? 1024 : 0;
}

class Reader {
 public:
  explicit Reader(const std::function<const char*(const char*)>& value_of) : value_of_(value_of) {}

  /// Hands over the value of a variable that is set.
  template <class Use>
  void use(const char* name, const Use& use, const char* expected) const {
    const std::string variable = std::string("PLUMBLINE_DEVICE_") + name;
    const char* value = value_of_(variable.c_str());
    if (value == nullptr || *value == '\0' || use(std::string(value))) return;
    throw Refused(Refused::Reason::invalid_value,
                  variable + " is \"" + value + "\"; expected " + expected);
  }

 private:
  const std::function<const char*(const char*)>& value_of_;
};

template <class Number>
auto number_into(Number& into) {
  return [&into](const std::string& text) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, into);
    return error == std::errc() && rest == end;
  };
}

template <class Value, std::size_t count>
auto name_into(Value& into, const std::array<std::pair<const char*, Value>, count>& names) {
  return [&into, names](const std::string& text) {
    for (const auto& [name, value] : names) {
      if (text == name) return into = value, true;
    }
    return false;
  };
}

void use_architecture(Properties& properties, const Architecture& architecture) {
  properties.compute_major = architecture.major;
  properties.compute_minor = architecture.minor;
  properties.multiprocessors = architecture.multiprocessors;
  properties.shared_per_block_optin =
      architecture.shared_kibibytes * 1024 - reserved_of(architecture);
  properties.threads_per_multiprocessor = architecture.threads;
  properties.blocks_per_multiprocessor = architecture.blocks;
  properties.shared_per_multiprocessor = architecture.shared_kibibytes * 1024;
  properties.shared_reserved_per_block = reserved_of(architecture);
}

}  // namespace

Options options_from(const std::function<const char*(const char*)>& value_of) {
  using Approximate = Variation::Approximate;
  using Sums = Variation::Sums;
  constexpr std::array<std::pair<const char*, bool>, 2> switches = {{{"0", false}, {"1", true}}};
  constexpr std::array<std::pair<const char*, Approximate>, 4> approximations = {
      {{"nearest", Approximate::nearest},
       {"down", Approximate::down},
       {"up", Approximate::up},
       {"either", Approximate::either}}};
  constexpr std::array<std::pair<const char*, Sums>, 3> sums = {
      {{"nearest", Sums::nearest}, {"ampere", Sums::ampere}, {"hopper", Sums::hopper}}};

  Options options;
  // arithmetic/level.cpp reads it.
  if (const char* isa = value_of("PLUMBLINE_PTX_ISA"); isa != nullptr && *isa != '\0') {
    const std::string_view name = isa;
    if (name != "avx512" && name != "avx2" && name != "plain") {
      throw Refused(Refused::Reason::invalid_value, "PLUMBLINE_PTX_ISA is \"" + std::string(name) +
                                                        "\"; expected avx512, avx2 or plain");
    }
  }
  const Reader reader(value_of);
  const auto compute = [&](const std::string& text) {
    const auto* found = std::find_if(std::begin(architectures), std::end(architectures),
                                     [&](const auto& known) { return text == known.name; });
    if (found == std::end(architectures)) return false;
    use_architecture(options.properties, *found);
    return true;
  };
  const auto seconds = [&](const std::string& text) {
    double value = 0;
    if (!number_into(value)(text) || !(value > 0 && value < 1e9)) return false;
    options.time_limit_ms = static_cast<std::uint64_t>(std::ceil(value * 1000));
    return true;
  };
  reader.use("COMPUTE", compute, "7.5, 8.0, 8.6, 8.9, 9.0, 10.0 or 12.0");
  reader.use("MEMORY", number_into(options.properties.global_bytes), "a number of bytes");
  reader.use("THREADS", number_into(options.threads), "a number of threads");
  reader.use("CHECK", name_into(options.check, switches), "0 or 1");
  using Uninitialised = Options::Uninitialised;
  constexpr std::array<std::pair<const char*, Uninitialised>, 2> uninitialised = {
      {{"stop", Uninitialised::stop}, {"ones", Uninitialised::ones}}};
  reader.use("UNINITIALISED", name_into(options.uninitialised, uninitialised), "stop or ones");
  reader.use("TIME_LIMIT", seconds, "a number of seconds");
  reader.use("APPROXIMATE", name_into(options.variation.approximate, approximations),
             "nearest, down, up or either");
  reader.use("SUMS", name_into(options.variation.sums, sums), "nearest, ampere or hopper");
  reader.use("FUSE", name_into(options.variation.fuse, switches), "0 or 1");
  reader.use("LATE", name_into(options.variation.late, switches), "0 or 1");
  reader.use("ORDER", number_into(options.variation.order_seed), "a seed: a whole number");
  return options;
}

std::vector<NamedVariation> named_variations() {
  using Approximate = Variation::Approximate;
  using Sums = Variation::Sums;
  return {{"rounded to nearest", {}},
          {".approx either way, Ampere's sums, fused mul and add, late",
           {Approximate::either, Sums::ampere, true, 0, true}},
          {".approx downwards, Hopper's sums, other block order",
           {Approximate::down, Sums::hopper, false, 1}},
          {".approx upwards, Hopper's sums, fused, other order, late",
           {Approximate::up, Sums::hopper, true, 2, true}}};
}

std::vector<NamedVariation> variations_from(
    const std::function<const char*(const char*)>& value_of) {
  for (const char* name : {"APPROXIMATE", "SUMS", "FUSE", "ORDER", "LATE"}) {
    const char* value = value_of((std::string("PLUMBLINE_DEVICE_") + name).c_str());
    if (value != nullptr && *value != '\0') {
      return {{"as the environment says", options_from(value_of).variation}};
    }
  }
  return named_variations();
}

}  // namespace plumbline::ptx::cuda
