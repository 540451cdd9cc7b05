// SPDX-License-Identifier: Apache-2.0
// How long the software device takes: attention kernels beside the source emulation, and single
// instructions, with the device's checks and without.
//
// usage: plumbline_bench_software_device PTX-FOLDER REPETITIONS [NAME]
// NAME: only what has it in its name.
// Writes a line of JSON for each measurement; software_device.py makes the table.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/bench/software_device.hpp"

int main(int argc, char** argv) {
  using namespace plumbline::bench;
  const int repetitions = argc == 3 || argc == 4 ? std::atoi(argv[2]) : 0;
  if (repetitions < 1) {
    std::cerr << "usage: plumbline_bench_software_device PTX-FOLDER REPETITIONS [NAME]\n";
    return 2;
  }
  try {
    const std::string only = argc == 4 ? argv[3] : "";
    measure_attention(argv[1], only, repetitions, std::cout);
    measure_instructions(only, repetitions, std::cout);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
