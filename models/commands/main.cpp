// SPDX-License-Identifier: Apache-2.0
// plumbline-models: what `plumbline train` and its kin run.
#include "cli/program.hpp"
#include "cli/ranks.hpp"

int main(int argc, char** argv) {
  return plumbline::cli::run_as_rank([=] {
    return plumbline::cli::run_program(argc, argv, [argv](CLI::App& app, auto& run) {
      plumbline::cli::add_train(app, run, argv);
      plumbline::cli::add_evaluate(app, run, argv);
      plumbline::cli::add_generate(app, run, argv);
      plumbline::cli::add_tokenize(app, run);
    });
  });
}
