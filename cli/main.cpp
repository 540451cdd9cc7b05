// SPDX-License-Identifier: Apache-2.0
// plumbline: tells whether an attention kernel with a positional bias is right.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/program.hpp"
#include "support/error.hpp"
#include "verdict/last_words.hpp"

namespace plumbline::cli {
namespace {

/// The papers' claims are a program of their own beside this one: they take as long to build as all
/// the rest, and who judges a kernel does not need them.
int run_claims_program(char** argv) {
  const std::filesystem::path program = program_prefix() / "bin" / "plumbline-claims";
  execv(program.c_str(), argv);
  throw MachineLacks(program.string() + ": " + std::strerror(errno) +
                     "; it is built by the target plumbline_claims_program");
}

void add_commands(CLI::App& app, Run& run, char** argv) {
  add_verify(app, run);
  add_judge(app, run);
  add_oracle(app, run);
  add_vectors(app, run);
  auto* claims = app.add_subcommand("claims", claims_description);
  claims->prefix_command()->set_help_flag();
  claims->callback([argv, &run] { run = [argv] { return run_claims_program(argv); }; });
  add_golden(app, run);
  add_methods(app, run);
  add_tokenize(app, run);
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) {
  plumbline::verdict::install_last_words();
  return plumbline::cli::run_program(argc, argv, [argv](CLI::App& app, auto& run) {
    plumbline::cli::add_commands(app, run, argv);
  });
}
