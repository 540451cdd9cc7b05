// SPDX-License-Identifier: Apache-2.0
// plumbline: tells whether an attention kernel with a positional bias is right.
#include <exception>
#include <iostream>

#include "cli/command.hpp"
#include "support/error.hpp"
#include "verdict/last_words.hpp"

int main(int argc, char** argv) {
  using namespace plumbline;
  verdict::install_last_words();
  CLI::App app("Tells whether an attention kernel with a positional bias is right.", "plumbline");
  app.require_subcommand(1);
  app.set_version_flag("--version", "plumbline " PLUMBLINE_VERSION);
  app.footer(
      "Exit status: 0 all right, 1 a verdict went against, 2 bad input or usage, 3 something the "
      "machine lacks.");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("plumbline: ") + error.what() + "\nRun with --help for more information.\n";
  });
  cli::Run run;
  cli::add_verify(app, run);
  cli::add_judge(app, run);
  cli::add_oracle(app, run);
  cli::add_vectors(app, run);
  cli::add_claims(app, run);
  cli::add_golden(app, run);
  cli::add_methods(app, run);
  try {
    app.parse(argc, argv);
    const int status = run();
    std::cout << std::flush;
    if (!std::cout) throw BadInput("standard output", "not writable", "room for the report");
    return status;
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is bad usage.
    return app.exit(error) == 0 ? all_right : bad_input;
  } catch (const BadInput& error) {
    std::cerr << "plumbline: " << error.what() << "\n";
    return bad_input;
  } catch (const MachineLacks& error) {
    std::cerr << "plumbline: " << error.what() << "\n";
    return machine_lacks;
  } catch (const std::bad_alloc&) {
    std::cerr << "plumbline: not enough memory for this input\n";
    return machine_lacks;
  } catch (const std::exception& error) {
    std::cerr << "plumbline: internal error: " << error.what() << "\n";
    return machine_lacks;
  }
}
