// SPDX-License-Identifier: Apache-2.0
// A kernel, its data and what it must leave: what every device can run.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_EXPERIMENT_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_EXPERIMENT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace plumbline::ptx::conformance {

using Buffer = std::vector<std::byte>;

template <class T>
Buffer buffer_of(const std::vector<T>& values) {
  Buffer buffer(values.size() * sizeof(T));
  if (!buffer.empty()) std::memcpy(buffer.data(), values.data(), buffer.size());
  return buffer;
}
template <class T>
std::vector<T> values_of(const Buffer& buffer) {
  std::vector<T> values(buffer.size() / sizeof(T));
  if (!buffer.empty()) std::memcpy(values.data(), buffer.data(), buffer.size());
  return values;
}

enum class Target { sm_80, sm_90a };

struct Difference {
  std::string input, got, expected;
};

/// What a kernel's results are worth.
struct Verdict {
  std::size_t compared = 0, wrong = 0;
  std::vector<Difference> first;  ///< at most three
  double ulps = -1;               ///< the largest error of an approximation; -1: none
  std::string ulps_at;

  void differs(Difference difference) {
    ++wrong;
    if (first.size() < 3) first.push_back(std::move(difference));
  }
};

/// How a launch ends that is not meant to end well.
enum class Ending { normal, trap };

/// Arguments of cuTensorMapEncodeTiled, whose enumerations are numbers; the tensor is a buffer.
struct Map {
  std::size_t buffer = 0, offset = 0;  ///< where the tensor begins
  std::uint32_t type = 0, rank = 1;
  std::uint64_t size[5] = {1, 1, 1, 1, 1}, strides[4] = {16, 16, 16, 16};
  std::uint32_t box[5] = {1, 1, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  std::uint32_t swizzle = 0, fill = 0;
};

struct Experiment {
  std::string form;  ///< what is reported: "add.sat.s32"
  Target target = Target::sm_80;
  std::string version = "8.0";
  /// The module without its header. KERNEL stands for the kernel's name; its parameters are the
  /// addresses of the buffers, in order, and then the maps.
  std::string text;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::size_t dynamic_shared = 0;
  std::vector<Buffer> buffers;
  std::vector<Map> maps;
  std::function<Verdict(const std::vector<Buffer>& after)> judge;
  Ending ending = Ending::normal;
};

std::string target_of(const Experiment& experiment);  ///< "sm_80"
/// `.version`, `.target` (its own, or another) and `.address_size`.
std::string header(const Experiment& experiment);
std::string header(const Experiment& experiment, const std::string& target);
/// The text with the kernel's name in it.
std::string named(const Experiment& experiment, const std::string& kernel);

/// The verdict on one buffer that must hold these values afterwards.
template <class T>
std::function<Verdict(const std::vector<Buffer>&)> holds(std::size_t index,
                                                         std::vector<T> expected) {
  return [=](const std::vector<Buffer>& after) {
    Verdict verdict;
    const auto got = values_of<T>(after[index]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ++verdict.compared;
      if (i < got.size() && std::memcmp(&got[i], &expected[i], sizeof(T)) == 0) continue;
      verdict.differs({"element " + std::to_string(i),
                       i < got.size() ? std::to_string(got[i]) : std::string("nothing"),
                       std::to_string(expected[i])});
    }
    return verdict;
  };
}

}  // namespace plumbline::ptx::conformance

#endif
