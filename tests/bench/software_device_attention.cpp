// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "attention/3_fused_forward.cuh"
#include "attention/mma_forward.cuh"
#include "ptx/device.hpp"
#include "tests/bench/software_device.hpp"

// What runs is the library's.
extern template void plumbline::gpu::mma_forward_in<plumbline::gpu::bfloat16>(const Stream&,
                                                                              const Task&,
                                                                              const Outputs&);

namespace plumbline::bench {
namespace {

using namespace plumbline::gpu;

constexpr int kLength = 1024, kHeads = 2, kDim = 64;
constexpr std::size_t kNumbers = std::size_t{kLength} * kHeads * kDim;

/// In [-1.5, 1.5], with few bits: the same in every format.
template <class T>
std::vector<T> numbers(unsigned seed) {
  std::vector<T> all;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    seed = seed * 1664525 + 1013904223;
    const float x = (static_cast<float>(seed >> 26) - 31.5f) / 21.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits &= 0xffff0000u;
    T value;
    if constexpr (sizeof(T) == 2)
      value = static_cast<T>(bits >> 16);
    else
      std::memcpy(&value, &bits, 4);
    all.push_back(value);
  }
  return all;
}
float number(float x) { return x; }
float number(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float x;
  std::memcpy(&x, &wide, 4);
  return x;
}

struct Pointers {
  const void *q, *k, *v;
  const float* slopes;
  void* o;
  float* lse;
};

Task task_of(const Pointers& at, Format format) {
  Task task{};
  Problem& p = task.problem;
  p.batch = 1;
  p.heads = p.kv_heads = kHeads;
  p.queries = p.keys = kLength;
  p.scale = 0.125f;
  p.format = format;
  p.mask = {kLength, true, -1, -1, nullptr, nullptr};
  p.value_dim = kDim;
  p.output_format = format;
  p.q = at.q, p.k = at.k, p.v = at.v;
  p.q_rows = {kNumbers, kLength * kDim, kDim, nullptr, 0};
  p.k_rows = p.v_rows = p.o_rows = p.q_rows;
  p.lse_rows = {kHeads * kLength, kLength, 1, nullptr, 0};
  p.lse_scale = 1;
  task.bias.method = PLUMBLINE_ALIBI;
  task.bias.heads = kHeads;
  task.bias.queries = task.bias.keys = kLength;
  task.bias.parameters[PLUMBLINE_SLOPES] = at.slopes;
  task.head_dim = kDim;
  return task;
}

/// A device that has loaded the kernel, with inputs of its own.
template <class T>
class OnDevice {
 public:
  OnDevice(const std::string& file, const std::string& part_of_name, bool check) {
    ptx::Options options;
    options.check = check;
    device_ = std::make_unique<ptx::Device>(options);
    std::ifstream in(file);
    std::ostringstream text;
    if (!(text << in.rdbuf())) throw std::runtime_error("cannot read " + file);
    const std::uint64_t module = device_->load(text.str());
    for (const std::string& name : device_->kernel_names(module))
      if (name.find(part_of_name) != std::string::npos) kernel_ = &device_->kernel(module, name);
    if (!kernel_) throw std::runtime_error("no kernel " + part_of_name + " in " + file);
  }
  void* array(const void* values, std::size_t bytes) {
    const ptx::Address at = device_->allocate(bytes);
    if (values) device_->write(at, values, bytes);
    return reinterpret_cast<void*>(at);
  }
  template <class... Parameters>
  ptx::Counts run(const LaunchShape& shape, const Parameters&... parameters) {
    const ptx::KernelInfo& info = device_->info(*kernel_);
    std::vector<std::byte> bytes(info.parameter_bytes);
    std::size_t i = 0;
    const auto put = [&](const auto& one) {
      if (info.parameters.at(i).size != sizeof one)
        throw std::runtime_error(info.name + ": a parameter of another size");
      std::memcpy(bytes.data() + info.parameters[i++].offset, &one, sizeof one);
    };
    (put(parameters), ...);
    ptx::Launch launch;
    launch.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
    launch.block = {shape.block.x, shape.block.y, shape.block.z};
    launch.dynamic_shared_bytes = shape.shared_bytes;
    return device_->launch(*kernel_, launch, bytes);
  }
  void read(void* to, const void* from, std::size_t bytes) {
    device_->read(to, reinterpret_cast<ptx::Address>(from), bytes);
  }

 private:
  std::unique_ptr<ptx::Device> device_;
  const ptx::Kernel* kernel_ = nullptr;
};

template <class T, class Emulate, class Launch>
void measure(const std::string& name, const std::string& file, const std::string& part_of_name,
             Format format, int repetitions, std::ostream& out, Emulate emulate, Launch launch) {
  const std::vector<T> q = numbers<T>(1), k = numbers<T>(2), v = numbers<T>(3);
  const std::vector<float> slopes = {0.25f, 0.03125f};
  std::vector<T> o(kNumbers), o_of_device(kNumbers);
  std::vector<float> lse(std::size_t{kLength} * kHeads);
  const Task task =
      task_of({q.data(), k.data(), v.data(), slopes.data(), o.data(), lse.data()}, format);
  const Outputs outputs{o.data(), lse.data()};
  const Stream stream;

  std::vector<OnDevice<T>> devices;
  std::vector<Task> tasks;
  std::vector<Outputs> outputs_of;
  for (const bool check : {true, false}) {
    OnDevice<T>& device = devices.emplace_back(file, part_of_name, check);
    const std::size_t bytes = kNumbers * sizeof(T);
    const Pointers at{device.array(q.data(), bytes),
                      device.array(k.data(), bytes),
                      device.array(v.data(), bytes),
                      static_cast<const float*>(device.array(slopes.data(), 4 * slopes.size())),
                      device.array(nullptr, bytes),
                      static_cast<float*>(device.array(nullptr, 4 * lse.size()))};
    tasks.push_back(task_of(at, format));
    outputs_of.push_back({at.o, at.lse});
  }

  nlohmann::json row = {{"kernel", name}};
  const auto note = [&](const std::string& of, const Seconds& taken) {
    row[of].push_back(taken.wall);
    row[of + " cpu"].push_back(taken.cpu);
  };
  ptx::Counts counts;
  for (int n = 0; n <= repetitions; ++n) {  // the first is not counted
    const Seconds a = seconds_of([&] { emulate(stream, task, outputs); });
    const Seconds b =
        seconds_of([&] { counts = launch(devices[0], stream, tasks[0], outputs_of[0]); });
    const Seconds c = seconds_of([&] { launch(devices[1], stream, tasks[1], outputs_of[1]); });
    if (n == 0) continue;
    note("emulation", a), note("checked", b), note("unchecked", c);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    devices[i].read(o_of_device.data(), outputs_of[i].o, kNumbers * sizeof(T));
    for (std::size_t j = 0; j < kNumbers; ++j)
      if (!(std::abs(number(o[j]) - number(o_of_device[j])) <= 0.02f))
        throw std::runtime_error(name + ": the device's output " + std::to_string(j) +
                                 " is not that of the emulation");
  }
  row["warp_instructions"] = counts.warp_instructions;
  out << row << std::endl;
}

}  // namespace

void measure_attention(const std::string& folder, const std::string& only, int repetitions,
                       std::ostream& out) {
  const auto wanted = [&](const std::string& name) { return name.find(only) != std::string::npos; };
  using Shared = mma_kernels::ForwardShared<kDim, Distance, bfloat16>;
  if (const std::string name = "`mma`, bf16"; wanted(name))
    measure<std::uint16_t>(
        name, folder + "/mma_forward_bf16.ptx", "forward_kernelILi64ENS0_8DistanceE", Format::bf16,
        repetitions, out,
        [](const Stream& stream, const Task& task, const Outputs& outputs) {
          mma_forward_in<bfloat16>(stream, task, outputs);
        },
        [](auto& device, const Stream&, const Task& task, const Outputs& outputs) {
          return device.run(
              {dim3{kLength / Shared::kQueries, kHeads}, dim3{kMmaThreads}, Shared::bytes()},
              task.problem, outputs, Distance::params(task.bias));
        });
  if (const std::string name = "`fused`, fp32"; wanted(name))
    measure<float>(
        name, folder + "/3_fused_forward.ptx", "forward_kernelILi64ENS0_8DistanceELb0E",
        Format::fp32, repetitions, out,
        [](const Stream& stream, const Task& task, const Outputs& outputs) {
          fused_forward(stream, task, outputs);
        },
        [](auto& device, const Stream&, const Task& task, const Outputs& outputs) {
          const float* const no_norms = nullptr;
          return device.run(
              tile_launch(task.problem, gpu::Tile<kDim>::bytes() + BiasTile<Distance>::bytes() +
                                            SkipTest::bytes(false)),
              task.problem, outputs, Distance::params(task.bias), no_norms);
        });
}

}  // namespace plumbline::bench
