// SPDX-License-Identifier: Apache-2.0
// plumbline: tells whether an attention kernel with a positional bias is right.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "cli/installation.hpp"
#include "cli/program.hpp"
#include "cli/ranks.hpp"
#include "support/error.hpp"
#include "verdict/process/last_words.hpp"

namespace plumbline::cli {
namespace {

/// Becomes another program of ours, beside this one: who judges a kernel need not build the papers'
/// claims, which take as long as all the rest, nor the models and the golden vectors.
int become(const std::string& name, const std::string& target, char** argv) {
  const std::filesystem::path program = program_prefix() / "bin" / name;
  execv(program.c_str(), argv);
  throw MachineLacks(program.string() + ": " + std::strerror(errno) +
                     "; it is built by the target " + target);
}

/// A command of that other program; its options are not looked at here.
void add_command_of(CLI::App& app, Run& run, char** argv, const std::string& command,
                    const std::string& description, const std::string& program) {
  auto* added = app.add_subcommand(command, description);
  added->prefix_command()->set_help_flag();
  added->callback([argv, &run, program] {
    std::string target = program + "_program";
    std::replace(target.begin(), target.end(), '-', '_');
    run = [=] { return become(program, target, argv); };
  });
}

void add_commands(CLI::App& app, Run& run, char** argv) {
  add_verify(app, run);
  add_identities(app, run);
  add_judge(app, run);
  add_oracle(app, run);
  add_vectors(app, run);
  add_command_of(app, run, argv, "claims", claims_description, "plumbline-claims");
  add_command_of(app, run, argv, "golden", golden_description, "plumbline-golden");
  add_command_of(app, run, argv, "methods", methods_description, "plumbline-golden");
  add_command_of(app, run, argv, "profile", profile_description, "plumbline-profile");
  add_command_of(app, run, argv, "tokenize", tokenize_description, "plumbline-models");
  add_command_of(app, run, argv, "train", train_description, "plumbline-models");
  add_command_of(app, run, argv, "evaluate", evaluate_description, "plumbline-models");
  add_command_of(app, run, argv, "generate", generate_description, "plumbline-models");
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) {
  plumbline::verdict::install_last_words();
  const auto program = [=] {
    return plumbline::cli::run_program(argc, argv, [argv](CLI::App& app, auto& run) {
      plumbline::cli::add_commands(app, run, argv);
    });
  };
  // Of the commands that are not another program's, this one is shared by the ranks of an mpirun.
  const bool shared = argc > 1 && std::string_view(argv[1]) == "verify";
  return shared ? plumbline::cli::run_as_rank(program) : program();
}
