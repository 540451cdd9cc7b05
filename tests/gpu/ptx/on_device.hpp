// SPDX-License-Identifier: Apache-2.0
// A kernel as text, run on the software device.
#ifndef PLUMBLINE_TESTS_GPU_PTX_ON_DEVICE_HPP
#define PLUMBLINE_TESTS_GPU_PTX_ON_DEVICE_HPP

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/device.hpp"

namespace plumbline::ptx {

/// The body of a kernel `k` with the parameters %out and %in (pointers) and %n. It has registers
/// %r, %rd, %f, %h, %p and 4096 bytes of shared memory `s`.
inline std::string kernel_of(const std::string& body, const std::string& before = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + before +
         "\n.visible .entry k(.param .u64 o, .param .u64 i, .param .u32 m)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<16>;\n.reg .b64 "
         "%rd<32>;\n.reg .b32 %n;\n.reg .b64 %out, %in;\n.shared .align 16 .b8 s[4096];\n"
         "ld.param.u64 %out, [o];\nld.param.u64 %in, [i];\nld.param.u32 %n, [m];\n" +
         body + "\nret;\n}\n";
}

/// The text with a .loc before every instruction: line n of the text is line n of "k.cu".
inline std::string with_source_lines(const std::string& ptx) {
  std::string located, line, before = ";";
  std::istringstream lines(ptx);
  for (int n = 1; std::getline(lines, line); ++n) {
    const bool begins =
        before.empty() || std::string(";:{}").find(before.back()) != std::string::npos;
    const bool instruction =
        !line.empty() && std::string(".{}(/").find(line.front()) == std::string::npos;
    if (begins && instruction) located += ".loc 1 " + std::to_string(n) + " 0\n";
    located += line + "\n" + (line.starts_with(".address_size") ? ".file 1 \"k.cu\"\n" : "");
    before = line;
  }
  return located;
}

struct Run {
  std::vector<std::uint32_t> out;
  std::optional<Fault::Kind> fault;
  std::string text;
  Fault::Where where;
  std::string ptx;  ///< what was run
};

/// The fault is told with the kernel, the instruction, its line in the PTX and that of the source.
inline void expect_place(const Run& run) {
  std::vector<std::string> lines;
  std::istringstream text(run.ptx);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::size_t at = run.where.ptx_line;
  BOOST_TEST_INFO_SCOPE(run.text);
  BOOST_TEST(run.where.kernel == "k");
  BOOST_REQUIRE((2 <= at && at <= lines.size()));
  BOOST_TEST(!run.where.instruction.empty());
  BOOST_TEST(lines[at - 1].find(run.where.instruction) != std::string::npos,
             lines[at - 1] + " is not " + run.where.instruction);
  std::size_t loc = at - 1;
  while (loc > 0 && !lines[loc - 1].starts_with(".loc")) --loc;
  BOOST_REQUIRE(loc > 0u);
  const std::string source = "k.cu:" + lines[loc - 1].substr(7, lines[loc - 1].find(' ', 7) - 7);
  BOOST_TEST(run.where.source == source);
  for (const std::string& said :
       {std::string("in k"), "at PTX line " + std::to_string(at) + ": " + run.where.instruction,
        "from " + source}) {
    BOOST_TEST(run.text.find(said) != std::string::npos, said);
  }
}

/// 1024 words out (not initialised) and 1024 in (0, 1, 2, ...), n = 1024.
inline Run run_text(const std::string& ptx, Extent grid, Extent block, Options options = {},
                    std::size_t shared = 0) {
  Device device(options);
  Run run;
  run.ptx = ptx;
  const auto module = device.load(ptx);
  const Kernel& kernel = device.kernel(module, "k");
  const Address out = device.allocate(4096), in = device.allocate(4096);
  std::vector<std::uint32_t> numbers(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) numbers[i] = i;
  device.write(in, numbers.data(), 4096);
  std::byte parameters[20];
  const std::uint32_t n = 1024;
  std::memcpy(parameters, &out, 8);
  std::memcpy(parameters + 8, &in, 8);
  std::memcpy(parameters + 16, &n, 4);
  Launch launch;
  launch.grid = grid;
  launch.block = block;
  launch.dynamic_shared_bytes = shared;
  try {
    device.launch(kernel, launch, parameters);
  } catch (const Fault& fault) {
    run.fault = fault.kind;
    run.text = fault.what();
    run.where = fault.where;
  }
  run.out.resize(1024);
  device.read(run.out.data(), out, 4096);
  return run;
}

inline Run run_body(const std::string& body, Extent grid = {1, 1, 1}, Extent block = {64, 1, 1},
                    Options options = {}) {
  return run_text(kernel_of(body), grid, block, options);
}

/// Likewise, with lines of a source.
inline Run run_located(const std::string& body, Extent grid, Extent block) {
  return run_text(with_source_lines(kernel_of(body)), grid, block);
}

/// What the function writes to standard output.
inline std::string output_of(const auto& function) {
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  std::FILE* file = std::tmpfile();
  dup2(fileno(file), STDOUT_FILENO);
  function();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  std::rewind(file);
  std::string text;
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace plumbline::ptx

#endif
