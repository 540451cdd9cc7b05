// SPDX-License-Identifier: Apache-2.0
#include "models/commands/models_backend.hpp"
#include "cli/installation.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifdef PLUMBLINE_MODELS_ON_GPU
#include "core/device.hpp"
#endif

namespace plumbline::cli {

namespace {

#ifdef PLUMBLINE_MODELS_ON_GPU
constexpr const char* own_backend = "cuda";
#else
constexpr const char* own_backend = "emulated";
#endif

std::string program_of(const std::string& backend) {
  return backend == "cuda" ? "plumbline-models-cuda" : "plumbline-models";
}

}  // namespace

void add_backend_option(CLI::App& command, std::string& backend) {
  command.add_option("--backend", backend, "emulated (on the CPU) or cuda")->capture_default_str();
}

std::string device_shown() {
#ifdef PLUMBLINE_MODELS_ON_GPU
  return gpu::device_name();
#else
  return "CPU emulation";
#endif
}

void go_to_backend(const std::string& backend, char** argv) {
  if (backend != "emulated" && backend != "cuda")
    throw BadInput("--backend", in_quotes(backend), "emulated or cuda");
  if (backend == own_backend) {
#ifdef PLUMBLINE_MODELS_ON_GPU
    gpu::expect_devices(1);
#endif
    return;
  }
  const std::filesystem::path program = program_prefix() / "bin" / program_of(backend);
  execv(program.c_str(), argv);
  throw MachineLacks(program.string() + ": " + std::strerror(errno) +
                     "; it is built where CMake finds nvcc 13 and cuBLASLt, by the target "
                     "plumbline_models_cuda_program");
}

}  // namespace plumbline::cli
