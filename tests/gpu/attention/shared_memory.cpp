// SPDX-License-Identifier: Apache-2.0
// GPUs differ in how much shared memory a block may have, from 99 to 227 KiB: what a kernel says
// that it supports must run on the one that is there.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "attention/attention.cuh"
#include "attention/check_problem.cuh"
#include "emulation/grid.hpp"
#include "plumbline_kernel.h"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(shared_memory_test)

namespace {

using namespace plumbline::gpu_tests;
namespace emulation = plumbline::emulation;

constexpr std::size_t kKiB = 1024, kOfAda = 99 * kKiB, kOfAmpere = 163 * kKiB;

/// The emulated device has that much for as long as this lives.
struct Device {
  explicit Device(std::size_t bytes) : before(emulation::shared_memory_of_block()) {
    emulation::set_shared_memory_of_block(bytes);
  }
  ~Device() { emulation::set_shared_memory_of_block(before); }
  std::size_t before;
};

const plumbline_kernel& kernel_named(const std::string& name) {
  const plumbline_library* library = plumbline_kernel_library();
  for (int n = 0; n < library->kernel_count; ++n)
    if (library->kernels[n].name == name) return library->kernels[n];
  throw std::invalid_argument(name);
}

/// Two queries; of FIRE, with a hidden layer that wide.
struct Problem {
  Problem(Bias bias, int hidden, int format, int head_dim)
      : made({"two", 1, 1, 1, 2, 3, head_dim, true, -1, false, false, false}, bias, format) {
    for (const int parameter :
         {PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS, PLUMBLINE_OUTPUT_WEIGHT}) {
      made.parameters.values[parameter] = made.numbers.many(hidden, -1.0f, 1.0f);
      made.problem.parameters[parameter] = made.parameters.values[parameter].data();
    }
    made.problem.options[PLUMBLINE_HIDDEN] = hidden;
  }

  bool supported_by(const plumbline_kernel& kernel, int pass) const {
    return kernel.supports(&made.problem, pass) == 1;
  }

  /// What the kernel says where it does not run.
  std::string run(const plumbline_kernel& kernel, int pass) const {
    std::vector<float> o(made.q.size()), lse(made.rows), grad_o(o), q(o), k(made.k.size()), v(k);
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    if (kernel.forward(&made.problem, &outputs, message, sizeof message) != 0) return message;
    if (pass == PLUMBLINE_FORWARD) return "";
    plumbline_gradients gradients{o.data(), lse.data(), grad_o.data(), nullptr,
                                  q.data(), k.data(),   v.data(),      {}};
    std::vector<float> parameters[PLUMBLINE_PARAMETER_COUNT];
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      parameters[n].resize(made.parameters.values[n].size());
      gradients.grad_parameters[n] = parameters[n].data();
    }
    return kernel.backward(&made.problem, &gradients, message, sizeof message) == 0 ? "" : message;
  }

  Case made;
};

BOOST_AUTO_TEST_CASE(what_is_supported_is_what_runs) {
  int declined = 0, ran = 0;
  for (const std::size_t bytes : {kOfAda, kOfAmpere}) {
    const Device device(bytes);
    for (const char* name : {"fused", "fused_atomic", "mma", "mma_atomic", "mma_rope"}) {
      const plumbline_kernel& kernel = kernel_named(name);
      for (const auto& [bias, hidden] : {std::pair{Bias(PLUMBLINE_NOPE), 1},
                                         {kRopeHalfSplit, 1},
                                         {PLUMBLINE_GGD, 1},
                                         {PLUMBLINE_FIRE, 5},
                                         {PLUMBLINE_FIRE, 128},
                                         {PLUMBLINE_FIRE, 256},
                                         {PLUMBLINE_FIRE, 600}}) {
        for (const int format : {PLUMBLINE_FP32, PLUMBLINE_BF16, PLUMBLINE_TF32}) {
          for (const int head_dim : {32, 96, 128}) {
            const Problem problem(bias, hidden, format, head_dim);
            // The format and the method are the kernel's: on a device with all that is asked for.
            {
              const Device largest(std::size_t{1} << 30);
              if (!problem.supported_by(kernel, PLUMBLINE_FORWARD)) continue;
            }
            for (const int pass : {PLUMBLINE_FORWARD, PLUMBLINE_BACKWARD}) {
              BOOST_TEST_CONTEXT(name << " " << name_of(bias) << " " << hidden << " "
                                      << kFormats[format] << " " << head_dim << " pass " << pass
                                      << " on " << bytes) {
                const bool supported = problem.supported_by(kernel, pass);
                const std::string failure = problem.run(kernel, pass);
                BOOST_TEST(supported == failure.empty(), failure);
                if (!failure.empty())
                  BOOST_TEST(failure.find("shared memory") != failure.npos, failure);
                ++(supported ? ran : declined);
              }
            }
          }
        }
      }
    }
  }
  BOOST_TEST(ran > 100);
  BOOST_TEST(declined > 50);
}

BOOST_AUTO_TEST_CASE(the_largest_tiles_and_layers_do_not_fit_everywhere) {
  const plumbline_kernel &mma = kernel_named("mma"), &fused = kernel_named("fused");
  const Problem tf32(PLUMBLINE_NOPE, 1, PLUMBLINE_TF32, 128);
  const Problem tf32_alibi(PLUMBLINE_ALIBI, 1, PLUMBLINE_TF32, 128);
  const Problem bf16(PLUMBLINE_NOPE, 1, PLUMBLINE_BF16, 128);
  const Problem wide(PLUMBLINE_FIRE, 256, PLUMBLINE_FP32, 128);
  BOOST_TEST(emulation::shared_memory_of_block() == kOfAmpere);  // the stated one
  BOOST_TEST(tf32.supported_by(mma, PLUMBLINE_BACKWARD));
  BOOST_TEST(wide.supported_by(fused, PLUMBLINE_BACKWARD));
  const Device device(kOfAda);
  // 64 queries and two stages of 32 keys and values, 132 floats a row: 99 KiB to the byte.
  BOOST_TEST(tf32.supported_by(mma, PLUMBLINE_FORWARD));
  BOOST_TEST(!tf32_alibi.supported_by(mma, PLUMBLINE_FORWARD));
  BOOST_TEST(!tf32.supported_by(mma, PLUMBLINE_BACKWARD));
  BOOST_TEST(bf16.supported_by(mma, PLUMBLINE_BACKWARD));
  // 32 rows a warp only where they fit.
  for (const auto bias : {PLUMBLINE_FIRE, PLUMBLINE_GGD, PLUMBLINE_CABLE}) {
    const Problem bf16_64(bias, 32, PLUMBLINE_BF16, 64), tf32_32(bias, 32, PLUMBLINE_TF32, 32);
    for (const char* name : {"mma", "mma_atomic"}) {
      BOOST_TEST(bf16_64.supported_by(kernel_named(name), PLUMBLINE_BACKWARD), name);
      BOOST_TEST(tf32_32.supported_by(kernel_named(name), PLUMBLINE_BACKWARD), name);
    }
  }
  BOOST_TEST(wide.supported_by(fused, PLUMBLINE_FORWARD));
  BOOST_TEST(!wide.supported_by(fused, PLUMBLINE_BACKWARD));
}

BOOST_AUTO_TEST_CASE(training_is_refused_before_it_begins) {
  using namespace plumbline::gpu;
  const Device device(kOfAda);
  const Stream stream;
  const shared_memory_test::Problem wide(PLUMBLINE_FIRE, 256, PLUMBLINE_FP32, 128);
  const auto kernels = attention_kernels(Format::fp32, false, true);
  const Attention forward_alone(stream, wide.made.problem, kernels);
  BOOST_CHECK_EXCEPTION(Attention(stream, wide.made.problem, kernels, {.backward = true}),
                        InvalidProblem, [](const auto& error) {
                          const std::string message = error.what();
                          return message.find("hidden 256; this device gives it 101376") !=
                                     message.npos &&
                                 message.find("head_dim 128") != message.npos;
                        });
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
