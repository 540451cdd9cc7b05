// SPDX-License-Identifier: Apache-2.0
// Device memory of the training attention: it grows with the length, not with its square.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/device_buffer.cuh"
#include "plumbline_kernel.h"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(memory_test)

namespace {

using namespace plumbline::gpu_tests;
using plumbline::gpu::DeviceMemory;

const plumbline_kernel& kernel_named(const std::string& name) {
  const plumbline_library* library = plumbline_kernel_library();
  for (int n = 0; n < library->kernel_count; ++n)
    if (library->kernels[n].name == name) return library->kernels[n];
  throw std::invalid_argument(name);
}

/// The most bytes that forward and backward held at once. Only the first 40 positions see anything,
/// so that the emulation is soon done; what is allocated does not depend on that.
std::size_t peak(const plumbline_kernel& kernel, plumbline::methods::Bias bias, int length) {
  Case made({"long", 1, 2, 1, length, length, 32, true, -1, false, false, true}, bias,
            PLUMBLINE_BF16);
  const int seen = 40;
  made.problem.lengths = &seen;
  std::vector<float> o(made.rows * 32), lse(made.rows), q(o), k(made.keys * 32), v(k);
  std::vector<float> grad_o(o.size());
  const plumbline_outputs outputs{o.data(), lse.data()};
  plumbline_gradients gradients{o.data(), lse.data(), grad_o.data(), nullptr,
                                q.data(), k.data(),   v.data(),      {}};
  std::vector<float> parameters[PLUMBLINE_PARAMETER_COUNT];
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    parameters[n].resize(made.parameters.values[n].size());
    gradients.grad_parameters[n] = parameters[n].data();
  }
  char message[256] = "";
  BOOST_TEST(DeviceMemory::used == 0u);
  DeviceMemory::peak = 0;
  BOOST_TEST(kernel.forward(&made.problem, &outputs, message, sizeof message) == 0, message);
  BOOST_TEST(kernel.backward(&made.problem, &gradients, message, sizeof message) == 0, message);
  BOOST_TEST(DeviceMemory::used == 0u);
  return DeviceMemory::peak;
}

BOOST_AUTO_TEST_CASE(twice_the_length_takes_at_most_twice_the_memory) {
  for (const char* name : {"fused", "fused_atomic"}) {
    for (const Bias bias : fused_biases()) {
      if (bias.method == PLUMBLINE_BIAS_TENSOR) continue;  // a matrix itself
      BOOST_TEST_CONTEXT(name << " " << name_of(bias)) {
        const std::size_t half = peak(kernel_named(name), bias, 2048);
        const std::size_t whole = peak(kernel_named(name), bias, 4096);
        BOOST_TEST(whole <= 2 * half);
        // One matrix of scores of one head would be 64 MiB in floats.
        BOOST_TEST(whole < 4096u * 4096u * sizeof(float) / 4);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
