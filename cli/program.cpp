// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <exception>
#include <iostream>

#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "support/error.hpp"
#include "support/leftovers.hpp"
#include "support/out_of_memory.hpp"
#include "support/text.hpp"

namespace plumbline::cli {

int run_program(int argc, char** argv,
                const std::function<void(CLI::App& app, Run& run)>& add_commands) {
  CLI::App app("Tells whether an attention kernel with a positional bias is right.", "plumbline");
  app.require_subcommand(1);
  app.set_version_flag("--version", "plumbline " PLUMBLINE_VERSION);
  app.footer(
      "Exit status: 0 success, 1 a check failed, 2 bad input or usage, 3 the machine lacks "
      "something.");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "plumbline: " + showable(described(error)) + "\nRun with --help for more information.\n";
  });
  Leftover::remove_all_on_signals();
  Run run;
  add_commands(app, run);
  expect_numbers(app);
  try {
    const std::string first = argc > 1 ? argv[1] : "";
    std::string known;
    bool is_known = first.empty() || first[0] == '-';
    for (const CLI::App* command : app.get_subcommands({})) {
      is_known = is_known || command->get_name() == first;
      known += (known.empty() ? "" : ", ") + command->get_name();
    }
    if (!is_known) throw BadInput("the command", in_quotes(first), "one of " + known);
    app.parse(argc, argv);
    expect_apart();
    const int status = run();
    std::cout << std::flush;
    if (!std::cout)
      throw BadInput("standard output", "not writable",
                     "a terminal, a pipe or a file with free space");
    return status;
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is bad usage.
    return app.exit(error) == 0 ? all_right : bad_input;
  } catch (const BadInput& error) {
    std::cerr << "plumbline: " << showable(error.what()) << "\n";
    return bad_input;
  } catch (const MachineLacks& error) {
    std::cerr << "plumbline: " << showable(error.what()) << "\n";
    return machine_lacks;
  } catch (const OutOfMemory& error) {
    std::cerr << "plumbline: " << showable(error.what()) << "\n";
    return machine_lacks;
  } catch (const std::bad_alloc&) {
    std::cerr << "plumbline: not enough memory for this input\n";
    return machine_lacks;
  } catch (const std::exception& error) {
    std::cerr << "plumbline: internal error: " << showable(error.what()) << "\n";
    return machine_lacks;
  }
}

}  // namespace plumbline::cli
