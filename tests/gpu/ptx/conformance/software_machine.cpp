// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "ptx/device.hpp"
#include "ptx/tensor_map.hpp"
#include "tests/gpu/ptx/conformance/machine.hpp"

namespace plumbline::ptx::conformance {
namespace {

using State = Answer::State;

/// The choice of a name. Throws std::out_of_range for another.
Variation variation_of(const Choice& choice) {
  using Approximate = Variation::Approximate;
  using Sums = Variation::Sums;
  Variation variation;
  variation.approximate = std::map<std::string, Approximate>{
      {"nearest", Approximate::nearest},
      {"down", Approximate::down},
      {"up", Approximate::up},
      {"either",
       Approximate::either}}.at(choice.approximate);
  variation.sums = std::map<std::string, Sums>{
      {"nearest", Sums::nearest},
      {"ampere", Sums::ampere},
      {"hopper",
       Sums::hopper}}.at(choice.sums);
  variation.order_seed = choice.order_seed;
  return variation;
}

Options options_of(const Choice& choice) {
  Options options;
  options.variation = variation_of(choice);
  options.time_limit_ms = 20000;
  return options;
}

class SoftwareMachine : public Machine {
 public:
  explicit SoftwareMachine(const Choice& choice) : m_device(options_of(choice)) {}

  std::string name() const override { return "the software device"; }

  Answer run(const Experiment& experiment) override {
    std::uint64_t module = 0;
    try {
      module = m_device.load(header(experiment) + named(experiment, "kernel"), experiment.form);
    } catch (const BadPtx& bad) {
      return {State::failed, std::string("not read: ") + bad.what(), false, {}};
    }
    std::vector<Address> memory;
    Answer answer = launched(experiment, module, memory);
    if (answer.state == State::ran)
      for (std::size_t i = 0; i < memory.size(); ++i) {
        Buffer& buffer = answer.buffers.emplace_back(experiment.buffers[i].size());
        if (!buffer.empty()) m_device.read(buffer.data(), memory[i], buffer.size());
      }
    for (const Address address : memory) m_device.release(address);
    m_device.unload(module);
    return answer;
  }

 private:
  Answer launched(const Experiment& experiment, std::uint64_t module,
                  std::vector<Address>& memory) {
    try {
      const Kernel& kernel = m_device.kernel(module, "kernel");
      const KernelInfo& info = m_device.info(kernel);
      if (!info.missing.empty()) return {State::missing, info.missing, false, {}};
      for (const Buffer& buffer : experiment.buffers) {
        memory.push_back(m_device.allocate(std::max<std::size_t>(buffer.size(), 1)));
        if (!buffer.empty()) m_device.write(memory.back(), buffer.data(), buffer.size());
      }
      std::vector<std::byte> parameters(8 * memory.size());
      if (!memory.empty()) std::memcpy(parameters.data(), memory.data(), parameters.size());
      for (const Map& map : experiment.maps) {
        TensorMap encoded;
        encode_tiled(&encoded, map.type, map.rank,
                     reinterpret_cast<void*>(memory[map.buffer] + map.offset), map.size,
                     map.strides, map.box, map.steps, 0, map.swizzle, 0, map.fill);
        parameters.resize((parameters.size() + 63) / 64 * 64 + sizeof encoded);
        std::memcpy(parameters.data() + parameters.size() - sizeof encoded, &encoded,
                    sizeof encoded);
      }
      Launch launch;
      launch.grid = {experiment.grid[0], experiment.grid[1], experiment.grid[2]};
      launch.block = {experiment.block[0], experiment.block[1], experiment.block[2]};
      launch.dynamic_shared_bytes = experiment.dynamic_shared;
      m_device.launch(kernel, launch, parameters);
      return {State::ran, "", false, {}};
    } catch (const Refused& refused) {
      if (refused.reason == Refused::Reason::not_supported)
        return {State::missing, refused.what(), false, {}};
      return {State::failed, refused.what(), false, {}};
    } catch (const Fault& fault) {
      return {State::failed, fault.what(), fault.kind == Fault::Kind::trap, {}};
    } catch (const std::exception& error) {
      return {State::failed, std::string("an exception: ") + error.what(), false, {}};
    }
  }

  Device m_device;
};

}  // namespace

std::unique_ptr<Machine> software_machine(const Choice& choice) {
  return std::make_unique<SoftwareMachine>(choice);
}

}  // namespace plumbline::ptx::conformance
