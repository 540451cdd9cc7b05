// SPDX-License-Identifier: Apache-2.0
// plumbline-golden: what `plumbline golden` and `plumbline methods` run.
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return plumbline::cli::run_program(argc, argv, [](CLI::App& app, auto& run) {
    plumbline::cli::add_golden(app, run);
    plumbline::cli::add_methods(app, run);
  });
}
